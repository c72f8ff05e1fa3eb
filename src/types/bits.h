/* bits: strings as arrays of bits, for the bit commands. Bit 0 is the highest of byte 0. Pure
 * functions on bytes, and on captures of texts; none of them needs any alignment. */
#ifndef PACKLIST_TYPES_BITS_H
#define PACKLIST_TYPES_BITS_H

#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture; /* ds/strings/shared_text.h */

/* The byte that holds a bit, and the mask of the bit in it. */
static inline uint64_t bits_byte(uint64_t offset) {
    return offset >> 3;
}

static inline uint8_t bits_mask(uint64_t offset) {
    return (uint8_t)(0x80 >> (offset & 7));
}

/* Returns whether the bit is set. Bits after the end are zero. O(1). */
static inline bool bits_test(struct slice bytes, uint64_t offset) {
    uint64_t byte = bits_byte(offset);
    return byte < bytes.len && ((uint8_t)bytes.ptr[byte] & bits_mask(offset)) != 0;
}

/* Counts the set bits in [from, to); both are at most 8 × bytes.len. A word at a time, at the speed
 * of memory. */
uint64_t bits_count(struct slice bytes, uint64_t from, uint64_t to);

/* The first bit with this value in [from, to), or -1. At the speed of memory. */
int64_t bits_find(struct slice bytes, bool value, uint64_t from, uint64_t to);

enum bits_operation {
    BITS_AND,
    BITS_OR,
    BITS_XOR,
    BITS_NOT,
    BITS_DIFF,  /* set in the first source, and in no other one */
    BITS_DIFF1, /* not set in the first source, but in another one */
    BITS_ANDOR, /* set in the first source, and in another one */
    BITS_ONE    /* set in exactly one source */
};

/* Returns whether the result does not depend on the order of the sources. O(1). */
static inline bool bits_is_commutative(enum bits_operation operation) {
    return operation < BITS_DIFF || operation == BITS_ONE;
}

/* Combines the sources into `out`, which has room for `len` bytes, the length of the longest
 * source; shorter ones count as followed by zeros. `out` does not overlap the sources, or is the
 * first source itself. BITS_NOT takes one source, BITS_DIFF, BITS_DIFF1 and BITS_ANDOR at least
 * two. At the speed of memory; `out` is written once. */
void bits_combine(enum bits_operation operation, uint8_t *out, size_t len,
                  const struct slice *sources, size_t count);

/* As bits_combine, for another thread: a source that has a capture is read from that, a part at a
 * time, and only the length of its text counts; the others have NULL. */
void bits_combine_captured(enum bits_operation operation, uint8_t *out, size_t len,
                           const struct slice *texts, struct capture *const *captures,
                           size_t count);

/* --- Integers of 1 to 64 bits (63 when unsigned) at any bit offset, highest bit first --- */

struct bits_type {
    bool is_signed;
    uint8_t width;
};

/* The integer at `offset`; bits after the end are zero. Unsigned ones are below 2^63, so that
 * int64_t holds them all. O(1). */
int64_t bits_read(struct slice bytes, uint64_t offset, struct bits_type type);

/* Writes the low bits of `value` at `offset`; the bytes must be long enough. O(1). */
void bits_write(uint8_t *bytes, uint64_t offset, struct bits_type type, int64_t value);

enum bits_overflow { BITS_WRAP, BITS_SATURATE, BITS_FAIL };

/* Sets *result to value + increment within the type. A sum outside its range is wrapped around, set
 * to the nearest number in it, or, with BITS_FAIL, makes it return false. bits_fit does the same
 * for a value that will be set; for unsigned types it reads the value as unsigned, so that a
 * negative one is too large. As in Redis and Valkey, the nearest number is the greatest one for a
 * value that is farther from it than INT64_MAX. */
bool bits_fit(struct bits_type type, enum bits_overflow overflow, int64_t value, int64_t *result);
bool bits_add(struct bits_type type, enum bits_overflow overflow, int64_t value, int64_t increment,
              int64_t *result);

#endif
