/* Streams in files: every form that there has been is read, ours is one that others read, and what
 * is wrong is refused. */
#include "base/keyed_hash.h"
#include "types/stream.h"
#include "unit/format_checks.h"

static sds append_id(sds out, struct stream_id id) {
    char text[STREAM_ID_TEXT_MAX];
    return sds_append(out, stream_id_text(text, id));
}

/* "1-1 a=b; 2-1 c=d e=f; last 3-1 deleted 2-2 added 4" */
static sds describe(const struct entry *entry) {
    struct stream_facts facts = stream_facts(entry);
    struct stream_iter iter;
    struct stream_entry one;
    struct stream_pair pair;
    sds out = sds_new(SLICE(""));
    stream_iter_start(&iter, entry, STREAM_ID_MIN, STREAM_ID_MAX, false);
    while (streamlog_iter_next(&iter, &one)) {
        out = append_id(out, one.id);
        while (streamlog_next_pair(&one, &pair)) {
            out = sds_append(sds_append_cstr(out, " "), pair.field);
            out = sds_append(sds_append_cstr(out, "="), pair.value);
        }
        out = sds_append_cstr(out, "; ");
    }
    out = append_id(sds_append_cstr(out, "last "), facts.last_id);
    out = append_id(sds_append_cstr(out, " deleted "), facts.max_deleted_id);
    return sds_append_format(out, " added %llu", (unsigned long long)facts.added);
}

static void assert_is(const struct entry *entry, const char *expected) {
    sds found = describe(entry);
    assert_string_equal(found, expected);
    assert_string_equal(value_encoding_name(entry), "stream");
    sds_free(found);
}

static void assert_reads(unsigned type, struct slice bytes, const char *expected) {
    char error[RDB_READER_ERROR_MAX] = "";
    struct entry *entry = read_bytes(type, bytes, error);
    assert_string_equal(error, "");
    assert_is(entry, expected);
    value_free(entry);
}

/* --- Payloads of other servers --- */

static const struct {
    struct slice payload;
    const char *value;
    const char *digest; /* what DEBUG DIGEST-VALUE answers there */
} payloads[] = {
    /* Redis 7.0 */
    {SLICE("\x13\x02\x10\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01@"
           "EE\x00\x00\x00\x18\x00\x02\x01\x01\x01\x01\x01\x81\x61\x02\x00\x01\x02\x01\x00\x01\x00"
           "\x01\x01\x01\x04\x01\x03\x01\x00\x01\x01\x01\x85hello\x06\x04\x01\x00\x01\x01\x01\xDF"
           "\xFF\x02\x02\x01\x81\x62\x02\x81x\x02\x82\x63\x63\x03\xF2\x90\xEE\xFE\x04\x08\x01\xFF"
           "\x10\x00\x00\x00\x00\x00\x00\x01,\x00\x00\x00\x00\x00\x00\x00\x05$$"
           "\x00\x00\x00\x0A\x00\x01\x01\x00\x01\x01\x01\x81\x61\x02\x00\x01\x02\x01\x00\x01\x00"
           "\x01\xF4\x00h\xE5\xCF\x8B\x01\x00\x00\x09\x04\x01\xFF\x03\x41-"
           "\x00\x01\x01\x01\x02\x04\x00\x0A\x00\x34r\xC8\x85\xF0QP\x18"),
     "1-1 a=1; 2-0 b=x cc=-70000; 300-5 a=1700000000000; last 301-0 deleted 1-2 added 4",
     "7bc1ef6e88a18c052eff980bc708e81dfa0c6eab"},
    {SLICE("\x13\x00\x00\x01\x01\x00\x00\x00\x00\x01\x00\x0A\x00\x87\xEF\xDF\x1A\xD1\xBDj@"),
     "last 1-1 deleted 0-0 added 1", "06bd01623de1d087bbd377851096317b1af476a2"},
    /* Redis 8.0 */
    {SLICE("\x15\x02\x10\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01@"
           "EE\x00\x00\x00\x18\x00\x02\x01\x01\x01\x01\x01\x81\x61\x02\x00\x01\x02\x01\x00\x01\x00"
           "\x01\x01\x01\x04\x01\x03\x01\x00\x01\x01\x01\x85hello\x06\x04\x01\x00\x01\x01\x01\xDF"
           "\xFF\x02\x02\x01\x81\x62\x02\x81x\x02\x82\x63\x63\x03\xF2\x90\xEE\xFE\x04\x08\x01\xFF"
           "\x10\x00\x00\x00\x00\x00\x00\x01,\x00\x00\x00\x00\x00\x00\x00\x05$$"
           "\x00\x00\x00\x0A\x00\x01\x01\x00\x01\x01\x01\x81\x61\x02\x00\x01\x02\x01\x00\x01\x00"
           "\x01\xF4\x00h\xE5\xCF\x8B\x01\x00\x00\x09\x04\x01\xFF\x03\x41-"
           "\x00\x01\x01\x01\x02\x04\x00\x0C\x00\xC6n\xE1\xD7\x14\x22\x8B\xB1"),
     "1-1 a=1; 2-0 b=x cc=-70000; 300-5 a=1700000000000; last 301-0 deleted 1-2 added 4",
     "7bc1ef6e88a18c052eff980bc708e81dfa0c6eab"},
    {SLICE("\x15\x00\x00\x01\x01\x00\x00\x00\x00\x01\x00\x0C\x00_n2\xCC\xE1\x61\x9A\x02"),
     "last 1-1 deleted 0-0 added 1", "06bd01623de1d087bbd377851096317b1af476a2"},
    /* Valkey 9.1 */
    {SLICE("\x15\x02\x10\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01@"
           "EE\x00\x00\x00\x18\x00\x02\x01\x01\x01\x01\x01\x81\x61\x02\x00\x01\x02\x01\x00\x01\x00"
           "\x01\x01\x01\x04\x01\x03\x01\x00\x01\x01\x01\x85hello\x06\x04\x01\x00\x01\x01\x01\xDF"
           "\xFF\x02\x02\x01\x81\x62\x02\x81x\x02\x82\x63\x63\x03\xF2\x90\xEE\xFE\x04\x08\x01\xFF"
           "\x10\x00\x00\x00\x00\x00\x00\x01,\x00\x00\x00\x00\x00\x00\x00\x05$$"
           "\x00\x00\x00\x0A\x00\x01\x01\x00\x01\x01\x01\x81\x61\x02\x00\x01\x02\x01\x00\x01\x00"
           "\x01\xF4\x00h\xE5\xCF\x8B\x01\x00\x00\x09\x04\x01\xFF\x03\x41-"
           "\x00\x01\x01\x01\x02\x04\x00P\x00\xC2\x32\x1C\x86pZr\x0C"),
     "1-1 a=1; 2-0 b=x cc=-70000; 300-5 a=1700000000000; last 301-0 deleted 1-2 added 4",
     "7bc1ef6e88a18c052eff980bc708e81dfa0c6eab"},
    {SLICE("\x15\x00\x00\x01\x01\x00\x00\x00\x00\x01\x00P\x00[2\xCF\x9D\x85\x19\x63\xBF"),
     "last 1-1 deleted 0-0 added 1", "06bd01623de1d087bbd377851096317b1af476a2"},
};

