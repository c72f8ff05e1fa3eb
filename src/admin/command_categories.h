/* command_categories: the access categories of commands: COMMAND INFO, COMMAND LIST FILTERBY ACLCAT
 * and ACL CAT show them. */
#ifndef PACKLIST_ADMIN_COMMAND_CATEGORIES_H
#define PACKLIST_ADMIN_COMMAND_CATEGORIES_H

#include "table/command.h"

/* A set of bits is shown as the names of those that are set. Arrays of these end with {0, NULL}. */
struct named_bit {
    uint32_t bit;
    const char *name;
};

/* All categories in the order in which ACL CAT lists them, without the @. */
extern const struct named_bit command_category_names[];

enum { COMMAND_CATEGORY_NAME_MAX = 31 }; /* no name is longer */

/* The command's categories, as bits of command_category_names. O(1). */
uint32_t command_categories(const struct command *command);

/* The bit of the category called `name`, in any case, without the @; 0 when there is none. */
uint32_t command_category_find(struct slice name);

#endif
