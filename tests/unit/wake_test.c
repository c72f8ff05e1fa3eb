/* net_wake: another thread wakes the event loop. */
#include "net/loop/wake.h"
#include "net/net.h"
#include "unit/in_range.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { WAKES = 100 * 1000 };

struct shared {
    struct net *net;
    struct net_wake *wake;
    int written; /* atomic: by the thread, before each wake */
    int seen;    /* by the last callback */
    int callbacks;
};

static void *wake_often(void *arg) {
    struct shared *shared = arg;
    for (int i = 0; i < WAKES; i++) {
        __atomic_add_fetch(&shared->written, 1, __ATOMIC_RELAXED);
        net_wake(shared->wake);
    }
    return NULL;
}

static void on_wake(void *arg) {
    struct shared *shared = arg;
    shared->seen = __atomic_load_n(&shared->written, __ATOMIC_RELAXED);
    shared->callbacks++;
    if (shared->seen == WAKES) net_stop(shared->net);
}

static void begin(struct shared *shared) {
    const char *error;
    *shared = (struct shared){.net = net_new(&error)};
    assert_non_null(shared->net);
    shared->wake = net_wake_new(shared->net, on_wake, shared);
    assert_non_null(shared->wake);
}

/* A lost wake-up would let the loop sleep for ever: the test would be killed. */
static void a_callback_follows_each_wake(void **state) {
    (void)state;
    struct shared shared;
    begin(&shared);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, wake_often, &shared), 0);
    net_run(shared.net);
    pthread_join(thread, NULL);
    assert_int_equal(shared.seen, WAKES);
    assert_uint_in_range(shared.callbacks, 1, WAKES);
    net_free(shared.net);
}

static void several_wakes_before_the_loop_runs_are_one_callback(void **state) {
    (void)state;
    struct shared shared;
    begin(&shared);
    for (int i = 0; i < 5; i++) net_wake(shared.wake);
    net_poll(shared.net);
    net_poll(shared.net);
    assert_int_equal(shared.callbacks, 1);
    net_wake(shared.wake);
    net_poll(shared.net);
    assert_int_equal(shared.callbacks, 2);
    net_wake(shared.wake); /* the loop is freed before its callback */
    net_free(shared.net);
    assert_int_equal(shared.callbacks, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_callback_follows_each_wake),
        cmocka_unit_test(several_wakes_before_the_loop_runs_are_one_callback),
    };
    return cmocka_run_group_tests_name("wake", tests, NULL, NULL);
}
