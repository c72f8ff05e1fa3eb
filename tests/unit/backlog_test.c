/* The backlog beside a model: all bytes that were ever appended. Every cursor finds the bytes from
 * its offset on, whatever is appended, trimmed or read by others. */
#include "replication/history/backlog.h"

#include "base/memory/alloc.h"
#include "unit/in_range.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { CURSORS = 6, STEPS = 4000, BYTES_MAX = 40 * BACKLOG_BLOCK };

struct model {
    struct backlog *backlog;
    uint64_t first; /* offset of bytes[0] */
    char *bytes;    /* all that was appended */
    size_t len;
    struct backlog_cursor cursors[CURSORS];
    bool is_added[CURSORS];
};

static void begin(struct model *model, struct random *random, size_t keep) {
    *model = (struct model){.first = random_below(random, 1000), .bytes = malloc(BYTES_MAX)};
    model->backlog = backlog_new(model->first, keep);
}

static void end(struct model *model) {
    for (int i = 0; i < CURSORS; i++)
        if (model->is_added[i]) backlog_remove_cursor(model->backlog, &model->cursors[i]);
    backlog_free(model->backlog);
    free(model->bytes);
}

/* Fills new bytes of the model. Returns how many: fewer than `len` when there is no room. */
static size_t more_bytes(struct model *model, struct random *random, size_t len) {
    if (len > BYTES_MAX - model->len) len = BYTES_MAX - model->len;
    for (size_t i = 0; i < len; i++) model->bytes[model->len + i] = (char)random_below(random, 256);
    model->len += len;
    return len;
}

static void append(struct model *model, struct random *random) {
    size_t most = random_below(random, 8) ? BACKLOG_BLOCK / 4 : 3 * BACKLOG_BLOCK;
    size_t begin = model->len, len = more_bytes(model, random, random_below(random, most));
    backlog_append(model->backlog, slice_make(model->bytes + begin, len));
}

static void append_block(struct model *model, struct random *random) {
    size_t begin = model->len,
           len = more_bytes(model, random, 1 + random_below(random, BACKLOG_BLOCK));
    if (len == 0) return;
    struct backlog_block *block = mem_alloc(sizeof(*block));
    block->used = len;
    memcpy(block->bytes, model->bytes + begin, len);
    backlog_append_block(model->backlog, block);
}

static void add_cursor(struct model *model, struct random *random, int i) {
    uint64_t offset = model->first + random_below(random, model->len + 1);
    bool is_kept = offset >= model->backlog->begin;
    assert_int_equal(backlog_add_cursor(model->backlog, &model->cursors[i], offset), is_kept);
    model->is_added[i] = is_kept;
}

static void check_bytes(struct model *model, int i, uint64_t offset, size_t most) {
    struct slice got = backlog_peek(model->backlog, &model->cursors[i], offset, most);
    assert_uint_in_range(got.len, 1, most);
    assert_true(offset - model->first + got.len <= model->len);
    assert_memory_equal(got.ptr, model->bytes + (offset - model->first), got.len);
}

/* Reads some bytes, as a socket takes them: a batch is looked at, and a part of it is taken. */
static void read_some(struct model *model, struct random *random, int i) {
    struct backlog_cursor *cursor = &model->cursors[i];
    uint64_t left = model->backlog->end - cursor->offset;
    if (left == 0) return;
    uint64_t ahead = random_below(random, left);
    check_bytes(model, i, cursor->offset, 1 + random_below(random, 2 * BACKLOG_BLOCK));
    check_bytes(model, i, cursor->offset + ahead, 1 + random_below(random, 2 * BACKLOG_BLOCK));
    backlog_move_cursor(model->backlog, cursor, cursor->offset + random_below(random, left + 1));
}

static void use_cursor(struct model *model, struct random *random) {
    int i = (int)random_below(random, CURSORS);
    if (!model->is_added[i]) {
        add_cursor(model, random, i);
    } else if (random_below(random, 12)) {
        read_some(model, random, i);
    } else {
        backlog_remove_cursor(model->backlog, &model->cursors[i]);
        model->is_added[i] = false;
    }
}

