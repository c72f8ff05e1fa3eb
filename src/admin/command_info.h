/* command_info: functions that COMMAND INFO and COMMAND DOCS share. */
#ifndef PACKLIST_ADMIN_COMMAND_INFO_H
#define PACKLIST_ADMIN_COMMAND_INFO_H

#include "table/command.h"

#include <stdbool.h>

/* Returns the number of subcommands of a container, which follow it in the table; 0 for other
 * commands. O(subcommands). */
size_t command_subcommand_count(const struct command *command);

/* Returns whether COMMAND lists it: it is not a subcommand, and clients can call it. O(1). */
bool command_is_listed(const struct command *command);

#endif
