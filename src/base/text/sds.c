/* A standalone string is one allocation:
 *
 *      ┌────────┬──────────┬───────┬───────────────┬────┬─────────────┐
 *      │ length │ capacity │ class │ text          │ 00 │ spare       │
 *      └────────┴──────────┴───────┴───────────────┴────┴─────────────┘
 *      ▲ base                      ▲ s             ▲ s + length       ▲ s + capacity + 1
 *
 * Invariants:
 *   - length ≤ capacity, and s[length] is NUL;
 *   - header + capacity + 1 is the size class that was requested, so mem_good_size of it is the
 *     size of the allocation, and freeing and accounting do not ask the allocator. Class 5 has no
 *     capacity and may have been cut: only there the allocator must look the size up. */
#include "base/text/sds.h"

#include "base/memory/alloc.h"
#include "base/memory/relocate.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>

/* Growing beyond this adds as much at a time instead of doubling. */
#ifdef TINY_LIMITS
enum { GROWTH_STEP_MAX = 4096 };
#else
enum { GROWTH_STEP_MAX = 1 << 20 };
#endif

/* A string gets at least this capacity when it first grows, to save the smallest doublings. */
enum { GROWTH_MIN = 48 };

static size_t class_capacity_max(enum sds_class class) {
    static const size_t most[] = {SDS_5_MAX, SDS_8_MAX, SDS_16_MAX, SDS_32_MAX, PTRDIFF_MAX};
    return most[class];
}

/* The smallest class that can hold `len` bytes and has a capacity. */
static enum sds_class growable_class(size_t len) {
    return len <= SDS_5_MAX ? SDS_8 : sds_embedded_class(len);
}

static char *base_of(sds s) {
    return s - sds_header_size(sds_class_of(s));
}

/* Writes the whole header, except the capacity for class 5, which has none. */
static sds write_header(char *base, enum sds_class class, size_t len, size_t capacity) {
    sds s = base + sds_header_size(class);
    s[-1] = (char)class;
    uint16_t numbers16[2] = {(uint16_t)len, (uint16_t)capacity};
    uint32_t numbers32[2] = {(uint32_t)len, (uint32_t)capacity};
    uint64_t numbers64[2] = {len, capacity};
    switch (class) {
    case SDS_5: s[-1] = (char)(len << 3 | SDS_5); break;
    case SDS_8: s[-3] = (char)len, s[-2] = (char)capacity; break;
    case SDS_16: memcpy(base, numbers16, sizeof(numbers16)); break;
    case SDS_32: memcpy(base, numbers32, sizeof(numbers32)); break;
    case SDS_64: memcpy(base, numbers64, sizeof(numbers64)); break;
    }
    return s;
}

sds sds_write_embedded(char *dst, struct slice text) {
    sds s = write_header(dst, sds_embedded_class(text.len), text.len, text.len);
    if (text.len > 0) memcpy(s, text.ptr, text.len);
    return s;
}

/* The size to request so that `capacity` fits. */
static size_t allocation_for(enum sds_class class, size_t capacity) {
    return mem_good_size(sds_header_size(class) + capacity + 1);
}

static size_t usable_capacity(enum sds_class class, size_t allocation) {
    size_t fits = allocation - sds_header_size(class) - 1, max = class_capacity_max(class);
    return fits < max ? fits : max;
}

static sds finish_new(char *base, enum sds_class class, size_t allocation, size_t len) {
    sds s = write_header(base, class, len, usable_capacity(class, allocation));
    s[len] = '\0';
    return s;
}

sds sds_new(struct slice text) {
    enum sds_class class = text.len == 0 ? SDS_8 : sds_embedded_class(text.len);
    size_t allocation = allocation_for(class, text.len);
    sds s = finish_new(mem_alloc(allocation), class, allocation, text.len);
    if (text.len > 0) memcpy(s, text.ptr, text.len);
    return s;
}

sds sds_try_new_uninit(size_t len) {
    if (len > PTRDIFF_MAX / 2) return NULL;
    enum sds_class class = growable_class(len);
    size_t allocation = allocation_for(class, len);
    char *base = mem_try_alloc(allocation);
    return base == NULL ? NULL : finish_new(base, class, allocation, len);
}

size_t sds_allocated(const char *s) {
    return allocation_for(sds_class_of(s), sds_capacity(s));
}

sds sds_relocate(sds s, struct relocator *relocator) {
    enum sds_class class = sds_class_of(s);
    if (class == SDS_5) return s; /* its allocation may be larger than it says */
    return (char *)relocate(relocator, base_of(s), sds_allocated(s)) + sds_header_size(class);
}

