/* Invariants: a node's string is its parent's with its label appended; the labels of a node's
 * children begin with different bytes, and the children are in the order of these; a node without
 * item has at least two children, except the root, which has an empty label. */
#include "ds/prefix_tree.h"

#include "base/checked.h"
#include "base/memory/alloc.h"

#include <string.h>

struct prefix_node {
    void *item; /* NULL: the string is not in the tree */
    struct prefix_node *parent;
    struct prefix_node **children;
    uint32_t child_count;
    size_t label_length;
    char label[];
};

/* --- Nodes --- */

static size_t bytes_of(const struct prefix_node *node) {
    return mem_good_size(sizeof(*node) + node->label_length) +
           (node->child_count ? mem_good_size(node->child_count * sizeof(node)) : 0);
}

static struct slice label_of(const struct prefix_node *node) {
    return slice_make(node->label, node->label_length);
}

/* Makes a node without children. */
static struct prefix_node *make_node(struct prefix_tree *tree, struct slice label) {
    struct prefix_node *node = mem_alloc(sizeof(*node) + label.len);
    *node = (struct prefix_node){.label_length = label.len};
    if (label.len) memcpy(node->label, label.ptr, label.len);
    tree->allocated += bytes_of(node);
    return node;
}

static void free_node(struct prefix_tree *tree, struct prefix_node *node) {
    tree->allocated -= bytes_of(node);
    mem_free(node->children);
    mem_free(node);
}

