/* quicklist_tree: a B+tree without headers.
 *
 *                       root ref  (child, elements, nodes, width)
 *                          |
 *              inner: [ ref | ref | … ]           up to INNER_MAX refs of 32 bytes
 *                        |     |
 *        leaf: [ node | node | … ]  [ node … ]    up to LEAF_MAX descriptors of 24 bytes
 *
 * An array has no header: the ref that points to it holds its number of items and the sums of what
 * is below, so that a search reads one array per level. An array's capacity is that of its size
 * class, a function of the width alone.
 *
 * Invariants:
 *   1. All leaves are at the same depth; an array is never empty, except the root leaf of an
 *      empty tree (child NULL).
 *   2. A ref's `elements` and `nodes` are the sums of what is below.
 *   3. No array is wider than its maximum; two neighbours under one parent are together wider than
 *      half of it. So arrays are at least a quarter full on average, and the height is logarithmic.
 *   4. The root of a tree with height > 0 has at least two children.
 *
 * Before the tree writes to an array that a capture reads, it replaces the array by a copy; the
 * path to it has been replaced before.
 *
 * A full array splits in halves, except at the outer edges of the tree: there the new item gets an
 * array of its own, so that lists which grow at an end fill their arrays. */
#include "ds/lists/quicklist_tree.h"

#include "base/checked.h"
#include "base/memory/alloc.h"
#include "base/memory/relocate.h"

#include <assert.h>
#include <string.h>

#ifdef TINY_LIMITS
enum { LEAF_MAX = 4, INNER_MAX = 4 };
#else
enum { LEAF_MAX = 64, INNER_MAX = 64 };
#endif

typedef struct quicklist_tree_ref tree_ref;

static size_t item_size(unsigned height) {
    return height == 0 ? sizeof(struct quicklist_node) : sizeof(tree_ref);
}

static size_t width_max(unsigned height) {
    return height == 0 ? LEAF_MAX : INNER_MAX;
}

static size_t array_capacity(unsigned height, size_t width) {
    return mem_good_size(width * item_size(height));
}

static char *item_at(const tree_ref *ref, unsigned height, size_t i) {
    return (char *)ref->child + i * item_size(height);
}

/* Resizes an array that no capture reads for `width` items; items beyond it are lost. With 0 items
 * it is dropped, and captures may read it. */
static void array_resize(struct pieces *pieces, tree_ref *ref, unsigned height, size_t width) {
    size_t old = ref->child == NULL ? 0 : array_capacity(height, ref->width);
    size_t new = width == 0 ? 0 : array_capacity(height, width);
    ref->width = width;
    if (old == new) return;
    if (new == 0) {
        pieces_drop(pieces, ref->epoch, ref->child, old);
        ref->child = NULL;
    } else {
        if (old == 0) ref->epoch = pieces_epoch(pieces);
        ref->child = pieces_resize(pieces, ref->child, old, new);
    }
}

/* Replaces an array that a capture reads by a copy, so that the tree may write to it. */
static void array_own(struct pieces *pieces, tree_ref *ref, unsigned height) {
    if (ref->child == NULL || !pieces_is_read(pieces, ref->epoch)) return;
    size_t size = array_capacity(height, ref->width);
    void *copy = pieces_alloc(pieces, size);
    memcpy(copy, ref->child, ref->width * item_size(height));
    pieces_drop(pieces, ref->epoch, ref->child, size);
    ref->child = copy;
    ref->epoch = pieces_epoch(pieces);
}

/* Sets a ref's sums from its array. */
static void sum_up(tree_ref *ref, unsigned height) {
    uint64_t elements = 0, nodes = 0;
    if (height == 0) {
        const struct quicklist_node *leaf = ref->child;
        for (size_t i = 0; i < ref->width; i++) elements += leaf[i].count;
        nodes = ref->width;
    } else {
        const tree_ref *children = ref->child;
        for (size_t i = 0; i < ref->width; i++) {
            elements += children[i].elements;
            nodes += children[i].nodes;
        }
    }
    ref->elements = elements;
    ref->nodes = nodes;
}

/* --- Finding --- */

void quicklist_tree_at(const struct quicklist_tree *tree, size_t index,
                       struct quicklist_tree_place *place) {
    assert(index < tree->root.nodes);
    const tree_ref *ref = &tree->root;
    place->index = index;
    for (unsigned height = tree->height; height > 0; height--) {
        for (ref = ref->child; index >= ref->nodes; ref++) index -= ref->nodes;
    }
    place->leaf = ref->child;
    place->slot = index;
    place->width = ref->width;
}

