/* quicklist_place: the structure of a quicklist, and its nodes by index: finding, opening, adding
 * and removing them. Internal to the quicklist.
 *
 *      head (open) ── node 0                 pushes and pops touch only these fields
 *      tail (open) ── node nodes-1           and a few bytes of the node's buffer
 *      tree ── [ node 1 | node 2 | … ]       closed nodes, counted: any position in O(log n)
 *
 * Invariants:
 *   1. nodes == 0: nothing is in use. nodes == 1: only head is. nodes >= 2: head and tail are, and
 *      the tree holds nodes - 2 nodes.
 *   2. No node is empty. `count` and `serialized` are sums over the nodes.
 *   3. The arrays of the tree and the buffers of all nodes are the list's pieces (ds/pieces.h).
 *   4. Exactly the nodes with at least compress_depth nodes on either side are compressed, except
 *      those that gain nothing by it; none are when compress_depth is 0.
 *   5. No node exceeds the limits, except where an insert or a replacement stretched it
 *      (quicklist_edit.c), or where it has one element, which no plain threshold made plain.
 * 4 and 5 are not promised when limits were changed while the list had nodes, or when it was given
 * nodes made under others (`mixed`). */
#ifndef PACKLIST_DS_LISTS_QUICKLIST_PLACE_H
#define PACKLIST_DS_LISTS_QUICKLIST_PLACE_H

#include "ds/lists/quicklist_node.h"
#include "ds/lists/quicklist_tree.h"
#include "ds/lists/quicklist_types.h"
#include "ds/pieces.h"

struct quicklist {
    uint64_t count;
    size_t nodes;
    struct quicklist_open head;
    struct quicklist_open tail;
    size_t size_limit;   /* what the fill allows a node: serialized bytes … */
    size_t count_limit;  /* … and elements */
    size_t plain_length; /* texts of at least this length are plain */
    size_t serialized;
    struct pieces pieces;
    struct quicklist_tree tree;
    struct quicklist_limits limits;
    bool mixed;
};

/* Leads the visitor through all of the list's memory but its struct. O(nodes). */
void quicklist__pieces(struct quicklist *list, const struct piece_visitor *visitor);

/* Elements of one node: as many as fit in 64 KB. */
enum { QUICKLIST_NODE_COUNT_MAX = 32768 };

/* How many times the limit a replacement may make its node. */
enum { QUICKLIST_STRETCH = 4 };

/* The overhead of an element, beyond its text, that Redis assumes when it chooses a node, whatever
 * the real overhead. */
enum { QUICKLIST_ELEMENT_ESTIMATE = 8 };

/* Returns whether this node would take an element with a text of `length` bytes. O(1). */
static inline bool quicklist_node_accepts(const struct quicklist *list,
                                          const struct quicklist_node *node, size_t length) {
    return length < list->plain_length && !(node->flags & QUICKLIST_NODE_PLAIN) &&
           node->size + LISTPACK_OVERHEAD + QUICKLIST_ELEMENT_ESTIMATE + length <=
               list->size_limit &&
           node->count < list->count_limit;
}

/* --- Nodes by index --- */

/* The place of node `index` (< nodes), valid until nodes are next added or removed. O(log n); O(1)
 * at the ends. */
void quicklist_place_at(const struct quicklist *list, size_t index, struct quicklist_place *place);

/* The place of the node with element `position` (< count); returns the element's position in it.
 * As above. */
uint64_t quicklist_place_find(const struct quicklist *list, uint64_t position,
                              struct quicklist_place *place);

/* Moves to the next node in `direction`; false when there is none. Amortised O(1). */
bool quicklist_place_step(const struct quicklist *list, struct quicklist_place *place,
                          enum list_direction direction);

/* Prefetches the cache lines of the neighbour in `direction` that are read first. */
void quicklist_place_prefetch(const struct quicklist_place *place, enum list_direction direction);

/* The body of the node at `place`: its own bytes, or, when it is compressed, a decompressed copy in
 * the scratch buffer. */
const uint8_t *quicklist_place_body(const struct quicklist_place *place,
                                    struct quicklist_scratch *scratch);
void quicklist_scratch_free(struct quicklist_scratch *scratch);

/* The body of a raw node. */
static inline const uint8_t *quicklist_place_first(const struct quicklist_place *place) {
    return place->open != NULL ? quicklist_open_first(place->open) : place->node->buffer;
}

/* The node `index` open for writing: the end node itself, or an interior one taken into *work (its
 * descriptor in the tree is stale until it is put back). */
struct quicklist_open *quicklist_node_take(struct quicklist *list, size_t index,
                                           struct quicklist_open *work);

/* Puts back a node that was taken: closes and compresses an interior one. Removes a node that has
 * become empty, and returns false. The caller updates list->count and list->serialized, except for
 * the node's own overhead. O(log n + node). */
bool quicklist_node_put(struct quicklist *list, size_t index, struct quicklist_open *open);

/* Inserts a new node (not empty) before node `index` and takes ownership of it; counts its elements
 * and bytes. O(log n + node). */
void quicklist_node_insert(struct quicklist *list, size_t index, const struct quicklist_open *open);

/* Frees the nodes [from, to) unread; their elements and bytes are no longer counted. O(log n +
 * nodes). */
void quicklist_nodes_remove(struct quicklist *list, size_t from, size_t to);

/* Compresses and decompresses every node as its place requires. O(nodes log n), and the bytes of
 * those that change. */
void quicklist_nodes_compress_all(struct quicklist *list);

/* Removes the elements [from, to) of node `index`. O(log n + node). */
void quicklist_node_cut(struct quicklist *list, size_t index, size_t from, size_t to);

#endif
