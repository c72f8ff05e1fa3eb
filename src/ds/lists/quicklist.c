/* quicklist: creating and freeing, sizes, and the ends. The structure and its invariants are drawn
 * in quicklist_place.h. */
#include "ds/lists/quicklist.h"

#include "base/checked.h"
#include "base/memory/alloc.h"
#include "base/memory/relocate.h"
#include "ds/lists/quicklist_place.h"

#include <assert.h>
#include <string.h>

enum {
    SAFETY_SIZE = 8192, /* what a node limited by element count may take at most, serialized */
    FILL_SIZE_MIN = -5,
    WHOLE_SIZE_MAX = 256 * 1024, /* 64 KB of texts as elements, however short each is */
    FIRST_CAPACITY = 64,         /* of the buffer of a list's first node */
    /* A new node's buffer is at most this part of what the list has already … */
    CAPACITY_SHARE = 8,
    /* … and at first this part of the limit, or twice as many elements. */
    CAPACITY_PART = 8
};

/* --- Limits --- */

static size_t fill_size_limit(int fill) {
    if (fill >= 0) return SAFETY_SIZE;
    if (fill == QUICKLIST_FILL_WHOLE) return WHOLE_SIZE_MAX;
    if (fill < FILL_SIZE_MIN) fill = FILL_SIZE_MIN;
    return (size_t)2048 << -fill;
}

static size_t fill_count_limit(int fill) {
    if (fill == QUICKLIST_FILL_WHOLE) return UINT16_MAX;
    if (fill < 0) return QUICKLIST_NODE_COUNT_MAX;
    return fill == 0 ? 1 : (size_t)fill;
}

bool quicklist_exceeds_fill(int fill, size_t size, size_t count) {
    return size > fill_size_limit(fill) || count > fill_count_limit(fill);
}

static void adopt_limits(struct quicklist *list, struct quicklist_limits limits) {
    list->limits = limits;
    list->size_limit = fill_size_limit(limits.fill);
    list->count_limit = fill_count_limit(limits.fill);
    list->plain_length = limits.plain_threshold ? limits.plain_threshold : list->size_limit + 1;
}

void quicklist_set_limits(struct quicklist *list, struct quicklist_limits limits) {
    bool same = limits.fill == list->limits.fill &&
                limits.compress_depth == list->limits.compress_depth &&
                limits.plain_threshold == list->limits.plain_threshold;
    if (same) return;
    if (list->nodes > 0) list->mixed = true;
    adopt_limits(list, limits);
}

struct quicklist_limits quicklist_limits_of(const struct quicklist *list) {
    return list->limits;
}

/* --- Life --- */

struct quicklist *quicklist_new(struct quicklist_limits limits) {
    struct quicklist *list = mem_alloc_zeroed(sizeof(*list));
    list->pieces = pieces_begin();
    adopt_limits(list, limits);
    return list;
}

struct quicklist *quicklist_copy(const struct quicklist *list) {
    struct quicklist *copy = mem_alloc(sizeof(*copy));
    struct piece_copier copier = pieces_copier(&copy->pieces);
    CHECKED_ASSERT(list->count >= list->nodes);
    *copy = *list;
    copy->pieces = pieces_begin_copy(&list->pieces);
    if (list->nodes > 0) quicklist_open_copy(&copy->head, &list->head, &copy->pieces);
    if (list->nodes > 1) quicklist_open_copy(&copy->tail, &list->tail, &copy->pieces);
    quicklist_tree_pieces(&copy->tree, &copier.visitor);
    return copy;
}

void quicklist_free(struct quicklist *list) {
    if (captures_adopt(&list->pieces.captures, list, quicklist_allocated(list))) return;
    struct piece_dropper dropper = pieces_dropper(&list->pieces);
    quicklist__pieces(list, &dropper.visitor);
    mem_free_sized(list, sizeof(*list));
}

/* --- Sizes --- */

uint64_t quicklist_count(const struct quicklist *list) {
    return list->count;
}

size_t quicklist_node_count(const struct quicklist *list) {
    return list->nodes;
}

size_t quicklist_allocated(const struct quicklist *list) {
    return mem_good_size(sizeof(*list)) + list->pieces.bytes;
}

size_t quicklist_serialized_size(const struct quicklist *list) {
    return list->serialized;
}

bool quicklist_single_body(const struct quicklist *list, const uint8_t **first,
                           const uint8_t **end) {
    if (list->nodes != 1 || (list->head.node.flags & QUICKLIST_NODE_PLAIN)) return false;
    *first = quicklist_open_first(&list->head);
    *end = quicklist_open_end(&list->head);
    return true;
}

/* --- The ends --- */

static struct quicklist_open *end_node(struct quicklist *list, enum list_end end) {
    return end == LIST_TAIL && list->nodes > 1 ? &list->tail : &list->head;
}

