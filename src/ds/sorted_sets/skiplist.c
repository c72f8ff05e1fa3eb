/* Searching and changing. The layout is drawn in ds/sorted_sets/skiplist_internal.h. */
#include "ds/sorted_sets/skiplist_internal.h"

#include "base/checked.h"
#include "base/memory/alloc.h"
#include "base/prefetch.h"

#include <assert.h>

struct skiplist *skiplist_new(void) {
    struct skiplist *list = mem_alloc_zeroed(sizeof(*list));
    list->free_number = SKIPLIST_NO_NUMBER;
    segmented_init(&list->nodes, sizeof(uint64_t), sizeof(uint64_t *));
    skiplist_index_init(&list->index);
    list->pieces = pieces_begin();
    return list;
}

/* Drops a node that was taken out of the list. `next` and `previous` are what stands there now, or,
 * if nothing does, its neighbours. */
static void drop_node(struct skiplist *list, struct skiplist_node *node,
                      const struct skiplist_node *next, const struct skiplist_node *previous) {
    if (__builtin_expect(pieces_are_captured(&list->pieces), 0))
        skiplist__tell_captures(list, node, next, previous);
    pieces_drop(&list->pieces, node->epoch, node, mem_good_size(skiplist_node_size(node)));
}

/* Not inlined: that takes registers from the loops that most removals consist of. */
static __attribute__((noinline)) void drop_long_members(struct skiplist *list,
                                                        const struct skiplist_node *node,
                                                        unsigned from, unsigned to) {
    for (unsigned i = from; i < to; i++) {
        struct skiplist_text *text = skiplist_node_text(node, i);
        if (!text) continue;
        list->long_members--;
        pieces_drop(&list->pieces, text->epoch, text, skiplist_text_size(text));
    }
}

static void drop_texts(struct skiplist *list, const struct skiplist_node *node, unsigned from,
                       unsigned to) {
    if (list->long_members > 0) drop_long_members(list, node, from, to);
}

void skiplist__pieces(struct skiplist *list, const struct piece_visitor *visitor) {
    struct skiplist_node *next;
    for (struct skiplist_node *node = list->head[0].next; node; node = next) {
        next = node->links[0].next;
        if (next) prefetch(next);
        skiplist_node_pieces(node, list->long_members > 0, visitor);
    }
}

void skiplist_free(struct skiplist *list) {
    if (captures_adopt(&list->pieces.captures, list, skiplist_allocated(list))) return;
    struct piece_dropper dropper = pieces_dropper(&list->pieces);
    skiplist__pieces(list, &dropper.visitor);
    segmented_free(&list->nodes);
    skiplist_index_free(&list->index);
    mem_free_sized(list, sizeof(*list));
}

uint64_t skiplist_count(const struct skiplist *list) {
    return list->count;
}

size_t skiplist_allocations(const struct skiplist *list) {
    return 1 + list->pieces.allocations + list->index.buckets.count;
}

size_t skiplist_allocated(const struct skiplist *list) {
    return mem_good_size(sizeof(*list)) + list->pieces.bytes + segmented_allocated(&list->nodes) +
           skiplist_index_allocated(&list->index);
}

/* --- Hashes for the index --- */

bool skiplist__matches(const struct skiplist_node *node, unsigned slot,
                       struct skiplist_hash_pattern pattern, uint64_t *hash) {
    *hash = hash_bytes(skiplist_node_member(node, slot));
    return (*hash & pattern.mask) == pattern.bits;
}

static uint64_t hash_again(const void *owner, uint32_t number, struct skiplist_hash_pattern pattern,
                           unsigned skip) {
    const struct skiplist_node *node = skiplist__node(owner, number);
    uint64_t hash;
    for (unsigned slot = 0;; slot++) {
        bool found =
            skiplist_node_next_tag(node, (uint8_t)pattern.bits, (uint8_t)pattern.mask, &slot);
        assert(found);
        if (found && skiplist__matches(node, slot, pattern, &hash) && skip-- == 0) return hash;
    }
}

static void prefetch_node(const void *owner, uint32_t number) {
    skiplist__prefetch_node(skiplist__node(owner, number));
}

