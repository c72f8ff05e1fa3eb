/* When I/O threads are to have connections. */
#include "net/threads/io_load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct io_load load;
static struct io_sample now;

/* A window of 100 ms in which the loop's thread ran and waited so many milliseconds, polled so many
 * times, and found so many connections ready; threads took 5 us of each. Returns whether threads
 * are to have connections. */
static bool window(unsigned run_ms, unsigned wait_ms, unsigned polls, unsigned reads) {
    now.wall_us += 100000;
    now.run_us += run_ms * 1000;
    now.wait_us += wait_ms * 1000;
    now.polls += polls;
    now.reads += reads;
    if (load.takes) now.threads_us += reads * 5;
    io_load_look(&load, &now);
    return load.takes;
}

static bool windows(unsigned count, unsigned run_ms, unsigned wait_ms, unsigned polls,
                    unsigned reads) {
    bool takes = load.takes;
    for (unsigned i = 0; i < count; i++) takes = window(run_ms, wait_ms, polls, reads);
    return takes;
}

static int setup(void **state) {
    (void)state;
    load = (struct io_load){.takes = false};
    now = (struct io_sample){.wall_us = 1000};
    window(0, 0, 1, 0);
    return 0;
}

static void an_idle_loop_keeps_its_connections(void **state) {
    (void)state;
    assert_false(windows(100, 1, 0, 10, 10));
}

static void a_busy_loop_gives_its_connections_to_threads(void **state) {
    (void)state;
    assert_false(window(80, 0, 100, 8000));
    assert_true(window(80, 0, 100, 8000));
}

static void one_busy_window_does_not_count(void **state) {
    (void)state;
    for (unsigned i = 0; i < 10; i++) {
        assert_false(window(80, 0, 100, 8000));
        assert_false(window(10, 0, 100, 1000));
    }
}

static void a_lone_client_stays_with_a_busy_loop(void **state) {
    (void)state;
    assert_false(windows(100, 90, 0, 5000, 5000));
}

static void a_loop_that_gets_half_of_a_processor_is_busy_with_that(void **state) {
    (void)state;
    assert_false(windows(2, 40, 10, 100, 4000));
    assert_true(windows(2, 40, 50, 100, 4000));
}

static void what_threads_do_counts_as_the_loops_load(void **state) {
    (void)state;
    assert_true(windows(2, 80, 0, 100, 8000));
    assert_true(windows(100, 8, 0, 800, 8000)); /* 8 ms and 8,000 times 5 us */
}

static void a_loop_with_little_to_do_gets_its_connections_back(void **state) {
    (void)state;
    assert_true(windows(2, 80, 0, 100, 8000));
    assert_true(windows(9, 2, 0, 100, 800));
    assert_false(window(2, 0, 100, 800));
}

static void so_does_one_with_a_client_at_a_time(void **state) {
    (void)state;
    assert_true(windows(2, 80, 0, 100, 8000));
    assert_false(windows(10, 30, 0, 4000, 4000));
}

static void what_takes_threads_long_counts_as_they_need(void **state) {
    (void)state;
    assert_true(windows(2, 80, 0, 100, 1000));
    for (unsigned i = 0; i < 20; i++) {
        now.threads_us += 30000;
        assert_true(window(5, 0, 100, 1000));
    }
}

static void threads_that_wait_for_a_processor_are_busy(void **state) {
    (void)state;
    assert_true(windows(2, 80, 0, 100, 8000));
    assert_true(windows(20, 3, 30, 100, 1000));
}

static void the_last_window_says_why(void **state) {
    (void)state;
    struct io_load fresh = {.takes = false};
    assert_int_equal(fresh.verdict, IO_LOAD_UNKNOWN);
    window(1, 0, 10, 100);
    assert_int_equal(load.verdict, IO_LOAD_LITTLE_WORK);
    window(90, 0, 5000, 5000);
    assert_int_equal(load.verdict, IO_LOAD_FEW_READY);
    assert_false(window(80, 0, 100, 8000));
    assert_int_equal(load.verdict, IO_LOAD_HELPS);
    assert_true(window(80, 0, 100, 8000));
    window(2, 0, 100, 800); /* they still have connections */
    assert_int_equal(load.verdict, IO_LOAD_LITTLE_WORK);
    load = (struct io_load){.takes = false};
    assert_int_equal(load.verdict, IO_LOAD_UNKNOWN);
}

static void a_thread_may_end(void **state) {
    (void)state;
    windows(3, 80, 0, 100, 8000);
    now.threads_us = 0;
    assert_true(windows(3, 80, 0, 100, 8000));
}

static void the_system_tells_what_a_thread_has_done(void **state) {
    (void)state;
    struct io_meter meter = {.is_open = false};
    uint64_t run_us, wait_us, begun_us, waited_us;
    io_meter_read(&meter, &run_us, &wait_us);
    assert_int_equal(run_us + wait_us, 0);
    io_meter_open(&meter);
    io_meter_read(&meter, &begun_us, &waited_us);
    do {
        io_meter_read(&meter, &run_us, &wait_us);
    } while (run_us < begun_us + 2000);
    io_meter_close(&meter);
    assert_true(wait_us >= waited_us);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(an_idle_loop_keeps_its_connections, setup),
        cmocka_unit_test_setup(a_busy_loop_gives_its_connections_to_threads, setup),
        cmocka_unit_test_setup(one_busy_window_does_not_count, setup),
        cmocka_unit_test_setup(a_lone_client_stays_with_a_busy_loop, setup),
        cmocka_unit_test_setup(a_loop_that_gets_half_of_a_processor_is_busy_with_that, setup),
        cmocka_unit_test_setup(what_threads_do_counts_as_the_loops_load, setup),
        cmocka_unit_test_setup(a_loop_with_little_to_do_gets_its_connections_back, setup),
        cmocka_unit_test_setup(so_does_one_with_a_client_at_a_time, setup),
        cmocka_unit_test_setup(what_takes_threads_long_counts_as_they_need, setup),
        cmocka_unit_test_setup(threads_that_wait_for_a_processor_are_busy, setup),
        cmocka_unit_test_setup(the_last_window_says_why, setup),
        cmocka_unit_test_setup(a_thread_may_end, setup),
        cmocka_unit_test_setup(the_system_tells_what_a_thread_has_done, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
