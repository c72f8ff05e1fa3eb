/* Hashes against a model: an array with the value and expiry of every possible field. All
 * encodings, and the points where they change. */
#include "types/hash.h"

#include "base/hash/hash.h"
#include "base/text/number.h"
#include "unit/in_range.h"
#include "unit/model_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { FIELDS = 300, TIMES = 1000 };

enum encoding { LISTPACK, LISTPACKEX, HASHTABLE };
static const char *const encoding_names[] = {"listpack", "listpackex", "hashtable"};

struct field {
    bool in;
    uint32_t value; /* it stands for a text */
    int64_t expiry_ms;
};

struct fixture {
    struct model_fixture base;
    struct listpack_limits limits;
    struct field fields[FIELDS];
    size_t count;
    int64_t now_ms;
    enum encoding encoding;
};

static const struct slice the_key = {"a hash", 6};

static struct slice field_of(size_t i, char buffer[400]) {
    int len = snprintf(buffer, 400, "%zu", i);
    size_t padded = i % 29 == 3 ? 290 : (size_t)len + i % 20;
    memset(buffer + len, '.', padded - (size_t)len);
    return slice_make(buffer, padded);
}

static struct slice value_of(uint32_t value, char buffer[700]) {
    int len = snprintf(buffer, 700, "%u", value);
    size_t padded = value % 50 == 3 ? 600 : (size_t)len + value % 20;
    memset(buffer + len, '-', padded - (size_t)len);
    return slice_make(buffer, padded);
}

static size_t number_of(struct slice field) {
    size_t number = 0;
    for (size_t i = 0; i < field.len && field.ptr[i] != '.'; i++)
        number = number * 10 + (size_t)(field.ptr[i] - '0');
    return number;
}

static struct keyref find(struct fixture *f) {
    return keyspace_find(f->base.keyspace, the_key);
}

static bool is_visible(const struct fixture *f, size_t i) {
    const struct field *field = &f->fields[i];
    return field->in && (field->expiry_ms == RECORD_NEVER || field->expiry_ms >= f->now_ms);
}

/* --- Comparing --- */

static void expect_field(const struct record *record, const struct field *field) {
    char buffer[700];
    assert_true(field->in);
    assert_true(slice_equal(record->value, value_of(field->value, buffer)));
    assert_int_equal(record->expiry_ms, field->expiry_ms);
}

struct scan {
    struct fixture *f;
    bool visited[FIELDS];
};

static void note(const struct record *record, void *arg) {
    struct scan *scan = arg;
    size_t i = number_of(record->field);
    expect_field(record, &scan->f->fields[i]);
    scan->visited[i] = true;
}

/* Batches have the same texts in the same order as single fields. */
static void compare_batches(struct fixture *f, const struct entry *entry, unsigned parts) {
    struct hash_iter iter, single;
    struct text_batch batch;
    struct record record;
    hash_iter_start(&iter, entry, f->now_ms);
    hash_iter_start(&single, entry, f->now_ms);
    while (hash_iter_next_batch(&iter, parts, &batch)) {
        assert_uint_in_range(batch.count, 1, TEXT_BATCH);
        for (size_t i = 0; i < batch.count;) {
            assert_true(hash_iter_next(&single, &record));
            if (parts & RECORD_FIELD) assert_true(slice_equal(batch.texts[i++], record.field));
            if (parts & RECORD_VALUE) assert_true(slice_equal(batch.texts[i++], record.value));
        }
    }
    assert_false(hash_iter_next(&single, &record));
}

