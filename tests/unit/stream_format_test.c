/* Streams in files: every form that there has been is read, ours is one that others read, and what
 * is wrong is refused. */
#include "base/hash/hash.h"
#include "types/stream.h"
#include "unit/format_checks.h"

static sds append_id(sds out, struct stream_id id) {
    char text[STREAM_ID_TEXT_MAX];
    return sds_append(out, stream_id_text(text, id));
}

static sds append_pending(sds out, const struct pending_entry *entry) {
    out = append_id(sds_append_cstr(out, " "), entry->id);
    return sds_append_format(out, " at %lld times %llu", (long long)entry->delivered_ms,
                             (unsigned long long)entry->deliveries);
}

/* " nobody: 1-1 at 7 times 1", if nobody has an entry. */
static sds describe_nobody(sds out, const struct consumer_group *group) {
    struct pending_iter iter;
    struct pending_entry entry;
    bool is_first = true;
    pending_iter_start(&iter, &group->pending, STREAM_ID_MIN);
    while (pending_iter_next(&iter, &entry)) {
        if (entry.consumer != CONSUMER_NOBODY) continue;
        if (is_first) out = sds_append_cstr(out, " nobody:");
        is_first = false;
        out = append_pending(out, &entry);
    }
    return out;
}

/* "; 100 s 50 iids added 3 duplicates 1: p i=1-1 j=2-1" */
static sds describe_producers(sds out, const struct producers *producers) {
    out = sds_append_format(
        out, "; %u s %u iids added %llu duplicates %llu:", producers->limits.duration_s,
        producers->limits.iids, (unsigned long long)producers->added,
        (unsigned long long)producers->duplicates);
    for (size_t p = 0; p < producers->table.count; p++) {
        const struct producer *producer = producers_at(producers, p);
        out = sds_append(sds_append_cstr(out, " "), producer->name);
        for (uint32_t i = 0; i < producer->count; i++) {
            out = sds_append(sds_append_cstr(out, " "), producer_iid(producer, i));
            out = append_id(sds_append_cstr(out, "="), producer_id(producer, i));
        }
    }
    return out;
}

/* "; group g last 1-1 read 1: c seen 5 active 6: 1-1 at 7 times 1" */
static sds describe_group(sds out, const struct consumer_group *group) {
    out = sds_append(sds_append_cstr(out, "; group "), group->name);
    out = append_id(sds_append_cstr(out, " last "), group->last_id);
    out = sds_append_format(out, " read %lld:", (long long)group->entries_read);
    for (size_t i = 0; i < group->consumers.count; i++) {
        const struct consumer *consumer = consumer_group_at(group, i);
        struct pending_iter iter;
        struct pending_entry entry;
        out = sds_append(sds_append_cstr(out, " "), consumer->name);
        out = sds_append_format(out, " seen %lld active %lld:", (long long)consumer->seen_ms,
                                (long long)consumer->active_ms);
        pending_iter_start(&iter, &consumer->ids, STREAM_ID_MIN);
        while (pending_iter_next(&iter, &entry)) {
            assert_true(pendinglist_find(&group->pending, entry.id, &entry));
            out = append_pending(out, &entry);
        }
    }
    return describe_nobody(out, group);
}

