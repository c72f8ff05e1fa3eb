/* The keyspace against a model: for each possible key the value it should have. A value is 4 bytes
 * of number and 0 to 100 more that its first byte counts. */
#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "store/key_slot.h"
#include "store/keyspace.h"
#include "unit/in_range.h"
#include "unit/keyspace_kinds.h"
#include "unit/relocate_step.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#ifdef TINY_LIMITS
enum { MODEL_KEYS = 700 };
#else
enum { MODEL_KEYS = 6000 };
#endif

static struct random start(void) {
    struct random random = random_of_this_run();
    hash_init_seed(random_next(&random));
    return random;
}

/* How many entries the callback was given. */
static size_t freed;

static size_t value_size(const struct entry *entry) {
    return 5 + (size_t)entry_value(entry)[4];
}

static void free_entry(struct entry *entry) {
    freed++;
    entry_free(entry, value_size(entry));
}

/* The sizes that the histogram counts are apart from those of the memory. */
static uint64_t value_length(const struct entry *entry) {
    return entry_value(entry)[4];
}

static void set_value(struct entry *entry, uint32_t number, uint8_t more) {
    memcpy(entry_value(entry), &number, sizeof(number));
    entry_value(entry)[4] = more;
    memset(entry_value(entry) + 5, (int)number, more);
}

static uint32_t number_of(const struct entry *entry) {
    uint32_t number;
    memcpy(&number, entry_value(entry), sizeof(number));
    return number;
}

/* A keyspace of the kind under test. */
static struct keyspace *new_keyspace(void **state) {
    const struct keyspace_kind *kind = *state;
    return kind->make(free_entry, value_length);
}

enum {
    TAGS = 5
}; /* half of the keys are in as many slots, most others each in a slot of its own */

static struct slice key_of(char text[static 40], size_t i) {
    int len =
        i % 2 ? snprintf(text, 40, "%zu", i) : snprintf(text, 40, "%zu{%zu}", i, i / 2 % TAGS);
    if (i % 3 == 0) len += snprintf(text + len, 40 - (size_t)len, ":%027d", 7);
    return slice_make(text, (size_t)len);
}

static void add(struct keyspace *keyspace, size_t i, uint32_t number) {
    char text[40];
    struct keyref ref = keyspace_find(keyspace, key_of(text, i));
    assert_null(ref.entry);
    assert_null(ref.slot);
    struct entry *entry = entry_new(key_of(text, i), VALUE_STRING, 0, 5);
    set_value(entry, number, 0);
    keyspace_add(&ref, entry);
    assert_ptr_equal(ref.entry, entry);
    assert_ptr_equal(hashtable_item(*ref.slot), entry);
}

static struct keyref find(struct keyspace *keyspace, size_t i) {
    char text[40];
    struct keyref ref = keyspace_find(keyspace, key_of(text, i));
    assert_ptr_equal(ref.keyspace, keyspace);
    assert_true(ref.hash == keyspace_hash(keyspace, key_of(text, i)));
    if (ref.entry == NULL) {
        assert_null(ref.slot);
    } else {
        assert_true(slice_equal(entry_key(ref.entry), key_of(text, i)));
        assert_ptr_equal(hashtable_item(*ref.slot), ref.entry);
    }
    return ref;
}

/* Another value under the same key, at times of another type, which may move the entry. */
static void change(struct keyref *ref, uint32_t number, uint8_t more) {
    enum value_type old_type = entry_type(ref->entry);
    uint64_t old_length = value_length(ref->entry);
    struct entry *entry = entry_resize(ref->entry, value_size(ref->entry), 5 + (size_t)more);
    keyref_moved(ref, entry);
    set_value(entry, number, more);
    if (number % 4 > 0) {
        keyspace_resized(ref, old_length, more);
        return;
    }
    entry_set_type(entry, old_type == VALUE_STRING ? VALUE_LIST : VALUE_STRING, 0);
    keyspace_recount(ref, old_type, old_length);
}

static struct entry *move_entry(struct entry *entry, void *arg) {
    struct relocate_step *step = arg;
    return entry_relocate(entry, value_size(entry), &step->relocator);
}

/* Moves the entries of a few keys, and a part of the tables of what expires. */
static void relocate_some(struct keyspace *keyspace, struct relocate_step *step,
                          struct random *random) {
    if (!relocate_step_begins(step, random)) return;
    struct relocate_cursor *cursor = &step->cursor;
    cursor->at =
        keyspace_relocate(keyspace, ALL_KEYS, cursor->at, &step->relocator, move_entry, step);
    cursor->part =
        keyspace_relocate(keyspace, EXPIRING_KEYS, cursor->part, &step->relocator, NULL, NULL);
}

