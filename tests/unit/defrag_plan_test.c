/* When passes of defragmentation begin and end, and how much of the time they take, by figures alone. */
#include "reclaim/defrag_plan.h"

#include "base/memory/relocate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { MB = 1024 * 1024 };

static const struct defrag_limits defaults = {
    .cycle_min = 1,
    .cycle_max = 25,
    .threshold_lower = 10,
    .threshold_upper = 100,
    .ignore_bytes = 100 * (size_t)MB,
};

/* Figures in MB. */
static struct relocate_survey survey_of(size_t allocated, size_t unused) {
    return (struct relocate_survey){
        .allocated = allocated * MB, .unused = unused * MB, .active = (allocated + unused) * MB};
}

/* Takes in a survey while no pass runs. Returns whether a pass begins; it then is under way. */
static bool begins(struct defrag_plan *plan, const struct defrag_limits *limits, size_t allocated,
                   size_t unused) {
    struct relocate_survey survey = survey_of(allocated, unused);
    defrag_plan_learn(plan, &survey, 0);
    bool next = defrag_plan_next(plan, limits, &survey);
    if (next) defrag_plan_begin(plan, 0);
    return next;
}

/* A pass that is under way ends and has left so much unused, having moved so much. Returns whether
 * the next one begins. */
static bool goes_on(struct defrag_plan *plan, const struct defrag_limits *limits, size_t allocated,
                    size_t unused, size_t moved) {
    struct relocate_survey survey = survey_of(allocated, unused);
    assert_false(defrag_plan_is_unjudged(plan));
    defrag_plan_end(plan);
    assert_true(defrag_plan_is_unjudged(plan));
    defrag_plan_learn(plan, &survey, moved * MB);
    assert_false(defrag_plan_is_unjudged(plan));
    bool next = defrag_plan_next(plan, limits, &survey);
    if (next) defrag_plan_begin(plan, 0);
    return next;
}

static int64_t percent(const struct defrag_limits *limits, size_t allocated, size_t unused) {
    struct relocate_survey survey = survey_of(allocated, unused);
    return defrag_plan_percent(limits, &survey);
}

static void the_share_of_the_time_grows_with_what_is_unused(void **state) {
    (void)state;
    assert_int_equal(percent(&defaults, 0, 0), 1);
    assert_int_equal(percent(&defaults, 1000, 50), 1);
    assert_int_equal(percent(&defaults, 1000, 100), 1);
    assert_int_equal(percent(&defaults, 1000, 550), 13);
    assert_int_equal(percent(&defaults, 1000, 1000), 25);
    assert_int_equal(percent(&defaults, 1000, 5000), 25);
    struct defrag_limits limits = defaults;
    limits.cycle_min = 30; /* more than the most */
    assert_int_equal(percent(&limits, 1000, 50), 25);
}

static void the_share_of_the_time_grows_with_what_exceeds_maxmemory(void **state) {
    (void)state;
    struct defrag_limits limits = defaults;
    limits.max_memory = 1000 * (size_t)MB;
    assert_int_equal(percent(&limits, 930, 70), 1);
    assert_int_equal(percent(&limits, 960, 70), 1);
    assert_int_equal(percent(&limits, 970, 70), 13);
    assert_int_equal(percent(&limits, 980, 70), 25);
    assert_int_equal(percent(&limits, 1200, 10), 1); /* moving cannot help against that */
    limits.limits_pages = true;
    assert_int_equal(percent(&limits, 930, 70), 1);
    assert_int_equal(percent(&limits, 950, 70), 45);
    assert_int_equal(percent(&limits, 980, 70), 75);
}

static void a_pass_begins_above_both_thresholds(void **state) {
    (void)state;
    struct defrag_plan plan = {0};
    assert_false(begins(&plan, &defaults, 100, 99));
    assert_false(begins(&plan, &defaults, 2000, 150));
    assert_true(begins(&plan, &defaults, 2000, 201));
    assert_true(plan.is_running);
}

static void passes_follow_each_other_as_long_as_they_gain(void **state) {
    (void)state;
    struct defrag_plan plan = {0};
    assert_true(begins(&plan, &defaults, 1000, 1000));
    assert_true(goes_on(&plan, &defaults, 1000, 300, 900));
    assert_true(goes_on(&plan, &defaults, 1000, 90, 300)); /* below both thresholds */
    assert_true(goes_on(&plan, &defaults, 1000, 40, 50));
    assert_false(goes_on(&plan, &defaults, 1000, 20, 10)); /* below a quarter of the lower one */
    assert_false(begins(&plan, &defaults, 1000, 99));
    assert_true(begins(&plan, &defaults, 1000, 120));
}

static void none_follows_a_pass_that_gained_little(void **state) {
    (void)state;
    struct defrag_plan plan = {0};
    assert_true(begins(&plan, &defaults, 1000, 400));
    assert_false(goes_on(&plan, &defaults, 1000, 380, 20));
    assert_false(begins(&plan, &defaults, 1000, 380));
    assert_false(begins(&plan, &defaults, 1000, 474));
    assert_true(begins(&plan, &defaults, 1000, 475)); /* a quarter more */
    assert_false(goes_on(&plan, &defaults, 1000, 470, 5));
    /* What has become less on its own counts from there. */
    assert_false(begins(&plan, &defaults, 1000, 200));
    assert_true(begins(&plan, &defaults, 1000, 250));
}

static void at_maxmemory_passes_begin_whatever_is_unused(void **state) {
    (void)state;
    struct defrag_limits limits = defaults;
    struct defrag_plan plan = {0};
    limits.max_memory = 1000 * (size_t)MB;
    assert_false(begins(&plan, &limits, 970, 50));
    assert_true(begins(&plan, &limits, 980, 60));
    /* It gained nothing, as clients wrote meanwhile, but it has moved much. */
    assert_true(goes_on(&plan, &limits, 980, 60, 30));
    assert_false(goes_on(&plan, &limits, 980, 58, 1));
    assert_false(begins(&plan, &limits, 980, 70));
    assert_true(begins(&plan, &limits, 980, 90));
}

static void what_a_pass_could_not_move_is_not_movable(void **state) {
    (void)state;
    struct defrag_plan plan = {0};
    assert_int_equal(defrag_plan_movable(&plan), 0);
    assert_true(begins(&plan, &defaults, 1000, 400));
    assert_int_equal(defrag_plan_movable(&plan), 400 * (size_t)MB);
    assert_true(goes_on(&plan, &defaults, 1000, 300, 200));
    assert_int_equal(defrag_plan_movable(&plan), 300 * (size_t)MB);
    assert_false(goes_on(&plan, &defaults, 1000, 299, 1));
    assert_int_equal(defrag_plan_movable(&plan), 0);
    struct relocate_survey survey = survey_of(1000, 310);
    defrag_plan_learn(&plan, &survey, 0);
    assert_int_equal(defrag_plan_movable(&plan), 11 * (size_t)MB);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_share_of_the_time_grows_with_what_is_unused),
        cmocka_unit_test(the_share_of_the_time_grows_with_what_exceeds_maxmemory),
        cmocka_unit_test(a_pass_begins_above_both_thresholds),
        cmocka_unit_test(passes_follow_each_other_as_long_as_they_gain),
        cmocka_unit_test(none_follows_a_pass_that_gained_little),
        cmocka_unit_test(at_maxmemory_passes_begin_whatever_is_unused),
        cmocka_unit_test(what_a_pass_could_not_move_is_not_movable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
