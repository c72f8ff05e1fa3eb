/* quicklist_tree: the nodes between a quicklist's first and last, in order, as a counted B+tree.
 * Internal to the quicklist.
 *
 * Finds a node by its index or by the position of an element in it in O(log n). Nodes count from
 * 0. The tree owns its arrays; buffers of nodes belong to the list.
 *
 * A tree can be shared as it is at one moment, in O(1): it then copies each array before the first
 * write to it and leaves the old one behind (leftovers.h). */
#ifndef PACKLIST_DS_QUICKLIST_TREE_H
#define PACKLIST_DS_QUICKLIST_TREE_H

#include "ds/leftovers.h"
#include "ds/quicklist.h"
#include "ds/quicklist_node.h"

struct relocator; /* base/relocate.h */

/* A subtree, as its parent refers to it. */
struct quicklist_tree_ref {
    void *child;       /* array of struct quicklist_node (a leaf) or of struct quicklist_tree_ref */
    uint64_t elements; /* list elements below */
    uint64_t nodes : 47; /* list nodes below */
    /* Valid while the tree is shared: the child array, and all below, is shared. */
    uint64_t shared : 1;
    uint64_t width : 16; /* items in the child array */
};

struct quicklist_tree {
    struct quicklist_tree_ref root;
    unsigned height;        /* 0: the root is a leaf */
    size_t allocated;       /* bytes of all arrays, as allocated */
    struct leftovers *left; /* gets memory that the tree no longer uses; NULL: it is not shared */
};

/* Visits a node that is about to leave the tree. If `is_left`, it is left with its subtree and must
 * not be changed, and the visitor adds the bytes of its buffer to those of `left`. Otherwise
 * the visitor frees or leaves the buffer. */
typedef void quicklist_tree_visit(struct quicklist_node *node, bool is_left, void *arg);

/* The place of node `index` (< nodes), valid until nodes are next added or taken. O(log n). */
void quicklist_tree_at(const struct quicklist_tree *tree, size_t index,
                       struct quicklist_tree_place *place);

/* The place of the node that holds element `position` (< elements); returns the element's position
 * in that node. O(log n). */
uint64_t quicklist_tree_find(const struct quicklist_tree *tree, uint64_t position,
                             struct quicklist_tree_place *place);

/* Puts `node` before node `index` (index == nodes: after the last). O(log n). */
void quicklist_tree_insert(struct quicklist_tree *tree, size_t index, struct quicklist_node node);

/* Node `index`, to be changed in place, except for its count: no array on the path to it is shared
 * any more. Its flag QUICKLIST_NODE_SHARED says whether its buffer is. O(log n). */
struct quicklist_node *quicklist_tree_writable(struct quicklist_tree *tree, size_t index);

/* Overwrites node `index`, keeping the counts right. O(log n). */
void quicklist_tree_replace(struct quicklist_tree *tree, size_t index, struct quicklist_node node);

/* Removes the nodes [from, to), passing each to `visit`. If `visit` is NULL there is just one,
 * which quicklist_tree_writable has returned before. O(log n + nodes removed). */
void quicklist_tree_remove(struct quicklist_tree *tree, size_t from, size_t to,
                           quicklist_tree_visit *visit, void *arg);

/* Moves the buffers of the nodes from `index` (< nodes) on in its leaf to better places, until the
 * step is due (base/relocate.h), and the arrays that begin with that node. Returns the index of the
 * next node. The tree must not be shared. O(log n + leaf). */
size_t quicklist_tree_relocate(struct quicklist_tree *tree, size_t index,
                               struct relocator *relocator);

/* --- Sharing --- */

/* Shares the tree as it is now. Until quicklist_tree_unshare the tree neither frees nor changes the
 * arrays and buffers that it has now; those that it replaces go to `left`. Returns the root to read
 * it by; its height is the present height of the tree. O(1). */
struct quicklist_tree_ref quicklist_tree_share(struct quicklist_tree *tree, struct leftovers *left);

/* Ends the sharing: the tree owns again all memory that it still uses. O(1). */
void quicklist_tree_unshare(struct quicklist_tree *tree);

/* Visits the nodes below `ref` in order. In any thread, as shared memory does not change.
 * O(nodes). */
void quicklist_tree_each(const struct quicklist_tree_ref *ref, unsigned height,
                         void (*visit)(const struct quicklist_node *node, void *arg), void *arg);

/* The number of arrays and nodes below `ref`; in what a tree has left; and those that a shared tree
 * still shares. O(nodes). */
size_t quicklist_tree_pieces(const struct quicklist_tree_ref *ref, unsigned height);
size_t quicklist_tree_pieces_left(const struct leftover *item);
size_t quicklist_tree_pieces_shared(const struct quicklist_tree *tree);

/* --- Checking --- */

/* Checks the invariants of the tree itself (not of the nodes' bytes). O(nodes). */
bool quicklist_tree_check(const struct quicklist_tree *tree);

#endif