static void compare_reading(struct fixture *f, const struct entry *entry) {
    struct scan scan = {.f = f};
    struct record record;
    uint64_t cursor = 0;
    size_t visible = 0;
    do cursor = records_scan(entry, cursor, note, &scan);
    while (cursor != 0);
    for (size_t i = 0; i < FIELDS; i++) {
        char buffer[400];
        assert_int_equal(scan.visited[i], f->fields[i].in);
        bool found = hash_find(entry, field_of(i, buffer), f->now_ms, &record);
        assert_int_equal(found, is_visible(f, i));
        assert_int_equal(hash_find(entry, field_of(i, buffer), HASH_ALL, NULL), f->fields[i].in);
        if (found) expect_field(&record, &f->fields[i]);
        visible += found;
    }
    assert_int_equal(records_living(entry, f->now_ms), visible);
    struct hash_iter iter;
    hash_iter_start(&iter, entry, f->now_ms);
    for (size_t i = 0; i < visible; i++) {
        assert_true(hash_iter_next(&iter, &record));
        assert_true(is_visible(f, number_of(record.field)));
    }
    assert_false(hash_iter_next(&iter, &record));
    for (unsigned parts = RECORD_FIELD; parts <= (RECORD_FIELD | RECORD_VALUE); parts++)
        compare_batches(f, entry, parts);
    struct records_draws draws;
    records_draws_begin(&draws, entry, f->now_ms);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(records_draws_next(&draws, &f->base.random, &record), visible > 0);
        if (visible > 0) assert_true(is_visible(f, number_of(record.field)));
    }
    records_draws_end(&draws);
}

static int64_t first_expiry(const struct fixture *f) {
    int64_t first = RECORD_NEVER;
    for (size_t i = 0; i < FIELDS; i++) {
        const struct field *field = &f->fields[i];
        if (!field->in || field->expiry_ms == RECORD_NEVER) continue;
        if (first == RECORD_NEVER || field->expiry_ms < first) first = field->expiry_ms;
    }
    return first;
}

static void compare(struct fixture *f) {
    struct entry *entry = find(f).entry;
    assert_true(keyspace_check(f->base.keyspace));
    assert_int_equal(keyspace_count_of(f->base.keyspace, EXPIRING_FIELDS),
                     first_expiry(f) != RECORD_NEVER);
    if (f->count == 0) {
        assert_null(entry);
        return;
    }
    assert_true(value_check(entry));
    assert_string_equal(value_encoding_name(entry), encoding_names[f->encoding]);
    assert_int_equal(hash_length(entry), f->count);
    assert_int_equal(hash_first_expiry(entry), first_expiry(f));
    assert_int_equal(entry_fields_expire(entry), first_expiry(f) != RECORD_NEVER);
    compare_reading(f, entry);
}

/* --- Operations, on both --- */

static void model_set(struct fixture *f, size_t i, bool in, uint32_t value, int64_t expiry_ms) {
    f->count += in;
    f->count -= f->fields[i].in;
    f->fields[i] = (struct field){in, value, expiry_ms};
}

static void delete_if_empty(struct fixture *f, struct keyref *ref) {
    assert_int_equal(value_is_empty(ref->entry), f->count == 0);
    if (f->count > 0) return;
    keyspace_delete(ref);
    f->encoding = LISTPACK;
}

static void set(struct fixture *f, size_t i) {
    char field_buffer[400], value_buffer[700];
    uint32_t number = (uint32_t)random_below(&f->base.random, 100);
    struct slice field = field_of(i, field_buffer), value = value_of(number, value_buffer);
    enum hash_expiry_mode mode = (enum hash_expiry_mode)random_below(&f->base.random, 2);
    size_t expected = random_below(&f->base.random, 30) ? 1 : random_below(&f->base.random, 20) + 1;
    struct keyref ref = find(f);
    bool keep = mode == HASH_KEEP_EXPIRY && is_visible(f, i);
    size_t count = f->count + !f->fields[i].in;
    if (expected > f->limits.listpack_entries || count > f->limits.listpack_entries ||
        field.len > f->limits.listpack_value || value.len > f->limits.listpack_value)
        f->encoding = HASHTABLE;
    if (!ref.entry) {
        hash_create(&ref, the_key, field, value, expected, &f->limits);
    } else {
        hash_expect(&ref, expected, &f->limits);
        assert_int_equal(hash_set(&ref, field, value, mode, f->now_ms, &f->limits),
                         !is_visible(f, i));
    }
    model_set(f, i, true, number, keep ? f->fields[i].expiry_ms : RECORD_NEVER);
}

static void delete_field(struct fixture *f, size_t i) {
    char buffer[400];
    struct keyref ref = find(f);
    if (!ref.entry) return;
    assert_int_equal(hash_delete(&ref, field_of(i, buffer)), f->fields[i].in);
    model_set(f, i, false, 0, RECORD_NEVER);
    delete_if_empty(f, &ref);
}

