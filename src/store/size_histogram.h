/* size_histogram: how many values of each type have which size, for INFO keysizes.
 *
 * The size of a string is its length in bytes, that of a collection the number of its items. Sizes
 * are below 2^63. Bucket 0 counts values of size 0, bucket b > 0 those of sizes from 2^(b - 1) to
 * 2^b - 1. */
#ifndef PACKLIST_STORE_SIZE_HISTOGRAM_H
#define PACKLIST_STORE_SIZE_HISTOGRAM_H

#include "store/entry.h"

enum { SIZE_BUCKETS = 64 };

/* All zero: an empty histogram. It owns the counts of each type, which are allocated with the
 * type's first value. */
struct size_histogram {
    uint64_t *counts[VALUE_TYPES];
};

/* Frees the counts. */
void size_histogram_free(struct size_histogram *histogram);

/* Counts one value more, or removes one that was counted before. O(1). */
void size_histogram_add(struct size_histogram *histogram, enum value_type type, uint64_t size);
void size_histogram_remove(struct size_histogram *histogram, enum value_type type, uint64_t size);

/* How many values of that type are in the bucket (< SIZE_BUCKETS). O(1). */
uint64_t size_histogram_count(const struct size_histogram *histogram, enum value_type type,
                              unsigned bucket);

/* Bytes of memory that the counts take. O(1). */
size_t size_histogram_allocated(const struct size_histogram *histogram);

/* Returns whether both have the same counts. O(1). */
bool size_histogram_equal(const struct size_histogram *a, const struct size_histogram *b);

/* The smallest size that is counted in the bucket. */
static inline uint64_t size_bucket_min(unsigned bucket) {
    return bucket == 0 ? 0 : (uint64_t)1 << (bucket - 1);
}

/* Returns whether both sizes are in the same bucket, which is so if their highest set bits are the
 * same. */
static inline bool size_bucket_same(uint64_t a, uint64_t b) {
    return (a ^ b) <= (a & b);
}

#endif