/* "1-1 a=b; 2-1 c=d e=f; last 3-1 deleted 2-2 added 4" */
static sds describe(const struct entry *entry) {
    struct stream_facts facts = stream_facts(entry);
    struct stream_iter iter;
    struct stream_entry one;
    struct stream_pair pair;
    sds out = sds_new(SLICE(""));
    streamlog_iter_start(&iter, stream_log(entry), STREAM_ID_MIN, STREAM_ID_MAX, false);
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
    out = sds_append_format(out, " added %llu", (unsigned long long)facts.added);
    for (size_t i = 0; i < consumer_groups_count(stream_groups(entry)); i++)
        out = describe_group(out, consumer_groups_at(stream_groups(entry), i));
    if (stream_producers(entry)) out = describe_producers(out, stream_producers(entry));
    return out;
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
    /* Redis 8.6 */
    {SLICE("\x1A\x01\x10\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01--"
           "\x00\x00\x00\x11\x00\x02\x01\x00\x01\x01\x01\x81\x61\x02\x00\x01\x02\x01\x00"
           "\x01\x00\x01\x01\x01\x04\x01\x00\x01\x01\x01\xDF\xFF\x02\x01\x01\x81\x62\x02"
           "\x81x\x02\x06\x01\xFF\x02\x02\x00\x01\x01\x00\x00\x02\x01\x01g\x02\x00\x02\x02"
           "\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00h\xE5\xCF"
           "\x8B\x01\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00"
           "\x00\x00\x00h\xE5\xCF\x8B\x01\x00\x00\x03\x01\x01\x63OL\xF9\x18\xA2\x01\x00\x00"
           "OL\xF9\x18\xA2\x01\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00"
           "\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00"
           "\x00\x80\x00\x01Q\x80\x07\x02\x01p\x02\x01i\x01\x01\xC0\x0C\x02\x00\x01q\x01"
           "\x01i\x02\x00\x03\x00\x0D\x00\xC2\x12s&$\xF1Z "),
     "1-1 a=1; 2-0 b=x; last 2-0 deleted 0-0 added 2; group g last 2-0 read 2: c seen "
     "1795715320911 active 1795715320911: 1-1 at 1700000000000 times 3 2-0 at 1700000000000 times "
     "3; "
     "86400 s 7 iids added 3 duplicates 0: p i=1-1 12=2-0 q i=2-0",
     "8e38512a7504a2449c550f002cdd6fc1c0e52f34"},
    /* Redis 8.10 */
    {SLICE("\x1B\x01\x10\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01--"
           "\x00\x00\x00\x11\x00\x02\x01\x00\x01\x01\x01\x81\x61\x02\x00\x01\x02\x01\x00"
           "\x01\x00\x01\x01\x01\x04\x01\x00\x01\x01\x01\xDF\xFF\x02\x01\x01\x81\x62\x02"
           "\x81x\x02\x06\x01\xFF\x02\x02\x00\x01\x01\x00\x00\x02\x01\x01g\x02\x00\x02\x02"
           "\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00h\xE5\xCF"
           "\x8B\x01\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00"
           "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x01\x01\x63QL\xF9\x18\xA2\x01\x00"
           "\x00QL\xF9\x18\xA2\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00"
           "\x00\x00\x00\x00\x01\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00"
           "\x00\x00\x00\x80\x00\x01Q\x80\x07\x02\x01p\x00\x01q\x00\x03\x00\x0F\x00\xD1\x18"
           "\x9B\xF2\x45\x93\x38\x9D"),
     "1-1 a=1; 2-0 b=x; last 2-0 deleted 0-0 added 2; group g last 2-0 read 2: c seen "
     "1795715320913 active 1795715320913: 1-1 at 1700000000000 times 3 nobody: 2-0 at 0 times 3; "
     "86400 s 7 iids added 3 duplicates 0:",
     "8e38512a7504a2449c550f002cdd6fc1c0e52f34"},
};

enum { PAYLOADS = sizeof(payloads) / sizeof(*payloads) };

/* The digests are those of the servers, which leave groups out. */
static void payloads_of_other_servers_are_read(void **state) {
    (void)state;
    for (size_t i = 0; i < PAYLOADS; i++) {
        struct entry *entry = read_payload(payloads[i].payload);
        assert_is(entry, payloads[i].value);
        struct consumer_groups *groups = stream_groups(entry);
        while (consumer_groups_count(groups) > 0)
            consumer_groups_remove(groups, stream_pieces(entry), consumer_groups_at(groups, 0));
        assert_digest(entry, payloads[i].digest);
        value_free(entry);
    }
}

