/* tick_histogram: durations, counted in buckets of about equal relative width.
 *
 *      bucket   0  1  2 …  7 |  8  9 … 15 | 16 17 …
 *      ticks   32 36 40 … 60 | 64 72 … 120| 128 144 …
 *
 * A tick is one of clock_ticks. Each doubling has STEPS buckets, so the end of a bucket is at most
 * an eighth above any duration in it. The first bucket also counts shorter durations, the last one
 * longer ones (some ten nanoseconds; more than a minute). Counting is a shift and an increment; all
 * other arithmetic is done when the histogram is read. */
#ifndef PACKLIST_STATS_TICK_HISTOGRAM_H
#define PACKLIST_STATS_TICK_HISTOGRAM_H

#include <stdint.h>

enum {
    TICK_HISTOGRAM_STEP_BITS = 3,
    TICK_HISTOGRAM_STEPS = 1 << TICK_HISTOGRAM_STEP_BITS,
    TICK_HISTOGRAM_MIN_BITS = 5,
    TICK_HISTOGRAM_MAX_BITS = 38,
    TICK_HISTOGRAM_BUCKETS =
        (TICK_HISTOGRAM_MAX_BITS - TICK_HISTOGRAM_MIN_BITS) * TICK_HISTOGRAM_STEPS
};

/* All zero is an empty histogram. */
struct tick_histogram {
    uint64_t counts[TICK_HISTOGRAM_BUCKETS];
};

static inline unsigned tick_histogram_bucket(uint64_t ticks) {
    const uint64_t min = UINT64_C(1) << TICK_HISTOGRAM_MIN_BITS;
    const uint64_t max = (UINT64_C(1) << TICK_HISTOGRAM_MAX_BITS) - 1;
    if (ticks < min) ticks = min;
    if (ticks > max) ticks = max;
    unsigned top_bit = 63 - (unsigned)__builtin_clzll(ticks);
    unsigned step =
        (unsigned)(ticks >> (top_bit - TICK_HISTOGRAM_STEP_BITS)) & (TICK_HISTOGRAM_STEPS - 1);
    return (top_bit - TICK_HISTOGRAM_MIN_BITS) * TICK_HISTOGRAM_STEPS + step;
}

static inline void tick_histogram_count(struct tick_histogram *histogram, uint64_t ticks) {
    histogram->counts[tick_histogram_bucket(ticks)]++;
}

/* Returns the longest duration, in ticks, that belongs to a bucket. */
uint64_t tick_histogram_end(unsigned bucket);

/* Returns how many durations were counted. O(buckets), as the next one. */
uint64_t tick_histogram_total(const struct tick_histogram *histogram);

/* Returns the end of the bucket within which `percent` (0 … 100) of the durations lie, in ticks; 0
 * when none was counted. */
uint64_t tick_histogram_percentile(const struct tick_histogram *histogram, double percent);

#endif
