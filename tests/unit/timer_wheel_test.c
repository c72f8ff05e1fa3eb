/* The wheel against a model: the deadlines themselves, looked through one by one. */
#include "ds/timer_wheel.h"
#include "unit/in_range.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NODES = 150 };

struct timeout {
    struct timer_node node; /* first: a node is its timeout */
    bool armed;
    int64_t
        fires_ms;   /* the deadline, or the advance after the one in which it was added too late */
    uint64_t order; /* of adding */
};

struct model {
    struct timer_wheel wheel;
    struct timeout timeouts[NODES];
    struct random random;
    int64_t now_ms, fired_deadline_ms;
    uint64_t orders, fired_order;
    size_t armed, fired;
    bool advancing;
};

static void model_start(struct model *model, int64_t now_ms) {
    memset(model, 0, sizeof(*model));
    model->random = random_of_this_run();
    timer_wheel_init(&model->wheel, now_ms);
    model->now_ms = now_ms;
}

static void arm(struct model *model, struct timeout *timeout, int64_t deadline_ms) {
    int64_t earliest_ms = model->now_ms + (model->advancing ? 1 : 0);
    timer_wheel_add(&model->wheel, &timeout->node, deadline_ms);
    timeout->armed = true;
    timeout->fires_ms = deadline_ms > earliest_ms ? deadline_ms : earliest_ms;
    timeout->order = model->orders++;
    model->armed++;
}

static void disarm(struct model *model, struct timeout *timeout) {
    if (timeout->armed) model->armed--;
    timer_wheel_remove(&timeout->node);
    timeout->armed = false;
}

/* Milliseconds from now: of any magnitude up to years. */
static int64_t random_span(struct random *random) {
    return (int64_t)(random_next(random) >> (24 + random_below(random, 40)));
}

static void arm_at_random(struct model *model, struct timeout *timeout) {
    int64_t span_ms = random_span(&model->random);
    if (random_below(&model->random, 10) == 0) span_ms = -span_ms;
    if (random_below(&model->random, 50) == 0) span_ms = INT64_MAX - model->now_ms;
    arm(model, timeout, model->now_ms + span_ms);
}

static void on_fire(struct timer_node *node, void *arg) {
    struct model *model = arg;
    struct timeout *timeout = (struct timeout *)node;
    assert_true(timeout->armed);
    assert_null(node->wheel);
    assert_true(timeout->fires_ms <= model->now_ms);
    assert_true(timeout->fires_ms >= model->fired_deadline_ms);
    if (timeout->fires_ms == model->fired_deadline_ms) {
        assert_true(timeout->order > model->fired_order);
    }
    model->fired_deadline_ms = timeout->fires_ms;
    model->fired_order = timeout->order;
    timeout->armed = false;
    model->armed--;
    model->fired++;
    struct timeout *other = &model->timeouts[random_below(&model->random, NODES)];
    if (random_below(&model->random, 4) == 0) disarm(model, other);
    if (random_below(&model->random, 4) == 0 && !other->armed) arm_at_random(model, other);
}

static int64_t earliest(const struct model *model) {
    int64_t earliest_ms = INT64_MAX;
    for (size_t i = 0; i < NODES; i++) {
        const struct timeout *timeout = &model->timeouts[i];
        if (timeout->armed && timeout->fires_ms < earliest_ms) earliest_ms = timeout->fires_ms;
    }
    return earliest_ms;
}

static void advance_to(struct model *model, int64_t now_ms) {
    model->now_ms = now_ms;
    model->advancing = true;
    model->fired_deadline_ms = INT64_MIN;
    model->fired = 0;
    size_t fired = timer_wheel_advance(&model->wheel, now_ms, on_fire, model);
    assert_int_equal(fired, model->fired);
    model->advancing = false;
    assert_true(earliest(model) > now_ms); /* nothing that is due was left */
}

static void assert_like_model(const struct model *model) {
    assert_true(timer_wheel_check(&model->wheel));
    assert_int_equal(timer_wheel_count(&model->wheel), model->armed);
    int64_t earliest_ms = earliest(model), next_ms = timer_wheel_next(&model->wheel);
    assert_true(next_ms <= earliest_ms);
    assert_true(next_ms >= model->now_ms);
    if (earliest_ms / 64 == model->now_ms / 64) assert_true(next_ms == earliest_ms);
}

static void random_steps_agree_with_the_model(void **state) {
    (void)state;
    struct model model;
    for (int round = 0; round < 40; round++) {
        model_start(&model, 0);
        advance_to(&model, random_span(&model.random));
        for (int step = 0; step < 1000 && model.now_ms < INT64_MAX / 4; step++) {
            struct timeout *timeout = &model.timeouts[random_below(&model.random, NODES)];
            uint64_t dice = random_below(&model.random, 10);
            if (dice < 5 && !timeout->armed) arm_at_random(&model, timeout);
            if (dice == 5) disarm(&model, timeout);
            if (dice == 6) advance_to(&model, model.now_ms + random_span(&model.random));
            if (dice == 7) advance_to(&model, model.now_ms + (int64_t)(dice & 1));
            if (dice == 8 && model.armed > 0) {
                int64_t next_ms = timer_wheel_next(&model.wheel);
                if (next_ms < INT64_MAX / 4) advance_to(&model, next_ms);
            }
            assert_like_model(&model);
        }
    }
}