static void random_steps_agree_with_the_model(void **state) {
    struct random random = start();
    size_t used = mem_used(), count = 0, gone = 0;
    uint32_t *model = mem_alloc_zeroed(MODEL_KEYS * sizeof(*model)); /* 0: not there */
    struct keyspace *keyspace = new_keyspace(state);
    freed = 0;
    size_t i = 0;
    struct relocate_step relocation = {0};
    for (uint32_t step = 1; step < MODEL_KEYS * 20; step++) {
        bool growing = step / (MODEL_KEYS * 5) % 2 == 0;
        if (random_below(&random, 3)) i = random_below(&random, MODEL_KEYS); /* or the same again */
        struct keyref ref = find(keyspace, i);
        assert_int_equal(ref.entry != NULL ? number_of(ref.entry) : 0, model[i]);
        uint64_t dice = random_below(&random, 10);
        if (ref.entry == NULL) {
            if (dice < (growing ? 8 : 2)) add(keyspace, i, model[i] = step), count++;
        } else if (dice < (growing ? 2 : 8)) {
            keyspace_delete(&ref);
            assert_null(ref.entry);
            assert_null(ref.slot);
            model[i] = 0, count--, gone++;
        } else {
            change(&ref, model[i] = step, (uint8_t)random_below(&random, 100));
        }
        assert_int_equal(keyspace_count(keyspace), count);
        assert_int_equal(freed, gone);
        relocate_some(keyspace, &relocation, &random);
        if (step % MODEL_KEYS == 0) assert_true(keyspace_check(keyspace));
    }
    keyspace_free(keyspace);
    assert_int_equal(freed, gone + count);
    mem_free(model);
    assert_int_equal(mem_used(), used);
}

static void the_key_found_last_is_found_again_after_anything(void **state) {
    start();
    struct keyspace *keyspace = new_keyspace(state);
    add(keyspace, 0, 1000);
    for (size_t i = 1; i < 300;
         i++) { /* each step moves slots, while key 0 is the last one found */
        struct keyref ref = find(keyspace, 0);
        assert_int_equal(number_of(ref.entry), 1000 + i - 1);
        change(&ref, 1000 + (uint32_t)i, (uint8_t)(i % 90));
        assert_ptr_equal(find(keyspace, 0).entry, ref.entry);
        add(keyspace, i, 1);
        assert_true(keyspace_check(keyspace));
        assert_ptr_equal(find(keyspace, 0).entry, ref.entry);
        if (i % 3 != 0) continue;
        struct keyref other = find(keyspace, i / 2 + 1);
        if (other.entry != NULL) keyspace_delete(&other);
        assert_true(keyspace_check(keyspace));
    }
    struct keyref ref = find(keyspace, 0);
    keyspace_delete(&ref);
    assert_null(find(keyspace, 0).entry);
    add(keyspace, 0, 5);
    assert_int_equal(number_of(find(keyspace, 0).entry), 5);
    keyspace_clear(keyspace);
    assert_null(find(keyspace, 0).entry);
    keyspace_free(keyspace);
}

static void a_taken_entry_belongs_to_the_caller(void **state) {
    start();
    struct keyspace *from = new_keyspace(state), *to = new_keyspace(state);
    freed = 0;
    add(from, 7, 77);
    struct keyref source = find(from, 7), destination = find(to, 7);
    struct entry *entry = keyspace_take(&source);
    assert_null(source.entry);
    assert_int_equal(freed, 0);
    assert_int_equal(keyspace_count(from), 0);
    assert_null(find(from, 7).entry);
    keyspace_add(&destination, entry);
    assert_ptr_equal(find(to, 7).entry, entry);
    keyspace_free(from);
    assert_int_equal(freed, 0);
    keyspace_free(to);
    assert_int_equal(freed, 1);
}

static void clearing_frees_every_entry_and_the_table(void **state) {
    start();
    struct keyspace *keyspace = new_keyspace(state);
    size_t empty = keyspace_table_allocated(keyspace), used = mem_used();
    for (size_t i = 0; i < 500; i++) add(keyspace, i, 1);
    freed = 0;
    keyspace_clear(keyspace);
    assert_int_equal(freed, 500);
    assert_int_equal(keyspace_count(keyspace), 0);
    assert_int_equal(keyspace_table_allocated(keyspace), empty);
    assert_int_equal(mem_used(), used);
    assert_null(keyspace_random(keyspace, ALL_KEYS, &(struct random){{1, 2, 3, 4}}));
    add(keyspace, 1, 1);
    assert_true(keyspace_check(keyspace));
    keyspace_free(keyspace);
}

/* How many values of the type there are in all buckets. */
static uint64_t values_of(const struct keyspace *keyspace, enum value_type type) {
    uint64_t sum = 0;
    for (unsigned bucket = 0; bucket < SIZE_BUCKETS; bucket++)
        sum += size_histogram_count(keyspace_sizes(keyspace), type, bucket);
    return sum;
}

