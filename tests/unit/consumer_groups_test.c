/* Consumer groups of a streamlog against a model: who has which of a few hundred ids pending. */
#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "unit/relocate_step.h"
#include "unit/seed.h"
#include "unit/streamlog_fixture.h"

#include <stdio.h>
#include <string.h>

enum { GROUPS = 4, CONSUMERS = 7, IDS = 700 };

struct group_model {
    bool exists;
    bool has[CONSUMERS];
    int owner[IDS]; /* -2: not pending, -1: of nobody, else a consumer */
    int64_t time[IDS];
};

struct model {
    struct streamlog *log;
    struct group_model groups[GROUPS];
    struct random random;
    struct relocate_step relocation;
};

static struct slice name_of(size_t i, char buffer[16]) {
    return slice_make(buffer, (size_t)snprintf(buffer, 16, "%c%zu", "zyxcba"[i % 6], i));
}

static struct stream_id id_of(size_t i) {
    return (struct stream_id){1000 + i * 3, i % 5};
}

static struct model *model_new(void) {
    struct model *model = mem_alloc_zeroed(sizeof(*model));
    model->random = random_of_this_run();
    model->log = streamlog_new();
    return model;
}

static struct streamlog **log_of(struct model *model) {
    return &model->log;
}

static struct consumer_group *group_of(struct model *model, size_t g) {
    char buffer[16];
    return consumer_groups_find(&model->log->groups, name_of(g, buffer));
}

static struct consumer *consumer_of(const struct consumer_group *group, size_t c) {
    char buffer[16];
    return consumer_group_find(group, name_of(c, buffer));
}

static void toggle_group(struct model *model, size_t g) {
    char buffer[16];
    struct group_model *expected = &model->groups[g];
    struct consumer_groups *groups = &model->log->groups;
    struct pieces *pieces = &model->log->pieces;
    if (expected->exists)
        consumer_groups_remove(groups, pieces, group_of(model, g));
    else
        consumer_groups_add(groups, pieces, name_of(g, buffer))->last_id.ms = g;
    expected->exists = !expected->exists;
    memset(expected->has, 0, sizeof(expected->has));
    for (size_t i = 0; i < IDS; i++) expected->owner[i] = -2;
}

static void toggle_consumer(struct model *model, size_t g, size_t c) {
    char buffer[16];
    struct group_model *expected = &model->groups[g];
    struct consumer_group *group = group_of(model, g);
    struct pieces *pieces = &model->log->pieces;
    if (expected->has[c])
        consumer_groups_remove_consumer(&model->log->groups, pieces, group, consumer_of(group, c));
    else
        consumer_group_add(group, pieces, name_of(c, buffer), (int64_t)c);
    expected->has[c] = !expected->has[c];
    for (size_t i = 0; i < IDS; i++)
        if (expected->owner[i] == (int)c) expected->owner[i] = -2;
}

static void assign(struct model *model, size_t g, size_t i) {
    struct group_model *expected = &model->groups[g];
    struct consumer_group *group = group_of(model, g);
    size_t c = random_below(&model->random, CONSUMERS);
    struct consumer *consumer = consumer_of(group, c);
    struct pending_entry entry = {id_of(i), consumer ? consumer->number : CONSUMER_NOBODY,
                                  (int64_t)random_below(&model->random, 1000), 1};
    consumer_group_assign(group, &model->log->pieces, &entry);
    expected->owner[i] = consumer ? (int)c : -1;
    expected->time[i] = entry.delivered_ms;
}

static void acknowledge_many(struct model *model, size_t g, size_t first) {
    struct stream_id ids[100];
    struct pending_entry acknowledged[100];
    struct group_model *expected = &model->groups[g];
    size_t count = 0, found = 0;
    for (size_t i = first; i < IDS && count < 100; i += 1 + random_below(&model->random, 3))
        ids[count++] = id_of(i);
    size_t total = consumer_groups_acknowledge_all(&model->log->pieces, group_of(model, g), ids,
                                                   count, acknowledged);
    for (size_t i = first, n = 0; n < count; i++) {
        if (stream_id_compare(id_of(i), ids[n]) != 0) continue;
        n++;
        if (expected->owner[i] == -2) continue;
        assert_true(found < total);
        assert_int_equal(stream_id_compare(acknowledged[found].id, id_of(i)), 0);
        assert_int_equal(acknowledged[found++].delivered_ms, expected->time[i]);
        expected->owner[i] = -2;
    }
    assert_int_equal(found, total);
}

