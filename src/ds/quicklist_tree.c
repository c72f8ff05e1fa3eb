/* quicklist_tree: a B+tree without headers.
 *
 *                       root ref  (child, elements, nodes, width)
 *                          |
 *              inner: [ ref | ref | … ]           up to INNER_MAX refs of 24 bytes
 *                        |     |
 *        leaf: [ node | node | … ]  [ node … ]    up to LEAF_MAX descriptors of 16 bytes
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
 * Sharing. A tree as it was at one moment stays readable while the tree changes. Sharing marks the
 * root. Before the tree writes to a shared array it copies it, and marks the subtrees or buffers
 * that the copy refers to as shared instead:
 *
 *      shared:  root ─ [ a | b | c ]          the tree:  root ─ [ a' | b | c ]    written to: the
 *                        |   |   |                                |    |   |      left node of a
 *                       [..][..][..]                            [copy][..][..]
 *
 * All below a shared array is shared. Marks that an earlier sharing has left need no clearing: they
 * are read only while the tree is shared, and when it is shared again, the whole tree is, so they
 * are right again.
 *
 * A full array splits in halves, except at the outer edges of the tree: there the new item gets an
 * array of its own, so that lists which grow at an end fill their arrays. */
#include "ds/quicklist_tree.h"

#include "base/alloc.h"
#include "base/checked.h"
#include "base/relocate.h"

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

/* Resizes the array for `width` items; items beyond it are lost. */
static void array_resize(struct quicklist_tree *tree, tree_ref *ref, unsigned height,
                         size_t width) {
    size_t old = ref->child == NULL ? 0 : array_capacity(height, ref->width);
    size_t new = width == 0 ? 0 : array_capacity(height, width);
    ref->width = width;
    if (old == new) return;
    tree->allocated += new - old;
    if (new == 0) {
        mem_free_sized(ref->child, old);
        ref->child = NULL;
    } else {
        ref->child = mem_resize(ref->child, old, new);
    }
}

