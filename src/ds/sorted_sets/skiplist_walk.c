/* Going through all of a skiplist: scanning, copying, relocating, checking. */
#include "base/checked.h"
#include "base/memory/alloc.h"
#include "base/memory/relocate.h"
#include "ds/sorted_sets/skiplist_internal.h"

/* --- Scanning --- */

struct scan {
    const struct skiplist *list;
    void (*visit)(struct slice member, double score, void *arg);
    void *arg;
};

/* The members of the node whose hashes belong to the bucket. */
static void scan_node(uint32_t number, struct skiplist_hash_pattern pattern, void *arg) {
    const struct scan *scan = arg;
    const struct skiplist_node *node = skiplist__node(scan->list, number);
    uint64_t hash;
    for (unsigned slot = 0;
         skiplist_node_next_tag(node, (uint8_t)pattern.bits, (uint8_t)pattern.mask, &slot);
         slot++) {
        if (skiplist__matches(node, slot, pattern, &hash))
            scan->visit(skiplist_node_member(node, slot), skiplist_node_score(node, slot),
                        scan->arg);
    }
}

uint64_t skiplist_scan(const struct skiplist *list, uint64_t cursor,
                       void (*visit)(struct slice member, double score, void *arg), void *arg) {
    struct scan scan = {list, visit, arg};
    return skiplist_index_scan(&list->index, cursor, scan_node, &scan);
}

/* --- Copying --- */

/* The numbers stay, and with them the index. */
struct skiplist *skiplist_copy(const struct skiplist *list) {
    struct skiplist *copy = skiplist_new();
    struct skiplist_link *last[SKIPLIST_LEVELS];
    struct piece_copier copier = pieces_copier(&copy->pieces);
    copy->pieces = pieces_begin_copy(&list->pieces);
    copy->count = list->count;
    copy->node_count = list->node_count;
    copy->long_members = list->long_members;
    copy->height = list->height;
    copy->free_number = list->free_number;
    for (size_t i = 0; i < list->nodes.count; i++)
        *(uint64_t *)segmented_push(&copy->nodes) = *segmented_word(&list->nodes, i);
    skiplist_index_copy(&copy->index, &list->index);
    for (unsigned level = 0; level < SKIPLIST_LEVELS; level++) {
        copy->head[level] = list->head[level];
        last[level] = &copy->head[level];
    }
    for (struct skiplist_node *node = list->head[0].next; node; node = node->links[0].next) {
        struct skiplist_node *made =
            skiplist_node_pieces(node, list->long_members > 0, &copier.visitor);
        *segmented_word(&copy->nodes, made->number) = (uint64_t)(uintptr_t)made;
        for (unsigned level = 0; level <= skiplist_node_height(node); level++) {
            last[level]->next = made;
            last[level] = &made->links[level];
        }
        made->prev = copy->tail;
        copy->tail = made;
    }
    return copy;
}

/* --- Relocating --- */

/* Moves the node of the path to a better place, with its long members. */
static void node_relocate(struct skiplist *list, const struct skiplist_path *path,
                          const struct piece_visitor *visitor) {
    struct skiplist_link *to[SKIPLIST_LEVELS];
    skiplist__links_to(list, path, path->node, to);
    struct skiplist_node *node = skiplist_node_pieces(path->node, list->long_members > 0, visitor);
    for (unsigned level = 0; level <= skiplist_node_height(node); level++) to[level]->next = node;
    *segmented_word(&list->nodes, node->number) = (uint64_t)(uintptr_t)node;
    if (node->links[0].next)
        node->links[0].next->prev = node;
    else
        list->tail = node;
}

enum { RELOCATE_NODES, RELOCATE_INDEX }; /* parts; at: 1 + the rank of a member; a bucket */

static struct skiplist *relocate_head(struct skiplist *list, struct relocator *relocator) {
    list = relocate(relocator, list, sizeof(*list));
    segmented_follow(&list->nodes);
    segmented_follow(&list->index.buckets);
    segmented_relocate(&list->nodes, relocator);
    segmented_relocate(&list->index.buckets, relocator);
    return list;
}

/* Returns whether the step is due. */
static bool relocate_nodes(struct skiplist *list, struct relocator *relocator,
                           struct relocate_cursor *cursor) {
    struct skiplist_path path;
    struct piece_relocator pieces = pieces_relocator(relocator);
    while (cursor->at - 1 < list->count) {
        skiplist__path_seek(list, &path, cursor->at - 1);
        cursor->at = 1 + path.start + skiplist_node_count(path.node);
        node_relocate(list, &path, &pieces.visitor);
        if (relocator_is_due(relocator)) return true;
    }
    *cursor = (struct relocate_cursor){.part = RELOCATE_INDEX};
    return false;
}

