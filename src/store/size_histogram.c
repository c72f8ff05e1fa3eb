#include "store/size_histogram.h"

#include "base/checked.h"
#include "base/memory/alloc.h"

enum { COUNTS_SIZE = SIZE_BUCKETS * sizeof(uint64_t) }; /* of one type */

static unsigned bucket_of(uint64_t size) {
    return size ? 64 - (unsigned)__builtin_clzll(size) : 0;
}

void size_histogram_free(struct size_histogram *histogram) {
    for (unsigned type = 0; type < VALUE_TYPES; type++) mem_free(histogram->counts[type]);
    *histogram = (struct size_histogram){0};
}

void size_histogram_add(struct size_histogram *histogram, enum value_type type, uint64_t size) {
    CHECKED_ASSERT((unsigned)type < VALUE_TYPES && bucket_of(size) < SIZE_BUCKETS);
    uint64_t **counts = &histogram->counts[type];
    if (*counts == NULL) *counts = mem_alloc_zeroed(COUNTS_SIZE);
    (*counts)[bucket_of(size)]++;
}

void size_histogram_remove(struct size_histogram *histogram, enum value_type type, uint64_t size) {
    CHECKED_ASSERT(size_histogram_count(histogram, type, bucket_of(size)) > 0);
    histogram->counts[type][bucket_of(size)]--;
}

uint64_t size_histogram_count(const struct size_histogram *histogram, enum value_type type,
                              unsigned bucket) {
    CHECKED_ASSERT((unsigned)type < VALUE_TYPES && bucket < SIZE_BUCKETS);
    const uint64_t *counts = histogram->counts[type];
    return counts ? counts[bucket] : 0;
}

size_t size_histogram_allocated(const struct size_histogram *histogram) {
    size_t types = 0;
    for (unsigned type = 0; type < VALUE_TYPES; type++) types += histogram->counts[type] != NULL;
    return types * mem_good_size(COUNTS_SIZE);
}

bool size_histogram_equal(const struct size_histogram *a, const struct size_histogram *b) {
    for (unsigned type = 0; type < VALUE_TYPES; type++) {
        for (unsigned bucket = 0; bucket < SIZE_BUCKETS; bucket++) {
            if (size_histogram_count(a, (enum value_type)type, bucket) !=
                size_histogram_count(b, (enum value_type)type, bucket))
                return false;
        }
    }
    return true;
}
