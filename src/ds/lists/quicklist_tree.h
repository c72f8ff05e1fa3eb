/* quicklist_tree: the nodes between a quicklist's first and last, in order, as a counted B+tree.
 * Internal to the quicklist.
 *
 * Nodes count from 0. The arrays and the buffers of the nodes are pieces (ds/pieces.h). A capture
 * of the tree is a copy of the struct. */
#ifndef PACKLIST_DS_LISTS_QUICKLIST_TREE_H
#define PACKLIST_DS_LISTS_QUICKLIST_TREE_H

#include "ds/lists/quicklist_node.h"
#include "ds/lists/quicklist_types.h"
#include "ds/pieces.h"

/* A subtree, as its parent refers to it. */
struct quicklist_tree_ref {
    void *child;       /* array of struct quicklist_node (a leaf) or of struct quicklist_tree_ref */
    uint64_t elements; /* list elements below */
    uint64_t nodes : 48; /* list nodes below */
    uint64_t width : 16; /* items in the child array */
    uint32_t epoch;      /* of the child array */
};

struct quicklist_tree {
    struct quicklist_tree_ref root;
    unsigned height; /* 0: the root is a leaf */
};

typedef void quicklist_tree_visit(const struct quicklist_node *node, void *arg);

/* The place of node `index` (< nodes), valid until nodes are next added or taken. O(log n). */
void quicklist_tree_at(const struct quicklist_tree *tree, size_t index,
                       struct quicklist_tree_place *place);

/* The place of the node that holds element `position` (< elements); returns the element's position
 * in that node. O(log n). */
uint64_t quicklist_tree_find(const struct quicklist_tree *tree, uint64_t position,
                             struct quicklist_tree_place *place);

/* Puts `node` before node `index` (index == nodes: after the last). O(log n). */
void quicklist_tree_insert(struct quicklist_tree *tree, struct pieces *pieces, size_t index,
                           struct quicklist_node node);

/* Node `index`, to be changed in place, except for its count: no capture reads an array on the path
 * to it any more, but one may read its buffer. O(log n). */
struct quicklist_node *quicklist_tree_writable(struct quicklist_tree *tree, struct pieces *pieces,
                                               size_t index);

/* Overwrites node `index`, keeping the counts right. O(log n). */
void quicklist_tree_replace(struct quicklist_tree *tree, struct pieces *pieces, size_t index,
                            struct quicklist_node node);

/* Removes the nodes [from, to), and passes each to `visit` before. Their buffers are dropped. If
 * `visit` is NULL there is just one, which quicklist_tree_writable has returned before, and whose
 * buffer the caller has taken or dropped. O(log n + nodes removed). */
void quicklist_tree_remove(struct quicklist_tree *tree, struct pieces *pieces, size_t from,
                           size_t to, quicklist_tree_visit *visit, void *arg);

/* Moves the buffers of the nodes from `index` (< nodes) on in its leaf to better places, until the
 * step is due (base/memory/relocate.h), and the arrays that begin with that node. Returns the index
 * of the next node. There must be no capture. O(log n + leaf). */
size_t quicklist_tree_relocate(struct quicklist_tree *tree, size_t index,
                               struct relocator *relocator);

/* Leads the visitor through the arrays and buffers. O(nodes). */
void quicklist_tree_pieces(struct quicklist_tree *tree, const struct piece_visitor *visitor);

/* --- Checking --- */

/* Checks the invariants of the tree itself, neither the nodes' bytes nor what is allocated.
 * O(nodes). */
bool quicklist_tree_check(const struct quicklist_tree *tree);

#endif