uint64_t quicklist_tree_find(const struct quicklist_tree *tree, uint64_t position,
                             struct quicklist_tree_place *place) {
    assert(position < tree->root.elements);
    const tree_ref *ref = &tree->root;
    size_t index = 0;
    for (unsigned height = tree->height; height > 0; height--) {
        for (ref = ref->child; position >= ref->elements; ref++) {
            position -= ref->elements;
            index += ref->nodes;
        }
    }
    const struct quicklist_node *leaf = ref->child;
    size_t slot = 0;
    for (; position >= leaf[slot].count; slot++) position -= leaf[slot].count;
    place->leaf = ref->child;
    place->slot = slot;
    place->width = ref->width;
    place->index = index + slot;
    return position;
}

/* --- Inserting --- */

static void array_insert(struct pieces *pieces, tree_ref *ref, unsigned height, size_t at,
                         const void *item) {
    size_t size = item_size(height), behind = ref->width - at;
    array_resize(pieces, ref, height, ref->width + 1u);
    char *place = item_at(ref, height, at);
    memmove(place + size, place, behind * size);
    memcpy(place, item, size);
}

/* Moves the items from `at` on into the new ref `right`. */
static void array_split(struct pieces *pieces, tree_ref *ref, unsigned height, size_t at,
                        tree_ref *right) {
    *right = (tree_ref){0};
    if (at == 0) {
        *right = *ref;
        *ref = (tree_ref){0};
        return;
    }
    size_t moved = ref->width - at;
    if (moved == 0) return;
    array_resize(pieces, right, height, moved);
    memcpy(right->child, item_at(ref, height, at), moved * item_size(height));
    array_resize(pieces, ref, height, at);
}

/* Which edges of the whole tree a subtree lies on. */
enum edge { EDGE_NONE = 0, EDGE_LEFT = 1, EDGE_RIGHT = 2 };

/* Inserts an item into an array and splits the array if it is full: then returns true and sets
 * *right to the right half. */
static bool array_insert_split(struct pieces *pieces, tree_ref *ref, unsigned height, size_t at,
                               const void *item, unsigned edges, tree_ref *right) {
    size_t width = ref->width;
    if (width < width_max(height)) {
        array_insert(pieces, ref, height, at, item);
        if (height > 0) {
            sum_up(ref, height);
        } else {
            ref->elements += ((const struct quicklist_node *)item)->count;
            ref->nodes++;
        }
        return false;
    }
    /* At the left edge of an inner array, the item is the second: the right half of a child that
     * was split. */
    size_t split = width / 2;
    if ((edges & EDGE_RIGHT) && at == width) split = width;
    if ((edges & EDGE_LEFT) && at == (height == 0 ? 0 : 1)) split = at;
    array_split(pieces, ref, height, split, right);
    bool goes_left = at < split || right->width == width_max(height);
    array_insert(pieces, goes_left ? ref : right, height, goes_left ? at : at - split, item);
    sum_up(ref, height);
    sum_up(right, height);
    return true;
}

/* Inserts a node below `ref`; returns as above. */
static bool insert_below(struct pieces *pieces, tree_ref *ref, unsigned height, size_t index,
                         const struct quicklist_node *node, unsigned edges, tree_ref *right) {
    array_own(pieces, ref, height);
    if (height == 0) return array_insert_split(pieces, ref, 0, index, node, edges, right);
    tree_ref *children = ref->child;
    size_t i = 0;
    if (index == ref->nodes) { /* lists grow at an end: no need to search the array */
        i = ref->width - 1u;
        index = children[i].nodes;
    }
    for (; i + 1u < ref->width && index > children[i].nodes; i++) index -= children[i].nodes;
    if (i > 0) edges &= ~(unsigned)EDGE_LEFT;
    if (i + 1u < ref->width) edges &= ~(unsigned)EDGE_RIGHT;
    tree_ref sibling;
    if (insert_below(pieces, &children[i], height - 1, index, node, edges, &sibling)) {
        return array_insert_split(pieces, ref, height, i + 1, &sibling, edges, right);
    }
    ref->nodes++;
    ref->elements += node->count;
    return false;
}

void quicklist_tree_insert(struct quicklist_tree *tree, struct pieces *pieces, size_t index,
                           struct quicklist_node node) {
    assert(index <= tree->root.nodes);
    CHECKED_ASSERT(quicklist_node_check(&node));
    tree_ref right;
    if (!insert_below(pieces, &tree->root, tree->height, index, &node, EDGE_LEFT | EDGE_RIGHT,
                      &right)) {
        return;
    }
    tree_ref halves[2] = {tree->root, right};
    tree->root = (tree_ref){0};
    tree->height++;
    array_resize(pieces, &tree->root, tree->height, 2);
    memcpy(tree->root.child, halves, sizeof(halves));
    sum_up(&tree->root, tree->height);
}