static void change(struct model *model, bool grow) {
    size_t g = random_below(&model->random, GROUPS), i = random_below(&model->random, IDS);
    uint64_t choice = random_below(&model->random, 1000);
    struct group_model *expected = &model->groups[g];
    if (!expected->exists || choice == 0) {
        toggle_group(model, g);
    } else if (choice < 10) {
        toggle_consumer(model, g, random_below(&model->random, CONSUMERS));
    } else if (choice < (grow ? 800 : 300)) {
        assign(model, g, i);
    } else if (choice > 998) {
        acknowledge_many(model, g, i);
    } else {
        assert_int_equal(consumer_groups_acknowledge(&model->log->groups, &model->log->pieces,
                                                     group_of(model, g), id_of(i), true),
                         expected->owner[i] != -2);
        expected->owner[i] = -2;
    }
    if (relocate_step_begins(&model->relocation, &model->random) &&
        !pieces_are_captured(&model->log->pieces))
        model->log =
            streamlog_relocate(model->log, &model->relocation.relocator, &model->relocation.cursor);
}

static void compare_consumer(const struct group_model *expected, const struct consumer_group *group,
                             size_t c) {
    const struct consumer *consumer = consumer_of(group, c);
    struct pending_iter iter;
    struct pending_entry entry;
    assert_int_equal(consumer != NULL, expected->has[c]);
    if (!consumer) return;
    assert_ptr_equal(consumer_group_numbered(group, consumer->number), consumer);
    assert_int_equal(consumer->seen_ms, c);
    pending_iter_start(&iter, &consumer->ids, STREAM_ID_MIN);
    for (size_t i = 0; i < IDS; i++) {
        if (expected->owner[i] != (int)c) continue;
        assert_true(pending_iter_next(&iter, &entry));
        assert_int_equal(stream_id_compare(entry.id, id_of(i)), 0);
    }
    assert_false(pending_iter_next(&iter, &entry));
}

static void compare(struct model *model) {
    size_t count = 0;
    struct pending_entry entry;
    assert_true(streamlog_check(model->log));
    for (size_t g = 0; g < GROUPS; g++) {
        const struct group_model *expected = &model->groups[g];
        const struct consumer_group *group = group_of(model, g);
        assert_int_equal(group != NULL, expected->exists);
        if (!group) continue;
        count++;
        assert_int_equal(group->last_id.ms, g);
        for (size_t c = 0; c < CONSUMERS; c++) compare_consumer(expected, group, c);
        for (size_t i = 0; i < IDS; i++) {
            bool found = pendinglist_find(&group->pending, id_of(i), &entry);
            assert_int_equal(found, expected->owner[i] != -2);
            if (found) assert_int_equal(entry.delivered_ms, expected->time[i]);
        }
    }
    assert_int_equal(consumer_groups_count(&model->log->groups), count);
}

/* --- Sums, for captures --- */

static uint64_t sum_list(const struct pendinglist *list) {
    struct pending_iter iter;
    struct pending_entry entry;
    uint64_t sum = list->length;
    pending_iter_start(&iter, list, STREAM_ID_MIN);
    while (pending_iter_next(&iter, &entry))
        sum = sum * 31 + entry.id.ms + (uint64_t)entry.delivered_ms + entry.consumer;
    return sum;
}

static uint64_t sum_groups(const struct consumer_groups *groups) {
    uint64_t sum = 0;
    for (size_t g = 0; g < consumer_groups_count(groups); g++) {
        const struct consumer_group *group = consumer_groups_at(groups, g);
        sum = sum * 31 + hash_bytes(group->name) + sum_list(&group->pending);
        for (size_t c = 0; c < group->consumers.count; c++) {
            const struct consumer *consumer = consumer_group_at(group, c);
            sum = sum * 31 + hash_bytes(consumer->name) + (uint64_t)consumer->seen_ms +
                  sum_list(&consumer->ids);
        }
    }
    return sum;
}

static uint64_t sum(struct model *model) {
    return sum_groups(&model->log->groups);
}

static uint64_t sum_capture(const struct capture *capture) {
    return sum_groups(&streamlog_captured(capture)->groups);
}

int main(void) {
    hash_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_sequence_gives_what_the_model_gives),
        cmocka_unit_test(each_step_leaves_a_valid_log),
        cmocka_unit_test(a_capture_stays_as_the_log_was),
        cmocka_unit_test(a_log_that_is_freed_goes_over_to_its_capture),
        cmocka_unit_test(another_thread_reads_a_capture_while_the_log_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
