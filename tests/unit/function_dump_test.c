/* function_dump: payloads of any server are read; damaged ones are refused. */
#include "persist/dump.h"

#include "base/hash/crc64.h"
#include "persist/rdb_file.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* What FUNCTION DUMP of Redis 7.0 replies for one library, with rdbcompression no. */
#define CODE "#!lua name=a\nredis.register_function('f',function() end)"
static const struct slice of_redis_7 =
    SLICE("\xF5\x38" CODE "\x0A\x00\x90\x9D\x11\x30\xBB\xE1\x3F\x6F");

/* Takes codes, each with a line behind it, up to `limit` of them. */
struct taken {
    sds text;
    size_t limit;
};

static bool take(void *arg, struct slice code) {
    struct taken *taken = arg;
    taken->text = sds_append_cstr(sds_append(taken->text, code), "|");
    return --taken->limit > 0;
}

static void assert_read(struct slice payload, size_t limit, const char *error,
                        const char *expected) {
    struct taken taken = {sds_new(SLICE("")), limit};
    const char *got = dump_read_function(payload, false, take, &taken);
    assert_int_equal(got == NULL, error == NULL);
    if (error) assert_string_equal(got, error);
    assert_string_equal(taken.text, expected);
    sds_free(taken.text);
}

/* The content with a version and a right checksum. */
static sds sealed(struct slice content, uint16_t version) {
    sds payload = sds_append(sds_new(content), slice_make(&version, sizeof(version)));
    uint64_t crc = crc64(0, payload, sds_len(payload));
    return sds_append(payload, slice_make(&crc, sizeof(crc)));
}

static void assert_content(struct slice content, uint16_t version, const char *error,
                           const char *expected) {
    sds payload = sealed(content, version);
    assert_read(sds_slice(payload), SIZE_MAX, error, expected);
    sds_free(payload);
}

static sds dump(size_t count, const struct slice *codes, bool compress) {
    struct rdb_writer writer;
    sds payload = sds_new(SLICE(""));
    dump_start(&writer, &payload, compress);
    for (size_t i = 0; i < count; i++) rdb_write_function(&writer, codes[i]);
    dump_end(&writer);
    return payload;
}

static void libraries_are_dumped_and_read(void **state) {
    (void)state;
    const struct slice codes[] = {SLICE(CODE), SLICE(""), SLICE("123"),
                                  SLICE("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")};
    for (int compress = 0; compress < 2; compress++) {
        sds payload = dump(4, codes, compress);
        assert_read(sds_slice(payload), SIZE_MAX, NULL,
                    CODE "||123|aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa|");
        assert_read(sds_slice(payload), 2, NULL, CODE "||");
        sds_free(payload);
    }
    sds nothing = dump(0, codes, true);
    assert_int_equal(sds_len(nothing), RDB_PAYLOAD_FOOTER_SIZE);
    /* FUNCTION DUMP of Redis 7.0 without libraries. */
    assert_memory_equal(nothing, "\x0A\x00\x5D\x9B\\@\x0F\x7F\xA2\xDA", RDB_PAYLOAD_FOOTER_SIZE);
    assert_read(sds_slice(nothing), SIZE_MAX, NULL, "");
    sds_free(nothing);
}

static void payloads_are_those_of_redis(void **state) {
    (void)state;
    const struct slice code = SLICE(CODE);
    sds payload = dump(1, &code, false);
    assert_int_equal(sds_len(payload), of_redis_7.len);
    assert_memory_equal(payload, of_redis_7.ptr, of_redis_7.len);
    sds_free(payload);
    assert_content(SLICE("\xF5\x38" CODE), 12, NULL, CODE "|");
    assert_content(SLICE("\xF5\x38" CODE), 80, NULL, CODE "|");
}

static void damaged_payloads_are_refused(void **state) {
    (void)state;
    static const char bad[] = "DUMP payload version or checksum are wrong";
    const struct slice code = SLICE(CODE);
    sds payload = dump(1, &code, true);
    for (size_t bit = 0; bit < 8 * sds_len(payload); bit++) {
        payload[bit / 8] ^= (char)(1 << bit % 8);
        assert_read(sds_slice(payload), SIZE_MAX, bad, "");
        payload[bit / 8] ^= (char)(1 << bit % 8);
    }
    for (size_t len = 0; len < sds_len(payload); len++)
        assert_read(slice_make(payload, len), SIZE_MAX, bad, "");
    sds_free(payload);
    assert_content(SLICE(""), 16, bad, "");
    assert_content(SLICE("\x00\x01x"), 10, "given type is not a function", "");
    assert_content(SLICE("\xF5\x01x\xF6\x01x"), 10, "Pre-GA function format not supported", "x|");
    assert_content(SLICE("\xF5"), 10, "Failed loading library payload", "");
    assert_content(SLICE("\xF5\x01x\xF5\x05yz"), 10, "Failed loading library payload", "x|");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(libraries_are_dumped_and_read),
        cmocka_unit_test(payloads_are_those_of_redis),
        cmocka_unit_test(damaged_payloads_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
