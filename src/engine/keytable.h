/* keytable: what there is to know about keys that need not exist, and about channels: who waits for
 * one, who watches it, who listens to it. A table per space (a database, or a kind of channel), of
 * items that begin with struct keytable_key.
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
    size_t count; /* of items in all of them */
};

struct keytable_key {
    struct slice name;
    int space;
};

void keytable_init(struct keytable *table, int spaces);

/* The tables must be empty. */
void keytable_free(struct keytable *table);

/* The item of that name, or NULL. O(1). */
void *keytable_find(const struct keytable *table, int space, struct slice name);

/* The same; when there is none, adds one of `size` bytes, zero but for its key. O(name). */
void *keytable_find_or_add(struct keytable *table, int space, struct slice name, size_t size);

/* Takes an item out and frees it. O(1). */
void keytable_delete(struct keytable *table, void *item);

#endif
