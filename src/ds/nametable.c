#include "ds/nametable.h"

#include "base/memory/alloc.h"

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

static size_t items_size(size_t capacity) {
    return capacity ? mem_good_size(capacity * sizeof(struct slice *)) : 0;
}

static void resize(struct nametable *table, struct pieces *pieces, size_t capacity) {
    table->items =
        pieces_resize(pieces, table->items, items_size(table->capacity), items_size(capacity));
    table->capacity = (uint32_t)capacity;
}

void *nametable_insert(struct nametable *table, struct pieces *pieces, size_t at, size_t size,
                       struct slice name) {
    char *item = pieces_alloc_zeroed(pieces, mem_good_size(size + name.len));
    slice_copy(item + size, name);
    *(struct slice *)(void *)item = slice_make(item + size, name.len);
    if (table->count == table->capacity) resize(table, pieces, table->count ? 2 * table->count : 1);
    memmove(table->items + at + 1, table->items + at, (table->count - at) * sizeof(*table->items));
    table->items[at] = (struct slice *)(void *)item;
    table->count++;
    return item;
}

static int compare_names(const void *a, const void *b) {
    return slice_compare(**(struct slice *const *)a, **(struct slice *const *)b);
}

bool nametable_sort(struct nametable *table) {
    if (table->count > 1) qsort(table->items, table->count, sizeof(*table->items), compare_names);
    return nametable_check(table);
}

void nametable_remove(struct nametable *table, struct pieces *pieces, const struct slice *item) {
    size_t at;
    if (!nametable_find(table, *item, &at)) return;
    table->count--;
    memmove(table->items + at, table->items + at + 1, (table->count - at) * sizeof(*table->items));
    if (table->count == 0) {
        pieces_drop(pieces, PIECES_UNREAD, table->items, items_size(table->capacity));
        *table = (struct nametable){0};
    } else if (table->count * 4 <= table->capacity) {
        resize(table, pieces, table->capacity / 2);
    }
}

void nametable_enter(struct nametable *table, const struct piece_visitor *visitor) {
    if (table->capacity > 0)
        table->items = visitor->enter(visitor, table->items, items_size(table->capacity));
}

void nametable_leave(const struct nametable *table, const struct piece_visitor *visitor) {
    if (table->capacity > 0)
        visitor->leave(visitor, table->items, items_size(table->capacity), NULL);
}

void *nametable_enter_item(struct slice **item, size_t size, const struct piece_visitor *visitor) {
    size_t len = (*item)->len;
    char *now = visitor->enter(visitor, *item, mem_good_size(size + len));
    if (now == (char *)*item) return now;
    *item = (struct slice *)(void *)now;
    **item = slice_make(now + size, len);
    return now;
}

void nametable_leave_item(struct slice *item, size_t size, const struct piece_visitor *visitor) {
    uint32_t epoch = PIECES_READ; /* captures may read the name */
    visitor->leave(visitor, item, mem_good_size(size + item->len), &epoch);
}

void nametable_image(struct nametable *table, size_t size, char **to) {
    struct slice **items = (struct slice **)(void *)*to;
    *to += table->count * sizeof(*items);
    for (size_t i = 0; i < table->count; i++) {
        items[i] = memcpy(*to, table->items[i], size);
        *to += size;
    }
    table->items = items;
}

void nametable_own(struct nametable *table, struct pieces *pieces, size_t size) {
    struct slice **from = table->items;
    if (table->count == 0) return;
    table->items = pieces_alloc(pieces, items_size(table->capacity));
    for (size_t i = 0; i < table->count; i++) {
        char *item = pieces_alloc(pieces, mem_good_size(size + from[i]->len));
        memcpy(item, from[i], size);
        slice_copy(item + size, *from[i]);
        table->items[i] = (struct slice *)(void *)item;
        *table->items[i] = slice_make(item + size, from[i]->len);
    }
}

bool nametable_check(const struct nametable *table) {
    for (size_t i = 1; i < table->count; i++)
        if (slice_compare(*table->items[i - 1], *table->items[i]) >= 0) return false;
    return table->count <= table->capacity;
}
