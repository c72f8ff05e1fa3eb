/* Sets against a model: an array that says of every possible member whether it is in. All
 * encodings, and the points where they change. */
#include "types/set.h"

#include "base/hash/hash.h"
#include "unit/in_range.h"
#include "unit/model_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MEMBERS = 600 };

enum encoding { NO_SET, INTSET, LISTPACK, HASHTABLE };
static const char *const encoding_names[] = {"", "intset", "listpack", "hashtable"};

struct fixture {
    struct model_fixture base;
    struct set_limits limits;
    bool in[MEMBERS];
    size_t count;
    enum encoding encoding;
};

static const struct slice the_key = {"a set", 5};

/* --- Members: the first half are integers of all widths, the others texts --- */

static bool is_integer(size_t i) {
    return i < MEMBERS / 2;
}

static struct slice member_of(size_t i, char buffer[100]) {
    if (is_integer(i)) {
        int64_t value = (int64_t)i - 100;
        if (i % 3 == 1) value *= 100003;
        if (i % 30 == 2) value *= 10000000019;
        return number_text(buffer, value);
    }
    int len = snprintf(buffer, 100, "m%zu", i);
    size_t padded = i % 20 == 7 ? 70 : (size_t)len + i % 13;
    memset(buffer + len, 'x', padded - (size_t)len);
    return slice_make(buffer, padded);
}

static size_t number_of(struct slice member) {
    char buffer[100];
    for (size_t i = 0; i < MEMBERS; i++)
        if (slice_equal(member_of(i, buffer), member)) return i;
    fail_msg("a member that was never added");
    return 0;
}

static struct keyref find(struct fixture *f) {
    return keyspace_find(f->base.keyspace, the_key);
}

/* --- The model: Redis's rules for encodings --- */

static bool fits_listpack(struct fixture *f, struct slice member) {
    if (f->count >= f->limits.listpack_entries || member.len > f->limits.listpack_value)
        return false;
    for (size_t i = 0; f->encoding == INTSET && i < MEMBERS; i++) {
        char buffer[100];
        if (f->in[i] && member_of(i, buffer).len > f->limits.listpack_value) return false;
    }
    return true;
}

static void model_add(struct fixture *f, size_t i) {
    char buffer[100];
    struct slice member = member_of(i, buffer);
    if (f->in[i]) return;
    if (f->encoding == INTSET && is_integer(i)) {
        if (f->count + 1 > f->limits.intset_entries) f->encoding = HASHTABLE;
    } else if (f->encoding != HASHTABLE) {
        f->encoding = fits_listpack(f, member) ? LISTPACK : HASHTABLE;
    }
    f->in[i] = true;
    f->count++;
}

static void model_expect(struct fixture *f, bool integer, size_t expected) {
    if (f->encoding == NO_SET) {
        if (integer && expected <= f->limits.intset_entries)
            f->encoding = INTSET;
        else
            f->encoding = expected <= f->limits.listpack_entries ? LISTPACK : HASHTABLE;
    } else if (f->encoding == INTSET ? expected > f->limits.intset_entries
                                     : expected > f->limits.listpack_entries) {
        f->encoding = HASHTABLE;
    }
}

/* --- Comparing --- */

struct found {
    bool in[MEMBERS];
    size_t count;
};

static void note(struct slice member, void *arg) {
    struct found *found = arg;
    found->in[number_of(member)] = true;
    found->count++;
}

static void compare_batches(struct fixture *f, const struct entry *entry) {
    struct found found = {.count = 0};
    struct set_iter iter;
    struct text_batch batch;
    set_iter_start(&iter, entry);
    while (set_iter_next_batch(&iter, &batch)) {
        assert_uint_in_range(batch.count, 1, TEXT_BATCH);
        for (size_t i = 0; i < batch.count; i++) note(batch.texts[i], &found);
    }
    assert_int_equal(found.count, f->count);
    assert_memory_equal(found.in, f->in, sizeof(f->in));
}

/* Looks some of all possible members up together: those that are in come first, in their order. */
static void compare_probes(struct fixture *f, const struct entry *entry) {
    struct set_probe probes[TEXT_BATCH];
    char buffers[TEXT_BATCH][100];
    size_t wanted[TEXT_BATCH], kept = 0, count = random_below(&f->base.random, TEXT_BATCH + 1);
    size_t first = random_below(&f->base.random, MEMBERS), step = f->count < 40 ? 1 : 7;
    for (size_t i = 0; i < count; i++) {
        size_t number = (first + i * step) % MEMBERS;
        struct slice member = member_of(number, buffers[i]);
        probes[i] = (struct set_probe){member, set_hash(member)};
        if (f->in[number]) wanted[kept++] = number;
    }
    assert_int_equal(set_keep_members(entry, probes, count), kept);
    for (size_t i = 0; i < kept; i++) assert_int_equal(number_of(probes[i].member), wanted[i]);
}