/* The capacity of a new node's first buffer: small where the list is short or elements are small;
 * large enough that large elements do not each need a larger buffer. */
static size_t new_node_capacity(const struct quicklist *list, size_t element_size) {
    size_t share = list->serialized / CAPACITY_SHARE, part = list->size_limit / CAPACITY_PART;
    size_t several = element_size * CAPACITY_PART * 2;
    size_t capacity = several > part ? several : part;
    if (capacity > share) capacity = share;
    if (capacity < FIRST_CAPACITY) capacity = FIRST_CAPACITY;
    if (capacity > list->size_limit) capacity = list->size_limit;
    size_t filled = list->count_limit * element_size;
    return capacity < filled ? capacity : filled;
}

static __attribute__((noinline)) void push_node(struct quicklist *list, enum list_end end,
                                                const struct listpack_element *element) {
    struct quicklist_open open;
    bool plain = element->text.len >= list->plain_length;
    quicklist_open_init_element(&open, element, plain, new_node_capacity(list, element->size),
                                end == LIST_HEAD, &list->pieces);
    quicklist_node_insert(list, end == LIST_HEAD ? 0 : list->nodes, &open);
}

void quicklist_push(struct quicklist *list, enum list_end end,
                    const struct listpack_element *element) {
    struct quicklist_open *open = end_node(list, end);
    if (list->nodes == 0 || !quicklist_node_accepts(list, &open->node, element->text.len)) {
        push_node(list, end, element);
        return;
    }
    uint8_t *place = end == LIST_HEAD
                         ? quicklist_open_grow_front(open, element->size, &list->pieces)
                         : quicklist_open_grow_back(open, element->size, &list->pieces);
    listpack_write(place, element);
    open->node.count++;
    list->count++;
    list->serialized += element->size;
}

const uint8_t *quicklist_peek(const struct quicklist *list, enum list_end end) {
    assert(list->count > 0);
    if (end == LIST_HEAD) return quicklist_open_first(&list->head);
    const struct quicklist_open *open = list->nodes > 1 ? &list->tail : &list->head;
    const uint8_t *behind = quicklist_open_end(open);
    return behind - listpack_size_before(behind);
}

/* Drops `n` elements, fewer than all, beginning with whole nodes. */
static void drop_many(struct quicklist *list, enum list_end end, uint64_t n) {
    struct quicklist_place place;
    if (end == LIST_HEAD) {
        uint64_t kept_from = quicklist_place_find(list, n, &place);
        quicklist_nodes_remove(list, 0, place.index);
        quicklist_node_cut(list, 0, 0, kept_from);
    } else {
        uint64_t last_kept = quicklist_place_find(list, list->count - n - 1, &place);
        quicklist_nodes_remove(list, place.index + 1, list->nodes);
        struct quicklist_open *open = end_node(list, LIST_TAIL);
        quicklist_node_cut(list, place.index, last_kept + 1, open->node.count);
    }
}

void quicklist_drop(struct quicklist *list, enum list_end end, uint64_t n) {
    assert(n <= list->count);
    struct quicklist_open *open = end_node(list, end);
    if (n == 1 && open->node.count > 1) {
        size_t size = end == LIST_HEAD ? listpack_size(quicklist_open_first(open))
                                       : listpack_size_before(quicklist_open_end(open));
        if (end == LIST_HEAD) open->start += (uint32_t)size;
        open->node.size -= (uint32_t)size;
        open->node.count--;
        list->count--;
        list->serialized -= size;
    } else if (n == list->count) {
        quicklist_nodes_remove(list, 0, list->nodes);
    } else if (n > 0) {
        drop_many(list, end, n);
    }
    if (list->nodes == 1) quicklist_open_shrink(&list->head, &list->pieces);
    CHECKED_ASSERT((list->count == 0) == (list->nodes == 0));
}

/* --- Relocating: the struct and the ends, then the nodes between them --- */

struct quicklist *quicklist_relocate(struct quicklist *list, struct relocator *relocator,
                                     struct relocate_cursor *cursor) {
    CHECKED_ASSERT(!pieces_are_captured(&list->pieces));
    if (cursor->at == 0) {
        struct piece_relocator pieces = pieces_relocator(relocator);
        list = relocate(relocator, list, sizeof(*list));
        if (list->nodes > 0) quicklist_open_pieces(&list->head, &pieces.visitor);
        if (list->nodes > 1) quicklist_open_pieces(&list->tail, &pieces.visitor);
        cursor->at = 1;
    }
    while (cursor->at - 1 < list->tree.root.nodes) {
        cursor->at = 1 + quicklist_tree_relocate(&list->tree, cursor->at - 1, relocator);
        if (relocator_is_due(relocator)) return list;
    }
    *cursor = (struct relocate_cursor){0};
    return list;
}
