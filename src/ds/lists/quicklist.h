/* quicklist: a long list as a counted sequence of packed nodes.
 *
 * Positions are 0-based element indexes. Functions that take one require it to be in range.
 * Elements go out as views into a node, valid until the list is next changed. */
#ifndef PACKLIST_DS_LISTS_QUICKLIST_H
#define PACKLIST_DS_LISTS_QUICKLIST_H

#include "ds/lists/listpack.h"
#include "ds/lists/quicklist_types.h"

#include <stdbool.h>

struct relocator; /* base/memory/relocate.h */
struct relocate_cursor;
struct capture; /* ds/capture.h */

enum list_end { LIST_HEAD, LIST_TAIL };

struct quicklist;

/* Returns whether a node of `size` serialized bytes (body + LISTPACK_OVERHEAD) and `count` elements
 * would exceed `fill`. For fill >= 0: more than `fill` elements or over 8192 bytes; for fill < 0:
 * more bytes than its size. */
bool quicklist_exceeds_fill(int fill, size_t size, size_t count);

/* --- Creating and freeing --- */

/* An empty list that keeps `limits` for its life (until quicklist_set_limits). */
struct quicklist *quicklist_new(struct quicklist_limits limits);

/* Lists of given nodes are made by ds/lists/quicklist_build.h. */

/* A deep copy (COPY). O(bytes). */
struct quicklist *quicklist_copy(const struct quicklist *list);

/* Frees list and nodes. O(nodes). */
void quicklist_free(struct quicklist *list);

/* Sets the limits for elements pushed from now on. Existing nodes stay as they are: a new compress
 * depth reaches each node when nodes are next added or removed near its border. O(1). */
void quicklist_set_limits(struct quicklist *list, struct quicklist_limits limits);
struct quicklist_limits quicklist_limits_of(const struct quicklist *list);

/* --- Sizes, all O(1) --- */

/* Elements; nodes (ql_nodes). */
uint64_t quicklist_count(const struct quicklist *list);
size_t quicklist_node_count(const struct quicklist *list);

/* Bytes of all memory it owns, itself included, as the allocator counts them. */
size_t quicklist_allocated(const struct quicklist *list);

/* Uncompressed listpack bytes, summed over the nodes: body + 7; the text's length for a plain node
 * (ql_uncompressed_size). */
size_t quicklist_serialized_size(const struct quicklist *list);

/* Returns whether the list has exactly one raw, non-plain node; if so, sets the bounds of its
 * body. */
bool quicklist_single_body(const struct quicklist *list, const uint8_t **first,
                           const uint8_t **end);

/* --- The ends --- */

/* Adds one element. Amortised O(element): no node is moved. */
void quicklist_push(struct quicklist *list, enum list_end end,
                    const struct listpack_element *element);

/* The element at an end of a list that is not empty: its position in the node (decode with
 * listpack_get). O(1): end nodes are never compressed. */
const uint8_t *quicklist_peek(const struct quicklist *list, enum list_end end);

/* Removes `n` elements (at most the count) from an end. O(1) for one; whole nodes are dropped
 * unread. */
void quicklist_drop(struct quicklist *list, enum list_end end, uint64_t n);

/* --- Any position --- */

/* Inserts before the element at `index`, which must exist, or `after` it. The side matters where
 * that element is at its node's edge: its own node is tried first, then the neighbour on that side,
 * then a new one, as in Redis. O(log n + node). Inserting inside a full node splits it; neighbours
 * that then fit in one node are merged. */
void quicklist_insert(struct quicklist *list, uint64_t index, bool after,
                      const struct listpack_element *element);

/* Replaces the element at `index`. O(log n + node). As in Redis a node may then exceed the fill,
 * here to at most four times its bytes: beyond that the element gets a node of its own. */
void quicklist_replace(struct quicklist *list, uint64_t index,
                       const struct listpack_element *element);

/* Removes up to `max` elements equal to `needle`, scanning in `direction`; returns their number.
 * O(bytes), at memory speed. A compressed node without a match stays compressed. Neighbours that
 * lost elements and then fit in one node are merged, unless only one node would remain. */
uint64_t quicklist_remove_matching(struct quicklist *list, const struct listpack_element *needle,
                                   uint64_t max, enum list_direction direction);

/* --- Reading in order --- */

/* An iterator on the caller's stack. The list must not change while it is used. A compressed node
 * is decompressed into a scratch buffer that the iterator owns; the node stays compressed.
 * quicklist_iter_end must be called. */
