/* The command log as its readers see it, and the reply gate on its offsets. */
#include "journal/command_log.h"
#include "journal/reply_gate.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void append(struct command_log *log, int database, const char *word) {
    const struct slice argv[] = {slice_of_cstr(word)};
    command_log_append(log, database, argv, 1);
}

/* Returns what the reader reads now. */
static struct slice read_all(struct command_log *log, struct command_log_reader *reader,
                             struct reply *into) {
    into->len = 0;
    command_log_read(log, reader, into);
    return slice_make(into->data, into->len);
}

#define ASSERT_TEXT(actual, expected)                                                              \
    do {                                                                                           \
        struct slice text = actual;                                                                \
        assert_int_equal(text.len, sizeof(expected) - 1);                                          \
        assert_memory_equal(text.ptr, expected, text.len);                                         \
    } while (0)

#define SELECT_0 "*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n"
#define SELECT_7 "*2\r\n$6\r\nSELECT\r\n$1\r\n7\r\n"
#define MULTI    "*1\r\n$5\r\nMULTI\r\n"
#define EXEC     "*1\r\n$4\r\nEXEC\r\n"
#define A        "*1\r\n$1\r\na\r\n"
#define B        "*1\r\n$1\r\nb\r\n"
#define C        "*1\r\n$1\r\nc\r\n"

struct fixture {
    struct command_log log;
    struct command_log_reader first;
    struct command_log_reader second;
    struct reply into;
};

static struct fixture *fixture_new(void) {
    static struct fixture fixture;
    fixture = (struct fixture){.first.kind = COMMAND_LOG_FILE, .second.kind = COMMAND_LOG_REPLICAS};
    command_log_init(&fixture.log);
    reply_init(&fixture.into, 0);
    return &fixture;
}

static void fixture_free(struct fixture *fixture) {
    command_log_free(&fixture->log);
    reply_free(&fixture->into);
}

static void nothing_is_kept_without_readers(void **state) {
    (void)state;
    struct fixture *fixture = fixture_new();
    append(&fixture->log, 0, "a");
    command_log_end_unit(&fixture->log);
    assert_false(fixture->log.is_on);
    assert_int_equal(command_log_end(&fixture->log), 0);
    fixture_free(fixture);
}

/* What is in the log after `first` single commands and `made` ones, which are in several pieces. */
static void append_made(struct command_log *log, int first, int made) {
    struct made_commands commands;
    const struct slice argv[] = {SLICE("b")};
    made_commands_begin(&commands);
    for (int i = 0; i < made; i++) {
        made_commands_add(&commands, argv, 1);
        if (i == 0) made_reply_add_piece(&commands.bytes);
    }
    made_commands_end(&commands);
    for (int i = 0; i < first; i++) append(log, 0, "a");
    command_log_append_made(log, 0, &commands);
    command_log_end_unit(log);
    made_commands_free(&commands);
}

static void made_commands_are_in_a_unit_as_others(void **state) {
    (void)state;
    struct fixture *fixture = fixture_new();
    struct command_log *log = &fixture->log;
    append_made(log, 0, 2);
    assert_int_equal(command_log_end(log), 0);
    command_log_add_reader(log, &fixture->first);
    append_made(log, 0, 0);
    append_made(log, 0, 1);
    ASSERT_TEXT(read_all(log, &fixture->first, &fixture->into), SELECT_0 B);
    append_made(log, 0, 3);
    append_made(log, 1, 0);
    ASSERT_TEXT(read_all(log, &fixture->first, &fixture->into), MULTI B B B EXEC A);
    append_made(log, 1, 1);
    append_made(log, 2, 2);
    command_log_repeat_database(log);
    append_made(log, 0, 2);
    ASSERT_TEXT(read_all(log, &fixture->first, &fixture->into),
                MULTI A B EXEC MULTI A A B B EXEC MULTI SELECT_0 B B EXEC);
    command_log_address(log, COMMAND_LOG_REPLICAS);
    append_made(log, 0, 2);
    ASSERT_TEXT(read_all(log, &fixture->first, &fixture->into), "");
    fixture_free(fixture);
}

