/* Finding members by their bytes, ranks and scores, reading them in order, and loading ahead what
 * these read. */
#include "ds/sorted_sets/skiplist_internal.h"

#include "base/checked.h"
#include "base/prefetch.h"

/* --- One member --- */

uint64_t skiplist_hash(struct slice member) {
    return hash_bytes(member);
}

struct skiplist_place skiplist_find(const struct skiplist *list, struct slice member) {
    struct skiplist_place place = {.hash = hash_bytes(member)};
    struct skiplist_probe probe = skiplist_index_probe(&list->index, place.hash);
    uint32_t number;
    while (skiplist_probe_next(&probe, &number)) {
        struct skiplist_node *node = skiplist__node(list, number);
        skiplist__prefetch_node(node);
        if (skiplist_node_find(node, member, place.hash, &place.slot)) {
            place.node = node;
            break;
        }
    }
    return place;
}

double skiplist_score(const struct skiplist_place *place) {
    CHECKED_ASSERT(place->node);
    return skiplist_node_score(place->node, place->slot);
}

uint64_t skiplist_rank(const struct skiplist *list, const struct skiplist_place *place) {
    CHECKED_ASSERT(place->node);
    struct skiplist_path path;
    skiplist__path_to(list, &path, place);
    return path.start + place->slot;
}

/* --- By score --- */

/* The node to which a member with this key belongs, in front of all equal ones or, when `behind`,
 * behind them; NULL in an empty list. *rank gets the number of members before the node. */
static const struct skiplist_node *descend(const struct skiplist *list, uint64_t key, bool behind,
                                           uint64_t *rank) {
    const struct skiplist_link *links = list->head;
    uint64_t before = 0;
    for (int level = list->height; level >= 0; level--) {
        const struct skiplist_link *link = &links[level];
        while (link->next && (link->key < key || (behind && link->key == key))) {
            before += link->span & SKIPLIST_SPAN_MASK;
            links = link->next->links;
            link = &links[level];
        }
    }
    *rank = before;
    if (links == list->head) return list->head[0].next;
    return skiplist__node_of_links((struct skiplist_link *)(uintptr_t)links);
}

uint64_t skiplist_count_below(const struct skiplist *list, double score, bool inclusive) {
    uint64_t key = skiplist_key(score), rank;
    const struct skiplist_node *node = descend(list, key, inclusive, &rank);
    return node ? rank + skiplist_node_seek_key(node, key, inclusive) : 0;
}

bool skiplist_seek_score(const struct skiplist *list, double score,
                         struct skiplist_cursor *cursor) {
    uint64_t key = skiplist_key(score), rank;
    cursor->node = descend(list, key, false, &rank);
    if (!cursor->node) return false;
    cursor->slot = skiplist_node_seek_key(cursor->node, key, false);
    if (cursor->slot < skiplist_node_count(cursor->node)) return true;
    *cursor = (struct skiplist_cursor){cursor->node->links[0].next, 0};
    return cursor->node;
}

bool skiplist_skip_in_node(double score, struct skiplist_cursor *cursor) {
    const struct skiplist_node *node = cursor->node;
    uint64_t key = skiplist_key(score);
    unsigned slot = cursor->slot + 1, count = skiplist_node_count(node);
    CHECKED_ASSERT(skiplist_node_key(node, cursor->slot) < key);
    if (slot < count && skiplist_node_key(node, slot) < key)
        slot = skiplist_node_seek_key(node, key, false);
    if (slot == count) return false;
    cursor->slot = slot;
    return true;
}

uint64_t skiplist_count_below_member(const struct skiplist *list, struct slice member,
                                     bool inclusive) {
    if (list->count == 0) return 0;
    struct skiplist_path path;
    bool found;
    uint64_t key = skiplist_node_key(list->head[0].next, 0);
    skiplist__path_find(list, &path, key, member);
    unsigned slot = skiplist_node_seek(path.node, key, member, &found);
    return path.start + slot + (inclusive && found);
}

/* --- In order --- */

void skiplist_seek(const struct skiplist *list, uint64_t rank, struct skiplist_cursor *cursor) {
    CHECKED_ASSERT(rank < list->count);
    if (rank == 0) {
        *cursor = (struct skiplist_cursor){list->head[0].next, 0};
        prefetch((const char *)cursor->node + SKIPLIST_FIRST_OFFSET_NEAR);
    } else if (rank == list->count - 1) {
        *cursor = (struct skiplist_cursor){list->tail, skiplist_node_count(list->tail) - 1};
    } else {
        struct skiplist_path path;
        skiplist__path_seek(list, &path, rank);
        *cursor = (struct skiplist_cursor){path.node, (unsigned)(rank - path.start)};
    }
}

