/* quicklist_left: memory that a list no longer uses, but that its capture still reads. Internal to
 * the quicklist.
 *
 * A captured list (quicklist_capture.h) shares buffers of nodes and arrays of its tree with its
 * capture. Instead of freeing shared memory, the list leaves it here. */
#ifndef PACKLIST_DS_QUICKLIST_LEFT_H
#define PACKLIST_DS_QUICKLIST_LEFT_H

#include <stddef.h>

struct quicklist_tree_ref;
struct quicklist_left_block;

struct quicklist_left {
    size_t bytes;         /* of all left memory, and of the blocks that record it */
    size_t *bytes_of_all; /* the caller's sum over several lists, changed likewise */
    struct quicklist_left_block *blocks;
};

/* Leaves memory of `size` bytes: a node's buffer, or one array of a tree. O(1). */
void quicklist_left_memory(struct quicklist_left *left, void *memory, size_t size);

/* Leaves a whole subtree: its arrays and the buffers of its nodes. The caller counts their bytes by
 * quicklist_left_count. O(1). */
void quicklist_left_tree(struct quicklist_left *left, const struct quicklist_tree_ref *ref,
                         unsigned height);
void quicklist_left_count(struct quicklist_left *left, size_t bytes);

/* The number of allocations that were left, those of subtrees included. O(what was left). */
size_t quicklist_left_pieces(const struct quicklist_left *left);

/* Frees what was left. In any thread. O(what was left). */
void quicklist_left_free(struct quicklist_left *left);

#endif
