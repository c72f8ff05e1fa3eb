#include "ds/lists/quicklist_place.h"

#include "base/checked.h"
#include "base/memory/alloc.h"
#include "base/prefetch.h"

#include <assert.h>
#include <string.h>

enum { PREFETCH_SIZE = 256 };

/* --- Finding --- */

void quicklist_place_at(const struct quicklist *list, size_t index, struct quicklist_place *place) {
    assert(index < list->nodes);
    place->index = index;
    if (index == 0 || index == list->nodes - 1) {
        place->open = index == 0 ? &list->head : &list->tail;
        place->node = &place->open->node;
        return;
    }
    place->open = NULL;
    quicklist_tree_at(&list->tree, index - 1, &place->tree);
    place->node = &place->tree.leaf[place->tree.slot];
}

uint64_t quicklist_place_find(const struct quicklist *list, uint64_t position,
                              struct quicklist_place *place) {
    assert(position < list->count);
    if (position < list->head.node.count) {
        quicklist_place_at(list, 0, place);
        return position;
    }
    uint64_t before_tail = list->count - list->tail.node.count;
    if (position >= before_tail) {
        quicklist_place_at(list, list->nodes - 1, place);
        return position - before_tail;
    }
    position = quicklist_tree_find(&list->tree, position - list->head.node.count, &place->tree);
    place->open = NULL;
    place->index = place->tree.index + 1;
    place->node = &place->tree.leaf[place->tree.slot];
    return position;
}

bool quicklist_place_step(const struct quicklist *list, struct quicklist_place *place,
                          enum list_direction direction) {
    bool forward = direction == LIST_FORWARD;
    if (forward ? place->index + 1 >= list->nodes : place->index == 0) return false;
    size_t slot = place->tree.slot + (forward ? 1 : (size_t)-1);
    size_t index = place->index + (forward ? 1 : (size_t)-1);
    if (place->open != NULL || slot >= place->tree.width) {
        quicklist_place_at(list, index, place);
        return true;
    }
    place->tree.slot = slot;
    place->index = index;
    place->node = &place->tree.leaf[slot];
    return true;
}

void quicklist_place_prefetch(const struct quicklist_place *place, enum list_direction direction) {
    bool forward = direction == LIST_FORWARD;
    size_t slot = place->tree.slot + (forward ? 1 : (size_t)-1);
    if (place->open != NULL || slot >= place->tree.width) return;
    const struct quicklist_node *next = &place->tree.leaf[slot];
    bool from_end = !forward && !(next->flags & QUICKLIST_NODE_LZF);
    size_t size = next->size;
    size_t skipped = from_end && size > PREFETCH_SIZE ? size - PREFETCH_SIZE : 0;
    for (size_t i = 0; i < PREFETCH_SIZE; i += 64) prefetch(next->buffer + skipped + i);
}

const uint8_t *quicklist_place_body(const struct quicklist_place *place,
                                    struct quicklist_scratch *scratch) {
    const struct quicklist_node *node = place->node;
    if (!(node->flags & QUICKLIST_NODE_LZF)) return quicklist_place_first(place);
    if (scratch->size < node->size) {
        mem_free(scratch->bytes);
        scratch->size = mem_good_size(node->size);
        scratch->bytes = mem_alloc(scratch->size);
    }
    quicklist_node_decompress_to(node, scratch->bytes);
    return scratch->bytes;
}

void quicklist_scratch_free(struct quicklist_scratch *scratch) {
    mem_free(scratch->bytes);
    *scratch = (struct quicklist_scratch){0};
}

/* --- Compression. Adding a node moves at most one node per side across the border of the raw ones,
 * removing k moves at most k per side back: only these are recompressed --- */

static bool is_compressed_zone(const struct quicklist *list, size_t index) {
    size_t depth = list->limits.compress_depth;
    return depth > 0 && index >= depth && index + depth < list->nodes;
}

