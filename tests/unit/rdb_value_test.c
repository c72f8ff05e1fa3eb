/* type_format: strings and lists are read from every form that files have had; bad values are
 * refused. */
#include "persist/type_format.h"

#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "persist/rdb_format.h"
#include "types/list.h"
#include "types/string.h"
#include "types/value.h"
#include "unit/rdb_io.h"
#include "unit/seed.h"
#include "unit/texts.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct rdb_load_options defaults = {.limits = {.list = {.fill = -2}}};

/* --- Reading from bytes --- */

/* Reads a value; its error is put into `error` when it is bad. */
static struct entry *read_bytes(unsigned type, struct slice bytes, char *error) {
    struct rdb_reader reader;
    rdb_reader_start_memory(&reader, bytes, false);
    struct entry *entry = type_format_read(&reader, type, SLICE("key"), &defaults);
    if (entry) {
        assert_true(rdb_reader_is_at_end(&reader));
        assert_true(value_check(entry));
        assert_true(slice_equal(entry_key(entry), SLICE("key")));
    } else {
        snprintf(error, RDB_READER_ERROR_MAX, "%s", rdb_reader_error(&reader));
    }
    rdb_reader_end(&reader);
    return entry;
}

static void assert_refused(unsigned type, struct slice bytes, const char *expected) {
    char error[RDB_READER_ERROR_MAX];
    assert_null(read_bytes(type, bytes, error));
    assert_string_equal(error, expected);
}

static void assert_string_is(struct slice bytes, const char *text) {
    char error[RDB_READER_ERROR_MAX], digits[INT64_TEXT_MAX];
    struct entry *entry = read_bytes(RDB_STRING, bytes, error);
    assert_non_null(entry);
    assert_true(slice_equal(string_text(entry, digits), slice_of_cstr(text)));
    value_free(entry);
}

/* Asserts that the elements are these texts, which are separated by spaces. */
static void assert_elements(const struct entry *entry, const char *texts) {
    struct quicklist_iter iter;
    sds found = sds_new(SLICE(""));
    const uint8_t *element;
    list_iter_start(&iter, entry, 0, LIST_FORWARD);
    while ((element = quicklist_iter_next(&iter))) {
        struct listpack_value value;
        char digits[INT64_TEXT_MAX];
        listpack_get(element, &value);
        if (sds_len(found)) found = sds_append_cstr(found, " ");
        found = sds_append(found, listpack_value_text(&value, digits));
    }
    quicklist_iter_end(&iter);
    assert_string_equal(found, texts);
    sds_free(found);
}

static void assert_list_is(unsigned type, struct slice bytes, const char *texts,
                           const char *encoding) {
    char error[RDB_READER_ERROR_MAX];
    struct entry *entry = read_bytes(type, bytes, error);
    assert_non_null(entry);
    assert_elements(entry, texts);
    assert_string_equal(value_encoding_name(entry), encoding);
    value_free(entry);
}

/* --- Forms --- */

static void strings_are_read_in_every_form(void **state) {
    (void)state;
    assert_string_is(SLICE("\x05hello"), "hello");
    assert_string_is(SLICE("\x00"), "");
    assert_string_is(SLICE("\xC0\xFF"), "-1");
    assert_string_is(SLICE("\xC1\x00\x80"), "-32768");
    assert_string_is(SLICE("\xC2\xFF\xFF\xFF\x7F"), "2147483647");
    assert_string_is(SLICE("\x40\x05hello"), "hello");
    assert_string_is(SLICE("\x80\x00\x00\x00\x05hello"), "hello");
    assert_string_is(SLICE("\x81\x00\x00\x00\x00\x00\x00\x00\x05hello"), "hello");
    assert_string_is(SLICE("\xC3\x04\x04\x00"
                           "a\x20\x00"),
                     "aaaa");
}

