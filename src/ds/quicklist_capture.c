/*
 *      list      head │ tree: [ a │ b │ c ] │ tail       captured    head' │ tree │ tail'
 *                             the same array                       (head', tail': copies)
 *      b is written to: head │ [ a │ b'│ c ] │ tail      the captured list alone has the array
 *                                                        [ a │ b │ c ] and the buffer of b:
 *      release: nothing to do                             both were left to it, and are freed
 *
 * The tree copies arrays before it changes them (quicklist_tree.c), the list copies buffers before
 * it writes to them (quicklist_place.c); both leave the old ones (leftovers.h). Plain nodes at
 * the ends are shared, too: nothing is ever written into them. */
#include "ds/quicklist_capture.h"

#include "base/alloc.h"
#include "base/checked.h"
#include "ds/quicklist_internal.h"

#include <assert.h>
#include <string.h>

struct quicklist_capture {
    struct capture capture;
    struct quicklist *list; /* valid while the capture has a place */
    size_t nodes;
    struct quicklist_node head;
    struct quicklist_node tail;
    struct quicklist_tree_ref root;
    unsigned height;
};

static bool is_shared_end(const struct quicklist_node *end) {
    return end->flags & QUICKLIST_NODE_PLAIN;
}

/* --- The end --- */

static void release(struct capture *capture) {
    if (!capture->place) return;
    struct quicklist *list = ((struct quicklist_capture *)capture)->list;
    list->head.node.flags &= (uint8_t)~QUICKLIST_NODE_SHARED;
    list->tail.node.flags &= (uint8_t)~QUICKLIST_NODE_SHARED;
    quicklist_tree_unshare(&list->tree);
}

static void free_end(struct quicklist_node *end) {
    size_t allocated = SIZE_MAX / 2; /* no longer counted */
    if (end->buffer && !is_shared_end(end)) quicklist_node_free(end, &allocated);
}

static void free_ends(struct capture *capture) {
    struct quicklist_capture *captured = (struct quicklist_capture *)capture;
    free_end(&captured->head);
    free_end(&captured->tail);
}

static const struct capture_functions capture_functions = {release, free_ends};

static const struct quicklist_capture *captured_of(const struct capture *capture) {
    CHECKED_ASSERT(capture->functions == &capture_functions);
    return (const struct quicklist_capture *)capture;
}

/* --- Capturing --- */

static struct quicklist_node captured_end(struct quicklist_open *open, size_t *allocated) {
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

struct capture *quicklist_capture_begin(struct quicklist *list, size_t *left) {
    assert(list->nodes > 0);
    struct quicklist_capture *captured =
        capture_begin(&capture_functions, sizeof(*captured), &list->capture, left);
    struct capture *capture = &captured->capture;
    captured->list = list;
    captured->nodes = list->nodes;
    captured->head = captured_end(&list->head, &capture->allocated);
    captured->tail = list->nodes > 1 ? captured_end(&list->tail, &capture->allocated)
                                     : (struct quicklist_node){0};
    captured->root = quicklist_tree_share(&list->tree, &capture->left);
    captured->height = list->tree.height;
    return capture;
}

bool quicklist_is_captured(const struct quicklist *list) {
    return list->capture != NULL;
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

void quicklist_capture_visit(const struct capture *capture,
                             void (*visit)(const struct quicklist_node_info *info, void *arg),
                             void *arg) {
    each_node(captured_of(capture), visit_info, &(struct visitor){visit, arg});
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

bool quicklist_capture_check(const struct capture *capture) {
    const struct quicklist_capture *captured = captured_of(capture);
    const struct quicklist *list = capture->place ? captured->list : NULL;
    struct check check = {.good = true};
    each_node(captured, check_node, &check);
    if (!check.good || check.nodes != captured->nodes) return false;
    if (list && (list->capture != capture || list->tree.left != &capture->left)) return false;
    size_t pieces = list ? pieces_shared(list) : 0;
    leftovers_visit(&capture->left, add_pieces, &pieces);
    return pieces == pieces_captured(captured);
}