static void compare(struct fixture *f) {
    struct entry *entry = find(f).entry;
    struct found found = {.count = 0}, scanned = {.count = 0};
    struct set_iter iter;
    struct slice member;
    if (f->count == 0) {
        assert_null(entry);
        return;
    }
    assert_true(value_check(entry));
    assert_string_equal(value_encoding_name(entry), encoding_names[f->encoding]);
    assert_int_equal(set_length(entry), f->count);
    set_iter_start(&iter, entry);
    while (set_iter_next(&iter, &member)) note(member, &found);
    assert_int_equal(found.count, f->count);
    assert_memory_equal(found.in, f->in, sizeof(f->in));
    compare_batches(f, entry);
    for (int i = 0; i < 5; i++) compare_probes(f, entry);
    uint64_t cursor = 0;
    do cursor = set_scan(entry, cursor, note, &scanned);
    while (cursor != 0);
    assert_memory_equal(scanned.in, f->in, sizeof(f->in));
    for (size_t i = 0; i < MEMBERS; i++) {
        char buffer[100];
        assert_int_equal(set_contains(entry, member_of(i, buffer)), f->in[i]);
    }
    struct set_draws draws;
    set_draws_begin(&draws, entry);
    for (int i = 0; i < 5; i++)
        assert_true(f->in[number_of(set_draws_next(&draws, &f->base.random))]);
    set_draws_end(&draws);
}

/* --- Operations, on both --- */

static void add(struct fixture *f, size_t i, size_t expected) {
    char buffer[100];
    struct keyref ref = find(f);
    struct slice member = member_of(i, buffer);
    model_expect(f, is_integer(i), expected);
    if (!ref.entry) {
        set_create(&ref, the_key, member, expected, &f->limits);
    } else {
        set_expect(&ref, expected, &f->limits);
        assert_int_equal(set_add(&ref, member, &f->limits), !f->in[i]);
    }
    model_add(f, i);
}

static void remove_one(struct fixture *f, size_t i) {
    char buffer[100];
    struct keyref ref = find(f);
    if (!ref.entry) return;
    assert_int_equal(set_remove(&ref, member_of(i, buffer)), f->in[i]);
    f->count -= f->in[i];
    f->in[i] = false;
    assert_int_equal(value_is_empty(ref.entry), f->count == 0);
    if (f->count > 0) return;
    keyspace_delete(&ref);
    f->encoding = NO_SET;
}

static void note_taken(sds member, void *arg) {
    struct fixture *f = arg;
    size_t i = number_of(sds_slice(member));
    assert_true(f->in[i]);
    f->in[i] = false;
    f->count--;
    sds_free(member);
}

/* All but few of the members, or few of them. */
static void take_some(struct fixture *f) {
    struct keyref ref = find(f);
    if (f->count < 2) return;
    size_t few = 1 + random_below(&f->base.random, f->count - 1), before = f->count;
    set_take(&ref, &f->base.random, few, note_taken, f);
    assert_int_equal(f->count, before - few);
    assert_true(value_check(find(f).entry));
    compare(f);
}

static void copy_and_rename(struct fixture *f) {
    struct keyref ref = find(f);
    if (!ref.entry) return;
    struct entry *copy = value_copy(ref.entry, SLICE("another key, a longer one"));
    assert_true(value_check(copy));
    assert_int_equal(set_length(copy), f->count);
    value_free(copy);
    struct entry *entry = value_rename(keyspace_take(&ref), SLICE("another key, a longer one"));
    entry = value_rename(entry, the_key);
    ref = find(f);
    keyspace_add(&ref, entry);
}

static void random_limits(struct fixture *f) {
    f->limits =
        (struct set_limits){random_below(&f->base.random, 30), random_below(&f->base.random, 20),
                            random_below(&f->base.random, 3) ? 64 : 3};
}