static bool condition_holds(enum hash_condition condition, int64_t old_ms, int64_t new_ms) {
    bool none = old_ms == RECORD_NEVER;
    if (condition == HASH_IF_NONE) return none;
    if (condition == HASH_IF_ANY) return !none;
    if (condition == HASH_IF_GREATER) return !none && new_ms > old_ms;
    return condition == HASH_ALWAYS || none || new_ms < old_ms;
}

static void set_expiry(struct fixture *f, size_t i) {
    char buffer[400];
    struct keyref ref = find(f);
    enum hash_condition condition = (enum hash_condition)random_below(&f->base.random, 5);
    int64_t expiry_ms = (int64_t)random_below(&f->base.random, TIMES),
            old_ms = f->fields[i].expiry_ms;
    enum hash_expiry_result expected = HASH_EXPIRY_SET;
    if (!ref.entry) return;
    if (!is_visible(f, i))
        expected = HASH_NO_FIELD;
    else if (!condition_holds(condition, old_ms, expiry_ms))
        expected = HASH_CONDITION_NOT_MET;
    else if (expiry_ms <= f->now_ms)
        expected = HASH_FIELD_DELETED;
    assert_int_equal(hash_set_expiry(&ref, field_of(i, buffer), expiry_ms, condition, f->now_ms),
                     expected);
    if (expected == HASH_EXPIRY_SET) {
        model_set(f, i, true, f->fields[i].value, expiry_ms);
        if (f->encoding == LISTPACK) f->encoding = LISTPACKEX;
    } else if (expected == HASH_FIELD_DELETED) {
        model_set(f, i, false, 0, RECORD_NEVER);
        delete_if_empty(f, &ref);
    }
}

static void persist(struct fixture *f, size_t i) {
    char buffer[400];
    struct keyref ref = find(f);
    if (!ref.entry) return;
    enum hash_expiry_result expected = !is_visible(f, i)                        ? HASH_NO_FIELD
                                       : f->fields[i].expiry_ms == RECORD_NEVER ? HASH_NO_EXPIRY
                                                                                : HASH_EXPIRY_SET;
    assert_int_equal(hash_persist(&ref, field_of(i, buffer), f->now_ms), expected);
    if (expected == HASH_EXPIRY_SET) model_set(f, i, true, f->fields[i].value, RECORD_NEVER);
}

static void note_expired(const struct record *record, void *arg) {
    struct fixture *f = arg;
    size_t i = number_of(record->field);
    assert_false(is_visible(f, i));
    expect_field(record, &f->fields[i]);
    model_set(f, i, false, 0, RECORD_NEVER);
}

static void expire(struct fixture *f) {
    struct keyref ref = find(f);
    size_t due = 0, max = 1 + random_below(&f->base.random, 20);
    if (!ref.entry) return;
    for (size_t i = 0; i < FIELDS; i++) due += f->fields[i].in && !is_visible(f, i);
    assert_int_equal(hash_expire(&ref, f->now_ms, max, note_expired, f), due < max ? due : max);
    delete_if_empty(f, &ref);
}

static void copy_and_rename(struct fixture *f) {
    struct keyref ref = find(f), other;
    if (!ref.entry) return;
    size_t expiring = first_expiry(f) != RECORD_NEVER;
    struct entry *copy = value_copy(ref.entry, SLICE("another key"));
    assert_true(value_check(copy));
    other = keyspace_find(f->base.keyspace, SLICE("another key"));
    keyspace_add(&other, copy);
    assert_int_equal(keyspace_count_of(f->base.keyspace, EXPIRING_FIELDS), 2 * expiring);
    keyspace_delete(&other);
    ref = find(f);
    keyspace_set_expiry(&ref, entry_expiry(ref.entry) < 0 ? 1 : -1, value_size(ref.entry));
    struct entry *entry = value_rename(keyspace_take(&ref), SLICE("another key"));
    entry = value_rename(entry, the_key);
    ref = find(f);
    keyspace_add(&ref, entry);
}

