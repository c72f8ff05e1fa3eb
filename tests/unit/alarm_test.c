/* alarm: rings while the thread works, and not while it waits. */
#include "base/threads/alarm.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

static void count(void *arg) {
    volatile sig_atomic_t *rung = arg;
    ++*rung;
    errno = EPERM;
}

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void work_for(double seconds) {
    for (double end = cpu_seconds() + seconds; cpu_seconds() < end;) continue;
}

static void it_rings_again_and_again_while_the_thread_works(void **state) {
    (void)state;
    volatile sig_atomic_t rung = 0;
    struct alarm *alarm = alarm_start(count, (void *)&rung);
    assert_non_null(alarm);
    errno = EINTR;
    double end = cpu_seconds() + 60;
    while (rung < 3 && cpu_seconds() < end) continue;
    assert_true(rung >= 3);
    assert_int_equal(errno, EINTR);
    alarm_stop(alarm);
    int before = rung;
    work_for(3 * ALARM_MS / 1000.0);
    assert_int_equal(rung, before);
}

static void it_does_not_interrupt_a_thread_that_waits(void **state) {
    (void)state;
    volatile sig_atomic_t rung = 0;
    struct alarm *alarm = alarm_start(count, (void *)&rung);
    struct timespec wait = {.tv_nsec = 4 * ALARM_MS * 1000000};
    assert_int_equal(nanosleep(&wait, NULL), 0);
    assert_int_equal(rung, 0);
    alarm_stop(alarm);
}

static void a_signal_of_another_process_is_ignored(void **state) {
    (void)state;
    volatile sig_atomic_t rung = 0;
    struct alarm *alarm = alarm_start(count, (void *)&rung);
    assert_int_equal(raise(SIGVTALRM), 0);
    assert_int_equal(rung, 0);
    alarm_stop(alarm);
    assert_int_equal(raise(SIGVTALRM), 0);
    alarm_stop(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_rings_again_and_again_while_the_thread_works),
        cmocka_unit_test(it_does_not_interrupt_a_thread_that_waits),
        cmocka_unit_test(a_signal_of_another_process_is_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
