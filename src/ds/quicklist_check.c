/* quicklist_check: checks the invariants of quicklist_internal.h. */
#include "ds/quicklist_internal.h"

/* An element's type and length, before and behind its text. */
enum { ELEMENT_OVERHEAD_MAX = 5 + 5 };

struct totals {
    uint64_t count;
    size_t serialized;
};

/* Returns whether the node is compressed exactly where it must be. */
static bool compression_check(const struct quicklist *list, const struct quicklist_place *place) {
    size_t depth = list->limits.compress_depth;
    bool inside = depth > 0 && place->index >= depth && place->index + depth < list->nodes;
    bool compressed = place->node->flags & QUICKLIST_NODE_LZF;
    if (place->open != NULL) return !compressed;
    if (list->mixed) return true;
    if (!inside) return !compressed;
    if (compressed) return true;
    struct pieces pieces = pieces_begin(); /* raw though inside: compressing must gain nothing */
    struct quicklist_node node = quicklist_node_copy(place->node, &pieces);
    quicklist_node_compress(&node, &pieces);
    compressed = node.flags & QUICKLIST_NODE_LZF;
    quicklist_node_free(&node, &pieces);
    return !compressed && pieces.bytes == 0;
}

/* What a node that is not plain may take at most. Replacements stretch a node to a multiple of the
 * limit. Elements that inserts add unchecked, after a split, are its first and its last, one each:
 * a further one takes that one's place. Such an element is as large as the plain threshold allows,
 * which may be far above the limit. */
static size_t stretched_size(const struct quicklist *list) {
    size_t largest = list->plain_length + ELEMENT_OVERHEAD_MAX;
    return QUICKLIST_STRETCH * list->size_limit + 2 * largest;
}

static bool node_check(const struct quicklist *list, const struct quicklist_place *place,
                       struct totals *totals) {
    const struct quicklist_node *node = place->node;
    bool valid =
        place->open != NULL ? quicklist_open_check(place->open) : quicklist_node_check(node);
    if (!valid || !compression_check(list, place)) return false;
    totals->count += node->count;
    totals->serialized += quicklist_node_serialized(node);
    if (list->mixed || node->flags & QUICKLIST_NODE_PLAIN) return true;
    return node->count <= list->count_limit && node->size <= stretched_size(list);
}

bool quicklist_check(const struct quicklist *list) {
    struct totals totals = {0};
    struct pieces counted = {0};
    struct piece_counter counter = pieces_counter(&counted);
    if (list->tree.root.nodes != (list->nodes > 2 ? list->nodes - 2 : 0)) return false;
    if (!quicklist_tree_check(&list->tree)) return false;
    if (list->nodes < 1 && list->head.node.buffer != NULL) return false;
    if (list->nodes < 2 && list->tail.node.buffer != NULL) return false;
    if (list->nodes > 0) {
        struct quicklist_place place;
        size_t seen = 0;
        quicklist_place_at(list, 0, &place);
        do {
            if (place.index != seen++ || !node_check(list, &place, &totals)) return false;
        } while (quicklist_place_step(list, &place, LIST_FORWARD));
        if (seen != list->nodes) return false;
    }
    quicklist__pieces((struct quicklist *)list, &counter.visitor); /* which changes nothing */
    return totals.count == list->count && totals.serialized == list->serialized &&
           pieces_are_counted(&list->pieces, &counted);
}
