/* idindex: nodes in the order of stream ids. It finds the node that holds an id.
 *
 *      index      segment 0 │ segment 1 │ …
 *      segment    [base id, node] [base id, node] …          up to 512, in ascending order
 *
 * A base is not greater than the ids in its node, and greater than all ids in the node before. What
 * a node is, the structure knows that has the index: streamlog and pendinglist.
 *
 * Several indexes may be parts of one value, which is captured as a whole. Their nodes and the
 * items of their segments are its pieces (ds/pieces.h). A capture copies the arrays of segments. */
#ifndef PACKLIST_DS_STREAMS_IDINDEX_H
#define PACKLIST_DS_STREAMS_IDINDEX_H

#include "base/prefetch.h"
#include "ds/pieces.h"
#include "ds/streams/stream_id.h"

#include <stddef.h>

#ifdef TINY_LIMITS
enum { IDINDEX_SEGMENT = 4 };
#else
enum { IDINDEX_SEGMENT = 512 };
#endif

/* What each node begins with. */
struct idindex_node {
    uint32_t epoch; /* in which it was made */
};

struct idindex_item {
    struct stream_id base;
    struct idindex_node *node;
};

struct idindex_segment {
    struct idindex_item *items;
    uint32_t count;
    uint32_t capacity;
    uint32_t epoch;     /* in which `items` was allocated */
    uint32_t entries;   /* the user's: how many there are in its nodes; 0 at first */
    union {             /* the user's, about its nodes */
        uint64_t least; /* a lower bound of something in them; UINT64_MAX at first, and that of the
                           whole in both parts of a segment that is split */
        uint64_t bytes; /* of the nodes; the user begins with 0 */
    };
};

struct idindex {
    struct idindex_segment *segments;
    uint32_t segment_count;
    uint32_t segment_capacity;
};

struct idindex_position {
    size_t segment;
    size_t item;
};

/* The position of an item: whether there is one, which it is, and the next one. O(1) each. */
static inline bool idindex_has(const struct idindex *index, struct idindex_position at) {
    return at.segment < index->segment_count;
}

static inline struct idindex_item *idindex_at(const struct idindex *index,
                                              struct idindex_position at) {
    return &index->segments[at.segment].items[at.item];
}

static inline void idindex_step(const struct idindex *index, struct idindex_position *at) {
    if (++at->item < index->segments[at->segment].count) return;
    *at = (struct idindex_position){at->segment + 1, 0};
}

/* For loops that read one node after another: loads the one some places behind. O(1). */
static inline void idindex_prefetch(const struct idindex_segment *segment, size_t at) {
    enum { AHEAD = 12 };
    if (at + AHEAD < segment->count) prefetch(segment->items[at + AHEAD].node);
}

/* Finds the last node whose base id is not greater than `id`. Returns false if each node begins
 * with a greater one. O(log n). */
bool idindex_find(const struct idindex *index, struct stream_id id,
                  struct idindex_position *position);

/* Returns the last item, or NULL. O(1). */
struct idindex_item *idindex_last(const struct idindex *index);

/* Returns the segment, whose items may then be changed. O(1), or O(segment) after a capture. */
struct idindex_segment *idindex_open_copy(struct pieces *pieces, struct idindex_segment *segment);
static inline struct idindex_segment *idindex_open(struct idindex *index, struct pieces *pieces,
                                                   size_t at) {
    struct idindex_segment *segment = &index->segments[at];
    if (__builtin_expect(pieces_is_read(pieces, segment->epoch), 0))
        return idindex_open_copy(pieces, segment);
    return segment;
}

/* Makes place for an item before the one at *at; after the last one where that is the end of the
 * last segment. The caller sets its base and node. *at is set to where it is. O(segment +
 * segments). */
struct idindex_item *idindex_insert(struct idindex *index, struct pieces *pieces,
                                    struct idindex_position *at);

/* Removes the items [from, to) of a segment, whose nodes the caller has dropped. O(segment +
 * segments). */
void idindex_remove(struct idindex *index, struct pieces *pieces, size_t segment, size_t from,
                    size_t to);

/* Moves the first `count` segments to `cut`, an empty index of another value, with their items. The
 * nodes go with them, but not their bytes and allocations. There must be no capture.
 * O(segments). */
void idindex_cut(struct idindex *index, struct pieces *pieces, size_t count, struct idindex *cut,
                 struct pieces *cut_pieces);

/* Copies the segments, for a capture, to *to, which is moved behind them. The index, which is
 * itself a copy, then leads to these. O(segments). */
static inline size_t idindex_image_size(const struct idindex *index) {
    return index->segment_count * sizeof(*index->segments);
}
void idindex_image(struct idindex *index, char **to);

/* The struct is a copy of that of an index or of its image: gives it memory of its own, with copies
 * of the nodes. `node_size` is as below. In any thread. O(bytes). */
void idindex_own(struct idindex *index, struct pieces *pieces,
                 size_t (*node_size)(const void *node));

/* Leads the visitor through the arrays and the nodes (ds/pieces.h). `node_size` returns the bytes
 * of a node, which points to no other pieces. O(nodes). */
void idindex_pieces(struct idindex *index, size_t (*node_size)(const void *node),
                    const struct piece_visitor *visitor);

/* Moves nodes from `at` on, 0 at first, to better places (base/memory/relocate.h), until the step
 * is due, and the arrays that begin there. Returns where to go on, 0 when all were visited. There
 * must be no capture. */
uint64_t idindex_relocate(struct idindex *index, uint64_t at, size_t (*node_size)(const void *node),
                          struct relocator *relocator);

/* Checks the invariant of the arrays. */
bool idindex_check(const struct idindex *index, const struct pieces *pieces);

#endif