static void bad_strings_are_refused(void **state) {
    (void)state;
    assert_refused(RDB_STRING, SLICE(""),
                   "unexpected end of the data (Short read or OOM loading DB)");
    assert_refused(RDB_STRING, SLICE("\x05hell"),
                   "unexpected end of the data (Short read or OOM loading DB)");
    assert_refused(RDB_STRING, SLICE("\x81\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"),
                   "unexpected end of the data (Short read or OOM loading DB)");
    assert_refused(RDB_STRING, SLICE("\x82hello"), "unknown length encoding 0x82");
    assert_refused(RDB_STRING, SLICE("\xC4hello"), "unknown string encoding 4");
    assert_refused(RDB_STRING,
                   SLICE("\xC3\x04\x05\x00"
                         "a\x20\x00"),
                   "invalid LZF stream");
    assert_refused(RDB_STRING, SLICE("\xC3\x02\x80\x10\x00\x00\x00\x00z"),
                   "LZF lengths that can't be: 268435456 bytes from 2");
    assert_refused(RDB_STRING, SLICE("\xC3\x00\x01"), "LZF lengths that can't be: 1 bytes from 0");
    assert_refused(RDB_STRING, SLICE("\xC3\xC0\x01"), "a length was expected, not a string");
}

#define LISTPACK_A_5                                                                               \
    "\x0C\x00\x00\x00\x02\x00\x81"                                                                 \
    "a\x02\x05\x01\xFF"
#define COMPRESSED_A_5 "\xC3\x0D\x0C\x0B" LISTPACK_A_5
#define ZIPLIST_A_5                                                                                \
    "\x10\x00\x00\x00\x0D\x00\x00\x00\x02\x00\x00\x01"                                             \
    "a\x03\xF6\xFF"

static void lists_are_read_in_every_form(void **state) {
    (void)state;
    assert_list_is(RDB_LIST, SLICE("\x03\x01x\xC0\x07\x00"), "x 7 ", "listpack");
    assert_list_is(RDB_LIST_ZIPLIST, SLICE("\x10" ZIPLIST_A_5), "a 5", "listpack");
    assert_list_is(RDB_LIST_QUICKLIST, SLICE("\x01\x10" ZIPLIST_A_5), "a 5", "listpack");
    assert_list_is(RDB_LIST_QUICKLIST, SLICE("\x02\x10" ZIPLIST_A_5 "\x10" ZIPLIST_A_5), "a 5 a 5",
                   "quicklist");
    assert_list_is(RDB_LIST_QUICKLIST_2, SLICE("\x01\x02\x0C" LISTPACK_A_5), "a 5", "listpack");
    assert_list_is(RDB_LIST_QUICKLIST_2,
                   SLICE("\x03\x02\x0C" LISTPACK_A_5 "\x01\x01z\x02\x0C" LISTPACK_A_5), "a 5 z a 5",
                   "quicklist");
    assert_list_is(RDB_LIST_QUICKLIST_2, SLICE("\x01\x01\x01z"), "z", "quicklist");
}

static void every_kind_of_ziplist_entry_is_read(void **state) {
    (void)state;
    static const char entries[] = "\x00\xFE\x80"                             /* -128 */
                                  "\x03\xC0\xFF\x7F"                         /* 32767 */
                                  "\x04\xF0\x00\x00\x80"                     /* -8388608 */
                                  "\x05\xD0\x00\x00\x00\x80"                 /* -2147483648 */
                                  "\x06\xE0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F" /* 2^63 - 1 */
                                  "\x0A\xF1\x02\xFD\x02\x40\x02hi"           /* 0 12 hi */
                                  "\x05\x80\x00\x00\x00\x02"
                                  "42\x08\x03"
                                  "007"; /* strings */
    uint8_t bytes[200] = {0};
    size_t size = sizeof(entries) - 1, total = 10 + size + 1;
    bytes[0] = (uint8_t)total;
    bytes[1] = (uint8_t)total;
    bytes[5] = (uint8_t)(10 + size - 5);
    bytes[9] = 11 - 1;
    memcpy(bytes + 11, entries, size);
    bytes[11 + size] = 0xFF;
    assert_list_is(RDB_LIST_ZIPLIST, slice_make(bytes, 1 + total),
                   "-128 32767 -8388608 -2147483648 9223372036854775807 0 12 hi 42 007",
                   "listpack");
}