static void units_are_enclosed_and_databases_selected(void **state) {
    (void)state;
    struct fixture *fixture = fixture_new();
    struct command_log *log = &fixture->log;
    command_log_add_reader(log, &fixture->first);
    append(log, 0, "a");
    assert_true(command_log_is_inside_unit(log));
    command_log_end_unit(log);
    append(log, 0, "b");
    append(log, 7, "c");
    command_log_end_unit(log);
    assert_false(command_log_is_inside_unit(log));
    ASSERT_TEXT(read_all(log, &fixture->first, &fixture->into), SELECT_0 A MULTI B SELECT_7 C EXEC);
    append(log, 7, "a");
    command_log_end_unit(log);
    command_log_repeat_database(log);
    append(log, 7, "b");
    command_log_end_unit(log);
    ASSERT_TEXT(read_all(log, &fixture->first, &fixture->into), A SELECT_7 B);
    fixture_free(fixture);
}

static void readers_read_at_their_own_pace(void **state) {
    (void)state;
    struct fixture *fixture = fixture_new();
    struct command_log *log = &fixture->log;
    command_log_add_reader(log, &fixture->first);
    append(log, 0, "a");
    command_log_end_unit(log);
    uint64_t behind_a = command_log_end(log);
    command_log_add_reader(log, &fixture->second); /* reads what comes from here on */
    append(log, 0, "b");
    command_log_end_unit(log);
    ASSERT_TEXT(read_all(log, &fixture->first, &fixture->into), SELECT_0 A SELECT_0 B);
    assert_int_equal(fixture->second.offset, behind_a);
    append(log, 0, "c");
    command_log_end_unit(log);
    ASSERT_TEXT(read_all(log, &fixture->second, &fixture->into), SELECT_0 B C);
    assert_int_equal(fixture->second.offset, command_log_end(log));
    ASSERT_TEXT(read_all(log, &fixture->first, &fixture->into), C);
    assert_int_equal(log->bytes.len, 0); /* all have read everything */
    ASSERT_TEXT(read_all(log, &fixture->first, &fixture->into), "");
    fixture_free(fixture);
}

static void append_for(struct command_log *log, enum command_log_audience audience, int database,
                       const char *word) {
    command_log_address(log, audience);
    append(log, database, word);
    command_log_address(log, COMMAND_LOG_ALL);
}

static void a_reader_passes_over_what_is_not_for_it(void **state) {
    (void)state;
    struct fixture *fixture = fixture_new();
    struct command_log *log = &fixture->log;
    command_log_add_reader(log, &fixture->first);
    command_log_add_reader(log, &fixture->second);
    append_for(log, COMMAND_LOG_FILE, 0, "a"); /* moved when the second command brings MULTI */
    append_for(log, 0, 0, "nobody");
    append_for(log, COMMAND_LOG_REPLICAS, 7, "b");
    append(log, 7, "c");
    ASSERT_TEXT(read_all(log, &fixture->second, &fixture->into), ""); /* the unit is open */
    command_log_end_unit(log);
    append_for(log, COMMAND_LOG_FILE, 7, "a");
    command_log_end_unit(log);
    uint64_t end = command_log_end_for_replicas(log);
    ASSERT_TEXT(read_all(log, &fixture->first, &fixture->into),
                MULTI SELECT_0 A SELECT_7 C EXEC SELECT_7 A);
    ASSERT_TEXT(read_all(log, &fixture->second, &fixture->into), MULTI SELECT_7 B SELECT_7 C EXEC);
    assert_int_equal(command_log_passed_by_replicas(&fixture->second), end);
    assert_int_equal(fixture->second.offset, command_log_end(log));
    assert_int_equal(log->bytes.len + log->part_count, 0);
    fixture_free(fixture);
}