/* --- Changing --- */

struct quicklist_node *quicklist_tree_writable(struct quicklist_tree *tree, struct pieces *pieces,
                                               size_t index) {
    assert(index < tree->root.nodes);
    tree_ref *ref = &tree->root;
    array_own(pieces, ref, tree->height);
    for (unsigned height = tree->height; height > 0; height--) {
        for (ref = ref->child; index >= ref->nodes; ref++) index -= ref->nodes;
        array_own(pieces, ref, height - 1);
    }
    return (struct quicklist_node *)ref->child + index;
}

void quicklist_tree_replace(struct quicklist_tree *tree, struct pieces *pieces, size_t index,
                            struct quicklist_node node) {
    CHECKED_ASSERT(quicklist_node_check(&node));
    struct quicklist_node *old = quicklist_tree_writable(tree, pieces, index);
    uint64_t difference = (uint64_t)node.count - old->count; /* modulo 2^64 */
    *old = node;
    if (difference == 0) return;
    tree_ref *ref = &tree->root;
    ref->elements += difference;
    for (unsigned height = tree->height; height > 0; height--) {
        for (ref = ref->child; index >= ref->nodes; ref++) index -= ref->nodes;
        ref->elements += difference;
    }
}

/* --- Pieces --- */

static void visit_below(tree_ref *ref, unsigned height, const struct piece_visitor *visitor) {
    if (ref->width == 0) return;
    size_t size = array_capacity(height, ref->width);
    void *child = visitor->enter(visitor, ref->child, size);
    if (child != ref->child) ref->child = child;
    for (size_t i = 0; i < ref->width; i++) {
        if (height > 0)
            visit_below((tree_ref *)child + i, height - 1, visitor);
        else
            quicklist_node_pieces((struct quicklist_node *)child + i, visitor);
    }
    visitor->leave(visitor, child, size, &ref->epoch);
}

void quicklist_tree_pieces(struct quicklist_tree *tree, const struct piece_visitor *visitor) {
    visit_below(&tree->root, tree->height, visitor);
}

static void each_below(const tree_ref *ref, unsigned height, quicklist_tree_visit *visit,
                       void *arg) {
    for (size_t i = 0; i < ref->width; i++) {
        if (height > 0)
            each_below((tree_ref *)ref->child + i, height - 1, visit, arg);
        else
            visit((struct quicklist_node *)ref->child + i, arg);
    }
}

/* --- Removing --- */

/* Closes the gap of the items [from, to). */
static void array_remove(struct pieces *pieces, tree_ref *ref, unsigned height, size_t from,
                         size_t to) {
    size_t size = item_size(height);
    memmove(item_at(ref, height, from), item_at(ref, height, to), (ref->width - to) * size);
    array_resize(pieces, ref, height, ref->width - (to - from));
}

/* Merges the children i and i + 1 of `ref`, if they exist and are small. */
static bool merge_small(struct pieces *pieces, tree_ref *ref, unsigned height, size_t i) {
    tree_ref *children = ref->child;
    if (i + 1 >= ref->width) return false;
    tree_ref *left = &children[i], *right = &children[i + 1];
    size_t seam = left->width, added = right->width;
    if (seam + added > width_max(height - 1) / 2) return false;
    size_t size = item_size(height - 1);
    array_own(pieces, left, height - 1);
    array_resize(pieces, left, height - 1, seam + added);
    memcpy(item_at(left, height - 1, seam), right->child, added * size);
    array_resize(pieces, right, height - 1, 0);
    left->elements += right->elements;
    left->nodes += right->nodes;
    array_remove(pieces, ref, height, i + 1, i + 2);
    left = (tree_ref *)ref->child + i;
    if (height > 1) merge_small(pieces, left, height - 1, seam - 1);
    return true;
}

/* Merges small arrays around child `at`. */
static void merge_around(struct pieces *pieces, tree_ref *ref, unsigned height, size_t at) {
    size_t i = at > 2 ? at - 2 : 0;
    while (i + 1u < ref->width && i <= at + 1) {
        if (!merge_small(pieces, ref, height, i)) i++;
    }
}

/* What removed nodes are passed to. `visit` NULL: there is one node, and the caller has its
 * buffer. */
struct removal {
    struct piece_dropper dropper;
    quicklist_tree_visit *visit;
    void *arg;
};