/* How the index computes hashes again. */
static struct skiplist_rehash rehash_by(const struct skiplist *list) {
    return (struct skiplist_rehash){hash_again, prefetch_node, list};
}

/* --- Paths --- */

static uint64_t span_of(const struct skiplist_link *link) {
    return link->span & SKIPLIST_SPAN_MASK;
}

/* The search has come down to `links` at level 0. Before the first node it goes to that one. */
static void path_arrive(const struct skiplist *list, struct skiplist_path *path) {
    struct skiplist_link *links = path->links[0];
    path->start = path->rank[0];
    if (links != list->head) {
        path->node = skiplist__node_of_links(links);
        return;
    }
    struct skiplist_node *first = list->head[0].next;
    path->node = first;
    path->start = 0;
    if (!first) return;
    for (unsigned level = 0; level <= skiplist_node_height(first); level++)
        path->links[level] = first->links;
}

/* To the node to which (key, member) belongs. */
void skiplist__path_find(const struct skiplist *list, struct skiplist_path *path, uint64_t key,
                         struct slice member) {
    struct skiplist_link *links = (struct skiplist_link *)(uintptr_t)list->head;
    uint64_t rank = 0;
    for (int level = list->height; level >= 0; level--) {
        struct skiplist_link *link = &links[level];
        while (link->next &&
               (link->key < key ||
                (link->key == key && skiplist_node_begins_by(link->next, key, member)))) {
            rank += span_of(link);
            links = link->next->links;
            link = &links[level];
        }
        path->links[level] = links;
        path->rank[level] = rank;
    }
    path_arrive(list, path);
}

void skiplist__path_seek(const struct skiplist *list, struct skiplist_path *path, uint64_t wanted) {
    struct skiplist_link *links = (struct skiplist_link *)(uintptr_t)list->head;
    uint64_t rank = 0;
    for (int level = list->height; level >= 0; level--) {
        struct skiplist_link *link = &links[level];
        while (link->next && rank + span_of(link) <= wanted) {
            rank += span_of(link);
            links = link->next->links;
            link = &links[level];
        }
        path->links[level] = links;
        path->rank[level] = rank;
    }
    path_arrive(list, path);
}

void skiplist__links_to(struct skiplist *list, const struct skiplist_path *path,
                        const struct skiplist_node *node, struct skiplist_link **to) {
    int height = (int)skiplist_node_height(node);
    struct skiplist_link *links = height < list->height ? path->links[height + 1] : list->head;
    for (int level = height; level >= 0; level--) {
        while (links[level].next != node) links = links[level].next->links;
        to[level] = &links[level];
    }
}

static void add_to_spans(struct skiplist *list, struct skiplist_path *path, unsigned from_level,
                         uint64_t members) {
    for (unsigned level = from_level; level <= list->height; level++)
        path->links[level][level].span += members; /* may be negative */
}

/* --- Numbers --- */

static uint64_t free_word(uint32_t next, uint32_t previous) {
    return (uint64_t)next << 33 | (uint64_t)previous << 2 | 1;
}

static uint32_t free_next(uint64_t word) {
    return (uint32_t)(word >> 33);
}

static uint32_t free_previous(uint64_t word) {
    return (uint32_t)(word >> 2 & SKIPLIST_NO_NUMBER);
}

static void unlink_number(struct skiplist *list, uint32_t number) {
    uint64_t word = *segmented_word(&list->nodes, number);
    uint32_t next = free_next(word), previous = free_previous(word);
    if (previous == SKIPLIST_NO_NUMBER)
        list->free_number = next;
    else
        *segmented_word(&list->nodes, previous) =
            free_word(next, free_previous(*segmented_word(&list->nodes, previous)));
    if (next != SKIPLIST_NO_NUMBER)
        *segmented_word(&list->nodes, next) =
            free_word(free_next(*segmented_word(&list->nodes, next)), previous);
}

static void number_take(struct skiplist *list, struct skiplist_node *node) {
    uint32_t number = list->free_number;
    if (number != SKIPLIST_NO_NUMBER) {
        unlink_number(list, number);
    } else {
        number = (uint32_t)list->nodes.count;
        assert(number < (uint32_t)1 << SKIPLIST_NUMBER_BITS);
        *(uint64_t *)segmented_push(&list->nodes) = 0;
    }
    *segmented_word(&list->nodes, number) = (uint64_t)(uintptr_t)node;
    node->number = number;
}

