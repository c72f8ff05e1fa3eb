/* Sets and hashes in files: every form that there has been is read, ours are those that others
 * read, and what is wrong is refused. */
#include "base/hash/hash.h"
#include "types/hash.h"
#include "types/set.h"
#include "unit/format_checks.h"

#include <stdlib.h>

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The members or fields in the order of their bytes: "a b", "a=1 b=hello@2000". */
static sds describe(const struct entry *entry) {
    sds texts[200], all = sds_new(SLICE(""));
    size_t count = 0;
    if (entry_type(entry) == VALUE_SET) {
        struct set_iter iter;
        struct slice member;
        set_iter_start(&iter, entry);
        while (set_iter_next(&iter, &member)) texts[count++] = sds_new(member);
    } else {
        struct hash_iter iter;
        struct record record;
        hash_iter_start(&iter, entry, HASH_ALL);
        while (hash_iter_next(&iter, &record)) {
            sds text = sds_append_cstr(sds_new(record.field), "=");
            text = sds_append(text, record.value);
            if (record.expiry_ms != RECORD_NEVER)
                text = sds_append_format(text, "@%lld", (long long)record.expiry_ms);
            texts[count++] = text;
        }
    }
    qsort(texts, count, sizeof(*texts), compare_texts);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) all = sds_append_cstr(all, " ");
        all = sds_append(all, sds_slice(texts[i]));
        sds_free(texts[i]);
    }
    return all;
}

static void assert_is(const struct entry *entry, const char *expected, const char *encoding) {
    sds found = describe(entry);
    assert_string_equal(found, expected);
    assert_string_equal(value_encoding_name(entry), encoding);
    sds_free(found);
}

static void assert_reads(unsigned type, struct slice bytes, const char *expected,
                         const char *encoding) {
    char error[RDB_READER_ERROR_MAX] = "";
    struct entry *entry = read_bytes(type, bytes, error);
    assert_string_equal(error, "");
    assert_is(entry, expected, encoding);
    value_free(entry);
}

/* --- Payloads of other servers --- */

#define EXPIRES "\x00 J\xA9\xD1\x01\x00\x00" /* 2000000000000 */

static const struct {
    struct slice payload;
    const char *value;
    const char *encoding;
    const char *digest; /* what DEBUG DIGEST-VALUE answers there */
} payloads[] = {
    /* Redis 7.0 */
    {SLICE("\x10\x16\x16\x00\x00\x00\x04\x00\x81\x61\x02\x01\x01\x81\x62\x02\x85hello\x06\xFF\x0A"
           "\x00\xE8\xC5\xFE\x99\xEE\x07\x95]"),
     "a=1 b=hello", "listpack", "c8c107ce0a38c9173267c96fa732f89c6a52d977"},
    {SLICE("\x04\x02\x01\x62\x05hello\x01\x61\xC0\x01\x0A\x00\xC1\x5C\xEA\x44\xE6Rb\x05"),
     "a=1 b=hello", "listpack", "c8c107ce0a38c9173267c96fa732f89c6a52d977"},
    {SLICE("\x02\x03\x01\x62\xC0\x11\x01\x61\x0A\x00\x34\x90\xD7\xB6\xBBR&7"), "17 a b", "listpack",
     "da8febe0eef810e442dfab4099e326584070379a"},
    {SLICE("\x0B\x14\x04\x00\x00\x00\x03\x00\x00\x00\xFE\xFF\xFF\xFF\x01\x00\x00\x00p\x11\x01\x00"
           "\x0A\x00\x30R}\xF8\xCC\x31\x1F;"),
     "-2 1 70000", "intset", "4e4dbbfb8df8c7eeb0fc04e3a47096b848355db6"},
    /* Redis 8.0 */
    {SLICE("\x14\x0F\x0F\x00\x00\x00\x03\x00\x81\x61\x02\x81\x62\x02\x11\x01\xFF\x0C\x00\xD1v\x83"
           "\xA1\x9C\x00\xDF\x89"),
     "17 a b", "listpack", "da8febe0eef810e442dfab4099e326584070379a"},
    {SLICE("\x18" EXPIRES "\x02\x00\x01\x62\x05hello\x01\x01\x61\xC0\x01\x0C\x00\x87\xB9\xAAJ\xBC"
           "\x35\xE4\xEC"),
     "a=1@2000000000000 b=hello", "listpackex", "6433924c9df88c8a2983bc9d352197f016bfc345"},
    {SLICE("\x19" EXPIRES "\x22\x22\x00\x00\x00\x06\x00\x81\x61\x02\x01\x01\xF4" EXPIRES
           "\x09\x81\x62\x02\x85hello\x06\x00\x01\xFF\x0C\x00\x30|\x9E \xB9i\x00\xF7"),
     "a=1@2000000000000 b=hello", "listpackex", "6433924c9df88c8a2983bc9d352197f016bfc345"},
    /* Valkey 9, whose digest leaves expiries out */
    {SLICE("\x16\x02\x01\x61\xC0\x01" EXPIRES "\x01\x62\x05hello\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFFP"
           "\x00\xCF#\xB2\xCA\xF7\x94\x01\x87"),
     "a=1@2000000000000 b=hello", "listpackex", "6433924c9df88c8a2983bc9d352197f016bfc345"},
};

