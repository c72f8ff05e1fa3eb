/* Work in other threads. */
#define _GNU_SOURCE /* for gettid */
#include "net/loop/pool.h"

#include "base/memory/alloc.h"
#include "net/net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

struct job {
    struct net *net;
    void *bytes;
    uint64_t result;
    pid_t worker;
    int again; /* how often it begins again when it is done */
    int *open; /* jobs that are not done */
};

static void work(void *arg) {
    struct job *job = arg;
    mem_free(job->bytes);
    job->worker = gettid();
    job->result++;
}

static void done(void *arg) {
    struct job *job = arg;
    if (job->again > 0) {
        job->again--;
        job->bytes = mem_alloc(1000);
        net_pool_run(job->net, work, done, job);
    } else if (--*job->open == 0) {
        net_stop(job->net);
    }
}

static struct net *new_net(void) {
    const char *error = NULL;
    struct net *net = net_new(&error);
    assert_non_null(net);
    return net;
}

static void work_runs_in_another_thread_and_its_end_is_reported_in_the_loop(void **state) {
    (void)state;
    enum { JOBS = 50, AGAIN = 20 };
    struct net *net = new_net();
    struct job jobs[JOBS];
    int open = 1;
    jobs[0] = (struct job){.net = net, .open = &open};
    net_pool_run(net, work, done, &jobs[0]); /* the threads start: they allocate some memory */
    net_run(net);
    open = JOBS;
    size_t used = mem_used();
    for (int i = 0; i < JOBS; i++) {
        jobs[i] = (struct job){.net = net, .again = AGAIN, .open = &open, .bytes = mem_alloc(1000)};
        net_pool_run(net, work, done, &jobs[i]);
    }
    net_run(net);
    assert_int_equal(open, 0);
    for (int i = 0; i < JOBS; i++) {
        assert_int_equal(jobs[i].result, 1 + AGAIN);
        assert_int_not_equal(jobs[i].worker, gettid());
    }
    assert_int_equal(mem_used(), used); /* memory freed by other threads is counted */
    net_free(net);
}

static void freeing_the_loop_waits_for_work_that_was_begun(void **state) {
    (void)state;
    struct net *net = new_net();
    int open = 1;
    struct job job = {.net = net, .open = &open, .bytes = mem_alloc(100)};
    net_pool_run(net, work, done, &job);
    net_free(net);
    assert_int_equal(job.result, 1);
    assert_int_equal(open, 0);
}

static void either_function_may_be_missing(void **state) {
    (void)state;
    struct net *net = new_net();
    int open = 1;
    struct job silent = {.bytes = mem_alloc(100)}, idle = {.net = net, .open = &open};
    net_pool_run(net, work, NULL, &silent);
    net_pool_run(net, NULL, done, &idle);
    net_run(net);
    net_free(net); /* waits for the other one */
    assert_int_equal(silent.result, 1);
    assert_int_equal(idle.result, 0);
    assert_int_equal(open, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_runs_in_another_thread_and_its_end_is_reported_in_the_loop),
        cmocka_unit_test(freeing_the_loop_waits_for_work_that_was_begun),
        cmocka_unit_test(either_function_may_be_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