/* Compresses or decompresses node `index` as its place requires. */
static void recompress(struct quicklist *list, size_t index) {
    if (index == 0 || index + 1 >= list->nodes) return;
    struct quicklist_tree_place place;
    quicklist_tree_at(&list->tree, index - 1, &place);
    const struct quicklist_node *node_now = &place.leaf[place.slot];
    bool compress = is_compressed_zone(list, index);
    if (compress ? !quicklist_node_may_compress(node_now) : !(node_now->flags & QUICKLIST_NODE_LZF))
        return;
    struct quicklist_node *node = quicklist_tree_writable(&list->tree, &list->pieces, index - 1);
    if (compress)
        quicklist_node_compress(node, &list->pieces);
    else
        quicklist_node_decompress(node, &list->pieces);
    CHECKED_ASSERT(quicklist_node_check(node));
}

/* To be called after a node was inserted at `index`. */
static void recompress_after_insertion(struct quicklist *list, size_t index) {
    size_t depth = list->limits.compress_depth;
    if (depth == 0) return;
    recompress(list, index);
    if (depth >= list->nodes) return;
    if (index < depth) recompress(list, depth);
    if (index + depth >= list->nodes) recompress(list, list->nodes - 1 - depth);
}

/* To be called after `removed` nodes before the present node `index` were removed. */
static void recompress_after_removal(struct quicklist *list, size_t index, size_t removed) {
    size_t depth = list->limits.compress_depth, nodes = list->nodes;
    if (depth == 0) return;
    size_t front = depth > removed ? depth - removed : 0;
    for (size_t i = front > index ? front : index; i < depth && i < nodes; i++) recompress(list, i);
    size_t back = nodes > depth ? nodes - depth : 0;
    for (size_t i = back; i < index && i < nodes && i < back + removed; i++) recompress(list, i);
}

void quicklist_nodes_compress_all(struct quicklist *list) {
    for (size_t i = 1; i + 1 < list->nodes; i++) recompress(list, i);
}

/* --- Adding and removing --- */

void quicklist_node_insert(struct quicklist *list, size_t index,
                           const struct quicklist_open *open) {
    assert(index <= list->nodes && open->node.count > 0);
    size_t interior = list->nodes > 2 ? list->nodes - 2 : 0;
    if (list->nodes == 0) {
        list->head = *open;
    } else if (index == 0) {
        if (list->nodes == 1) {
            list->tail = list->head;
        } else {
            quicklist_tree_insert(&list->tree, &list->pieces, 0,
                                  quicklist_node_close(&list->head, &list->pieces));
        }
        list->head = *open;
    } else if (index == list->nodes) {
        if (list->nodes > 1) {
            quicklist_tree_insert(&list->tree, &list->pieces, interior,
                                  quicklist_node_close(&list->tail, &list->pieces));
        }
        list->tail = *open;
    } else {
        struct quicklist_open copy = *open;
        quicklist_tree_insert(&list->tree, &list->pieces, index - 1,
                              quicklist_node_close(&copy, &list->pieces));
    }
    list->nodes++;
    list->count += open->node.count;
    list->serialized += quicklist_node_serialized(&open->node);
    recompress_after_insertion(list, index);
}

static void discount(struct quicklist *list, const struct quicklist_node *node) {
    list->count -= node->count;
    list->serialized -= quicklist_node_serialized(node);
}

static void discount_closed(const struct quicklist_node *node, void *arg) {
    discount(arg, node);
}

static void drop_open(struct quicklist *list, struct quicklist_open *open) {
    discount(list, &open->node);
    quicklist_open_free(open, &list->pieces);
    *open = (struct quicklist_open){0};
}

/* Opens node `index` of the tree, whose descriptor there is invalid afterwards. */
static void open_in_tree(struct quicklist *list, size_t index, struct quicklist_open *open) {
    const struct quicklist_node *closed =
        quicklist_tree_writable(&list->tree, &list->pieces, index);
    quicklist_node_open(open, closed, &list->pieces);
}

/* Takes node `index` out of the tree to make it an end of the list. */
static void open_from_tree(struct quicklist *list, size_t index, struct quicklist_open *open) {
    open_in_tree(list, index, open);
    quicklist_tree_remove(&list->tree, &list->pieces, index, index + 1, NULL, NULL);
}

