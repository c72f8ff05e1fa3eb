/* Moving the memory of a skiplist to better places. */
#include "base/checked.h"
#include "base/relocate.h"
#include "ds/skiplist_internal.h"

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
    CHECKED_ASSERT(!list->pieces.capture);
    if (relocate_is_done(cursor)) {
        list = relocate_head(list, relocator);
        cursor->at = 1;
    }
    if (cursor->part == RELOCATE_NODES && relocate_nodes(list, relocator, cursor)) return list;
    cursor->at = skiplist_index_relocate(&list->index, cursor->at, relocator);
    if (cursor->at == 0) *cursor = (struct relocate_cursor){0};
    return list;
}
