/* Reading: in order, node by node, what was captured; and checking. */
#include "base/checked.h"
#include "base/memory/alloc.h"
#include "ds/lists/quicklist.h"
#include "ds/lists/quicklist_place.h"

#include <assert.h>

/* --- In order --- */

/* Sets the body's bounds for the iterator's node. */
static void enter_node(struct quicklist_iter *iter) {
    const struct quicklist_node *node = iter->place.node;
    iter->first = quicklist_place_body(&iter->place, &iter->scratch);
    if (node->flags & QUICKLIST_NODE_LZF) {
        iter->readable_end = iter->scratch.bytes + iter->scratch.size;
    } else if (iter->place.open != NULL) {
        iter->readable_end = node->buffer + quicklist_open_allocated(iter->place.open);
    } else {
        iter->readable_end = node->buffer + mem_good_size(node->size);
    }
    iter->end = iter->first + node->size;
    iter->at = iter->direction == LIST_FORWARD ? iter->first : iter->end;
    iter->count = iter->left_in_node = node->count;
    quicklist_place_prefetch(&iter->place, iter->direction);
}

/* Moves to the next node. Returns false after the last one. */
static bool enter_next(struct quicklist_iter *iter) {
    iter->left_in_node = 0;
    if (iter->remaining == 0) return false;
    quicklist_place_step(iter->list, &iter->place, iter->direction);
    enter_node(iter);
    return true;
}

/* Moves to so many elements from where the node is read. */
static void seek_left(struct quicklist_iter *iter, size_t left) {
    size_t offset = iter->direction == LIST_FORWARD ? iter->count - left : left;
    iter->at = listpack_seek_in(iter->first, iter->end, iter->count, offset);
    iter->left_in_node = left;
}

void quicklist_iter_start(struct quicklist_iter *iter, const struct quicklist *list, uint64_t index,
                          enum list_direction direction) {
    CHECKED_ASSERT(index < list->count);
    bool forward = direction == LIST_FORWARD;
    iter->list = list;
    iter->direction = direction;
    iter->index = index;
    iter->remaining = forward ? list->count - index : index + 1;
    iter->scratch = (struct quicklist_scratch){0};
    size_t offset = quicklist_place_find(list, index, &iter->place);
    enter_node(iter);
    seek_left(iter, forward ? iter->count - offset : offset + 1);
}

void quicklist_iter_start_body(struct quicklist_iter *iter, const uint8_t *first,
                               const uint8_t *end, const uint8_t *readable_end, size_t count,
                               uint64_t index, enum list_direction direction) {
    CHECKED_ASSERT(index < count);
    iter->direction = direction;
    iter->index = index;
    iter->remaining = direction == LIST_FORWARD ? count - index : index + 1;
    iter->scratch = (struct quicklist_scratch){0};
    iter->first = first;
    iter->end = end;
    iter->readable_end = readable_end;
    iter->count = count;
    seek_left(iter, iter->remaining);
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
        if (iter->left_in_node > 0) seek_left(iter, iter->left_in_node); /* stopped by `max` */
    }
    return false;
}

/* --- Node by node --- */

static struct quicklist_node_info info_of(const struct quicklist_node *node) {
    bool compressed = node->flags & QUICKLIST_NODE_LZF;
    struct slice stream = compressed ? quicklist_node_stream(node) : SLICE("");
    return (struct quicklist_node_info){
        .count = node->count,
        .size = quicklist_node_serialized(node),
        .allocated = quicklist_node_allocated(node),
        .plain = node->flags & QUICKLIST_NODE_PLAIN,
        .compressed_size = stream.len,
        .data = compressed ? (const uint8_t *)stream.ptr : node->buffer,
        .body_size = node->size,
    };
}

void quicklist_visit_nodes(const struct quicklist *list,
                           void (*visit)(const struct quicklist_node_info *info, void *arg),
                           void *arg) {
    struct quicklist_place place;
    if (list->nodes == 0) return;
    quicklist_place_at(list, 0, &place);
    do {
        struct quicklist_node_info info = info_of(place.node);
        if (place.open != NULL) {
            info.allocated = quicklist_open_allocated(place.open);
            info.data = quicklist_open_first(place.open);
        }
        visit(&info, arg);
    } while (quicklist_place_step(list, &place, LIST_FORWARD));
}

/* --- Captures. Plain nodes at the ends are shared, too: nothing is ever written into them --- */

struct quicklist_capture {
    struct capture capture;
    struct quicklist list; /* whose pieces are the ends that are copies */
};

static bool is_shared_end(const struct quicklist_open *end) {
    return end->node.flags & QUICKLIST_NODE_PLAIN;
}

static void capture_end_node(struct quicklist_open *copy, struct quicklist_open *end,
                             struct pieces *pieces) {
    if (!is_shared_end(end)) quicklist_open_copy(copy, end, pieces);
}

static void free_rest(struct capture *capture) {
    struct quicklist *list = &((struct quicklist_capture *)capture)->list;
    if (!is_shared_end(&list->head)) quicklist_open_free(&list->head, &list->pieces);
    if (list->nodes > 1 && !is_shared_end(&list->tail))
        quicklist_open_free(&list->tail, &list->pieces);
}

static void free_structure(void *list) {
    quicklist_free(list);
}

static const struct capture_functions capture_functions = {.free = free_rest,
                                                           .free_structure = free_structure};

