/* Captures of a range, read in order while the list changes.
 *
 * The nodes of the moment that are still to be read are in two places:
 *
 *      list      … ─ read ─ new ─ new ─ [ahead] new ─ old ─ new ─ old ─ …       the live list
 *      dropped   old, old, …                                                     a heap
 *
 * A node is of the moment ("old") if its epoch is before that of the capture; the list does not
 * change its members then, but its links. All others are new. Before the list drops a node, it
 * tells its captures: those that have yet to read the node put it on their heap.
 *
 * Invariant: in the direction of reading, each node of the moment that was not read, and belongs to
 * the range, is either in the list, at `ahead` or behind it, or on the heap. New nodes never become
 * old. So `ahead` only moves in one direction, and to go to the next node costs O(1) amortised over
 * the nodes of the moment and those that the list has made since.
 *
 * Nodes of the moment contain no member of another one, so their first members give their order in
 * both directions. A list that its owner has freed is left to the captures as it is: nothing is
 * dropped any more. */
#include "ds/sorted_sets/skiplist_internal.h"

#include "base/checked.h"

#include <assert.h>

/* An item of the heap. The key is that of the node's first member: most comparisons then need not
 * load the node. */
struct dropped {
    uint64_t key;
    const struct skiplist_node *node;
};

struct range_capture {
    struct capture capture;
    bool forward;
    unsigned rest;                     /* members of `node` to be read, if the range has them */
    uint64_t left;                     /* members of the range to be read */
    const struct skiplist_node *node;  /* the node of the moment that is being read */
    const struct skiplist_node *last;  /* the node of the moment in which the range ends */
    const struct skiplist_node *ahead; /* NULL: there is none in the list */
    struct segmented dropped;
};

static struct dropped *dropped_at(const struct range_capture *range, size_t index) {
    struct dropped *const *directory = range->dropped.directory;
    CHECKED_ASSERT(index < range->dropped.count);
    return &directory[index >> SEGMENTED_BITS][index & (SEGMENTED_ITEMS - 1)];
}

/* --- Order --- */

static struct dropped item_of(const struct skiplist_node *node) {
    return (struct dropped){skiplist_node_key(node, 0), node};
}

static bool begins_by(const struct dropped *a, const struct dropped *b) {
    if (a->key != b->key) return a->key < b->key;
    return slice_compare(skiplist_node_member(a->node, 0), skiplist_node_member(b->node, 0)) <= 0;
}

/* Returns whether `a` comes first in the direction of reading, or both begin with the same
 * member. */
static bool comes_first(const struct range_capture *range, const struct dropped *a,
                        const struct dropped *b) {
    return range->forward ? begins_by(a, b) : begins_by(b, a);
}

/* --- The heap --- */

static void heap_push(struct range_capture *range, struct dropped item) {
    size_t allocated = segmented_allocated(&range->dropped);
    segmented_push(&range->dropped);
    size_t at = range->dropped.count - 1;
    while (at > 0) {
        const struct dropped *parent = dropped_at(range, (at - 1) / 2);
        if (comes_first(range, parent, &item)) break;
        *dropped_at(range, at) = *parent;
        at = (at - 1) / 2;
    }
    *dropped_at(range, at) = item;
    capture_count(&range->capture, segmented_allocated(&range->dropped) - allocated);
}

/* Removes the top. */
static void heap_pop(struct range_capture *range) {
    size_t allocated = segmented_allocated(&range->dropped);
    struct dropped item = *dropped_at(range, range->dropped.count - 1);
    segmented_pop(&range->dropped);
    size_t count = range->dropped.count, at = 0;
    for (size_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count &&
            comes_first(range, dropped_at(range, child + 1), dropped_at(range, child)))
            child++;
        if (comes_first(range, &item, dropped_at(range, child))) break;
        *dropped_at(range, at) = *dropped_at(range, child);
        at = child;
    }
    if (count > 0) *dropped_at(range, at) = item;
    capture_uncount(&range->capture, allocated - segmented_allocated(&range->dropped));
}

/* --- Beginning and end --- */

static void free_range(struct capture *capture) {
    segmented_free(&((struct range_capture *)capture)->dropped);
}

