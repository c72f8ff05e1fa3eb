/* latency: the monitor keeps the worst of each second, for the last seconds that had any. */
#include "stats/latency.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void a_second_keeps_its_worst(void **state) {
    (void)state;
    struct latency_monitor monitor = {0};
    latency_note(&monitor, LATENCY_COMMAND, 100, 5);
    latency_note(&monitor, LATENCY_COMMAND, 100, 9);
    latency_note(&monitor, LATENCY_COMMAND, 100, 7);
    latency_note(&monitor, LATENCY_COMMAND, 101, 3);
    const struct latency_event *event = monitor.events[LATENCY_COMMAND];
    assert_int_equal(event->count, 2);
    assert_int_equal(latency_sample_at(event, 0)->ms, 9);
    assert_int_equal(latency_sample_at(event, 1)->ms, 3);
    assert_int_equal(event->max_ms, 9);
    assert_null(monitor.events[LATENCY_FAST_COMMAND]);
    latency_forget_all(&monitor);
}

static void the_ring_keeps_the_last_samples(void **state) {
    (void)state;
    struct latency_monitor monitor = {0};
    for (unsigned i = 0; i < 3 * LATENCY_SAMPLES + 7; i++) {
        latency_note(&monitor, LATENCY_EXPIRE_CYCLE, i, 1000 - i);
        const struct latency_event *event = monitor.events[LATENCY_EXPIRE_CYCLE];
        unsigned count = i + 1 < LATENCY_SAMPLES ? i + 1 : LATENCY_SAMPLES;
        assert_int_equal(event->count, count);
        assert_int_equal(latency_sample_at(event, 0)->time_s, i + 1 - count);
        assert_int_equal(latency_sample_at(event, count - 1)->time_s, i);
    }
    assert_int_equal(monitor.events[LATENCY_EXPIRE_CYCLE]->max_ms, 1000);
    latency_forget_all(&monitor);
}

static void a_summary_has_extremes_mean_and_period(void **state) {
    (void)state;
    struct latency_monitor monitor = {0};
    latency_note(&monitor, LATENCY_COMMAND, 100, 10);
    latency_note(&monitor, LATENCY_COMMAND, 102, 30);
    struct latency_summary summary = latency_summarize(monitor.events[LATENCY_COMMAND], 110);
    assert_int_equal(summary.count, 2);
    assert_int_equal(summary.min_ms, 10);
    assert_int_equal(summary.max_ms, 30);
    assert_int_equal(summary.mean_ms, 20);
    assert_int_equal(summary.deviation_ms, 10);
    assert_true(summary.period_s > 4.9 && summary.period_s < 5.1);
    latency_forget_all(&monitor);
}

static void what_is_forgotten_is_gone(void **state) {
    (void)state;
    struct latency_monitor monitor = {0};
    latency_note(&monitor, LATENCY_COMMAND, 1, 1);
    assert_false(latency_forget(&monitor, LATENCY_EVICTION_CYCLE));
    assert_true(latency_forget(&monitor, LATENCY_COMMAND));
    assert_false(latency_forget(&monitor, LATENCY_COMMAND));
    assert_null(monitor.events[LATENCY_COMMAND]);
}

static void kinds_are_found_by_their_names(void **state) {
    (void)state;
    for (int i = 0; i < LATENCY_KINDS; i++) {
        const char *name = latency_kind_name((enum latency_kind)i);
        assert_non_null(name);
        assert_int_equal(latency_kind_named(slice_of_cstr(name)), i);
    }
    assert_int_equal(latency_kind_named(SLICE("Command")), -1);
    assert_int_equal(latency_kind_named(SLICE("")), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_keeps_its_worst),
        cmocka_unit_test(the_ring_keeps_the_last_samples),
        cmocka_unit_test(a_summary_has_extremes_mean_and_period),
        cmocka_unit_test(what_is_forgotten_is_gone),
        cmocka_unit_test(kinds_are_found_by_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
