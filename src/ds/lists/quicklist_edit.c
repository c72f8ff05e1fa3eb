/* quicklist_edit: changes at any position: inserting, replacing, removing matches, and merging
 * small nodes.
 *
 * Which node takes an element follows Redis, so that lists have the same nodes in both. A node may
 * exceed the limits in two cases, as in Redis: an element inserted in the middle of a full node
 * joins one of its halves unchecked, and a replacement stays in its node (here up to
 * QUICKLIST_STRETCH times the limit). */
#include "base/checked.h"
#include "ds/lists/quicklist.h"
#include "ds/lists/quicklist_place.h"

#include <assert.h>
#include <string.h>

/* --- Elements within one node --- */

/* Replaces `removed` (0 or 1) elements at element `offset` of an open node by `element`. */
static void splice_element(struct quicklist *list, struct quicklist_open *open, size_t offset,
                           size_t removed, const struct listpack_element *element) {
    const uint8_t *first = quicklist_open_first(open), *end = quicklist_open_end(open);
    const uint8_t *at = listpack_seek_in(first, end, open->node.count, offset);
    size_t old_size = removed > 0 ? listpack_size(at) : 0;
    uint8_t *place =
        quicklist_open_splice(open, (size_t)(at - first), old_size, element->size, &list->pieces);
    listpack_write(place, element);
    open->node.count += (uint16_t)(1 - removed);
    list->count += 1 - removed;
    list->serialized += (size_t)element->size - old_size; /* modulo 2^64 */
}

static void splice_into_node(struct quicklist *list, size_t node, size_t offset, size_t removed,
                             const struct listpack_element *element) {
    struct quicklist_open work;
    struct quicklist_open *open = quicklist_node_take(list, node, &work);
    splice_element(list, open, offset, removed, element);
    quicklist_node_put(list, node, open);
}

/* Inserts a node with only `element` before node `index`. */
static void insert_single(struct quicklist *list, size_t index,
                          const struct listpack_element *element) {
    struct quicklist_open open;
    bool plain = element->text.len >= list->plain_length;
    quicklist_open_init_element(&open, element, plain, element->size, false, &list->pieces);
    quicklist_node_insert(list, index, &open);
}

/* --- Splitting and merging --- */

/* Moves the elements from `offset` (neither 0 nor the count) of node `index` into a new node with
 * room for `extra` bytes more, which is returned and not yet part of the list. */
static struct quicklist_open split_off(struct quicklist *list, size_t index, size_t offset,
                                       size_t extra) {
    struct quicklist_open work, right;
    struct quicklist_open *left = quicklist_node_take(list, index, &work);
    const uint8_t *first = quicklist_open_first(left), *end = quicklist_open_end(left);
    const uint8_t *at = listpack_seek_in(first, end, left->node.count, offset);
    size_t bytes = (size_t)(end - at);
    quicklist_open_init(&right, bytes + extra, true, &list->pieces);
    memcpy(quicklist_open_grow_front(&right, bytes, &list->pieces), at, bytes);
    right.node.count = (uint16_t)(left->node.count - offset);
    quicklist_open_splice(left, (size_t)(at - first), bytes, 0, &list->pieces);
    left->node.count = (uint16_t)offset;
    list->count -= right.node.count;
    list->serialized -= bytes;
    quicklist_node_put(list, index, left);
    return right;
}

/* Returns whether the nodes `index` and `index` + 1 exist and fit in one. */
static bool can_merge(const struct quicklist *list, size_t index) {
    struct quicklist_place left, right;
    if (index + 1 >= list->nodes) return false;
    quicklist_place_at(list, index, &left);
    quicklist_place_at(list, index + 1, &right);
    if ((left.node->flags | right.node->flags) & QUICKLIST_NODE_PLAIN) return false;
    size_t size = (size_t)left.node->size + right.node->size + LISTPACK_OVERHEAD;
    return size <= list->size_limit &&
           (size_t)left.node->count + right.node->count <= list->count_limit;
}

/* Merges node `index` + 1 into node `index`. */
static void merge(struct quicklist *list, size_t index) {
    struct quicklist_open work;
    struct quicklist_place right;
    struct quicklist_open *left = quicklist_node_take(list, index, &work);
    quicklist_place_at(list, index + 1, &right);
    const struct quicklist_node *node = right.node;
    uint8_t *to = quicklist_open_grow_back(left, node->size, &list->pieces);
    if (node->flags & QUICKLIST_NODE_LZF) {
        quicklist_node_decompress_to(node, to);
    } else {
        memcpy(to, quicklist_place_first(&right), node->size);
    }
    left->node.count += node->count;
    list->count += node->count;
    list->serialized += node->size;
    quicklist_node_put(list, index, left);
    quicklist_nodes_remove(list, index + 1, index + 2);
}

