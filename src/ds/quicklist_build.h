/* quicklist_build: a quicklist made node by node, from head to tail, as its nodes come from a file
 * or a payload: each keeps what it is given, whatever the fill. */
#ifndef PACKLIST_DS_QUICKLIST_BUILD_H
#define PACKLIST_DS_QUICKLIST_BUILD_H

#include "ds/quicklist.h"
#include "ds/quicklist_node.h"

/* Lives on the caller's stack. Private. */
struct quicklist_builder {
    struct quicklist *list;
    struct quicklist_node last; /* the node added last: not in the list yet, it may be the tail */
    bool has_last;
    struct quicklist_node offered; /* by quicklist_build_room */
    size_t expected;
};

/* `expected_nodes` tells which nodes lie deep enough to be compressed. When in the end there are
 * more or fewer, the list is still right, but took longer. */
void quicklist_build_start(struct quicklist_builder *builder, struct quicklist_limits limits,
                           size_t expected_nodes);

/* Adds a node with a copy of the body [first, end), `count` (> 0) canonical elements; a body of
 * more than 32768 elements is cut into several. O(bytes). */
void quicklist_build_body(struct quicklist_builder *builder, const uint8_t *first,
                          const uint8_t *end, size_t count);

/* Room for a body of `size` (> 0) bytes, mem_good_size(size) in all, which becomes a node's buffer:
 * what is made there needs not be copied. quicklist_build_room_used must follow, with the number of
 * canonical elements that were made there; or with 0, which takes the room back, adding nothing, as
 * more than 32768 do: then false. O(1). */
uint8_t *quicklist_build_room(struct quicklist_builder *builder, size_t size);
bool quicklist_build_room_used(struct quicklist_builder *builder, size_t count);

/* Adds a plain node: one element that keeps the node to itself. O(bytes). */
void quicklist_build_plain(struct quicklist_builder *builder,
                           const struct listpack_element *element);

/* Will the node that is added next be a compressed one? O(1). */
bool quicklist_build_is_deep(const struct quicklist_builder *builder);

/* Adds a node, which is deep, with a copy of the LZF stream of a body of `size` bytes that
 * quicklist_build_body would accept; false, adding nothing, when the node could not be kept so.
 * O(stream). */
bool quicklist_build_packed(struct quicklist_builder *builder, struct slice stream, size_t size,
                            size_t count);

/* The list, which the caller owns. */
struct quicklist *quicklist_build_finish(struct quicklist_builder *builder);

/* Frees what was made. Not after quicklist_build_finish. */
void quicklist_build_abort(struct quicklist_builder *builder);

#endif
