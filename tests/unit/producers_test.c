/* Producers of a streamlog against a model: a list of what each of them has added. */
#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "unit/relocate_step.h"
#include "unit/seed.h"
#include "unit/streamlog_fixture.h"

#include <stdio.h>
#include <string.h>

enum { PRODUCERS = 6, IIDS = 60, KEPT = 400, LONG = 300 };

/* The iids that a producer has added, the oldest first; more than are remembered. */
struct producer_model {
    size_t count;
    size_t iids[KEPT];
    uint64_t times[KEPT];
};

struct model {
    struct streamlog *log;
    struct producer_model producers[PRODUCERS];
    struct producers_limits limits;
    uint64_t now_ms;
    uint64_t added;
    struct random random;
    struct relocate_step relocation;
};

static struct slice name_of(size_t p, char buffer[16]) {
    return slice_make(buffer, (size_t)snprintf(buffer, 16, "%c%zu", "zyxcba"[p % 6], p));
}

/* Some are long. */
static struct slice iid_of(size_t i, char buffer[LONG]) {
    size_t len = i % 7 == 0 ? LONG : 4 + i % 20;
    memset(buffer, 'a' + (int)(i % 26), len);
    memcpy(buffer, &(uint32_t){(uint32_t)i}, sizeof(uint32_t));
    return slice_make(buffer, len);
}

static struct model *model_new(void) {
    struct model *model = mem_alloc_zeroed(sizeof(*model));
    model->random = random_of_this_run();
    model->log = streamlog_new();
    model->limits = (struct producers_limits){10, 20};
    model->now_ms = 1000000;
    streamlog_need_producers(model->log, model->limits);
    return model;
}

static struct streamlog **log_of(struct model *model) {
    return &model->log;
}

static struct producers *producers_of(const struct model *model) {
    return model->log->producers;
}

static bool is_old(const struct model *model, uint64_t ms) {
    return ms + (uint64_t)model->limits.duration_s * 1000 <= model->now_ms;
}

/* How many of the model's iids, from the end, are within the limit. */
static size_t remembered(const struct model *model, const struct producer_model *producer) {
    return producer->count < model->limits.iids ? producer->count : model->limits.iids;
}

/* Where the model has the iid, if it is remembered; KEPT otherwise. */
static size_t place_of(const struct model *model, size_t p, size_t iid) {
    const struct producer_model *producer = &model->producers[p];
    for (size_t n = 0, i = producer->count; n < remembered(model, producer); n++)
        if (producer->iids[--i] == iid) return i;
    return KEPT;
}

static void add(struct model *model, size_t p, size_t iid) {
    char name[16], bytes[LONG];
    struct producer_model *producer = &model->producers[p];
    if (producer->count == KEPT) {
        memmove(producer->iids, producer->iids + KEPT / 2, KEPT / 2 * sizeof(size_t));
        memmove(producer->times, producer->times + KEPT / 2, KEPT / 2 * sizeof(uint64_t));
        producer->count = KEPT / 2;
    }
    producer->iids[producer->count] = iid;
    producer->times[producer->count++] = model->now_ms;
    model->added++;
    producers_add(producers_of(model), &model->log->pieces, name_of(p, name), iid_of(iid, bytes),
                  (struct stream_id){model->now_ms, iid});
}

static void set_limits(struct model *model) {
    struct producers_limits limits = {1 + (uint32_t)random_below(&model->random, 10),
                                      1 + (uint32_t)random_below(&model->random, 30)};
    bool changed =
        limits.duration_s != model->limits.duration_s || limits.iids != model->limits.iids;
    producers_set_limits(producers_of(model), &model->log->pieces, limits);
    model->limits = limits;
    for (size_t p = 0; changed && p < PRODUCERS; p++) model->producers[p].count = 0;
}

static void change(struct model *model, bool grow) {
    size_t p = random_below(&model->random, PRODUCERS), iid = random_below(&model->random, IIDS);
    uint64_t kind = random_below(&model->random, 1000);
    model->now_ms += random_below(&model->random, grow ? 20 : 500);
    if (kind == 0)
        set_limits(model);
    else if (kind < 200)
        producers_expire(producers_of(model), &model->log->pieces, (int64_t)model->now_ms);
    else if (place_of(model, p, iid) == KEPT)
        add(model, p, iid);
    if (relocate_step_begins(&model->relocation, &model->random) &&
        !pieces_are_captured(&model->log->pieces))
        model->log =
            streamlog_relocate(model->log, &model->relocation.relocator, &model->relocation.cursor);
}

