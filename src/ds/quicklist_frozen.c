/*
 *      list      head │ tree: [ a │ b │ c ] │ tail       frozen    head' │ tree │ tail'
 *                             the same array                       (head', tail': copies)
 *      b is written to: head │ [ a │ b'│ c ] │ tail      the frozen list alone has the array
 *                                                        [ a │ b │ c ] and the buffer of b:
 *      thaw: nothing to do                               they were left to it, and are freed
 *
 * The tree copies arrays before it changes them (quicklist_tree.c), the list copies buffers before
 * it writes to them (quicklist_nodes.c); both leave the old ones (quicklist_left.h). Plain nodes at
 * the ends are shared, too: nothing is ever written into them. */
#include "ds/quicklist_frozen.h"

#include "base/alloc.h"
#include "ds/quicklist_internal.h"

#include <assert.h>
#include <string.h>

struct quicklist_frozen {
    struct quicklist *list; /* NULL: it was freed */
    size_t allocated;       /* of the struct and the copies */
    size_t nodes;
    struct quicklist_node head;
    struct quicklist_node tail;
    struct quicklist_tree_ref root;
    unsigned height;
    struct quicklist_left left;
};

static bool is_shared_end(const struct quicklist_node *end) {
    return end->flags & QUICKLIST_NODE_PLAIN;
}

static struct quicklist_node freeze_end(struct quicklist_open *open, size_t *allocated) {
    struct quicklist_node end;
    if (is_shared_end(&open->node)) {
        end = open->node;
        open->node.flags |= QUICKLIST_NODE_FROZEN;
        return end;
    }
    memcpy(quicklist_node_init(&end, open->node.size, open->node.count, allocated),
           quicklist_open_first(open), open->node.size);
    end.excess = open->node.excess;
    return end;
}

struct quicklist_frozen *quicklist_freeze(struct quicklist *list, size_t *left) {
    assert(list->nodes > 0 && !list->frozen);
    struct quicklist_frozen *frozen = mem_alloc(sizeof(*frozen));
    *frozen = (struct quicklist_frozen){.list = list,
                                        .allocated = mem_good_size(sizeof(*frozen)),
                                        .nodes = list->nodes,
                                        .height = list->tree.height,
                                        .left = {.bytes_of_all = left}};
    list->frozen = frozen;
    frozen->head = freeze_end(&list->head, &frozen->allocated);
    if (list->nodes > 1) frozen->tail = freeze_end(&list->tail, &frozen->allocated);
    frozen->root = quicklist_tree_share(&list->tree, &frozen->left);
    return frozen;
}

size_t quicklist_frozen_allocated(const struct quicklist_frozen *frozen) {
    return frozen->allocated;
}

/* --- Reading --- */

static void each_node(const struct quicklist_frozen *frozen,
                      void (*visit)(const struct quicklist_node *node, void *arg), void *arg) {
    visit(&frozen->head, arg);
    quicklist_tree_each(&frozen->root, frozen->height, visit, arg);
    if (frozen->nodes > 1) visit(&frozen->tail, arg);
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

void quicklist_frozen_visit(const struct quicklist_frozen *frozen,
                            void (*visit)(const struct quicklist_node_info *info, void *arg),
                            void *arg) {
    each_node(frozen, visit_info, &(struct visitor){visit, arg});
}

/* --- The thaw --- */

size_t quicklist_thaw(struct quicklist_frozen *frozen) {
    struct quicklist *list = frozen->list;
    if (list) {
        list->frozen = NULL;
        list->head.node.flags &= (uint8_t)~QUICKLIST_NODE_FROZEN;
        list->tail.node.flags &= (uint8_t)~QUICKLIST_NODE_FROZEN;
        quicklist_tree_unshare(&list->tree);
        frozen->list = NULL;
    }
    *frozen->left.bytes_of_all -= frozen->left.bytes;
    return frozen->left.bytes;
}

static void free_end(struct quicklist_node *end) {
    size_t allocated = SIZE_MAX / 2; /* counted by nothing any more */
    if (end->buffer && !is_shared_end(end)) quicklist_node_free(end, &allocated);
}

void quicklist_frozen_free(struct quicklist_frozen *frozen) {
    free_end(&frozen->head);
    free_end(&frozen->tail);
    quicklist_left_free(&frozen->left);
    mem_free_sized(frozen, sizeof(*frozen));
}

bool quicklist_is_frozen(const struct quicklist *list) {
    return list->frozen != NULL;
}

void quicklist_frozen_list_gone(struct quicklist_frozen *frozen) {
    frozen->list = NULL;
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

/* Arrays and buffers that a list and its frozen self share, or shared. */
static size_t pieces_frozen(const struct quicklist_frozen *frozen) {
    size_t ends =
        is_shared_end(&frozen->head) + (frozen->nodes > 1 && is_shared_end(&frozen->tail));
    return ends + quicklist_tree_pieces(&frozen->root, frozen->height);
}

static size_t pieces_shared(const struct quicklist *list) {
    bool head = list->head.node.flags & QUICKLIST_NODE_FROZEN;
    bool tail = list->tail.node.flags & QUICKLIST_NODE_FROZEN;
    return (size_t)head + tail + quicklist_tree_pieces_shared(&list->tree);
}

bool quicklist_frozen_check(const struct quicklist_frozen *frozen) {
    const struct quicklist *list = frozen->list;
    struct check check = {.good = true};
    each_node(frozen, check_node, &check);
    if (!check.good || check.nodes != frozen->nodes) return false;
    if (list && (list->frozen != frozen || list->tree.left != &frozen->left)) return false;
    size_t shared = list ? pieces_shared(list) : 0;
    return shared + quicklist_left_pieces(&frozen->left) == pieces_frozen(frozen);
}
