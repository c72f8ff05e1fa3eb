/* number: text to numbers and back, exactly as the protocol and the data formats require. */
#ifndef PACKLIST_BASE_TEXT_NUMBER_H
#define PACKLIST_BASE_TEXT_NUMBER_H

#include "base/slice.h"

#include <stdint.h>

/* Longest decimal text of an int64 ("-9223372036854775808"), without terminator. */
enum { INT64_TEXT_MAX = 20 };

/* Longest text that number_format_double writes, with terminator. */
enum { DOUBLE_TEXT_MAX = 40 };

/* Longest text of a long double that is parsed; what number_format_long_double writes is shorter:
 * the largest number has 4933 digits before the point. */
enum { LONG_DOUBLE_TEXT_MAX = 5119 };

/* Parses exactly what number_format_int64 writes: optional '-', no '+', no leading zeros or blanks,
 * no "-0", within int64: the rule by which list elements and strings become integers. Returns
 * false, leaving *value unchanged, for other texts. O(len). */
static inline bool number_parse_int64(struct slice text, int64_t *value);

/* As above for 0 … 2^64-1. */
bool number_parse_uint64(struct slice text, uint64_t *value);

/* Reads a decimal without an exponent, like -12.25, with which `text` begins: the double that
 * strtod reads. Returns how many bytes it takes, or 0 if `text` does not begin with such a number,
 * or if the number has more than 15 digits. O(length). */
size_t number_read_decimal(struct slice text, double *value);

/* Parses a finite or infinite floating-point number: what strtod accepts, the whole of `text`, no
 * leading blanks, no NaN, and neither overflow nor underflow to zero. The text may have any length.
 * O(bytes), without memory of its own. */
bool number_parse_double(struct slice text, double *value);

/* As number_parse_double, but decimal only, and a number that is too large is infinite, one that is
 * too small is 0: bounds of scores. */
bool number_parse_decimal(struct slice text, double *value);

/* As number_parse_double in long double precision, at most LONG_DOUBLE_TEXT_MAX bytes long:
 * timeouts and INCRBYFLOAT. */
bool number_parse_long_double(struct slice text, long double *value);

/* Parses a size with an optional unit in any case: 100, 1k = 1000, 1kb = 1024, m, mb, g, gb, 1b.
 * Not negative, and within 64 bits. Directives such as maxmemory. */
bool number_parse_memory(struct slice text, uint64_t *bytes);

/* Length of the text that number_format_int64 or number_format_uint64 would write. O(1). */
static inline size_t number_uint64_length(uint64_t value);
static inline size_t number_int64_length(int64_t value);

/* Returns whether the texts of both have the same length. Cheapest where they differ by little. */
static inline bool number_int64_same_length(int64_t a, int64_t b);

/* Writes the decimal text (no terminator) at `dst`, which has room for INT64_TEXT_MAX bytes, two
 * digits a step; returns its length. */
static inline size_t number_format_int64(char *dst, int64_t value);
static inline size_t number_format_uint64(char *dst, uint64_t value);

/* The decimal text, written into `buffer`, which has room for INT64_TEXT_MAX bytes. */
static inline struct slice number_text(char *buffer, int64_t value);

/* Writes the shortest text that reads back as `value` (at most 17 significant digits), "inf",
 * "-inf", "nan" or "-0", NUL-terminated, with exponents only where the plain form would be long, as
 * Redis does since 7.2; `dst` has room for DOUBLE_TEXT_MAX bytes; returns its length. */
size_t number_format_double(char *dst, double value);

/* The same, but exponents are used for integers, too: 1e+8. What digests of scores are made of. */
size_t number_format_shortest(char *dst, double value);

/* Writes a finite number in plain form, rounded to 17 places after the point, without zeros at the
 * end; `dst` has room for LONG_DOUBLE_TEXT_MAX bytes; returns the length. The last digits depend on
 * the processor, as Redis's do: long double has 64 bits of precision on x86-64, 113 on arm64. */
size_t number_format_long_double(char *dst, long double value);

/* --- Inline parts --- */

/* "00" … "99", and 0 followed by the powers 10^1 … 10^19. */
extern const char number_digit_pairs[201];
extern const uint64_t number_powers_of_ten[20];

/* number_parse_int64 for a text of 1 … INT64_TEXT_MAX bytes. */
bool number_parse_int64_short(struct slice text, int64_t *value);

static inline bool number_is_digit(char c) {
    return (unsigned char)(c - '0') <= 9;
}

static inline bool number_parse_int64(struct slice text, int64_t *value) {
    if (text.len - 1 >= INT64_TEXT_MAX) return false; /* 0 wraps around */
    if (!number_is_digit(text.ptr[text.len - 1])) return false;
    if (!number_is_digit(text.ptr[0]) && text.ptr[0] != '-') return false;
    return number_parse_int64_short(text, value);
}

static inline size_t number_uint64_length(uint64_t value) {
    /* 1233 / 4096 is just above log10(2): the estimate is right or one too small. */
    unsigned bits = 64 - (unsigned)__builtin_clzl(value | 1);
    unsigned estimate = bits * 1233 >> 12;
    return estimate + (value >= number_powers_of_ten[estimate]);
}

static inline uint64_t number_magnitude(int64_t value) {
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

static inline size_t number_int64_length(int64_t value) {
    return number_uint64_length(number_magnitude(value)) + (value < 0);
}

static inline bool number_int64_same_length(int64_t a, int64_t b) {
    /* The powers of ten from 1000 on are multiples of 8, and 104 is the first one above 100: all
     * numbers between two multiples of 8 have as many digits. */
    if (a >= 104 && (uint64_t)(a ^ b) < 8) return true;
    return number_int64_length(a) == number_int64_length(b);
}

static inline size_t number_format_uint64(char *dst, uint64_t value) {
    size_t len = number_uint64_length(value), at = len;
    while (value >= 100) {
        at -= 2;
        memcpy(dst + at, number_digit_pairs + value % 100 * 2, 2);
        value /= 100;
    }
    if (value >= 10) {
        memcpy(dst, number_digit_pairs + value * 2, 2);
    } else {
        dst[0] = (char)('0' + value);
    }
    return len;
}

static inline size_t number_format_int64(char *dst, int64_t value) {
    *dst = '-';
    return number_format_uint64(dst + (value < 0), number_magnitude(value)) + (value < 0);
}

static inline struct slice number_text(char *buffer, int64_t value) {
    return slice_make(buffer, number_format_int64(buffer, value));
}

#endif