struct capture *quicklist_capture_begin(struct quicklist *list, size_t *left) {
    assert(list->nodes > 0);
    if (pieces_are_used_up(&list->pieces)) {
        if (quicklist_is_captured(list)) return NULL;
        quicklist__pieces(list, pieces_renew(&list->pieces));
    }
    struct quicklist_capture *captured =
        capture_begin(&capture_functions, sizeof(*captured), &list->pieces.captures, left);
    struct quicklist *copy = &captured->list;
    *copy = *list;
    copy->pieces = pieces_begin_copy(&list->pieces);
    capture_end_node(&copy->head, &list->head, &copy->pieces);
    if (list->nodes > 1) capture_end_node(&copy->tail, &list->tail, &copy->pieces);
    captured->capture.allocated += copy->pieces.bytes;
    return &captured->capture;
}

bool quicklist_is_captured(const struct quicklist *list) {
    return pieces_are_captured(&list->pieces);
}

const struct quicklist *quicklist_captured(const struct capture *capture) {
    CHECKED_ASSERT(capture->functions == &capture_functions);
    return &((const struct quicklist_capture *)capture)->list;
}

/* --- Checking --- */

/* An element's type and length, before and behind its text. */
enum { ELEMENT_OVERHEAD_MAX = 5 + 5 };

struct totals {
    uint64_t count;
    size_t serialized;
};

/* Returns whether the node is compressed exactly where it must be. */
static bool compression_check(const struct quicklist *list, const struct quicklist_place *place) {
    size_t depth = list->limits.compress_depth;
    bool inside = depth > 0 && place->index >= depth && place->index + depth < list->nodes;
    bool compressed = place->node->flags & QUICKLIST_NODE_LZF;
    if (place->open != NULL) return !compressed;
    if (list->mixed) return true;
    if (!inside) return !compressed;
    return compressed || !quicklist_node_may_compress(place->node); /* else it would gain */
}

/* What a node that is not plain may take at most. Replacements stretch a node to a multiple of the
 * limit. Elements that inserts add unchecked, after a split, are its first and its last, one each:
 * a further one takes that one's place. Such an element is as large as the plain threshold allows,
 * which may be far above the limit. */
static size_t stretched_size(const struct quicklist *list) {
    size_t largest = list->plain_length + ELEMENT_OVERHEAD_MAX;
    return QUICKLIST_STRETCH * list->size_limit + 2 * largest;
}

static bool node_check(const struct quicklist *list, const struct quicklist_place *place,
                       struct totals *totals) {
    const struct quicklist_node *node = place->node;
    bool valid =
        place->open != NULL ? quicklist_open_check(place->open) : quicklist_node_check(node);
    if (!valid || !compression_check(list, place)) return false;
    totals->count += node->count;
    totals->serialized += quicklist_node_serialized(node);
    if (list->mixed || node->flags & QUICKLIST_NODE_PLAIN) return true;
    return node->count <= list->count_limit && node->size <= stretched_size(list);
}

bool quicklist_check(const struct quicklist *list) {
    struct totals totals = {0};
    struct pieces counted = {0};
    struct piece_counter counter = pieces_counter(&counted);
    if (list->tree.root.nodes != (list->nodes > 2 ? list->nodes - 2 : 0)) return false;
    if (!quicklist_tree_check(&list->tree)) return false;
    if (list->nodes < 1 && list->head.node.buffer != NULL) return false;
    if (list->nodes < 2 && list->tail.node.buffer != NULL) return false;
    if (list->nodes > 0) {
        struct quicklist_place place;
        size_t seen = 0;
        quicklist_place_at(list, 0, &place);
        do {
            if (place.index != seen++ || !node_check(list, &place, &totals)) return false;
        } while (quicklist_place_step(list, &place, LIST_FORWARD));
        if (seen != list->nodes) return false;
    }
    quicklist__pieces((struct quicklist *)list, &counter.visitor); /* which changes nothing */
    return totals.count == list->count && totals.serialized == list->serialized &&
           pieces_are_counted(&list->pieces, &counted);
}

/* Counts the arrays and buffers of a list that a capture reads. */
struct read_counter {
    struct piece_visitor visitor;
    uint32_t below; /* the capture's epoch */
    size_t *count;
};

static void count_read(const struct piece_visitor *visitor, void *piece, size_t size,
                       uint32_t *epoch) {
    const struct read_counter *counter = (const struct read_counter *)visitor;
    (void)piece, (void)size;
    *counter->count += epoch && *epoch < counter->below;
}

static size_t pieces_read(struct quicklist *list, const struct capture *capture) {
    size_t count = 0;
    struct read_counter counter = {{piece_enter, count_read}, capture->epoch, &count};
    quicklist__pieces(list, &counter.visitor);
    return count;
}

/* Returns whether what other captures have says nothing of this one. */
static bool is_only_one(const struct capture *capture) {
    return capture->captures && !capture->older && !capture->newer;
}

bool quicklist_capture_check(const struct capture *capture, struct quicklist *list) {
    struct quicklist copy = *quicklist_captured(capture);
    size_t ends = copy.pieces.allocations;
    copy.pieces = (struct pieces){0};
    struct piece_counter counter = pieces_counter(&copy.pieces);
    quicklist__pieces(&copy, &counter.visitor);
    if (!quicklist_check(&copy)) return false;
    if (!is_only_one(capture)) return true;
    if (capture->orphan) list = capture->orphan;
    return pieces_read(list, capture) + capture_pieces_left(capture) ==
           copy.pieces.allocations - ends;
}
