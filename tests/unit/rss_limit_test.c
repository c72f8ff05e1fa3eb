/* What is done when the pages of memory exceed maxmemory (maxmemory-rss): each decision by itself, and
 * models of an allocator over many of them. */
#include "reclaim/rss_limit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MB = 1024 * 1024, MAX = 1024 * MB };

/* Figures in MB, of a maxmemory of 1024. */
static struct rss_figures figures_of(size_t used, size_t active, size_t movable) {
    return (struct rss_figures){
        .used = used * MB, .active = active * MB, .max = MAX, .movable = movable * MB};
}

static struct rss_limit start(void) {
    return (struct rss_limit){.allowed = MAX};
}

static void pages_that_fit_leave_what_is_free_of_them(void **state) {
    (void)state;
    struct rss_limit limit = start();
    struct rss_figures figures = figures_of(600, 900, 300);
    struct rss_measures measures = rss_limit_decide(&limit, &figures);
    assert_false(measures.purges || measures.moves);
    assert_int_equal(limit.state, RSS_FITS);
    assert_int_equal(limit.allowed, (600 + 1024 - 900) * (size_t)MB);
    /* Whatever the two clocks of the allocator say, never more than maxmemory. */
    figures = figures_of(1100, 1000, 0);
    rss_limit_decide(&limit, &figures);
    assert_int_equal(limit.allowed, MAX);
}

static void idle_pages_are_purged_before_anything_else(void **state) {
    (void)state;
    struct rss_limit limit = start();
    struct rss_figures figures = figures_of(600, 1000, 300);
    figures.idle = 20 * MB;
    assert_false(rss_limit_decide(&limit, &figures).purges);
    figures.idle = 100 * MB;
    struct rss_measures measures = rss_limit_decide(&limit, &figures);
    assert_true(measures.purges);
    assert_false(measures.moves);
    assert_int_equal(limit.state, RSS_FITS);
    figures = figures_of(1000, 1200, 0);
    figures.idle = MB; /* not worth it */
    assert_false(rss_limit_decide(&limit, &figures).purges);
}

static void blocks_move_before_keys_go(void **state) {
    (void)state;
    struct rss_limit limit = start();
    struct rss_figures figures = figures_of(900, 1050, 120);
    assert_true(rss_limit_decide(&limit, &figures).moves);
    assert_int_equal(limit.state, RSS_MOVES);
    assert_int_equal(limit.allowed, 900 * (size_t)MB);
    /* While they do, what comes in has to take the place of something else. */
    figures.is_moving = true;
    figures.active += 10 * (size_t)MB;
    assert_false(rss_limit_decide(&limit, &figures).moves);
    assert_int_equal(limit.state, RSS_MOVES);
    assert_int_equal(limit.allowed, 900 * (size_t)MB);
    /* What clients delete is not allowed again before the pages fit. */
    figures.used -= 50 * (size_t)MB;
    rss_limit_decide(&limit, &figures);
    assert_int_equal(limit.allowed, 850 * (size_t)MB);
    figures = figures_of(850, 1000, 20);
    rss_limit_decide(&limit, &figures);
    assert_int_equal(limit.state, RSS_FITS);
    assert_int_equal(limit.allowed, 874 * (size_t)MB);
}

static void keys_go_meanwhile_where_far_too_much_is_taken(void **state) {
    (void)state;
    struct rss_limit limit = start();
    struct rss_figures figures = figures_of(900, 1150, 200);
    assert_true(rss_limit_decide(&limit, &figures).moves);
    assert_int_equal(limit.state, RSS_FREES);
    assert_int_equal(limit.allowed, (900 - 126) * (size_t)MB);
}

static void no_more_is_freed_than_the_pages_exceed_the_limit(void **state) {
    (void)state;
    struct rss_limit limit = start();
    struct rss_figures figures = figures_of(1000, 1044, 0);
    assert_false(rss_limit_decide(&limit, &figures).moves);
    assert_int_equal(limit.state, RSS_FREES);
    assert_int_equal(limit.allowed, 980 * (size_t)MB);
    /* It is not lowered again while that is not free. */
    figures.used = 990 * (size_t)MB;
    for (int i = 0; i < 3; i++) rss_limit_decide(&limit, &figures);
    assert_int_equal(limit.allowed, 980 * (size_t)MB);
    /* The half has come back: the rest follows. */
    figures = figures_of(980, 1034, 0);
    rss_limit_decide(&limit, &figures);
    assert_int_equal(limit.state, RSS_FREES);
    assert_int_equal(limit.allowed, 970 * (size_t)MB);
}

