/* rdb_file: files are read item by item as they were written, also those of other servers; bad ones
 * are refused. */
#include "persist/rdb_file.h"

#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "types/list.h"
#include "types/string.h"
#include "types/value.h"
#include "unit/rdb_io.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct rdb_file_options defaults = {.values = {.limits = {.list = {.fill = -2}}},
                                                 .checksum = true};

/* --- What a file holds, as text --- */

static sds describe_entry(sds text, const struct rdb_file_item *item) {
    const struct entry *entry = item->entry;
    char digits[INT64_TEXT_MAX];
    assert_true(value_check(entry));
    assert_true(slice_equal(entry_key(entry), item->key));
    text = sds_append(sds_append_cstr(text, "key "), item->key);
    if (entry_type(entry) == VALUE_STRING)
        text = sds_append(sds_append_cstr(text, "="), string_text(entry, digits));
    else
        text = sds_append_format(text, " of %llu", (unsigned long long)value_length(entry));
    if (entry_expiry(entry) >= 0)
        text = sds_append_format(text, " until %lld", (long long)entry_expiry(entry));
    if (item->usage.kind == RDB_USAGE_IDLE)
        text = sds_append_format(text, " idle %llu", (unsigned long long)item->usage.value);
    if (item->usage.kind == RDB_USAGE_FREQUENCY)
        text = sds_append_format(text, " used %llu", (unsigned long long)item->usage.value);
    return text;
}

static sds describe_item(sds text, const struct rdb_file_item *item) {
    switch (item->kind) {
    case RDB_ITEM_AUX:
        text = sds_append(sds_append_cstr(text, "aux "), item->name);
        return sds_append(sds_append_cstr(text, "="), item->text);
    case RDB_ITEM_DATABASE:
        return sds_append_format(text, "db %llu", (unsigned long long)item->database);
    case RDB_ITEM_RESIZE:
        return sds_append_format(text, "size %llu %llu", (unsigned long long)item->keys,
                                 (unsigned long long)item->expiring_keys);
    case RDB_ITEM_FUNCTION: return sds_append(sds_append_cstr(text, "function "), item->text);
    case RDB_ITEM_ENTRY: return describe_entry(text, item);
    case RDB_ITEM_SKIPPED:
        return sds_append(sds_append_format(text, "skipped %s ", item->type_name), item->key);
    case RDB_ITEM_EMPTY:
        return sds_append(sds_append_format(text, "empty %s ", item->type_name), item->key);
    case RDB_ITEM_END: return sds_append_cstr(text, "end");
    }
    fail();
    return text;
}

/* All items of a file, then its error, if any, one a line; those of AUX only with `aux`. */
static sds describe(struct rdb_file *file, bool aux) {
    sds text = sds_new(SLICE(""));
    struct rdb_file_item item;
    bool ended = false;
    while (!ended && rdb_file_next(file, &item)) {
        ended = item.kind == RDB_ITEM_END;
        if (item.kind != RDB_ITEM_AUX || aux)
            text = sds_append_cstr(describe_item(text, &item), "\n");
        if (item.kind == RDB_ITEM_ENTRY) value_free(item.entry);
    }
    assert_true(ended == (rdb_reader_error(&file->reader) == NULL));
    if (!ended) text = sds_append_format(text, "error: %s\n", rdb_reader_error(&file->reader));
    rdb_file_finish(file);
    return text;
}

static void start_in_memory(struct rdb_file *file, struct slice bytes,
                            const struct rdb_file_options *options) {
    *file = (struct rdb_file){.options = *options};
    rdb_reader_start_memory(&file->reader, bytes, options->checksum);
}

static void assert_holds(struct slice bytes, const struct rdb_file_options *options,
                         const char *expected) {
    struct rdb_file file;
    start_in_memory(&file, bytes, options);
    sds text = describe(&file, false);
    assert_string_equal(text, expected);
    sds_free(text);
}

/* --- Files of this server --- */

static void write_string(struct rdb_writer *writer, const char *key, const char *text,
                         int64_t expiry_ms, struct rdb_usage usage) {
    struct entry *entry = string_new(slice_of_cstr(key), slice_of_cstr(text));
    if (expiry_ms >= 0) entry = entry_set_expiry(entry, expiry_ms, value_size(entry));
    rdb_write_entry(writer, entry, usage);
    value_free(entry);
}