static void payloads_of_other_servers_are_read(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof(payloads) / sizeof(*payloads); i++) {
        struct entry *entry = read_payload(payloads[i].payload);
        assert_is(entry, payloads[i].value, payloads[i].encoding);
        assert_digest(entry, payloads[i].digest);
        value_free(entry);
    }
}

/* --- What is written --- */

static void assert_writes(const struct entry *entry, struct slice expected) {
    sds payload = dump_new(entry, true);
    assert_int_equal(sds_len(payload), expected.len + RDB_PAYLOAD_FOOTER_SIZE);
    assert_memory_equal(payload, expected.ptr, expected.len);
    sds_free(payload);
}

static void what_is_written_is_what_redis_7_reads(void **state) {
    (void)state;
    char error[RDB_READER_ERROR_MAX];
    struct entry *entry = read_bytes(RDB_SET, SLICE("\x02\x01x\xC0\x05"), error);
    assert_writes(entry, SLICE("\x02\x02\x01x\xC0\x05"));
    value_free(entry);
    entry = read_bytes(RDB_SET, SLICE("\x02\xC0\x07\xC0\x05"), error);
    assert_writes(entry, SLICE("\x0B\x0C\x02\x00\x00\x00\x02\x00\x00\x00\x05\x00\x07\x00"));
    value_free(entry);
    entry = read_bytes(RDB_HASH, SLICE("\x02\x01x\xC0\x05\x01y\x01z"), error);
    assert_writes(entry, SLICE("\x04\x02\x01x\xC0\x05\x01y\x01z"));
    value_free(entry);
    entry =
        read_bytes(RDB_HASH_METADATA, SLICE(EXPIRES "\x02\x00\x01x\xC0\x05\x01\x01y\x01z"), error);
    assert_writes(entry, SLICE("\x18" EXPIRES "\x02\x01\x01y\x01z\x00\x01x\xC0\x05"));
    value_free(entry);
    entry =
        read_bytes(RDB_HASH_METADATA, SLICE(EXPIRES "\x02\x04\x01x\xC0\x05\x01\x01y\x01z"), error);
    assert_writes(entry, SLICE("\x18" EXPIRES "\x02\x01\x01y\x01z\x04\x01x\xC0\x05"));
    value_free(entry);
}

/* As a packed value and as a table, and with texts out-of-line. */
static void values_come_back(void **state) {
    (void)state;
    static char long_text[1000];
    memset(long_text, 'x', sizeof(long_text));
    for (size_t limit = 0; limit < 400; limit += 399) {
        options.limits.hash = (struct listpack_limits){limit, 2000};
        struct entry *entry = hash_load_new(SLICE("key"), 1, &options.limits.hash);
        for (int i = 0; i < 150; i++) {
            char field[20];
            snprintf(field, sizeof(field), "%d", i);
            struct record record = {slice_of_cstr(field), slice_make(long_text, (size_t)i * 6),
                                    i % 3 ? RECORD_NEVER : 5000 + i};
            assert_true(hash_load_add(&entry, &record, &options.limits.hash));
        }
        sds payload = dump_new(entry, true), before = describe(entry);
        struct entry *back = read_payload(sds_slice(payload));
        assert_is(back, before, limit ? "listpackex" : "hashtable");
        sds_free(payload);
        sds_free(before);
        value_free(entry);
        value_free(back);
    }
}

