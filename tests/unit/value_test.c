/* What holds for values of every type. */
#include "types/value.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "types/list.h"
#include "types/string.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static char text[600];

/* Adds a string or a list of one text of `len` bytes. */
static struct entry *add(struct keyspace *keyspace, enum value_type type, struct slice key,
                         size_t len) {
    struct quicklist_limits limits = {.fill = -2};
    struct slice value = slice_make(text, len);
    struct keyref ref = keyspace_find(keyspace, key);
    if (type == VALUE_STRING)
        string_set(&ref, key, value);
    else
        list_create(&ref, key, LIST_TAIL, &value, 1, &limits);
    return ref.entry;
}

static void every_type_has_its_name(void **state) {
    (void)state;
    assert_string_equal(value_type_name(VALUE_STRING), "string");
    assert_string_equal(value_type_name(VALUE_LIST), "list");
    assert_string_equal(value_type_name(VALUE_SET), "set");
    assert_string_equal(value_type_name(VALUE_ZSET), "zset");
    assert_string_equal(value_type_name(VALUE_HASH), "hash");
}

static void a_list_is_empty_without_elements_and_a_string_never(void **state) {
    struct keyspace *keyspace = *state;
    struct quicklist_limits limits = {.fill = -2};
    assert_false(value_is_empty(add(keyspace, VALUE_STRING, SLICE("s"), 0)));
    for (size_t len = 1; len <= sizeof(text); len += sizeof(text) - 1) {
        assert_false(value_is_empty(add(keyspace, VALUE_LIST, SLICE("l"), len)));
        struct keyref ref = keyspace_find(keyspace, SLICE("l"));
        list_drop(&ref, LIST_HEAD, 1, &limits);
        assert_true(value_is_empty(ref.entry));
        keyspace_delete(&ref);
    }
}

/* With every length, of both types: what is said to be allocated is what the allocator gave. */
static void the_bytes_allocated_are_those_the_allocator_counts(void **state) {
    struct keyspace *keyspace = *state;
    add(keyspace, VALUE_STRING, SLICE("other"), 1); /* the table owns memory from now on */
    for (int type = VALUE_STRING; type <= VALUE_LIST; type++) {
        for (size_t len = 1; len <= sizeof(text); len++) {
            size_t before = mem_used();
            struct entry *entry = add(keyspace, (enum value_type)type, SLICE("key"), len);
            assert_true(value_check(entry));
            assert_int_equal(entry_type(entry), type);
            assert_int_equal(value_allocated(entry), mem_used() - before);
            struct keyref ref = keyspace_find(keyspace, SLICE("key"));
            keyspace_delete(&ref);
            assert_int_equal(mem_used(), before);
        }
    }
}

static void freeing_what_hangs_leaves_an_entry_that_takes_another_value(void **state) {
    struct keyspace *keyspace = *state;
    add(keyspace, VALUE_LIST, SLICE("key"), sizeof(text));
    for (size_t len = 0; len <= sizeof(text); len += 50) {
        struct entry *entry = add(keyspace, VALUE_STRING, SLICE("key"), len);
        assert_true(value_check(entry));
    }
    assert_true(keyspace_check(keyspace));
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
    memset(text, 'v', sizeof(text));
#define VALUE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_has_its_name),
        VALUE_TEST(a_list_is_empty_without_elements_and_a_string_never),
        VALUE_TEST(the_bytes_allocated_are_those_the_allocator_counts),
        VALUE_TEST(freeing_what_hangs_leaves_an_entry_that_takes_another_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