static uint64_t strings_in(const struct keyspace *keyspace, unsigned bucket) {
    return size_histogram_count(keyspace_sizes(keyspace), VALUE_STRING, bucket);
}

static void sizes_are_counted_until_the_entry_is_gone(void **state) {
    start();
    struct keyspace *keyspace = new_keyspace(state);
    assert_int_equal(values_of(keyspace, VALUE_STRING), 0);
    add(keyspace, 1, 1);
    add(keyspace, 2, 1);
    assert_int_equal(strings_in(keyspace, 0), 2);
    struct keyref ref = find(keyspace, 1);
    change(&ref, 1, 31);
    assert_int_equal(strings_in(keyspace, 0), 1);
    assert_int_equal(strings_in(keyspace, 5), 1);
    change(&ref, 1, 32);
    assert_int_equal(strings_in(keyspace, 5), 0);
    assert_int_equal(strings_in(keyspace, 6), 1);
    change(&ref, 4, 32); /* becomes a list */
    assert_int_equal(values_of(keyspace, VALUE_STRING), 1);
    assert_int_equal(size_histogram_count(keyspace_sizes(keyspace), VALUE_LIST, 6), 1);
    keyspace_delete(&ref);
    assert_int_equal(values_of(keyspace, VALUE_LIST), 0);
    assert_int_equal(values_of(keyspace, VALUE_STRING), 1);
    assert_true(keyspace_check(keyspace));
    keyspace_clear(keyspace);
    assert_int_equal(values_of(keyspace, VALUE_STRING), 0);
    keyspace_free(keyspace);
}

static void a_size_that_is_not_reported_fails_the_check(void **state) {
    start();
    struct keyspace *keyspace = new_keyspace(state);
    add(keyspace, 1, 1);
    struct keyref ref = find(keyspace, 1);
    struct entry *entry = entry_resize(ref.entry, 5, 5 + 40);
    keyref_moved(&ref, entry);
    set_value(entry, 1, 40);
    assert_false(keyspace_check(keyspace));
    keyspace_resized(&ref, 0, 40);
    assert_true(keyspace_check(keyspace));
    keyspace_free(keyspace);
}

static void prefetched_keys_are_found_by_their_hash(void **state) {
    start();
    size_t hits = 0;
    struct keyspace *keyspace = new_keyspace(state);
    for (size_t i = 0; i < 200; i++) {
        char text[40];
        struct slice key = key_of(text, i);
        struct hashtable_lookup lookup = keyspace_prefetch(keyspace, key);
        uint64_t hash = lookup.hash;
        hashtable_prefetch_item(&lookup);
        assert_null(keyspace_find_hashed(keyspace, key, hash).entry);
        add(keyspace, i, (uint32_t)i + 1);
        lookup = keyspace_prefetch(keyspace, key);
        const struct entry *hint = hashtable_prefetch_item(&lookup);
        struct keyref ref = keyspace_find_hashed(keyspace, key, hash);
        if (!hint) hint = hashtable_prefetch_overflow_item(&lookup);
        hits += hint == ref.entry;
        assert_int_equal(number_of(ref.entry), i + 1);
        assert_true(ref.hash == hash);
        assert_true(keyspace_check(keyspace));
    }
    assert_true(hits > 190); /* tags are seldom equal */
    keyspace_free(keyspace);
}

static void count_visit(struct entry *entry, void *arg) {
    ((unsigned *)arg)[number_of(entry)]++;
}

static void scan_iterator_and_random_reach_every_entry(void **state) {
    enum { KEYS = 300 };
    struct random random = start();
    struct keyspace *keyspace = new_keyspace(state);
    for (uint32_t i = 0; i < KEYS; i++) add(keyspace, i, i);
    unsigned scanned[KEYS] = {0}, iterated[KEYS] = {0}, drawn[KEYS] = {0};
    uint64_t cursor = 0;
    do {
        cursor = keyspace_scan(keyspace, ALL_KEYS, cursor, count_visit, scanned);
    } while (cursor != 0);
    struct keyspace_iter iter;
    keyspace_iter_start(&iter, keyspace);
    struct entry *entry;
    while ((entry = keyspace_iter_next(&iter)) != NULL) count_visit(entry, iterated);
    for (int i = 0; i < KEYS * 100; i++)
        count_visit(keyspace_random(keyspace, ALL_KEYS, &random), drawn);
    for (size_t i = 0; i < KEYS; i++) {
        assert_int_equal(scanned[i], 1);
        assert_int_equal(iterated[i], 1);
        assert_uint_in_range(drawn[i], 1, 400);
    }
    keyspace_free(keyspace);
}

/* --- Expiry --- */

