/* lzf_internal: what compressing, decompressing and trimming share. */
#ifndef PACKLIST_BASE_LZF_LZF_INTERNAL_H
#define PACKLIST_BASE_LZF_LZF_INTERNAL_H

#include "base/lzf/lzf.h"
#include "base/prefetch.h"
#include "base/word_bytes.h"

#include <string.h>

enum {
    COPY_MIN = 3, /* shorter ones gain nothing */
    COPY_MAX = 264,
    LONG_COPY = 7, /* in the place of a length: one more byte holds it */
    DISTANCE_MAX = 1 << 13,
    LENGTH_SHIFT = 5
};

static inline uint32_t load32(const uint8_t *p) {
    uint32_t word;
    memcpy(&word, p, sizeof(word));
    return word;
}

/* Bytes that are copied at once; the two pieces must not overlap. */
enum { BLOCK = 32 };

static inline void copy_block(uint8_t *to, const uint8_t *from) {
    memcpy(to, from, BLOCK);
}

_Static_assert((int)BLOCK == (int)LZF_LITERALS_MAX, "a block is a run of literals");

/* The text is prefetched this many bytes ahead. Nodes of a long list are not in any cache, and the
 * processor by itself prefetches only to the end of a page. The next text is often beyond the end
 * of this one. */
enum { AHEAD = 2048 };

static inline void prefetch_ahead(const uint8_t *p) {
    prefetch((const void *)((uintptr_t)p + AHEAD));
}

/* One run of literals. */
static inline uint8_t *write_literals(uint8_t *out, const uint8_t *literals, size_t len) {
    if (len == 0) return out;
    *out++ = (uint8_t)(len - 1);
    memcpy(out, literals, len);
    return out + len;
}

#endif
