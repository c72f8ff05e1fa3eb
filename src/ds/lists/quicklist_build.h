/* quicklist_build: makes a quicklist node by node, from head to tail, as its nodes come from a file
 * or a payload: each node keeps the elements it is given, whatever the fill. */
#ifndef PACKLIST_DS_LISTS_QUICKLIST_BUILD_H
#define PACKLIST_DS_LISTS_QUICKLIST_BUILD_H

#include "ds/lists/quicklist.h"
#include "ds/lists/quicklist_node.h"

/* Lives on the caller's stack. Private. */
struct quicklist_builder {
    struct quicklist *list;
    struct quicklist_node last; /* the node added last: not in the list yet, it may be the tail */
    bool has_last;
    struct quicklist_node offered; /* by quicklist_build_room */
    size_t expected;
};

/* Starts an empty list. `expected_nodes` decides which nodes are compressed. If the real number
 * differs, the list is still right, but takes longer to finish. */
void quicklist_build_start(struct quicklist_builder *builder, struct quicklist_limits limits,
                           size_t expected_nodes);

/* Adds a node with a copy of the body [first, end), `count` (> 0) canonical elements; a body of
 * more than 32768 elements is cut into several. O(bytes). */
void quicklist_build_body(struct quicklist_builder *builder, const uint8_t *first,
                          const uint8_t *end, size_t count);

/* Returns room for a body of `size` (> 0) bytes, mem_good_size(size) in all. It becomes a node's
 * buffer, so a body written there is not copied. quicklist_build_room_used must follow, with the
 * number of canonical elements written; with 0, or with more than 32768, it frees the room, adds
 * nothing and returns false. O(1). */
uint8_t *quicklist_build_room(struct quicklist_builder *builder, size_t size);
bool quicklist_build_room_used(struct quicklist_builder *builder, size_t count);

/* Adds a plain node: one element with a node of its own. O(bytes). */
void quicklist_build_plain(struct quicklist_builder *builder,
                           const struct listpack_element *element);

/* Returns whether the node that is added next will be compressed. O(1). */
bool quicklist_build_is_deep(const struct quicklist_builder *builder);

/* Adds a compressed node (quicklist_build_is_deep must be true) with a copy of the LZF stream of a
 * body of `size` bytes that quicklist_build_body would accept. False, adding nothing, when the node
 * cannot be kept compressed. O(stream). */
bool quicklist_build_compressed(struct quicklist_builder *builder, struct slice stream, size_t size,
                                size_t count);

/* Returns the list, which the caller owns. */
struct quicklist *quicklist_build_finish(struct quicklist_builder *builder);

/* Frees all that was built. Not after quicklist_build_finish. */
void quicklist_build_abort(struct quicklist_builder *builder);

/* A list of one node that holds a copy of the body [first, end) with `count` elements (> 0); of
 * several when they are more than 32768. */
struct quicklist *quicklist_from_body(struct quicklist_limits limits, const uint8_t *first,
                                      const uint8_t *end, size_t count);

#endif
