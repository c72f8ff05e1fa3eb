/* digits: decimal text of lengths and integers, for the inner loops of the reply writer; internal
 * to resp/.
 *
 * Eight digits are made at once in one register: a number below 10^8 is split into two of four
 * digits, four of two, eight of one, each step one multiplication over all lanes. No table, no
 * loop, no branch on the number of digits. Stores are eight bytes wide: callers have DIGITS_SLACK
 * writable bytes after what they write. */
#ifndef PACKLIST_RESP_DIGITS_H
#define PACKLIST_RESP_DIGITS_H

#include <stdint.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first digit is the lowest byte");

enum { DIGITS_SLACK = 8, DIGITS_LIMIT = 100000000 };

/* The text of a number below DIGITS_LIMIT, its first digit in the lowest byte. */
struct digits {
    uint64_t text;
    unsigned count;
};

/* All eight digits of `value`, 0 to 9 each, the first in the lowest byte. */
static inline uint64_t digits_split(uint32_t value) {
    uint64_t fours = value / 10000 | (uint64_t)(value % 10000) << 32;
    uint64_t hundreds = (fours * 10486 >> 20) & 0x0000007F0000007Full;
    uint64_t twos = hundreds | (fours - hundreds * 100) << 16;
    uint64_t tens = (twos * 103 >> 10) & 0x000F000F000F000Full;
    return tens | (twos - tens * 10) << 8;
}

static inline struct digits digits_of(uint32_t value) {
    uint64_t all = digits_split(value);
    /* Leading zeros are shifted out; the bit at 56 keeps the last digit of 0. */
    unsigned skip = (unsigned)__builtin_ctzll(all | 1ull << 56) & ~7u;
    return (struct digits){(all | 0x3030303030303030ull) >> skip, 8 - skip / 8};
}

/* Writes the text of `value` < DIGITS_LIMIT; returns the position after it. */
static inline char *digits_write_short(char *out, uint32_t value) {
    struct digits digits = digits_of(value);
    memcpy(out, &digits.text, 8);
    return out + digits.count;
}

/* Writes the text of `value`; returns the position after it. */
static inline char *digits_write(char *out, uint64_t value) {
    unsigned groups = 0;
    uint32_t low[2];
    while (value >= DIGITS_LIMIT) {
        low[groups++] = (uint32_t)(value % DIGITS_LIMIT);
        value /= DIGITS_LIMIT;
    }
    out = digits_write_short(out, (uint32_t)value);
    while (groups > 0) {
        uint64_t all = digits_split(low[--groups]) | 0x3030303030303030ull;
        memcpy(out, &all, 8);
        out += 8;
    }
    return out;
}

/* As above for any sign. */
static inline char *digits_write_signed(char *out, int64_t value) {
    *out = '-';
    out += value < 0;
    return digits_write(out, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

#endif
