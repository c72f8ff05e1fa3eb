/* server_commands: the commands that are part of serving: connections, transactions, channels. Each
 * is run as server/call.h says. */
#ifndef PACKLIST_SERVER_SERVER_COMMANDS_H
#define PACKLIST_SERVER_SERVER_COMMANDS_H

#include "server/call.h"

void auth_command(struct call *call);
void discard_command(struct call *call);
void echo_command(struct call *call);
void exec_command(struct call *call);
void hello_command(struct call *call);
void migrate_command(struct call *call);
void multi_command(struct call *call);
void ping_command(struct call *call);
void psubscribe_command(struct call *call);
void publish_command(struct call *call);
void pubsub_channels_command(struct call *call);
void pubsub_help_command(struct call *call);
void pubsub_numpat_command(struct call *call);
void pubsub_numsub_command(struct call *call);
void pubsub_shardchannels_command(struct call *call);
void pubsub_shardnumsub_command(struct call *call);
void punsubscribe_command(struct call *call);
void quit_command(struct call *call);
void reset_command(struct call *call);
void select_command(struct call *call);
void spublish_command(struct call *call);
void ssubscribe_command(struct call *call);
void subscribe_command(struct call *call);
void sunsubscribe_command(struct call *call);
void unsubscribe_command(struct call *call);
void unwatch_command(struct call *call);
void waitaof_command(struct call *call);
void watch_command(struct call *call);

#endif