/* The hash of each member [from, to) of a node, in portions small enough for the stack. */
enum { HASHES = 64 };

static unsigned hash_some(const struct skiplist *list, const struct skiplist_node *node,
                          unsigned from, unsigned to, uint64_t hashes[HASHES]) {
    unsigned n = to - from < HASHES ? to - from : HASHES;
    for (unsigned i = 0; i < n; i++) {
        hashes[i] = hash_bytes(skiplist_node_member(node, from + i));
        skiplist_index_prefetch(&list->index, hashes[i]);
    }
    for (unsigned i = 0; i < n; i++) skiplist_index_prefetch_slots(&list->index, hashes[i]);
    return n;
}

/* Tells the index that the members [from, to) of the node have another number. */
static void move_members(struct skiplist *list, const struct skiplist_node *node, unsigned from,
                         unsigned to, uint32_t old_number, uint32_t number) {
    uint64_t hashes[HASHES];
    while (from < to) {
        unsigned n = hash_some(list, node, from, to, hashes);
        for (unsigned i = 0; i < n; i++)
            skiplist_index_move(&list->index, hashes[i], old_number, number);
        from += n;
    }
}

/* Takes the last number away: its node gets one that is free. */
static void renumber_last(struct skiplist *list) {
    uint32_t last = (uint32_t)list->nodes.count - 1;
    uint64_t word = *segmented_word(&list->nodes, last);
    if (skiplist__is_free_number(word)) {
        unlink_number(list, last);
    } else {
        struct skiplist_node *node = skiplist__node(list, last);
        number_take(list, node);
        move_members(list, node, 0, skiplist_node_count(node), last, node->number);
    }
    segmented_pop(&list->nodes);
}

static void number_give(struct skiplist *list, uint32_t number) {
    uint32_t next = list->free_number;
    *segmented_word(&list->nodes, number) = free_word(next, SKIPLIST_NO_NUMBER);
    if (next != SKIPLIST_NO_NUMBER)
        *segmented_word(&list->nodes, next) =
            free_word(free_next(*segmented_word(&list->nodes, next)), number);
    list->free_number = number;
}

/* A table of more than twice the numbers in use gives back two of them, for each one that a
 * deletion may have freed. */
static void numbers_shrink(struct skiplist *list) {
    for (int i = 0; i < 2 && list->nodes.count > 2 * list->node_count; i++) renumber_last(list);
}

/* --- Nodes in the list --- */

static unsigned height_of_hash(uint64_t hash) {
    unsigned height = (unsigned)__builtin_clzl(hash | 1) / 2;
    return height < SKIPLIST_LEVELS ? height : SKIPLIST_LEVELS - 1;
}

static void count_node(struct skiplist *list, const struct skiplist_node *node) {
    pieces_count(&list->pieces, mem_good_size(skiplist_node_size(node)));
}

/* Puts `made`, which has all members of `old` that are to stay, into its place. */
static void node_replace(struct skiplist *list, struct skiplist_path *path,
                         struct skiplist_node *old, struct skiplist_node *made) {
    struct skiplist_link *to[SKIPLIST_LEVELS];
    unsigned height = skiplist_node_height(old);
    skiplist__links_to(list, path, old, to);
    made->links[0].next = old->links[0].next;
    made->links[0].key = old->links[0].key;
    for (unsigned level = 1; level <= height; level++) made->links[level] = old->links[level];
    for (unsigned level = 0; level <= height; level++) {
        to[level]->next = made;
        if (path->links[level] == old->links) path->links[level] = made->links;
    }
    made->prev = old->prev;
    made->number = old->number;
    made->epoch = pieces_epoch(&list->pieces);
    *segmented_word(&list->nodes, made->number) = (uint64_t)(uintptr_t)made;
    if (made->links[0].next)
        made->links[0].next->prev = made;
    else
        list->tail = made;
    if (path->node == old) path->node = made;
    count_node(list, made);
    drop_node(list, old, made, made);
}

