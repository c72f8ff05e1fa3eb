/* quicklist_iter: reading in order.
 *
 * The iterator is on one node, whose body is [first, end), or beyond the last one
 * (left_in_node 0). Interior nodes are read along their leaf of the tree; a compressed one is
 * decompressed to the iterator's scratch buffer. */
#include "base/alloc.h"
#include "base/checked.h"
#include "ds/quicklist_internal.h"

#include <assert.h>

/* Sets the body's bounds for the iterator's node. */
static void enter_node(struct quicklist_iter *iter) {
    const struct quicklist_node *node = iter->place.node;
    iter->first = quicklist_place_body(&iter->place, &iter->scratch);
    if (node->flags & QUICKLIST_NODE_LZF) {
        iter->readable_end = iter->scratch.bytes + iter->scratch.size;
    } else if (iter->place.open != NULL) {
        iter->readable_end = node->buffer + quicklist_open_allocated(iter->place.open);
    } else {
        iter->readable_end = node->buffer + mem_good_size(quicklist_node_size(node));
    }
    iter->end = iter->first + quicklist_node_size(node);
    iter->at = iter->direction == LIST_FORWARD ? iter->first : iter->end;
    iter->left_in_node = node->count;
    quicklist_place_prefetch(&iter->place, iter->direction);
}

/* Moves to the next node; false, beyond the last one, when there is none. */
static bool enter_next(struct quicklist_iter *iter) {
    iter->left_in_node = 0;
    if (iter->remaining == 0) return false;
    quicklist_place_step(iter->list, &iter->place, iter->direction);
    enter_node(iter);
    return true;
}

void quicklist_iter_start(struct quicklist_iter *iter, const struct quicklist *list, uint64_t index,
                          enum list_direction direction) {
    CHECKED_ASSERT(index < list->count);
    iter->list = list;
    iter->direction = direction;
    iter->index = index;
    iter->remaining = direction == LIST_FORWARD ? list->count - index : index + 1;
    iter->scratch = (struct quicklist_scratch){0};
    size_t offset = quicklist_place_find(list, index, &iter->place);
    enter_node(iter);
    size_t count = iter->left_in_node;
    if (direction == LIST_FORWARD) {
        iter->at = listpack_seek_in(iter->first, iter->end, count, offset);
        iter->left_in_node = count - offset;
    } else {
        iter->at = listpack_seek_in(iter->first, iter->end, count, offset + 1);
        iter->left_in_node = offset + 1;
    }
}

void quicklist_iter_end(struct quicklist_iter *iter) {
    quicklist_scratch_free(&iter->scratch);
}

/* Counts `n` elements of the current node as read. */
static void advance(struct quicklist_iter *iter, size_t n) {
    iter->left_in_node -= n;
    iter->remaining -= n;
    iter->index += iter->direction == LIST_FORWARD ? n : -(uint64_t)n;
}

const uint8_t *quicklist_iter_next(struct quicklist_iter *iter) {
    if (iter->left_in_node == 0 && !enter_next(iter)) return NULL;
    CHECKED_ASSERT(iter->direction == LIST_FORWARD ? iter->at < iter->end : iter->at > iter->first);
    CHECKED_ASSERT(iter->index < iter->list->count);
    advance(iter, 1);
    return listpack_step(&iter->at, iter->direction == LIST_FORWARD);
}

bool quicklist_iter_run(struct quicklist_iter *iter, struct quicklist_run *run) {
    if (iter->left_in_node == 0 && !enter_next(iter)) return false;
    bool forward = iter->direction == LIST_FORWARD;
    run->first = forward ? iter->at : iter->first;
    run->end = forward ? iter->end : iter->at;
    run->readable_end = iter->readable_end;
    run->count = iter->left_in_node;
    advance(iter, iter->left_in_node);
    return true;
}

bool quicklist_iter_find(struct quicklist_iter *iter, const struct listpack_element *needle,
                         uint64_t max, uint64_t *index) {
    bool forward = iter->direction == LIST_FORWARD;
    while (max > 0 && (iter->left_in_node > 0 || enter_next(iter))) {
        size_t limit = max < iter->left_in_node ? max : iter->left_in_node;
        size_t skipped;
        const uint8_t *found =
            forward ? listpack_find(iter->at, iter->end, needle, limit, &skipped)
                    : listpack_find_back(iter->first, iter->at, needle, limit, &skipped);
        advance(iter, skipped);
        if (found != NULL) {
            *index = iter->index;
            iter->at = forward ? found + needle->size : found;
            advance(iter, 1);
            return true;
        }
        max -= skipped;
        if (iter->left_in_node > 0) { /* stopped by `max` */
            size_t count = iter->place.node->count, left = iter->left_in_node;
            size_t offset = forward ? count - left : left;
            iter->at = listpack_seek_in(iter->first, iter->end, count, offset);
        }
    }
    return false;
}

struct quicklist_node_info quicklist_node_info_of(const struct quicklist_node *node) {
    bool compressed = node->flags & QUICKLIST_NODE_LZF;
    struct slice stream = compressed ? quicklist_node_stream(node) : SLICE("");
    return (struct quicklist_node_info){
        .count = node->count,
        .size = quicklist_node_serialized(node),
        .allocated = quicklist_node_allocated(node),
        .plain = node->flags & QUICKLIST_NODE_PLAIN,
        .compressed_size = stream.len,
        .data = compressed ? (const uint8_t *)stream.ptr : node->buffer,
        .body_size = quicklist_node_size(node),
    };
}

void quicklist_visit_nodes(const struct quicklist *list,
                           void (*visit)(const struct quicklist_node_info *info, void *arg),
                           void *arg) {
    struct quicklist_place place;
    if (list->nodes == 0) return;
    quicklist_place_at(list, 0, &place);
    do {
        struct quicklist_node_info info = quicklist_node_info_of(place.node);
        if (place.open != NULL) {
            info.allocated = quicklist_open_allocated(place.open);
            info.data = quicklist_open_first(place.open);
        }
        visit(&info, arg);
    } while (quicklist_place_step(list, &place, LIST_FORWARD));
}
