/* Sorted sets in files: payloads that servers have made are read, ours come back, damaged ones are
 * refused. */
#include "base/hash/hash.h"
#include "base/text/number.h"
#include "persist/rdb_format.h"
#include "persist/type_format.h"
#include "types/value.h"
#include "types/zset.h"
#include "unit/rdb_io.h"
#include "unit/seed.h"
#include "unit/zset_model.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct rdb_load_options options = {.limits = {.zset = {128, 64}}};

/* Reads a value; when it is bad, its error is put into `error`. */
static struct entry *read_bytes(unsigned type, struct slice bytes, char *error) {
    struct rdb_reader reader;
    rdb_reader_start_memory(&reader, bytes, false);
    struct entry *entry = type_format_read(&reader, type, SLICE("key"), &options);
    if (entry)
        assert_true(rdb_reader_is_at_end(&reader) && value_check(entry));
    else
        snprintf(error, RDB_READER_ERROR_MAX, "%s", rdb_reader_error(&reader));
    rdb_reader_end(&reader);
    return entry;
}

static sds written(const struct entry *entry) {
    struct rdb_io io = rdb_io_new(NULL);
    struct rdb_writer writer;
    rdb_writer_start(&writer, rdb_io_sink(&io), false, false);
    type_format_write(&writer, entry);
    assert_true(rdb_writer_flush(&writer));
    rdb_writer_end(&writer);
    return io.bytes;
}

static void assert_digest(const struct entry *entry, const char *expected) {
    struct digest digest;
    uint8_t bytes[DIGEST_SIZE];
    assert_true(digest_start(&digest));
    type_format_digest_value(&digest, entry, bytes);
    digest_end(&digest);
    sds text = digest_append(sds_new(SLICE("")), bytes);
    assert_string_equal(text, expected);
    sds_free(text);
}

/* --- What other servers wrote: ZADD z 1.5 a -0 b 3.3 c 0.1 d inf e 123 17 1e22 f, and the answer of
 * DEBUG DIGEST-VALUE --- */

/* Where they keep a listpack, and so have 0 for -0. */
#define DIGEST "01c911d022b4bb5d36cb7152c935c7136e86eabd"

/* Redis 8.0 and Valkey 9.1; Redis 7.0, which writes 17 digits. */
static const struct slice listpack_8 = SLICE("::\0\0\0\x0e\0\x81"
                                             "b\x02\0\x01\x81"
                                             "d\x02\x83"
                                             "0.1\x04\x81"
                                             "a\x02\x83"
                                             "1.5\x04"
                                             "\x81"
                                             "c\x02\x83"
                                             "3.3\x04\x11\x01{\x01\x81"
                                             "f\x02\x85"
                                             "1e+22\x06\x81"
                                             "e\x02\x83"
                                             "inf\x04\xff");
static const struct slice listpack_7 = SLICE("\xc3@G@Y\x12Y\0\0\0\x0e\0\x81"
                                             "b\x02\0\x01\x81"
                                             "d\x02\x93"
                                             "0.10\xe0\x05\0\x11"
                                             "1\x14"
                                             "\x81"
                                             "a\x02\x83"
                                             "1.5\x04\x81"
                                             "c\x02\x92"
                                             "3.29\xe0\x04\0\x18"
                                             "8\x13\x11\x01{\x01\x81"
                                             "f\x02\x85"
                                             "1e+22\x06\x81"
                                             "e\x02\x83"
                                             "inf\x04\xff");
static const struct slice skiplist_8 = SLICE("\x07\x01"
                                             "e\0\0\0\0\0\0\xf0\x7f\x01"
                                             "f\x92\xd5M\x06\xcf\xf0\x80"
                                             "D\xc0\x11\0\0\0\0\0"
                                             "\xc0^@\x01"
                                             "cffffff\n@\x01"
                                             "a\0\0\0\0\0\0\xf8?\x01"
                                             "d\x9a\x99\x99\x99\x99\x99\xb9?"
                                             "\x01"
                                             "b\0\0\0\0\0\0\0\x80");
