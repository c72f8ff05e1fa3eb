/* aof_allowed: the commands that an append-only file may contain: those that write, and SELECT; and
 * those of newer servers that can be translated (newer_commands.h). (aof_reader.h handles MULTI and
 * EXEC.)
 *
 * The server uses its table of commands instead, which packlist-check does not include. A unit test
 * checks that both have the same names and arities. */
#ifndef PACKLIST_PERSIST_AOF_ALLOWED_H
#define PACKLIST_PERSIST_AOF_ALLOWED_H

#include "base/slice.h"

#include <stdbool.h>

/* Returns whether a server accepts a command with these arguments, including its name or names (in
 * any case), when it loads the file. Does not check the values of the others. O(commands), and
 * O(argc) for a command that is translated. */
bool aof_command_is_known(const struct slice *argv, size_t argc);

/* Returns the arity of a command ("set", "function|load"), as in the table of commands: a negative
 * one is a minimum. Returns 0 if the command may not be in a file. O(commands). */
int aof_command_arity(struct slice name);

#endif
