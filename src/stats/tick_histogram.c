#include "stats/tick_histogram.h"

uint64_t tick_histogram_end(unsigned bucket) {
    unsigned top_bit = bucket / TICK_HISTOGRAM_STEPS + TICK_HISTOGRAM_MIN_BITS;
    uint64_t step = TICK_HISTOGRAM_STEPS + bucket % TICK_HISTOGRAM_STEPS;
    return ((step + 1) << (top_bit - TICK_HISTOGRAM_STEP_BITS)) - 1;
}

uint64_t tick_histogram_total(const struct tick_histogram *histogram) {
    uint64_t total = 0;
    for (unsigned i = 0; i < TICK_HISTOGRAM_BUCKETS; i++) total += histogram->counts[i];
    return total;
}

uint64_t tick_histogram_percentile(const struct tick_histogram *histogram, double percent) {
    uint64_t total = tick_histogram_total(histogram);
    uint64_t rank = (uint64_t)(percent / 100 * (double)total + 0.5);
    uint64_t passed = 0;
    if (total == 0) return 0;
    if (rank == 0) rank = 1;
    if (rank > total) rank = total; /* the product may have been rounded up */
    unsigned bucket = 0;
    while ((passed += histogram->counts[bucket]) < rank) bucket++;
    return tick_histogram_end(bucket);
}