static void long_ziplist_entries_are_read(void **state) {
    (void)state;
    enum { LONG = 300 };
    uint8_t bytes[LONG + 100] = {0};
    size_t total = 10 + 3 + LONG + 6 + 1;
    uint32_t total32 = (uint32_t)total, tail = 10 + 3 + LONG, before = 3 + LONG;
    bytes[0] = (uint8_t)(RDB_LENGTH_14 | total >> 8);
    bytes[1] = (uint8_t)total;
    memcpy(bytes + 2, &total32, 4);
    memcpy(bytes + 6, &tail, 4);
    bytes[10] = 2;
    bytes[13] = 0x40 | LONG >> 8;
    bytes[14] = (uint8_t)LONG;
    memset(bytes + 15, 'x', LONG);
    bytes[15 + LONG] = 0xFE;
    memcpy(bytes + 16 + LONG, &before, 4);
    bytes[20 + LONG] = 0xF2;
    bytes[21 + LONG] = 0xFF;
    char texts[LONG + 3] = {0};
    memset(texts, 'x', LONG);
    memcpy(texts + LONG, " 1", 3);
    assert_list_is(RDB_LIST_ZIPLIST, slice_make(bytes, 2 + total), texts, "listpack");
}

/* Elements with 16383 bytes of header and text: Redis writes 00 FF FF behind them, Valkey 7F FF. */
enum { DISPUTED_TEXT = 16383 - 5, DISPUTED_BODY = 2 + 5 + DISPUTED_TEXT + 3 + 2 };

/* A file's value: a node with the elements 1, a disputed one of 'x', and 2. Returns its size. */
static size_t disputed_list(uint8_t *bytes, bool valkey) {
    size_t total = DISPUTED_BODY - valkey + LISTPACK_OVERHEAD;
    uint8_t *p = bytes;
    memcpy(p, "\x01\x02\x80\x00\x00", 5);
    p[5] = (uint8_t)(total >> 8);
    p[6] = (uint8_t)total;
    listpack_write_header(p + 7, total - LISTPACK_OVERHEAD, 3);
    p += 7 + LISTPACK_HEADER_SIZE;
    memcpy(p, "\x01\x01\xF0\xFA\x3F\x00\x00", 7);
    memset(p + 7, 'x', DISPUTED_TEXT);
    p += 7 + DISPUTED_TEXT;
    memcpy(p, valkey ? "\x7F\xFF\x02\x01\xFF" : "\x00\xFF\xFF\x02\x01\xFF", valkey ? 5 : 6);
    return 7 + total;
}

static void back_lengths_are_read_as_redis_and_as_valkey_write_them(void **state) {
    (void)state;
    static uint8_t bytes[DISPUTED_BODY + 100];
    static char texts[DISPUTED_TEXT + 10];
    memset(texts, 'x', sizeof(texts) - 1);
    memcpy(texts, "1 ", 2);
    memcpy(texts + 2 + DISPUTED_TEXT, " 2", 3);
    for (int valkey = 0; valkey < 2; valkey++) {
        size_t size = disputed_list(bytes, valkey);
        assert_list_is(RDB_LIST_QUICKLIST_2, slice_make(bytes, size), texts, "quicklist");
        uint8_t *back_length = bytes + 7 + LISTPACK_HEADER_SIZE + 7 + DISPUTED_TEXT;
        back_length[1] ^= 1;
        assert_refused(RDB_LIST_QUICKLIST_2, slice_make(bytes, size),
                       "malformed listpack" RDB_INTEGRITY);
        back_length[1] ^= 1;
        back_length[0] ^= 128;
        assert_refused(RDB_LIST_QUICKLIST_2, slice_make(bytes, size),
                       "malformed listpack" RDB_INTEGRITY);
    }
}