/* --- Other forms --- */

#define ZIPLIST_A_5                                                                                \
    "\x10\x00\x00\x00\x0D\x00\x00\x00\x02\x00\x00\x01"                                             \
    "a"                                                                                            \
    "\x03\xF6\xFF"
#define LISTPACK_A_5                                                                               \
    "\x0C\x00\x00\x00\x02\x00\x81"                                                                 \
    "a"                                                                                            \
    "\x02\x05\x01\xFF"

static void every_form_of_hashes_is_read(void **state) {
    (void)state;
    assert_reads(RDB_HASH_ZIPLIST, SLICE("\x10" ZIPLIST_A_5), "a=5", "listpack");
    assert_reads(RDB_HASH_LISTPACK, SLICE("\x0C" LISTPACK_A_5), "a=5", "listpack");
    assert_reads(RDB_HASH_LISTPACK_EX_PRE_GA,
                 SLICE("\x0F\x0F\x00\x00\x00\x03\x00\x81"
                       "a\x02\x05\x01\xC7\xD0\x02\xFF"),
                 "a=5@2000", "listpackex");
    assert_reads(RDB_HASH_ZIPMAP,
                 SLICE("\x11\x02\x01"
                       "a\x01\x00x\x02yz\x03\x02two..\xFF"),
                 "a=x yz=two", "listpack");
    assert_reads(RDB_HASH_ZIPMAP,
                 SLICE("\x0B\xFE\xFE\x01\x00\x00\x00"
                       "a\x01\x00x\xFF"),
                 "a=x", "listpack");
    assert_reads(RDB_HASH, SLICE("\x01\x00\x00"), "=", "listpack");
}

static void late_expiries_are_read_as_the_latest(void **state) {
    (void)state;
    static const char latest[] = "x=y@70368744177663";
    assert_reads(RDB_HASH_2, SLICE("\x01\x01x\x01y\xFF\xFF\xFF\xFF\xFF\x3F\x00\x00"), latest,
                 "listpackex");
    assert_reads(RDB_HASH_2, SLICE("\x01\x01x\x01y\x00\x00\x00\x00\x00\x40\x00\x00"), latest,
                 "listpackex");
    assert_reads(RDB_HASH_2, SLICE("\x01\x01x\x01y\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F"), latest,
                 "listpackex");
    assert_reads(RDB_HASH_METADATA, SLICE("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F\x01\x01\x01x\x01y"),
                 latest, "listpackex");
    assert_reads(RDB_HASH_LISTPACK_EX_PRE_GA,
                 SLICE("\x17\x17\x00\x00\x00\x03\x00\x81x\x02\x81y\x02\xF4\xFF\xFF\xFF\xFF\xFF\xFF"
                       "\xFF\x7F\x09\xFF"),
                 latest, "listpackex");
}

static void limits_decide_on_the_encoding(void **state) {
    (void)state;
    options.limits.hash.listpack_entries = 1;
    options.limits.set = (struct set_limits){1, 1, 64};
    assert_reads(RDB_HASH, SLICE("\x02\x01x\xC0\x05\x01y\x01z"), "x=5 y=z", "hashtable");
    assert_reads(RDB_SET, SLICE("\x02\x01x\xC0\x05"), "5 x", "hashtable");
    assert_reads(RDB_SET_INTSET, SLICE("\x0C\x02\x00\x00\x00\x02\x00\x00\x00\x05\x00\x07\x00"),
                 "5 7", "hashtable");
    options.limits.hash = (struct listpack_limits){512, 0};
    assert_reads(RDB_HASH, SLICE("\x01\x01x\xC0\x05"), "x=5", "hashtable");
}

/* --- What is wrong --- */

