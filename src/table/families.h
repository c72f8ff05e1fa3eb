/* families: the list of all families of commands. */
#ifndef PACKLIST_TABLE_FAMILIES_H
#define PACKLIST_TABLE_FAMILIES_H

#include "table/command.h"

/* One per family_*.c. */
extern const struct command_family command_family_lists;
extern const struct command_family command_family_sets;
extern const struct command_family command_family_hashes;
extern const struct command_family command_family_strings;
extern const struct command_family command_family_keys;
extern const struct command_family command_family_zset;
extern const struct command_family command_family_geo;
extern const struct command_family command_family_streams;
extern const struct command_family command_family_hyperloglog;
extern const struct command_family command_family_transactions;
extern const struct command_family command_family_pubsub;
extern const struct command_family command_family_functions;
extern const struct command_family command_family_scripts;
extern const struct command_family command_family_connection;
extern const struct command_family command_family_admin;
extern const struct command_family command_family_replication;
extern const struct command_family command_family_standalone;

/* All of these, then NULL: for command_table_init. */
extern const struct command_family *const command_families[];

#endif
