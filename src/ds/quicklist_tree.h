/* quicklist_tree: the nodes between a quicklist's first and last, in order, as a counted B+tree.
 * Internal to the quicklist.
 *
 * Finds a node by its index or by the position of an element in it in O(log n). Nodes count from
 * 0. The tree owns its arrays; buffers of nodes belong to whoever put the nodes in. */
#ifndef PACKLIST_DS_QUICKLIST_TREE_H
#define PACKLIST_DS_QUICKLIST_TREE_H

#include "ds/quicklist.h"
#include "ds/quicklist_node.h"

/* A subtree, as its parent knows it. */
struct quicklist_tree_ref {
    void *child;       /* array of struct quicklist_node (a leaf) or of struct quicklist_tree_ref */
    uint64_t elements; /* list elements below */
    uint64_t nodes : 48; /* list nodes below */
    uint64_t width : 16; /* items in the child array */
};

struct quicklist_tree {
    struct quicklist_tree_ref root;
    unsigned height;  /* 0: the root is a leaf */
    size_t allocated; /* bytes of all arrays, as allocated */
};

/* Walks over nodes that are about to leave the tree. */
typedef void quicklist_tree_visit(struct quicklist_node *node, void *arg);

/* The place of node `index` (< nodes), valid until nodes are next added or taken. O(log n). */
void quicklist_tree_at(const struct quicklist_tree *tree, size_t index,
                       struct quicklist_tree_place *place);

/* The place of the node that holds element `position` (< elements); returns the element's position
 * in that node. O(log n). */
uint64_t quicklist_tree_find(const struct quicklist_tree *tree, uint64_t position,
                             struct quicklist_tree_place *place);

/* Puts `node` before node `index` (index == nodes: behind the last). O(log n). */
void quicklist_tree_insert(struct quicklist_tree *tree, size_t index, struct quicklist_node node);

/* Overwrites node `index`, keeping the counts right. O(log n). */
void quicklist_tree_replace(struct quicklist_tree *tree, size_t index, struct quicklist_node node);

/* Takes out the nodes [from, to), passing each to `visit` (NULL: to nobody). O(log n + nodes
 * taken). */
void quicklist_tree_remove(struct quicklist_tree *tree, size_t from, size_t to,
                           quicklist_tree_visit *visit, void *arg);

/* The executable invariants of the tree itself (not of the nodes' bytes). O(nodes). */
bool quicklist_tree_check(const struct quicklist_tree *tree);

#endif