static void write_file(struct rdb_writer *writer) {
    rdb_write_header(writer, &(struct rdb_facts){.server_version = "7.2.4",
                                                 .created_s = 1700000000,
                                                 .used_memory = 123456789012,
                                                 .aof_base = true});
    rdb_write_function(writer, SLICE("#!lua name=mylib"));
    rdb_write_database(writer, 0, 3, 1);
    write_string(writer, "a", "text", -1, (struct rdb_usage){0});
    write_string(writer, "123", "-77", 1800000000123, (struct rdb_usage){RDB_USAGE_IDLE, 100});
    write_string(writer, "", "", -1, (struct rdb_usage){RDB_USAGE_FREQUENCY, 255});
    rdb_write_database(writer, 15, 1, 0);
    const uint8_t body[] = {5, 1, 6, 1};
    struct entry *list =
        list_from_body(SLICE("list"), body, body + 4, 2, &defaults.values.limits.list);
    rdb_write_entry(writer, list, (struct rdb_usage){0});
    value_free(list);
}

static const char our_items[] = "aux redis-ver=7.2.4\n"
                                "aux redis-bits=64\n"
                                "aux ctime=1700000000\n"
                                "aux used-mem=123456789012\n"
                                "aux aof-base=1\n"
                                "function #!lua name=mylib\n"
                                "db 0\n"
                                "size 3 1\n"
                                "key a=text\n"
                                "key 123=-77 until 1800000000123 idle 100\n"
                                "key = used 255\n"
                                "db 15\n"
                                "size 1 0\n"
                                "key list of 2\n"
                                "end\n";

static struct rdb_io our_file(struct random *random, bool checksum) {
    struct rdb_io io = rdb_io_new(random);
    struct rdb_writer writer;
    rdb_writer_start(&writer, rdb_io_sink(&io), true, checksum);
    write_file(&writer);
    assert_true(rdb_write_end(&writer));
    rdb_writer_end(&writer);
    return io;
}

static void a_file_is_read_as_it_was_written(void **state) {
    for (int checksum = 0; checksum < 2; checksum++) {
        struct rdb_io io = our_file(*state, checksum);
        struct rdb_file file;
        rdb_file_start(&file, rdb_io_source(&io), &defaults);
        sds text = describe(&file, true);
        assert_string_equal(text, our_items);
        assert_int_equal(file.version, 10);
        sds_free(text);
        sds_free(io.bytes);
    }
}

static void the_end_of_a_file_is_found_in_what_follows(void **state) {
    struct rdb_io io = our_file(*state, true);
    size_t size = sds_len(io.bytes);
    io.bytes = sds_append_cstr(io.bytes, "*1\r\n$4\r\nPING\r\n");
    struct rdb_file file;
    struct rdb_file_item item;
    rdb_file_start(&file, rdb_io_source(&io), &defaults);
    do {
        assert_true(rdb_file_next(&file, &item));
        if (item.kind == RDB_ITEM_ENTRY) value_free(item.entry);
    } while (item.kind != RDB_ITEM_END);
    assert_int_equal(rdb_reader_offset(&file.reader), size);
    rdb_file_finish(&file);
    sds_free(io.bytes);
}

static void every_shorter_file_is_refused(void **state) {
    struct rdb_io io = our_file(*state, true);
    for (size_t len = 0; len < sds_len(io.bytes); len++) {
        struct rdb_file file;
        start_in_memory(&file, slice_make(io.bytes, len), &defaults);
        sds text = describe(&file, false);
        assert_non_null(
            strstr(text, "error: unexpected end of the data (Short read or OOM loading DB)"));
        sds_free(text);
    }
    sds_free(io.bytes);
}

