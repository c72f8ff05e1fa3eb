/* list: what a list value can do; the only place that knows its encodings.
 *
 *      layout      where the elements are                      OBJECT ENCODING
 *      embedded    a listpack body inside the entry, of at     listpack
 *                  most LIST_EMBEDDED_MAX bytes and 255
 *                  elements
 *      out-of-line one pointer to a quicklist                  listpack while it is one raw node
 *                                                              within the limits;
 *                                                              else quicklist
 *
 * OBJECT ENCODING shows what Redis shows: a list starts as listpack, becomes quicklist when a
 * command would make it exceed list-max-listpack-size, and listpack again when it has one node of
 * at most half the limit, checked after removals and replacements. A quicklist keeps for its nodes
 * the limits with which it became one. Positions: 0-based from the head. types/value.h says what
 * holds for all types. */
#ifndef PACKLIST_TYPES_LIST_H
#define PACKLIST_TYPES_LIST_H

#include "base/slice.h"
#include "ds/lists/quicklist.h"
#include "store/keyspace.h"

/* Bytes of body up to which a list lives inside its entry. */
#ifdef TINY_LIMITS
#define LIST_EMBEDDED_MAX 48
#else
#define LIST_EMBEDDED_MAX 512
#endif

/* Adds a new list with `count` (> 0) elements, pushed at `end` one after another, under `key`,
 * which `ref` looked up and did not find. */
void list_create(struct keyref *ref, struct slice key, enum list_end end,
                 const struct slice *elements, size_t count, const struct quicklist_limits *limits);

/* The same as a new entry that is in no keyspace. In any thread. */
struct entry *list_new(struct slice key, enum list_end end, const struct slice *elements,
                       size_t count, const struct quicklist_limits *limits);

/* Pushes `count` elements one after another. O(bytes pushed); O(LIST_EMBEDDED_MAX) while small. */
void list_push(struct keyref *ref, enum list_end end, const struct slice *elements, size_t count,
               const struct quicklist_limits *limits);

/* A new entry under `key` with a list that no command built: from a body of `count` (> 0) canonical
 * elements, which is copied, O(bytes), or from a quicklist that is not empty, made under `limits`,
 * of which it takes ownership, O(1). A list of one node that is not plain and within the limits
 * becomes a listpack, any other a quicklist. */
struct entry *list_from_body(struct slice key, const uint8_t *first, const uint8_t *end,
                             size_t count, const struct quicklist_limits *limits);
struct entry *list_from_quicklist(struct slice key, struct quicklist *list,
                                  const struct quicklist_limits *limits);

/* O(1). */
uint64_t list_length(const struct entry *entry);

/* The element at one end of a list that is not empty, a view until the list changes. O(1). */
const uint8_t *list_peek(const struct entry *entry, enum list_end end);

/* Removes `count` elements (at most all) from one end. O(1) for one. The list may then be empty:
 * the caller deletes the key. */
void list_drop(struct keyref *ref, enum list_end end, uint64_t count,
               const struct quicklist_limits *limits);

/* Moves the element at the `from` end to the other end. O(element). */
void list_rotate(struct keyref *ref, enum list_end from, const struct quicklist_limits *limits);

/* Replaces the element at `index` (< length). O(log n + node). */
void list_set(struct keyref *ref, uint64_t index, struct slice element,
              const struct quicklist_limits *limits);

/* Inserts before or `after` the element at `index` (< length). At a node's edge the side decides
 * which node takes it, as in Redis. O(log n + node). */
void list_insert(struct keyref *ref, uint64_t index, bool after, struct slice element,
                 const struct quicklist_limits *limits);

/* Keeps [from, from + count), which lies inside the list, and removes the rest; count may be 0.
 * O(nodes removed). */
void list_trim(struct keyref *ref, uint64_t from, uint64_t count,
               const struct quicklist_limits *limits);

/* Removes up to `max` elements equal to `element`, searching in `direction`; returns their number.
 * O(bytes), at memory speed. */
uint64_t list_remove(struct keyref *ref, struct slice element, uint64_t max,
                     enum list_direction direction, const struct quicklist_limits *limits);

/* Places an iterator over a list of either layout, so that the first element read is the one at
 * `index` (< length); ds/lists/quicklist.h says how to read on. The list must not change before
 * quicklist_iter_end, which must be called. O(log n + node). */
void list_iter_start(struct quicklist_iter *iter, const struct entry *entry, uint64_t index,
                     enum list_direction direction);

/* The same for a captured list, in any thread, until the release. */
void list_iter_start_capture(struct quicklist_iter *iter, const struct capture *capture,
                             uint64_t index, enum list_direction direction);

/* The quicklist of an out-of-line list, or NULL when embedded: for DEBUG and saving. */
const struct quicklist *list_quicklist(const struct entry *entry);

/* Returns whether the list is a single listpack (embedded, or one raw node); if so, sets the bounds
 * of its body. O(1). */
bool list_single_body(const struct entry *entry, const uint8_t **first, const uint8_t **end);

#endif
