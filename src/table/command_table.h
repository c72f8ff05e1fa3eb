/* command_table: the rows of all commands, family by family. Others use table/command.h. */
#ifndef PACKLIST_TABLE_COMMAND_TABLE_H
#define PACKLIST_TABLE_COMMAND_TABLE_H

#include "table/command.h"

/* At most so many commands, subcommands included. */
enum { COMMANDS_MAX = 512 };

/* The rows of one family_*.c; a container is followed by its subcommands. */
struct command_family {
    const struct command *rows;
    size_t count;
};

extern const struct command_family command_family_lists;
extern const struct command_family command_family_strings;
extern const struct command_family command_family_keys;
extern const struct command_family command_family_transactions;
extern const struct command_family command_family_pubsub;
extern const struct command_family command_family_connection;
extern const struct command_family command_family_admin;
extern const struct command_family command_family_standalone;

/* Joins the families to the one table that command_all returns. O(commands). */
void command_table_join(void);

#endif
