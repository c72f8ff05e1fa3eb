/* Draws of random records: when they make an index, so that they do not read the value each time. */
#include "types/records_random.h"

#include "base/hash/hash.h"
#include "types/hash.h"
#include "types/value.h"
#include "types/zset.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { FIELDS = 2000, LIVING = 10, NOW_MS = 1000 };

/* A hash with so many fields, of which all but the first `living` have expired. */
static struct entry *hash_of(size_t count, size_t living, bool is_table) {
    const struct listpack_limits limits = {is_table ? 0 : FIELDS, 64};
    struct entry *entry = hash_load_new(SLICE("key"), count, &limits);
    for (size_t i = 0; i < count; i++) {
        char name[20];
        int len = snprintf(name, sizeof(name), "field:%zu", i);
        struct record record = {slice_make(name, (size_t)len), SLICE("value"),
                                i < living ? RECORD_NEVER : 1};
        assert_true(hash_load_add(&entry, &record, &limits));
    }
    return entry;
}

static void draw(struct records_draws *draws, struct random *random, size_t count) {
    struct record record;
    for (size_t i = 0; i < count; i++) {
        assert_true(records_draws_next(draws, random, &record));
        assert_int_equal(record.expiry_ms, RECORD_NEVER);
    }
}

static void a_table_of_expired_fields_is_read_once(void **state) {
    struct random *random = *state;
    struct entry *entry = hash_of(FIELDS, LIVING, true);
    struct records_draws draws;
    records_draws_begin(&draws, entry, NOW_MS);
    draw(&draws, random, 100);
    assert_non_null(draws.positions);
    assert_int_equal(draws.living, LIVING);
    records_draws_end(&draws);
    value_free(entry);
}

static void a_table_of_living_fields_is_never_read_whole(void **state) {
    struct random *random = *state;
    struct entry *entry = hash_of(FIELDS, FIELDS / 2, true);
    struct records_draws draws;
    records_draws_begin(&draws, entry, NOW_MS);
    draw(&draws, random, 10000);
    assert_null(draws.positions);
    records_draws_end(&draws);
    value_free(entry);
}

/* A single draw costs less than the index. */
static void many_draws_index_a_packed_value(void **state) {
    struct random *random = *state;
    struct entry *entry = hash_of(FIELDS, FIELDS, false);
    struct records_draws draws;
    records_draws_begin(&draws, entry, NOW_MS);
    draw(&draws, random, 1);
    assert_null(draws.index.offsets);
    draw(&draws, random, 100);
    assert_non_null(draws.index.offsets);
    records_draws_end(&draws);
    value_free(entry);
}

static void many_draws_index_a_packed_sorted_set(void **state) {
    struct random *random = *state;
    const struct listpack_limits limits = {FIELDS, 64};
    struct zset_draws draws;
    struct zset_member member;
    struct skiplist *list = skiplist_new();
    for (int i = 0; i < FIELDS; i++) {
        char name[20];
        struct slice text = slice_make(name, (size_t)snprintf(name, sizeof(name), "m%d", i));
        struct skiplist_place place = skiplist_find(list, text);
        skiplist_insert(list, &place, text, i);
    }
    struct entry *entry = zset_from_skiplist(SLICE("key"), list, 5, &limits);
    assert_null(zset_skiplist(entry));
    zset_draws_begin(&draws, entry);
    for (int i = 0; i < 100; i++) zset_draws_next(&draws, random, &member);
    assert_non_null(draws.index.offsets);
    zset_draws_end(&draws);
    value_free(entry);
}

int main(void) {
    struct random random = random_of_this_run();
    hash_init_seed(1);
#define RANDOM_TEST(test) cmocka_unit_test_prestate(test, &random)
    const struct CMUnitTest tests[] = {
        RANDOM_TEST(a_table_of_expired_fields_is_read_once),
        RANDOM_TEST(a_table_of_living_fields_is_never_read_whole),
        RANDOM_TEST(many_draws_index_a_packed_value),
        RANDOM_TEST(many_draws_index_a_packed_sorted_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