/* A visit's sum over all entries: how many, and of their expiries. */
struct expiring_sum {
    size_t count;
    int64_t expiries;
};

static void sum_visit(struct entry *entry, void *arg) {
    struct expiring_sum *sum = arg;
    assert_true(entry_expiry(entry) >= 0);
    sum->count++;
    sum->expiries += entry_expiry(entry);
}

static struct expiring_sum sum_expiring(struct keyspace *keyspace) {
    struct expiring_sum sum = {0};
    uint64_t cursor = 0;
    do {
        cursor = keyspace_scan(keyspace, EXPIRING_KEYS, cursor, sum_visit, &sum);
    } while (cursor != 0);
    return sum;
}

/* One random step on a key that exists: another expiry, none, another value, or gone. What its
 * expiry is after it, -1 for none. */
static int64_t random_change(struct keyref *ref, struct random *random) {
    int64_t expiry = entry_expiry(ref->entry);
    uint64_t dice = random_below(random, 10);
    if (dice < 4) {
        expiry = (int64_t)random_below(random, 1000000);
        keyspace_set_expiry(ref, expiry, value_size(ref->entry));
    } else if (dice < 6) {
        expiry = -1;
        keyspace_set_expiry(ref, -1, value_size(ref->entry));
    } else if (dice < 8) {
        change(ref, 1, (uint8_t)random_below(random, 100));
    } else {
        expiry = -1;
        keyspace_delete(ref);
        return expiry;
    }
    assert_true(entry_expiry(ref->entry) == expiry);
    assert_ptr_equal(hashtable_item(*ref->slot), ref->entry);
    return expiry;
}

static void keys_that_expire_are_known_through_every_change(void **state) {
    enum { KEYS = MODEL_KEYS / 4 };
    struct random random = start();
    size_t used = mem_used(), expiring = 0;
    int64_t *model = mem_alloc(KEYS * sizeof(*model)); /* the expiry; -1: none, or no such key */
    for (size_t i = 0; i < KEYS; i++) model[i] = -1;
    struct keyspace *keyspace = new_keyspace(state);
    struct relocate_step relocation = {0};
    for (size_t step = 1; step < KEYS * 40; step++) {
        size_t i = random_below(&random, KEYS);
        relocate_some(keyspace, &relocation, &random);
        struct keyref ref = find(keyspace, i);
        if (!ref.entry) {
            add(keyspace, i, 1);
            continue;
        }
        assert_true(entry_expiry(ref.entry) == model[i]);
        expiring -= model[i] >= 0;
        model[i] = random_change(&ref, &random);
        expiring += model[i] >= 0;
        assert_int_equal(keyspace_count_of(keyspace, EXPIRING_KEYS), expiring);
        if (step % KEYS == 0) assert_true(keyspace_check(keyspace));
    }
    struct expiring_sum expected = {0};
    for (size_t i = 0; i < KEYS; i++) {
        if (model[i] < 0) continue;
        expected.count++;
        expected.expiries += model[i];
    }
    struct expiring_sum sum = sum_expiring(keyspace);
    assert_int_equal(sum.count, expected.count);
    assert_true(sum.expiries == expected.expiries);
    for (int i = 0; i < 100; i++)
        assert_true(entry_expiry(keyspace_random(keyspace, EXPIRING_KEYS, &random)) >= 0);
    keyspace_free(keyspace);
    mem_free(model);
    assert_int_equal(mem_used(), used);
}

static void an_entry_takes_its_expiry_to_another_keyspace(void **state) {
    struct random random = start();
    struct keyspace *from = new_keyspace(state), *to = new_keyspace(state);
    add(from, 1, 11);
    struct keyref source = find(from, 1), destination = find(to, 1);
    keyspace_set_expiry(&source, 5000, value_size(source.entry));
    keyspace_add(&destination, keyspace_take(&source));
    assert_int_equal(keyspace_count_of(from, EXPIRING_KEYS), 0);
    assert_null(keyspace_random(from, EXPIRING_KEYS, &random));
    assert_int_equal(keyspace_count_of(to, EXPIRING_KEYS), 1);
    assert_ptr_equal(keyspace_random(to, EXPIRING_KEYS, &random), find(to, 1).entry);
    assert_int_equal(number_of(find(to, 1).entry), 11);
    assert_true(keyspace_check(from) && keyspace_check(to));
    keyspace_clear(to);
    assert_int_equal(keyspace_count_of(to, EXPIRING_KEYS), 0);
    assert_true(keyspace_check(to));
    keyspace_free(from);
    keyspace_free(to);
}

/* --- Fields that expire --- */

struct fields_model {
    bool in, expires, fields_expire;
};