static void every_flipped_bit_is_noticed(void **state) {
    struct rdb_io io = our_file(*state, true);
    for (size_t bit = 8 * 9; bit < 8 * sds_len(io.bytes); bit++) {
        struct rdb_file file;
        io.bytes[bit / 8] ^= (char)(1 << bit % 8);
        start_in_memory(&file, sds_slice(io.bytes), &defaults);
        sds text = describe(&file, false);
        assert_memory_not_equal(text + sds_len(text) - 4, "end\n", 4);
        sds_free(text);
        io.bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
    sds_free(io.bytes);
}

static void a_source_that_fails_is_an_error(void **state) {
    struct rdb_io io = our_file(*state, true);
    struct rdb_file file;
    io.fail_at = sds_len(io.bytes) / 2;
    rdb_file_start(&file, rdb_io_source(&io), &defaults);
    sds text = describe(&file, false);
    assert_non_null(strstr(text, "error: can't read: Input/output error"));
    sds_free(text);
    sds_free(io.bytes);
}

static void a_sink_that_fails_ends_all_writing(void **state) {
    struct rdb_io io = rdb_io_new(*state);
    struct rdb_writer writer;
    io.room = RDB_WRITER_BUFFER;
    rdb_writer_start(&writer, rdb_io_sink(&io), true, true);
    for (int i = 0; i < 20000; i++)
        write_string(&writer, "key", "0123456789abcdef", -1, (struct rdb_usage){0});
    assert_int_equal(writer.error, ENOSPC);
    assert_true(sds_len(io.bytes) <= RDB_WRITER_BUFFER);
    assert_false(rdb_write_end(&writer));
    assert_int_equal(writer.error, ENOSPC);
    rdb_writer_end(&writer);
    sds_free(io.bytes);
}

static void large_strings_pass_the_buffer(void **state) {
    struct rdb_io io = rdb_io_new(*state);
    struct rdb_writer writer;
    size_t len = 3 * RDB_WRITER_BUFFER;
    char *large = mem_alloc(len + 1);
    for (size_t i = 0; i < len; i++) large[i] = (char)('a' + random_below(*state, 26));
    large[len] = 0;
    rdb_writer_start(&writer, rdb_io_sink(&io), false, true);
    rdb_write_header(&writer, &(struct rdb_facts){.server_version = "7.2.4"});
    write_string(&writer, "large", large, -1, (struct rdb_usage){0});
    assert_true(rdb_write_end(&writer));
    rdb_writer_end(&writer);
    struct rdb_file file;
    rdb_file_start(&file, rdb_io_source(&io), &defaults);
    sds text = describe(&file, false);
    assert_int_equal(sds_len(text), len + strlen("key large=\nend\n"));
    assert_memory_equal(text + strlen("key large="), large, len);
    sds_free(text);
    sds_free(io.bytes);
    mem_free(large);
}

/* --- Files of other servers --- */

#define FUNCTION                                                                                   \
    "\xF5\x40\x55#!lua name=mylib\nredis.register_function('myfunc', function(keys, args) "        \
    "return 1 end)"

static const struct slice valkey_9 =
    SLICE("VALKEY080\xFA\x0Avalkey-ver\x05"
          "9.1.2" FUNCTION "\xFE\x00\xFB\x03\x00\x12\x01l\x01\x02\x0F"
          "\x0F\x00\x00\x00\x03\x00\x81"
          "a\x02\x81"
          "b\x02\x05\x01\xFF\x00\x01s\x05hello\x16\x01h\x02"
          "\x01"
          "f\x01v\x83X\xED\xFB\xA1\x01\x00\x00\x01g\x01w\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"
          "\x00\x00\x00\x00\x00\x00\x00\x00");

static const struct slice redis_8 =
    SLICE("REDIS0012\xFA\x09redis-ver\x05"
          "8.0.6" FUNCTION "\xFE\x00\xFB\x03\x00\x00\x01s\x05hello\x12"
          "\x01l\x01\x02\x0F\x0F\x00\x00\x00\x03\x00\x81"
          "a\x02\x81"
          "b\x02\x05\x01\xFF\x19\x01h\xA1X"
          "\xED\xFB\xA1\x01\x00\x00\x1F\x1F\x00\x00\x00\x06\x00\x81"
          "f\x02\x81v\x02\xF4\xA1X\xED\xFB"
          "\xA1\x01\x00\x00\x09\x81g\x02\x81w\x02\x00\x01\xFF\xFF\x00\x00\x00\x00\x00\x00\x00\x00");

static const struct slice redis_2_4 = SLICE("REDIS0002\xFE\x00\x00\x01s\x05hello\xFD\x00\x00\x00"
                                            "\x70\x01\x01l\x02\x01"
                                            "a\x01"
                                            "b\xFF");

#define FUNCTION_TEXT                                                                              \
    "function #!lua name=mylib\nredis.register_function('myfunc', function(keys, args) return 1 "  \
    "end)\n"

static void files_of_peers_are_read(void **state) {
    (void)state;
    assert_holds(valkey_9, &defaults,
                 FUNCTION_TEXT "db 0\nsize 3 0\nkey l of 3\nkey s=hello\nkey h of 2\nend\n");
    assert_holds(redis_8, &defaults,
                 FUNCTION_TEXT "db 0\nsize 3 0\nkey s=hello\nkey l of 3\nkey h of 2\nend\n");
    assert_holds(redis_2_4, &defaults, "db 0\nkey s=hello\nkey l of 2 until 1879048192000\nend\n");
}

#define END "\xFF\x00\x00\x00\x00\x00\x00\x00\x00"

static void files_of_newer_peers_are_read(void **state) {
    (void)state;
    static const struct slice heads[] = {
        {"REDIS0013", 9}, {"REDIS0014", 9}, {"REDIS0015", 9}, {"VALKEY081", 9}};
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        sds bytes = sds_new(heads[i]);
        bytes = sds_append(bytes, SLICE("\xFE\x00\xF4\x7F\xFF\x05\x00\x00\x01s\x05hello" END));
        assert_holds(sds_slice(bytes), &defaults, "db 0\nkey s=hello\nend\n");
        sds_free(bytes);
    }
}