static void bad_lists_are_refused(void **state) {
    (void)state;
    assert_refused(RDB_LIST_QUICKLIST_2, SLICE("\x01\x03\x0C" LISTPACK_A_5),
                   "unknown kind of list node: 3");
    assert_refused(RDB_LIST_QUICKLIST_2, SLICE("\x02\x02\x0C" LISTPACK_A_5),
                   "unexpected end of the data (Short read or OOM loading DB)");
    assert_refused(RDB_LIST_QUICKLIST_2,
                   SLICE("\x81\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02\x0C" LISTPACK_A_5),
                   "unexpected end of the data (Short read or OOM loading DB)");
    assert_refused(RDB_LIST, SLICE("\x80\xFF\xFF\xFF\xFF\x01x"),
                   "unexpected end of the data (Short read or OOM loading DB)");
    assert_refused(RDB_MODULE_2, SLICE("\x01\x01x"), "values of type 7 (module) can't be read");
}

/* Changing any byte of a good value gives a good value or an error. */
static void damaged_lists_never_break_anything(void **state) {
    (void)state;
    static const struct {
        unsigned type;
        struct slice bytes;
    } good[] = {
        {RDB_LIST_ZIPLIST, {"\x10" ZIPLIST_A_5, 17}},
        {RDB_LIST_QUICKLIST, {"\x02\x10" ZIPLIST_A_5 "\x10" ZIPLIST_A_5, 35}},
        {RDB_LIST_QUICKLIST_2, {"\x02\x02\x0C" LISTPACK_A_5 "\x01\x01z", 18}},
        {RDB_LIST_QUICKLIST_2, {"\x02\x02" COMPRESSED_A_5 "\x02" COMPRESSED_A_5, 35}},
        {RDB_LIST, {"\x03\x01x\xC0\x07\x00", 6}},
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        uint8_t *bytes = mem_alloc(good[i].bytes.len);
        for (size_t at = 0; at < good[i].bytes.len; at++) {
            for (unsigned byte = 0; byte < 256; byte++) {
                struct rdb_reader reader;
                memcpy(bytes, good[i].bytes.ptr, good[i].bytes.len);
                bytes[at] = (uint8_t)byte;
                rdb_reader_start_memory(&reader, slice_make(bytes, good[i].bytes.len), false);
                struct entry *entry =
                    type_format_read(&reader, good[i].type, SLICE("key"), &defaults);
                assert_true((entry == NULL) == (rdb_reader_error(&reader) != NULL));
                if (entry) {
                    assert_true(value_check(entry));
                    value_free(entry);
                }
                rdb_reader_end(&reader);
            }
        }
        mem_free(bytes);
    }
}

static void elements_that_are_not_canonical_are_encoded_anew(void **state) {
    (void)state;
    /* "5" as a string; 7 as a 16-bit integer; "ab" with a 12-bit length */
    assert_list_is(RDB_LIST_QUICKLIST_2,
                   SLICE("\x01\x02\x13\x13\x00\x00\x00\x03\x00\x81"
                         "5\x02\xF1\x07\x00\x03\xE0\x02"
                         "ab\x04\xFF"),
                   "5 7 ab", "listpack");
    assert_list_is(RDB_LIST_QUICKLIST_2,
                   SLICE("\x02\x02" COMPRESSED_A_5 "\x02\xC3\x0B\x0A\x09"
                         "\x0A\x00\x00\x00\x01\x00\x81"
                         "5\x02\xFF"),
                   "a 5 5", "quicklist");
}

/* --- There and back --- */

