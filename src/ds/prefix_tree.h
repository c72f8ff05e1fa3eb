/* prefix_tree: a map from strings to items that finds all strings with which a given text begins: a
 * radix tree.
 *
 *      root ──"user:"── item ──"1"── item      the strings "user:" and "user:1",
 *        └────"s"──"um"── item                 "sum" and "set:"
 *                └─"et:"── item
 *
 * The item's owner keeps the item; the tree only points. */
#ifndef PACKLIST_DS_PREFIX_TREE_H
#define PACKLIST_DS_PREFIX_TREE_H

#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>

struct prefix_node;

/* All zero at first: empty. Owns nothing while it is empty. */
struct prefix_tree {
    struct prefix_node *root;
    size_t count;     /* strings */
    size_t allocated; /* bytes of the nodes */
};

/* Adds a string, or replaces its item. `item` is not NULL. Returns the item that was there before,
 * or NULL. O(length). */
void *prefix_tree_put(struct prefix_tree *tree, struct slice string, void *item);

/* Returns the string's item, or NULL. O(length). */
void *prefix_tree_find(const struct prefix_tree *tree, struct slice string);

/* Removes the string and returns its item; NULL: there is none. O(length). */
void *prefix_tree_remove(struct prefix_tree *tree, struct slice string);

/* Removes the string that comes first in the order of bytes and returns its item; NULL: the tree is
 * empty. O(length of the string). */
void *prefix_tree_remove_first(struct prefix_tree *tree);

/* Iterates over the items of all strings with which `text` begins, the shortest string first. The
 * tree must not change, and the text must stay. O(length of the text) for all of them. */
struct prefix_walk {
    const struct prefix_node *node; /* the next one to look at, or NULL */
    struct slice rest;              /* of the text, behind the string of `node` */
};
struct prefix_walk prefix_walk_begin(const struct prefix_tree *tree, struct slice text);
void *prefix_walk_next(struct prefix_walk *walk);

/* Returns the item of the string that comes first among those that begin with `text`, or NULL.
 * O(length of that string). */
void *prefix_tree_first_below(const struct prefix_tree *tree, struct slice text);

/* Calls `visit` for each item, in the order of the strings' bytes. The tree must not change.
 * O(strings). */
void prefix_tree_each(const struct prefix_tree *tree, void (*visit)(void *item, void *arg),
                      void *arg);

/* Checks the invariants. O(strings). */
bool prefix_tree_check(const struct prefix_tree *tree);

#endif
