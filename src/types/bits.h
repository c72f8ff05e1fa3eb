/* bits: strings seen as arrays of bits, for the bit commands. Bit 0 is the highest of byte 0. Pure
 * functions on bytes; none of them needs any alignment. */
#ifndef PACKLIST_TYPES_BITS_H
#define PACKLIST_TYPES_BITS_H

#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The byte of a bit, and the bit alone in it. */
static inline uint64_t bits_byte(uint64_t offset) {
    return offset >> 3;
}

static inline uint8_t bits_mask(uint64_t offset) {
    return (uint8_t)(0x80 >> (offset & 7));
}

/* Is the bit set? Bits behind the end are zero. O(1). */
static inline bool bits_test(struct slice bytes, uint64_t offset) {
    uint64_t byte = bits_byte(offset);
    return byte < bytes.len && ((uint8_t)bytes.ptr[byte] & bits_mask(offset)) != 0;
}

/* Set bits among those from `from` up to but without `to`, both at most 8 × bytes.len. A word at a
 * time, at the speed of memory. */
uint64_t bits_count(struct slice bytes, uint64_t from, uint64_t to);

/* The first bit of this value among those from `from` up to but without `to`, or -1. As fast. */
int64_t bits_find(struct slice bytes, bool value, uint64_t from, uint64_t to);

enum bits_operation { BITS_AND, BITS_OR, BITS_XOR, BITS_NOT };

/* Combines the sources, each as if it had zeros behind its end, into `out`, which has room for
 * `len` bytes, as many as the longest source has, and lies elsewhere or is the first source itself.
 * BITS_NOT takes one source. As fast, and `out` is written to memory once. */
void bits_combine(enum bits_operation operation, uint8_t *out, size_t len,
                  const struct slice *sources, size_t count);

/* --- Integers of 1 to 64 bits (63 when unsigned) that stand anywhere, highest bit first --- */

struct bits_type {
    bool is_signed;
    uint8_t width;
};

/* The integer at `offset`; bits behind the end are zero. Unsigned ones are below 2^63, so that
 * int64_t holds them all. O(1). */
int64_t bits_read(struct slice bytes, uint64_t offset, struct bits_type type);

/* Writes the low bits of `value` there; the bytes must be long enough. O(1). */
void bits_write(uint8_t *bytes, uint64_t offset, struct bits_type type, int64_t value);

enum bits_overflow { BITS_WRAP, BITS_SATURATE, BITS_FAIL };

/* value + increment within the type, to *result. What lies outside is wrapped around, or set to the
 * nearest number there is, or, with BITS_FAIL, makes it return false. bits_fit does the same for a
 * value that is to be set; for unsigned types it is seen as unsigned itself, so that a negative one
 * is too large. */
bool bits_fit(struct bits_type type, enum bits_overflow overflow, int64_t value, int64_t *result);
bool bits_add(struct bits_type type, enum bits_overflow overflow, int64_t value, int64_t increment,
              int64_t *result);

#endif
