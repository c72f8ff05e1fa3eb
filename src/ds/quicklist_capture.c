/*
 *      list      head │ tree: [ a │ b │ c ] │ tail       captured    head' │ tree │ tail'
 *                             the same array                       (head', tail': copies)
 *      b is written to: head │ [ a │ b'│ c ] │ tail      the captured list alone has the array
 *                                                        [ a │ b │ c ] and the buffer of b:
 *      release: nothing to do                             both were left to it, and are freed
 *
 * The tree copies arrays before it changes them (quicklist_tree.c), nodes copy buffers before they
 * are written to (quicklist_node.c). Plain nodes at the ends are shared, too: nothing is ever
 * written into them. */
#include "ds/quicklist_capture.h"

#include "base/checked.h"
#include "ds/quicklist_internal.h"

#include <assert.h>
#include <string.h>

struct quicklist_capture {
    struct capture capture;
    size_t nodes;
    struct quicklist_node head;
    struct quicklist_node tail;
    struct pieces ends; /* those of head and tail that are not shared */
    struct quicklist_tree tree;
};

static bool is_shared_end(const struct quicklist_node *end) {
    return end->flags & QUICKLIST_NODE_PLAIN;
}

/* --- The end --- */

static void free_end(struct quicklist_capture *captured, struct quicklist_node *end) {
    if (end->buffer && !is_shared_end(end)) quicklist_node_free(end, &captured->ends);
}

static void free_rest(struct capture *capture) {
    struct quicklist_capture *captured = (struct quicklist_capture *)capture;
    free_end(captured, &captured->head);
    free_end(captured, &captured->tail);
    if (capture->orphan) quicklist_free(capture->orphan);
}

static const struct capture_functions capture_functions = {.free = free_rest};

static const struct quicklist_capture *captured_of(const struct capture *capture) {
    CHECKED_ASSERT(capture->functions == &capture_functions);
    return (const struct quicklist_capture *)capture;
}

/* --- Capturing --- */

static struct quicklist_node captured_end(struct quicklist_open *open, struct pieces *pieces) {
    struct quicklist_node end;
    if (is_shared_end(&open->node)) {
        end = open->node;
        open->node.flags |= QUICKLIST_NODE_SHARED;
        return end;
    }
    memcpy(quicklist_node_init(&end, open->node.size, open->node.count, pieces),
           quicklist_open_first(open), open->node.size);
    end.excess = open->node.excess;
    return end;
}

struct capture *quicklist_capture_begin(struct quicklist *list, size_t *left) {
    assert(list->nodes > 0);
    struct quicklist_capture *captured =
        capture_begin(&capture_functions, sizeof(*captured), &list->pieces.capture, left);
    captured->nodes = list->nodes;
    captured->ends = pieces_begin();
    captured->head = captured_end(&list->head, &captured->ends);
    captured->tail =
        list->nodes > 1 ? captured_end(&list->tail, &captured->ends) : (struct quicklist_node){0};
    captured->tree = quicklist_tree_capture(&list->tree);
    captured->capture.allocated += captured->ends.bytes;
    return &captured->capture;
}

bool quicklist_is_captured(const struct quicklist *list) {
    return list->pieces.capture != NULL;
}

/* --- Reading --- */

static void each_node(const struct quicklist_capture *captured,
                      void (*visit)(const struct quicklist_node *node, void *arg), void *arg) {
    visit(&captured->head, arg);
    quicklist_tree_each(&captured->tree, visit, arg);
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

/* Counts the arrays and buffers that the capture reads among those of a list. */
struct shared_counter {
    struct piece_visitor visitor;
    size_t *shared;
};

static void count_shared(const struct piece_visitor *visitor, void *piece, size_t size,
                         uint64_t epoch) {
    (void)piece, (void)size;
    *((const struct shared_counter *)visitor)->shared += epoch == PIECES_READ;
}

static size_t pieces_shared(struct quicklist *list) {
    size_t shared = 0;
    struct shared_counter counter = {{piece_enter, count_shared}, &shared};
    quicklist__pieces(list, &counter.visitor);
    return shared;
}

static size_t pieces_captured(const struct quicklist_capture *captured) {
    struct pieces totals = {0};
    struct piece_counter counter = pieces_counter(&totals);
    struct quicklist_tree tree = captured->tree;
    quicklist_tree_pieces(&tree, &counter.visitor);
    return totals.allocations + is_shared_end(&captured->head) +
           (captured->nodes > 1 && is_shared_end(&captured->tail));
}

static void add_piece(const struct leftover *item, void *arg) {
    (void)item;
    ++*(size_t *)arg;
}

bool quicklist_capture_check(const struct capture *capture, struct quicklist *list) {
    const struct quicklist_capture *captured = captured_of(capture);
    struct check check = {.good = true};
    each_node(captured, check_node, &check);
    if (!check.good || check.nodes != captured->nodes) return false;
    if (!list || list->pieces.capture != capture) list = capture->orphan;
    size_t pieces = list ? pieces_shared(list) : 0;
    leftovers_visit(&capture->left, add_piece, &pieces);
    return pieces == pieces_captured(captured);
}