/* The value written, and read again in pieces from a source. */
static struct entry *there_and_back(const struct entry *entry, struct random *random,
                                    struct quicklist_limits limits, bool compress) {
    struct rdb_io io = rdb_io_new(random);
    struct rdb_writer writer;
    rdb_writer_start(&writer, rdb_io_sink(&io), compress, true);
    type_format_write(&writer, entry);
    assert_true(rdb_writer_flush(&writer));
    assert_int_equal(rdb_writer_offset(&writer), sds_len(io.bytes));
    struct rdb_reader reader;
    const struct rdb_load_options options = {.limits = {.list = limits}};
    rdb_reader_start(&reader, rdb_io_source(&io), true);
    struct entry *back =
        type_format_read(&reader, type_format_written(entry), entry_key(entry), &options);
    assert_null(rdb_reader_error(&reader));
    assert_non_null(back);
    assert_true(rdb_reader_is_at_end(&reader));
    assert_int_equal(rdb_reader_offset(&reader), sds_len(io.bytes));
    assert_true(rdb_reader_checksum(&reader) == rdb_writer_checksum(&writer));
    assert_true(value_check(back));
    rdb_reader_end(&reader);
    rdb_writer_end(&writer);
    sds_free(io.bytes);
    return back;
}

static void assert_same_elements(const struct entry *a, const struct entry *b) {
    struct quicklist_iter in_a, in_b;
    assert_true(list_length(a) == list_length(b));
    list_iter_start(&in_a, a, 0, LIST_FORWARD);
    list_iter_start(&in_b, b, 0, LIST_FORWARD);
    for (uint64_t i = 0; i < list_length(a); i++) {
        const uint8_t *element = quicklist_iter_next(&in_a), *other = quicklist_iter_next(&in_b);
        assert_int_equal(listpack_size(element), listpack_size(other));
        assert_memory_equal(element, other, listpack_size(element));
    }
    quicklist_iter_end(&in_a);
    quicklist_iter_end(&in_b);
}

/* Pushes count the text alone (as Redis does), so the last one may bring a listpack over the limit. */
static bool exceeds_fill(const struct entry *entry, int fill) {
    size_t size = LISTPACK_OVERHEAD;
    struct quicklist_iter iter;
    list_iter_start(&iter, entry, 0, LIST_FORWARD);
    for (uint64_t i = 0; i < list_length(entry); i++)
        size += listpack_size(quicklist_iter_next(&iter));
    quicklist_iter_end(&iter);
    return quicklist_exceeds_fill(fill, size, list_length(entry));
}

static struct quicklist_limits random_limits(struct random *random) {
    static const int16_t fills[] = {-5, -2, -1, 1, 2, 5, 100};
    return (struct quicklist_limits){
        .fill = fills[random_below(random, sizeof(fills) / sizeof(fills[0]))],
        .compress_depth = (uint16_t)random_below(random, 4),
        .plain_threshold = random_below(random, 3) ? 0 : 100};
}

static void strings_are_read_as_they_were_written(void **state) {
    static char buffer[TEXT_SIZE_MAX];
    struct random *random = *state;
    for (int i = 0; i < 3000; i++) {
        char digits[INT64_TEXT_MAX], other[INT64_TEXT_MAX];
        struct entry *entry = string_new(SLICE("a key"), text_random(random, buffer, true));
        struct entry *back = there_and_back(entry, random, defaults.limits.list, i % 2);
        assert_true(slice_equal(string_text(entry, digits), string_text(back, other)));
        assert_string_equal(value_encoding_name(entry), value_encoding_name(back));
        value_free(entry);
        value_free(back);
    }
}

