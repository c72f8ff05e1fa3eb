/* Tables of records against a model: an array that says of every possible field whether it is in,
 * with which value and expiry. */
#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "ds/records/recordtable.h"
#include "ds/records/recordtable_block.h"
#include "unit/capture_checks.h"
#include "unit/relocate_step.h"
#include "unit/seed.h"

#include <stdio.h>
#include <string.h>

enum { FIELDS = 4000, VALUE_MAX = 700 };

struct item {
    bool in;
    struct slice value;
    int64_t expiry_ms;
};

struct model {
    struct recordtable *table;
    bool values;
    struct item items[FIELDS];
    size_t count, expiring;
    struct random random;
    struct relocate_step relocation;
};

static char filler[VALUE_MAX];

/* Of different lengths; every 50th is out-of-line. */
static struct slice field_of(size_t number, char buffer[400]) {
    int len = snprintf(buffer, 400, "%zu", number);
    size_t padded = number % 50 == 7 ? 300 : (size_t)len + number * 7 % 10;
    memset(buffer + len, '.', padded - (size_t)len);
    return slice_make(buffer, padded);
}

static struct slice random_value(struct model *model) {
    if (!model->values) return SLICE("");
    size_t most = random_below(&model->random, 20) == 0 ? VALUE_MAX : 12;
    return slice_make(filler, random_below(&model->random, most));
}

static int64_t random_expiry(struct model *model) {
    return random_below(&model->random, 4) ? RECORD_NEVER
                                           : (int64_t)random_below(&model->random, 1000);
}

static struct model *model_new(bool values) {
    struct model *model = mem_alloc_zeroed(sizeof(*model));
    model->random = random_of_this_run();
    hash_init_seed(random_next(&model->random));
    model->table = recordtable_new(values);
    model->values = values;
    return model;
}

static void model_free(struct model *model) {
    recordtable_free(model->table);
    mem_free(model);
}

static void item_set(struct model *model, size_t i, bool in, struct slice value,
                     int64_t expiry_ms) {
    struct item *item = &model->items[i];
    if (item->in) model->count--, model->expiring -= item->expiry_ms != RECORD_NEVER;
    *item = (struct item){in, value, expiry_ms};
    if (in) model->count++, model->expiring += expiry_ms != RECORD_NEVER;
}

static void set(struct model *model, size_t i, int64_t expiry_ms) {
    char buffer[400];
    struct record record = {field_of(i, buffer), random_value(model), expiry_ms};
    bool added = recordtable_set(model->table, &record, recordtable_hash(record.field));
    assert_int_equal(added, !model->items[i].in);
    item_set(model, i, true, record.value, expiry_ms);
}

static void unset(struct model *model, size_t i) {
    char buffer[400];
    struct slice field = field_of(i, buffer);
    assert_int_equal(recordtable_delete(model->table, field, recordtable_hash(field)),
                     model->items[i].in);
    item_set(model, i, false, SLICE(""), RECORD_NEVER);
}

static void change_expiry(struct model *model, size_t i) {
    char buffer[400];
    struct slice field = field_of(i, buffer);
    int64_t expiry_ms = random_expiry(model);
    struct item *item = &model->items[i];
    assert_int_equal(
        recordtable_set_expiry(model->table, field, recordtable_hash(field), expiry_ms), item->in);
    if (item->in) item_set(model, i, true, item->value, expiry_ms);
}

static size_t number_of(struct slice field) {
    size_t number = 0;
    for (size_t i = 0; i < field.len && field.ptr[i] != '.'; i++)
        number = number * 10 + (size_t)(field.ptr[i] - '0');
    return number;
}

static void expect_item(const struct record *record, const struct item *item) {
    assert_true(item->in);
    assert_true(slice_equal(record->value, item->value));
    assert_int_equal(record->expiry_ms, item->expiry_ms);
}

static void compare(struct model *model) {
    struct recordtable_iter iter;
    struct record record;
    int64_t first = RECORD_NEVER;
    size_t count = 0;
    assert_true(recordtable_check(model->table));
    assert_int_equal(recordtable_count(model->table), model->count);
    assert_int_equal(recordtable_expiring(model->table), model->expiring);
    recordtable_iter_start(&iter, model->table);
    while (recordtable_iter_next(&iter, &record)) {
        expect_item(&record, &model->items[number_of(record.field)]);
        count++;
    }
    assert_int_equal(count, model->count);
    for (size_t i = 0; i < FIELDS; i++) {
        char buffer[400];
        struct slice field = field_of(i, buffer);
        const struct item *item = &model->items[i];
        bool found = recordtable_find(model->table, field, recordtable_hash(field), &record);
        assert_int_equal(found, item->in);
        if (found) expect_item(&record, item);
        if (item->in && item->expiry_ms != RECORD_NEVER &&
            (first == RECORD_NEVER || item->expiry_ms < first))
            first = item->expiry_ms;
    }
    assert_int_equal(recordtable_first_expiry(model->table), first);
}

