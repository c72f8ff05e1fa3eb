/* sds: length-prefixed, binary-safe dynamic strings with five header classes.
 *
 *      class   header (before the characters)                     bytes   lengths
 *      5       [len:5 bits | class:3 bits]                        1       0 … 31
 *      8       [len 1][capacity 1][class 1]                       3       … 2^8-1
 *      16      [len 2][capacity 2][class 1]                       5       … 2^16-1
 *      32      [len 4][capacity 4][class 1]                       9       … 2^32-1
 *      64      [len 8][capacity 8][class 1]                       17      … 2^64-1
 *
 * The pointer is to the first character; the byte before it holds the class in its low three bits.
 * A *standalone* sds is an allocation of its own and has a NUL after its last character; growing
 * one never leaves it in class 5, which has no room for a capacity. An *embedded* sds lies inside
 * other memory, is exactly as long as its text, has no NUL and cannot grow. The layout is the one
 * of Redis since 3.2. */
#ifndef PACKLIST_BASE_TEXT_SDS_H
#define PACKLIST_BASE_TEXT_SDS_H

#include "base/checked.h"
#include "base/slice.h"

#include <stdarg.h>
#include <stdint.h>

struct relocator; /* base/memory/relocate.h */

typedef char *sds;

enum sds_class { SDS_5, SDS_8, SDS_16, SDS_32, SDS_64 };

/* The longest text of each class. */
#ifdef TINY_LIMITS
enum { SDS_5_MAX = 31, SDS_8_MAX = 100, SDS_16_MAX = 1000, SDS_32_MAX = 10000 };
#else
enum { SDS_5_MAX = 31, SDS_8_MAX = UINT8_MAX, SDS_16_MAX = UINT16_MAX };
#define SDS_32_MAX UINT32_MAX
#endif

/* --- Any sds, standalone or embedded --- */

static inline enum sds_class sds_class_of(const char *s) {
    return (enum sds_class)(s[-1] & 7);
}

/* Length in bytes. O(1). */
static inline size_t sds_len(const char *s) {
    uint16_t len16;
    uint32_t len32;
    uint64_t len64;
    switch (sds_class_of(s)) {
    case SDS_5: return (uint8_t)s[-1] >> 3;
    case SDS_8: return (uint8_t)s[-3];
    case SDS_16: return memcpy(&len16, s - 5, sizeof(len16)), len16;
    case SDS_32: return memcpy(&len32, s - 9, sizeof(len32)), len32;
    case SDS_64: return memcpy(&len64, s - 17, sizeof(len64)), len64;
    }
    __builtin_unreachable();
}

/* The text as a view, valid until the sds is changed or freed. */
static inline struct slice sds_slice(const char *s) {
    return slice_make(s, sds_len(s));
}

/* --- Embedded --- */

/* The class that a text of `len` bytes gets when embedded, and its header size in bytes (1, 3, 5,
 * 9, 17). */
static inline enum sds_class sds_embedded_class(size_t len) {
    return len <= SDS_5_MAX    ? SDS_5
           : len <= SDS_8_MAX  ? SDS_8
           : len <= SDS_16_MAX ? SDS_16
           : len <= SDS_32_MAX ? SDS_32
                               : SDS_64;
}

static inline size_t sds_header_size(enum sds_class class) {
    return ((size_t)1 << class) + 1 - (class == SDS_5);
}

/* Bytes that sds_write_embedded takes for a text of `len` bytes: header plus text. */
static inline size_t sds_embedded_size(size_t len) {
    return sds_header_size(sds_embedded_class(len)) + len;
}

/* Writes header and text at `dst` (unaligned is fine) and returns the sds, which lies inside. */
sds sds_write_embedded(char *dst, struct slice text);

/* --- Standalone --- */

/* A function that takes and returns an sds takes its ownership and returns it: the old pointer is
 * then invalid. */

/* A new string with a copy of `text`, without spare capacity except what the allocator rounds up
 * to. Freed with sds_free. O(text.len). */
sds sds_new(struct slice text);

/* A new string of `len` bytes, uninitialised (to be written into), not of class 5; NULL when that
 * much memory can't be had. */
sds sds_try_new_uninit(size_t len);

/* NULL is allowed. */
void sds_free(sds s);

/* Moves the string's memory to a better place (base/memory/relocate.h), and returns the string,
 * whose old address is invalid if it has moved. One of class 5 stays. */
