/* tick_histogram: every duration has its bucket, and percentiles are never too small. */
#include "stats/tick_histogram.h"

#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void buckets_follow_each_other_without_a_gap(void **state) {
    (void)state;
    for (unsigned i = 0; i < TICK_HISTOGRAM_BUCKETS; i++) {
        uint64_t end = tick_histogram_end(i);
        assert_int_equal(tick_histogram_bucket(end), i);
        unsigned next = i + 1 < TICK_HISTOGRAM_BUCKETS ? i + 1 : i;
        assert_int_equal(tick_histogram_bucket(end + 1), next);
    }
}

static void what_is_out_of_range_goes_to_the_ends(void **state) {
    (void)state;
    assert_int_equal(tick_histogram_bucket(0), 0);
    assert_int_equal(tick_histogram_bucket(1), 0);
    assert_int_equal(tick_histogram_bucket(UINT64_MAX), TICK_HISTOGRAM_BUCKETS - 1);
}

static void a_bucket_ends_at_most_an_eighth_beyond(void **state) {
    (void)state;
    for (uint64_t ticks = 32; ticks < (UINT64_C(1) << 37); ticks += ticks / 13 + 1) {
        uint64_t end = tick_histogram_end(tick_histogram_bucket(ticks));
        assert_true(end >= ticks);
        assert_true(end - ticks <= ticks / 8);
    }
}

static void an_empty_one_has_no_percentile(void **state) {
    (void)state;
    static const struct tick_histogram empty;
    assert_int_equal(tick_histogram_total(&empty), 0);
    assert_int_equal(tick_histogram_percentile(&empty, 50), 0);
}

static int compare(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static void percentiles_agree_with_sorted_durations(void **state) {
    (void)state;
    enum { COUNT = 5000 };
    static struct tick_histogram histogram;
    static uint64_t sorted[COUNT];
    struct random random = random_of_this_run();
    for (int i = 0; i < COUNT; i++) {
        unsigned bits = 6 + (unsigned)random_below(&random, 30);
        sorted[i] = (UINT64_C(1) << bits) + random_below(&random, UINT64_C(1) << bits);
        tick_histogram_count(&histogram, sorted[i]);
    }
    qsort(sorted, COUNT, sizeof(sorted[0]), compare);
    assert_int_equal(tick_histogram_total(&histogram), COUNT);
    for (int percent = 0; percent <= 100; percent++) {
        int rank = percent * COUNT / 100;
        uint64_t exact = sorted[rank ? rank - 1 : 0];
        uint64_t found = tick_histogram_percentile(&histogram, percent);
        assert_int_equal(found, tick_histogram_end(tick_histogram_bucket(exact)));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_follow_each_other_without_a_gap),
        cmocka_unit_test(what_is_out_of_range_goes_to_the_ends),
        cmocka_unit_test(a_bucket_ends_at_most_an_eighth_beyond),
        cmocka_unit_test(an_empty_one_has_no_percentile),
        cmocka_unit_test(percentiles_agree_with_sorted_durations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