/* One random change of one of the first `range` fields; mostly additions where `grow`. */
static void change(struct model *model, size_t range, bool grow, bool expire) {
    size_t i = random_below(&model->random, range);
    switch (random_below(&model->random, 8)) {
    case 0: expire ? change_expiry(model, i) : unset(model, i); break;
    case 1: set(model, i, expire ? random_expiry(model) : RECORD_NEVER); break;
    case 2: unset(model, i); break;
    default: grow ? set(model, i, expire ? random_expiry(model) : RECORD_NEVER) : unset(model, i);
    }
    if (relocate_step_begins(&model->relocation, &model->random) &&
        !recordtable_is_captured(model->table))
        model->table = recordtable_relocate(model->table, &model->relocation.relocator,
                                            &model->relocation.cursor);
}

static void note_expired(const struct record *record, void *arg) {
    struct model *model = arg;
    size_t i = number_of(record->field);
    expect_item(record, &model->items[i]);
    item_set(model, i, false, SLICE(""), RECORD_NEVER);
}

static void expire(struct model *model) {
    int64_t now_ms = (int64_t)random_below(&model->random, 1000);
    size_t due = 0, max = 1 + random_below(&model->random, 300), before = model->count;
    for (size_t i = 0; i < FIELDS; i++)
        due += model->items[i].in && model->items[i].expiry_ms != RECORD_NEVER &&
               model->items[i].expiry_ms < now_ms;
    assert_int_equal(recordtable_expired(model->table, now_ms), due);
    size_t expired = recordtable_expire(model->table, now_ms, max, note_expired, model);
    assert_int_equal(expired, due < max ? due : max);
    assert_int_equal(before - model->count, expired);
}

/* --- Tests --- */

static void any_sequence_gives_what_the_model_gives(void **state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        size_t used = mem_used();
        struct model *model = model_new(kind & 1);
        for (int round = 0; round < 12; round++) {
            bool grow = round % 2 == 0;
            size_t range = 1 + random_below(&model->random, FIELDS);
            size_t steps = random_below(&model->random, 3 * range);
            for (size_t i = 0; i < steps; i++) change(model, range, grow, kind & 2);
            if (kind & 2) expire(model);
            compare(model);
        }
        for (size_t i = 0; i < FIELDS; i++) unset(model, i);
        compare(model);
        model_free(model);
        assert_int_equal(mem_used(), used);
    }
}

static void each_step_leaves_a_valid_table(void **state) {
    (void)state;
    struct model *model = model_new(true);
    for (int round = 0; round < 8; round++) {
        for (size_t i = 0; i < 300; i++) {
            change(model, 200, round % 2 == 0, true);
            assert_true(recordtable_check(model->table));
        }
    }
    model_free(model);
}

static void the_allocated_bytes_are_what_the_allocator_gives(void **state) {
    (void)state;
    struct model *model = model_new(true);
    size_t others = mem_used() - recordtable_allocated(model->table);
    for (int round = 0; round < 6; round++) {
        for (size_t i = 0; i < 3000; i++) change(model, FIELDS, round % 2 == 0, true);
        assert_int_equal(mem_used() - others, recordtable_allocated(model->table));
    }
    struct recordtable *copy = recordtable_copy(model->table);
    assert_true(recordtable_check(copy));
    assert_int_equal(mem_used() - others,
                     recordtable_allocated(copy) + recordtable_allocated(model->table));
    struct recordtable *original = model->table;
    model->table = copy;
    compare(model);
    for (size_t i = 0; i < 1000; i++) change(model, FIELDS, false, true);
    compare(model);
    recordtable_free(original);
    compare(model);
    model_free(model);
}

/* --- Captures --- */

/* All records, added up so that their order does not matter. */
static uint64_t sum_records(struct recordtable_iter *iter) {
    struct record record;
    uint64_t sum = 0;
    while (recordtable_iter_next(iter, &record))
        sum +=
            hash_bytes(record.field) ^ (hash_bytes(record.value) * 3) ^ (uint64_t)record.expiry_ms;
    return sum;
}