static void bad_sets_are_refused(void **state) {
    (void)state;
    assert_refused(RDB_SET, SLICE("\x02\x01x\x01x"), "a set has a member twice");
    assert_refused(RDB_SET,
                   SLICE("\x02\xC0\x05\x01"
                         "5"),
                   "a set has a member twice");
    assert_refused(RDB_SET, SLICE("\x80\xFF\xFF\xFF\xFF\x01x"),
                   "unexpected end of the data (Short read or OOM loading DB)");
    assert_refused(RDB_SET_LISTPACK, SLICE("\x0B\x0B\x00\x00\x00\x02\x00\x05\x01\x05\x01\xFF"),
                   "a set has a member twice");
    static const struct slice intsets[] = {
        SLICE("\x08\x02\x00\x00\x00\x00\x00\x00\x00"),                 /* none */
        SLICE("\x0A\x03\x00\x00\x00\x01\x00\x00\x00\x05\x00"),         /* a width of 3 */
        SLICE("\x0A\x02\x00\x00\x00\x02\x00\x00\x00\x05\x00"),         /* one is missing */
        SLICE("\x0C\x02\x00\x00\x00\x02\x00\x00\x00\x05\x00\x05\x00"), /* twice */
        SLICE("\x0C\x02\x00\x00\x00\x02\x00\x00\x00\x07\x00\x05\x00"), /* not sorted */
        SLICE("\x03int"),
    };
    for (size_t i = 0; i < sizeof(intsets) / sizeof(*intsets); i++)
        assert_refused(RDB_SET_INTSET, intsets[i], "malformed intset" RDB_INTEGRITY);
}

static void bad_hashes_are_refused(void **state) {
    (void)state;
    static const char no_time[] = "a field of a hash expires at no valid time";
    assert_refused(RDB_HASH, SLICE("\x02\x01x\x01y\x01x\x01z"), "a hash has a field twice");
    assert_refused(RDB_HASH, SLICE("\x02\x01x\x01y\x01z"),
                   "unexpected end of the data (Short read or OOM loading DB)");
    assert_refused(RDB_HASH_LISTPACK, SLICE("\x09\x09\x00\x00\x00\x01\x00\x05\x01\xFF"),
                   "a hash has a field without a value" RDB_INTEGRITY);
    assert_refused(RDB_HASH_LISTPACK_EX, SLICE(EXPIRES "\x0C" LISTPACK_A_5),
                   "a hash has a field without a value" RDB_INTEGRITY);
    assert_refused(RDB_HASH_LISTPACK_EX_PRE_GA,
                   SLICE("\x0F\x0F\x00\x00\x00\x03\x00\x05\x01\x05\x01\x82xy\x03\xFF"), no_time);
    assert_refused(RDB_HASH_METADATA, SLICE("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F\x01\x02\x01x\x01y"),
                   no_time);
    assert_refused(RDB_HASH_METADATA, SLICE("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\x01\x01x\x01y"),
                   no_time);
    assert_refused(RDB_HASH_2, SLICE("\x01\x01x\x01y\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), no_time);
    assert_refused(RDB_HASH_ZIPMAP, SLICE("\x01\xFF"), "malformed zipmap" RDB_INTEGRITY);
    assert_refused(RDB_HASH_ZIPMAP,
                   SLICE("\x06\x01\x01"
                         "a\x02\x00\xFF"),
                   "malformed zipmap" RDB_INTEGRITY);
    assert_refused(RDB_HASH_ZIPMAP,
                   SLICE("\x07\x02\x01"
                         "a\x01\x00x\xFF"),
                   "malformed zipmap" RDB_INTEGRITY);
    assert_refused(RDB_HASH_ZIPMAP,
                   SLICE("\x04\x01\x01"
                         "a\xFF"),
                   "malformed zipmap" RDB_INTEGRITY);
}

static void damaged_payloads_never_break_anything(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof(payloads) / sizeof(*payloads); i++)
        assert_damage_is_harmless(payloads[i].payload);
}

int main(void) {
    hash_init();
    const struct CMUnitTest tests[] = {
        format_test(payloads_of_other_servers_are_read),
        format_test(what_is_written_is_what_redis_7_reads),
        format_test(values_come_back),
        format_test(every_form_of_hashes_is_read),
        format_test(late_expiries_are_read_as_the_latest),
        format_test(limits_decide_on_the_encoding),
        format_test(bad_sets_are_refused),
        format_test(bad_hashes_are_refused),
        format_test(damaged_payloads_never_break_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