static void step(struct fixture *f, size_t range, bool grow, bool expiries) {
    size_t i = random_below(&f->base.random, range);
    switch (random_below(&f->base.random, 8)) {
    case 0: expiries ? set_expiry(f, i) : set(f, i); break;
    case 1: expiries ? persist(f, i) : set(f, i); break;
    case 2: delete_field(f, i); break;
    case 3: expiries ? set_expiry(f, i) : delete_field(f, i); break;
    default: grow ? set(f, i) : delete_field(f, i);
    }
    if (f->count > 0) assert_true(value_check(find(f).entry));
}

static void any_sequence_gives_what_the_model_gives(void **state) {
    struct fixture *f = *state;
    for (int round = 0; round < 200; round++) {
        size_t range = 1 + random_below(&f->base.random, round % 7 ? 40 : FIELDS);
        bool expiries = random_below(&f->base.random, 2);
        if (round % 20 == 0) {
            f->limits = (struct listpack_limits){random_below(&f->base.random, 25),
                                                 random_below(&f->base.random, 3) ? 64 : 9};
            if (round % 40 == 0) f->limits = (struct listpack_limits){400, 1000};
        }
        for (size_t i = random_below(&f->base.random, 60); i > 0; i--)
            step(f, range, round % 3 != 2, expiries);
        f->now_ms = (int64_t)random_below(&f->base.random, TIMES);
        compare(f);
        if (expiries) expire(f);
        compare(f);
        if (round % 16 == 0) copy_and_rename(f);
        if (round % 10 == 9) {
            for (size_t i = 0; i < FIELDS; i++) delete_field(f, i);
            compare(f);
        }
    }
}

/* --- Single rules --- */

static void encodings_change_at_the_limits_of_redis(void **state) {
    struct fixture *f = *state;
    f->limits = value_limits_default.hash;
    for (int i = 0; i < 512; i++) {
        char digits[INT64_TEXT_MAX];
        struct keyref ref = find(f);
        struct slice field = number_text(digits, i);
        if (ref.entry)
            hash_set(&ref, field, SLICE("1"), HASH_DROP_EXPIRY, 0, &f->limits);
        else
            hash_create(&ref, the_key, field, SLICE("1"), 1, &f->limits);
    }
    struct keyref ref = find(f);
    assert_string_equal(value_encoding_name(ref.entry), "listpack");
    hash_set(&ref, SLICE("one more"), SLICE("1"), HASH_DROP_EXPIRY, 0, &f->limits);
    assert_string_equal(value_encoding_name(ref.entry), "hashtable");
}

/* The same numbers as in the tables of a README: five short fields under a short key. */
static void five_short_fields_under_a_short_key_fit_112_bytes(void **state) {
    struct fixture *f = *state;
    f->limits = value_limits_default.hash;
    struct keyref ref = keyspace_find(f->base.keyspace, SLICE("hash:123456"));
    hash_create(&ref, SLICE("hash:123456"), SLICE("field:0"), SLICE("hellohello"), 5, &f->limits);
    for (int i = 1; i < 5; i++) {
        char field[] = "field:0";
        field[6] = (char)('0' + i);
        hash_set(&ref, slice_of_cstr(field), SLICE("hellohello"), HASH_DROP_EXPIRY, 0, &f->limits);
    }
    assert_true(value_allocated(ref.entry) <= 112);
}

static void the_allocated_bytes_are_what_the_allocator_gives(void **state) {
    struct fixture *f = *state;
    f->limits = (struct listpack_limits){5, 64};
    for (size_t i = 0; i < FIELDS; i++) set(f, i);
    for (size_t i = 0; i < FIELDS; i += 3) set_expiry(f, i);
    struct keyref ref = find(f);
    assert_true(value_free_effort(ref.entry) > 10);
    assert_frees_what_it_allocated(&ref);
}

static int set_up(void **state) {
    return set_up_model(state, sizeof(struct fixture));
}

int main(void) {
    hash_init();
#define HASH_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down_model)
    const struct CMUnitTest tests[] = {
        HASH_TEST(any_sequence_gives_what_the_model_gives),
        HASH_TEST(encodings_change_at_the_limits_of_redis),
        HASH_TEST(five_short_fields_under_a_short_key_fit_112_bytes),
        HASH_TEST(the_allocated_bytes_are_what_the_allocator_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
