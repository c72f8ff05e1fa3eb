/* skiplist_prefetch: starts loading what a request that runs soon reads of a list. */
#include "base/prefetch.h"
#include "ds/skiplist_internal.h"

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
