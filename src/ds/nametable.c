/* nametable: see nametable.h. */
#include "ds/nametable.h"

#include "base/alloc.h"
#include "base/relocate.h"

#include <stdlib.h>
#include <string.h>

bool nametable_find(const struct nametable *table, struct slice name, size_t *at) {
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = slice_compare(*table->items[middle], name);
        if (order == 0) {
            *at = middle;
            return true;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *at = low;
    return false;
}

static void resize(struct nametable *table, size_t capacity) {
    table->items = mem_realloc(table->items, capacity * sizeof(*table->items));
    table->capacity = (uint32_t)capacity;
}

void nametable_insert(struct nametable *table, size_t at, struct slice *item) {
    if (table->count == table->capacity) resize(table, table->count ? 2 * table->count : 1);
    memmove(table->items + at + 1, table->items + at, (table->count - at) * sizeof(*table->items));
    table->items[at] = item;
    table->count++;
}

static int compare_names(const void *a, const void *b) {
    return slice_compare(**(struct slice *const *)a, **(struct slice *const *)b);
}

bool nametable_sort(struct nametable *table) {
    if (table->count > 1) qsort(table->items, table->count, sizeof(*table->items), compare_names);
    for (size_t i = 1; i < table->count; i++)
        if (slice_equal(*table->items[i - 1], *table->items[i])) return false;
    return true;
}

void nametable_remove(struct nametable *table, size_t at) {
    table->count--;
    memmove(table->items + at, table->items + at + 1, (table->count - at) * sizeof(*table->items));
    if (table->count == 0)
        nametable_free(table);
    else if (table->count * 4 <= table->capacity)
        resize(table, table->capacity / 2);
}

size_t nametable_allocated(const struct nametable *table) {
    return table->capacity ? mem_good_size(table->capacity * sizeof(*table->items)) : 0;
}

void nametable_relocate(struct nametable *table, struct relocator *relocator) {
    if (table->capacity)
        table->items = relocate(relocator, table->items, nametable_allocated(table));
}

void nametable_free(struct nametable *table) {
    mem_free(table->items);
    *table = (struct nametable){0};
}