static void free_structure(void *list) {
    skiplist_free(list);
}

static const struct capture_functions range_functions = {.free = free_range,
                                                         .free_structure = free_structure};

static const struct skiplist_node *next_node(const struct range_capture *range,
                                             const struct skiplist_node *node) {
    return range->forward ? node->links[0].next : node->prev;
}

struct capture *skiplist_range_capture_begin(struct skiplist *list, uint64_t rank, uint64_t count,
                                             bool forward, size_t *left) {
    struct skiplist_path first, last;
    if (!skiplist__can_capture(list)) return NULL;
    struct range_capture *range =
        capture_begin(&range_functions, sizeof(*range), &list->pieces.captures, left);
    CHECKED_ASSERT(count > 0 && (forward ? count <= list->count - rank : count <= rank + 1));
    skiplist__path_seek(list, &first, rank);
    skiplist__path_seek(list, &last, forward ? rank + count - 1 : rank - (count - 1));
    unsigned slot = (unsigned)(rank - first.start);
    range->forward = forward;
    range->left = count;
    range->node = first.node;
    range->last = last.node;
    range->rest = forward ? skiplist_node_count(first.node) - slot : slot + 1;
    range->ahead = next_node(range, first.node);
    segmented_init(&range->dropped, sizeof(struct dropped), sizeof(struct dropped *));
    return &range->capture;
}

/* --- Dropping --- */

/* Returns whether the capture has yet to read the node, which is of its moment. */
static bool is_awaited(const struct range_capture *range, const struct skiplist_node *node) {
    if (node == range->node) return false;
    struct dropped item = item_of(node), now = item_of(range->node), last = item_of(range->last);
    return comes_first(range, &now, &item) && comes_first(range, &item, &last);
}

void skiplist__tell_captures(struct skiplist *list, const struct skiplist_node *node,
                             const struct skiplist_node *next,
                             const struct skiplist_node *previous) {
    for (struct capture *capture = list->pieces.captures.newest; capture;
         capture = capture->older) {
        if (capture->functions != &range_functions) continue;
        struct range_capture *range = (struct range_capture *)capture;
        if (range->ahead == node) range->ahead = range->forward ? next : previous;
        if (node->epoch < capture->epoch && is_awaited(range, node))
            heap_push(range, item_of(node));
    }
}

/* --- Reading --- */

/* Returns whether the top of the heap is the next node. It is if it comes before `ahead`, even if
 * that is new: the nodes of the moment that the list has come behind that. */
static bool next_is_dropped(const struct range_capture *range) {
    if (range->dropped.count == 0 || !range->ahead) return range->dropped.count > 0;
    struct dropped ahead = item_of(range->ahead);
    return comes_first(range, dropped_at(range, 0), &ahead);
}

static void go_to_next_node(struct range_capture *range) {
    const struct skiplist_node *node = NULL;
    while (!node) {
        if (next_is_dropped(range)) {
            node = dropped_at(range, 0)->node;
            heap_pop(range);
            break;
        }
        assert(range->ahead);
        if (range->ahead->epoch < range->capture.epoch) node = range->ahead;
        range->ahead = next_node(range, range->ahead);
        if (range->ahead) skiplist__prefetch_node(range->ahead);
    }
    range->node = node;
    range->rest = skiplist_node_count(node);
}

size_t skiplist_range_capture_read(struct capture *capture, struct slice *members, double *scores,
                                   size_t most) {
    struct range_capture *range = (struct range_capture *)capture;
    CHECKED_ASSERT(capture->functions == &range_functions && most > 0);
    if (range->left == 0) return 0;
    if (range->rest == 0) go_to_next_node(range);
    const struct skiplist_node *node = range->node;
    unsigned count = range->rest;
    if (count > most) count = (unsigned)most;
    if (count > range->left) count = (unsigned)range->left;
    unsigned slot = range->forward ? skiplist_node_count(node) - range->rest : range->rest - 1;
    skiplist_node_members(node, slot, count, range->forward, members);
    for (unsigned i = 0; scores && i < count; i++)
        scores[i] = skiplist_node_score(node, range->forward ? slot + i : slot - i);
    range->rest -= count;
    range->left -= count;
    return count;
}