void quicklist_nodes_remove(struct quicklist *list, size_t from, size_t to) {
    assert(from <= to && to <= list->nodes);
    size_t old = list->nodes;
    if (from == to) return;
    size_t tree_from = from > 0 ? from - 1 : 0;
    size_t tree_to = to == old ? (old > 2 ? old - 2 : 0) : to - 1;
    if (tree_from < tree_to) {
        quicklist_tree_remove(&list->tree, &list->pieces, tree_from, tree_to, discount_closed,
                              list);
    }
    bool no_tail = old == 1 || to == old;
    if (to == old && old > 1) drop_open(list, &list->tail);
    if (from == 0) drop_open(list, &list->head);
    list->nodes = old - (to - from);
    if (list->nodes == 0) return;
    if (from == 0 && list->tree.root.nodes > 0) {
        open_from_tree(list, 0, &list->head);
    } else if (from == 0) {
        list->head = list->tail;
        list->tail = (struct quicklist_open){0};
    }
    if (no_tail && list->tree.root.nodes > 0) {
        open_from_tree(list, list->tree.root.nodes - 1, &list->tail);
    }
    recompress_after_removal(list, from, to - from);
}

/* --- Opening and closing --- */

struct quicklist_open *quicklist_node_take(struct quicklist *list, size_t index,
                                           struct quicklist_open *work) {
    CHECKED_ASSERT(index < list->nodes);
    if (index == 0) return &list->head;
    if (index == list->nodes - 1) return &list->tail;
    open_in_tree(list, index - 1, work);
    return work;
}

/* Removes an emptied interior node: its buffer is freed with `open`, and its stale descriptor
 * leaves the tree unread. */
static void drop_emptied(struct quicklist *list, size_t index, struct quicklist_open *open) {
    if (open == &list->head || open == &list->tail) {
        quicklist_nodes_remove(list, index, index + 1);
        return;
    }
    list->serialized -= quicklist_node_serialized(&open->node);
    quicklist_open_free(open, &list->pieces);
    quicklist_tree_remove(&list->tree, &list->pieces, index - 1, index, NULL, NULL);
    list->nodes--;
    recompress_after_removal(list, index, 1);
}

bool quicklist_node_put(struct quicklist *list, size_t index, struct quicklist_open *open) {
    CHECKED_ASSERT(index < list->nodes && !(open->node.flags & QUICKLIST_NODE_PLAIN));
    if (open->node.count == 0) {
        drop_emptied(list, index, open);
        return false;
    }
    if (open == &list->head || open == &list->tail) return true;
    struct quicklist_node node = quicklist_node_close(open, &list->pieces);
    if (is_compressed_zone(list, index)) quicklist_node_compress(&node, &list->pieces);
    quicklist_tree_replace(&list->tree, &list->pieces, index - 1, node);
    return true;
}

void quicklist_node_cut(struct quicklist *list, size_t index, size_t from, size_t to) {
    struct quicklist_open work;
    struct quicklist_place place;
    if (from == to) return;
    quicklist_place_at(list, index, &place);
    CHECKED_ASSERT(from < to && to <= place.node->count);
    if (to - from == place.node->count) {
        quicklist_nodes_remove(list, index, index + 1);
        return;
    }
    struct quicklist_open *open = quicklist_node_take(list, index, &work);
    const uint8_t *first = quicklist_open_first(open), *end = quicklist_open_end(open);
    const uint8_t *cut = listpack_seek_in(first, end, open->node.count, from);
    const uint8_t *rest = listpack_seek_in(first, end, open->node.count, to);
    size_t bytes = (size_t)(rest - cut);
    quicklist_open_splice(open, (size_t)(cut - first), bytes, 0, &list->pieces);
    open->node.count -= (uint16_t)(to - from);
    list->count -= to - from;
    list->serialized -= bytes;
    quicklist_node_put(list, index, open);
}

void quicklist__pieces(struct quicklist *list, const struct piece_visitor *visitor) {
    if (list->nodes > 0) quicklist_open_pieces(&list->head, visitor);
    if (list->nodes > 1) quicklist_open_pieces(&list->tail, visitor);
    quicklist_tree_pieces(&list->tree, visitor);
}
