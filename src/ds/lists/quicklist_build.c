#include "ds/lists/quicklist_build.h"

#include "base/checked.h"
#include "ds/lists/quicklist_place.h"

#include <assert.h>
#include <string.h>

void quicklist_build_start(struct quicklist_builder *builder, struct quicklist_limits limits,
                           size_t expected_nodes) {
    *builder =
        (struct quicklist_builder){.list = quicklist_new(limits), .expected = expected_nodes};
}

/* Number of nodes that were added, including the one not yet in the list. */
static size_t added(const struct quicklist_builder *builder) {
    return builder->list->nodes + builder->has_last;
}

static bool is_deep(const struct quicklist_builder *builder, size_t index) {
    size_t depth = builder->list->limits.compress_depth;
    return depth > 0 && index >= depth && index < builder->expected &&
           builder->expected - index > depth;
}

bool quicklist_build_is_deep(const struct quicklist_builder *builder) {
    return is_deep(builder, added(builder));
}

/* Puts the node added last into the list: the first is the head, others go to the tree, but the
 * last of all is the tail. */
static void place_last(struct quicklist_builder *builder, bool is_end) {
    struct quicklist *list = builder->list;
    struct quicklist_node *node = &builder->last;
    if (!builder->has_last) return;
    list->count += node->count;
    list->serialized += quicklist_node_serialized(node);
    if (list->nodes == 0) {
        quicklist_node_open(&list->head, node, &list->pieces);
    } else if (is_end) {
        quicklist_node_open(&list->tail, node, &list->pieces);
    } else {
        if (is_deep(builder, list->nodes)) quicklist_node_compress(node, &list->pieces);
        quicklist_tree_insert(&list->tree, &list->pieces, list->nodes - 1, *node);
    }
    list->nodes++;
    builder->has_last = false;
}

/* Notes whether a node of this size was made under other limits. */
static void note_size(struct quicklist_builder *builder, size_t size, size_t count) {
    struct quicklist *list = builder->list;
    if (quicklist_exceeds_fill(list->limits.fill, size + LISTPACK_OVERHEAD, count))
        list->mixed = true;
}

static void add(struct quicklist_builder *builder, struct quicklist_node node) {
    place_last(builder, false);
    builder->last = node;
    builder->has_last = true;
}

void quicklist_build_body(struct quicklist_builder *builder, const uint8_t *first,
                          const uint8_t *end, size_t count) {
    struct quicklist *list = builder->list;
    CHECKED_ASSERT(count > 0 && first < end);
    while (count > 0) {
        size_t taken = count <= QUICKLIST_NODE_COUNT_MAX ? count : QUICKLIST_NODE_COUNT_MAX;
        const uint8_t *stop = taken == count ? end : listpack_seek(first, taken);
        size_t size = (size_t)(stop - first);
        struct quicklist_node node;
        memcpy(quicklist_node_init(&node, size, taken, &list->pieces), first, size);
        note_size(builder, size, taken);
        add(builder, node);
        first = stop;
        count -= taken;
    }
}

uint8_t *quicklist_build_room(struct quicklist_builder *builder, size_t size) {
    return quicklist_node_init(&builder->offered, size, 0, &builder->list->pieces);
}

bool quicklist_build_room_used(struct quicklist_builder *builder, size_t count) {
    struct quicklist *list = builder->list;
    struct quicklist_node *node = &builder->offered;
    if (count == 0 || count > QUICKLIST_NODE_COUNT_MAX) {
        quicklist_node_free(node, &list->pieces);
        return false;
    }
    node->count = (uint16_t)count;
    note_size(builder, node->size, count);
    add(builder, *node);
    return true;
}

void quicklist_build_plain(struct quicklist_builder *builder,
                           const struct listpack_element *element) {
    struct quicklist *list = builder->list;
    struct quicklist_open open;
    quicklist_open_init_element(&open, element, true, 0, false, &list->pieces);
    add(builder, quicklist_node_close(&open, &list->pieces));
}

bool quicklist_build_compressed(struct quicklist_builder *builder, struct slice stream, size_t size,
                                size_t count) {
    struct quicklist *list = builder->list;
    struct quicklist_node node;
    assert(quicklist_build_is_deep(builder));
    if (count > QUICKLIST_NODE_COUNT_MAX ||
        !quicklist_node_init_compressed(&node, stream, size, count, &list->pieces))
        return false;
    note_size(builder, size, count);
    add(builder, node);
    return true;
}

struct quicklist *quicklist_build_finish(struct quicklist_builder *builder) {
    struct quicklist *list = builder->list;
    CHECKED_ASSERT(list); /* it was not finished before */
    bool expected = added(builder) == builder->expected;
    place_last(builder, true);
    /* Nodes were compressed, or left raw, for a wrong expected depth. */
    if (!expected) quicklist_nodes_compress_all(list);
    builder->list = NULL;
    return list;
}

void quicklist_build_abort(struct quicklist_builder *builder) {
    builder->expected = added(builder); /* so that no node needs recompressing */
    quicklist_free(quicklist_build_finish(builder));
}

struct quicklist *quicklist_from_body(struct quicklist_limits limits, const uint8_t *first,
                                      const uint8_t *end, size_t count) {
    assert(count > 0);
    struct quicklist_builder builder;
    quicklist_build_start(&builder, limits, 1);
    quicklist_build_body(&builder, first, end, count);
    return quicklist_build_finish(&builder);
}
