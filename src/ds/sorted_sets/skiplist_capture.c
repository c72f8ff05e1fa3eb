/* Captures of a whole skiplist. The table of nodes has no order: the thread that reads sorts the
 * nodes. It must not read links, which the list may be changing. */
#include "ds/sorted_sets/skiplist_internal.h"

#include "base/checked.h"
#include "base/memory/alloc.h"

#include <assert.h>
#include <stdlib.h>

/* --- Beginning --- */

struct skiplist_capture {
    struct capture capture;
    uint64_t count; /* members */
    bool sorted;
    uint64_t *ends; /* of each node: the members up to its last; NULL: not counted */
    size_t word_count;
    uint64_t words[]; /* those of the table of nodes; once counted, nodes alone; once sorted, these
                         in order */
};

static void free_structure(void *list) {
    skiplist_free(list);
}

static void free_ends(struct capture *capture);

static const struct capture_functions capture_functions = {.free = free_ends,
                                                           .free_structure = free_structure};

static struct skiplist_capture *captured(const struct capture *capture) {
    CHECKED_ASSERT(capture->functions == &capture_functions);
    return (struct skiplist_capture *)(uintptr_t)capture;
}

static void free_ends(struct capture *capture) {
    mem_free(captured(capture)->ends);
}

bool skiplist__can_capture(struct skiplist *list) {
    if (!pieces_are_used_up(&list->pieces)) return true;
    if (skiplist_is_captured(list)) return false;
    skiplist__pieces(list, pieces_renew(&list->pieces));
    return true;
}

struct capture *skiplist_capture_begin(struct skiplist *list, size_t *left) {
    assert(list->count > 0);
    if (!skiplist__can_capture(list)) return NULL;
    struct skiplist_capture *capture =
        capture_begin(&capture_functions, sizeof(*capture) + list->nodes.count * sizeof(uint64_t),
                      &list->pieces.captures, left);
    capture->count = list->count;
    capture->sorted = false;
    capture->ends = NULL;
    capture->word_count = list->nodes.count;
    segmented_read(&list->nodes, capture->words);
    return &capture->capture;
}

bool skiplist_is_captured(const struct skiplist *list) {
    return pieces_are_captured(&list->pieces);
}

uint64_t skiplist_capture_count(const struct capture *capture) {
    return captured(capture)->count;
}

static const struct skiplist_node *node_of(uint64_t word) {
    return (const struct skiplist_node *)(uintptr_t)word;
}

/* --- The order of the nodes --- */

/* A node, and the key of its first member: most comparisons then need not load the node. */
struct keyed_node {
    uint64_t key;
    const struct skiplist_node *node;
};

static int compare_nodes(const void *a, const void *b) {
    const struct keyed_node *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return slice_compare(skiplist_node_member(x->node, 0), skiplist_node_member(y->node, 0));
}

/* Starts loading the node whose turn comes soon after that of word `i`. */
static void prefetch_after(const struct skiplist_capture *capture, size_t i) {
    enum { AHEAD = 8 };
    if (i + AHEAD < capture->word_count && !skiplist__is_free_number(capture->words[i + AHEAD]))
        skiplist__prefetch_node(node_of(capture->words[i + AHEAD]));
}

/* Which nodes are read: NULL, all of them. */
struct selection {
    bool (*wants)(double first, double last, const void *arg);
    const void *arg;
};

static bool is_selected(const struct selection *selection, const struct skiplist_node *node) {
    if (!selection) return true;
    uint64_t last = skiplist_node_key(node, skiplist_node_count(node) - 1);
    return selection->wants(skiplist_node_score(node, 0), skiplist_score_of_key(last),
                            selection->arg);
}

/* Leaves the nodes that are selected, in their order. */
static void sort_nodes(struct skiplist_capture *capture, const struct selection *selection) {
    CHECKED_ASSERT(!capture->ends);
    struct keyed_node *nodes = mem_alloc(capture->word_count * sizeof(*nodes));
    size_t count = 0;
    for (size_t i = 0; i < capture->word_count; i++) {
        prefetch_after(capture, i);
        if (skiplist__is_free_number(capture->words[i])) continue;
        const struct skiplist_node *node = node_of(capture->words[i]);
        if (is_selected(selection, node))
            nodes[count++] = (struct keyed_node){skiplist_node_key(node, 0), node};
    }
    qsort(nodes, count, sizeof(*nodes), compare_nodes);
    for (size_t i = 0; i < count; i++) capture->words[i] = (uint64_t)(uintptr_t)nodes[i].node;
    mem_free(nodes);
    capture->word_count = count;
    capture->sorted = true;
}

/* --- Reading --- */

void skiplist_capture_visit(struct capture *capture,
                            void (*visit)(struct slice member, double score, void *arg),
                            void *arg) {
    struct skiplist_capture *list = captured(capture);
    if (!list->sorted) sort_nodes(list, NULL);
    for (size_t i = list->word_count; i-- > 0;) {
        const struct skiplist_node *node = node_of(list->words[i]);
        for (unsigned slot = skiplist_node_count(node); slot-- > 0;)
            visit(skiplist_node_member(node, slot), skiplist_node_score(node, slot), arg);
    }
}

void skiplist_capture_select(struct capture *capture,
                             bool (*wants)(double first, double last, const void *arg),
                             const void *arg) {
    struct skiplist_capture *list = captured(capture);
    CHECKED_ASSERT(!list->sorted);
    sort_nodes(list, &(struct selection){wants, arg});
}

