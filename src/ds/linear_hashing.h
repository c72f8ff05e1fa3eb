/* linear_hashing: where things are in tables that grow and shrink by one bucket at a time (Litwin,
 * "Linear hashing: a new tool for file and table addressing", 1980).
 *
 * There are 2^level + split buckets. Bucket b holds the items whose hash ends in the bits of b: the
 * last level + 1 bits when b < split or b >= 2^level, else the last `level` bits. */
#ifndef PACKLIST_DS_LINEAR_HASHING_H
#define PACKLIST_DS_LINEAR_HASHING_H

#include <stddef.h>
#include <stdint.h>

/* The bucket of a hash; `level_mask` is 2^level - 1. O(1). */
static inline size_t linear_bucket(uint64_t hash, uint64_t level_mask, uint64_t split) {
    size_t low = hash & level_mask;
    size_t was_split = low < split; /* as good as random: must not become a branch */
    return low | (hash & (level_mask + 1) & -was_split);
}

/* The bits of its items' hashes that a bucket says. O(1). */
static inline unsigned linear_level_of(size_t bucket, unsigned level, uint64_t level_mask,
                                       uint64_t split) {
    return level + (bucket < split || bucket > level_mask ? 1u : 0u);
}

static inline uint64_t linear_bits_reversed(uint64_t x) {
    x = (x >> 1 & 0x5555555555555555ull) | (x & 0x5555555555555555ull) << 1;
    x = (x >> 2 & 0x3333333333333333ull) | (x & 0x3333333333333333ull) << 2;
    x = (x >> 4 & 0x0F0F0F0F0F0F0F0Full) | (x & 0x0F0F0F0F0F0F0F0Full) << 4;
    return __builtin_bswap64(x);
}

/* The cursor of a scan after a bucket with so many bits; 0 when it was the last one.
 *
 * Reading hashes with their bits reversed as fractions of 1, a bucket with l bits holds one whole
 * interval of length 2^-l, whichever split or merge made it. The cursor is a point: everything
 * below it has been visited. So each call of a scan visits the interval around the point and moves
 * to its end, and growing and shrinking between the calls does not matter. O(1). */
static inline uint64_t linear_scan_next(uint64_t bucket, unsigned bits) {
    if (bits == 0) return 0;
    return linear_bits_reversed(linear_bits_reversed(bucket) + ((uint64_t)1 << (64 - bits)));
}

#endif
