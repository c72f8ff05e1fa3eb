/* families: the list of all families of commands. */
#ifndef PACKLIST_TABLE_FAMILIES_H
#define PACKLIST_TABLE_FAMILIES_H

#include "table/command.h"

/* clang-format off */

/* One per family_*.c, in the order in which COMMAND shows them. */
#define COMMAND_FAMILIES(FAMILY)                                                                   \
    FAMILY(lists) FAMILY(strings) FAMILY(keys) FAMILY(zset) FAMILY(geo) FAMILY(sets)               \
    FAMILY(hashes) FAMILY(streams) FAMILY(hyperloglog) FAMILY(transactions) FAMILY(pubsub)         \
    FAMILY(scripts) FAMILY(connection) FAMILY(admin) FAMILY(replication) FAMILY(cluster)

/* clang-format on */

#define COMMAND_FAMILY_DECLARED(family) extern const struct command_family command_family_##family;
COMMAND_FAMILIES(COMMAND_FAMILY_DECLARED)

/* All of these, then NULL: for command_table_init. */
extern const struct command_family *const command_families[];

#endif