static struct keyref add_hash(struct keyspace *keyspace, size_t i, bool fields_expire) {
    char text[40];
    struct keyref ref = find(keyspace, i);
    struct entry *entry = entry_new(key_of(text, i), VALUE_HASH, 0, 5);
    set_value(entry, 1, 0);
    entry_set_fields_expire(entry, fields_expire);
    keyspace_add(&ref, entry);
    return ref;
}

static void resize_hash(struct keyref *ref, uint8_t more) {
    uint64_t old_length = value_length(ref->entry);
    keyref_moved(ref, entry_resize(ref->entry, value_size(ref->entry), 5 + (size_t)more));
    set_value(ref->entry, 1, more);
    keyspace_resized(ref, old_length, more);
}

/* One random step on a hash that exists. */
static void change_hash(struct keyref *ref, struct fields_model *model, struct random *random) {
    bool flip = random_below(random, 2);
    switch (random_below(random, 5)) {
    case 0: keyspace_set_fields_expire(ref, model->fields_expire = flip); break;
    case 1:
        model->expires = flip;
        keyspace_set_expiry(ref, flip ? 5 : -1, value_size(ref->entry));
        break;
    case 2:
        keyspace_delete(ref);
        *model = (struct fields_model){0};
        break;
    default: resize_hash(ref, (uint8_t)random_below(random, 100));
    }
}

static void count_fields_expire(struct entry *entry, void *arg) {
    assert_true(entry_fields_expire(entry));
    ++*(size_t *)arg;
}

static void keys_with_fields_that_expire_are_known_through_every_change(void **state) {
    enum { KEYS = MODEL_KEYS / 4 };
    struct random random = start();
    size_t used = mem_used(), expiring = 0, scanned = 0;
    struct fields_model *model = mem_alloc_zeroed(KEYS * sizeof(*model));
    struct keyspace *keyspace = new_keyspace(state);
    for (size_t step = 1; step < KEYS * 40; step++) {
        size_t i = random_below(&random, KEYS);
        struct keyref ref = find(keyspace, i);
        expiring -= model[i].fields_expire;
        if (!ref.entry) {
            bool fields_expire = random_below(&random, 2);
            model[i] = (struct fields_model){.in = true, .fields_expire = fields_expire};
            ref = add_hash(keyspace, i, fields_expire);
        } else {
            change_hash(&ref, &model[i], &random);
        }
        expiring += model[i].fields_expire;
        assert_int_equal(ref.entry != NULL, model[i].in);
        if (ref.entry) {
            assert_ptr_equal(hashtable_item(*ref.slot), ref.entry);
            assert_int_equal(entry_fields_expire(ref.entry), model[i].fields_expire);
            assert_int_equal(entry_expiry(ref.entry) >= 0, model[i].expires);
        }
        assert_int_equal(keyspace_count_of(keyspace, EXPIRING_FIELDS), expiring);
        if (step % KEYS == 0) assert_true(keyspace_check(keyspace));
    }
    uint64_t cursor = 0;
    do cursor = keyspace_scan(keyspace, EXPIRING_FIELDS, cursor, count_fields_expire, &scanned);
    while (cursor != 0);
    assert_int_equal(scanned, expiring);
    keyspace_free(keyspace);
    mem_free(model);
    assert_int_equal(mem_used(), used);
}

static void keys_without_fields_that_expire_cost_nothing_for_it(void **state) {
    start();
    struct keyspace *keyspace = new_keyspace(state);
    size_t empty = keyspace_expiring_allocated(keyspace);
    for (size_t i = 0; i < 500; i++) add_hash(keyspace, i, false);
    assert_int_equal(keyspace_expiring_allocated(keyspace), empty);
    for (size_t i = 500; i < 1000; i++) add_hash(keyspace, i, true);
    assert_uint_in_range(keyspace_expiring_allocated(keyspace) - empty, 500 * 8, 500 * 16);
    keyspace_clear(keyspace);
    assert_int_equal(keyspace_expiring_allocated(keyspace), empty);
    keyspace_free(keyspace);
}

static void the_mark_goes_with_a_copy_and_to_another_keyspace(void **state) {
    start();
    struct keyspace *from = new_keyspace(state), *to = new_keyspace(state);
    struct keyref source = add_hash(from, 1, true), destination = find(to, 2);
    char text[40];
    keyspace_add(&destination, entry_copy(source.entry, key_of(text, 2), value_size(source.entry)));
    assert_int_equal(keyspace_count_of(to, EXPIRING_FIELDS), 1);
    destination = find(to, 1);
    keyspace_add(&destination, keyspace_take(&source));
    assert_int_equal(keyspace_count_of(from, EXPIRING_FIELDS), 0);
    assert_int_equal(keyspace_count_of(to, EXPIRING_FIELDS), 2);
    keyspace_swap(from, to);
    assert_int_equal(keyspace_count_of(from, EXPIRING_FIELDS), 2);
    assert_true(keyspace_check(from) && keyspace_check(to));
    keyspace_clear(from);
    assert_int_equal(keyspace_count_of(from, EXPIRING_FIELDS), 0);
    keyspace_free(from);
    keyspace_free(to);
}

