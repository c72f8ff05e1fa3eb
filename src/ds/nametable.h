/* nametable: items in the order of their names. An item is a struct whose first member is its name,
 * a struct slice; the bytes of the name follow the struct. The table holds pointers to items, which
 * are pieces (ds/pieces.h). */
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

/* Puts a new item before the one at `at`: `size` bytes, of which all but the name are zero. O(n):
 * moves pointers. */
void *nametable_insert(struct nametable *table, struct pieces *pieces, size_t at, size_t size,
                       struct slice name);

/* Brings the items, which were put in anywhere, into the order of their names. Returns false when
 * two have the same name. O(n log n) comparisons. */
bool nametable_sort(struct nametable *table);

/* Takes an item out, which the caller then drops. O(n): moves pointers. */
void nametable_remove(struct nametable *table, struct pieces *pieces, const struct slice *item);

/* The pointers are a piece, which no capture reads. The user visits the items between these two. */
void nametable_enter(struct nametable *table, const struct piece_visitor *visitor);
void nametable_leave(const struct nametable *table, const struct piece_visitor *visitor);

/* An item is a piece, too, whose struct has `size` bytes; a capture may read the name. The first
 * returns where it is now. */
void *nametable_enter_item(struct slice **item, size_t size, const struct piece_visitor *visitor);
void nametable_leave_item(struct slice *item, size_t size, const struct piece_visitor *visitor);

/* Copies the pointers and the items, whose structs have `size` bytes, to *to, which is moved behind
 * them. The table, which is itself a copy, then leads to these; names are still where they were.
 * O(n). */
static inline size_t nametable_image_size(const struct nametable *table, size_t size) {
    return table->count * (sizeof(*table->items) + size);
}
void nametable_image(struct nametable *table, size_t size, char **to);

/* The struct is a copy of that of a table or of its image: gives it items of its own, whose structs
 * are the same. O(names). */
void nametable_own(struct nametable *table, struct pieces *pieces, size_t size);

/* Checks the order. O(n). */
bool nametable_check(const struct nametable *table);

#endif