static void nothing_is_kept_for_a_kind_without_reader(void **state) {
    (void)state;
    struct fixture *fixture = fixture_new();
    struct command_log *log = &fixture->log;
    command_log_add_reader(log, &fixture->first);
    append_for(log, COMMAND_LOG_REPLICAS, 0, "a");
    assert_false(command_log_is_inside_unit(log));
    append(log, 0, "b");
    command_log_end_unit(log);
    ASSERT_TEXT(read_all(log, &fixture->first, &fixture->into), SELECT_0 B);
    fixture_free(fixture);
}

static void a_dropped_unit_leaves_no_parts(void **state) {
    (void)state;
    struct fixture *fixture = fixture_new();
    struct command_log *log = &fixture->log;
    command_log_add_reader(log, &fixture->first);
    command_log_add_reader(log, &fixture->second);
    append_for(log, COMMAND_LOG_FILE, 0, "a");
    command_log_end_unit(log);
    append_for(log, COMMAND_LOG_FILE, 0, "b");
    append_for(log, COMMAND_LOG_REPLICAS, 0, "b");
    command_log_drop_unit(log);
    append(log, 0, "c");
    command_log_end_unit(log);
    ASSERT_TEXT(read_all(log, &fixture->second, &fixture->into), SELECT_0 C);
    ASSERT_TEXT(read_all(log, &fixture->first, &fixture->into), SELECT_0 A SELECT_0 C);
    assert_int_equal(command_log_end_for_replicas(log),
                     command_log_passed_by_replicas(&fixture->second));
    fixture_free(fixture);
}

/* --- Random units, against what each reader must have got --- */

enum { UNIT_MAX = 6, ROUNDS = 20000 };

/* Appends a unit; `expected` gets for each reader the words and marks that it must see. */
static void append_random_unit(struct command_log *log, struct random *random,
                               struct reply expected[2]) {
    static const char *const words[] = {"a", "b", "c"};
    static const char *const texts[] = {A, B, C};
    struct reply seen[2];
    int kept = 0;
    for (int i = 0; i < 2; i++) reply_init(&seen[i], 0);
    for (int count = (int)random_below(random, UNIT_MAX); count > 0; count--) {
        uint64_t word = random_below(random, 3), others = random_below(random, COMMAND_LOG_ALL);
        enum command_log_audience audience = random_below(random, 4) ? COMMAND_LOG_ALL : others;
        append_for(log, audience, random_below(random, 2) ? 7 : 0, words[word]);
        kept += audience != 0;
        if (audience & COMMAND_LOG_FILE) reply_raw(&seen[0], slice_of_cstr(texts[word]));
        if (audience & COMMAND_LOG_REPLICAS) reply_raw(&seen[1], slice_of_cstr(texts[word]));
    }
    command_log_end_unit(log);
    for (int i = 0; i < 2; i++) {
        if (kept > 1) reply_raw(&expected[i], SLICE(MULTI));
        reply_raw(&expected[i], slice_make(seen[i].data, seen[i].len));
        if (kept > 1) reply_raw(&expected[i], SLICE(EXEC));
        reply_free(&seen[i]);
    }
}

/* Takes the SELECTs out. */
static void drop_selects(struct reply *read) {
    size_t len = 0, select_len = sizeof(SELECT_0) - 1;
    for (size_t at = 0; at < read->len;) {
        struct slice rest = slice_make(read->data + at, read->len - at);
        bool is_select = slice_begins(rest, SLICE("*2\r\n$6\r\nSELECT"));
        if (is_select)
            at += select_len;
        else
            read->data[len++] = read->data[at++];
    }
    read->len = len;
}