static void what_newer_peers_add_is_refused_by_name(void **state) {
    (void)state;
    static const struct {
        struct slice bytes;
        const char *error;
    } files[] = {
        {SLICE("REDIS0014\x1C\x02hi"),
         "values of this type can't be loaded, in key \"hi\" of type array"},
        {SLICE("REDIS0015\x1D\x02hi"),
         "values of this type can't be loaded, in key \"hi\" of type hash with a template"},
        {SLICE("REDIS0015\x20\x02hi"),
         "values of this type can't be loaded, in key \"hi\" of type hash with a template"},
        {SLICE("REDIS0015\x21\x02hi"), "unknown type 33"},
        {SLICE("REDIS0013\xF3\x01"), "a key with metadata of a module can't be loaded"},
        {SLICE("REDIS0013\xF9\x01\xF3\x01"), "a key with metadata of a module can't be loaded"},
        {SLICE("REDIS0013\xF2\x01"), "unknown type 242"},
        {SLICE("VALKEY081\xF2\x01"), "a part of Valkey 9.2 or newer can't be loaded"},
        {SLICE("VALKEY081\xF3\x01x\x00" END), "a slot import can't be loaded"},
        {SLICE("REDIS0013\xF4\x80\x00\x00\x40\x00\x05\x00"), "slot out of range"},
    };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        sds expected = sds_append_format(sds_new(SLICE("")), "error: %s\n", files[i].error);
        assert_holds(files[i].bytes, &defaults, expected);
        sds_free(expected);
    }
}

static void slot_imports_of_valkey_are_skipped_within_bounds(void **state) {
    (void)state;
    struct rdb_file_options options = defaults;
    options.skip_unknown = true;
    static const struct {
        struct slice import;
        const char *found;
    } files[] = {
        {SLICE("\x01x\x00"), "skipped slot import \nend\n"},
        {SLICE("\x01x\x02\x00\x05\x07\x7F\xFF"), "skipped slot import \nend\n"},
        {SLICE("\x01x\x01\x05\x04"), "error: a range of slots ends before it begins\n"},
        {SLICE("\x01x\x01\x00\x80\x00\x00\x40\x00"), "error: slot out of range\n"},
        {SLICE("\x01x\x80\x00\x01\x00\x00"), "error: too many ranges of slots\n"},
    };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        sds bytes = sds_append(sds_new(SLICE("VALKEY080\xF3")), files[i].import);
        bytes = sds_append(bytes, SLICE(END));
        assert_holds(sds_slice(bytes), &options, files[i].found);
        sds_free(bytes);
    }
}

static void an_unsupported_type_stops_the_load(void **state) {
    (void)state;
    assert_holds(SLICE("REDIS0010\xF6\x01x\xFF"), &defaults,
                 "error: a function of a release candidate can't be loaded\n");
    assert_holds(SLICE("REDIS0010\x07\x02hi\x01\x01x\xFF"), &defaults,
                 "error: values of this type can't be loaded, in key \"hi\" of type module\n");
    assert_holds(SLICE("REDIS0010\x00\x02hi\x05x"), &defaults,
                 "error: unexpected end of the data (Short read or OOM loading DB), in key \"hi\" "
                 "of type string\n");
    struct rdb_file_options options = defaults;
    options.skip_unknown = true;
    assert_holds(SLICE("REDIS0010\x06\x02hi\x05x"), &options,
                 "error: values of this type can't be skipped, in key \"hi\" of type module\n");
}

static void a_collection_without_elements_is_an_item_of_its_own(void **state) {
    (void)state;
    assert_holds(SLICE("REDIS0010\x02\x01s\x00\x00\x01t\x05hello\x04\x01h\x00\xFF"
                       "\x00\x00\x00\x00\x00\x00\x00\x00"),
                 &defaults, "empty set s\nkey t=hello\nempty hash h\nend\n");
}

/* Errors are shown on a terminal or in a log. */
static void errors_name_keys_in_printable_characters(void **state) {
    (void)state;
    assert_holds(SLICE("REDIS0010\x07\x06\x1B[2J\n\0\x01\x01x\xFF"), &defaults,
                 "error: values of this type can't be loaded, in key \"\\x1b[2J\\n\\x00\" of type "
                 "module\n");
    assert_holds(SLICE("REDIS0010\x07\x20"
                       "0123456789012345678901234567890\x1B\x01\x01x\xFF"),
                 &defaults,
                 "error: values of this type can't be loaded, in key "
                 "\"012345678901234567890123456789\"… of type module\n");
}

