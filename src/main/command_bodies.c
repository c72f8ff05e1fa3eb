#include "main/command_bodies.h"

#include "admin/admin_commands.h"
#include "commands/commands.h"
#include "execute/execute_commands.h"
#include "replication/replication_commands.h"
#include "requests/client_commands.h"
#include "script/script_commands.h"
#include "server/migrate/migrate.h"

/* clang-format off */

const struct command_body command_bodies[] = {
    ADMIN_COMMANDS(COMMAND_BODY_ROW)
    CLIENT_COMMANDS(COMMAND_BODY_ROW)
    DATA_COMMANDS(COMMAND_BODY_ROW)
    TRANSACTION_COMMANDS(COMMAND_BODY_ROW)
    REPLICATION_COMMANDS(COMMAND_BODY_ROW)
    SCRIPT_COMMANDS(COMMAND_BODY_ROW)
    SERVER_COMMANDS(COMMAND_BODY_ROW)
    {NULL, NULL},
};

/* clang-format on */