bool skiplist_capture_seek_score(struct capture *capture, double score, size_t *place,
                                 struct skiplist_cursor *cursor) {
    struct skiplist_capture *list = captured(capture);
    uint64_t key = skiplist_key(score);
    if (!list->sorted) sort_nodes(list, NULL);
    size_t low = 0, high = list->word_count; /* the first node whose last key is not less */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct skiplist_node *node = node_of(list->words[middle]);
        if (skiplist_node_key(node, skiplist_node_count(node) - 1) < key)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == list->word_count) return false;
    *place = low;
    cursor->node = node_of(list->words[low]);
    cursor->slot = skiplist_node_seek_key(cursor->node, key, false);
    return true;
}

bool skiplist_capture_next_node(struct capture *capture, size_t *place,
                                struct skiplist_cursor *cursor) {
    const struct skiplist_capture *list = captured(capture);
    if (++*place == list->word_count) return false;
    if (*place + 1 < list->word_count) skiplist__prefetch_node(node_of(list->words[*place + 1]));
    *cursor = (struct skiplist_cursor){node_of(list->words[*place]), 0};
    return true;
}

/* --- Reading in no order --- */

static void count_ends(struct skiplist_capture *capture) {
    uint64_t members = 0;
    size_t count = 0;
    capture->ends = mem_alloc(capture->word_count * sizeof(*capture->ends));
    for (size_t i = 0; i < capture->word_count; i++) {
        prefetch_after(capture, i);
        if (skiplist__is_free_number(capture->words[i])) continue;
        members += skiplist_node_count(node_of(capture->words[i]));
        capture->words[count] = capture->words[i];
        capture->ends[count++] = members;
    }
    CHECKED_ASSERT(members == capture->count);
    capture->word_count = count;
}

void skiplist_capture_seek(struct capture *capture, uint64_t number,
                           struct skiplist_cursor *cursor) {
    struct skiplist_capture *list = captured(capture);
    CHECKED_ASSERT(number < list->count && !list->sorted);
    if (!list->ends) count_ends(list);
    size_t low = 0, high = list->word_count - 1; /* the first node that ends after the number */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->ends[middle] <= number)
            low = middle + 1;
        else
            high = middle;
    }
    cursor->node = node_of(list->words[low]);
    cursor->slot = (unsigned)(number - (low > 0 ? list->ends[low - 1] : 0));
}

/* --- Copying what was captured --- */

/* A copy of the node without its links, which the captured list may be changing now. */
static struct skiplist_node *copy_members(struct skiplist *copy, const struct skiplist_node *node) {
    struct skiplist_range all = {node, 0, skiplist_node_count(node)};
    struct skiplist_packing packing = {node->base, node->width, node->shift};
    struct skiplist_node *made =
        skiplist_node_build(skiplist_node_height(node), packing, &all, 1, 0);
    made->epoch = pieces_epoch(&copy->pieces);
    made->number = (uint32_t)copy->nodes.count;
    *(uint64_t *)segmented_push(&copy->nodes) = (uint64_t)(uintptr_t)made;
    pieces_count(&copy->pieces, mem_good_size(skiplist_node_size(made)));
    copy->long_members += skiplist_node_own_texts(made, &copy->pieces);
    return made;
}

/* Puts the node at the end. `last` has the towers that end there, and their ranks. */
static void append_node(struct skiplist *copy, struct skiplist_node *node,
                        struct skiplist_link *last[SKIPLIST_LEVELS],
                        uint64_t ranks[SKIPLIST_LEVELS]) {
    unsigned height = skiplist_node_height(node);
    for (unsigned level = 0; level <= height; level++) {
        last[level]->next = node;
        last[level]->key = skiplist_node_key(node, 0);
        if (level > 0) last[level]->span = copy->count - ranks[level];
        last[level] = &node->links[level];
        ranks[level] = copy->count;
    }
    if (height > copy->height) copy->height = (uint8_t)height;
    node->prev = copy->tail;
    copy->tail = node;
    copy->node_count++;
    copy->count += skiplist_node_count(node);
}

static void index_node(struct skiplist *copy, const struct skiplist_node *node) {
    enum { SOME = 32 };
    uint64_t hashes[SOME];
    unsigned count = skiplist_node_count(node);
    for (unsigned from = 0; from < count; from += SOME) {
        unsigned some = count - from < SOME ? count - from : SOME;
        for (unsigned i = 0; i < some; i++) {
            hashes[i] = hash_bytes(skiplist_node_member(node, from + i));
            skiplist_index_prefetch(&copy->index, hashes[i]);
        }
        for (unsigned i = 0; i < some; i++)
            skiplist_index_insert(&copy->index, hashes[i], node->number);
    }
}

struct skiplist *skiplist_capture_copy(struct capture *capture, bool with_index) {
    struct skiplist_capture *list = captured(capture);
    struct skiplist *copy = skiplist_new();
    struct skiplist_link *last[SKIPLIST_LEVELS];
    uint64_t ranks[SKIPLIST_LEVELS] = {0};
    if (!list->sorted) sort_nodes(list, NULL);
    if (with_index) skiplist_index_reserve(&copy->index, list->count);
    for (unsigned level = 0; level < SKIPLIST_LEVELS; level++) last[level] = &copy->head[level];
    for (size_t i = 0; i < list->word_count; i++) {
        struct skiplist_node *node = copy_members(copy, node_of(list->words[i]));
        append_node(copy, node, last, ranks);
        if (with_index) index_node(copy, node);
    }
    for (unsigned level = 1; level <= copy->height; level++)
        last[level]->span = copy->count - ranks[level];
    return copy;
}
