#include "base/clock.h"
#include "unit/in_range.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

static void wall_clock_is_the_systems(void **state) {
    (void)state;
    struct timespec before, after;
    clock_gettime(CLOCK_REALTIME, &before);
    int64_t us = clock_wall_us(), ms = clock_wall_ms();
    clock_gettime(CLOCK_REALTIME, &after);
    assert_uint_in_range(us / 1000000, before.tv_sec, after.tv_sec);
    assert_uint_in_range(ms, us / 1000, after.tv_sec * 1000 + after.tv_nsec / 1000000);
}

static void monotonic_clock_never_goes_back(void **state) {
    (void)state;
    int64_t last = clock_monotonic_us();
    for (int i = 0; i < 100000; i++) {
        int64_t now = clock_monotonic_us();
        assert_true(now >= last);
        last = now;
    }
}

static void ticks_measure_the_same_time_as_the_monotonic_clock(void **state) {
    (void)state;
    /* The shortest of a few tries: others may run in between the two readings. */
    int64_t best = INT64_MAX;
    for (int i = 0; i < 5 && best > 100; i++) {
        int64_t start_us = clock_monotonic_us();
        uint64_t start = clock_ticks();
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        uint64_t ticks = clock_ticks() - start;
        int64_t difference = clock_monotonic_us() - start_us - (int64_t)clock_ticks_to_us(ticks);
        if (llabs(difference) < best) best = llabs(difference);
    }
    assert_true(best <= 100);
}

static void ticks_never_go_back_and_scale_linearly(void **state) {
    (void)state;
    uint64_t last = clock_ticks();
    for (int i = 0; i < 100000; i++) {
        uint64_t now = clock_ticks();
        assert_true(now >= last);
        last = now;
    }
    assert_int_equal(clock_ticks_to_us(0), 0);
    uint64_t short_time = clock_ticks_to_us(1UL << 32), long_time = clock_ticks_to_us(1UL << 62);
    assert_true(short_time > 0);
    assert_true(long_time >> 30 >= short_time && long_time >> 30 <= short_time + 1);
    for (uint64_t us = 1; us < 1000000000; us *= 10)
        assert_int_equal(clock_ticks_to_us(clock_us_to_ticks(us)), us);
    assert_int_equal(clock_us_to_ticks(0), 0);
    assert_int_equal(clock_us_to_ticks(UINT64_MAX), UINT64_MAX);
    uint64_t ns = clock_ticks_to_ns(1UL << 32);
    assert_uint_in_range(ns, short_time * 1000, short_time * 1000 + 999);
}

int main(void) {
    clock_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wall_clock_is_the_systems),
        cmocka_unit_test(monotonic_clock_never_goes_back),
        cmocka_unit_test(ticks_measure_the_same_time_as_the_monotonic_clock),
        cmocka_unit_test(ticks_never_go_back_and_scale_linearly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