static uint64_t sum_table(const struct recordtable *table) {
    struct recordtable_iter iter;
    recordtable_iter_start(&iter, table);
    return sum_records(&iter);
}

static uint64_t sum_of_model(struct model *model) {
    return sum_table(model->table);
}

static void change_often(struct model *model, size_t count, bool grow) {
    for (size_t i = 0; i < count; i++) change(model, FIELDS, grow, true);
    if (!grow) expire(model);
}

static size_t allocated_by_table(struct model *model) {
    return recordtable_allocated(model->table);
}

static void free_table(struct model *model) {
    recordtable_free(model->table);
}

static struct capture *begin_capture(struct model *model, size_t *left) {
    struct capture *capture = recordtable_capture_begin(model->table, left);
    assert_true(recordtable_is_captured(model->table));
    assert_int_equal(recordtable_count(recordtable_captured(capture)), model->count);
    return capture;
}

static uint64_t sum_capture(const struct capture *capture) {
    struct recordtable_iter iter;
    recordtable_iter_start(&iter, recordtable_captured(capture));
    return sum_records(&iter);
}

static const struct capture_kind captured_table = {change_often,       compare,    sum_of_model,
                                                   allocated_by_table, free_table, begin_capture,
                                                   sum_capture};

static void a_capture_stays_as_the_table_was(void **state) {
    (void)state;
    size_t used = mem_used();
    struct model *model = model_new(true);
    check_that_a_capture_stays(&captured_table, model);
    model_free(model);
    assert_int_equal(mem_used(), used);
}

static void unset_every_third(struct model *model) {
    for (size_t i = 0; i < FIELDS; i += 3) unset(model, i);
}

static void a_table_that_is_freed_goes_over_to_its_capture(void **state) {
    (void)state;
    size_t used = mem_used();
    struct model *model = model_new(true);
    for (size_t i = 0; i < FIELDS; i++) set(model, i, random_expiry(model));
    check_that_a_freed_structure_stays(&captured_table, model, unset_every_third);
    mem_free(model);
    assert_int_equal(mem_used(), used);
}

static void another_thread_reads_a_capture_while_the_table_changes(void **state) {
    (void)state;
    struct model *model = model_new(true);
    check_that_another_thread_reads(&captured_table, model);
    mem_free(model);
}

/* A change while there is a capture copies a segment and a block, not more. */
static void a_change_copies_only_what_it_changes(void **state) {
    (void)state;
    struct model *model = model_new(true);
    size_t left = 0;
    for (size_t i = 0; i < FIELDS; i++) set(model, i, RECORD_NEVER);
    struct capture *capture = recordtable_capture_begin(model->table, &left);
    change_expiry(model, 11);
    assert_true(left < 16 * 1024);
    capture_release(capture);
    capture_free(capture);
    model_free(model);
}

/* --- Scanning --- */

static void note_seen(const struct record *record, void *arg) {
    bool *seen = arg;
    seen[number_of(record->field)] = true;
}

static void a_scan_visits_what_is_there_throughout(void **state) {
    (void)state;
    for (int round = 0; round < 20; round++) {
        struct model *model = model_new(false);
        bool seen[FIELDS] = {false};
        size_t kept = 300, steps = 1 + random_below(&model->random, 40);
        bool grow = round % 2 == 0;
        for (size_t i = 0; i < (grow ? kept : FIELDS); i++) set(model, i, RECORD_NEVER);
        uint64_t cursor = 0;
        do {
            cursor = recordtable_scan(model->table, cursor, note_seen, seen);
            for (size_t i = 0; i < steps; i++) {
                size_t field = kept + random_below(&model->random, FIELDS - kept);
                grow ? set(model, field, RECORD_NEVER) : unset(model, field);
            }
        } while (cursor != 0);
        for (size_t i = 0; i < kept; i++) assert_true(seen[i]);
        model_free(model);
    }
}

/* --- At random --- */

/* Pearson's test: with n - 1 degrees of freedom the statistic is about normal with mean n and
 * variance 2n; six deviations are never exceeded by chance. */
