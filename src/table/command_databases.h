/* command_databases: which databases a call uses. The only place that knows. */
#ifndef PACKLIST_TABLE_COMMAND_DATABASES_H
#define PACKLIST_TABLE_COMMAND_DATABASES_H

#include "table/command.h"

/* Returns whether it uses the database that the client has selected, for keys or as a whole. */
static inline bool command_uses_own_database(const struct command *command) {
    if (command->databases == DATABASE_OF_SELECT || command->databases == DATABASES_OF_SWAPDB)
        return false;
    return command_has_keys(command) || command->flags & (COMMAND_READONLY | COMMAND_WRITE);
}

/* Returns the argv index of the next argument after argv[after] that is a database's number, if the
 * arguments are valid; 0 when there is none. Begin with `after` = 0. */
size_t command_next_database(const struct command *command, const struct slice *argv, size_t argc,
                             size_t after);

#endif
