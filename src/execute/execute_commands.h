/* execute_commands: the commands of transactions. Each is called as engine/call.h says. */
#ifndef PACKLIST_EXECUTE_EXECUTE_COMMANDS_H
#define PACKLIST_EXECUTE_EXECUTE_COMMANDS_H

#include "engine/call.h"
#include "table/command_body.h"

/* clang-format off */

#define TRANSACTION_COMMANDS(BODY)   \
    BODY("discard", discard_command) \
    BODY("exec", exec_command)       \
    BODY("multi", multi_command)     \
    BODY("unwatch", unwatch_command) \
    BODY("watch", watch_command)

/* clang-format on */

TRANSACTION_COMMANDS(COMMAND_BODY_DECLARED)

#endif
