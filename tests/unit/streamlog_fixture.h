/* streamlog_fixture: what holds for whatever a streamlog has besides its entries: it is what a model says,
 * also in a copy, in a capture and while another thread reads that. A test defines `struct model`, whose
 * `log` is the streamlog, includes this, and defines the functions that are declared here. */
#ifndef PACKLIST_TESTS_UNIT_STREAMLOG_FIXTURE_H
#define PACKLIST_TESTS_UNIT_STREAMLOG_FIXTURE_H

#include "ds/streams/streamlog.h"
#include "unit/capture_checks.h"

static struct model *model_new(void);                  /* an empty log */
static struct streamlog **log_of(struct model *model); /* the model's log, which may be replaced */
static void change(struct model *model, bool grow);    /* one random change */
static void compare(struct model *model);              /* the log is what the model says */
static uint64_t sum(struct model *model);              /* of all that the log has of it */
static uint64_t sum_capture(const struct capture *capture); /* the same of a captured log */

static void change_often(struct model *model, size_t count, bool grow) {
    for (size_t i = 0; i < count; i++) change(model, grow);
}

static void change_some(struct model *model) {
    change_often(model, 300, true);
}

static size_t allocated(struct model *model) {
    return streamlog_allocated(*log_of(model));
}

static void free_log(struct model *model) {
    streamlog_free(*log_of(model));
}

static struct capture *begin_capture(struct model *model, size_t *left) {
    return streamlog_capture_begin(*log_of(model), left);
}

static const struct capture_kind captured_log = {change_often, compare,       sum,        allocated,
                                                 free_log,     begin_capture, sum_capture};

static void any_sequence_gives_what_the_model_gives(void **state) {
    (void)state;
    size_t used = mem_used();
    struct model *model = model_new();
    size_t others = mem_used() - allocated(model);
    for (int round = 0; round < 30; round++) {
        change_often(model, 1000, round % 3 != 2);
        compare(model);
        assert_int_equal(mem_used() - others, allocated(model));
    }
    struct streamlog *original = *log_of(model);
    *log_of(model) = streamlog_copy(original);
    assert_int_equal(mem_used() - others, allocated(model) + streamlog_allocated(original));
    compare(model);
    change_often(model, 500, false);
    streamlog_free(original);
    compare(model);
    free_log(model);
    mem_free(model);
    assert_int_equal(mem_used(), used);
}

static void each_step_leaves_a_valid_log(void **state) {
    (void)state;
    struct model *model = model_new();
    for (size_t i = 0; i < 3000; i++) {
        change(model, i % 1000 < 600);
        assert_true(streamlog_check(*log_of(model)));
    }
    free_log(model);
    mem_free(model);
}

static void a_capture_stays_as_the_log_was(void **state) {
    (void)state;
    size_t used = mem_used();
    struct model *model = model_new();
    check_that_a_capture_stays(&captured_log, model);
    free_log(model);
    mem_free(model);
    assert_int_equal(mem_used(), used);
}

static void a_log_that_is_freed_goes_over_to_its_capture(void **state) {
    (void)state;
    size_t used = mem_used();
    struct model *model = model_new();
    change_often(model, 3000, true);
    check_that_a_freed_structure_stays(&captured_log, model, change_some);
    mem_free(model);
    assert_int_equal(mem_used(), used);
}

static void another_thread_reads_a_capture_while_the_log_changes(void **state) {
    (void)state;
    struct model *model = model_new();
    check_that_another_thread_reads(&captured_log, model);
    mem_free(model);
}

#endif
