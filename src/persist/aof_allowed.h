/* aof_allowed: the commands that an append-only file may contain: those that write, and SELECT.
 * (aof_reader.h handles MULTI and EXEC.)
 *
 * The server uses its table of commands instead, which packlist-check does not include. A unit test
 * checks that both have the same names and arities. */
#ifndef PACKLIST_PERSIST_AOF_ALLOWED_H
#define PACKLIST_PERSIST_AOF_ALLOWED_H

#include "base/slice.h"

#include <stdbool.h>

/* Returns whether a server accepts a command of that name (in any case) with `argc` arguments,
 * including the name, when it loads the file. Does not check the arguments' values. O(commands). */
bool aof_command_is_known(struct slice name, size_t argc);

/* Returns the arity of a command, as in the table of commands: a negative one is a minimum. Returns
 * 0 if the command may not be in a file. O(commands). */
int aof_command_arity(struct slice name);

#endif