/* As in files of Redis 3.2 and older. */
static const struct slice elements_3 = SLICE("\x07\x01"
                                             "e\xfe\x01"
                                             "f\x04"
                                             "1e22\xc0\x11\x03"
                                             "123\x01"
                                             "c\x03"
                                             "3.3\x01"
                                             "a\x03"
                                             "1.5\x01"
                                             "d\x13"
                                             "0.10000000000000001\x01"
                                             "b\x02"
                                             "-0");

static void assert_members(const struct entry *entry) {
    static const char *const members[] = {"b", "d", "a", "c", "17", "f", "e"};
    static const double scores[] = {0, 0.1, 1.5, 3.3, 123, 1e22, INFINITY};
    struct zset_iter iter;
    struct zset_member member;
    zset_iter_start(&iter, entry, 0, true);
    for (int i = 0; i < 7; i++) {
        assert_true(zset_iter_next(&iter, &member));
        assert_true(slice_equal(member.text, slice_of_cstr(members[i])));
        assert_true(member.score == scores[i]);
    }
    assert_false(zset_iter_next(&iter, &member));
}

static void what_other_servers_write_is_read_in_either_encoding(void **state) {
    (void)state;
    static const struct {
        unsigned type;
        const struct slice *bytes;
    } cases[] = {{RDB_ZSET_LISTPACK, &listpack_8},
                 {RDB_ZSET_LISTPACK, &listpack_7},
                 {RDB_ZSET_2, &skiplist_8},
                 {RDB_ZSET, &elements_3}};
    char error[RDB_READER_ERROR_MAX];
    for (size_t i = 0; i < 4; i++) {
        for (size_t entries = 0; entries <= 7; entries += 7) {
            options.limits.zset.listpack_entries = entries;
            struct entry *entry = read_bytes(cases[i].type, *cases[i].bytes, error);
            assert_non_null(entry);
            assert_members(entry);
            assert_string_equal(value_encoding_name(entry), entries ? "listpack" : "skiplist");
            assert_digest(entry, DIGEST);
            value_free(entry);
        }
    }
    options.limits.zset.listpack_entries = 128;
}

static void values_are_written_as_redis_7_and_8_write_them(void **state) {
    (void)state;
    char error[RDB_READER_ERROR_MAX];
    for (size_t entries = 0; entries <= 7; entries += 7) {
        options.limits.zset.listpack_entries = entries;
        struct entry *entry = read_bytes(RDB_ZSET_2, skiplist_8, error);
        sds bytes = written(entry);
        assert_int_equal(type_format_written(entry), entries ? RDB_ZSET_LISTPACK : RDB_ZSET_2);
        if (!entries) bytes[sds_len(bytes) - 1] |= '\x80'; /* the sign of -0, which is gone */
        assert_true(slice_equal(sds_slice(bytes), entries ? listpack_8 : skiplist_8));
        sds_free(bytes);
        value_free(entry);
    }
    options.limits.zset.listpack_entries = 128;
}

/* --- Damage --- */

static void assert_refused(unsigned type, struct slice bytes, const char *expected) {
    char error[RDB_READER_ERROR_MAX];
    assert_null(read_bytes(type, bytes, error));
    assert_string_equal(error, expected);
}

static void bad_values_are_refused(void **state) {
    (void)state;
    static const char twice[] = "a member of a sorted set occurs twice";
    assert_refused(RDB_ZSET_2,
                   SLICE("\x02\x01"
                         "a\0\0\0\0\0\0\xf8?\x01"
                         "a\0\0\0\0\0\0\xf8\x40"),
                   twice);
    assert_refused(RDB_ZSET_2,
                   SLICE("\x01\x01"
                         "a\0\0\0\0\0\0\xf8\x7f"),
                   "a score is not a number");
    assert_refused(RDB_ZSET,
                   SLICE("\x01\x01"
                         "a\xfd"),
                   "a score is not a number");
    assert_refused(RDB_ZSET,
                   SLICE("\x01\x01"
                         "a\x03"
                         "1x2"),
                   "malformed score");
    assert_refused(RDB_ZSET,
                   SLICE("\x01\x01"
                         "a\x03"
                         "nan"),
                   "malformed score");
    assert_refused(RDB_ZSET_LISTPACK,
                   SLICE("\x0a\x0a\0\0\0\x01\0\x81"
                         "b\x02\xff"),
                   "a member without a score" RDB_INTEGRITY);
    assert_refused(RDB_ZSET_LISTPACK,
                   SLICE("\x0d\x0d\0\0\0\x02\0\x81"
                         "b\x02\x81"
                         "x\x02\xff"),
                   "malformed score");
    assert_refused(RDB_ZSET_LISTPACK,
                   SLICE("\x11\x11\0\0\0\x04\0\x81"
                         "b\x02\x01\x01\x81"
                         "b\x02\x02\x01\xff"),
                   twice);
    struct slice all[] = {listpack_8, skiplist_8, elements_3};
    unsigned types[] = {RDB_ZSET_LISTPACK, RDB_ZSET_2, RDB_ZSET};
    char error[RDB_READER_ERROR_MAX];
    for (size_t i = 0; i < 3; i++) {
        for (size_t len = 0; len < all[i].len; len++)
            assert_null(read_bytes(types[i], slice_make(all[i].ptr, len), error));
    }
}