static void free_base(sds s) {
    if (sds_class_of(s) == SDS_5) {
        mem_free(base_of(s));
    } else {
        mem_free_sized(base_of(s), sds_allocated(s));
    }
}

void sds_free(sds s) {
    if (s != NULL) free_base(s);
}

/* Moves the text into an allocation that has room for `capacity` ≥ length bytes. Copying the text
 * alone is cheaper than a realloc, which looks sizes up and copies the spare room too; but large
 * blocks may grow in place. */
static sds resize(sds s, enum sds_class class, size_t capacity) {
    enum { REALLOC_MIN = 16384 };
    size_t allocation = allocation_for(class, capacity), len = sds_len(s);
    if (class == sds_class_of(s) && allocation >= REALLOC_MIN) {
        return finish_new(mem_realloc(base_of(s), allocation), class, allocation, len);
    }
    sds moved = finish_new(mem_alloc(allocation), class, allocation, len);
    if (len > 0) memcpy(moved, s, len);
    free_base(s);
    return moved;
}

sds sds_grow(sds s, size_t more) {
    size_t need = sds_len(s) + more;
    /* Larger texts are refused where they come from. */
    assert(need >= more && need <= PTRDIFF_MAX / 2);
    size_t capacity = need + (need < GROWTH_STEP_MAX ? need : GROWTH_STEP_MAX);
    if (capacity < GROWTH_MIN) capacity = GROWTH_MIN;
    return resize(s, growable_class(capacity), capacity);
}

sds sds_try_grow(sds s, size_t more) {
    enum { TRY_MIN = 1 << 20 }; /* below it the process may as well end */
    size_t need = sds_len(s) + more;
    if (need < more || need > PTRDIFF_MAX / 2) return NULL;
    if (need < TRY_MIN) return sds_grow(s, more);
    size_t capacity = need + GROWTH_STEP_MAX, len = sds_len(s);
    enum sds_class class = growable_class(capacity);
    size_t allocation = allocation_for(class, capacity);
    if (class == sds_class_of(s)) {
        char *base = mem_try_realloc(base_of(s), allocation);
        return base == NULL ? NULL : finish_new(base, class, allocation, len);
    }
    sds moved = sds_try_new_uninit(capacity);
    if (moved == NULL) return NULL;
    memcpy(moved, s, len);
    sds_set_len(moved, len);
    sds_free(s);
    return moved;
}

sds sds_append_vformat(sds s, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    size_t len = sds_len(s), room = sds_available(s);
    /* There is room for the NUL as well. Only a wrong format fails. */
    int wanted = vsnprintf(s + len, room + 1, format, args);
    assert(wanted >= 0);
    if ((size_t)wanted > room) {
        s = sds_grow(s, (size_t)wanted);
        vsnprintf(s + len, (size_t)wanted + 1, format, again);
    }
    va_end(again);
    sds_set_len(s, len + (size_t)wanted);
    return s;
}

sds sds_append_format(sds s, const char *format, ...) {
    va_list args;
    va_start(args, format);
    s = sds_append_vformat(s, format, args);
    va_end(args);
    return s;
}

sds sds_format(const char *format, ...) {
    va_list args;
    va_start(args, format);
    sds s = sds_append_vformat(sds_new(SLICE("")), format, args);
    va_end(args);
    return s;
}

/* The letter that follows the backslash of a short escape, or 0. */
static char escape_letter(char c) {
    switch (c) {
    case '\\':
    case '"': return c;
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    case '\a': return 'a';
    case '\b': return 'b';
    default: return 0;
    }
}

static bool is_plain(char c) {
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

sds sds_append_quoted(sds s, struct slice text) {
    static const char hex[] = "0123456789abcdef";
    s = sds_reserve(s, text.len + 2);
    s = sds_append(s, SLICE("\""));
    const char *at = text.ptr, *end = slice_end(text);
    while (at < end) {
        const char *start = at;
        while (at < end && is_plain(*at)) at++;
        s = sds_append(s, slice_make(start, (size_t)(at - start)));
        for (; at < end && !is_plain(*at); at++) {
            unsigned char byte = (unsigned char)*at;
            char letter = escape_letter(*at);
            char escape[4] = {'\\', letter != 0 ? letter : 'x', hex[byte >> 4], hex[byte & 15]};
            s = sds_append(s, slice_make(escape, letter != 0 ? 2 : 4));
        }
    }
    return sds_append(s, SLICE("\""));
}

bool sds_check(const char *s) {
    enum sds_class class = sds_class_of(s);
    if (class > SDS_64) return false;
    size_t len = sds_len(s), capacity = sds_capacity(s);
    return capacity >= len && capacity <= class_capacity_max(class) && s[len] == '\0';
}
