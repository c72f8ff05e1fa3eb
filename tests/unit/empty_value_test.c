/* Collections without elements in files and payloads: an error that a reader of files passes over. */
#include "persist/rdb_file.h"
#include "types/list.h"
#include "types/value.h"
#include "unit/format_checks.h"

#define LISTPACK   "\x07\x07\x00\x00\x00\x00\x00\xFF"
#define COMPRESSED "\xC3\x08\x07\x06\x07\x00\x00\x00\x00\x00\xFF"
#define ZIPLIST    "\x0B\x0B\x00\x00\x00\x0A\x00\x00\x00\x00\x00\xFF"
#define LISTPACK_A "\x0A\x0A\x00\x00\x00\x01\x00\x81\x61\x02\xFF"
#define TIME       "\x01\x00\x00\x00\x00\x00\x00\x00"

static const struct empty {
    unsigned type;
    struct slice bytes;
} empty_values[] = {
    {RDB_LIST, SLICE("\x00")},
    {RDB_LIST_ZIPLIST, SLICE(ZIPLIST)},
    {RDB_LIST_QUICKLIST, SLICE("\x00")},
    {RDB_LIST_QUICKLIST, SLICE("\x02" ZIPLIST ZIPLIST)},
    {RDB_LIST_QUICKLIST_2, SLICE("\x00")},
    {RDB_LIST_QUICKLIST_2, SLICE("\x01\x02" LISTPACK)},
    {RDB_LIST_QUICKLIST_2, SLICE("\x03\x02" LISTPACK "\x02" COMPRESSED "\x02" LISTPACK)},
    {RDB_SET, SLICE("\x00")},
    {RDB_SET_LISTPACK, SLICE(LISTPACK)},
    {RDB_ZSET, SLICE("\x00")},
    {RDB_ZSET_2, SLICE("\x00")},
    {RDB_ZSET_ZIPLIST, SLICE(ZIPLIST)},
    {RDB_ZSET_LISTPACK, SLICE(LISTPACK)},
    {RDB_HASH, SLICE("\x00")},
    {RDB_HASH_ZIPMAP, SLICE("\x02\x00\xFF")},
    {RDB_HASH_ZIPLIST, SLICE(ZIPLIST)},
    {RDB_HASH_LISTPACK, SLICE(LISTPACK)},
    {RDB_HASH_2, SLICE("\x00")},
    {RDB_HASH_METADATA, SLICE(TIME "\x00")},
    {RDB_HASH_LISTPACK_EX, SLICE(TIME LISTPACK)},
};
enum { EMPTY_VALUES = sizeof(empty_values) / sizeof(*empty_values) };

static void an_empty_collection_is_an_error(void **state) {
    (void)state;
    for (size_t i = 0; i < EMPTY_VALUES; i++)
        assert_refused(empty_values[i].type, empty_values[i].bytes,
                       "a collection without elements");
}

static void a_reader_can_go_on_behind_it(void **state) {
    (void)state;
    for (size_t i = 0; i < EMPTY_VALUES; i++) {
        struct rdb_reader reader;
        rdb_reader_start_memory(&reader, empty_values[i].bytes, false);
        assert_null(type_format_read(&reader, empty_values[i].type, SLICE("key"), &options));
        assert_true(rdb_reader_pass_empty(&reader));
        assert_null(rdb_reader_error(&reader));
        assert_true(rdb_reader_is_at_end(&reader));
        rdb_reader_end(&reader);
    }
}

static void no_other_error_is_passed_over(void **state) {
    (void)state;
    struct rdb_reader reader;
    rdb_reader_start_memory(&reader, SLICE("\x02\x01x\x01x"), false);
    assert_null(type_format_read(&reader, RDB_SET, SLICE("key"), &options));
    assert_false(rdb_reader_fail_empty(&reader));
    assert_false(rdb_reader_pass_empty(&reader));
    assert_non_null(rdb_reader_error(&reader));
    rdb_reader_end(&reader);
}

/* The list has one element: nodes without any are left out, raw or compressed, wherever they are. */
static void empty_nodes_of_a_list_are_left_out(void **state) {
    (void)state;
    static const struct empty lists[] = {
        {RDB_LIST_QUICKLIST_2, SLICE("\x02\x02" LISTPACK_A "\x02" LISTPACK)},
        {RDB_LIST_QUICKLIST_2,
         SLICE("\x04\x02" LISTPACK "\x02" COMPRESSED "\x02" LISTPACK_A "\x02" COMPRESSED)},
        {RDB_LIST_QUICKLIST_2, SLICE("\x03\x02" COMPRESSED "\x01\x01"
                                     "a"
                                     "\x02" COMPRESSED)},
    };
    for (size_t depth = 0; depth < 3; depth++) {
        options.limits.list.compress_depth = (uint32_t)depth;
        for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
            char error[RDB_READER_ERROR_MAX];
            struct entry *entry = read_bytes(lists[i].type, lists[i].bytes, error);
            assert_non_null(entry);
            assert_int_equal(list_length(entry), 1);
            value_free(entry);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        format_test(an_empty_collection_is_an_error),
        format_test(a_reader_can_go_on_behind_it),
        format_test(no_other_error_is_passed_over),
        format_test(empty_nodes_of_a_list_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
