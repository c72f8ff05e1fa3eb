/* linear_hashing: the arithmetic of hash tables that grow and shrink by one bucket at a time;
 * ds/README.md explains it by an example.
 *
 * There are 2^level + split buckets. A hash's bucket is that of its last `level` bits, or, where
 * that number is less than `split`, of one bit more. To grow, bucket `split` is split by that bit
 * into itself and a new bucket at the end; to shrink, the last split is undone. When to do so is
 * the table's decision. Buckets are kept by ds/segmented.h, which does not move them.
 *
 * Tags. hashtable and skiplist_index keep some bits of an item's hash beside its pointer: a tag.
 * The bit that the next split reads is always among them, so that a split reads no item. The tag
 * has the bits from the *window* on: the number of bits that the bucket uses, rounded down to a
 * multiple of the window's width. Only where a window begins are hashes computed anew from the
 * items: once in 2^width times the size. */
#ifndef PACKLIST_DS_LINEAR_HASHING_H
#define PACKLIST_DS_LINEAR_HASHING_H

#include "base/checked.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How far a table has grown. */
struct linear {
    uint64_t level_mask; /* 2^level - 1 */
    uint64_t split;      /* < 2^level: the next bucket to split */
    uint8_t level;
    uint8_t windows[2]; /* of buckets that use `level` bits, and of those that use one more */
};

/* The bucket of a hash. O(1). */
static inline size_t linear_bucket(const struct linear *linear, uint64_t hash) {
    size_t low = hash & linear->level_mask;
    size_t was_split = low < linear->split; /* as good as random: must not become a branch */
    return low | (hash & (linear->level_mask + 1) & -was_split);
}

/* The window of that bucket's tags. O(1). */
static inline unsigned linear_window(const struct linear *linear, uint64_t hash) {
    size_t was_split = (hash & linear->level_mask) < linear->split; /* likewise no branch */
    return linear->windows[was_split];
}

/* The number of buckets, of a table that has any. O(1). */
static inline size_t linear_buckets(const struct linear *linear) {
    return linear->level_mask + 1 + linear->split;
}

/* How many bits of its items' hashes a bucket uses. O(1). */
static inline unsigned linear_bits(const struct linear *linear, size_t bucket) {
    bool was_split = bucket < linear->split || bucket > linear->level_mask;
    return linear->level + (was_split ? 1u : 0u);
}

/* The window of a bucket that uses so many bits, for tags of `width` bits by which it can be split;
 * LINEAR_NO_TAGS for a table without tags. O(1). */
enum { LINEAR_NO_TAGS = 64 };
static inline unsigned linear_window_of(unsigned bits, unsigned width) {
    return bits / width * width;
}

static inline void linear__set_level(struct linear *linear, unsigned level, unsigned width) {
    linear->level = (uint8_t)level;
    linear->level_mask = ((uint64_t)1 << level) - 1;
    linear->windows[0] = (uint8_t)linear_window_of(level, width);
    linear->windows[1] = (uint8_t)linear_window_of(level + 1, width);
}

/* The state of a table of one bucket, or of none. */
static inline void linear_start(struct linear *linear, unsigned width) {
    linear->split = 0;
    linear__set_level(linear, 0, width);
}

/* Bucket `split` has been split into itself and bucket linear_buckets(linear). O(1). */
static inline void linear_grow(struct linear *linear, unsigned width) {
    if (++linear->split <= linear->level_mask) return;
    linear__set_level(linear, linear->level + 1u, width);
    linear->split = 0;
}

/* To be called before a merge: bucket linear_buckets(linear), the last one until now, is to be
 * merged into bucket `split`. Their items still have tags of windows[1]. O(1). */
static inline void linear_shrink(struct linear *linear, unsigned width) {
    CHECKED_ASSERT(linear_buckets(linear) > 1);
    if (linear->split == 0) {
        linear__set_level(linear, linear->level - 1u, width);
        linear->split = linear->level_mask + 1;
    }
    linear->split--;
}

static inline uint64_t linear_bits_reversed(uint64_t x) {
    x = (x >> 1 & 0x5555555555555555ull) | (x & 0x5555555555555555ull) << 1;
    x = (x >> 2 & 0x3333333333333333ull) | (x & 0x3333333333333333ull) << 2;
    x = (x >> 4 & 0x0F0F0F0F0F0F0F0Full) | (x & 0x0F0F0F0F0F0F0F0Full) << 4;
    return __builtin_bswap64(x);
}

/* The cursor of a scan after this bucket; 0 when it was the last one. Where hashes with their bits
 * reversed are read as fractions of 1, a bucket that uses l bits holds one whole interval of length
 * 2^-l, whichever split or merge made it. The next cursor is its end. O(1). */
static inline uint64_t linear_scan_next(const struct linear *linear, size_t bucket) {
    unsigned bits = linear_bits(linear, bucket);
    if (bits == 0) return 0;
    return linear_bits_reversed(linear_bits_reversed(bucket) + ((uint64_t)1 << (64 - bits)));
}

/* Whether the numbers agree with each other and with a table of so many buckets. O(1). */
static inline bool linear_check(const struct linear *linear, size_t buckets, unsigned width) {
    return linear->level_mask == ((uint64_t)1 << linear->level) - 1 &&
           linear->split <= linear->level_mask &&
           linear->windows[0] == linear_window_of(linear->level, width) &&
           linear->windows[1] == linear_window_of(linear->level + 1u, width) &&
           (buckets == 0 ? linear->level_mask + linear->split == 0
                         : buckets == linear_buckets(linear));
}

#endif