static void a_wrong_mark_fails_the_check(void **state) {
    start();
    struct keyspace *keyspace = new_keyspace(state);
    struct keyref ref = add_hash(keyspace, 1, false);
    assert_true(keyspace_check(keyspace));
    entry_set_fields_expire(ref.entry, true);
    assert_false(keyspace_check(keyspace));
    entry_set_fields_expire(ref.entry, false);
    assert_true(keyspace_check(keyspace));
    keyspace_free(keyspace);
}

static void swapped_keyspaces_have_the_keys_of_the_other(void **state) {
    start();
    struct keyspace *a = new_keyspace(state), *b = new_keyspace(state);
    for (size_t i = 0; i < 300; i++) add(a, i, (uint32_t)i);
    for (size_t i = 290; i < 400; i++) add(b, i, (uint32_t)i + 1000);
    struct keyref ref = find(a, 3);
    keyspace_set_expiry(&ref, 5000, value_size(ref.entry));
    keyspace_swap(a, b);
    assert_true(keyspace_check(a) && keyspace_check(b));
    assert_int_equal(keyspace_count(a), 110);
    assert_int_equal(keyspace_count(b), 300);
    assert_int_equal(values_of(a, VALUE_STRING), 110);
    assert_int_equal(values_of(b, VALUE_STRING), 300);
    assert_int_equal(keyspace_count_of(a, EXPIRING_KEYS), 0);
    assert_int_equal(keyspace_count_of(b, EXPIRING_KEYS), 1);
    assert_null(find(a, 3).entry);
    assert_true(entry_expiry(find(b, 3).entry) == 5000);
    assert_int_equal(number_of(find(a, 295).entry), 1295);
    assert_int_equal(number_of(find(b, 295).entry), 295);
    add(a, 1, 7);
    keyspace_free(a);
    keyspace_free(b);
}

static void the_end_of_a_keyspace_passes_each_entry_to_the_caller(void **state) {
    start();
    size_t used = mem_used(), sum = 0, count = 0;
    struct keyspace *keyspace = new_keyspace(state);
    for (size_t i = 0; i < 500; i++) add(keyspace, i, (uint32_t)i);
    struct keyspace_ending ending;
    keyspace_end_start(&ending, keyspace);
    freed = 0;
    for (struct entry *entry; (entry = keyspace_end_step(&ending)) != NULL; count++) {
        sum += number_of(entry);
        free_entry(entry);
    }
    assert_int_equal(freed, 500);
    assert_int_equal(count, 500);
    assert_int_equal(sum, 500 * 499 / 2);
    assert_int_equal(mem_used(), used);
}

/* --- Slots --- */

/* A slot of the key of a random number, or of any. */
static unsigned random_slot(struct random *random) {
    char text[40];
    if (random_below(random, 8) == 0) return (unsigned)random_below(random, KEY_SLOTS);
    return key_slot(key_of(text, random_below(random, MODEL_KEYS)));
}

static void check_slot_visit(struct entry *entry, void *arg) {
    unsigned *slot_and_count = arg;
    assert_int_equal(key_slot(entry_key(entry)), slot_and_count[0]);
    slot_and_count[1]++;
}

/* What is in the slot is counted and listed. */
static void check_slot(struct keyspace *keyspace, unsigned slot, const uint32_t *model) {
    size_t expected = 0;
    for (size_t i = 0; i < MODEL_KEYS; i++) {
        char text[40];
        expected += model[i] != 0 && key_slot(key_of(text, i)) == slot;
    }
    assert_int_equal(keyspace_slot_count(keyspace, slot), expected);
    unsigned slot_and_count[] = {slot, 0};
    uint64_t cursor = 0;
    do cursor = keyspace_scan_slot(keyspace, slot, cursor, check_slot_visit, slot_and_count);
    while (cursor != 0);
    assert_int_equal(slot_and_count[1], expected);
}