/* Copies a shared array, so that the tree may write to it. */
static void array_own(struct quicklist_tree *tree, tree_ref *ref, unsigned height) {
    if (tree->left == NULL || !ref->shared) return;
    ref->shared = false;
    if (ref->child == NULL) return;
    size_t size = array_capacity(height, ref->width);
    void *copy = mem_alloc(size);
    memcpy(copy, ref->child, ref->width * item_size(height));
    leftovers_add(tree->left, ref->child, size);
    ref->child = copy;
    for (size_t i = 0; i < ref->width; i++) {
        if (height > 0)
            ((tree_ref *)copy)[i].shared = true;
        else
            ((struct quicklist_node *)copy)[i].flags |= QUICKLIST_NODE_SHARED;
    }
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

static void array_insert(struct quicklist_tree *tree, tree_ref *ref, unsigned height, size_t at,
                         const void *item) {
    size_t size = item_size(height), behind = ref->width - at;
    array_resize(tree, ref, height, ref->width + 1u);
    char *place = item_at(ref, height, at);
    memmove(place + size, place, behind * size);
    memcpy(place, item, size);
}

/* Moves the items from `at` on into the new ref `right`. */
static void array_split(struct quicklist_tree *tree, tree_ref *ref, unsigned height, size_t at,
                        tree_ref *right) {
    *right = (tree_ref){0};
    if (at == 0) {
        *right = *ref;
        *ref = (tree_ref){0};
        return;
    }
    size_t moved = ref->width - at;
    if (moved == 0) return;
    array_resize(tree, right, height, moved);
    memcpy(right->child, item_at(ref, height, at), moved * item_size(height));
    array_resize(tree, ref, height, at);
}

/* Which edges of the whole tree a subtree lies on. */
enum edge { EDGE_NONE = 0, EDGE_LEFT = 1, EDGE_RIGHT = 2 };

/* Inserts an item into an array and splits the array if it is full: then returns true and sets
 * *right to the right half. */
static bool array_insert_split(struct quicklist_tree *tree, tree_ref *ref, unsigned height,
                               size_t at, const void *item, unsigned edges, tree_ref *right) {
    size_t width = ref->width;
    if (width < width_max(height)) {
        array_insert(tree, ref, height, at, item);
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
    array_split(tree, ref, height, split, right);
    bool goes_left = at < split || right->width == width_max(height);
    array_insert(tree, goes_left ? ref : right, height, goes_left ? at : at - split, item);
    sum_up(ref, height);
    sum_up(right, height);
    return true;
}

/* Inserts a node below `ref`; returns as above. */
static bool insert_below(struct quicklist_tree *tree, tree_ref *ref, unsigned height, size_t index,
                         const struct quicklist_node *node, unsigned edges, tree_ref *right) {
    array_own(tree, ref, height);
    if (height == 0) return array_insert_split(tree, ref, 0, index, node, edges, right);
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
    if (insert_below(tree, &children[i], height - 1, index, node, edges, &sibling)) {
        return array_insert_split(tree, ref, height, i + 1, &sibling, edges, right);
    }
    ref->nodes++;
    ref->elements += node->count;
    return false;
}

void quicklist_tree_insert(struct quicklist_tree *tree, size_t index, struct quicklist_node node) {
    assert(index <= tree->root.nodes);
    CHECKED_ASSERT(quicklist_node_check(&node));
    tree_ref right;
    if (!insert_below(tree, &tree->root, tree->height, index, &node, EDGE_LEFT | EDGE_RIGHT,
                      &right)) {
        return;
    }
    tree_ref halves[2] = {tree->root, right};
    tree->root = (tree_ref){0};
    tree->height++;
    array_resize(tree, &tree->root, tree->height, 2);
    memcpy(tree->root.child, halves, sizeof(halves));
    sum_up(&tree->root, tree->height);
}

/* --- Changing --- */

struct quicklist_node *quicklist_tree_writable(struct quicklist_tree *tree, size_t index) {
    assert(index < tree->root.nodes);
    tree_ref *ref = &tree->root;
    array_own(tree, ref, tree->height);
    for (unsigned height = tree->height; height > 0; height--) {
        for (ref = ref->child; index >= ref->nodes; ref++) index -= ref->nodes;
        array_own(tree, ref, height - 1);
    }
    struct quicklist_node *node = (struct quicklist_node *)ref->child + index;
    if (tree->left == NULL) node->flags &= (uint8_t)~QUICKLIST_NODE_SHARED;
    return node;
}

void quicklist_tree_replace(struct quicklist_tree *tree, size_t index, struct quicklist_node node) {
    CHECKED_ASSERT(quicklist_node_check(&node));
    struct quicklist_node *old = quicklist_tree_writable(tree, index);
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

/* --- Removing --- */

/* Closes the gap of the items [from, to). */
static void array_remove(struct quicklist_tree *tree, tree_ref *ref, unsigned height, size_t from,
                         size_t to) {
    size_t size = item_size(height);
    memmove(item_at(ref, height, from), item_at(ref, height, to), (ref->width - to) * size);
    array_resize(tree, ref, height, ref->width - (to - from));
}

/* Merges the children i and i + 1 of `ref`, if they exist and are small. */
static bool merge_small(struct quicklist_tree *tree, tree_ref *ref, unsigned height, size_t i) {
    tree_ref *children = ref->child;
    if (i + 1 >= ref->width) return false;
    tree_ref *left = &children[i], *right = &children[i + 1];
    size_t seam = left->width, added = right->width;
    if (seam + added > width_max(height - 1) / 2) return false;
    size_t size = item_size(height - 1);
    array_own(tree, left, height - 1);
    array_own(tree, right, height - 1);
    array_resize(tree, left, height - 1, seam + added);
    memcpy(item_at(left, height - 1, seam), right->child, added * size);
    array_resize(tree, right, height - 1, 0);
    left->elements += right->elements;
    left->nodes += right->nodes;
    array_remove(tree, ref, height, i + 1, i + 2);
    left = (tree_ref *)ref->child + i;
    if (height > 1) merge_small(tree, left, height - 1, seam - 1);
    return true;
}

/* Merges small arrays around child `at`. */
static void merge_around(struct quicklist_tree *tree, tree_ref *ref, unsigned height, size_t at) {
    size_t i = at > 2 ? at - 2 : 0;
    while (i + 1u < ref->width && i <= at + 1) {
        if (!merge_small(tree, ref, height, i)) i++;
    }
}

/* Frees arrays and buffers of a subtree that was left. */
static void free_below(const tree_ref *ref, unsigned height) {
    size_t allocated = SIZE_MAX / 2; /* no longer counted */
    for (size_t i = 0; i < ref->width; i++) {
        if (height > 0) {
            free_below((tree_ref *)ref->child + i, height - 1);
            continue;
        }
        struct quicklist_node *node = (struct quicklist_node *)ref->child + i;
        node->flags &= (uint8_t)~QUICKLIST_NODE_SHARED;
        quicklist_node_free(node, &allocated);
    }
    mem_free_sized(ref->child, array_capacity(height, ref->width));
}

/* A subtree is left with its shape in place of a size: the width of its array, and its height. */
enum { SHAPE_HEIGHT_SHIFT = 16 };

static tree_ref left_ref(void *child, size_t shape) {
    return (tree_ref){.child = child, .width = (uint16_t)shape};
}

static void free_left(void *child, size_t shape) {
    tree_ref ref = left_ref(child, shape);
    free_below(&ref, (unsigned)(shape >> SHAPE_HEIGHT_SHIFT));
}

/* Subtracts a shared subtree, which was left as a whole, from the tree's `allocated`. */
static void count_left(struct quicklist_tree *tree, const tree_ref *ref, unsigned height,
                       quicklist_tree_visit *visit, void *arg) {
    size_t size = array_capacity(height, ref->width);
    tree->allocated -= size;
    leftovers_count(tree->left, size);
    for (size_t i = 0; i < ref->width; i++) {
        if (height > 0)
            count_left(tree, (tree_ref *)ref->child + i, height - 1, visit, arg);
        else
            visit((struct quicklist_node *)ref->child + i, true, arg);
    }
}

/* Passes the nodes of a leaf that the tree owns to `visit`. */
static void visit_leaving(struct quicklist_tree *tree, tree_ref *ref, size_t from, size_t to,
                          quicklist_tree_visit *visit, void *arg) {
    struct quicklist_node *leaf = ref->child;
    for (size_t i = from; visit != NULL && i < to; i++) {
        if (tree->left == NULL) leaf[i].flags &= (uint8_t)~QUICKLIST_NODE_SHARED;
        visit(&leaf[i], false, arg);
    }
}

static void remove_all(struct quicklist_tree *tree, tree_ref *ref, unsigned height,
                       quicklist_tree_visit *visit, void *arg) {
    if (tree->left != NULL && ref->shared && ref->width > 0) {
        assert(visit != NULL);
        size_t shape = (size_t)height << SHAPE_HEIGHT_SHIFT | ref->width;
        leftovers_add_whole(tree->left, (struct leftover){ref->child, shape, free_left});
        count_left(tree, ref, height, visit, arg);
        *ref = (tree_ref){0};
        return;
    }
    if (height > 0) {
        tree_ref *children = ref->child;
        for (size_t i = 0; i < ref->width; i++) {
            remove_all(tree, &children[i], height - 1, visit, arg);
        }
    } else {
        visit_leaving(tree, ref, 0, ref->width, visit, arg);
    }
    array_resize(tree, ref, height, 0);
    ref->elements = ref->nodes = 0;
}

static void remove_below(struct quicklist_tree *tree, tree_ref *ref, unsigned height, size_t from,
                         size_t to, quicklist_tree_visit *visit, void *arg) {
    if (from == 0 && to == ref->nodes) {
        remove_all(tree, ref, height, visit, arg);
        return;
    }
    array_own(tree, ref, height);
    if (height == 0) {
        visit_leaving(tree, ref, from, to, visit, arg);
        array_remove(tree, ref, 0, from, to);
        sum_up(ref, 0);
        return;
    }
    tree_ref *children = ref->child;
    size_t base = 0, emptied = 0, first = ref->width, last = 0;
    for (size_t i = 0; i < ref->width && base < to; i++) {
        size_t nodes = children[i].nodes;
        if (base + nodes > from) {
            size_t cut_from = from > base ? from - base : 0;
            size_t cut_to = to - base < nodes ? to - base : nodes;
            remove_below(tree, &children[i], height - 1, cut_from, cut_to, visit, arg);
            if (first == ref->width) first = i;
            if (children[i].width == 0) {
                last = i;
                emptied++;
            }
        }
        base += nodes;
    }
    if (emptied > 0) array_remove(tree, ref, height, last + 1 - emptied, last + 1);
    sum_up(ref, height);
    merge_around(tree, ref, height, first);
}

void quicklist_tree_remove(struct quicklist_tree *tree, size_t from, size_t to,
                           quicklist_tree_visit *visit, void *arg) {
    assert(from <= to && to <= tree->root.nodes);
    if (from == to) return;
    remove_below(tree, &tree->root, tree->height, from, to, visit, arg);
    if (tree->root.width == 0) tree->height = 0;
    while (tree->height > 0 && tree->root.width == 1) {
        array_own(tree, &tree->root, tree->height);
        tree_ref child = *(tree_ref *)tree->root.child;
        array_resize(tree, &tree->root, tree->height, 0);
        tree->root = child;
        tree->height--;
    }
}

/* --- Relocating --- */

size_t quicklist_tree_relocate(struct quicklist_tree *tree, size_t index,
                               struct relocator *relocator) {
    CHECKED_ASSERT(!tree->left && index < tree->root.nodes);
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
        quicklist_node_relocate(&leaf[at++], relocator);
        index++;
    } while (at < ref->width && !relocator_is_due(relocator));
    return index;
}

/* --- Sharing --- */

struct quicklist_tree_ref quicklist_tree_share(struct quicklist_tree *tree,
                                               struct leftovers *left) {
    assert(tree->left == NULL);
    tree->left = left;
    tree->root.shared = true;
    return tree->root;
}

void quicklist_tree_unshare(struct quicklist_tree *tree) {
    tree->left = NULL;
}

void quicklist_tree_each(const tree_ref *ref, unsigned height,
                         void (*visit)(const struct quicklist_node *node, void *arg), void *arg) {
    for (size_t i = 0; i < ref->width; i++) {
        if (height > 0)
            quicklist_tree_each((tree_ref *)ref->child + i, height - 1, visit, arg);
        else
            visit((struct quicklist_node *)ref->child + i, arg);
    }
}

size_t quicklist_tree_pieces(const tree_ref *ref, unsigned height) {
    if (ref->width == 0) return 0;
    size_t pieces = 1;
    for (size_t i = 0; i < ref->width; i++)
        pieces += height > 0 ? quicklist_tree_pieces((tree_ref *)ref->child + i, height - 1) : 1;
    return pieces;
}

size_t quicklist_tree_pieces_left(const struct leftover *item) {
    if (item->free != free_left) return 1;
    tree_ref ref = left_ref(item->memory, item->size);
    return quicklist_tree_pieces(&ref, (unsigned)(item->size >> SHAPE_HEIGHT_SHIFT));
}

static size_t pieces_shared_below(const tree_ref *ref, unsigned height) {
    if (ref->shared) return quicklist_tree_pieces(ref, height);
    size_t pieces = 0;
    for (size_t i = 0; i < ref->width; i++) {
        const struct quicklist_node *leaf = ref->child;
        if (height > 0)
            pieces += pieces_shared_below((tree_ref *)ref->child + i, height - 1);
        else if (leaf[i].flags & QUICKLIST_NODE_SHARED)
            pieces++;
    }
    return pieces;
}

size_t quicklist_tree_pieces_shared(const struct quicklist_tree *tree) {
    return pieces_shared_below(&tree->root, tree->height);
}

/* --- Checking --- */

static bool check_below(const tree_ref *ref, unsigned height, size_t *allocated) {
    if (ref->width == 0 || ref->width > width_max(height) || ref->child == NULL) return false;
    *allocated += array_capacity(height, ref->width);
    tree_ref sums = *ref;
    sum_up(&sums, height);
    if (sums.elements != ref->elements || sums.nodes != ref->nodes) return false;
    const tree_ref *children = ref->child;
    for (size_t i = 0; height > 0 && i < ref->width; i++) {
        if (!check_below(&children[i], height - 1, allocated)) return false;
        size_t pair = i > 0 ? children[i - 1].width + children[i].width : SIZE_MAX;
        if (pair <= width_max(height - 1) / 2) return false;
    }
    return true;
}

bool quicklist_tree_check(const struct quicklist_tree *tree) {
    size_t allocated = 0;
    if (tree->root.width == 0) {
        return tree->root.child == NULL && tree->height == 0 && tree->allocated == 0 &&
               tree->root.nodes == 0 && tree->root.elements == 0;
    }
    if (tree->height > 0 && tree->root.width < 2) return false;
    return check_below(&tree->root, tree->height, &allocated) && allocated == tree->allocated;
}
