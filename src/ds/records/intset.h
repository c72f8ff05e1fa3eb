/* intset: a set of integers, sorted, in one buffer, laid out as in RDB files (RDB_SET_INTSET):
 *
 *      [width 4 LE][count 4 LE] integer … (width bytes each, LE)
 *
 * All integers have the same width, 2, 4 or 8. It grows when an integer needs more, and never
 * shrinks; in a set from a file it may be larger than any integer needs. The caller owns the buffer
 * and gives it its size; it needs no alignment. Source: files of Redis 2.2 and later. */
#ifndef PACKLIST_DS_RECORDS_INTSET_H
#define PACKLIST_DS_RECORDS_INTSET_H

#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INTSET_HEADER_SIZE = 8 };

/* Writes an empty set: INTSET_HEADER_SIZE bytes. */
void intset_init(uint8_t *set);

/* Integers; bytes of the whole set. O(1). */
size_t intset_count(const uint8_t *set);
size_t intset_size(const uint8_t *set);

/* The integer at `index` (< count), counted from the least one. O(1). */
int64_t intset_get(const uint8_t *set, size_t index);

/* Returns whether the integer is in the set; *index gets its place, or where it would have to be
 * inserted. O(log n). */
bool intset_find(const uint8_t *set, int64_t value, size_t *index);

/* Bytes that the set will have with this integer in it, which it has not yet. O(1). */
size_t intset_size_with(const uint8_t *set, int64_t value);

/* Inserts the integer at the place that intset_find gave, in a buffer of intset_size_with bytes.
 * O(n). */
void intset_insert(uint8_t *set, size_t index, int64_t value);

/* Deletes the integer at `index`; its bytes at the end of the buffer are free then. O(n). */
void intset_delete(uint8_t *set, size_t index);

/* For removing many in one pass, from the greatest down. intset_keep moves the integer at `from` to
 * `to` (>= from), over what was there. Then intset_keep_last makes the last `count` integers the
 * whole set; until then it is out of order. O(1); O(count). */
void intset_keep(uint8_t *set, size_t to, size_t from);
void intset_keep_last(uint8_t *set, size_t count);

/* Returns whether the untrusted bytes are a set that is not empty. Checks all: width, count, order.
 * O(n). */
bool intset_validate(struct slice bytes);

#endif