/* Links a new node after the towers of the path; `rank` members stand before it. */
static void node_link(struct skiplist *list, struct skiplist_path *path, struct skiplist_node *node,
                      uint64_t rank, uint64_t key) {
    unsigned height = skiplist_node_height(node);
    for (; list->height < height; list->height++) {
        unsigned level = list->height + 1u;
        list->head[level] = (struct skiplist_link){.span = list->count};
        path->links[level] = list->head;
        path->rank[level] = 0;
    }
    for (unsigned level = 0; level <= height; level++) {
        struct skiplist_link *link = &path->links[level][level];
        node->links[level].next = link->next;
        node->links[level].key = link->key;
        link->next = node;
        link->key = key;
        if (level == 0) continue;
        node->links[level].span = path->rank[level] + link->span - rank;
        link->span = rank - path->rank[level];
    }
    node->prev = path->links[0] == list->head ? NULL : skiplist__node_of_links(path->links[0]);
    if (node->links[0].next)
        node->links[0].next->prev = node;
    else
        list->tail = node;
    node->epoch = pieces_epoch(&list->pieces);
    number_take(list, node);
    list->node_count++;
    count_node(list, node);
}

/* Takes a node out: the one that the path has come to, or the next one. Its members are gone, or
 * were added to the node before, but are still in its spans. */
static void node_unlink(struct skiplist *list, struct skiplist_path *path,
                        struct skiplist_node *node) {
    struct skiplist_link *to[SKIPLIST_LEVELS];
    unsigned height = skiplist_node_height(node);
    skiplist__links_to(list, path, node, to);
    for (unsigned level = 0; level <= height; level++) {
        to[level]->next = node->links[level].next;
        to[level]->key = node->links[level].key;
        if (level > 0) to[level]->span += node->links[level].span;
    }
    if (node->links[0].next)
        node->links[0].next->prev = node->prev;
    else
        list->tail = node->prev;
    while (list->height > 0 && !list->head[list->height].next) list->height--;
    list->node_count--;
    number_give(list, node->number);
    drop_node(list, node, node->links[0].next, node->prev);
}

/* --- Inserting --- */

/* How large nodes become. */
struct node_limits {
    unsigned members;
    unsigned bytes;
    unsigned inline_max; /* longer members are stored out of line */
};

static const struct node_limits *limits_of(const struct skiplist *list) {
    static const struct node_limits NORMAL = {SKIPLIST_NODE_MEMBERS, SKIPLIST_NODE_BYTES,
                                              SKIPLIST_INLINE_MAX};
    static const struct node_limits LARGE = {SKIPLIST_LARGE_NODE_MEMBERS, SKIPLIST_LARGE_NODE_BYTES,
                                             SKIPLIST_LARGE_INLINE_MAX};
    return list->node_count < SKIPLIST_LARGE_FROM ? &NORMAL : &LARGE;
}

static struct skiplist_range range_all(const struct skiplist_node *node) {
    return (struct skiplist_range){node, 0, skiplist_node_count(node)};
}

/* Returns whether the node may take one more member with a record of `size` bytes. */
static bool node_has_room(const struct skiplist *list, const struct skiplist_node *node,
                          size_t size) {
    const struct node_limits *limits = limits_of(list);
    unsigned count = skiplist_node_count(node);
    size_t records = skiplist_node_size(node) - node->records + size;
    return count == 0 ||
           (count < limits->members &&
            skiplist_node_size_for(0, count + 1, node->width, records) <= limits->bytes);
}

/* A new node without members after the tower of the path, which goes to it then. */
static void add_node(struct skiplist *list, struct skiplist_path *path, uint64_t rank, uint64_t key,
                     uint64_t hash, size_t record) {
    struct skiplist_packing packing = {.base = key};
    struct skiplist_node *node =
        skiplist_node_build(height_of_hash(hash), packing, NULL, 0, record);
    node_link(list, path, node, rank, key);
    path->node = node;
    path->start = rank;
    for (unsigned level = 0; level <= skiplist_node_height(node); level++) {
        path->links[level] = node->links;
        path->rank[level] = rank;
    }
}

