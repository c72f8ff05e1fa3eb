/* command_table: the rows themselves. Others use server/command.h. */
#ifndef PACKLIST_SERVER_COMMAND_TABLE_H
#define PACKLIST_SERVER_COMMAND_TABLE_H

#include "server/command.h"

/* A container is followed by its subcommands. */
extern const struct command command_table[];
extern const size_t command_table_count;

#endif
