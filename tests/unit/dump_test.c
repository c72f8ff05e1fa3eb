/* dump: payloads of any server are read; damaged ones are refused. */
#include "persist/dump.h"

#include "base/hash/crc64.h"
#include "base/hash/hash.h"
#include "base/text/number.h"
#include "types/list.h"
#include "types/string.h"
#include "types/value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct rdb_load_options defaults = {.limits = {.list = {.fill = -2}}};

static struct entry *read_payload(struct slice payload, enum dump_error *error) {
    return dump_read(payload, SLICE("other key"), &defaults, error, NULL);
}

static void assert_error(struct slice payload, enum dump_error expected) {
    enum dump_error error;
    assert_null(read_payload(payload, &error));
    assert_int_equal(error, expected);
}

static void assert_text(struct slice payload, const char *text) {
    char digits[INT64_TEXT_MAX];
    enum dump_error error;
    struct entry *entry = read_payload(payload, &error);
    assert_int_equal(error, DUMP_OK);
    assert_true(value_check(entry));
    assert_true(slice_equal(entry_key(entry), SLICE("other key")));
    assert_true(slice_equal(string_text(entry, digits), slice_of_cstr(text)));
    value_free(entry);
}

/* What DUMP answers for a key with the string "hello". */
static const struct slice of_redis_7 =
    SLICE("\x00\x05hello\x0A\x00\x63\x72\xDF\x76\x65\x34\x20\x0A");

static void payloads_are_those_of_redis(void **state) {
    (void)state;
    struct entry *entry = string_new(SLICE("key"), SLICE("hello"));
    sds payload = dump_new(entry, true);
    assert_int_equal(sds_len(payload), of_redis_7.len);
    assert_memory_equal(payload, of_redis_7.ptr, of_redis_7.len);
    assert_text(sds_slice(payload), "hello");
    sds_free(payload);
    value_free(entry);
}

static void a_payload_is_told_from_that_of_another_value(void **state) {
    (void)state;
    struct entry *entry = string_new(SLICE("key"), SLICE("hello"));
    struct entry *other = string_new(SLICE("key"), SLICE("hallo"));
    assert_true(dump_check(of_redis_7, entry));
    assert_false(dump_check(of_redis_7, other));
    assert_false(dump_check(slice_make(of_redis_7.ptr, of_redis_7.len - 1), entry));
    value_free(other);
    value_free(entry);
}

/* Goes on so many times. */
static bool go_on(void *arg) {
    int *left = arg;
    return (*left)-- > 0;
}

static sds dump_captured(struct entry *entry, int times) {
    struct capture *capture = value_capture(entry, NULL);
    struct dump_captured value = {capture, type_format_of_entry(entry), type_format_written(entry)};
    assert_non_null(capture);
    sds payload = dump_new_captured(&value, false, go_on, &times);
    capture_end(capture);
    return payload;
}

static void captured_values_have_the_same_payload(void **state) {
    (void)state;
    enum { LEN = 1000000 };
    char *text = malloc(LEN);
    for (size_t i = 0; i < LEN; i++) text[i] = (char)(i * i >> 5);
    struct entry *entry = string_new(SLICE("key"), slice_make(text, LEN));
    sds expected = dump_new(entry, false), payload = dump_captured(entry, 1000000);
    assert_true(slice_equal(sds_slice(payload), sds_slice(expected)));
    sds_free(payload);
    payload = dump_captured(entry, 2);
    assert_true(sds_len(payload) < LEN);
    sds_free(payload);
    sds_free(expected);
    value_free(entry);
    free(text);
}

static void lists_are_dumped_and_restored(void **state) {
    (void)state;
    const uint8_t body[] = {0x81, 'a', 2, 5, 1};
    struct entry *entry = list_from_body(SLICE("key"), body, body + 5, 2, &defaults.limits.list);
    sds payload = dump_new(entry, true);
    enum dump_error error;
    struct entry *back = read_payload(sds_slice(payload), &error);
    const uint8_t *first, *end;
    assert_true(list_single_body(back, &first, &end));
    assert_int_equal(end - first, sizeof(body));
    assert_memory_equal(first, body, sizeof(body));
    value_free(back);
    value_free(entry);
    for (size_t bit = 0; bit < 8 * sds_len(payload); bit++) {
        payload[bit / 8] ^= (char)(1 << bit % 8);
        assert_error(sds_slice(payload), DUMP_BAD_FOOTER);
        payload[bit / 8] ^= (char)(1 << bit % 8);
    }
    for (size_t len = 0; len < sds_len(payload); len++)
        assert_error(slice_make(payload, len), DUMP_BAD_FOOTER);
    sds_free(payload);
}

/* The footer made right for any value. */
static sds sealed(struct slice value, uint16_t version) {
    sds payload = sds_append(sds_new(value), slice_make(&version, sizeof(version)));
    uint64_t crc = crc64(0, payload, sds_len(payload));
    return sds_append(payload, slice_make(&crc, sizeof(crc)));
}

static void assert_sealed_error(struct slice value, uint16_t version, enum dump_error expected) {
    sds payload = sealed(value, version);
    assert_error(sds_slice(payload), expected);
    sds_free(payload);
}

static void versions_that_are_known_are_read(void **state) {
    (void)state;
    static const uint16_t known[] = {1, 6, 9, 10, 11, 12, 13, 14, 15, 80, 81};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        sds payload = sealed(SLICE("\x00\x05hello"), known[i]);
        assert_text(sds_slice(payload), "hello");
        sds_free(payload);
    }
    assert_sealed_error(SLICE("\x00\x05hello"), 16, DUMP_BAD_FOOTER);
    assert_sealed_error(SLICE("\x00\x05hello"), 79, DUMP_BAD_FOOTER);
    assert_sealed_error(SLICE("\x00\x05hello"), 82, DUMP_BAD_FOOTER);
}

static void bad_values_are_refused(void **state) {
    (void)state;
    assert_sealed_error(SLICE("\x00\x06hello"), 10, DUMP_BAD_VALUE);
    assert_sealed_error(SLICE("\x00\x04hello"), 10, DUMP_BAD_VALUE); /* something follows */
    assert_sealed_error(SLICE("\x02\x02\x01x\x01x"), 10, DUMP_BAD_VALUE);
    assert_sealed_error(SLICE("\x13\x01\x01x"), 10, DUMP_BAD_VALUE); /* a stream */
    assert_sealed_error(SLICE("\xFF"), 10, DUMP_BAD_VALUE);
    assert_sealed_error(SLICE(""), 10, DUMP_BAD_FOOTER);
}

int main(void) {
    hash_init_seed(1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(payloads_are_those_of_redis),
        cmocka_unit_test(a_payload_is_told_from_that_of_another_value),
        cmocka_unit_test(captured_values_have_the_same_payload),
        cmocka_unit_test(lists_are_dumped_and_restored),
        cmocka_unit_test(versions_that_are_known_are_read),
        cmocka_unit_test(bad_values_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