inline bool skiplist_next_in_node(struct skiplist_cursor *cursor) {
    CHECKED_ASSERT(cursor->node && cursor->slot < skiplist_node_count(cursor->node));
    return ++cursor->slot < skiplist_node_count(cursor->node);
}

inline bool skiplist_next_node(struct skiplist_cursor *cursor) {
    *cursor = (struct skiplist_cursor){cursor->node->links[0].next, 0};
    if (!cursor->node) return false;
    if (cursor->node->links[0].next) prefetch(cursor->node->links[0].next);
    return true;
}

bool skiplist_next(struct skiplist_cursor *cursor) {
    return skiplist_next_in_node(cursor) || skiplist_next_node(cursor);
}

bool skiplist_previous(struct skiplist_cursor *cursor) {
    CHECKED_ASSERT(cursor->node && cursor->slot < skiplist_node_count(cursor->node));
    if (cursor->slot-- > 0) return true;
    cursor->node = cursor->node->prev;
    if (!cursor->node) return false;
    cursor->slot = skiplist_node_count(cursor->node) - 1;
    return true;
}

struct slice skiplist_cursor_member(const struct skiplist_cursor *cursor) {
    return skiplist_node_member(cursor->node, cursor->slot);
}

double skiplist_cursor_score(const struct skiplist_cursor *cursor) {
    return skiplist_node_score(cursor->node, cursor->slot);
}

size_t skiplist_cursor_read(struct skiplist_cursor *cursor, bool forward, struct slice *members,
                            size_t count) {
    CHECKED_ASSERT(cursor->node && count > 0);
    unsigned slot = cursor->slot;
    unsigned there = forward ? skiplist_node_count(cursor->node) - slot : slot + 1;
    unsigned read = count < there ? (unsigned)count : there;
    skiplist_node_members(cursor->node, slot, read, forward, members);
    /* The cursor goes to the last one that was read, and one further. */
    cursor->slot = forward ? slot + read - 1 : slot - (read - 1);
    if (forward)
        skiplist_next(cursor);
    else
        skiplist_previous(cursor);
    return read;
}

/* --- Prefetching --- */

bool skiplist_prefetch_member(const struct skiplist *list, uint64_t hash, const void **at,
                              unsigned step) {
    if (step == 0) {
        skiplist_index_prefetch(&list->index, hash);
        return true;
    }
    if (step == 1) {
        skiplist_index_prefetch_slots(&list->index, hash);
        return true;
    }
    if (step == 2) { /* the first node that the index names for the hash */
        struct skiplist_probe probe = skiplist_index_probe(&list->index, hash);
        uint32_t number;
        if (!skiplist_probe_next(&probe, &number)) return false;
        *at = skiplist__node(list, number);
        skiplist__prefetch_node(*at);
        return true;
    }
    unsigned slot = 0;
    if (skiplist_node_next_tag(*at, (uint8_t)hash, 0xFF, &slot))
        skiplist_node_prefetch_member(*at, slot);
    return false;
}

bool skiplist_prefetch_first(const struct skiplist *list, unsigned step) {
    const struct skiplist_node *node = list->head[0].next;
    if (!node) return false;
    if (step == 0) {
        prefetch(node);
        prefetch((const char *)node + SKIPLIST_FIRST_OFFSET_NEAR);
        return true;
    }
    skiplist_node_prefetch_member(node, 0);
    return false;
}

/* Towers that are this high are so few that they are in the caches. */
enum { CACHED_HEIGHT = 3 };

bool skiplist_prefetch_path(const struct skiplist *list, double score, const void **at,
                            int *level) {
    uint64_t key = skiplist_key(score);
    if (!*at) {
        *at = list->head;
        *level = list->height;
    }
    const struct skiplist_link *links = *at;
    for (; *level >= 0; --*level) {
        while (links[*level].next && links[*level].key < key) {
            const struct skiplist_node *next = links[*level].next;
            *at = links = next->links;
            if (*level >= CACHED_HEIGHT) continue;
            /* A link may lie in two cache lines. The links of lower levels, which are read next,
             * begin in the first line of the node. */
            prefetch(next);
            prefetch(&links[*level].key);
            return true;
        }
    }
    if (links != list->head) skiplist__prefetch_node(skiplist__node_of_links(links));
    return false;
}