static void damaged_values_never_break_anything(void **state) {
    struct random *random = *state;
    struct slice all[] = {listpack_8, listpack_7, skiplist_8, elements_3};
    unsigned types[] = {RDB_ZSET_LISTPACK, RDB_ZSET_LISTPACK, RDB_ZSET_2, RDB_ZSET};
    for (int i = 0; i < 20000; i++) {
        char bytes[128], error[RDB_READER_ERROR_MAX];
        size_t which = (size_t)random_below(random, 4), len = all[which].len;
        memcpy(bytes, all[which].ptr, len);
        for (uint64_t n = 1 + random_below(random, 3); n > 0; n--)
            bytes[random_below(random, len)] = (char)random_next(random);
        struct rdb_reader reader;
        rdb_reader_start_memory(&reader, slice_make(bytes, len), false);
        struct entry *entry = type_format_read(&reader, types[which], SLICE("key"), &options);
        if (entry) {
            assert_true(value_check(entry) && value_length(entry) > 0);
            value_free(entry);
        } else {
            snprintf(error, sizeof(error), "%s", rdb_reader_error(&reader));
            assert_true(strlen(error) > 0);
        }
        rdb_reader_end(&reader);
    }
}

static void values_come_back(void **state) {
    struct random *random = *state;
    for (int round = 0; round < 60; round++) {
        struct keyspace *keyspace = keyspace_new(value_free, value_length);
        struct keyref ref = keyspace_find(keyspace, SLICE("key"));
        char buffer[LONG_TEXT], error[RDB_READER_ERROR_MAX];
        int members = (int)random_below(random, round % 2 ? 100 : 1500);
        zset_create(&ref, SLICE("key"), SLICE("first"), -0.0, 1, 5, &options.limits.zset);
        for (int i = 0; i < members; i++) {
            struct slice member = random_member(random, buffer, 2000);
            struct zset_place place = zset_find(ref.entry, member);
            double score = random_score(random, (enum taste)(round % TASTES));
            zset_put(&ref, &place, member, score, &options.limits.zset);
        }
        sds bytes = written(ref.entry);
        struct entry *back = read_bytes(type_format_written(ref.entry), sds_slice(bytes), error);
        assert_non_null(back);
        struct zset_iter iters[2];
        struct zset_member found[2];
        zset_iter_start(&iters[0], ref.entry, 0, true);
        zset_iter_start(&iters[1], back, 0, true);
        while (zset_iter_next(&iters[0], &found[0])) {
            assert_true(zset_iter_next(&iters[1], &found[1]));
            assert_true(slice_equal(found[0].text, found[1].text));
            assert_true(found[0].score == found[1].score);
        }
        assert_false(zset_iter_next(&iters[1], &found[1]));
        sds_free(bytes);
        value_free(back);
        keyspace_free(keyspace);
    }
}

int main(void) {
    struct random random = random_of_this_run();
    hash_init_seed(random_next(&random));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_other_servers_write_is_read_in_either_encoding),
        cmocka_unit_test(values_are_written_as_redis_7_and_8_write_them),
        cmocka_unit_test(bad_values_are_refused),
        cmocka_unit_test_prestate(damaged_values_never_break_anything, &random),
        cmocka_unit_test_prestate(values_come_back, &random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
