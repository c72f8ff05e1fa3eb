#include "base/text/number.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char number_digit_pairs[201] = "00010203040506070809101112131415161718192021222324"
                                     "25262728293031323334353637383940414243444546474849"
                                     "50515253545556575859606162636465666768697071727374"
                                     "75767778798081828384858687888990919293949596979899";

const uint64_t number_powers_of_ten[20] = {0,    1e1,  1e2,  1e3,  1e4,  1e5,  1e6,
                                           1e7,  1e8,  1e9,  1e10, 1e11, 1e12, 1e13,
                                           1e14, 1e15, 1e16, 1e17, 1e18, 1e19};

/* --- Integers --- */

/* The value of a decimal digit; more than 9 for any other character. */
static inline unsigned digit_value(char c) {
    return (unsigned)(unsigned char)c - '0';
}

/* Canonical digits, at least one. Nineteen of them can't overflow; the twentieth is checked. */
static bool parse_digits(const char *at, const char *end, uint64_t *value) {
    enum { SAFE_DIGITS = 19 };
    size_t len = (size_t)(end - at);
    if (len == 0 || len > SAFE_DIGITS + 1) return false;
    if (at[0] == '0' && len > 1) return false;
    const char *safe_end = len > SAFE_DIGITS ? at + SAFE_DIGITS : end;
    uint64_t sum = 0;
    for (; at < safe_end; at++) {
        unsigned digit = digit_value(*at);
        if (digit > 9) return false;
        sum = sum * 10 + digit;
    }
    if (at < end) {
        unsigned digit = digit_value(*at);
        if (digit > 9) return false;
        if (__builtin_mul_overflow(sum, 10, &sum)) return false;
        if (__builtin_add_overflow(sum, digit, &sum)) return false;
    }
    *value = sum;
    return true;
}

bool number_parse_uint64(struct slice text, uint64_t *value) {
    return parse_digits(text.ptr, slice_end(text), value);
}

bool number_parse_int64_short(struct slice text, int64_t *value) {
    bool negative = text.ptr[0] == '-';
    uint64_t magnitude;
    if (!parse_digits(text.ptr + negative, text.ptr + text.len, &magnitude)) return false;
    if (negative && magnitude == 0) return false;
    if (magnitude > (uint64_t)INT64_MAX + negative) return false;
    *value = (int64_t)(negative ? 0 - magnitude : magnitude);
    return true;
}

bool number_parse_memory(struct slice text, uint64_t *bytes) {
    static const struct {
        const char *unit;
        uint64_t factor;
    } units[] = {
        {"", 1},        {"b", 1},          {"k", 1000},       {"kb", 1UL << 10},
        {"m", 1000000}, {"mb", 1UL << 20}, {"g", 1000000000}, {"gb", 1UL << 30},
    };
    if (text.len == 0) return false;
    size_t digits = 0;
    while (digits < text.len && number_is_digit(text.ptr[digits])) digits++;
    /* Leading zeros are harmless here. */
    size_t zeros = 0;
    while (zeros + 1 < digits && text.ptr[zeros] == '0') zeros++;
    uint64_t count;
    if (!parse_digits(text.ptr + zeros, text.ptr + digits, &count)) return false;
    struct slice unit = slice_make(text.ptr + digits, text.len - digits);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (!slice_is(unit, units[i].unit)) continue;
        uint64_t product;
        if (__builtin_mul_overflow(count, units[i].factor, &product)) return false;
        *bytes = product;
        return true;
    }
    return false;
}

/* --- Floating point --- */

/* All are exact. */
static const double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* Reads digits from `at` on, as more digits of *integer. Returns their end. */
static const char *read_integer(const char *at, const char *end, uint64_t *integer) {
    for (; at < end && number_is_digit(*at); at++) *integer = *integer * 10 + (uint64_t)(*at - '0');
    return at;
}

/* Integers of so many digits are exact as doubles. */
enum { EXACT_DIGITS = 15 };

size_t number_read_decimal(struct slice text, double *value) {
    const char *end = slice_end(text), *digits = text.ptr;
    if (digits < end && *digits == '-') digits++;
    uint64_t integer = 0;
    const char *at = read_integer(digits, end, &integer);
    ptrdiff_t count = at - digits, places = 0;
    if (count == 0) return 0;
    if (at < end && *at == '.') {
        const char *fraction = at + 1;
        at = read_integer(fraction, end, &integer);
        places = at - fraction;
    }
    if (count + places > EXACT_DIGITS) return 0;
    if (at < end && (ascii_lower(*at) == 'e' || ascii_lower(*at) == 'x')) return 0;
    /* All digits without the point are an integer below 10^15. It and the power of ten are exact,
     * so their quotient is rounded once, which is what strtod gives. */
    double magnitude = (double)integer;
    if (places != 0) magnitude /= powers_of_ten[places];
    *value = text.ptr[0] == '-' ? -magnitude : magnitude;
    return (size_t)(at - text.ptr);
}

