#include "ds/skiplist_capture.h"

#include "base/checked.h"
#include "ds/skiplist_internal.h"

#include <assert.h>
#include <stdlib.h>

struct skiplist_capture {
    struct capture capture;
    uint64_t count; /* members */
    bool sorted;
    size_t word_count;
    uint64_t words[]; /* those of the table of nodes; once sorted, of nodes alone */
};

static void free_orphan(struct capture *capture) {
    if (capture->orphan) skiplist_free(capture->orphan);
}

static const struct capture_functions capture_functions = {.free = free_orphan};

static struct skiplist_capture *captured(const struct capture *capture) {
    CHECKED_ASSERT(capture->functions == &capture_functions);
    return (struct skiplist_capture *)(uintptr_t)capture;
}

struct capture *skiplist_capture_begin(struct skiplist *list, size_t *left) {
    assert(list->count > 0);
    struct skiplist_capture *capture =
        capture_begin(&capture_functions, sizeof(*capture) + list->nodes.count * sizeof(uint64_t),
                      &list->pieces.capture, left);
    capture->count = list->count;
    capture->sorted = false;
    capture->word_count = list->nodes.count;
    segmented_read(&list->nodes, capture->words);
    list->pieces.epoch++;
    return &capture->capture;
}

bool skiplist_is_captured(const struct skiplist *list) {
    return list->pieces.capture != NULL;
}

uint64_t skiplist_capture_count(const struct capture *capture) {
    return captured(capture)->count;
}

/* --- Reading --- */

static const struct skiplist_node *node_of(uint64_t word) {
    return (const struct skiplist_node *)(uintptr_t)word;
}

/* The later node first. */
static int compare_nodes(const void *a, const void *b) {
    const struct skiplist_node *x = node_of(*(const uint64_t *)a);
    const struct skiplist_node *y = node_of(*(const uint64_t *)b);
    if (x == y) return 0;
    bool x_is_first =
        skiplist_node_begins_by(x, skiplist_node_key(y, 0), skiplist_node_member(y, 0));
    return x_is_first ? 1 : -1;
}

static void sort_nodes(struct skiplist_capture *capture) {
    size_t nodes = 0;
    for (size_t i = 0; i < capture->word_count; i++) {
        if (!skiplist__is_free_number(capture->words[i]))
            capture->words[nodes++] = capture->words[i];
    }
    qsort(capture->words, nodes, sizeof(*capture->words), compare_nodes);
    capture->word_count = nodes;
    capture->sorted = true;
}

void skiplist_capture_visit(struct capture *capture,
                            void (*visit)(struct slice member, double score, void *arg),
                            void *arg) {
    struct skiplist_capture *list = captured(capture);
    if (!list->sorted) sort_nodes(list);
    for (size_t i = 0; i < list->word_count; i++) {
        const struct skiplist_node *node = node_of(list->words[i]);
        for (unsigned slot = skiplist_node_count(node); slot-- > 0;)
            visit(skiplist_node_member(node, slot), skiplist_node_score(node, slot), arg);
    }
}
