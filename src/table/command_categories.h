/* command_categories: the names of the access categories of commands (enum command_category), and
 * which categories a command has. */
#ifndef PACKLIST_TABLE_COMMAND_CATEGORIES_H
#define PACKLIST_TABLE_COMMAND_CATEGORIES_H

#include "table/command.h"

/* A name of one bit of a set. Arrays of these end with {0, NULL}. */
struct named_bit {
    uint32_t bit;
    const char *name;
};

/* All categories without the @, in ACL CAT's order. */
extern const struct named_bit command_category_names[];

enum { COMMAND_CATEGORY_NAME_MAX = 31 }; /* the longest name, in bytes */

/* Returns the command's categories (enum command_category): those of its row, and those that follow
 * from its flags: fast or slow; read, write, pubsub and blocking; admin, which implies dangerous.
 * O(1). */
uint32_t command_categories(const struct command *command);

/* Returns the bit of the category `name`, in any case, without the @; 0 when there is none. */
uint32_t command_category_find(struct slice name);

#endif
