/* slowlog against a model, while its memory moves. */
#include "base/memory/alloc.h"
#include "stats/slowlog.h"
#include "unit/relocate_step.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { ENTRIES = 20, ARGUMENTS = 5, BYTES = 128, ARGC_MAX = 8, TEXT_MAX = 2 * BYTES };

/* What entry `id` was made from follows from its number. */
static size_t argc_of(int64_t id) {
    return 1 + (size_t)id % ARGC_MAX;
}

static struct slice text_of(int64_t id, size_t index, char buffer[TEXT_MAX]) {
    size_t len = ((size_t)id * 37 + index * 11) % TEXT_MAX;
    for (size_t i = 0; i < len; i++) buffer[i] = (char)('a' + (id + (int64_t)i) % 26);
    return slice_make(buffer, len);
}

static void add(struct slowlog *log) {
    static const struct command command;
    char texts[ARGC_MAX][TEXT_MAX];
    struct slice argv[ARGC_MAX];
    int64_t id = log->next_id;
    for (size_t i = 0; i < argc_of(id); i++) argv[i] = text_of(id, i, texts[i]);
    slowlog_add(log,
                &(struct slowlog_call){.command = &command,
                                       .argv = argv,
                                       .argc = argc_of(id),
                                       .time_s = id,
                                       .peer = SLICE("127.0.0.1:1"),
                                       .name = SLICE("client")},
                (struct slowlog_limits){ENTRIES, ARGUMENTS, BYTES});
}

static void compare_argument(const struct slowlog_entry *entry, size_t index) {
    char buffer[TEXT_MAX];
    struct slice text = text_of(entry->id, index, buffer);
    size_t kept = text.len < BYTES ? text.len : BYTES;
    assert_true(sds_len(entry->argv[index]) >= kept);
    assert_memory_equal(entry->argv[index], text.ptr, kept);
}

static void compare_entry(const struct slowlog_entry *entry, int64_t id) {
    size_t argc = argc_of(id), kept = argc < ARGUMENTS ? argc : ARGUMENTS;
    assert_int_equal(entry->id, id);
    assert_int_equal(entry->time_s, id);
    assert_int_equal(entry->total_argc, argc);
    assert_int_equal(entry->argc, kept);
    assert_string_equal(entry->peer, "127.0.0.1:1");
    assert_string_equal(entry->name, "client");
    for (size_t i = 0; i + (kept < argc) < kept; i++) compare_argument(entry, i);
}

static void compare(const struct slowlog *log, size_t count) {
    const struct slowlog_entry *entry = log->newest, *newer = NULL;
    assert_int_equal(log->count, count);
    for (size_t i = 1; i <= count; i++, newer = entry, entry = entry->older) {
        compare_entry(entry, log->next_id - (int64_t)i);
        assert_ptr_equal(entry->newer, newer);
    }
    assert_null(entry);
    assert_ptr_equal(log->oldest, newer);
}

static void entries_stay_as_they_are_while_they_move(void **state) {
    (void)state;
    struct slowlog log = {0};
    struct relocate_step step = {0};
    struct random random = random_of_this_run();
    size_t used = mem_used(), count = 0;
    for (int i = 0; i < 20000; i++) {
        if (random_below(&random, 100) == 0) slowlog_reset(&log), count = 0;
        if (random_below(&random, 2) == 0) add(&log), count += count < ENTRIES;
        if (relocate_step_begins(&step, &random)) slowlog_relocate(&log, &step.relocator);
        compare(&log, count);
    }
    slowlog_reset(&log);
    assert_int_equal(mem_used(), used);
}

static void each_entry_is_visited(void **state) {
    (void)state;
    struct slowlog log = {0};
    struct relocator relocator;
    for (int i = 0; i < ENTRIES; i++) add(&log);
    relocator_init_for_tests(&relocator, 1);
    for (int i = 1; i < ENTRIES; i++) assert_false(slowlog_relocate(&log, &relocator));
    assert_true(slowlog_relocate(&log, &relocator));
    assert_true(relocator.moved >= 3 * ENTRIES);
    compare(&log, ENTRIES);
    slowlog_reset(&log);
    assert_true(slowlog_relocate(&log, &relocator));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_stay_as_they_are_while_they_move),
        cmocka_unit_test(each_entry_is_visited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
