/* command_info: what COMMAND INFO and COMMAND DOCS both need of the table of commands. */
#ifndef PACKLIST_ADMIN_COMMAND_INFO_H
#define PACKLIST_ADMIN_COMMAND_INFO_H

#include "table/command.h"

/* Finds a command by its full name, "lpush" or "config|get", in any case; NULL when unknown. */
const struct command *command_find_full(struct slice name);

/* How many subcommands a container has; they stand behind it in the table. 0 for other commands. */
size_t command_subcommand_count(const struct command *command);

#endif