static void lists_are_read_as_they_were_written(void **state) {
    static char buffer[TEXT_SIZE_MAX];
    struct random *random = *state;
    for (int i = 0; i < 400; i++) {
        struct quicklist_limits limits = random_limits(random);
        struct keyspace *keyspace = keyspace_new(value_free, value_length);
        struct keyref ref = keyspace_find(keyspace, SLICE("key"));
        size_t count = 1 + random_below(random, random_below(random, 2) ? 10 : 1000);
        bool same_nodes = true;
        for (size_t k = 0; k < count; k++) {
            struct slice text = text_random(random, buffer, random_below(random, 20) == 0);
            if (text.len == DISPUTED_TEXT) same_nodes = false;
            enum list_end end = random_below(random, 4) ? LIST_TAIL : LIST_HEAD;
            if (ref.entry)
                list_push(&ref, end, &text, 1, &limits);
            else
                list_create(&ref, SLICE("key"), end, &text, 1, &limits);
        }
        struct entry *back = there_and_back(ref.entry, random, limits, random_below(random, 2));
        assert_same_elements(ref.entry, back);
        const struct quicklist *nodes = list_quicklist(ref.entry), *again = list_quicklist(back);
        bool listpack = strcmp(value_encoding_name(ref.entry), "listpack") == 0;
        if (listpack && exceeds_fill(ref.entry, limits.fill)) same_nodes = false;
        if (same_nodes)
            assert_string_equal(value_encoding_name(ref.entry), value_encoding_name(back));
        if (same_nodes && nodes && again)
            assert_int_equal(quicklist_node_count(nodes), quicklist_node_count(again));
        value_free(back);
        back = there_and_back(ref.entry, random, random_limits(random), true);
        assert_same_elements(ref.entry, back);
        value_free(back);
        keyspace_free(keyspace);
    }
}

/* --- Compressed nodes --- */

struct compressed_nodes {
    size_t nodes;
    size_t compressed;
    uint64_t sum; /* of the streams */
};

static void count_compressed(const struct quicklist_node_info *info, void *arg) {
    struct compressed_nodes *compressed = arg;
    compressed->nodes++;
    if (!info->compressed_size) return;
    compressed->compressed++;
    compressed->sum ^= hash_bytes(slice_make(info->data, info->compressed_size));
}

static struct compressed_nodes compressed_nodes_of(const struct entry *entry) {
    struct compressed_nodes compressed = {0};
    quicklist_visit_nodes(list_quicklist(entry), count_compressed, &compressed);
    return compressed;
}

static void compressed_nodes_stay_as_they_are(void **state) {
    struct random *random = *state;
    const struct quicklist_limits limits = {.fill = -1, .compress_depth = 2};
    struct keyspace *keyspace = keyspace_new(value_free, value_length);
    struct keyref ref = keyspace_find(keyspace, SLICE("key"));
    char text[64];
    for (int i = 0; i < 10000; i++) {
        struct slice element = slice_make(text, (size_t)snprintf(text, sizeof(text), "job:%d", i));
        if (ref.entry)
            list_push(&ref, LIST_TAIL, &element, 1, &limits);
        else
            list_create(&ref, SLICE("key"), LIST_TAIL, &element, 1, &limits);
    }
    struct compressed_nodes before = compressed_nodes_of(ref.entry);
    assert_int_equal(before.compressed, before.nodes - 4);
    struct entry *back = there_and_back(ref.entry, random, limits, false);
    struct compressed_nodes after = compressed_nodes_of(back);
    assert_int_equal(after.compressed, before.compressed);
    assert_true(after.sum == before.sum);
    value_free(back);
    back = there_and_back(ref.entry, random, (struct quicklist_limits){.fill = -1}, false);
    assert_int_equal(compressed_nodes_of(back).compressed, 0);
    assert_same_elements(ref.entry, back);
    value_free(back);
    keyspace_free(keyspace);
}