static void assert_uniform(struct model *model) {
    enum { DRAWS = 40 };
    size_t *drawn = mem_alloc_zeroed(FIELDS * sizeof(*drawn));
    double n = (double)model->count, statistic = 0;
    for (size_t i = 0; i < DRAWS * model->count; i++) {
        struct record record;
        recordtable_random(model->table, &model->random, &record);
        drawn[number_of(record.field)]++;
    }
    for (size_t i = 0; i < FIELDS; i++) {
        assert_true(model->items[i].in || drawn[i] == 0);
        double off = (double)drawn[i] - DRAWS;
        if (model->items[i].in) statistic += off * off / DRAWS;
    }
    mem_free(drawn);
    double off = statistic - (n - 1);
    assert_true(off * off < 36 * 2 * n);
}

static void each_record_is_as_likely_as_any_other(void **state) {
    (void)state;
    struct model *model = model_new(false);
    static const size_t counts[] = {1, 2, 100, 1500, 4000, 2600, 1100, 900, 130, 3, 700};
    for (size_t round = 0; round < sizeof(counts) / sizeof(*counts); round++) {
        while (model->count != counts[round]) {
            size_t i = random_below(&model->random, FIELDS);
            if (model->items[i].in != (model->count < counts[round]))
                model->count < counts[round] ? set(model, i, RECORD_NEVER) : unset(model, i);
        }
        assert_uniform(model);
    }
    model_free(model);
}

/* After some draws, in which the table may find out how full its blocks are. */
static void expect_few_draws(struct recordtable *table, struct random *random) {
    struct record record;
    for (int i = 0; i < 200; i++) recordtable_random(table, random, &record);
    assert_true(recordtable_check(table));
    assert_true(table->most <= 8 * recordtable_count(table) / table->buckets.count + 8);
}

static void few_draws_are_needed_however_sizes_have_changed(void **state) {
    (void)state;
    struct model *model = model_new(false);
    for (size_t i = 0; i < FIELDS; i++) set(model, i, RECORD_NEVER);
    for (size_t i = 0; i < FIELDS - 50; i++) unset(model, i);
    for (size_t i = 0; i < FIELDS; i++) set(model, i, RECORD_NEVER);
    expect_few_draws(model->table, &model->random);
    model_free(model);
}

/* A field that is short, or as long as one inside a block can be. */
static struct slice short_or_long(size_t number, bool is_long, char buffer[400]) {
    int len = snprintf(buffer, 400, "%zu", number);
    memset(buffer + len, is_long ? 'l' : 's', RECORD_INLINE_MAX);
    return slice_make(buffer, is_long ? RECORD_INLINE_MAX : (size_t)len + 1);
}

static void few_draws_are_needed_when_what_filled_the_blocks_is_deleted(void **state) {
    enum { SHORT = 20000, LONG = 400 };
    (void)state;
    struct recordtable *table = recordtable_new(false);
    struct random random = random_of_this_run();
    char buffer[400];
    for (size_t i = 0; i < SHORT; i++) {
        struct record record = {short_or_long(i, i < LONG, buffer), SLICE(""), RECORD_NEVER};
        recordtable_set(table, &record, recordtable_hash(record.field));
    }
    for (size_t i = LONG; i < SHORT; i++) {
        struct slice field = short_or_long(i, false, buffer);
        assert_true(recordtable_delete(table, field, recordtable_hash(field)));
    }
    expect_few_draws(table, &random);
    for (size_t i = 1; i < LONG; i++) {
        struct slice field = short_or_long(i, true, buffer);
        assert_true(recordtable_delete(table, field, recordtable_hash(field)));
    }
    expect_few_draws(table, &random);
    recordtable_free(table);
}

int main(void) {
    hash_init();
    for (size_t i = 0; i < sizeof(filler); i++) filler[i] = (char)('a' + i % 26);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_sequence_gives_what_the_model_gives),
        cmocka_unit_test(each_step_leaves_a_valid_table),
        cmocka_unit_test(the_allocated_bytes_are_what_the_allocator_gives),
        cmocka_unit_test(a_capture_stays_as_the_table_was),
        cmocka_unit_test(a_table_that_is_freed_goes_over_to_its_capture),
        cmocka_unit_test(another_thread_reads_a_capture_while_the_table_changes),
        cmocka_unit_test(a_change_copies_only_what_it_changes),
        cmocka_unit_test(a_scan_visits_what_is_there_throughout),
        cmocka_unit_test(each_record_is_as_likely_as_any_other),
        cmocka_unit_test(few_draws_are_needed_however_sizes_have_changed),
        cmocka_unit_test(few_draws_are_needed_when_what_filled_the_blocks_is_deleted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