/* What a cursor or `keep` needs is kept, and not much more. */
static void trim(struct model *model) {
    struct backlog *backlog = model->backlog;
    while (backlog_trim(backlog)) assert_true(backlog_check(backlog));
    uint64_t needed = backlog->end;
    for (int i = 0; i < CURSORS; i++)
        if (model->is_added[i] && model->cursors[i].offset < needed)
            needed = model->cursors[i].offset;
    if (backlog->end - needed < backlog->keep)
        needed =
            backlog_len(backlog) < backlog->keep ? backlog->begin : backlog->end - backlog->keep;
    assert_true(backlog->begin <= needed);
    assert_true(needed - backlog->begin <= BACKLOG_BLOCK);
}

static void run_against_the_model(struct random *random, size_t keep) {
    struct model model;
    begin(&model, random, keep);
    for (int step = 0; step < STEPS; step++) {
        switch (random_below(random, 6)) {
        case 0: append(&model, random); break;
        case 1:
            if (random_below(random, 10) == 0) append_block(&model, random);
            break;
        case 2: trim(&model); break;
        case 3:
            if (random_below(random, 100) == 0)
                model.backlog->keep = random_below(random, 4 * BACKLOG_BLOCK);
            break;
        default: use_cursor(&model, random); break;
        }
        assert_true(backlog_check(model.backlog));
        assert_int_equal(model.backlog->end, model.first + model.len);
    }
    end(&model);
}

static void cursors_read_what_was_appended(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    for (int round = 0; round < 40; round++)
        run_against_the_model(
            &random, random_below(&random, 2) ? 0 : random_below(&random, 5 * BACKLOG_BLOCK));
}

static void at_least_keep_bytes_stay_without_cursors(void **state) {
    (void)state;
    static char bytes[5 * BACKLOG_BLOCK];
    struct backlog *backlog = backlog_new(0, BACKLOG_BLOCK + 1);
    backlog_append(backlog, slice_make(bytes, sizeof(bytes)));
    while (backlog_trim(backlog)) continue;
    assert_int_equal(backlog_len(backlog), 2 * BACKLOG_BLOCK);
    backlog->keep = 0;
    while (backlog_trim(backlog)) continue;
    assert_int_equal(backlog_len(backlog), 0);
    assert_int_equal(backlog->end, sizeof(bytes));
    backlog_free(backlog);
}

static void one_trim_frees_a_limited_number_of_blocks(void **state) {
    (void)state;
    struct backlog *backlog = backlog_new(0, 0);
    for (int i = 0; i < BACKLOG_FREES_MAX + 1; i++) {
        struct backlog_block *block = mem_alloc(sizeof(*block));
        block->used = 1;
        backlog_append_block(backlog, block);
    }
    assert_true(backlog_trim(backlog));
    assert_int_equal(backlog_len(backlog), 1);
    assert_false(backlog_trim(backlog));
    backlog_free(backlog);
}

static void a_block_that_someone_reads_outlives_the_backlog(void **state) {
    (void)state;
    struct backlog_cursor cursor;
    struct backlog *backlog = backlog_new(7, 0);
    backlog_append(backlog, SLICE("abc"));
    assert_true(backlog_add_cursor(backlog, &cursor, 7));
    struct slice bytes = backlog_peek(backlog, &cursor, 8, 10);
    struct shared *shared = backlog_share(backlog, &cursor, 8);
    shared_give(shared);
    backlog_append(backlog, SLICE("def")); /* behind them */
    backlog_remove_cursor(backlog, &cursor);
    backlog_free(backlog);
    assert_memory_equal(bytes.ptr, "bc", 2);
    shared_release(shared, 1);
}

static void cursors_are_refused_where_no_bytes_are(void **state) {
    (void)state;
    struct backlog_cursor cursor;
    struct backlog *backlog = backlog_new(100, 10);
    assert_false(backlog_add_cursor(backlog, &cursor, 99));
    assert_false(backlog_add_cursor(backlog, &cursor, 101));
    assert_true(backlog_add_cursor(backlog, &cursor, 100));
    backlog_append(backlog, SLICE("abc"));
    assert_int_equal(backlog_peek(backlog, &cursor, 100, 10).len, 3);
    backlog_remove_cursor(backlog, &cursor);
    backlog_free(backlog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cursors_read_what_was_appended),
        cmocka_unit_test(at_least_keep_bytes_stay_without_cursors),
        cmocka_unit_test(one_trim_frees_a_limited_number_of_blocks),
        cmocka_unit_test(a_block_that_someone_reads_outlives_the_backlog),
        cmocka_unit_test(cursors_are_refused_where_no_bytes_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