static void each_reader_gets_what_is_for_it(void **state) {
    (void)state;
    struct fixture *fixture = fixture_new();
    struct command_log *log = &fixture->log;
    struct command_log_reader *readers[2] = {&fixture->first, &fixture->second};
    struct reply expected[2], read[2];
    struct random random = random_of_this_run();
    for (int i = 0; i < 2; i++) {
        command_log_add_reader(log, readers[i]);
        reply_init(&expected[i], 0);
        reply_init(&read[i], 0);
    }
    for (int round = 0; round < ROUNDS; round++) {
        append_random_unit(log, &random, expected);
        uint64_t i = random_below(&random, 2);
        if (random_below(&random, 4)) continue;
        command_log_read(log, readers[i], &read[i]);
        drop_selects(&read[i]);
        assert_int_equal(read[i].len, expected[i].len);
        if (read[i].len > 0) assert_memory_equal(read[i].data, expected[i].data, read[i].len);
        assert_int_equal(readers[i]->offset, command_log_end(log));
        read[i].len = expected[i].len = 0;
    }
    for (int i = 0; i < 2; i++) {
        reply_free(&expected[i]);
        reply_free(&read[i]);
    }
    fixture_free(fixture);
}

static void what_is_read_goes_behind_what_is_there(void **state) {
    (void)state;
    struct fixture *fixture = fixture_new();
    struct command_log *log = &fixture->log;
    command_log_add_reader(log, &fixture->first);
    append(log, 0, "a");
    command_log_end_unit(log);
    reply_raw(&fixture->into, SLICE("#"));
    command_log_read(log, &fixture->first, &fixture->into);
    ASSERT_TEXT(slice_make(fixture->into.data, fixture->into.len), "#" SELECT_0 A);
    fixture_free(fixture);
}

static void note_opening(struct command_log_reader *reader) {
    struct fixture *fixture =
        (struct fixture *)(void *)((char *)reader - offsetof(struct fixture, first));
    command_log_read(&fixture->log, reader, &fixture->into);
    reply_raw(&fixture->into, SLICE("#"));
}

static void a_reader_may_read_before_each_unit(void **state) {
    (void)state;
    struct fixture *fixture = fixture_new();
    struct command_log *log = &fixture->log;
    fixture->first.unit_opens = note_opening;
    command_log_add_reader(log, &fixture->first);
    append(log, 0, "a");
    append(log, 0, "b");
    command_log_end_unit(log);
    append(log, 0, "c");
    command_log_end_unit(log);
    command_log_read(log, &fixture->first, &fixture->into);
    ASSERT_TEXT(slice_make(fixture->into.data, fixture->into.len),
                "#" MULTI SELECT_0 A B EXEC "#" C);
    fixture->first.unit_opens = NULL;
    fixture_free(fixture);
}

static void a_unit_is_read_when_it_has_ended(void **state) {
    (void)state;
    struct fixture *fixture = fixture_new();
    struct command_log *log = &fixture->log;
    command_log_add_reader(log, &fixture->first);
    command_log_add_reader(log, &fixture->second);
    append(log, 0, "a");
    assert_int_equal(command_log_units_end(log), 0);
    ASSERT_TEXT(read_all(log, &fixture->first, &fixture->into), "");
    command_log_end_unit(log);
    append(log, 0, "b");
    ASSERT_TEXT(read_all(log, &fixture->first, &fixture->into), SELECT_0 A);
    assert_int_equal(fixture->first.offset, command_log_units_end(log));
    append(log, 0, "c"); /* MULTI goes before b */
    ASSERT_TEXT(read_all(log, &fixture->first, &fixture->into), "");
    ASSERT_TEXT(read_all(log, &fixture->second, &fixture->into), SELECT_0 A);
    append(log, 0, "a");
    command_log_end_unit(log);
    ASSERT_TEXT(read_all(log, &fixture->first, &fixture->into), MULTI B C A EXEC);
    ASSERT_TEXT(read_all(log, &fixture->second, &fixture->into), MULTI B C A EXEC);
    assert_int_equal(log->bytes.len, 0);
    fixture_free(fixture);
}

