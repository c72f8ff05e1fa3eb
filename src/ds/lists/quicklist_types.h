/* quicklist_types: what the users of a quicklist know as well as its parts: limits, directions, and
 * what an iterator consists of. */
#ifndef PACKLIST_DS_LISTS_QUICKLIST_TYPES_H
#define PACKLIST_DS_LISTS_QUICKLIST_TYPES_H

#include <stddef.h>
#include <stdint.h>

struct quicklist_node; /* ds/lists/quicklist_node.h */
struct quicklist_open;

/* With this fill a list keeps one node as long as a node can hold it (65535 elements, 256 KB): for
 * lists that are shown as one listpack, whose owner decides when they become quicklists. */
enum { QUICKLIST_FILL_WHOLE = INT16_MIN };

/* Limits of a list, passed by value from the configuration (list-max-listpack-size,
 * list-compress-depth, DEBUG QUICKLIST-PACKED-THRESHOLD). */
struct quicklist_limits {
    /* > 0: elements per node (and at most 8 KB); 0: one element; -1 … -5: 4, 8, 16, 32, 64 KB per
     * node. */
    int16_t fill;
    /* Nodes at either end that stay raw; 0 = compress none. */
    uint16_t compress_depth;
    /* Elements of at least this many bytes get a node of their own; 0 = by fill alone. */
    size_t plain_threshold;
};

enum list_direction { LIST_FORWARD, LIST_BACKWARD };

/* The place of a node. Private to the quicklist; iterators on the caller's stack have one. */
struct quicklist_tree_place {
    struct quicklist_node *leaf; /* the leaf of the tree that holds the node, as leaf[slot] */
    size_t slot;
    size_t width; /* nodes in the leaf */
    size_t index; /* of the node in the tree */
};
struct quicklist_place {
    const struct quicklist_node *node;
    const struct quicklist_open *open; /* a node at an end of the list; NULL for one in the tree */
    size_t index;                      /* of the node in the list */
    struct quicklist_tree_place tree;  /* set when open is NULL */
};

/* A buffer for decompressing nodes, grown as needed. */
struct quicklist_scratch {
    uint8_t *bytes;
    size_t size;
};

#endif
