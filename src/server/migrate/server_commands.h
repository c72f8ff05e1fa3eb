/* server_commands: the commands that need modules which only server/ may use. Each is called as
 * engine/call.h says. */
#ifndef PACKLIST_SERVER_MIGRATE_SERVER_COMMANDS_H
#define PACKLIST_SERVER_MIGRATE_SERVER_COMMANDS_H

#include "engine/call.h"
#include "table/command_body.h"

/* clang-format off */

#define SERVER_COMMANDS(BODY) \
    BODY("migrate", migrate_command)

/* clang-format on */

SERVER_COMMANDS(COMMAND_BODY_DECLARED)

#endif
