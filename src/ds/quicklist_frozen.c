/*
 *      list      head │ a │ b │ c │ d │ tail          frozen    head' │ a │ b │ c │ d │ tail'
 *      flags            F   F   F   F                           (head', tail': copies)
 *      b is written to: head │ a │ b'│ c │ d │ tail             the frozen list alone has b
 *      thaw: merges by buffers                                  a, c, d are given back; b is freed
 *
 * Nodes never change their order, and one that left the list does not come back: so those that the
 * list still shares at the end are a subsequence of the frozen ones, and one pass over both finds
 * them. */
#include "ds/quicklist_frozen.h"

#include "base/alloc.h"
#include "ds/quicklist_internal.h"

#include <assert.h>
#include <string.h>

struct quicklist_frozen {
    struct quicklist *list; /* NULL: it was freed */
    size_t allocated;       /* of the struct and the ends */
    size_t left;            /* bytes that the list has left to it */
    size_t *left_of_all;    /* what the caller gets to see of that */
    size_t nodes;
    struct quicklist_node node[]; /* the first and last have buffers of their own */
};

static struct quicklist_node copy_end(const struct quicklist_open *open, size_t *allocated) {
    struct quicklist_node copy;
    memcpy(quicklist_node_init(&copy, open->node.size, open->node.count, allocated),
           quicklist_open_first(open), open->node.size);
    copy.flags = open->node.flags;
    copy.excess = open->node.excess;
    return copy;
}

struct quicklist_frozen *quicklist_freeze(struct quicklist *list, size_t *left) {
    assert(list->nodes > 0 && !list->frozen);
    size_t size = sizeof(struct quicklist_frozen) + list->nodes * sizeof(struct quicklist_node);
    struct quicklist_frozen *frozen = mem_alloc(size);
    *frozen = (struct quicklist_frozen){
        .list = list, .allocated = mem_good_size(size), .left_of_all = left, .nodes = list->nodes};
    list->frozen = frozen;
    frozen->node[0] = copy_end(&list->head, &frozen->allocated);
    if (list->nodes == 1) return frozen;
    struct quicklist_place place;
    quicklist_place_at(list, 0, &place);
    for (size_t i = 1; i < list->nodes - 1; i++) {
        quicklist_place_step(list, &place, LIST_FORWARD);
        struct quicklist_node *node = &place.tree.leaf[place.tree.slot];
        frozen->node[i] = *node;
        node->flags |= QUICKLIST_NODE_FROZEN;
    }
    frozen->node[list->nodes - 1] = copy_end(&list->tail, &frozen->allocated);
    return frozen;
}

size_t quicklist_frozen_allocated(const struct quicklist_frozen *frozen) {
    return frozen->allocated;
}

/* The index of the frozen node that this one of the list shares its buffer with, from `i` on;
 * frozen->nodes if there is none that is the same. */
static size_t find_shared(const struct quicklist_frozen *frozen, size_t i,
                          const struct quicklist_node *node) {
    while (i < frozen->nodes && frozen->node[i].buffer != node->buffer) i++;
    if (i == frozen->nodes) return i;
    const struct quicklist_node *other = &frozen->node[i];
    bool same = other->size == node->size && other->count == node->count &&
                ((other->flags ^ node->flags) & QUICKLIST_NODE_LZF) == 0;
    return same ? i : frozen->nodes;
}

static bool check_shared(const struct quicklist_frozen *frozen, const struct quicklist *list) {
    struct quicklist_place place;
    if (list->frozen != frozen) return false;
    if (list->nodes == 0) return true;
    size_t i = 1;
    quicklist_place_at(list, 0, &place);
    do {
        if (!(place.node->flags & QUICKLIST_NODE_FROZEN)) continue;
        i = find_shared(frozen, i, place.node) + 1;
        if (i >= frozen->nodes) return false; /* the last is none of the list's either */
    } while (quicklist_place_step(list, &place, LIST_FORWARD));
    return true;
}

bool quicklist_frozen_check(const struct quicklist_frozen *frozen) {
    for (size_t i = 0; i < frozen->nodes; i++) {
        if (frozen->node[i].flags & QUICKLIST_NODE_FROZEN) return false;
        if (!quicklist_node_check(&frozen->node[i])) return false;
    }
    return !frozen->list || check_shared(frozen, frozen->list);
}

void quicklist_frozen_visit(const struct quicklist_frozen *frozen,
                            void (*visit)(const struct quicklist_node_info *info, void *arg),
                            void *arg) {
    for (size_t i = 0; i < frozen->nodes; i++) {
        const struct quicklist_node *node = &frozen->node[i];
        bool packed = node->flags & QUICKLIST_NODE_LZF;
        struct slice stream = packed ? quicklist_node_stream(node) : SLICE("");
        struct quicklist_node_info info = {
            .count = node->count,
            .size = quicklist_node_serialized(node),
            .allocated = quicklist_node_allocated(node),
            .plain = node->flags & QUICKLIST_NODE_PLAIN,
            .compressed_size = stream.len,
            .data = packed ? (const uint8_t *)stream.ptr : node->buffer,
            .body_size = node->size,
        };
        visit(&info, arg);
    }
}

/* Forgets the buffer of the first node from `i` on that has this one; returns the next index. */
static size_t give_back(struct quicklist_frozen *frozen, size_t i, const uint8_t *buffer) {
    while (frozen->node[i].buffer != buffer) i++;
    frozen->node[i].buffer = NULL;
    return i + 1;
}

size_t quicklist_thaw(struct quicklist_frozen *frozen) {
    struct quicklist *list = frozen->list;
    size_t i = 1;
    if (list && list->nodes > 2) {
        struct quicklist_place place;
        quicklist_place_at(list, 0, &place);
        for (size_t n = list->nodes - 2; n > 0 && i + 1 < frozen->nodes; n--) {
            quicklist_place_step(list, &place, LIST_FORWARD);
            struct quicklist_node *node = &place.tree.leaf[place.tree.slot];
            if (!(node->flags & QUICKLIST_NODE_FROZEN)) continue;
            node->flags &= (uint8_t)~QUICKLIST_NODE_FROZEN;
            i = give_back(frozen, i, node->buffer);
        }
    }
    if (list) list->frozen = NULL;
    frozen->list = NULL;
    *frozen->left_of_all -= frozen->left;
    return frozen->left;
}

void quicklist_frozen_free(struct quicklist_frozen *frozen) {
    size_t allocated = SIZE_MAX / 2; /* nobody's figure any more */
    for (size_t i = 0; i < frozen->nodes; i++)
        if (frozen->node[i].buffer) quicklist_node_free(&frozen->node[i], &allocated);
    mem_free(frozen);
}

bool quicklist_is_frozen(const struct quicklist *list) {
    return list->frozen != NULL;
}

void quicklist_frozen_list_gone(struct quicklist_frozen *frozen) {
    frozen->list = NULL;
}

void quicklist_frozen_node_left(struct quicklist_frozen *frozen,
                                const struct quicklist_node *node) {
    size_t size = quicklist_node_allocated(node);
    frozen->left += size;
    *frozen->left_of_all += size;
}
