/* slice: a view of bytes that it does not own, passed by value. It is valid as long as the bytes,
 * which the function that returns it documents. They are binary: no terminator, NUL allowed. `ptr`
 * may be NULL only when `len` is 0. */
#ifndef PACKLIST_BASE_SLICE_H
#define PACKLIST_BASE_SLICE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The lower-case form of an ASCII letter, other bytes as they are, whatever the locale. */
static inline char ascii_lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static inline bool ascii_is_letter(char c) {
    return (unsigned char)((c | 0x20) - 'a') < 26;
}

/* The longest text of a client that the server handles, as a string or an element: 32 GB. */
#define TEXT_LENGTH_MAX ((size_t)32 << 30)

struct slice {
    const char *ptr;
    size_t len;
};

/* A slice of a string literal; the length is known at compile time. */
#define SLICE(literal) ((struct slice){"" literal, sizeof(literal) - 1})

static inline struct slice slice_make(const void *ptr, size_t len) {
    return (struct slice){ptr, len};
}

/* One past the last byte. (NULL of an empty slice is passed through: adding even 0 to it is
 * undefined.) */
static inline const char *slice_end(struct slice a) {
    return a.len == 0 ? a.ptr : a.ptr + a.len;
}

static inline struct slice slice_of_cstr(const char *cstr) {
    return (struct slice){cstr, strlen(cstr)};
}

/* The precision that prints a slice by "%.*s": its length, cut to what printf can count. */
static inline int slice_precision(struct slice a) {
    const int max = INT_MAX / 2;
    return a.len < (size_t)max ? (int)a.len : max;
}

static inline bool slice_equal(struct slice a, struct slice b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* The order of the bytes, a shorter text before a longer one that begins with it: negative, 0 or
 * positive as `a` is before `b`, equal, or after it. */
static inline int slice_compare(struct slice a, struct slice b) {
    size_t common = a.len < b.len ? a.len : b.len;
    int order = common ? memcmp(a.ptr, b.ptr, common) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

/* Returns whether `a` begins with these bytes. */
static inline bool slice_begins(struct slice a, struct slice begin) {
    return a.len >= begin.len && slice_equal(slice_make(a.ptr, begin.len), begin);
}

/* Returns whether `a` ends with these bytes. */
static inline bool slice_ends(struct slice a, struct slice end) {
    if (a.len < end.len) return false;
    return slice_equal(slice_make(slice_end(a) - end.len, end.len), end);
}

/* Takes off the beginning of *text, up to the first `separator`, and that; all of it if there is
 * none. Returns what stood before the separator. O(what is taken). */
static inline struct slice slice_take_until(struct slice *text, char separator) {
    const char *at = text->len > 0 ? (const char *)memchr(text->ptr, separator, text->len) : NULL;
    struct slice taken = *text;
    if (at) taken.len = (size_t)(at - text->ptr);
    *text = at ? slice_make(at + 1, text->len - taken.len - 1) : slice_make(slice_end(*text), 0);
    return taken;
}

/* Copies the bytes to `dst`, which has room for them and lies elsewhere. Texts below 16 bytes are
 * copied in place by two overlapping words: a call of memcpy costs more than the copy. */
static inline void slice_copy(char *dst, struct slice from) {
    const char *src = from.ptr;
    size_t len = from.len;
    if (len >= 16) {
        memcpy(dst, src, len);
    } else if (len >= 8) {
        uint64_t head, tail;
        memcpy(&head, src, 8), memcpy(&tail, src + len - 8, 8);
        memcpy(dst, &head, 8), memcpy(dst + len - 8, &tail, 8);
    } else if (len >= 4) {
        uint32_t head, tail;
        memcpy(&head, src, 4), memcpy(&tail, src + len - 4, 4);
        memcpy(dst, &head, 4), memcpy(dst + len - 4, &tail, 4);
    } else if (len > 0) {
        char first = src[0], middle = src[len / 2], last = src[len - 1];
        dst[0] = first, dst[len / 2] = middle, dst[len - 1] = last;
    }
}

/* Returns whether both are equal, ignoring the case of ASCII letters. O(n). */
static inline bool slice_equal_nocase(struct slice a, struct slice b) {
    if (a.len != b.len) return false;
    for (size_t i = 0; i < a.len; i++) {
        int difference = a.ptr[i] ^ b.ptr[i]; /* the two cases of a letter differ in one bit */
        if (difference == 0) continue;
        if (difference != 0x20 || !ascii_is_letter(a.ptr[i])) return false;
    }
    return true;
}

/* Returns whether `a` spells the NUL-terminated `word`, in any case. What option parsing uses. */
static inline bool slice_is(struct slice a, const char *word) {
    return slice_equal_nocase(a, slice_of_cstr(word));
}

#endif