/* Returns whether a text is not empty and does not begin with a blank, which strtod would skip. */
static bool is_begun(struct slice text) {
    if (text.len == 0) return false;
    return text.ptr[0] != ' ' && (text.ptr[0] < '\t' || text.ptr[0] > '\r');
}

/* strtod needs a terminator. */
static void copy_terminated(struct slice text, char *copy) {
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
}

bool number_parse_long_double(struct slice text, long double *value) {
    char copy[LONG_DOUBLE_TEXT_MAX + 1], *end;
    if (!is_begun(text) || text.len > LONG_DOUBLE_TEXT_MAX) return false;
    copy_terminated(text, copy);
    errno = 0;
    long double parsed = strtold(copy, &end);
    if (end != copy + text.len || isnan(parsed)) return false;
    if (errno == ERANGE && (isinf(parsed) || parsed == 0)) return false;
    *value = parsed;
    return true;
}

/* Digits that can decide which double a text stands for. The number in the middle between two
 * doubles has up to 768 of them. Of the further ones it matters only whether one is not 0. */
enum { DECISIVE_DIGITS = 800 };

/* A number of any length: digits × base^exponent. */
struct long_number {
    const char *at, *end; /* what is not read yet */
    bool is_negative, is_hexadecimal, has_digits;
    int64_t exponent;
    int count;
    char digits[DECISIVE_DIGITS]; /* from the first that is not 0 on */
};

static bool skip_sign(struct long_number *number) {
    if (number->at == number->end || (*number->at != '-' && *number->at != '+')) return false;
    return *number->at++ == '-';
}

static bool skip_hexadecimal_prefix(struct long_number *number) {
    const char *at = number->at;
    if (number->end - at < 2 || at[0] != '0' || ascii_lower(at[1]) != 'x') return false;
    number->at += 2;
    return true;
}

static void read_digits(struct long_number *number) {
    bool is_fraction = false, is_more = false;
    for (; number->at < number->end; number->at++) {
        char c = *number->at, letter = ascii_lower(c);
        if (c == '.' && !is_fraction) {
            is_fraction = true;
            continue;
        }
        bool is_letter = number->is_hexadecimal && letter >= 'a' && letter <= 'f';
        if (!number_is_digit(c) && !is_letter) break;
        number->has_digits = true;
        bool is_kept = number->count < DECISIVE_DIGITS && (number->count > 0 || c != '0');
        if (is_kept)
            number->digits[number->count++] = c;
        else if (c != '0')
            is_more = true;
        number->exponent += (number->count > 0 && !is_kept) - is_fraction;
    }
    char *last = &number->digits[DECISIVE_DIGITS - 1];
    if (is_more && *last == '0') *last = '1';
}

/* Reads the rest, which must be an exponent or nothing. */
static bool read_exponent(struct long_number *number) {
    const int64_t enough = 100000000000000000; /* more than the digits of any text can outweigh */
    int64_t value = 0;
    if (number->is_hexadecimal) number->exponent *= 4;
    if (number->at == number->end) return true;
    if (ascii_lower(*number->at++) != (number->is_hexadecimal ? 'p' : 'e')) return false;
    bool is_negative = skip_sign(number);
    if (number->at == number->end) return false;
    for (; number->at < number->end; number->at++) {
        if (!number_is_digit(*number->at)) return false;
        if (value < enough) value = value * 10 + (*number->at - '0');
    }
    number->exponent += is_negative ? -value : value;
    return true;
}

/* Enough for a text that is short, and for one that stands for a long one. */
enum { SHORT_DOUBLE_MAX = 1023 };

/* Writes a short text that stands for the same double, NUL-terminated. Returns false for a text
 * that is not a finite number. It is not copied: clients may send gigabytes. */