/* What is too old may still be there: producers_expire looks at some producers only. */
static void compare_iid(const struct model *model, size_t p, size_t iid) {
    char name[16], bytes[LONG];
    struct stream_id id = {0, 0};
    size_t place = place_of(model, p, iid);
    bool found = producers_find(producers_of(model), name_of(p, name), iid_of(iid, bytes),
                                (int64_t)model->now_ms, &id);
    bool is_there = place != KEPT && !is_old(model, model->producers[p].times[place]);
    assert_int_equal(found, is_there);
    if (!found) return;
    assert_int_equal(id.ms, model->producers[p].times[place]);
    assert_int_equal(id.seq, iid);
}

static void compare(struct model *model) {
    uint64_t names, iids, expected_names = 0, expected_iids = 0;
    for (size_t p = 0; p < PRODUCERS; p++) {
        uint64_t before = expected_iids;
        const struct producer_model *producer = &model->producers[p];
        for (size_t iid = 0; iid < IIDS; iid++) compare_iid(model, p, iid);
        for (size_t n = remembered(model, producer); n > 0; n--)
            expected_iids += !is_old(model, producer->times[producer->count - n]);
        expected_names += expected_iids > before;
    }
    producers_count(producers_of(model), (int64_t)model->now_ms, &names, &iids);
    assert_int_equal(names, expected_names);
    assert_int_equal(iids, expected_iids);
    assert_int_equal(producers_of(model)->added, model->added);
    assert_true(streamlog_check(model->log));
}

/* --- Sums, for captures --- */

static uint64_t sum_producers(const struct producers *producers) {
    uint64_t sum = producers->limits.iids + producers->added;
    for (size_t p = 0; p < producers->table.count; p++) {
        const struct producer *producer = producers_at(producers, p);
        sum = sum * 31 + hash_bytes(producer->name);
        for (uint32_t i = 0; i < producer->count; i++)
            sum = sum * 31 + hash_bytes(producer_iid(producer, i)) + producer_id(producer, i).ms;
    }
    return sum;
}

static uint64_t sum(struct model *model) {
    return sum_producers(producers_of(model));
}

static uint64_t sum_capture(const struct capture *capture) {
    return sum_producers(streamlog_captured(capture)->producers);
}

/* --- Tests --- */

static void a_log_may_drop_its_producers(void **state) {
    (void)state;
    size_t used = mem_used();
    struct model *model = model_new();
    change_some(model);
    streamlog_drop_producers(model->log);
    assert_null(producers_of(model));
    assert_true(streamlog_check(model->log));
    streamlog_free(model->log);
    mem_free(model);
    assert_int_equal(mem_used(), used);
}

/* Producers that add once each, as processes that are started again and again do. */
static void old_producers_do_not_gather(void **state) {
    (void)state;
    struct model *model = model_new();
    for (size_t i = 0; i < 20000; i++) {
        char name[16];
        struct slice unique = slice_make(name, (size_t)snprintf(name, sizeof(name), "%zu", i));
        int64_t now_ms = (int64_t)(1000000 + i * 100);
        struct stream_id id = {(uint64_t)now_ms, 0};
        producers_add(producers_of(model), &model->log->pieces, unique, SLICE("iid"), id);
        producers_expire(producers_of(model), &model->log->pieces, now_ms);
        assert_true(producers_of(model)->table.count <= 300); /* 100 are not too old */
    }
    streamlog_free(model->log);
    mem_free(model);
}

int main(void) {
    hash_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_sequence_gives_what_the_model_gives),
        cmocka_unit_test(each_step_leaves_a_valid_log),
        cmocka_unit_test(a_log_may_drop_its_producers),
        cmocka_unit_test(old_producers_do_not_gather),
        cmocka_unit_test(a_capture_stays_as_the_log_was),
        cmocka_unit_test(a_log_that_is_freed_goes_over_to_its_capture),
        cmocka_unit_test(another_thread_reads_a_capture_while_the_log_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
