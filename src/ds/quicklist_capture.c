/*
 *      list      head │ tree: [ a │ b │ c ] │ tail       captured    head' │ tree │ tail'
 *                             the same array                       (head', tail': copies)
 *      b is written to: head │ [ a │ b'│ c ] │ tail      the captured list alone has the array
 *                                                        [ a │ b │ c ] and the buffer of b:
 *      release: nothing to do                             both were left to it, and are freed
 *
 * The tree copies arrays before it changes them (quicklist_tree.c), the list copies buffers before
 * it writes to them (quicklist_nodes.c); both leave the old ones (leftovers.h). Plain nodes at
 * the ends are shared, too: nothing is ever written into them. */
#include "ds/quicklist_capture.h"

#include "base/alloc.h"
#include "base/checked.h"
#include "ds/quicklist_internal.h"

#include <assert.h>
#include <string.h>

struct quicklist_capture {
    struct quicklist *list; /* NULL: it was freed */
    size_t allocated;       /* of the struct and the copies */
    size_t nodes;
    struct quicklist_node head;
    struct quicklist_node tail;
    struct quicklist_tree_ref root;
    unsigned height;
    struct leftovers left;
};

static bool is_shared_end(const struct quicklist_node *end) {
    return end->flags & QUICKLIST_NODE_PLAIN;
}

static struct quicklist_node capture_end(struct quicklist_open *open, size_t *allocated) {
    struct quicklist_node end;
    if (is_shared_end(&open->node)) {
        end = open->node;
        open->node.flags |= QUICKLIST_NODE_SHARED;
        return end;
    }
    memcpy(quicklist_node_init(&end, open->node.size, open->node.count, allocated),
           quicklist_open_first(open), open->node.size);
    end.excess = open->node.excess;
    return end;
}

struct quicklist_capture *quicklist_capture_begin(struct quicklist *list, size_t *left) {
    assert(list->nodes > 0 && !list->captured);
    struct quicklist_capture *captured = mem_alloc(sizeof(*captured));
    *captured = (struct quicklist_capture){.list = list,
                                           .allocated = mem_good_size(sizeof(*captured)),
                                           .nodes = list->nodes,
                                           .height = list->tree.height,
                                           .left = {.bytes_of_all = left}};
    list->captured = captured;
    captured->head = capture_end(&list->head, &captured->allocated);
    if (list->nodes > 1) captured->tail = capture_end(&list->tail, &captured->allocated);
    captured->root = quicklist_tree_share(&list->tree, &captured->left);
    return captured;
}

size_t quicklist_capture_allocated(const struct quicklist_capture *captured) {
    return captured->allocated;
}

/* --- Reading --- */

static void each_node(const struct quicklist_capture *captured,
                      void (*visit)(const struct quicklist_node *node, void *arg), void *arg) {
    visit(&captured->head, arg);
    quicklist_tree_each(&captured->root, captured->height, visit, arg);
    if (captured->nodes > 1) visit(&captured->tail, arg);
}

struct visitor {
    void (*visit)(const struct quicklist_node_info *info, void *arg);
    void *arg;
};

static void visit_info(const struct quicklist_node *node, void *arg) {
    const struct visitor *visitor = arg;
    struct quicklist_node_info info = quicklist_node_info_of(node);
    visitor->visit(&info, visitor->arg);
}

void quicklist_capture_visit(const struct quicklist_capture *captured,
                             void (*visit)(const struct quicklist_node_info *info, void *arg),
                             void *arg) {
    each_node(captured, visit_info, &(struct visitor){visit, arg});
}

/* --- Releasing --- */

size_t quicklist_capture_release(struct quicklist_capture *captured) {
    struct quicklist *list = captured->list;
    if (list) {
        list->captured = NULL;
        list->head.node.flags &= (uint8_t)~QUICKLIST_NODE_SHARED;
        list->tail.node.flags &= (uint8_t)~QUICKLIST_NODE_SHARED;
        quicklist_tree_unshare(&list->tree);
        captured->list = NULL;
    }
    *captured->left.bytes_of_all -= captured->left.bytes;
    return captured->left.bytes;
}

static void free_end(struct quicklist_node *end) {
    size_t allocated = SIZE_MAX / 2; /* no longer counted */
    if (end->buffer && !is_shared_end(end)) quicklist_node_free(end, &allocated);
}

void quicklist_capture_free(struct quicklist_capture *captured) {
    CHECKED_ASSERT(!captured->list);
    free_end(&captured->head);
    free_end(&captured->tail);
    leftovers_free(&captured->left);
    mem_free_sized(captured, sizeof(*captured));
}

bool quicklist_is_captured(const struct quicklist *list) {
    return list->captured != NULL;
}

void quicklist_capture_list_gone(struct quicklist_capture *captured) {
    captured->list = NULL;
}

/* --- Checking --- */

struct check {
    size_t nodes;
    bool good;
};

static void check_node(const struct quicklist_node *node, void *arg) {
    struct check *check = arg;
    check->nodes++;
    check->good = check->good && quicklist_node_check(node);
}

/* Number of arrays and buffers that a list and its capture share, or have shared. */
static size_t pieces_captured(const struct quicklist_capture *captured) {
    size_t ends =
        is_shared_end(&captured->head) + (captured->nodes > 1 && is_shared_end(&captured->tail));
    return ends + quicklist_tree_pieces(&captured->root, captured->height);
}

static size_t pieces_shared(const struct quicklist *list) {
    bool head = list->head.node.flags & QUICKLIST_NODE_SHARED;
    bool tail = list->tail.node.flags & QUICKLIST_NODE_SHARED;
    return (size_t)head + tail + quicklist_tree_pieces_shared(&list->tree);
}

static void add_pieces(const struct leftover *item, void *arg) {
    *(size_t *)arg += quicklist_tree_pieces_left(item);
}

bool quicklist_capture_check(const struct quicklist_capture *captured) {
    const struct quicklist *list = captured->list;
    struct check check = {.good = true};
    each_node(captured, check_node, &check);
    if (!check.good || check.nodes != captured->nodes) return false;
    if (list && (list->captured != captured || list->tree.left != &captured->left)) return false;
    size_t pieces = list ? pieces_shared(list) : 0;
    leftovers_visit(&captured->left, add_pieces, &pieces);
    return pieces == pieces_captured(captured);
}
