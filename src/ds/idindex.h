/* idindex: nodes in the order of stream ids. It finds the node that holds an id.
 *
 *      index      segment 0 │ segment 1 │ …
 *      segment    [base id, node] [base id, node] …          up to 512, in ascending order
 *
 * A base is not greater than the ids in its node, and greater than all ids in the node before. What
 * a node is, the structure knows that has the index: streamlog and pendinglist.
 *
 * Several indexes may be parts of one value. It is captured as a whole: each capture begins an
 * epoch and copies the arrays of segments. The index replaces the items of a segment that is older
 * than the epoch by a copy before it changes them; in the copy the pointers to nodes have the bit
 * SHARED. A node with this bit is replaced by a copy before it changes. What is replaced or dropped
 * is left to the capture (ds/capture.h). While there is no capture, epochs and SHARED mean
 * nothing. */
#ifndef PACKLIST_DS_IDINDEX_H
#define PACKLIST_DS_IDINDEX_H

#include "ds/capture.h"
#include "ds/stream_id.h"

#include <stddef.h>

struct relocator; /* base/relocate.h */

#ifdef TINY_LIMITS
enum { IDINDEX_SEGMENT = 4 };
#else
enum { IDINDEX_SEGMENT = 512 };
#endif

enum { IDINDEX_SHARED = 1 }; /* in a pointer to a node */

struct idindex_item {
    struct stream_id base;
    uintptr_t node;
};

struct idindex_segment {
    struct idindex_item *items;
    uint32_t count;
    uint32_t capacity;
    uint64_t epoch; /* in which `items` was allocated */
    uint64_t least; /* the user's: a lower bound of something in its nodes; UINT64_MAX at first, and
                       that of the whole in both parts of a segment that is split */
};

/* What all indexes of a value have in common. */
struct idindex_owner {
    uint64_t epoch;
    struct capture *capture; /* NULL: none */
    size_t bytes;            /* of nodes, items and segments, by size class; users add the nodes' */
    size_t allocations;      /* likewise */
};

struct idindex {
    struct idindex_segment *segments;
    uint32_t segment_count;
    uint32_t segment_capacity;
};

/* The nodes of an index or of a capture of it. */
struct idindex_view {
    const struct idindex_segment *segments;
    size_t segment_count;
};

struct idindex_position {
    size_t segment;
    size_t item;
};

static inline struct idindex_view idindex_view(const struct idindex *index) {
    return (struct idindex_view){index->segments, index->segment_count};
}

/* The node, without the bit. */
static inline void *idindex_node(const struct idindex_item *item) {
    return (void *)(item->node & ~(uintptr_t)IDINDEX_SHARED);
}

/* Returns the capture that reads the node, or NULL. O(1). */
static inline struct capture *idindex_reader(const struct idindex_owner *owner,
                                             const struct idindex_segment *segment,
                                             const struct idindex_item *item) {
    if (item->node & IDINDEX_SHARED) return owner->capture;
    return capture_reading(owner->capture, segment->epoch, owner->epoch);
}

/* Finds the last node whose base id is not greater than `id`. Returns false if each node begins
 * with a greater one. O(log n). */
bool idindex_find(struct idindex_view index, struct stream_id id,
                  struct idindex_position *position);

/* Returns the last item, or NULL. O(1). */
struct idindex_item *idindex_last(const struct idindex *index);

/* Returns the segment, whose items may then be changed. O(1), or O(segment) after a capture. */
struct idindex_segment *idindex_open_copy(struct idindex_owner *owner,
                                          struct idindex_segment *segment);
static inline struct idindex_segment *idindex_open(struct idindex *index,
                                                   struct idindex_owner *owner, size_t at) {
    struct idindex_segment *segment = &index->segments[at];
    if (__builtin_expect(capture_reading(owner->capture, segment->epoch, owner->epoch) != NULL, 0))
        return idindex_open_copy(owner, segment);
    return segment;
}

/* Makes place for an item before the one at *at; after the last one where that is the end of the
 * last segment. The caller sets its base and node. *at is set to where it is. O(segment +
 * segments). */
struct idindex_item *idindex_insert(struct idindex *index, struct idindex_owner *owner,
                                    struct idindex_position *at);

/* Removes the items [from, to) of a segment, whose nodes the caller has dropped. O(segment +
 * segments). */
void idindex_remove(struct idindex *index, struct idindex_owner *owner, size_t segment, size_t from,
                    size_t to);

/* Moves the first `count` segments to `cut`, an empty index of another owner, with their items. The
 * nodes go with them, but not their bytes and allocations. There must be no capture.
 * O(segments). */
void idindex_cut(struct idindex *index, struct idindex_owner *owner, size_t count,
                 struct idindex *cut, struct idindex_owner *cut_owner);

/* Makes `copy` an index with items of its own, which have the same nodes. O(items). */
void idindex_copy(struct idindex *copy, const struct idindex *index, struct idindex_owner *owner);

/* Drops items and segments. The nodes are dropped before. O(segments). */
void idindex_free(struct idindex *index, struct idindex_owner *owner);

/* Gives back memory of a node, or of another part of the value that its capture may read. O(1). */
static inline void idindex_drop(struct idindex_owner *owner, struct capture *reader, void *memory,
                                size_t size) {
    owner->bytes -= size;
    owner->allocations--;
    capture_drop(reader, memory, size);
}

/* Counts memory that was allocated. */
static inline void idindex_count(struct idindex_owner *owner, size_t size) {
    owner->bytes += size;
    owner->allocations++;
}

/* Moves nodes from `at` on, 0 at first, to better places (base/relocate.h), until the step is due,
 * and the arrays that begin there. `node_size` returns the bytes of a node. Returns where to go on,
 * 0 when all were visited. There must be no capture. */
uint64_t idindex_relocate(struct idindex *index, uint64_t at, size_t (*node_size)(const void *node),
                          struct relocator *relocator);

/* Checks the invariant of the arrays, and adds their bytes and allocations to *totals. */
bool idindex_check(const struct idindex *index, const struct idindex_owner *owner,
                   struct idindex_owner *totals);

#endif