/* Merges around node `center` after a split, in Redis's order: the two before it, the two after it,
 * then it with either side. */
static void merge_around(struct quicklist *list, size_t center) {
    if (center >= 2 && can_merge(list, center - 2)) merge(list, --center - 1);
    if (can_merge(list, center + 1)) merge(list, center + 1);
    if (center >= 1 && can_merge(list, center - 1)) merge(list, --center);
    if (can_merge(list, center)) merge(list, center);
}

/* --- Inserting --- */

/* Inserts between the elements `offset` - 1 and `offset` of a node, in a node of its own or by
 * splitting. */
static void insert_splitting(struct quicklist *list, size_t index, size_t offset, bool after,
                             const struct listpack_element *element) {
    if (element->text.len >= list->plain_length) {
        struct quicklist_open right = split_off(list, index, offset, 0);
        quicklist_node_insert(list, index + 1, &right);
        insert_single(list, index + 1, element);
        return;
    }
    struct quicklist_open right = split_off(list, index, offset, after ? element->size : 0);
    if (after) { /* joins the right half; the count is kept by quicklist_node_insert */
        listpack_write(quicklist_open_grow_front(&right, element->size, &list->pieces), element);
        right.node.count++;
    } else {
        splice_into_node(list, index, offset, 0, element);
    }
    quicklist_node_insert(list, index + 1, &right);
    merge_around(list, after ? index : index + 1);
}

static bool node_accepts_at(const struct quicklist *list, size_t index, size_t length) {
    struct quicklist_place place;
    quicklist_place_at(list, index, &place);
    return quicklist_node_accepts(list, place.node, length);
}

void quicklist_insert(struct quicklist *list, uint64_t index, bool after,
                      const struct listpack_element *element) {
    CHECKED_ASSERT(index < list->count);
    struct quicklist_place place;
    size_t offset = quicklist_place_find(list, index, &place) + after;
    size_t node = place.index, count = place.node->count, length = element->text.len;
    bool at_tail = after && offset == count;
    bool at_head = !after && offset == 0;
    if (quicklist_node_accepts(list, place.node, length)) {
        splice_into_node(list, node, offset, 0, element);
    } else if (at_tail && node + 1 < list->nodes && node_accepts_at(list, node + 1, length)) {
        splice_into_node(list, node + 1, 0, 0, element);
    } else if (at_head && node > 0 && node_accepts_at(list, node - 1, length)) {
        quicklist_place_at(list, node - 1, &place);
        splice_into_node(list, node - 1, place.node->count, 0, element);
    } else if (at_tail || at_head) {
        insert_single(list, node + after, element);
    } else {
        insert_splitting(list, node, offset, after, element);
    }
}

/* --- Replacing --- */

/* Gives the new element a node of its own and removes the old one, at `offset` of node `index`. */
static void replace_by_node(struct quicklist *list, size_t index, size_t offset,
                            const struct listpack_element *element) {
    struct quicklist_place place;
    quicklist_place_at(list, index, &place);
    size_t count = place.node->count;
    if (offset + 1 < count) {
        struct quicklist_open right = split_off(list, index, offset + 1, 0);
        quicklist_node_insert(list, index + 1, &right);
    }
    insert_single(list, index + 1, element);
    if (offset == 0) {
        quicklist_nodes_remove(list, index, index + 1);
        return;
    }
    quicklist_node_cut(list, index, offset, offset + 1);
    merge_around(list, index + 1);
}

/* Replaces a plain node's element by one that is not plain: it joins the next node, or gets this
 * one. */
static void replace_plain(struct quicklist *list, size_t index,
                          const struct listpack_element *element) {
    if (index + 1 < list->nodes && node_accepts_at(list, index + 1, element->text.len)) {
        splice_into_node(list, index + 1, 0, 0, element);
    } else {
        insert_single(list, index + 1, element);
    }
    quicklist_nodes_remove(list, index, index + 1);
}

