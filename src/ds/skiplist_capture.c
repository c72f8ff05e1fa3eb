#include "ds/skiplist_capture.h"

#include "base/alloc.h"
#include "base/checked.h"
#include "ds/leftovers.h"
#include "ds/skiplist_internal.h"

#include <assert.h>
#include <stdlib.h>

struct skiplist_capture {
    struct skiplist *list; /* NULL: it was freed, or the capture was released */
    uint64_t count;        /* members */
    uint64_t *words;       /* those of the table of nodes; once sorted, of nodes alone */
    size_t word_count;
    size_t words_size;
    bool sorted;
    struct leftovers left;
};

struct skiplist_capture *skiplist_capture_begin(struct skiplist *list, size_t *left) {
    assert(list->count > 0 && !list->capture);
    struct skiplist_capture *capture = mem_alloc(sizeof(*capture));
    *capture = (struct skiplist_capture){.list = list,
                                         .count = list->count,
                                         .word_count = list->nodes.count,
                                         .words_size = list->nodes.count * sizeof(uint64_t),
                                         .left = {.bytes_of_all = left}};
    capture->words = mem_alloc(capture->words_size);
    segmented_read(&list->nodes, capture->words);
    list->capture = capture;
    list->epoch++;
    return capture;
}

bool skiplist_is_captured(const struct skiplist *list) {
    return list->capture != NULL;
}

size_t skiplist_capture_allocated(const struct skiplist_capture *capture) {
    return mem_good_size(sizeof(*capture)) + mem_good_size(capture->words_size);
}

uint64_t skiplist_capture_count(const struct skiplist_capture *capture) {
    return capture->count;
}

/* --- What the list drops --- */

static void drop(struct skiplist *list, void *memory, size_t size, uint32_t epoch) {
    list->nodes_bytes -= size;
    if (skiplist__is_shared(list, epoch))
        leftovers_add(&list->capture->left, memory, size);
    else
        mem_free_sized(memory, size);
}

void skiplist__drop_node(struct skiplist *list, struct skiplist_node *node) {
    drop(list, node, mem_good_size(skiplist_node_size(node)), node->epoch);
}

void skiplist__drop_text(struct skiplist *list, struct skiplist_text *text) {
    list->long_members--;
    drop(list, text, skiplist_text_size(text), text->epoch);
}

void skiplist__capture_list_gone(struct skiplist_capture *capture) {
    capture->list = NULL;
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

void skiplist_capture_visit(struct skiplist_capture *capture,
                            void (*visit)(struct slice member, double score, void *arg),
                            void *arg) {
    if (!capture->sorted) sort_nodes(capture);
    for (size_t i = 0; i < capture->word_count; i++) {
        const struct skiplist_node *node = node_of(capture->words[i]);
        for (unsigned slot = skiplist_node_count(node); slot-- > 0;)
            visit(skiplist_node_member(node, slot), skiplist_node_score(node, slot), arg);
    }
}

/* --- The end --- */

size_t skiplist_capture_release(struct skiplist_capture *capture) {
    if (capture->list) capture->list->capture = NULL;
    capture->list = NULL;
    *capture->left.bytes_of_all -= capture->left.bytes;
    return capture->left.bytes;
}

void skiplist_capture_free(struct skiplist_capture *capture) {
    CHECKED_ASSERT(!capture->list);
    leftovers_free(&capture->left);
    mem_free_sized(capture->words, capture->words_size);
    mem_free_sized(capture, sizeof(*capture));
}