static void what_is_written_is_read_again(void **state) {
    (void)state;
    for (size_t i = 0; i < PAYLOADS; i++) {
        struct entry *entry = read_payload(payloads[i].payload);
        sds payload = dump_new(entry, true);
        assert_int_equal(payload[0],
                         stream_producers(entry) ? RDB_STREAM_LISTPACKS_4 : RDB_STREAM_LISTPACKS_2);
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

/* --- Groups --- */

#define TIME(byte)     byte "\x00\x00\x00\x00\x00\x00\x00"
#define ID(byte)       BE(byte) BE("\x01") /* byte-1 */
#define PENDING(id)    id TIME("\x07") "\x03"
#define NO_PRODUCERS   "\x40\x64\x40\x64\x00\x00\x00"
#define NEVER          "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"
#define STREAM         "\x01" BASE NODE "\x01\x05\x01\x05\x01\x00\x00\x01"
#define GROUP(name)    "\x01" name "\x05\x01\x01" /* last 5-1, read 1 */
#define CONSUMER(name) "\x01" name TIME("\x08") TIME("\x09")
#define NOBODY         "\x00" TIME("\x00") NEVER

/* A group g, with 5-1 pending, which the consumer c has. */
#define GOOD_GROUP GROUP("g") "\x01" PENDING(ID("\x05")) "\x01" CONSUMER("c") "\x01" ID("\x05")

static void groups_are_read_in_every_form(void **state) {
    (void)state;
    assert_reads(
        RDB_STREAM_LISTPACKS,
        SLICE("\x01" BASE NODE "\x01\x05\x01\x01\x01g\x05\x01\x01" PENDING(
            ID("\x05")) "\x01\x01"
                        "c" TIME("\x08") "\x01" ID("\x05")),
        "5-1 a=b; last 5-1 deleted 0-0 added 1; group g last 5-1 read 1: c seen 8 active 8: 5-1 "
        "at 7 times 3");
    assert_reads(RDB_STREAM_LISTPACKS_2,
                 SLICE(STREAM "\x01" GROUP("g") "\x01" PENDING(
                     ID("\x05")) "\x01\x01"
                                 "c" TIME("\x08") "\x01" ID("\x05")),
                 "5-1 a=b; last 5-1 deleted 0-0 added 1; group g last 5-1 read 1: c seen 8 active "
                 "8: 5-1 at 7 "
                 "times 3");
    assert_reads(RDB_STREAM_LISTPACKS_3, SLICE(STREAM "\x01" GOOD_GROUP),
                 "5-1 a=b; last 5-1 deleted 0-0 added 1; group g last 5-1 read 1: c seen 8 active "
                 "9: 5-1 at 7 "
                 "times 3");
    assert_reads(RDB_STREAM_LISTPACKS_3,
                 SLICE(STREAM "\x02" GOOD_GROUP "\x01"
                              "f\x05\x01\x81" NEVER "\x00\x01\x01"
                              "d" TIME("\x08") NEVER "\x00"),
                 "5-1 a=b; last 5-1 deleted 0-0 added 1; group f last 5-1 read -1: d seen 8 active "
                 "-1:; group "
                 "g last 5-1 read 1: c seen 8 active 9: 5-1 at 7 times 3");
}

/* Redis writes names in their order, others need not. */
static void names_are_read_in_any_order(void **state) {
    (void)state;
    assert_reads(
        RDB_STREAM_LISTPACKS_3,
        SLICE(STREAM "\x03" GROUP("h") "\x00\x00" GROUP("g") "\x00\x03" CONSUMER(
            "c") "\x00" CONSUMER("a") "\x00" CONSUMER("b") "\x00" GROUP("f") "\x00\x00"),
        "5-1 a=b; last 5-1 deleted 0-0 added 1; group f last 5-1 read 1:; group g last 5-1 "
        "read 1: a seen 8 active 9: b seen 8 active 9: c seen 8 active 9:; group h last "
        "5-1 read 1:");
}

static void groups_are_written_so_that_nothing_is_lost(void **state) {
    (void)state;
    static const struct {
        struct slice bytes;
        char type;
    } forms[] = {
        {SLICE(STREAM "\x01" GOOD_GROUP), RDB_STREAM_LISTPACKS_3},
        {SLICE(STREAM "\x01" GROUP("g") "\x00\x00"), RDB_STREAM_LISTPACKS_2},
    };
    for (size_t i = 0; i < 2; i++) {
        char error[RDB_READER_ERROR_MAX] = "";
        struct entry *entry = read_bytes(RDB_STREAM_LISTPACKS_3, forms[i].bytes, error);
        sds payload = dump_new(entry, false), expected = describe(entry);
        assert_int_equal(payload[0], forms[i].type);
        struct entry *again = read_payload(sds_slice(payload));
        assert_is(again, expected);
        value_free(entry);
        value_free(again);
        sds_free(payload);
        sds_free(expected);
    }
}

static void entries_that_nobody_has_are_read(void **state) {
    (void)state;
    assert_reads(RDB_STREAM_LISTPACKS_5,
                 SLICE(STREAM "\x01" GROUP("g") "\x01" PENDING(ID("\x05")) "\x01" CONSUMER(
                     "c") "\x00\x01" ID("\x05") NO_PRODUCERS),
                 "5-1 a=b; last 5-1 deleted 0-0 added 1; group g last 5-1 read 1: c seen 8 active "
                 "9: nobody: 5-1 at 7 times 3");
    assert_refused(
        RDB_STREAM_LISTPACKS_5,
        SLICE(STREAM "\x01" GROUP("g") "\x01" PENDING(ID("\x05")) "\x00\x00" NO_PRODUCERS),
        "a consumer group of a stream has a pending entry that no consumer "
        "has" RDB_INTEGRITY);
    assert_refused(RDB_STREAM_LISTPACKS_5,
                   SLICE(STREAM "\x01" GOOD_GROUP "\x01" ID("\x05") NO_PRODUCERS),
                   "a consumer group of a stream has a pending id of two "
                   "consumers" RDB_INTEGRITY);
}

/* What follows the groups, of which there are none. */
#define ALONE "\x01" BASE NODE "\x01\x05\x01\x05\x01\x00\x00\x01\x00"

static void producers_are_read(void **state) {
    (void)state;
    assert_reads(RDB_STREAM_LISTPACKS_4, SLICE(ALONE NO_PRODUCERS),
                 "5-1 a=b; last 5-1 deleted 0-0 added 1");
    assert_reads(RDB_STREAM_LISTPACKS_4, SLICE(ALONE "\x05\x01\x00\x09\x02"),
                 "5-1 a=b; last 5-1 deleted 0-0 added 1; 5 s 1 iids added 9 duplicates 2:");
    assert_reads(RDB_STREAM_LISTPACKS_5,
                 SLICE(ALONE "\x05\x01\x01\x01p\x02\x01i\x05\x01\x01j\x06\x02\x02\x00"),
                 "5-1 a=b; last 5-1 deleted 0-0 added 1; 5 s 1 iids added 2 duplicates 0: p j=6-2");
}

static void bad_producers_are_refused(void **state) {
    (void)state;
    static const struct {
        struct slice bytes;
        const char *what;
    } wrong[] = {
        {SLICE(ALONE "\x00\x01\x00\x00\x00"), "a limit of producers out of range"},
        {SLICE(ALONE "\x80\x00\x01\x51\x81\x01\x00\x00\x00"), "a limit of producers out of range"},
        {SLICE(ALONE "\x01\x00\x00\x00\x00"), "a limit of producers out of range"},
        {SLICE(ALONE "\x01\x67\x11\x00\x00\x00"), "a limit of producers out of range"},
        {SLICE(ALONE "\x01\x05\x01\x00\x00\x00\x00"), "a producer without a name"},
        {SLICE(ALONE "\x01\x05\x02\x01p\x01\x01i\x05\x01\x01p\x00\x00\x00"), "a producer twice"},
        {SLICE(ALONE "\x01\x05\x01\x01p\x01\x00\x05\x01\x00\x00"), "an empty iid"},
        {SLICE(ALONE "\x01\x05\x01\x01p\x02\x01i\x05\x01\x01i\x06\x01\x00\x00"), "an iid twice"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        sds error = sds_append_cstr(sds_new(SLICE("a stream has ")), wrong[i].what);
        error = sds_append_cstr(error, RDB_INTEGRITY);
        assert_refused(RDB_STREAM_LISTPACKS_4, wrong[i].bytes, error);
        sds_free(error);
    }
}

static void assert_bad_groups(struct slice groups, const char *what) {
    sds bytes = sds_append(sds_new(SLICE(STREAM)), groups);
    sds error = sds_append_cstr(sds_new(SLICE("a consumer group of a stream has ")), what);
    error = sds_append_cstr(error, RDB_INTEGRITY);
    assert_refused(RDB_STREAM_LISTPACKS_3, sds_slice(bytes), error);
    sds_free(bytes);
    sds_free(error);
}

static void bad_groups_are_refused(void **state) {
    (void)state;
    assert_bad_groups(
        SLICE("\x01" GROUP("g") "\x01" PENDING(ID("\x05")) "\x01" CONSUMER("c") "\x01" ID("\x06")),
        "a consumer with an id that is not pending");
    assert_bad_groups(SLICE("\x01" GROUP("g") "\x01" PENDING(ID("\x05")) "\x02" CONSUMER(
                          "c") "\x01" ID("\x05") CONSUMER("d") "\x01" ID("\x05")),
                      "a pending id of two consumers");
    assert_bad_groups(SLICE("\x01" GROUP("g") "\x01" PENDING(ID("\x05")) "\x01" CONSUMER(
                          "c") "\x02" ID("\x05") ID("\x05")),
                      "a pending id of two consumers");
    assert_bad_groups(
        SLICE("\x01" GROUP("g") "\x01" PENDING(ID("\x05")) "\x01" CONSUMER("c") "\x00"),
        "a pending entry that no consumer has");
    assert_bad_groups(SLICE("\x01" GROUP("g") "\x01" PENDING(ID("\x05")) "\x00"),
                      "a pending entry that no consumer has");
    assert_bad_groups(
        SLICE("\x01" GROUP("g") "\x02" PENDING(ID("\x05")) PENDING(ID("\x05")) "\x00"),
        "a pending id twice");
    assert_bad_groups(SLICE("\x01" GROUP("g") "\x01" PENDING(BE("\x00") BE("\x00")) "\x00"),
                      "a pending id 0-0");
    assert_bad_groups(SLICE("\x01" GROUP("g") "\x00\x02" CONSUMER("c") "\x00" CONSUMER("c") "\x00"),
                      "a consumer twice");
    assert_bad_groups(SLICE("\x01" GROUP("g") "\x00\x03" CONSUMER("c") "\x00" CONSUMER(
                          "a") "\x00" CONSUMER("c") "\x00"),
                      "a consumer twice");
    assert_bad_groups(SLICE("\x01" GROUP("g") "\x02" PENDING(ID("\x05")) PENDING(
                          ID("\x06")) "\x02" NOBODY "\x01" ID("\x05") NOBODY "\x01" ID("\x06")),
                      "a consumer twice");
    assert_refused(RDB_STREAM_LISTPACKS_3, SLICE(STREAM "\x02" GOOD_GROUP GOOD_GROUP),
                   "a stream has a consumer group twice" RDB_INTEGRITY);
    assert_refused(RDB_STREAM_LISTPACKS_3,
                   SLICE(STREAM "\x03" GOOD_GROUP GROUP("a") "\x00\x00" GOOD_GROUP),
                   "a stream has a consumer group twice" RDB_INTEGRITY);
    assert_refused(RDB_STREAM_LISTPACKS_3, SLICE(STREAM "\x01" GROUP("g") "\x81" NEVER),
                   "unexpected end of the data (Short read or OOM loading DB)");
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
        format_test(groups_are_read_in_every_form),
        format_test(names_are_read_in_any_order),
        format_test(groups_are_written_so_that_nothing_is_lost),
        format_test(bad_groups_are_refused),
        format_test(entries_that_nobody_has_are_read),
        format_test(producers_are_read),
        format_test(bad_producers_are_refused),
        format_test(bad_streams_are_refused),
        format_test(bad_nodes_are_refused),
        format_test(damaged_payloads_never_break_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
