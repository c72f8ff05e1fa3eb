/* The table of formats: which types it has, what they read and write, and values as commands. */
#include "persist/type_format.h"

#include "base/hash/hash.h"
#include "persist/rdb_skip.h"
#include "persist/value_commands.h"
#include "types/hash.h"
#include "types/list.h"
#include "types/set.h"
#include "types/string.h"
#include "types/value.h"
#include "types/zset.h"
#include "unit/rdb_io.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { RDB_TYPES_POSSIBLE = 256 /* any byte */ };

static void the_types_that_have_values_have_formats(void **state) {
    (void)state;
    for (int i = 0; i < VALUE_TYPE_NUMBERS; i++) {
        enum value_type type = (enum value_type)i;
        assert_int_equal(type_format_of(type) != NULL, value_type_exists(type));
    }
}

static void each_form_is_read_by_the_type_that_it_is_named_for(void **state) {
    (void)state;
    unsigned read = 0;
    for (unsigned rdb_type = 0; rdb_type < RDB_TYPES_POSSIBLE; rdb_type++) {
        const char *name = rdb_type_name(rdb_type);
        const struct type_format *expected = NULL;
        for (int i = 0; i < VALUE_TYPES; i++) {
            enum value_type type = (enum value_type)i;
            if (name && !strcmp(name, value_type_name(type))) expected = type_format_of(type);
        }
        assert_ptr_equal(type_format_reading(rdb_type), expected);
        read += expected != NULL;
    }
    assert_int_equal(read, 25);
}

static void a_type_reads_what_it_writes(const struct entry *entry) {
    const struct type_format *format = type_format_of_entry(entry);
    assert_ptr_equal(type_format_reading(format->written(entry)), format);
}

static void each_type_reads_what_it_writes(void **state) {
    struct keyspace *keyspace = *state;
    const struct slice key = SLICE("key");
    for (int type = 0; type < VALUE_TYPES; type++) {
        struct keyref ref = keyspace_find(keyspace, key);
        if (type == VALUE_STRING)
            string_set(&ref, key, key);
        else if (type == VALUE_LIST)
            list_create(&ref, key, LIST_TAIL, &key, 1, &value_limits_default.list);
        else if (type == VALUE_ZSET)
            zset_create(&ref, key, key, 1, 1, key.len, &value_limits_default.zset);
        else if (type == VALUE_SET)
            set_create(&ref, key, key, 1, &value_limits_default.set);
        else if (type == VALUE_HASH)
            hash_create(&ref, key, key, key, 1, &value_limits_default.hash);
        else
            continue;
        a_type_reads_what_it_writes(ref.entry);
        if (type == VALUE_ZSET) {
            zset_expect(&ref, 1000, &value_limits_default.zset);
            a_type_reads_what_it_writes(ref.entry);
        }
        keyspace_delete(&ref);
    }
}

/* --- Commands --- */

static void assert_commands(const struct entry *entry, const char *expected) {
    struct rdb_io io = rdb_io_new(NULL);
    struct rdb_writer writer;
    rdb_writer_start(&writer, rdb_io_sink(&io), true, false);
    type_format_write_commands(&writer, entry);
    value_commands_write_expiry(&writer, entry);
    assert_true(rdb_writer_flush(&writer));
    rdb_writer_end(&writer);
    assert_int_equal(sds_len(io.bytes), strlen(expected));
    assert_memory_equal(io.bytes, expected, strlen(expected));
    sds_free(io.bytes);
}

static void a_string_is_one_command(void **state) {
    (void)state;
    struct entry *entry = string_new(SLICE("key"), SLICE("-12"));
    assert_commands(entry, "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$3\r\n-12\r\n");
    entry = entry_set_expiry(entry, 5000, value_size(entry));
    assert_commands(entry, "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$3\r\n-12\r\n"
                           "*3\r\n$9\r\nPEXPIREAT\r\n$3\r\nkey\r\n$4\r\n5000\r\n");
    value_free(entry);
}

/* Appends an RPUSH of so many elements "x". */
static sds append_push(sds out, int elements) {
    out = sds_append_format(out, "*%d\r\n$5\r\nRPUSH\r\n$3\r\nkey\r\n", 2 + elements);
    while (elements-- > 0) out = sds_append_cstr(out, "$1\r\nx\r\n");
    return out;
}

static void a_list_is_one_command_per_64_elements(void **state) {
    struct keyspace *keyspace = *state;
    const struct slice element = SLICE("x"), key = SLICE("key");
    struct keyref ref = keyspace_find(keyspace, key);
    list_create(&ref, key, LIST_TAIL, &element, 1, &value_limits_default.list);
    for (int i = 1; i < 150; i++)
        list_push(&ref, LIST_TAIL, &element, 1, &value_limits_default.list);
    sds all = append_push(append_push(append_push(sds_new(SLICE("")), 64), 64), 150 - 128);
    assert_commands(ref.entry, all);
    sds_free(all);
}