static void freeing_ends_where_it_brings_nothing_back(void **state) {
    (void)state;
    struct rss_limit limit = start();
    struct rss_figures figures = figures_of(1000, 1044, 0);
    rss_limit_decide(&limit, &figures);
    for (int i = 0; i < 1000; i++) {
        figures = figures_of(980, 1043, 0);
        rss_limit_decide(&limit, &figures);
        assert_int_equal(limit.state, RSS_HOLDS);
        assert_int_equal(limit.allowed, 980 * (size_t)MB);
    }
    /* Gaps that it has left can be closed. */
    figures = figures_of(980, 1043, 20);
    assert_true(rss_limit_decide(&limit, &figures).moves);
    /* The pages have grown by more than a little. */
    figures = figures_of(980, 1060, 0);
    rss_limit_decide(&limit, &figures);
    assert_int_equal(limit.state, RSS_FREES);
    assert_int_equal(limit.allowed, (980 - 36) * (size_t)MB);
}

static void half_of_maxmemory_may_always_be_used(void **state) {
    (void)state;
    struct rss_limit limit = start();
    struct rss_figures figures = figures_of(520, 2000, 0);
    rss_limit_decide(&limit, &figures);
    assert_int_equal(limit.allowed, 512 * (size_t)MB);
    figures = figures_of(510, 3000, 0);
    for (int i = 0; i < 10; i++) rss_limit_decide(&limit, &figures);
    assert_int_equal(limit.state, RSS_HOLDS);
    assert_int_equal(limit.allowed, 512 * (size_t)MB);
}

static void states_have_names(void **state) {
    (void)state;
    assert_string_equal(rss_state_name(RSS_FITS), "fits");
    assert_string_equal(rss_state_name(RSS_MOVES), "moves");
    assert_string_equal(rss_state_name(RSS_FREES), "frees");
    assert_string_equal(rss_state_name(RSS_HOLDS), "holds");
}

/* --- Models: what is freed leaves gaps, of which `returned` percent become free pages at once; a pass
 * closes all but a tenth of the gaps --- */

struct model {
    struct rss_limit limit;
    size_t used, gaps;
    size_t returned;
    bool can_move;
    int pass; /* measurements until it ends; 0: none */
};

static void measure(struct model *model) {
    struct rss_figures figures = {
        .used = model->used,
        .active = model->used + model->gaps,
        .max = MAX,
        .movable = model->can_move ? model->gaps * 9 / 10 : 0,
        .is_moving = model->pass > 0,
    };
    struct rss_measures measures = rss_limit_decide(&model->limit, &figures);
    if (measures.moves) model->pass = 50;
    if (model->pass > 0 && --model->pass == 0) model->gaps /= 10;
    if (model->used <= model->limit.allowed) return;
    size_t freed = model->used - model->limit.allowed;
    model->used -= freed;
    model->gaps += freed * (100 - model->returned) / 100;
}

/* Returns the bytes in use in the end. */
static size_t settle(struct model *model) {
    model->limit = start();
    for (int i = 0; i < 2000; i++) measure(model);
    assert_true(model->used <= model->limit.allowed);
    return model->used;
}

static void what_moving_can_close_costs_no_keys(void **state) {
    (void)state;
    struct model model = {.used = 800 * (size_t)MB, .gaps = 280 * (size_t)MB, .can_move = true};
    assert_int_equal(settle(&model), 800 * (size_t)MB);
    assert_int_equal(model.limit.state, RSS_FITS);
}

static void pages_come_below_the_limit_wherever_freeing_brings_them_back(void **state) {
    (void)state;
    for (size_t returned = 30; returned <= 100; returned += 10) {
        struct model model = {
            .used = 900 * (size_t)MB, .gaps = 200 * (size_t)MB, .returned = returned};
        size_t used = settle(&model);
        assert_int_equal(model.limit.state, RSS_FITS);
        /* Not much more is gone than that takes. */
        assert_true(used + 76 * (size_t)MB * 100 / returned + MB >= 900 * (size_t)MB);
    }
}

static void a_dataset_stays_where_freeing_brings_nothing_back(void **state) {
    (void)state;
    struct model model = {.used = 900 * (size_t)MB, .gaps = 200 * (size_t)MB};
    assert_int_equal(settle(&model), (900 - 76) * (size_t)MB);
    assert_int_equal(model.limit.state, RSS_HOLDS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_that_fit_leave_what_is_free_of_them),
        cmocka_unit_test(idle_pages_are_purged_before_anything_else),
        cmocka_unit_test(blocks_move_before_keys_go),
        cmocka_unit_test(keys_go_meanwhile_where_far_too_much_is_taken),
        cmocka_unit_test(no_more_is_freed_than_the_pages_exceed_the_limit),
        cmocka_unit_test(freeing_ends_where_it_brings_nothing_back),
        cmocka_unit_test(half_of_maxmemory_may_always_be_used),
        cmocka_unit_test(states_have_names),
        cmocka_unit_test(what_moving_can_close_costs_no_keys),
        cmocka_unit_test(pages_come_below_the_limit_wherever_freeing_brings_them_back),
        cmocka_unit_test(a_dataset_stays_where_freeing_brings_nothing_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