enum { PAYLOADS = sizeof(payloads) / sizeof(*payloads) };

static void payloads_of_other_servers_are_read(void **state) {
    (void)state;
    for (size_t i = 0; i < PAYLOADS; i++) {
        struct entry *entry = read_payload(payloads[i].payload);
        assert_is(entry, payloads[i].value);
        assert_digest(entry, payloads[i].digest);
        value_free(entry);
    }
}

static void what_is_written_is_read_again(void **state) {
    (void)state;
    for (size_t i = 0; i < PAYLOADS; i++) {
        struct entry *entry = read_payload(payloads[i].payload);
        sds payload = dump_new(entry, true);
        assert_int_equal(payload[0], RDB_STREAM_LISTPACKS_2);
        struct entry *again = read_payload(sds_slice(payload));
        assert_is(again, payloads[i].value);
        value_free(entry);
        value_free(again);
        sds_free(payload);
    }
}

/* --- Forms, by hand --- */

/* Two zero bytes and six more: a number in the base id. */
#define BE(byte) "\x00\x00\x00\x00\x00\x00\x00" byte
#define BASE     "\x10" BE("\x05") BE("\x01") /* 5-1 */

/* One entry 5-1 a=b: 29 bytes. */
#define NODE                                                                                       \
    "\x1D\x1D\x00\x00\x00\x0A\x00\x01\x01\x00\x01\x01\x01\x81"                                     \
    "a\x02\x00\x01\x02\x01\x00\x01\x00\x01\x81"                                                    \
    "b\x02\x04\x01\xFF"

static void every_form_is_read(void **state) {
    (void)state;
    assert_reads(RDB_STREAM_LISTPACKS, SLICE("\x01" BASE NODE "\x01\x06\x00\x00"),
                 "5-1 a=b; last 6-0 deleted 0-0 added 1");
    assert_reads(RDB_STREAM_LISTPACKS_2,
                 SLICE("\x01" BASE NODE "\x01\x06\x00\x05\x01\x04\x04\x03\x00"),
                 "5-1 a=b; last 6-0 deleted 4-4 added 3");
    assert_reads(RDB_STREAM_LISTPACKS_3, SLICE("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"),
                 "last 0-0 deleted 0-0 added 0");
}

static const char no_groups[] =
    "a stream has consumer groups, which are not supported (rdb-skip-unknown-types)";