/* Divides the node of the path, which goes to the half of `*slot` then. */
static void divide_node(struct skiplist *list, struct skiplist_path *path, unsigned *slot) {
    struct skiplist_node *old = path->node;
    unsigned count = skiplist_node_count(old), middle = count / 2;
    struct skiplist_range left = {old, 0, middle}, right = {old, middle, count};
    struct skiplist_packing left_packing = skiplist_packing_of(&left, 1, NULL);
    struct skiplist_packing right_packing = skiplist_packing_of(&right, 1, NULL);
    unsigned height = height_of_hash(hash_bytes(skiplist_node_member(old, middle)));
    struct skiplist_node *second = skiplist_node_build(height, right_packing, &right, 1, 0);
    struct skiplist_node *first =
        skiplist_node_build(skiplist_node_height(old), left_packing, &left, 1, 0);
    uint64_t rank = path->start + middle;
    node_replace(list, path, old, first);
    node_link(list, path, second, rank, skiplist_node_key(second, 0));
    move_members(list, second, 0, count - middle, first->number, second->number);
    if (*slot <= middle) return;
    *slot -= middle;
    path->node = second;
    path->start = rank;
    for (unsigned level = 0; level <= height; level++) {
        path->links[level] = second->links;
        path->rank[level] = rank;
    }
}

/* Before the first node, which then no longer takes all that is less than its members. */
static void path_to_head(struct skiplist *list, struct skiplist_path *path) {
    uint64_t key = skiplist_node_key(path->node, 0);
    for (unsigned level = 0; level <= list->height; level++) {
        if (level <= skiplist_node_height(path->node)) list->head[level].key = key;
        path->links[level] = list->head;
        path->rank[level] = 0;
    }
}

/* Before the first node and after the last one, full nodes stay full: members that come in order
 * fill their nodes. */
static void make_room(struct skiplist *list, struct skiplist_path *path, unsigned *slot,
                      uint64_t key, uint64_t hash, size_t record) {
    while (!node_has_room(list, path->node, record)) {
        struct skiplist_node *node = path->node;
        if (*slot == 0 && !node->prev) {
            path_to_head(list, path);
            add_node(list, path, 0, key, hash, record);
        } else if (*slot == skiplist_node_count(node) && !node->links[0].next) {
            *slot = 0;
            add_node(list, path, list->count, key, hash, record);
        } else {
            divide_node(list, path, slot);
        }
    }
}

/* Makes the node of the path one into which a record of `size` bytes and this key fit. */
static void make_fit(struct skiplist *list, struct skiplist_path *path, uint64_t key, size_t size) {
    struct skiplist_node *node = path->node;
    struct skiplist_range all = range_all(node);
    unsigned height = skiplist_node_height(node);
    size_t records = skiplist_range_records(&all) + size;
    bool packs = skiplist_node_packs(node, key);
    if (packs && !pieces_is_read(&list->pieces, node->epoch) &&
        skiplist_node_size_for(height, all.to + 1, node->width, records) <=
            skiplist_node_size(node))
        return;
    struct skiplist_packing packing = {node->base, node->width, node->shift};
    if (!packs) packing = skiplist_packing_of(&all, 1, &key);
    node_replace(list, path, node, skiplist_node_build(height, packing, &all, 1, size));
}

static void insert(struct skiplist *list, uint64_t hash, struct slice member, double score) {
    uint64_t key = skiplist_key(score);
    struct skiplist_path path;
    struct skiplist_record record;
    struct skiplist_rehash rehash = rehash_by(list);
    bool found;
    skiplist_index_grow(&list->index, &rehash);
    bool apart = member.len > limits_of(list)->inline_max;
    skiplist_record_prepare(&record, member, apart, &list->pieces);
    list->long_members += record.apart != NULL;
    unsigned slot = 0;
    skiplist__path_find(list, &path, key, member);
    if (path.node)
        slot = skiplist_node_seek(path.node, key, member, &found);
    else
        add_node(list, &path, 0, key, hash, record.size);
    make_room(list, &path, &slot, key, hash, record.size);
    make_fit(list, &path, key, record.size);
    skiplist_index_insert(&list->index, hash, path.node->number);
    skiplist_node_insert(path.node, slot, key, (uint8_t)hash, &record);
    add_to_spans(list, &path, 1, 1);
    list->count++;
    if (slot > 0 || path.node->prev || list->head[0].key <= key) return;
    for (unsigned level = 0; level <= skiplist_node_height(path.node); level++)
        list->head[level].key = key;
}