static void a_set_is_one_command_per_64_members(void **state) {
    struct keyspace *keyspace = *state;
    const struct slice key = SLICE("key");
    struct keyref ref = keyspace_find(keyspace, key);
    set_create(&ref, key, SLICE("0"), 1, &value_limits_default.set);
    sds expected = sds_new(SLICE("*66\r\n$4\r\nSADD\r\n$3\r\nkey\r\n$1\r\n0\r\n"));
    for (int i = 1; i < 65; i++) {
        char digits[INT64_TEXT_MAX];
        struct slice member = number_text(digits, i);
        set_add(&ref, member, &value_limits_default.set);
        if (i == 64) expected = sds_append_cstr(expected, "*3\r\n$4\r\nSADD\r\n$3\r\nkey\r\n");
        expected = sds_append_format(expected, "$%zu\r\n%d\r\n", member.len, i);
    }
    assert_commands(ref.entry, expected);
    sds_free(expected);
}

static void expiries_of_fields_are_commands_of_their_own(void **state) {
    struct keyspace *keyspace = *state;
    const struct slice key = SLICE("key");
    struct keyref ref = keyspace_find(keyspace, key);
    hash_create(&ref, key, SLICE("a"), SLICE("1"), 1, &value_limits_default.hash);
    hash_set(&ref, SLICE("b"), SLICE(""), HASH_DROP_EXPIRY, HASH_ALL, &value_limits_default.hash);
    hash_set_expiry(&ref, SLICE("b"), 5000, HASH_ALWAYS, HASH_ALL);
    static const char set[] = "*6\r\n$4\r\nHSET\r\n$3\r\nkey\r\n$1\r\nb\r\n$0\r\n\r\n"
                              "$1\r\na\r\n$1\r\n1\r\n";
    sds all = sds_append_cstr(sds_new(slice_of_cstr(set)),
                              "*6\r\n$10\r\nHPEXPIREAT\r\n$3\r\nkey\r\n$4\r\n5000\r\n"
                              "$6\r\nFIELDS\r\n$1\r\n1\r\n$1\r\nb\r\n");
    assert_commands(ref.entry, all);
    sds_free(all);
}

static void a_sorted_set_is_one_command_per_64_members(void **state) {
    struct keyspace *keyspace = *state;
    const struct listpack_limits *limits = &value_limits_default.zset;
    const struct slice key = SLICE("key");
    struct keyref ref = keyspace_find(keyspace, key);
    zset_create(&ref, key, SLICE("b"), 2.5, 1, 1, limits);
    struct zset_place place = zset_find(ref.entry, SLICE("a"));
    zset_put(&ref, &place, SLICE("a"), -INFINITY, limits);
    assert_commands(ref.entry, "*6\r\n$4\r\nZADD\r\n$3\r\nkey\r\n$4\r\n-inf\r\n$1\r\na\r\n"
                               "$3\r\n2.5\r\n$1\r\nb\r\n");
    zset_remove_range(&ref, 0, 1);
    sds expected = sds_new(SLICE("*130\r\n$4\r\nZADD\r\n$3\r\nkey\r\n$3\r\n2.5\r\n$1\r\nb\r\n"));
    for (int i = 101; i < 200; i++) {
        char text[8];
        struct slice member = slice_make(text, (size_t)snprintf(text, sizeof(text), "%d", i));
        place = zset_find(ref.entry, member);
        zset_put(&ref, &place, member, i, limits);
        if (i == 164) expected = sds_append_cstr(expected, "*74\r\n$4\r\nZADD\r\n$3\r\nkey\r\n");
        expected = sds_append_format(expected, "$3\r\n%d\r\n$3\r\n%d\r\n", i, i);
    }
    assert_commands(ref.entry, expected);
    zset_expect(&ref, 1000, limits);
    assert_commands(ref.entry, expected);
    sds_free(expected);
}

static int setup(void **state) {
    hash_init();
    *state = keyspace_new(value_free, value_length);
    return 0;
}

static int teardown(void **state) {
    keyspace_free(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_types_that_have_values_have_formats),
        cmocka_unit_test(each_form_is_read_by_the_type_that_it_is_named_for),
        cmocka_unit_test_setup_teardown(each_type_reads_what_it_writes, setup, teardown),
        cmocka_unit_test(a_string_is_one_command),
        cmocka_unit_test_setup_teardown(a_list_is_one_command_per_64_elements, setup, teardown),
        cmocka_unit_test_setup_teardown(a_set_is_one_command_per_64_members, setup, teardown),
        cmocka_unit_test_setup_teardown(expiries_of_fields_are_commands_of_their_own, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_sorted_set_is_one_command_per_64_members, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
