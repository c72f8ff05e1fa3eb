/* format_checks: what the tests of values in files have in common: they read a value from bytes of any
 * form, expect an error, and damage payloads. */
#ifndef PACKLIST_TESTS_UNIT_FORMAT_CHECKS_H
#define PACKLIST_TESTS_UNIT_FORMAT_CHECKS_H

#include "base/memory/alloc.h"
#include "persist/dump.h"
#include "persist/rdb_format.h"
#include "persist/type_format.h"
#include "types/value.h"
#include "unit/rdb_io.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* How values are read. Set up anew for each test. */
static struct rdb_load_options options;

static inline int set_up_options(void **state) {
    (void)state;
    options = (struct rdb_load_options){.limits = value_limits_default};
    return 0;
}

#define format_test(function) cmocka_unit_test_setup(function, set_up_options)

/* Reads a value of a type of files. Returns NULL when it is bad, with its error in `error`. */
static inline struct entry *read_bytes(unsigned type, struct slice bytes,
                                       char error[RDB_READER_ERROR_MAX]) {
    struct rdb_reader reader;
    rdb_reader_start_memory(&reader, bytes, false);
    struct entry *entry = type_format_read(&reader, type, SLICE("key"), &options);
    if (entry) {
        assert_true(value_check(entry));
        assert_true(entry_type(entry) == VALUE_STREAM || !value_is_empty(entry));
    } else {
        snprintf(error, RDB_READER_ERROR_MAX, "%s", rdb_reader_error(&reader));
    }
    rdb_reader_end(&reader);
    return entry;
}

/* The value is bad, and no memory stays in use. */
static inline void assert_refused(unsigned type, struct slice bytes, const char *expected) {
    char error[RDB_READER_ERROR_MAX] = "";
    size_t used = mem_used();
    assert_null(read_bytes(type, bytes, error));
    assert_string_equal(error, expected);
    assert_int_equal(mem_used(), used);
}

/* `expected` is what DEBUG DIGEST-VALUE answers. */
static inline void assert_digest(const struct entry *entry, const char *expected) {
    struct digest digest;
    uint8_t bytes[DIGEST_SIZE];
    assert_true(digest_start(&digest));
    type_format_digest_value(&digest, entry, bytes);
    digest_end(&digest);
    sds hex = digest_append(sds_new(SLICE("")), bytes);
    assert_string_equal(hex, expected);
    sds_free(hex);
}

/* Reads a payload of DUMP, which is good. */
static inline struct entry *read_payload(struct slice payload) {
    enum dump_error error;
    struct entry *entry = dump_read(payload, SLICE("key"), &options, &error, NULL);
    assert_int_equal(error, DUMP_OK);
    return entry;
}

/* Every byte of a good payload, made another, gives a good value or an error; so does every cut. */
static inline void assert_damage_is_harmless(struct slice payload) {
    size_t used = mem_used(), len = payload.len - RDB_PAYLOAD_FOOTER_SIZE - 1;
    unsigned type = (uint8_t)payload.ptr[0];
    char *copy = mem_alloc(len), error[RDB_READER_ERROR_MAX];
    for (size_t at = 0; at < len; at++) {
        for (int byte = 0; byte < 256; byte++) {
            memcpy(copy, payload.ptr + 1, len);
            copy[at] = (char)byte;
            struct entry *entry = read_bytes(type, slice_make(copy, len), error);
            if (entry) value_free(entry);
        }
        char *cut = mem_alloc(at + 1); /* so that reading beyond it is found */
        memcpy(cut, payload.ptr + 1, at);
        assert_null(read_bytes(type, slice_make(cut, at), error));
        mem_free(cut);
    }
    mem_free(copy);
    assert_int_equal(mem_used(), used);
}

#endif