void skiplist_insert(struct skiplist *list, const struct skiplist_place *place, struct slice member,
                     double score) {
    CHECKED_ASSERT(!place->node && score == score && place->hash == hash_bytes(member));
    insert(list, place->hash, member, score);
}

/* --- Deleting --- */

/* Two nodes that follow each other, and what one with the members of both would be. */
struct merger {
    struct skiplist_range both[2];
    struct skiplist_packing packing;
};

/* Returns whether both together fill a node to three quarters at most. A node is NULL at the end of
 * the list. */
static bool merger_plan(const struct skiplist *list, struct merger *merger,
                        const struct skiplist_node *node, const struct skiplist_node *next) {
    const struct node_limits *limits = limits_of(list);
    if (!node || !next) return false;
    *merger = (struct merger){.both = {range_all(node), range_all(next)}};
    unsigned count = merger->both[0].to + merger->both[1].to;
    size_t records =
        skiplist_range_records(&merger->both[0]) + skiplist_range_records(&merger->both[1]);
    if (4 * count > 3 * limits->members || 4 * records > 3 * limits->bytes) return false;
    merger->packing = skiplist_packing_of(merger->both, 2, NULL);
    unsigned height = skiplist_node_height(node);
    size_t size = skiplist_node_size_for(height, count, merger->packing.width, records);
    return 4 * size <= 3 * limits->bytes;
}

/* Appends the members of the node that follows the path's to it. */
static void merge_with_next(struct skiplist *list, struct skiplist_path *path,
                            const struct merger *merger) {
    struct skiplist_node *node = path->node, *next = node->links[0].next;
    struct skiplist_node *merged =
        skiplist_node_build(skiplist_node_height(node), merger->packing, merger->both, 2, 0);
    move_members(list, next, 0, skiplist_node_count(next), next->number, node->number);
    node_replace(list, path, node, merged);
    node_unlink(list, path, next);
}

/* Makes the node of the path one with the next or the one before, if these fill a node to three
 * quarters at most. The node before counts, too: where members go in ascending order, the next one
 * is full still when its turn comes. */
static bool merge_with_neighbour(struct skiplist *list, struct skiplist_path *path) {
    struct skiplist_node *node = path->node;
    struct merger merger;
    if (merger_plan(list, &merger, node, node->links[0].next)) {
        merge_with_next(list, path, &merger);
        return true;
    }
    if (!merger_plan(list, &merger, node->prev, node)) return false;
    skiplist__path_seek(list, path, path->start - 1);
    merge_with_next(list, path, &merger);
    return true;
}

/* After members were deleted from the node of the path: gives memory back. */
static void settle(struct skiplist *list, struct skiplist_path *path) {
    const struct node_limits *limits = limits_of(list);
    struct skiplist_node *node = path->node;
    unsigned count = skiplist_node_count(node);
    struct skiplist_range all = range_all(node);
    unsigned height = skiplist_node_height(node);
    size_t size = skiplist_node_size_for(height, count, node->width, skiplist_range_records(&all));
    bool is_sparse = count * 4 <= limits->members || size * 4 <= limits->bytes;
    if (is_sparse && merge_with_neighbour(list, path)) return;
    if (mem_good_size(size + size / 8) >= skiplist_node_size(node)) return;
    struct skiplist_packing packing = skiplist_packing_of(&all, 1, NULL);
    node_replace(list, path, node, skiplist_node_build(height, packing, &all, 1, 0));
}

/* Takes members out of the node of the path, which keeps others. The index does not change. */
static void cut_node(struct skiplist *list, struct skiplist_path *path, unsigned from,
                     unsigned to) {
    struct skiplist_node *node = path->node;
    if (to - from == 1 && !pieces_is_read(&list->pieces, node->epoch)) {
        skiplist_node_delete(node, from);
        return;
    }
    struct skiplist_range rest[] = {{node, 0, from}, {node, to, skiplist_node_count(node)}};
    struct skiplist_packing packing = {node->base, node->width, node->shift};
    unsigned height = skiplist_node_height(node);
    node_replace(list, path, node, skiplist_node_build(height, packing, rest, 2, 0));
}