/* Takes the slot out and looks whether its keys are in what was taken, as they were. */
static void take_slot(struct keyspace *keyspace, unsigned slot, uint32_t *model) {
    size_t count = keyspace_count(keyspace), found = 0,
           taken_count = keyspace_slot_count(keyspace, slot),
           expiring = keyspace_count_of(keyspace, EXPIRING_KEYS);
    struct keyspace *taken = keyspace_take_slot(keyspace, slot);
    assert_true(keyspace_check(taken) && keyspace_check(keyspace));
    assert_int_equal(keyspace_count(taken), taken_count);
    assert_int_equal(keyspace_count(keyspace), count - taken_count);
    assert_int_equal(keyspace_count_of(keyspace, EXPIRING_KEYS) +
                         keyspace_count_of(taken, EXPIRING_KEYS),
                     expiring);
    assert_int_equal(keyspace_slot_count(keyspace, slot), 0);
    for (size_t i = 0; i < MODEL_KEYS; i++) {
        char text[40];
        if (model[i] == 0 || key_slot(key_of(text, i)) != slot) continue;
        assert_int_equal(number_of(find(taken, i).entry), model[i]);
        assert_null(find(keyspace, i).entry);
        model[i] = 0, found++;
    }
    assert_int_equal(found, taken_count);
    keyspace_free(taken);
}

static void random_step_of_a_key(struct keyspace *keyspace, uint32_t *model, uint32_t step,
                                 struct random *random) {
    size_t i = random_below(random, MODEL_KEYS);
    struct keyref ref = find(keyspace, i);
    assert_int_equal(ref.entry != NULL ? number_of(ref.entry) : 0, model[i]);
    if (!ref.entry) {
        add(keyspace, i, model[i] = step);
    } else if (random_below(random, 3) == 0) {
        keyspace_delete(&ref);
        model[i] = 0;
    } else if (random_below(random, 3) == 0) {
        keyspace_set_expiry(&ref, random_below(random, 2) ? -1 : 5, value_size(ref.entry));
    } else {
        change(&ref, model[i] = step, (uint8_t)random_below(random, 100));
    }
}

static void slots_are_counted_listed_and_taken(void **state) {
    struct random random = start();
    size_t used = mem_used();
    uint32_t *model = mem_alloc_zeroed(MODEL_KEYS * sizeof(*model)); /* 0: not there */
    struct keyspace *keyspace = new_keyspace(state);
    struct relocate_step relocation = {0};
    check_slot(keyspace, 7, model);
    take_slot(keyspace, 7, model);
    for (uint32_t step = 1; step < MODEL_KEYS * 20; step++) {
        random_step_of_a_key(keyspace, model, step, &random);
        relocate_some(keyspace, &relocation, &random);
        if (step % 100 == 0) check_slot(keyspace, random_slot(&random), model);
        if (step % 500 == 0) take_slot(keyspace, random_slot(&random), model);
        if (step % MODEL_KEYS == 0) assert_true(keyspace_check(keyspace));
    }
    keyspace_free(keyspace);
    mem_free(model);
    assert_int_equal(mem_used(), used);
}

/* Keys that come and go during a scan or a walk, each as often as the model says it was visited.
 * Those below `steady` stay. */
struct visits {
    unsigned counts[MODEL_KEYS];
};

static void count_number(struct entry *entry, void *arg) {
    ((struct visits *)arg)->counts[number_of(entry)]++;
}

static bool count_in_walk(struct entry *entry, void *arg) {
    count_number(entry, arg);
    return number_of(entry) % 4 != 0;
}

static void flip_some(struct keyspace *keyspace, size_t steady, struct random *random) {
    for (int n = 0; n < 20; n++) {
        size_t i = steady + random_below(random, MODEL_KEYS - steady);
        struct keyref ref = find(keyspace, i);
        if (ref.entry)
            keyspace_delete(&ref);
        else
            add(keyspace, i, (uint32_t)i);
    }
}

static void a_scan_visits_what_stays_and_a_walk_nothing_twice(void **state) {
    enum { STEADY = MODEL_KEYS / 3 };
    struct random random = start();
    struct keyspace *keyspace = new_keyspace(state);
    for (uint32_t i = 0; i < STEADY; i++) add(keyspace, i, i);
    for (int round = 0; round < 3; round++) {
        struct visits scanned = {0}, walked = {0};
        uint64_t cursor = 0;
        do {
            flip_some(keyspace, STEADY, &random);
            cursor = keyspace_scan(keyspace, ALL_KEYS, cursor, count_number, &scanned);
        } while (cursor != 0);
        do {
            flip_some(keyspace, STEADY, &random);
            uint64_t from = cursor;
            struct visits before = walked;
            cursor = keyspace_walk(keyspace, cursor, count_in_walk, &walked);
            for (size_t i = 0; i < MODEL_KEYS; i += 1 + random_below(&random, 40)) {
                char text[40];
                if (!find(keyspace, i).entry) continue;
                bool passes = keyspace_walk_passes(keyspace, key_of(text, i), from, cursor);
                assert_int_equal(walked.counts[i] - before.counts[i], passes);
            }
        } while (cursor != 0);
        for (size_t i = 0; i < STEADY; i++) {
            assert_true(scanned.counts[i] > 0);
            assert_int_equal(walked.counts[i], 1);
        }
    }
    keyspace_free(keyspace);
}

