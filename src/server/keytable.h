/* keytable: what there is to know about keys that need not exist: who waits for one, who watches
 * it. A table per database, of items that begin with struct keytable_key.
 *
 *      item   | key: name ┐, database | what its owner keeps | the name's bytes |
 *                         └───────────────────────────────────↑
 *
 * An item is one allocation, which belongs to the table. */
#ifndef PACKLIST_SERVER_KEYTABLE_H
#define PACKLIST_SERVER_KEYTABLE_H

#include "base/slice.h"
#include "ds/hashtable.h"

#include <stddef.h>

struct keytable {
    struct hashtable **databases; /* database_count of them */
    int database_count;
    size_t count; /* of items in all of them */
};

struct keytable_key {
    struct slice name;
    int database;
};

void keytable_init(struct keytable *table, int databases);

/* The tables must be empty. */
void keytable_free(struct keytable *table);

/* The item of that name, or NULL. O(1). */
void *keytable_find(const struct keytable *table, int database, struct slice name);

/* The same; when there is none, adds one of `size` bytes, zero but for its key. O(name). */
void *keytable_find_or_add(struct keytable *table, int database, struct slice name, size_t size);

/* Takes an item out and frees it. O(1). */
void keytable_delete(struct keytable *table, void *item);

#endif