static void remove_all(struct pieces *pieces, tree_ref *ref, unsigned height,
                       const struct removal *removal) {
    if (removal->visit) {
        each_below(ref, height, removal->visit, removal->arg);
        visit_below(ref, height, &removal->dropper.visitor);
        *ref = (tree_ref){0};
        return;
    }
    CHECKED_ASSERT(ref->width == 1);
    if (height > 0) remove_all(pieces, ref->child, height - 1, removal);
    array_resize(pieces, ref, height, 0);
    ref->elements = ref->nodes = 0;
}

/* Removes nodes of a leaf, which no capture reads. */
static void remove_from_leaf(struct pieces *pieces, tree_ref *ref, size_t from, size_t to,
                             const struct removal *removal) {
    struct quicklist_node *leaf = ref->child;
    for (size_t i = from; removal->visit && i < to; i++) {
        removal->visit(&leaf[i], removal->arg);
        quicklist_node_pieces(&leaf[i], &removal->dropper.visitor);
    }
    array_remove(pieces, ref, 0, from, to);
    sum_up(ref, 0);
}

static void remove_below(struct pieces *pieces, tree_ref *ref, unsigned height, size_t from,
                         size_t to, const struct removal *removal) {
    if (from == 0 && to == ref->nodes) {
        remove_all(pieces, ref, height, removal);
        return;
    }
    array_own(pieces, ref, height);
    if (height == 0) {
        remove_from_leaf(pieces, ref, from, to, removal);
        return;
    }
    tree_ref *children = ref->child;
    size_t base = 0, emptied = 0, first = ref->width, last = 0;
    for (size_t i = 0; i < ref->width && base < to; i++) {
        size_t nodes = children[i].nodes;
        if (base + nodes > from) {
            size_t cut_from = from > base ? from - base : 0;
            size_t cut_to = to - base < nodes ? to - base : nodes;
            remove_below(pieces, &children[i], height - 1, cut_from, cut_to, removal);
            if (first == ref->width) first = i;
            if (children[i].width == 0) {
                last = i;
                emptied++;
            }
        }
        base += nodes;
    }
    if (emptied > 0) array_remove(pieces, ref, height, last + 1 - emptied, last + 1);
    sum_up(ref, height);
    merge_around(pieces, ref, height, first);
}

void quicklist_tree_remove(struct quicklist_tree *tree, struct pieces *pieces, size_t from,
                           size_t to, quicklist_tree_visit *visit, void *arg) {
    struct removal removal = {pieces_dropper(pieces), visit, arg};
    assert(from <= to && to <= tree->root.nodes);
    if (from == to) return;
    remove_below(pieces, &tree->root, tree->height, from, to, &removal);
    if (tree->root.width == 0) tree->height = 0;
    while (tree->height > 0 && tree->root.width == 1) {
        tree_ref child = *(tree_ref *)tree->root.child;
        array_resize(pieces, &tree->root, tree->height, 0);
        tree->root = child;
        tree->height--;
    }
}

/* --- Relocating --- */

size_t quicklist_tree_relocate(struct quicklist_tree *tree, size_t index,
                               struct relocator *relocator) {
    CHECKED_ASSERT(index < tree->root.nodes);
    struct piece_relocator pieces = pieces_relocator(relocator);
    tree_ref *ref = &tree->root;
    size_t at = index;
    for (unsigned height = tree->height;; height--) {
        if (at == 0)
            ref->child = relocate(relocator, ref->child, array_capacity(height, ref->width));
        if (height == 0) break;
        for (ref = ref->child; at >= ref->nodes; ref++) at -= ref->nodes;
    }
    struct quicklist_node *leaf = ref->child;
    do {
        quicklist_node_pieces(&leaf[at++], &pieces.visitor);
        index++;
    } while (at < ref->width && !relocator_is_due(relocator));
    return index;
}

/* --- Checking --- */

static bool check_below(const tree_ref *ref, unsigned height) {
    if (ref->width == 0 || ref->width > width_max(height) || ref->child == NULL) return false;
    tree_ref sums = *ref;
    sum_up(&sums, height);
    if (sums.elements != ref->elements || sums.nodes != ref->nodes) return false;
    const tree_ref *children = ref->child;
    for (size_t i = 0; height > 0 && i < ref->width; i++) {
        if (!check_below(&children[i], height - 1)) return false;
        size_t pair = i > 0 ? children[i - 1].width + children[i].width : SIZE_MAX;
        if (pair <= width_max(height - 1) / 2) return false;
    }
    return true;
}

bool quicklist_tree_check(const struct quicklist_tree *tree) {
    if (tree->root.width == 0) {
        return tree->root.child == NULL && tree->height == 0 && tree->root.nodes == 0 &&
               tree->root.elements == 0;
    }
    if (tree->height > 0 && tree->root.width < 2) return false;
    return check_below(&tree->root, tree->height);
}
