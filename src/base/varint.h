/* varint: numbers of 1 to 10 bytes: seven bits a byte, the lowest first; all bytes but the last
 * have the top bit set. */
#ifndef PACKLIST_BASE_VARINT_H
#define PACKLIST_BASE_VARINT_H

#include <stddef.h>
#include <stdint.h>

enum { VARINT_MAX = 10 };

static inline size_t varint_size(uint64_t value) {
    size_t size = 1;
    while (value >= 0x80) value >>= 7, size++;
    return size;
}

/* Writes the value at `at`; returns the address after its last byte. */
static inline uint8_t *varint_write(uint8_t *at, uint64_t value) {
    while (value >= 0x80) {
        *at++ = (uint8_t)value | 0x80;
        value >>= 7;
    }
    *at++ = (uint8_t)value;
    return at;
}

/* Returns the value at *at, and moves *at to the byte after it. The bytes are trusted. */
static inline uint64_t varint_read(const uint8_t **at) {
    const uint8_t *p = *at;
    uint64_t value = *p & 0x7F;
    for (unsigned shift = 7; __builtin_expect(*p & 0x80, 0); shift += 7)
        value |= (uint64_t)(*++p & 0x7F) << shift;
    *at = p + 1;
    return value;
}

#endif
