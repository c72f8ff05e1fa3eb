/* word_bytes: asks eight bytes at a time, in a word of 64 bits. O(1) each, no branches.
 *
 * As in "Bit Twiddling Hacks" by S. E. Anderson ("Determine if a word has a zero byte", "… has a
 * byte less than n"). A result that is 0 says for sure that no byte is meant. In one that is not,
 * the lowest set bit belongs to such a byte; those above it may be those of other bytes. So only
 * "any?" may be asked of it where the byte order is not known. */
#ifndef PACKLIST_BASE_WORD_BYTES_H
#define PACKLIST_BASE_WORD_BYTES_H

#include <stdint.h>
#include <string.h>

/* The word with the same byte, 0 to 255, in all eight places. */
#define WORD_BYTES_ALL(byte) (0x0101010101010101ull * (byte))

/* The eight bytes at `at`, which need not be aligned, in the machine's order. */
static inline uint64_t word_bytes_load(const void *at) {
    uint64_t word;
    memcpy(&word, at, sizeof(word));
    return word;
}

/* A mask of the first `n` bytes, 0 to 7, of a word that was loaded on a little-endian machine. */
static inline uint64_t word_bytes_first(unsigned n) {
    return ~(~0ull << 8 * n);
}

/* The top bit of bytes that are 0. */
static inline uint64_t word_bytes_zero(uint64_t word) {
    return (word - WORD_BYTES_ALL(1)) & ~word & WORD_BYTES_ALL(0x80);
}

/* The top bit of bytes that are `byte`. */
static inline uint64_t word_bytes_equal(uint64_t word, uint8_t byte) {
    return word_bytes_zero(word ^ WORD_BYTES_ALL(byte));
}

/* The top bit of bytes below `limit`, which is at most 128. */
static inline uint64_t word_bytes_below(uint64_t word, uint8_t limit) {
    return (word - WORD_BYTES_ALL(limit)) & ~word & WORD_BYTES_ALL(0x80);
}

#endif