static bool shorten_double(struct slice text, char short_text[SHORT_DOUBLE_MAX + 1]) {
    struct long_number number;
    number.at = text.ptr, number.end = slice_end(text);
    number.count = 0, number.exponent = 0, number.has_digits = false;
    number.is_negative = skip_sign(&number);
    number.is_hexadecimal = skip_hexadecimal_prefix(&number);
    read_digits(&number);
    if (!number.has_digits || !read_exponent(&number)) return false;
    snprintf(short_text, SHORT_DOUBLE_MAX + 1, "%s%s0%.*s%c%lld", number.is_negative ? "-" : "",
             number.is_hexadecimal ? "0x" : "", number.count, number.digits,
             number.is_hexadecimal ? 'p' : 'e', (long long)number.exponent);
    return true;
}

/* The whole text as a number; *is_beyond gets whether that is out of range: infinite or 0. */
static bool read_double(struct slice text, double *value, bool *is_beyond) {
    char copy[SHORT_DOUBLE_MAX + 1], *end;
    *is_beyond = false;
    if (text.len == 0) return false;
    bool is_long = text.len - (text.ptr[0] == '-') > EXACT_DIGITS + 1;
    if (!is_long && number_read_decimal(text, value) == text.len) return true;
    if (!is_begun(text)) return false;
    if (text.len > SHORT_DOUBLE_MAX) {
        if (!shorten_double(text, copy)) return false;
        text.len = strlen(copy);
    } else {
        copy_terminated(text, copy);
    }
    errno = 0;
    *value = strtod(copy, &end);
    *is_beyond = errno == ERANGE && (isinf(*value) || *value == 0);
    return end == copy + text.len && !isnan(*value);
}

bool number_parse_double(struct slice text, double *value) {
    double parsed;
    bool is_beyond;
    if (!read_double(text, &parsed, &is_beyond) || is_beyond) return false;
    *value = parsed;
    return true;
}

bool number_parse_decimal(struct slice text, double *value) {
    double parsed;
    bool is_beyond;
    if (text.len == 0 || memchr(text.ptr, 'x', text.len) || memchr(text.ptr, 'X', text.len))
        return false;
    if (!read_double(text, &parsed, &is_beyond)) return false;
    *value = parsed;
    return true;
}

size_t number_format_long_double(char *dst, long double value) {
    int len = snprintf(dst, LONG_DOUBLE_TEXT_MAX, "%.17Lf", value);
    while (dst[len - 1] == '0') len--;
    if (dst[len - 1] == '.') len--;
    if (len == 2 && dst[0] == '-' && dst[1] == '0') dst[--len - 1] = '0';
    return (size_t)len;
}

/* value = 0.d1d2d3… × 10^point, as few digits as read back the same. */
struct decimal {
    char digits[20];
    int count, point;
};

/* Values from `integers_min` on and below `integers_max` are looked for among integers over powers
 * of ten, others by printing. All integers below the latter are doubles. */
static const double integers_min = 1e-5, integers_max = 1e15;

static void set_digits(struct decimal *decimal, const char *digits, int count, int point) {
    while (count > 1 && digits[count - 1] == '0') count--;
    memcpy(decimal->digits, digits, (size_t)count);
    decimal->count = count;
    decimal->point = point;
}

static void set_quotient(struct decimal *decimal, uint64_t integer, int places) {
    char digits[INT64_TEXT_MAX];
    int count = (int)number_format_uint64(digits, integer);
    set_digits(decimal, digits, count, count - places);
}

/* Finds a decimal of up to fifteen digits that reads back as `value`: an integer over a power of
 * ten. Both are exact as doubles, so their quotient is rounded as the text would be when it is
 * read; and no two decimals of fifteen digits read back as the same double. Returns false where
 * there is none; *places is then those that make an integer of sixteen digits. */
static bool find_few_digits(double value, struct decimal *decimal, int *places) {
    for (*places = 0;; ++*places) {
        double power = powers_of_ten[*places], scaled = value * power;
        if (scaled >= integers_max) return false;
        uint64_t integer = (uint64_t)(scaled + 0.5);
        if ((double)integer / power != value) continue;
        set_quotient(decimal, integer, *places);
        return true;
    }
}

/* Finds the nearest decimal with `places` digits after the point, and returns whether it reads back
 * as `value`: whether it is at most half as far away as the next double. Exact, as nothing is
 * rounded: value × 10^places = scaled / 2^shift, below 2^123 / 2^shift. */