/* One slot has many keys, some have one, most have none. */
static void keys_at_random_are_drawn_as_often_whatever_their_slot(void **state) {
    enum { KEYS = 100, DRAWS = 100 };
    struct random random = start();
    struct keyspace *keyspace = new_keyspace(state);
    unsigned drawn[KEYS] = {0};
    struct visits scanned = {0};
    for (uint32_t i = 0; i < KEYS; i++) {
        char text[40];
        int len = snprintf(text, 40, i % 10 ? "{many}%u" : "%u", i);
        struct slice key = slice_make(text, (size_t)len);
        struct keyref ref = keyspace_find(keyspace, key);
        struct entry *entry = entry_new(key, VALUE_STRING, 0, 5);
        set_value(entry, i, 0);
        keyspace_add(&ref, entry);
    }
    for (int i = 0; i < KEYS * DRAWS; i++) {
        drawn[number_of(keyspace_random(keyspace, ALL_KEYS, &random))]++;
        keyspace_scan(keyspace, ALL_KEYS, keyspace_random_cursor(keyspace, ALL_KEYS, &random),
                      count_number, &scanned);
    }
    for (size_t i = 0; i < KEYS; i++) {
        assert_uint_in_range(drawn[i], DRAWS / 2, DRAWS * 2);
        assert_true(scanned.counts[i] > DRAWS / 2);
    }
    keyspace_free(keyspace);
}

static void a_keyspace_by_slot_takes_memory_for_the_slots_in_use(void **state) {
    start();
    size_t used = mem_used();
    struct keyspace *keyspace = new_keyspace(state);
    assert_uint_in_range(mem_used() - used, 1, 1000);
    for (size_t i = 0; i < 4 * KEY_SLOTS; i += 2) add(keyspace, i + 1, 1);
    size_t slots = 0;
    for (unsigned slot = 0; slot < KEY_SLOTS; slot++)
        slots += keyspace_slot_count(keyspace, slot) > 0;
    assert_uint_in_range(slots, KEY_SLOTS / 2, KEY_SLOTS);
    assert_uint_in_range(keyspace_table_allocated(keyspace), 256 * 1024, 3 * 1024 * 1024);
    for (size_t i = 0; i < 4 * KEY_SLOTS; i += 2) {
        struct keyref ref = find(keyspace, i + 1);
        keyspace_delete(&ref);
    }
    assert_uint_in_range(keyspace_table_allocated(keyspace), 256 * 1024, 258 * 1024);
    keyspace_clear(keyspace);
    assert_uint_in_range(mem_used() - used, 1, 1000);
    keyspace_free(keyspace);
    assert_int_equal(mem_used(), used);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_OF_BOTH_KINDS(random_steps_agree_with_the_model),
        TEST_OF_BOTH_KINDS(the_key_found_last_is_found_again_after_anything),
        TEST_OF_BOTH_KINDS(a_taken_entry_belongs_to_the_caller),
        TEST_OF_BOTH_KINDS(clearing_frees_every_entry_and_the_table),
        TEST_OF_BOTH_KINDS(sizes_are_counted_until_the_entry_is_gone),
        TEST_OF_BOTH_KINDS(a_size_that_is_not_reported_fails_the_check),
        TEST_OF_BOTH_KINDS(prefetched_keys_are_found_by_their_hash),
        TEST_OF_BOTH_KINDS(scan_iterator_and_random_reach_every_entry),
        TEST_OF_BOTH_KINDS(keys_that_expire_are_known_through_every_change),
        TEST_OF_BOTH_KINDS(an_entry_takes_its_expiry_to_another_keyspace),
        TEST_OF_BOTH_KINDS(keys_with_fields_that_expire_are_known_through_every_change),
        cmocka_unit_test_prestate(keys_without_fields_that_expire_cost_nothing_for_it,
                                  &kind_with_one_table),
        TEST_OF_BOTH_KINDS(the_mark_goes_with_a_copy_and_to_another_keyspace),
        TEST_OF_BOTH_KINDS(a_wrong_mark_fails_the_check),
        TEST_OF_BOTH_KINDS(swapped_keyspaces_have_the_keys_of_the_other),
        TEST_OF_BOTH_KINDS(the_end_of_a_keyspace_passes_each_entry_to_the_caller),
        TEST_OF_BOTH_KINDS(a_scan_visits_what_stays_and_a_walk_nothing_twice),
        TEST_OF_BOTH_KINDS(keys_at_random_are_drawn_as_often_whatever_their_slot),
        cmocka_unit_test_prestate(slots_are_counted_listed_and_taken, &kind_by_slot),
        cmocka_unit_test_prestate(a_keyspace_by_slot_takes_memory_for_the_slots_in_use,
                                  &kind_by_slot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
