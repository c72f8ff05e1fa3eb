/* entry_digest: the digits are the replies of redis-server 7.0 for the same data. */
#include "persist/type_format.h"

#include "base/hash/hash.h"
#include "store/keyspace.h"
#include "types/list.h"
#include "types/string.h"
#include "types/value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static const struct quicklist_limits nodes_of_two = {.fill = 2, .compress_depth = 1};
static const struct quicklist_limits usual = {.fill = -2};

static struct keyref add_string(struct keyspace *keyspace, const char *key, struct slice text) {
    struct keyref ref = keyspace_find(keyspace, slice_of_cstr(key));
    string_set(&ref, slice_of_cstr(key), text);
    return ref;
}

/* "1", "two", "333…", 100 digits long. */
static struct keyref add_list(struct keyspace *keyspace, const char *key,
                              const struct quicklist_limits *limits) {
    char threes[100];
    memset(threes, '3', sizeof(threes));
    const struct slice elements[] = {SLICE("1"), SLICE("two"), slice_make(threes, sizeof(threes))};
    struct keyref ref = keyspace_find(keyspace, slice_of_cstr(key));
    list_create(&ref, slice_of_cstr(key), LIST_TAIL, elements, 3, limits);
    return ref;
}

static void assert_digest(const uint8_t bytes[DIGEST_SIZE], const char *digits) {
    sds text = digest_append(sds_new(SLICE("")), bytes);
    assert_string_equal(text, digits);
    sds_free(text);
}

static void assert_value(const struct entry *entry, const char *digits) {
    struct digest digest;
    uint8_t bytes[DIGEST_SIZE];
    assert_true(digest_start(&digest));
    type_format_digest_value(&digest, entry, bytes);
    assert_digest(bytes, digits);
    digest_end(&digest);
}

static void no_data_is_zero(void **state) {
    (void)state;
    struct digest digest;
    assert_true(digest_start(&digest));
    digest_end(&digest);
    assert_digest(digest.bytes, "0000000000000000000000000000000000000000");
}

static void a_value_has_the_digest_of_its_texts(void **state) {
    struct keyspace *keyspace = *state;
    assert_value(add_string(keyspace, "a", SLICE("123")).entry,
                 "89f7f51b707418f666d5b45e053bd5bbbf82ac2b");
    struct keyref raw = add_string(keyspace, "raw", SLICE("1"));
    string_append(&raw, SLICE("23"));
    assert_value(raw.entry, "89f7f51b707418f666d5b45e053bd5bbbf82ac2b");
}

static void a_list_has_one_digest_in_every_encoding(void **state) {
    struct keyspace *keyspace = *state;
    const char *digits = "5911ee2b7bdc28944f2420035320faa0ce33a3b3";
    assert_value(add_list(keyspace, "l", &usual).entry, digits);
    assert_value(add_list(keyspace, "m", &nodes_of_two).entry, digits);
}

static void having_an_expiry_counts_but_not_its_time(void **state) {
    struct keyspace *keyspace = *state;
    char text[150];
    for (size_t i = 0; i < sizeof(text); i += 5) memcpy(text + i, "hello", 5);
    struct keyref ref = add_string(keyspace, "b", slice_make(text, sizeof(text)));
    for (int64_t expiry_ms = 0; expiry_ms < 3; expiry_ms++) {
        keyspace_set_expiry(&ref, expiry_ms, value_size(ref.entry));
        assert_value(ref.entry, "bc5c8dee8dc3d4b98d3a471de172b8f04ec18cd9");
    }
    keyspace_set_expiry(&ref, -1, value_size(ref.entry));
    assert_value(ref.entry, "5ad9731151fa3eed4c2cace5a418776b546fcd5a");
}

static void a_dataset_has_one_digest_in_every_order_of_keys(void **state) {
    struct keyspace *keyspace = *state;
    struct digest digest;
    struct entry *a = add_string(keyspace, "a", SLICE("123")).entry;
    struct entry *l = add_list(keyspace, "l", &usual).entry;
    struct entry *x = add_string(keyspace, "x", SLICE("")).entry;
    for (int order = 0; order < 2; order++) {
        assert_true(digest_start(&digest));
        type_format_digest_database(&digest, 0);
        type_format_digest_entry(&digest, order ? a : l);
        type_format_digest_entry(&digest, order ? l : a);
        type_format_digest_database(&digest, 5);
        type_format_digest_entry(&digest, x);
        digest_end(&digest);
        assert_digest(digest.bytes, "5315a3c805aad8002a29fdbab15259c4d7cf37b4");
    }
}

static int setup(void **state) {
    hash_init_seed(1);
    *state = keyspace_new(value_free, value_length);
    return 0;
}

static int teardown(void **state) {
    keyspace_free(*state);
    return 0;
}

#define WITH_KEYSPACE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_data_is_zero),
        WITH_KEYSPACE(a_value_has_the_digest_of_its_texts),
        WITH_KEYSPACE(a_list_has_one_digest_in_every_encoding),
        WITH_KEYSPACE(having_an_expiry_counts_but_not_its_time),
        WITH_KEYSPACE(a_dataset_has_one_digest_in_every_order_of_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
