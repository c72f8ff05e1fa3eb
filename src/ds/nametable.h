/* nametable: items in the order of their names. An item is a struct whose first member is its name,
 * a struct slice. The table holds pointers to items, which the caller allocates and frees. */
#ifndef PACKLIST_DS_NAMETABLE_H
#define PACKLIST_DS_NAMETABLE_H

#include "base/slice.h"

struct relocator; /* base/relocate.h */

/* All zero is an empty table. */
struct nametable {
    struct slice **items;
    uint32_t count;
    uint32_t capacity;
};

/* Finds a name: *at is where it is, or where it belongs. O(log n) comparisons. */
bool nametable_find(const struct nametable *table, struct slice name, size_t *at);

/* Puts an item before the one at `at`. O(n): moves pointers. */
void nametable_insert(struct nametable *table, size_t at, struct slice *item);

/* Brings the items, which were put in anywhere, into the order of their names. Returns false when
 * two have the same name. O(n log n) comparisons. */
bool nametable_sort(struct nametable *table);

/* Takes the item at `at` out. O(n): moves pointers. */
void nametable_remove(struct nametable *table, size_t at);

/* Moves the pointers to a better place (base/relocate.h). */
void nametable_relocate(struct nametable *table, struct relocator *relocator);

/* Bytes that the pointers take, as allocated. O(1). */
size_t nametable_allocated(const struct nametable *table);

/* Frees the pointers, and leaves the table empty. */
void nametable_free(struct nametable *table);

#endif
