/* word_bytes: asks eight bytes at a time, in a word of 64 bits. O(1) each, no branches.
 *
 * As in "Bit Twiddling Hacks" by S. E. Anderson ("Determine if a word has a zero byte", "… has a
 * byte less than n"). A result, or several joined by |, is 0 if no byte is meant; otherwise the
 * lowest set bit belongs to such a byte, those above it may be those of others. So it tells whether
 * there is one and, in a word loaded on a little-endian machine, where the first one is. */
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

/* The `n` bytes at `at`, 0 to 7, as the first ones of a word on a little-endian machine; the others
 * are 0. Reads no byte after them. */
static inline uint64_t word_bytes_load_first(const void *at, unsigned n) {
    const uint8_t *bytes = at;
    if (n >= sizeof(uint32_t)) {
        uint32_t low, high; /* they overlap */
        memcpy(&low, bytes, sizeof(low));
        memcpy(&high, bytes + n - sizeof(high), sizeof(high));
        return low | (uint64_t)high << 8 * (n - sizeof(high));
    }
    if (n == 0) return 0;
    return bytes[0] | (uint64_t)bytes[n / 2] << 8 * (n / 2) | (uint64_t)bytes[n - 1] << 8 * (n - 1);
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

/* The place, 0 to 7, of the first byte that is meant, on a little-endian machine. `found` is a
 * result of the functions above, or several joined by |, and is not 0. */
static inline unsigned word_bytes_place(uint64_t found) {
    return (unsigned)__builtin_ctzll(found) / 8;
}

#endif
