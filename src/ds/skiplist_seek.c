/* Finding members by their scores. */
#include "ds/skiplist_internal.h"

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

bool skiplist_skip_to_score(const struct skiplist *list, double score,
                            struct skiplist_cursor *cursor) {
    const struct skiplist_node *node = cursor->node;
    uint64_t key = skiplist_key(score);
    unsigned slot = cursor->slot + 1, count = skiplist_node_count(node);
    CHECKED_ASSERT(skiplist_node_key(node, cursor->slot) < key);
    if (slot < count && skiplist_node_key(node, slot) < key)
        slot = skiplist_node_seek_key(node, key, false);
    if (slot < count) {
        cursor->slot = slot;
        return true;
    }
    return skiplist_seek_score(list, score, cursor);
}