static bool find_nearest(double value, int places, struct decimal *decimal) {
    int exponent;
    uint64_t mantissa = (uint64_t)ldexp(frexp(value, &exponent), DBL_MANT_DIG);
    unsigned shift = (unsigned)(DBL_MANT_DIG - exponent);
    unsigned __int128 power = (unsigned __int128)powers_of_ten[places], one = 1;
    unsigned __int128 scaled = mantissa * power, rest = scaled & ((one << shift) - 1);
    uint64_t integer = (uint64_t)(scaled >> shift);
    if (2 * rest > one << shift || (2 * rest == one << shift && integer % 2)) {
        rest = (one << shift) - rest;
        integer++;
    }
    set_quotient(decimal, integer, places);
    return 2 * rest < power || (2 * rest == power && mantissa % 2 == 0);
}

/* Tries more and more digits, until they read back as `value`, as seventeen always do. It begins
 * with fifteen: where fewer are enough, those are followed by zeros, which do not count. That does
 * not hold for subnormal values: there it begins with one. */
static void try_digits(double value, struct decimal *decimal) {
    char text[DOUBLE_TEXT_MAX], digits[17];
    int precision = value < DBL_MIN ? 1 : 15, count = 0;
    do {
        snprintf(text, sizeof(text), "%.*e", precision - 1, value);
    } while (precision < 17 && strtod(text, NULL) != value && precision++);
    const char *exponent = strchr(text, 'e');
    for (const char *at = text; at < exponent; at++)
        if (number_is_digit(*at)) digits[count++] = *at;
    set_digits(decimal, digits, count, (int)strtol(exponent + 1, NULL, 10) + 1);
}

/* `value` is finite and positive. */
static struct decimal shortest_decimal(double value) {
    struct decimal decimal;
    int places;
    bool is_common = value >= integers_min && value < integers_max;
    bool is_found = is_common && (find_few_digits(value, &decimal, &places) ||
                                  find_nearest(value, places, &decimal) ||
                                  find_nearest(value, places + 1, &decimal));
    if (!is_found) try_digits(value, &decimal);
    return decimal;
}

static char *put_zeros(char *dst, int count) {
    memset(dst, '0', (size_t)count);
    return dst + count;
}

static char *put_digits(char *dst, const char *digits, int count) {
    memcpy(dst, digits, (size_t)count);
    return dst + count;
}

static char *put_exponential(char *dst, const struct decimal *decimal) {
    *dst++ = decimal->digits[0];
    if (decimal->count > 1) {
        *dst++ = '.';
        dst = put_digits(dst, decimal->digits + 1, decimal->count - 1);
    }
    int exponent = decimal->point - 1;
    *dst++ = 'e';
    *dst++ = exponent < 0 ? '-' : '+';
    return dst + number_format_uint64(dst, (uint64_t)abs(exponent));
}

/* Plain where that takes at most seven zeros after the digits, or for fractions not below 0.0001 or
 * with at most six places; else with an exponent. The layout of Redis since 7.2. */
static char *put_decimal(char *dst, const struct decimal *decimal) {
    int zeros_after = decimal->point - decimal->count;
    int exponent = abs(decimal->point - 1);
    if (zeros_after >= 0 && exponent < decimal->count + 7) {
        dst = put_digits(dst, decimal->digits, decimal->count);
        return put_zeros(dst, zeros_after);
    }
    if (zeros_after >= 0 || (zeros_after <= -7 && exponent >= 4)) {
        return put_exponential(dst, decimal);
    }
    if (decimal->point <= 0) {
        dst = put_digits(dst, "0.", 2);
        dst = put_zeros(dst, -decimal->point);
        return put_digits(dst, decimal->digits, decimal->count);
    }
    dst = put_digits(dst, decimal->digits, decimal->point);
    *dst++ = '.';
    return put_digits(dst, decimal->digits + decimal->point, decimal->count - decimal->point);
}

/* Integers up to 2^62 are written digit by digit, exactly. */
#define PLAIN_INTEGER_MAX 4611686018427387904.0

size_t number_format_shortest(char *dst, double value) {
    char *at = dst;
    if (isnan(value)) {
        at = put_digits(at, "nan", 3);
    } else {
        if (signbit(value)) *at++ = '-';
        if (value == 0) {
            *at++ = '0';
        } else if (isinf(value)) {
            at = put_digits(at, "inf", 3);
        } else {
            struct decimal decimal = shortest_decimal(fabs(value));
            at = put_decimal(at, &decimal);
        }
    }
    *at = '\0';
    return (size_t)(at - dst);
}

size_t number_format_double(char *dst, double value) {
    if (value == 0 || !(fabs(value) <= PLAIN_INTEGER_MAX) || value != (double)(int64_t)value)
        return number_format_shortest(dst, value);
    size_t len = number_format_int64(dst, (int64_t)value);
    dst[len] = '\0';
    return len;
}
