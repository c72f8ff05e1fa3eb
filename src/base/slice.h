/* slice: a view of bytes that somebody else owns. A slice is two words and is passed by value.
 *
 * Nothing here allocates; a slice lives as long as the bytes it points to, which its giver
 * documents. The bytes are binary: no terminator, NUL allowed. `ptr` may be NULL only when `len` is
 * 0. */
#ifndef PACKLIST_BASE_SLICE_H
#define PACKLIST_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

struct slice {
    const char *ptr;
    size_t len;
};

/* A slice of a string literal; the length is known at compile time. */
#define SLICE(literal) ((struct slice){"" literal, sizeof(literal) - 1})

static inline struct slice slice_make(const void *ptr, size_t len) {
    return (struct slice){ptr, len};
}

static inline struct slice slice_of_cstr(const char *cstr) {
    return (struct slice){cstr, strlen(cstr)};
}

static inline bool slice_equal(struct slice a, struct slice b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* Equal but for the case of ASCII letters. O(n). */
static inline bool slice_equal_nocase(struct slice a, struct slice b) {
    return a.len == b.len && (a.len == 0 || strncasecmp(a.ptr, b.ptr, a.len) == 0);
}

/* True when `a` spells the NUL-terminated `word`, in any case. What option parsing uses. */
static inline bool slice_is(struct slice a, const char *word) {
    return slice_equal_nocase(a, slice_of_cstr(word));
}

#endif