sds sds_relocate(sds s, struct relocator *relocator) __attribute__((returns_nonnull));

/* Bytes of the whole allocation (header, capacity, terminator), as the allocator rounds it.
 * O(1). */
size_t sds_allocated(const char *s);

/* Bytes of text that fit into the allocation. Loaded separately from the length: a load that spans
 * the length just stored would stall. */
static inline size_t sds_capacity(const char *s) {
    uint16_t capacity16;
    uint32_t capacity32;
    uint64_t capacity64;
    switch (sds_class_of(s)) {
    case SDS_5: return (uint8_t)s[-1] >> 3;
    case SDS_8: return (uint8_t)s[-2];
    case SDS_16: return memcpy(&capacity16, s - 3, sizeof(capacity16)), capacity16;
    case SDS_32: return memcpy(&capacity32, s - 5, sizeof(capacity32)), capacity32;
    case SDS_64: return memcpy(&capacity64, s - 9, sizeof(capacity64)), capacity64;
    }
    __builtin_unreachable();
}

/* Bytes that can be appended before the next reallocation. */
static inline size_t sds_available(const char *s) {
    return sds_capacity(s) - sds_len(s);
}

/* Sets the length to `len`, at most the capacity, and writes the NUL: after writing into reserved
 * room, or to cut. Class 5 keeps no capacity: there `len` is at most the present length. O(1). */
static inline void sds_set_len(sds s, size_t len) {
    CHECKED_ASSERT(len <= sds_capacity(s));
    uint16_t len16 = (uint16_t)len;
    uint32_t len32 = (uint32_t)len;
    uint64_t len64 = len;
    switch (sds_class_of(s)) {
    case SDS_5: s[-1] = (char)(len << 3 | SDS_5); break;
    case SDS_8: s[-3] = (char)len; break;
    case SDS_16: memcpy(s - 5, &len16, sizeof(len16)); break;
    case SDS_32: memcpy(s - 9, &len32, sizeof(len32)); break;
    case SDS_64: memcpy(s - 17, &len64, sizeof(len64)); break;
    }
    s[len] = '\0';
}

/* Makes room for at least `more` bytes after the text; always reallocates. The slow path of
 * sds_reserve. */
sds sds_grow(sds s, size_t more);

/* As sds_grow, but returns NULL, leaving `s` as it was, when that much memory can't be had: for
 * texts whose size a client chose. */
sds sds_try_grow(sds s, size_t more);

/* Makes room for `more` bytes after the text. Growth is geometric (doubling below 1 MB, then 1 MB
 * steps), so that n appends cost O(n) until 1 MB. */
static inline sds sds_reserve(sds s, size_t more) {
    return sds_available(s) >= more ? s : sds_grow(s, more);
}

/* Appends. `text` must not lie inside `s`. Amortised O(text.len). Class 8 and 16 have paths of
 * their own: most appends are short and go to strings that are being built. */
static inline sds sds_append(sds s, struct slice text) {
    size_t len;
    CHECKED_ASSERT(text.len == 0 || slice_end(text) <= s || text.ptr >= s + sds_len(s));
    if (sds_class_of(s) == SDS_8 && (len = (uint8_t)s[-3]) + text.len <= (uint8_t)s[-2]) {
        slice_copy(s + len, text);
        s[-3] = (char)(len + text.len);
        s[len + text.len] = '\0';
        return s;
    }
    s = sds_reserve(s, text.len);
    len = sds_len(s);
    slice_copy(s + len, text);
    sds_set_len(s, len + text.len);
    return s;
}

static inline sds sds_append_cstr(sds s, const char *cstr) {
    return sds_append(s, slice_of_cstr(cstr));
}

sds sds_append_format(sds s, const char *format, ...) __attribute__((format(printf, 2, 3)));
sds sds_append_vformat(sds s, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* Makes a string. */
sds sds_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Appends `text` in double quotes, with \n \r \t \a \b \" \\ and \xHH escapes: the form in which
 * Redis prints arguments (MONITOR, SLOWLOG, DEBUG, CONFIG REWRITE). */
sds sds_append_quoted(sds s, struct slice text);
enum { SDS_QUOTED_MAX = 4 }; /* bytes that it makes of one, beside the quotes */

/* Checks header, capacity and terminator of a standalone string. For tests and assertions.
 * O(1). */
bool sds_check(const char *s);

#endif