static void any_sequence_gives_what_the_model_gives(void **state) {
    struct fixture *f = *state;
    for (int round = 0; round < 150; round++) {
        if (round % 10 == 0) random_limits(f);
        bool grow = round % 3 != 2, integers = random_below(&f->base.random, 2);
        size_t range = 1 + random_below(&f->base.random, integers ? MEMBERS / 2 : MEMBERS);
        size_t expected =
            random_below(&f->base.random, 4) ? 1 : random_below(&f->base.random, 40) + 1;
        for (size_t step = random_below(&f->base.random, 60); step > 0; step--) {
            size_t i = random_below(&f->base.random, range);
            random_below(&f->base.random, 5) == 0 ? remove_one(f, i)
            : grow                                ? add(f, i, expected)
                                                  : remove_one(f, i);
            if (f->count > 0) assert_true(value_check(find(f).entry));
        }
        compare(f);
        if (round % 16 == 0) copy_and_rename(f);
        if (round % 7 == 0) take_some(f);
    }
}

/* --- Single rules --- */

static void add_numbers(struct fixture *f, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
        char digits[INT64_TEXT_MAX];
        struct keyref ref = find(f);
        struct slice member = number_text(digits, (int64_t)i);
        if (ref.entry)
            set_add(&ref, member, &f->limits);
        else
            set_create(&ref, the_key, member, 1, &f->limits);
    }
}

static void encodings_change_at_the_limits_of_redis(void **state) {
    struct fixture *f = *state;
    f->limits = value_limits_default.set;
    add_numbers(f, 0, 512);
    assert_string_equal(value_encoding_name(find(f).entry), "intset");
    add_numbers(f, 512, 513);
    assert_string_equal(value_encoding_name(find(f).entry), "hashtable");
    struct keyref ref = find(f);
    keyspace_delete(&ref);
    add_numbers(f, 0, 127);
    ref = find(f);
    assert_true(set_add(&ref, SLICE("a text"), &f->limits));
    assert_string_equal(value_encoding_name(ref.entry), "listpack");
    assert_false(set_add(&ref, SLICE("a text"), &f->limits));
    assert_string_equal(value_encoding_name(ref.entry), "listpack");
    assert_true(set_add(&ref, SLICE("another"), &f->limits));
    assert_string_equal(value_encoding_name(ref.entry), "hashtable");
}

static void an_expiry_survives_a_change_of_the_encoding(void **state) {
    struct fixture *f = *state;
    f->limits = value_limits_default.set;
    add_numbers(f, 0, 10);
    struct keyref ref = find(f);
    keyspace_set_expiry(&ref, 12345, value_size(ref.entry));
    entry_set_clock(ref.entry, 777);
    set_add(&ref, SLICE("a text"), &f->limits);
    assert_int_equal(entry_expiry(ref.entry), 12345);
    assert_int_equal(entry_clock(ref.entry), 777);
    assert_int_equal(keyspace_count_of(f->base.keyspace, EXPIRING_KEYS), 1);
    assert_true(value_check(find(f).entry));
}

static void sizes_are_counted(void **state) {
    struct fixture *f = *state;
    f->limits = value_limits_default.set;
    add_numbers(f, 0, 700);
    const struct size_histogram *sizes = keyspace_sizes(f->base.keyspace);
    struct size_histogram expected = {0};
    size_histogram_add(&expected, VALUE_SET, 700);
    assert_true(size_histogram_equal(sizes, &expected));
    struct keyref ref = find(f);
    for (int i = 0; i < 699; i++) {
        char digits[INT64_TEXT_MAX];
        assert_true(set_remove(&ref, number_text(digits, i)));
    }
    size_histogram_remove(&expected, VALUE_SET, 700);
    size_histogram_add(&expected, VALUE_SET, 1);
    assert_true(size_histogram_equal(sizes, &expected));
    size_histogram_free(&expected);
}

static void the_allocated_bytes_are_what_the_allocator_gives(void **state) {
    struct fixture *f = *state;
    f->limits = value_limits_default.set;
    add_numbers(f, 0, 5000);
    struct keyref ref = find(f);
    size_t effort = value_free_effort(ref.entry);
    assert_true(effort > 20 && effort < 5000);
    assert_frees_what_it_allocated(&ref);
}

static int set_up(void **state) {
    return set_up_model(state, sizeof(struct fixture));
}

int main(void) {
    hash_init();
#define SET_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down_model)
    const struct CMUnitTest tests[] = {
        SET_TEST(any_sequence_gives_what_the_model_gives),
        SET_TEST(encodings_change_at_the_limits_of_redis),
        SET_TEST(an_expiry_survives_a_change_of_the_encoding),
        SET_TEST(sizes_are_counted),
        SET_TEST(the_allocated_bytes_are_what_the_allocator_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
