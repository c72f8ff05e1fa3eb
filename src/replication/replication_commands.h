/* replication_commands: the commands of replication. Each is called as engine/call.h says. */
#ifndef PACKLIST_REPLICATION_REPLICATION_COMMANDS_H
#define PACKLIST_REPLICATION_REPLICATION_COMMANDS_H

#include "engine/call.h"
#include "table/command_body.h"

/* clang-format off */

#define REPLICATION_COMMANDS(BODY)       \
    BODY("failover", failover_command)   \
    BODY("psync", psync_command)         \
    BODY("replconf", replconf_command)   \
    BODY("replicaof", replicaof_command) \
    BODY("role", role_command)           \
    BODY("slaveof", replicaof_command)   \
    BODY("sync", sync_command)           \
    BODY("wait", wait_command)           \
    BODY("waitaof", waitaof_command)

/* clang-format on */

REPLICATION_COMMANDS(COMMAND_BODY_DECLARED)

#endif