static void a_dropped_unit_is_never_read(void **state) {
    (void)state;
    struct fixture *fixture = fixture_new();
    struct command_log *log = &fixture->log;
    command_log_add_reader(log, &fixture->first);
    append(log, 0, "a");
    command_log_end_unit(log);
    uint64_t end = command_log_end(log);
    append(log, 7, "b");
    append(log, 7, "c");
    command_log_drop_unit(log);
    assert_false(command_log_is_inside_unit(log));
    assert_int_equal(command_log_end(log), end);
    command_log_drop_unit(log); /* there is none */
    append(log, 7, "c");
    command_log_end_unit(log);
    ASSERT_TEXT(read_all(log, &fixture->first, &fixture->into), SELECT_0 A SELECT_7 C);
    append(log, 7, "a");
    ASSERT_TEXT(read_all(log, &fixture->first, &fixture->into), "");
    command_log_drop_unit(log);
    ASSERT_TEXT(read_all(log, &fixture->first, &fixture->into), "");
    fixture_free(fixture);
}

static void offsets_go_on_when_readers_leave(void **state) {
    (void)state;
    struct fixture *fixture = fixture_new();
    struct command_log *log = &fixture->log;
    command_log_add_reader(log, &fixture->first);
    append(log, 0, "a");
    append(log, 0, "b");
    command_log_remove_reader(log, &fixture->first); /* inside a unit, which this ends */
    assert_false(log->is_on);
    assert_false(command_log_is_inside_unit(log));
    uint64_t end = command_log_end(log);
    assert_true(end > 0);
    command_log_remove_reader(log, &fixture->first); /* no reader any more */
    append(log, 0, "c");
    assert_int_equal(command_log_end(log), end);
    command_log_add_reader(log, &fixture->second);
    append(log, 0, "c");
    command_log_end_unit(log);
    assert_int_equal(fixture->second.offset, end);
    ASSERT_TEXT(read_all(log, &fixture->second, &fixture->into), SELECT_0 C);
    fixture_free(fixture);
}

static void a_suspended_log_takes_nothing(void **state) {
    (void)state;
    struct fixture *fixture = fixture_new();
    struct command_log *log = &fixture->log;
    command_log_add_reader(log, &fixture->first);
    command_log_suspend(log);
    append(log, 0, "a");
    assert_int_equal(command_log_end(log), 0);
    command_log_resume(log);
    assert_true(log->is_on);
    append(log, 0, "b");
    command_log_end_unit(log);
    ASSERT_TEXT(read_all(log, &fixture->first, &fixture->into), SELECT_0 B);
    fixture_free(fixture);
}

static void the_gate_holds_what_is_not_released(void **state) {
    (void)state;
    struct fixture *fixture = fixture_new();
    struct command_log *log = &fixture->log;
    struct reply_gate gate = {.log = log, .released = 0};
    command_log_add_reader(log, &fixture->first);
    assert_false(reply_gate_holds(&gate));
    append(log, 0, "a");
    command_log_end_unit(log);
    assert_true(reply_gate_holds(&gate));
    gate.released = command_log_end(log);
    assert_false(reply_gate_holds(&gate));
    gate.denies = true;
    assert_true(reply_gate_holds(&gate));
    gate = (struct reply_gate){.log = log, .released = REPLY_GATE_OPEN};
    append(log, 0, "b");
    assert_false(reply_gate_holds(&gate));
    fixture_free(fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_kept_without_readers),
        cmocka_unit_test(made_commands_are_in_a_unit_as_others),
        cmocka_unit_test(units_are_enclosed_and_databases_selected),
        cmocka_unit_test(readers_read_at_their_own_pace),
        cmocka_unit_test(a_reader_passes_over_what_is_not_for_it),
        cmocka_unit_test(nothing_is_kept_for_a_kind_without_reader),
        cmocka_unit_test(a_dropped_unit_leaves_no_parts),
        cmocka_unit_test(each_reader_gets_what_is_for_it),
        cmocka_unit_test(what_is_read_goes_behind_what_is_there),
        cmocka_unit_test(a_reader_may_read_before_each_unit),
        cmocka_unit_test(a_unit_is_read_when_it_has_ended),
        cmocka_unit_test(a_dropped_unit_is_never_read),
        cmocka_unit_test(offsets_go_on_when_readers_leave),
        cmocka_unit_test(a_suspended_log_takes_nothing),
        cmocka_unit_test(the_gate_holds_what_is_not_released),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
