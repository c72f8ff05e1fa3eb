/* list: what a list value can do; the only place that knows its encodings.
 *
 *      layout      where the elements are                                   OBJECT ENCODING
 *      embedded    a listpack body inside the entry, up to a few hundred    listpack
 *                  bytes: [body size 2][count 1] body
 *      hanging     one pointer to a quicklist                               listpack while its only
 * node is within the limits and it did not outgrow them; else quicklist
 *
 * Which encoding OBJECT ENCODING shows follows Redis: a list starts as listpack, becomes quicklist
 * when a push would pass list-max-listpack-size, and listpack again when it has one node of at most
 * half the limit, checked after removals.
 *
 * Functions that may move the entry take the keyref. Positions: 0-based from the head. A list in
 * the keyspace is never empty: who empties one deletes the key. */
#ifndef PACKLIST_TYPES_LIST_H
#define PACKLIST_TYPES_LIST_H

#include "base/sds.h"
#include "ds/quicklist.h"
#include "store/keyspace.h"

/* Bytes of body up to which a list lives inside its entry. */
#define LIST_EMBEDDED_MAX 512

/* Adds a new list with `count` (> 0) elements, pushed at `end` one after another, under the key
 * that `ref` looked up and did not find. */
void list_create(struct keyref *ref, enum list_end end, const struct slice *elements, size_t count,
                 const struct quicklist_limits *limits);

/* Pushes `count` elements one after another. O(count). */
void list_push(struct keyref *ref, enum list_end end, const struct slice *elements, size_t count,
               const struct quicklist_limits *limits);

uint64_t list_length(const struct entry *entry);

/* The element at one end, a view until the list changes. O(1). */
const uint8_t *list_peek(const struct entry *entry, enum list_end end);

/* Removes `count` elements (at most all) from one end. O(1) for one. The list may be empty after
 * it: the caller then deletes the key. May convert the encoding back to listpack. */
void list_drop(struct keyref *ref, enum list_end end, uint64_t count);

/* Replaces / inserts before position `index` (< length; insert: <= length). */
void list_set(struct keyref *ref, uint64_t index, struct slice element,
              const struct quicklist_limits *limits);
void list_insert(struct keyref *ref, uint64_t index, struct slice element,
                 const struct quicklist_limits *limits);

/* Keeps [from, from + count) and removes the rest; count may be 0. */
void list_trim(struct keyref *ref, uint64_t from, uint64_t count);

/* Removes up to `max` elements equal to `element` from `direction`'s beginning on; returns how
 * many. */
uint64_t list_remove(struct keyref *ref, struct slice element, uint64_t max,
                     enum list_direction direction);

/* Reading in order, over either layout, on the caller's stack; list_iter_end must be called; the
 * list must not change meanwhile. Elements and runs are views. */
struct list_iter {
    struct quicklist_iter chunks; /* hanging layout */
    const uint8_t *first;         /* embedded layout: the body */
    const uint8_t *end;
    const uint8_t *at;
    uint64_t index;
    uint64_t remaining;
    enum list_direction direction;
    bool embedded;
};
void list_iter_start(struct list_iter *iter, const struct entry *entry, uint64_t index,
                     enum list_direction direction);
void list_iter_end(struct list_iter *iter);
const uint8_t *list_iter_next(struct list_iter *iter);
bool list_iter_run(struct list_iter *iter, struct quicklist_run *run);

/* Next element equal to `needle` among the next `max`; its position in *index. */
bool list_iter_find(struct list_iter *iter, const struct listpack_element *needle, uint64_t max,
                    uint64_t *index);

/* "listpack" or "quicklist". */
const char *list_encoding_name(const struct entry *entry);

/* Bytes of the value's own layout inside the entry, and of what hangs off it. O(1). */
size_t list_value_size(const struct entry *entry);
size_t list_allocated(const struct entry *entry);

/* Frees what hangs off the entry (not the entry). O(nodes). */
void list_free_value(struct entry *entry);

/* The quicklist of a hanging list, or NULL when embedded: for DEBUG and saving. */
const struct quicklist *list_quicklist(const struct entry *entry);

/* The body of a list that is a single listpack (embedded, or one raw node): true, and where. */
bool list_single_body(const struct entry *entry, const uint8_t **first, const uint8_t **end);

bool list_check(const struct entry *entry);

#endif