/* How the nodes of a list are written: a letter for each, p = plain, l = listpack. */
static void assert_nodes_written(const struct entry *entry, struct random *random,
                                 const char *expected) {
    struct rdb_io io = rdb_io_new(random);
    struct rdb_writer writer;
    struct rdb_reader reader;
    uint64_t nodes, container;
    char found[20] = {0};
    rdb_writer_start(&writer, rdb_io_sink(&io), false, false);
    type_format_write(&writer, entry);
    assert_true(rdb_writer_flush(&writer));
    rdb_writer_end(&writer);
    rdb_reader_start_memory(&reader, sds_slice(io.bytes), false);
    assert_true(rdb_read_length(&reader, &nodes) && nodes < sizeof(found));
    for (uint64_t i = 0; i < nodes; i++) {
        assert_true(rdb_read_length(&reader, &container) && rdb_skip_string(&reader));
        found[i] = container == RDB_CONTAINER_PLAIN ? 'p' : 'l';
    }
    assert_true(rdb_reader_is_at_end(&reader));
    assert_string_equal(found, expected);
    rdb_reader_end(&reader);
    sds_free(io.bytes);
}

static void elements_of_disputed_back_lengths_are_written_as_plain_nodes(void **state) {
    static char text[DISPUTED_TEXT + 1];
    static const struct {
        int16_t fill;
        uint16_t compress_depth;
        const char *elements; /* of these sizes: a DISPUTED_TEXT, b and c one less and more, . 1 */
        const char *nodes;
    } cases[] = {
        {-5, 0, "a", "p"},
        {-5, 0, ".a", "lp"},
        {-5, 0, "..a.", "lpl"},
        {-5, 0, "a.a", "plp"},
        {-5, 0, ".b.c.", "l"},
        {-4, 0, "a.......b....", "pll"},
        {-4, 1, "cc.a.cc", "llplll"},
        {-5, 1, "bbbbaaaabbbb", "lppppll"},
    };
    struct random *random = *state;
    memset(text, 'x', sizeof(text));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct quicklist_limits limits = {.fill = cases[i].fill,
                                                .compress_depth = cases[i].compress_depth};
        struct keyspace *keyspace = keyspace_new(value_free, value_length);
        struct keyref ref = keyspace_find(keyspace, SLICE("key"));
        for (const char *c = cases[i].elements; *c; c++) {
            size_t sizes[] = {DISPUTED_TEXT, DISPUTED_TEXT - 1, DISPUTED_TEXT + 1};
            struct slice element = slice_make(text, *c == '.' ? 1 : sizes[*c - 'a']);
            if (ref.entry)
                list_push(&ref, LIST_TAIL, &element, 1, &limits);
            else
                list_create(&ref, SLICE("key"), LIST_TAIL, &element, 1, &limits);
        }
        assert_nodes_written(ref.entry, random, cases[i].nodes);
        struct entry *back = there_and_back(ref.entry, random, limits, true);
        assert_same_elements(ref.entry, back);
        value_free(back);
        keyspace_free(keyspace);
    }
}

int main(void) {
    struct random random = random_of_this_run();
    hash_init_seed(1);
#define RANDOM_TEST(test) cmocka_unit_test_prestate(test, &random)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_are_read_in_every_form),
        cmocka_unit_test(bad_strings_are_refused),
        cmocka_unit_test(lists_are_read_in_every_form),
        cmocka_unit_test(every_kind_of_ziplist_entry_is_read),
        cmocka_unit_test(long_ziplist_entries_are_read),
        cmocka_unit_test(back_lengths_are_read_as_redis_and_as_valkey_write_them),
        cmocka_unit_test(bad_lists_are_refused),
        cmocka_unit_test(damaged_lists_never_break_anything),
        cmocka_unit_test(elements_that_are_not_canonical_are_encoded_anew),
        RANDOM_TEST(strings_are_read_as_they_were_written),
        RANDOM_TEST(lists_are_read_as_they_were_written),
        RANDOM_TEST(compressed_nodes_stay_as_they_are),
        RANDOM_TEST(elements_of_disputed_back_lengths_are_written_as_plain_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