static void count_fire(struct timer_node *node, void *arg) {
    (void)node;
    ++*(size_t *)arg;
}

/* `count` timeouts at the same time: how often must one wake up until they fire, all at once? */
static int wake_ups_until_fired(struct timer_node *nodes, size_t count, int64_t span_ms) {
    struct timer_wheel wheel;
    int64_t start_ms = 1700000000123, deadline_ms = start_ms + span_ms;
    size_t fired = 0;
    int wake_ups = 0;
    timer_wheel_init(&wheel, start_ms);
    for (size_t i = 0; i < count; i++) timer_wheel_add(&wheel, &nodes[i], deadline_ms);
    while (fired == 0) {
        int64_t next_ms = timer_wheel_next(&wheel);
        assert_true(next_ms <= deadline_ms);
        timer_wheel_advance(&wheel, next_ms, count_fire, &fired);
        assert_int_equal(fired, next_ms == deadline_ms ? count : 0);
        wake_ups++;
    }
    assert_true(timer_wheel_next(&wheel) == INT64_MAX);
    return wake_ups;
}

static void far_timeouts_are_met_exactly_after_few_wake_ups(void **state) {
    (void)state;
    struct timer_node nodes[100] = {0};
    for (int64_t span_ms = 1; span_ms < INT64_MAX / 8; span_ms = span_ms * 3 + 1) {
        assert_int_equal(wake_ups_until_fired(nodes, 1, span_ms), 1);
        assert_int_equal(wake_ups_until_fired(nodes, 16, span_ms), 1);
        assert_uint_in_range(wake_ups_until_fired(nodes, 100, span_ms), 1, TIMER_WHEEL_LEVELS);
    }
}

static void time_that_goes_back_changes_nothing(void **state) {
    (void)state;
    struct timer_wheel wheel;
    struct timer_node node = {0};
    size_t fired = 0;
    timer_wheel_init(&wheel, 1000);
    timer_wheel_add(&wheel, &node, 900); /* overdue already */
    assert_int_equal(timer_wheel_advance(&wheel, 950, count_fire, &fired), 0);
    assert_non_null(node.wheel);
    assert_int_equal(timer_wheel_next(&wheel), 1000);
    assert_int_equal(timer_wheel_advance(&wheel, 1000, count_fire, &fired), 1);
    assert_int_equal(fired, 1);
    assert_null(node.wheel);
    timer_wheel_remove(&node); /* in no wheel: left alone */
    assert_int_equal(timer_wheel_count(&wheel), 0);
}

struct rearm {
    struct timer_wheel *wheel;
    size_t fired;
};

static void rearm_as_due(struct timer_node *node, void *arg) {
    struct rearm *rearm = arg;
    rearm->fired++;
    timer_wheel_add(rearm->wheel, node, 0);
}

static void a_node_that_is_added_as_due_while_firing_waits_for_the_next_advance(void **state) {
    (void)state;
    struct timer_wheel wheel;
    struct timer_node node = {0};
    struct rearm rearm = {&wheel, 0};
    timer_wheel_init(&wheel, 5);
    timer_wheel_add(&wheel, &node, 60);
    for (int64_t now_ms = 63; now_ms < 200; now_ms++) {
        size_t before = rearm.fired;
        assert_int_equal(timer_wheel_advance(&wheel, now_ms, rearm_as_due, &rearm), 1);
        assert_int_equal(rearm.fired, before + 1);
        assert_int_equal(timer_wheel_next(&wheel), now_ms + 1);
        assert_true(timer_wheel_check(&wheel));
    }
}

static void the_check_sees_what_is_wrong(void **state) {
    (void)state;
    struct timer_wheel wheel;
    struct timer_node node = {0};
    timer_wheel_init(&wheel, 5);
    timer_wheel_add(&wheel, &node, 5000);
    node.deadline_ms = 100000; /* belongs elsewhere */
    assert_false(timer_wheel_check(&wheel));
    node.deadline_ms = 5000;
    assert_true(timer_wheel_check(&wheel));
    wheel.now_ms = 5001; /* passed without firing */
    assert_false(timer_wheel_check(&wheel));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_steps_agree_with_the_model),
        cmocka_unit_test(far_timeouts_are_met_exactly_after_few_wake_ups),
        cmocka_unit_test(time_that_goes_back_changes_nothing),
        cmocka_unit_test(a_node_that_is_added_as_due_while_firing_waits_for_the_next_advance),
        cmocka_unit_test(the_check_sees_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