struct skiplist *skiplist_relocate(struct skiplist *list, struct relocator *relocator,
                                   struct relocate_cursor *cursor) {
    CHECKED_ASSERT(!pieces_are_captured(&list->pieces));
    if (relocate_is_done(cursor)) {
        list = relocate_head(list, relocator);
        cursor->at = 1;
    }
    if (cursor->part == RELOCATE_NODES && relocate_nodes(list, relocator, cursor)) return list;
    cursor->at = skiplist_index_relocate(&list->index, cursor->at, relocator);
    if (cursor->at == 0) *cursor = (struct relocate_cursor){0};
    return list;
}

/* --- Checking --- */

/* Returns whether the index finds each member of the node under the node's number. */
static bool check_members(const struct skiplist *list, const struct skiplist_node *node,
                          size_t *texts) {
    for (unsigned i = 0; i < skiplist_node_count(node); i++) {
        struct slice member = skiplist_node_member(node, i);
        struct skiplist_place place = skiplist_find(list, member);
        if (place.node != node || place.slot != i) return false;
        *texts += skiplist_node_text(node, i) != NULL;
    }
    return true;
}

/* The keys of links grow, and are at most what they lead to and at least what is before. */
static bool check_order(const struct skiplist *list, const struct skiplist_node *node,
                        uint64_t separator) {
    uint64_t first = skiplist_node_key(node, 0);
    const struct skiplist_node *prev = node->prev;
    if (!prev) return node == list->head[0].next && separator <= first;
    unsigned last = skiplist_node_count(prev) - 1;
    return prev->links[0].next == node && separator <= first &&
           skiplist_node_key(prev, last) <= separator &&
           !skiplist_node_begins_by(node, skiplist_node_key(prev, last),
                                    skiplist_node_member(prev, last));
}

/* The towers of one level: spans, and the keys of level 0. */
static bool check_level(const struct skiplist *list, unsigned level, const uint64_t *ranks,
                        const uint64_t *separators) {
    const struct skiplist_link *link = &list->head[level];
    uint64_t rank = 0;
    for (; link->next; link = &link->next->links[level]) {
        rank += link->span & SKIPLIST_SPAN_MASK;
        if (skiplist_node_height(link->next) < level) return false;
        if (ranks[link->next->number] != rank) return false;
        if (separators[link->next->number] != link->key) return false;
    }
    return rank + (link->span & SKIPLIST_SPAN_MASK) == list->count;
}

static bool check_numbers(const struct skiplist *list) {
    size_t free = 0, nodes = list->nodes.count;
    for (size_t i = 0; i < nodes; i++)
        free += skiplist__is_free_number(*segmented_word(&list->nodes, i));
    size_t linked = 0;
    for (uint32_t i = list->free_number; i != SKIPLIST_NO_NUMBER; linked++) {
        if (i >= nodes || linked > free) return false;
        i = (uint32_t)(*segmented_word(&list->nodes, i) >> 33);
    }
    return linked == free && nodes - free == list->node_count;
}

static bool check_nodes(const struct skiplist *list, uint64_t *ranks, uint64_t *separators) {
    uint64_t rank = 0, separator = list->head[0].key;
    size_t texts = 0, nodes = 0;
    struct pieces totals = {0};
    struct piece_counter counter = pieces_counter(&totals);
    const struct skiplist_node *last = NULL;
    for (struct skiplist_node *node = list->head[0].next; node; node = node->links[0].next) {
        if (!skiplist_node_check(node) || !check_order(list, node, separator)) return false;
        if (node->number >= list->nodes.count || skiplist__node(list, node->number) != node)
            return false;
        if (!check_members(list, node, &texts)) return false;
        ranks[node->number] = rank;
        separators[node->number] = separator;
        rank += skiplist_node_count(node);
        skiplist_node_pieces(node, true, &counter.visitor);
        separator = node->links[0].key;
        last = node;
        nodes++;
    }
    return last == list->tail && rank == list->count && rank == list->index.count &&
           nodes == list->node_count && texts == list->long_members &&
           pieces_are_counted(&list->pieces, &totals);
}

bool skiplist_check(const struct skiplist *list) {
    if (!check_numbers(list) || !skiplist_index_check(&list->index)) return false;
    uint64_t *ranks = mem_alloc(2 * (list->nodes.count + 1) * sizeof(*ranks));
    uint64_t *separators = ranks + list->nodes.count;
    bool good = check_nodes(list, ranks, separators);
    for (unsigned level = 0; good && level <= list->height; level++)
        good = check_level(list, level, ranks, separators);
    mem_free(ranks);
    return good;
}