/* Each form of each type, followed by a string, which is found only when the value was skipped
 * completely. */
static void every_other_type_can_be_skipped(void **state) {
    (void)state;
    static const struct {
        struct slice bytes;
        const char *name;
    } values[] = {
        {SLICE("\x07\x01k\x81\x01\x02\x03\x04\x05\x06\x07\x08\x01\x05\x02\x06\x03"
               "1234\x04"
               "12345678"
               "\x05\x02hi\x00"),
         "module"},
    };
    struct rdb_file_options options = defaults;
    options.skip_unknown = true;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        sds bytes = sds_new(SLICE("REDIS0012"));
        bytes = sds_append(bytes, values[i].bytes);
        bytes = sds_append(bytes, SLICE("\x00\x01s\x05hello\xFF\x00\x00\x00\x00\x00\x00\x00\x00"));
        sds expected = sds_append_format(sds_new(SLICE("")), "skipped %s k\nkey s=hello\nend\n",
                                         values[i].name);
        assert_holds(sds_slice(bytes), &options, expected);
        sds_free(bytes);
        sds_free(expected);
    }
}

static void bad_files_are_refused(void **state) {
    (void)state;
    assert_holds(SLICE(""), &defaults,
                 "error: unexpected end of the data (Short read or OOM loading DB)\n");
    assert_holds(SLICE("HELLO0010\xFF"), &defaults,
                 "error: not an RDB file (Wrong signature trying to load DB from file)\n");
    assert_holds(SLICE("REDIS0016\xFF"), &defaults,
                 "error: unknown RDB version REDIS0016 (Can't handle RDB format version 16)\n");
    assert_holds(SLICE("REDIS00x1\xFF"), &defaults,
                 "error: unknown RDB version REDIS00x1 (Can't handle RDB format version 0)\n");
    assert_holds(SLICE("VALKEY011\xFF"), &defaults,
                 "error: unknown RDB version VALKEY011 (Can't handle RDB format version 11)\n");
    assert_holds(SLICE("VALKEY082\xFF"), &defaults,
                 "error: unknown RDB version VALKEY082 (Can't handle RDB format version 82)\n");
    assert_holds(SLICE("REDIS0010\x08\x01k\x01v"), &defaults, "error: unknown type 8\n");
    assert_holds(SLICE("REDIS0010\xFC\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), &defaults,
                 "error: invalid expiry\n");
    assert_holds(SLICE("REDIS0010\xFC\x01\x00\x00\x00\x00\x00\x00\x00\xFF"), &defaults,
                 "error: a key was expected, not 255\n");
    assert_holds(SLICE("REDIS0010\xFF\x01\x00\x00\x00\x00\x00\x00\x00"), &defaults,
                 "error: wrong checksum (RDB CRC error): eb7ea789fe37fda9 is expected, "
                 "0000000000000001 is found\n");
    struct rdb_file_options options = defaults;
    options.checksum = false;
    assert_holds(SLICE("REDIS0010\xFF\x01\x00\x00\x00\x00\x00\x00\x00"), &options, "end\n");
}

int main(void) {
    struct random random = random_of_this_run();
    hash_init_seed(1);
#define RANDOM_TEST(test) cmocka_unit_test_prestate(test, &random)
    const struct CMUnitTest tests[] = {
        RANDOM_TEST(a_file_is_read_as_it_was_written),
        RANDOM_TEST(the_end_of_a_file_is_found_in_what_follows),
        RANDOM_TEST(every_shorter_file_is_refused),
        RANDOM_TEST(every_flipped_bit_is_noticed),
        RANDOM_TEST(a_source_that_fails_is_an_error),
        RANDOM_TEST(a_sink_that_fails_ends_all_writing),
        RANDOM_TEST(large_strings_pass_the_buffer),
        cmocka_unit_test(files_of_peers_are_read),
        cmocka_unit_test(files_of_newer_peers_are_read),
        cmocka_unit_test(what_newer_peers_add_is_refused_by_name),
        cmocka_unit_test(slot_imports_of_valkey_are_skipped_within_bounds),
        cmocka_unit_test(an_unsupported_type_stops_the_load),
        cmocka_unit_test(a_collection_without_elements_is_an_item_of_its_own),
        cmocka_unit_test(errors_name_keys_in_printable_characters),
        cmocka_unit_test(every_other_type_can_be_skipped),
        cmocka_unit_test(bad_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
