/* aof_commands: which commands may stand in an append-only file: those that write, and SELECT.
 * (MULTI and EXEC are read by aof_reader.h.)
 *
 * The server asks its table of commands, which packlist-check does not have: a unit test holds both
 * to the same names and arities. */
#ifndef PACKLIST_PERSIST_AOF_COMMANDS_H
#define PACKLIST_PERSIST_AOF_COMMANDS_H

#include "base/slice.h"

#include <stdbool.h>

/* Will a server run a command of that name (in any case) with so many arguments, the name included,
 * when it loads the file? Whether their values make sense is not looked at. O(commands). */
bool aof_command_is_known(struct slice name, size_t argc);

/* Its arity, as in the table of commands: negative when that is a minimum; 0: it may not stand in a
 * file. */
int aof_command_arity(struct slice name);

#endif
