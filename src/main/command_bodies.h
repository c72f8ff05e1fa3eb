/* command_bodies: the functions of all commands. It leads to all of the server's source, so only
 * main.c and tests of the whole include it. Others find commands with table/command.h. */
#ifndef PACKLIST_MAIN_COMMAND_BODIES_H
#define PACKLIST_MAIN_COMMAND_BODIES_H

#include "table/command_body.h"

/* In no order, then a row without a name: for command_table_init. */
extern const struct command_body command_bodies[];

#endif