/* Returns the index of the child whose label begins with the byte, or where it would be. */
static uint32_t child_index(const struct prefix_node *node, unsigned char byte) {
    uint32_t low = 0, high = node->child_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if ((unsigned char)node->children[middle]->label[0] < byte)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the child whose label begins with the first byte of `text`, or NULL. */
static struct prefix_node *child_for(const struct prefix_node *node, struct slice text) {
    if (text.len == 0) return NULL;
    uint32_t index = child_index(node, (unsigned char)text.ptr[0]);
    if (index == node->child_count || node->children[index]->label[0] != text.ptr[0]) return NULL;
    return node->children[index];
}

static void add_child(struct prefix_tree *tree, struct prefix_node *node,
                      struct prefix_node *child) {
    uint32_t index = child_index(node, (unsigned char)child->label[0]);
    tree->allocated -= bytes_of(node);
    node->children = mem_realloc(node->children, (node->child_count + 1) * sizeof(*node->children));
    memmove(node->children + index + 1, node->children + index,
            (node->child_count - index) * sizeof(*node->children));
    node->children[index] = child;
    node->child_count++;
    child->parent = node;
    tree->allocated += bytes_of(node);
}

static void remove_child(struct prefix_tree *tree, struct prefix_node *node,
                         const struct prefix_node *child) {
    uint32_t index = child_index(node, (unsigned char)child->label[0]);
    tree->allocated -= bytes_of(node);
    node->child_count--;
    memmove(node->children + index, node->children + index + 1,
            (node->child_count - index) * sizeof(*node->children));
    if (node->child_count) {
        node->children = mem_realloc(node->children, node->child_count * sizeof(*node->children));
    } else {
        mem_free(node->children);
        node->children = NULL;
    }
    tree->allocated += bytes_of(node);
}

static void replace_child(struct prefix_node *node, struct prefix_node *child) {
    node->children[child_index(node, (unsigned char)child->label[0])] = child;
    child->parent = node;
}

static size_t common_length(struct slice a, struct slice b) {
    size_t length = 0;
    while (length < a.len && length < b.len && a.ptr[length] == b.ptr[length]) length++;
    return length;
}

static struct slice behind(struct slice text, size_t length) {
    return slice_make(text.ptr + length, text.len - length);
}

/* --- Changing --- */

/* Puts a node with the first `length` bytes of the child's label in its place, and the child, with
 * the others, below it. Returns that node. */
static struct prefix_node *split(struct prefix_tree *tree, struct prefix_node *child,
                                 size_t length) {
    struct prefix_node *upper = make_node(tree, slice_make(child->label, length));
    replace_child(child->parent, upper);
    upper->parent = child->parent;
    tree->allocated -= bytes_of(child);
    child->label_length -= length;
    memmove(child->label, child->label + length, child->label_length);
    child = mem_realloc(child, sizeof(*child) + child->label_length);
    for (uint32_t i = 0; i < child->child_count; i++) child->children[i]->parent = child;
    tree->allocated += bytes_of(child);
    add_child(tree, upper, child);
    return upper;
}

void *prefix_tree_put(struct prefix_tree *tree, struct slice string, void *item) {
    CHECKED_ASSERT(item);
    if (!tree->root) tree->root = make_node(tree, SLICE(""));
    struct prefix_node *node = tree->root;
    while (string.len > 0) {
        struct prefix_node *child = child_for(node, string);
        if (!child) {
            child = make_node(tree, string);
            add_child(tree, node, child);
            string.len = 0;
        } else {
            size_t length = common_length(label_of(child), string);
            if (length < child->label_length) child = split(tree, child, length);
            string = behind(string, length);
        }
        node = child;
    }
    void *before = node->item;
    node->item = item;
    tree->count += !before;
    return before;
}

/* Joins a node without item with its only child. */
static void join(struct prefix_tree *tree, struct prefix_node *node) {
    struct prefix_node *child = node->children[0];
    tree->allocated -= bytes_of(child);
    child = mem_realloc(child, sizeof(*child) + child->label_length + node->label_length);
    memmove(child->label + node->label_length, child->label, child->label_length);
    memcpy(child->label, node->label, node->label_length);
    child->label_length += node->label_length;
    for (uint32_t i = 0; i < child->child_count; i++) child->children[i]->parent = child;
    tree->allocated += bytes_of(child);
    replace_child(node->parent, child);
    free_node(tree, node);
}

/* Takes the node's item, and the nodes away that are not needed any more. */
static void *take_item(struct prefix_tree *tree, struct prefix_node *node) {
    void *item = node->item;
    node->item = NULL;
    tree->count--;
    if (node->child_count == 0 && node->parent) {
        struct prefix_node *parent = node->parent;
        remove_child(tree, parent, node);
        free_node(tree, node);
        node = parent;
    }
    if (!node->parent) {
        if (tree->count > 0) return item;
        free_node(tree, node);
        tree->root = NULL;
    } else if (!node->item && node->child_count == 1) {
        join(tree, node);
    }
    return item;
}

/* --- Searching --- */

/* Returns the highest node whose string begins with `text`, or NULL. *is_exact: it is `text`. */
static struct prefix_node *find_node(const struct prefix_tree *tree, struct slice text,
                                     bool *is_exact) {
    struct prefix_node *node = tree->root;
    *is_exact = true;
    while (node && text.len > 0) {
        node = child_for(node, text);
        if (!node) return NULL;
        size_t length = common_length(label_of(node), text);
        *is_exact = length == node->label_length;
        if (!*is_exact && length < text.len) return NULL;
        text = behind(text, length);
    }
    return node;
}

static struct prefix_node *find_exact(const struct prefix_tree *tree, struct slice string) {
    bool is_exact;
    struct prefix_node *node = find_node(tree, string, &is_exact);
    return node && is_exact && node->item ? node : NULL;
}

void *prefix_tree_find(const struct prefix_tree *tree, struct slice string) {
    const struct prefix_node *node = find_exact(tree, string);
    return node ? node->item : NULL;
}

void *prefix_tree_remove(struct prefix_tree *tree, struct slice string) {
    struct prefix_node *node = find_exact(tree, string);
    return node ? take_item(tree, node) : NULL;
}

/* Returns the first node below this one, or the node itself, that has an item; NULL: none has, as
 * in an empty tree. */
static struct prefix_node *first_with_item(struct prefix_node *node) {
    while (node && !node->item) node = node->child_count ? node->children[0] : NULL;
    return node;
}

void *prefix_tree_remove_first(struct prefix_tree *tree) {
    struct prefix_node *node = first_with_item(tree->root);
    return node ? take_item(tree, node) : NULL;
}

void *prefix_tree_first_below(const struct prefix_tree *tree, struct slice text) {
    bool is_exact;
    const struct prefix_node *node = first_with_item(find_node(tree, text, &is_exact));
    return node ? node->item : NULL;
}

struct prefix_walk prefix_walk_begin(const struct prefix_tree *tree, struct slice text) {
    return (struct prefix_walk){.node = tree->root, .rest = text};
}

void *prefix_walk_next(struct prefix_walk *walk) {
    void *item = NULL;
    while (walk->node && !item) {
        item = walk->node->item;
        const struct prefix_node *child = child_for(walk->node, walk->rest);
        if (child && child->label_length <= walk->rest.len &&
            memcmp(child->label, walk->rest.ptr, child->label_length) == 0)
            walk->rest = behind(walk->rest, child->label_length);
        else
            child = NULL;
        walk->node = child;
    }
    return item;
}

/* Returns the node that follows in the order of strings, or NULL. */
static const struct prefix_node *next_node(const struct prefix_node *node) {
    if (node->child_count) return node->children[0];
    while (node->parent) {
        const struct prefix_node *parent = node->parent;
        uint32_t index = child_index(parent, (unsigned char)node->label[0]) + 1;
        if (index < parent->child_count) return parent->children[index];
        node = parent;
    }
    return NULL;
}

void prefix_tree_each(const struct prefix_tree *tree, void (*visit)(void *item, void *arg),
                      void *arg) {
    for (const struct prefix_node *node = tree->root; node; node = next_node(node))
        if (node->item) visit(node->item, arg);
}

/* --- Checks --- */

static bool node_is_sound(const struct prefix_node *node) {
    for (uint32_t i = 0; i < node->child_count; i++) {
        const struct prefix_node *child = node->children[i];
        if (child->parent != node || child->label_length == 0) return false;
        if (i > 0 &&
            (unsigned char)node->children[i - 1]->label[0] >= (unsigned char)child->label[0])
            return false;
    }
    return !node->parent || node->item || node->child_count >= 2;
}

bool prefix_tree_check(const struct prefix_tree *tree) {
    size_t count = 0, allocated = 0;
    for (const struct prefix_node *node = tree->root; node; node = next_node(node)) {
        if (!node_is_sound(node)) return false;
        count += node->item != NULL;
        allocated += bytes_of(node);
    }
    return count == tree->count && allocated == tree->allocated &&
           (count > 0) == (tree->root != NULL);
}