/* One group "g" with one pending entry, of one consumer "c". */
#define PENDING "\x01" BE("\x05") BE("\x01")
#define EIGHT   "12345678"
#define GROUP(read)                                                                                \
    "\x01\x01g\x05\x01" read PENDING EIGHT "\x01\x01\x01"                                          \
    "c"

static void groups_are_an_error_or_left_out(void **state) {
    (void)state;
    static const struct {
        unsigned type;
        struct slice bytes;
    } forms[] = {
        {RDB_STREAM_LISTPACKS, SLICE("\x01" BASE NODE "\x01\x05\x01" GROUP("") EIGHT PENDING)},
        {RDB_STREAM_LISTPACKS_2,
         SLICE("\x01" BASE NODE "\x01\x05\x01\x05\x01\x00\x00\x01" GROUP("\x01") EIGHT PENDING)},
        {RDB_STREAM_LISTPACKS_3, SLICE("\x01" BASE NODE "\x01\x05\x01\x05\x01\x00\x00\x01" GROUP(
                                     "\x01") EIGHT EIGHT PENDING)},
    };
    for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
        bool lost = false;
        assert_refused(forms[i].type, forms[i].bytes, no_groups);
        options.lost_groups = &lost;
        assert_reads(forms[i].type, forms[i].bytes, "5-1 a=b; last 5-1 deleted 0-0 added 1");
        assert_true(lost);
        options.lost_groups = NULL;
    }
}

/* --- What is wrong --- */

#define REST "\x01\x05\x01\x05\x01\x00\x00\x01\x00"

static void bad_streams_are_refused(void **state) {
    (void)state;
    enum { TYPE = RDB_STREAM_LISTPACKS_2 };
    static const char malformed[] = "malformed node of a stream" RDB_INTEGRITY;
    static const char other_length[] = "a stream has another number of entries than stated";
    assert_refused(TYPE, SLICE(""), "unexpected end of the data (Short read or OOM loading DB)");
    assert_refused(TYPE, SLICE("\x01\x0F" BE("\x05") "\x00\x00\x00\x00\x00\x00\x01" NODE REST),
                   malformed);
    assert_refused(TYPE, SLICE("\x02" BASE NODE BASE NODE "\x02" REST),
                   "ids of a stream do not ascend");
    assert_refused(TYPE, SLICE("\x01\x10" BE("\x00") BE("\x00") NODE REST),
                   "ids of a stream do not ascend");
    assert_refused(TYPE, SLICE("\x01" BASE NODE "\x02\x05\x01\x05\x01\x00\x00\x02\x00"),
                   other_length);
    assert_refused(TYPE, SLICE("\x01" BASE NODE "\x01\x05\x01\x05\x01\x00\x00\x00\x00"),
                   other_length);
    assert_refused(TYPE, SLICE("\x01" BASE NODE "\x01\x05\x00\x05\x01\x00\x00\x01\x00"),
                   "an entry of a stream has an id behind its last one");
    assert_refused(TYPE, SLICE("\x01" BASE "\x07\x07\x00\x00\x00\x00\x00\xFF" REST),
                   "malformed node of a stream" RDB_INTEGRITY);
    assert_refused(TYPE, SLICE("\x01" BASE "\x05hello" REST), "malformed listpack" RDB_INTEGRITY);
}

/* Nodes in which one element is wrong: the position in NODE and the byte that it gets. */
static void bad_nodes_are_refused(void **state) {
    (void)state;
    static const struct {
        size_t at;
        char byte;
    } wrong[] = {
        {7, 0},   /* no entry */
        {7, 2},   /* one entry more */
        {9, 1},   /* a deleted one more */
        {11, 0},  /* no field */
        {11, 2},  /* a field more */
        {11, 99}, /* more fields than elements */
        {16, 1},  /* the master does not end */
        {18, 1},  /* a field of its own */
        {18, 4},  /* an unknown flag */
        {18, 3},  /* deleted */
        {27, 5},  /* the entry is longer */
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        char bytes[] = "\x01" BASE NODE REST, error[RDB_READER_ERROR_MAX] = "";
        bytes[1 + sizeof(BASE) - 1 + wrong[i].at] = wrong[i].byte;
        assert_null(
            read_bytes(RDB_STREAM_LISTPACKS_2, slice_make(bytes, sizeof(bytes) - 1), error));
        assert_string_equal(error, "malformed node of a stream" RDB_INTEGRITY);
    }
}

static void damaged_payloads_never_break_anything(void **state) {
    (void)state;
    for (size_t i = 0; i < PAYLOADS; i++) assert_damage_is_harmless(payloads[i].payload);
}

int main(void) {
    hash_init();
    const struct CMUnitTest tests[] = {
        format_test(payloads_of_other_servers_are_read),
        format_test(what_is_written_is_read_again),
        format_test(every_form_is_read),
        format_test(groups_are_an_error_or_left_out),
        format_test(bad_streams_are_refused),
        format_test(bad_nodes_are_refused),
        format_test(damaged_payloads_never_break_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