/* Removes the members [from, to) of the node of the path from it. Whether the node itself went. */
static bool remove_members(struct skiplist *list, struct skiplist_path *path, unsigned from,
                           unsigned to, const uint64_t *hash) {
    struct skiplist_node *node = path->node;
    uint64_t hashes[HASHES];
    for (unsigned at = from; at < to;) {
        unsigned n = hash ? 1 : hash_some(list, node, at, to, hashes);
        for (unsigned i = 0; i < n; i++)
            skiplist_index_delete(&list->index, hash ? *hash : hashes[i], node->number);
        at += n;
    }
    drop_texts(list, node, from, to);
    bool whole = to - from == skiplist_node_count(node);
    if (!whole) cut_node(list, path, from, to);
    add_to_spans(list, path, 1, 0 - (uint64_t)(to - from));
    list->count -= to - from;
    if (whole) node_unlink(list, path, node);
    struct skiplist_rehash rehash = rehash_by(list);
    for (unsigned i = from; i < to; i++) skiplist_index_shrink(&list->index, &rehash);
    if (whole) numbers_shrink(list);
    return whole;
}

void skiplist__path_to(const struct skiplist *list, struct skiplist_path *path,
                       const struct skiplist_place *place) {
    skiplist__path_find(list, path, skiplist_node_key(place->node, place->slot),
                        skiplist_node_member(place->node, place->slot));
    assert(path->node == place->node);
}

void skiplist_delete(struct skiplist *list, const struct skiplist_place *place) {
    CHECKED_ASSERT(place->node && list->count > 0);
    struct skiplist_path path;
    skiplist__path_to(list, &path, place);
    if (remove_members(list, &path, place->slot, place->slot + 1, &place->hash)) return;
    settle(list, &path);
    numbers_shrink(list);
}

/* Settles the node of the member with this rank. */
static void settle_at(struct skiplist *list, uint64_t rank) {
    struct skiplist_path path;
    skiplist__path_seek(list, &path, rank);
    settle(list, &path);
}

void skiplist_delete_range(struct skiplist *list, uint64_t from, uint64_t count) {
    CHECKED_ASSERT(from + count <= list->count);
    bool at_end = from == 0 || from + count == list->count;
    struct skiplist_path path;
    while (count > 0) {
        skiplist__path_seek(list, &path, from);
        unsigned slot = (unsigned)(from - path.start), left = skiplist_node_count(path.node) - slot;
        unsigned n = count < left ? (unsigned)count : left;
        remove_members(list, &path, slot, slot + n, NULL);
        count -= n;
    }
    if (at_end) return;
    settle_at(list, from - 1);
    settle_at(list, from);
    numbers_shrink(list);
}

/* --- Updating --- */

/* Returns whether the member stays where it is with this key, among others of its node that differ
 * from it. */
static bool keeps_place(const struct skiplist_node *node, unsigned slot, uint64_t key) {
    bool behind = slot > 0 && skiplist_node_key(node, slot - 1) < key;
    if (slot + 1 == skiplist_node_count(node)) return behind && !node->links[0].next;
    return behind && key < skiplist_node_key(node, slot + 1);
}

void skiplist_update(struct skiplist *list, const struct skiplist_place *place, struct slice member,
                     double score) {
    CHECKED_ASSERT(place->node && score == score);
    CHECKED_ASSERT(slice_equal(skiplist_node_member(place->node, place->slot), member));
    CHECKED_ASSERT(member.len == 0 ||
                   skiplist_node_member(place->node, place->slot).ptr != member.ptr);
    uint64_t key = skiplist_key(score);
    struct skiplist_node *node = place->node;
    unsigned slot = place->slot;
    if (!pieces_is_read(&list->pieces, node->epoch) && keeps_place(node, slot, key) &&
        skiplist_node_packs(node, key)) {
        skiplist_node_set_key(node, slot, key);
        return;
    }
    skiplist_delete(list, place);
    insert(list, place->hash, member, score);
}
