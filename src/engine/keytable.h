/* keytable: what a module records about names: keys that clients wait for or watch, which need not
 * exist, a replica's own expiries, and channels with their subscribers. There is one table per
 * space (a database, or a kind of channel). Its items begin with struct keytable_key.
 *
 *      item   | key: name ┐, space | what its owner keeps | the name's bytes |
 *                         └────────────────────────────────↑
 *
 * An item is one allocation, which belongs to the table. */
#ifndef PACKLIST_ENGINE_KEYTABLE_H
#define PACKLIST_ENGINE_KEYTABLE_H

#include "base/slice.h"
#include "ds/hashtable.h"

#include <stddef.h>

struct keytable {
    struct hashtable **spaces; /* space_count of them */
    int space_count;
    size_t count; /* items in all spaces */
};

struct keytable_key {
    struct slice name;
    int space;
};

/* Makes `spaces` empty tables; freed with keytable_free. */
void keytable_init(struct keytable *table, int spaces);

/* Frees the tables, which must be empty. */
void keytable_free(struct keytable *table);

/* Returns the item of that name, or NULL. O(1). */
void *keytable_find(const struct keytable *table, int space, struct slice name);

/* As keytable_find; when there is no item, adds one of `size` bytes, zero except for its key.
 * O(name). */
void *keytable_find_or_add(struct keytable *table, int space, struct slice name, size_t size);

/* Takes an item out and frees it. O(1). */
void keytable_delete(struct keytable *table, void *item);

#endif