void quicklist_replace(struct quicklist *list, uint64_t index,
                       const struct listpack_element *element) {
    CHECKED_ASSERT(index < list->count);
    struct quicklist_place place;
    size_t offset = quicklist_place_find(list, index, &place);
    bool plain = place.node->flags & QUICKLIST_NODE_PLAIN;
    bool to_plain = element->text.len >= list->plain_length;
    size_t stretched = (size_t)place.node->size + element->size;
    if (plain && to_plain) {
        insert_single(list, place.index + 1, element);
        quicklist_nodes_remove(list, place.index, place.index + 1);
    } else if (plain) {
        replace_plain(list, place.index, element);
    } else if (to_plain || stretched > list->size_limit * QUICKLIST_STRETCH) {
        replace_by_node(list, place.index, offset, element);
    } else {
        splice_into_node(list, place.index, offset, 1, element);
    }
}

/* --- Removing --- */

/* Removes up to `max` matching elements from the node at `place`; returns their number. Removes a
 * node that becomes empty and sets *emptied. A node without a match is only read. `scratch` is for
 * decompressing. */
static size_t remove_in_node(struct quicklist *list, const struct quicklist_place *place,
                             const struct listpack_element *needle, uint64_t max,
                             enum list_direction direction, struct quicklist_scratch *scratch,
                             bool *emptied) {
    const uint8_t *body = quicklist_place_body(place, scratch);
    size_t count = place->node->count, size = place->node->size, removed;
    *emptied = false;
    quicklist_place_prefetch(place, direction);
    if (listpack_find(body, body + size, needle, count, &removed) == NULL) return 0;
    if (place->node->flags & QUICKLIST_NODE_PLAIN) {
        quicklist_nodes_remove(list, place->index, place->index + 1);
        *emptied = true;
        return 1;
    }

    struct quicklist_open work;
    struct quicklist_open *open = quicklist_node_take(list, place->index, &work);
    uint8_t *new_end =
        listpack_remove_matching(quicklist_open_first(open), quicklist_open_end(open), needle,
                                 max < count ? max : count, direction == LIST_BACKWARD, &removed);
    size_t new_size = (size_t)(new_end - quicklist_open_first(open));
    open->node.size = (uint32_t)new_size;
    open->node.count -= (uint16_t)removed;
    list->count -= removed;
    list->serialized -= size - new_size;
    *emptied = !quicklist_node_put(list, place->index, open);
    return removed;
}

/* Merges the two nodes beside the seam, with `todo` nodes beyond it, after elements were removed
 * from them. The seam is the border that an iteration over the list has reached. Two nodes that are
 * the whole list are not merged: only removals decide when a list counts as small again. */
static void merge_sparse(struct quicklist *list, size_t todo, enum list_direction direction) {
    size_t seam = direction == LIST_FORWARD ? list->nodes - todo : todo;
    if (seam > 0 && list->nodes > 2 && can_merge(list, seam - 1)) merge(list, seam - 1);
}

/* The ends keep room for pushes and pops; much of it is for elements that are gone. */
static void shrink_ends(struct quicklist *list) {
    if (list->nodes > 0) quicklist_open_shrink(&list->head, &list->pieces);
    if (list->nodes > 1) quicklist_open_shrink(&list->tail, &list->pieces);
}

/* Each pass takes one of the `todo` nodes beyond the seam; it changes only nodes before the
 * seam. */
uint64_t quicklist_remove_matching(struct quicklist *list, const struct listpack_element *needle,
                                   uint64_t max, enum list_direction direction) {
    struct quicklist_scratch scratch = {0};
    struct quicklist_place place;
    uint64_t removed = 0;
    bool touched = false; /* a node at the seam lost elements */
    bool stale = true;    /* `place` is not at the next node */
    size_t todo = list->nodes;
    for (; todo > 0 && removed < max; todo--) {
        bool emptied;
        if (stale)
            quicklist_place_at(list, direction == LIST_FORWARD ? list->nodes - todo : todo - 1,
                               &place);
        size_t n =
            remove_in_node(list, &place, needle, max - removed, direction, &scratch, &emptied);
        removed += n;
        stale = n > 0 || touched || !quicklist_place_step(list, &place, direction);
        if ((n > 0 || touched) && !emptied) merge_sparse(list, todo, direction);
        touched = n > 0;
    }
    if (touched) merge_sparse(list, todo, direction);
    quicklist_scratch_free(&scratch);
    shrink_ends(list);
    CHECKED_ASSERT(removed <= max && (list->count == 0) == (list->nodes == 0));
    return removed;
}
