/* nametable: items in the order of their names. An item is a struct whose first member is its name,
 * a struct slice. The table holds pointers to items, which are pieces of the caller. */
#ifndef PACKLIST_DS_NAMETABLE_H
#define PACKLIST_DS_NAMETABLE_H

#include "base/slice.h"
#include "ds/pieces.h"

/* All zero is an empty table. */
struct nametable {
    struct slice **items;
    uint32_t count;
    uint32_t capacity;
};

/* Finds a name: *at is where it is, or where it belongs. O(log n) comparisons. */
bool nametable_find(const struct nametable *table, struct slice name, size_t *at);

/* Puts an item before the one at `at`. O(n): moves pointers. */
void nametable_insert(struct nametable *table, struct pieces *pieces, size_t at,
                      struct slice *item);

/* Brings the items, which were put in anywhere, into the order of their names. Returns false when
 * two have the same name. O(n log n) comparisons. */
bool nametable_sort(struct nametable *table);

/* Takes the item at `at` out. O(n): moves pointers. */
void nametable_remove(struct nametable *table, struct pieces *pieces, size_t at);

/* The pointers are a piece (ds/pieces.h), which no capture reads. The user visits the items
 * between these two. */
void nametable_enter(struct nametable *table, const struct piece_visitor *visitor);
void nametable_leave(const struct nametable *table, const struct piece_visitor *visitor);

#endif
