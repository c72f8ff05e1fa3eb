/* Strings: every text comes back as it was, in the layout that its length and form ask for. */
#include "types/string.h"

#include "base/hash.h"
#include "types/list.h"
#include "types/value.h"
#include "unit/seed.h"
#include "unit/texts.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct entry *set(struct keyspace *keyspace, struct slice text) {
    struct keyref ref = keyspace_find(keyspace, SLICE("key"));
    string_set(&ref, SLICE("key"), text);
    assert_ptr_equal(keyspace_find(keyspace, SLICE("key")).entry, ref.entry);
    return ref.entry;
}

static void verify(const struct entry *entry, struct slice text) {
    char buffer[INT64_TEXT_MAX];
    int64_t expected, integer;
    bool is_integer = number_parse_int64(text, &expected);
    const char *name = is_integer ? "int" : text.len <= 44 ? "embstr" : "raw";
    assert_true(string_check(entry));
    assert_true(slice_equal(string_text(entry, buffer), text));
    assert_int_equal(string_integer(entry, &integer), is_integer);
    if (is_integer) assert_true(integer == expected);
    assert_string_equal(string_encoding_name(entry), name);
    assert_string_equal(value_encoding_name(entry), name);
    assert_false(value_is_empty(entry));
}

static void every_text_comes_back(void **state) {
    static char buffer[TEXT_SIZE_MAX];
    struct keyspace *keyspace = *state;
    struct random random = random_of_this_run();
    for (int i = 0; i < 20000; i++) {
        struct slice text = text_random(&random, buffer, i % 100 == 0);
        struct entry *entry = set(keyspace, text);
        verify(entry, text);
        assert_int_equal(keyspace_count(keyspace), 1);
        if (random_below(&random, 50) == 0) keyspace_clear(keyspace);
    }
}

static void lengths_around_the_limits_have_their_names(void **state) {
    static char text[2 * STRING_EMBEDDED_MAX];
    memset(text, 'x', sizeof(text));
    for (size_t len = 0; len <= sizeof(text); len++) {
        struct entry *entry = set(*state, slice_make(text, len));
        verify(entry, slice_make(text, len));
        assert_int_equal(string_allocated(entry) == 0, len <= STRING_EMBEDDED_MAX);
    }
}

static void integers_take_as_few_bytes_as_they_need(void **state) {
    static const struct {
        int64_t value;
        size_t size;
    } rows[] = {{0, 1},         {127, 1},       {-128, 1},      {128, 2},
                {-129, 2},      {32767, 2},     {32768, 3},     {-8388608, 3},
                {8388608, 4},   {INT32_MAX, 4}, {INT32_MIN, 4}, {INT32_MAX + 1ll, 5},
                {INT64_MAX, 8}, {INT64_MIN, 8}, {1ll << 55, 8}, {(1ll << 55) - 1, 7}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[INT64_TEXT_MAX];
        size_t len = number_format_int64(text, rows[i].value);
        struct entry *entry = set(*state, slice_make(text, len));
        verify(entry, slice_make(text, len));
        assert_int_equal(string_value_size(entry), rows[i].size);
    }
}

static void setting_replaces_a_list_and_takes_the_expiry_away(void **state) {
    struct keyspace *keyspace = *state;
    struct quicklist_limits limits = {.fill = 1};
    struct slice texts[] = {SLICE("a"), SLICE("b"), SLICE("c")};
    for (size_t count = 1; count <= 3; count++) { /* embedded, then hanging */
        struct keyref ref = keyspace_find(keyspace, SLICE("key"));
        list_create(&ref, SLICE("key"), LIST_TAIL, texts, count, &limits);
        keyspace_set_expiry(&ref, 12345, value_size(ref.entry));
        struct entry *entry = set(keyspace, SLICE("text"));
        verify(entry, SLICE("text"));
        assert_int_equal(entry_expiry(entry), -1);
        assert_int_equal(keyspace_expiring_count(keyspace), 0);
        keyspace_clear(keyspace);
    }
}

static void a_short_string_under_a_short_key_fits_32_bytes(void **state) {
    struct keyref ref = keyspace_find(*state, SLICE("key:9999999"));
    string_set(&ref, SLICE("key:9999999"), SLICE("value:9999999"));
    assert_int_equal(value_allocated(ref.entry), 32);
}

static int set_up(void **state) {
    *state = keyspace_new(value_free);
    return 0;
}

static int tear_down(void **state) {
    keyspace_free(*state);
    return 0;
}

int main(void) {
    hash_init();
#define STRING_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        STRING_TEST(every_text_comes_back),
        STRING_TEST(lengths_around_the_limits_have_their_names),
        STRING_TEST(integers_take_as_few_bytes_as_they_need),
        STRING_TEST(setting_replaces_a_list_and_takes_the_expiry_away),
        STRING_TEST(a_short_string_under_a_short_key_fits_32_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
