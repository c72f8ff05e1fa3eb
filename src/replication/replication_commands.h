/* replication_commands: the commands of replication. Each is called as engine/call.h says. */
#ifndef PACKLIST_REPLICATION_REPLICATION_COMMANDS_H
#define PACKLIST_REPLICATION_REPLICATION_COMMANDS_H

#include "engine/call.h"

void failover_command(struct call *call);
void psync_command(struct call *call);
void replconf_command(struct call *call);
void replicaof_command(struct call *call);
void role_command(struct call *call);
void sync_command(struct call *call);
void wait_command(struct call *call);
void waitaof_command(struct call *call);

#endif