struct quicklist_iter {
    const struct quicklist *list;
    enum list_direction direction;
    uint64_t index;       /* position of the next element */
    uint64_t remaining;   /* elements left in this direction, the next included */
    const uint8_t *first; /* current node's body */
    const uint8_t *end;
    const uint8_t *at; /* forward: the next element; backward: just past it */
    const uint8_t *readable_end;
    size_t count;                     /* elements of the current node */
    size_t left_in_node;              /* those left in this direction */
    struct quicklist_scratch scratch; /* owned; empty until a compressed node was read */
    struct quicklist_place place;     /* of the current node */
};

/* Places the iterator so that the first element read is the one at `index` (< count). O(log n +
 * node). */
void quicklist_iter_start(struct quicklist_iter *iter, const struct quicklist *list, uint64_t index,
                          enum list_direction direction);
void quicklist_iter_end(struct quicklist_iter *iter);

/* The same for a body that is no list's, [first, end) with `count` elements; bytes up to
 * `readable_end` may be read. */
void quicklist_iter_start_body(struct quicklist_iter *iter, const uint8_t *first,
                               const uint8_t *end, const uint8_t *readable_end, size_t count,
                               uint64_t index, enum list_direction direction);

/* The next element, or NULL at the end of the list. Amortised O(1). */
const uint8_t *quicklist_iter_next(struct quicklist_iter *iter);

/* A contiguous run of elements, in list order: [first, end) holds `count` of them. Bytes up to
 * `readable_end` (>= end, the end of the allocation) may be read; a full node has none after its
 * end. */
struct quicklist_run {
    const uint8_t *first;
    const uint8_t *end;
    const uint8_t *readable_end;
    size_t count;
};

/* Sets *run to the rest of the current node in the iterator's direction, and moves to the next
 * node; false at the end of the list. Forward: read it from `first`; backward: from `end`. For
 * readers that take whole nodes (LRANGE). */
bool quicklist_iter_run(struct quicklist_iter *iter, struct quicklist_run *run);

/* Moves to the next element equal to `needle`, comparing at most `max` elements: returns true and
 * sets *index to its position; the iterator is then after it. False when there is none (`*index` is
 * untouched). */
bool quicklist_iter_find(struct quicklist_iter *iter, const struct listpack_element *needle,
                         uint64_t max, uint64_t *index);

/* --- Inspecting nodes (DEBUG QUICKLIST, RDB) --- */

/* The LZF bytes of a compressed node, put after the literal run [5][6 header bytes] and before the
 * literal run [0][FF], are the LZF form of its whole serialized listpack. */
struct quicklist_node_info {
    size_t count;           /* elements */
    size_t size;            /* serialized bytes, uncompressed (body + 7; plain: text length) */
    size_t compressed_size; /* LZF bytes, 0 when raw */
    size_t allocated;       /* bytes of its buffer */
    bool plain;
    const uint8_t *data; /* body, or LZF bytes when compressed */
    size_t body_size;    /* bytes of the body, uncompressed */
};

/* Calls visit(info, arg) for each node from head to tail. O(nodes). */
void quicklist_visit_nodes(const struct quicklist *list,
                           void (*visit)(const struct quicklist_node_info *info, void *arg),
                           void *arg);

/* --- Captures: the list as it is at one moment, read while the list changes (ds/capture.h). They
 * share the tree and the buffers of nodes; before the list changes one of them, it copies it.
 * The two nodes at the ends are copied, unless they are plain. --- */

/* Captures a list that is not empty. NULL: no other capture can begin before all have ended
 * (pieces_are_used_up). O(bytes of the ends). */
struct capture *quicklist_capture_begin(struct quicklist *list, size_t *left);

/* Returns whether the list has a capture that was not released. O(1). */
bool quicklist_is_captured(const struct quicklist *list);

/* The list as it was captured, to be read and copied, in any thread, until the release. */
const struct quicklist *quicklist_captured(const struct capture *capture);

/* The invariant of a capture: that of the list, and, if there is no other capture, every array and
 * buffer that it reads is either still the list's or was left by it. `list` is the captured one;
 * another one or NULL if that was freed. O(bytes). */
bool quicklist_capture_check(const struct capture *capture, struct quicklist *list);

/* Moves memory of the list to better places (base/memory/relocate.h), from *cursor on, until the
 * step is due; sets *cursor. Returns where the list is now. It must not be captured, and no
 * iterator of it may be in use. At least one node is visited. */
struct quicklist *quicklist_relocate(struct quicklist *list, struct relocator *relocator,
                                     struct relocate_cursor *cursor);

/* Checks the invariants: counts, sizes, fill, tree order and balance, compression state, every
 * body valid. O(bytes). */
bool quicklist_check(const struct quicklist *list);

#endif
