/* command_categories: the names of the access categories of commands (enum command_category), and
 * which categories a command has. */
#ifndef PACKLIST_TABLE_COMMAND_CATEGORIES_H
#define PACKLIST_TABLE_COMMAND_CATEGORIES_H

#include "table/command.h"

/* A set of bits is shown as the names of those that are set. Arrays of these end with {0, NULL}. */
struct named_bit {
    uint32_t bit;
    const char *name;
};

/* All categories in the order in which ACL CAT lists them, without the @. */
extern const struct named_bit command_category_names[];

enum { COMMAND_CATEGORY_NAME_MAX = 31 }; /* no name is longer */

/* The command's categories, enum command_category: those of its row, and those that follow from
 * its flags: fast or else slow; read, write, pubsub and blocking; admin, which is dangerous too.
 * O(1). */
uint32_t command_categories(const struct command *command);

/* The bit of the category called `name`, in any case, without the @; 0 when there is none. */
uint32_t command_category_find(struct slice name);

#endif
