/* reply: a sink gets what the buffer would have got, as values. The sink of this test writes each
 * value down, so that the whole reply is one line of text. */
#include "resp/reply.h"
#include "resp/reply_sink.h"

#include "base/text/sds.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct notes {
    struct reply_sink sink;
    sds text;
    sds error;
};

static struct notes *notes_of(struct reply_sink *sink) {
    return (struct notes *)sink;
}

#define NOTE(...) (notes_of(sink)->text = sds_append_format(notes_of(sink)->text, __VA_ARGS__))

static void on_status(struct reply_sink *sink, struct slice text) {
    NOTE("status(%.*s) ", (int)text.len, text.ptr);
}

static void on_error(struct reply_sink *sink, struct slice text) {
    NOTE("error(%.*s) ", (int)text.len, text.ptr);
    sds_free(notes_of(sink)->error);
    notes_of(sink)->error = sds_new(text);
    sink->error = sds_slice(notes_of(sink)->error);
}

static void on_integer(struct reply_sink *sink, int64_t value) {
    NOTE("%lld ", (long long)value);
}

static void on_bulk(struct reply_sink *sink, struct slice text) {
    NOTE("'%.*s' ", (int)text.len, text.ptr);
}

static void on_null(struct reply_sink *sink, enum reply_null kind) {
    const char *const names[] = {"null", "null-array", "null3"};
    NOTE("%s ", names[kind]);
}

static void on_boolean(struct reply_sink *sink, bool value) {
    NOTE("%s ", value ? "true" : "false");
}

static void on_floating(struct reply_sink *sink, double value) {
    NOTE("double(%g) ", value);
}

static void on_verbatim(struct reply_sink *sink, struct slice text, const char format[3]) {
    NOTE("verbatim(%.3s:%.*s) ", format, (int)text.len, text.ptr);
}

static void on_big_number(struct reply_sink *sink, struct slice digits) {
    NOTE("big(%.*s) ", (int)digits.len, digits.ptr);
}

static const char *const kinds[] = {"array", "map", "set"};

static void on_aggregate(struct reply_sink *sink, enum reply_aggregate kind, size_t members) {
    NOTE("%s(%zu) ", kinds[kind], members);
}

static void on_begin(struct reply_sink *sink) {
    NOTE("[ ");
}

static void on_end(struct reply_sink *sink, enum reply_aggregate kind) {
    NOTE("]%s ", kinds[kind]);
}

static void on_drop(struct reply_sink *sink) {
    sds_set_len(notes_of(sink)->text, 0);
}

static const struct reply_sink_functions functions = {
    .status = on_status,
    .error = on_error,
    .integer = on_integer,
    .bulk = on_bulk,
    .null = on_null,
    .boolean = on_boolean,
    .floating = on_floating,
    .verbatim = on_verbatim,
    .big_number = on_big_number,
    .aggregate = on_aggregate,
    .begin = on_begin,
    .end = on_end,
    .drop = on_drop,
};

/* Runs `call` with a reply named r that has a sink, in RESP2 and in RESP3, and compares the notes; its
 * length is that of the bytes that a reply with a buffer gets. */
#define ASSERT_BOTH(call, resp2, resp3)                                                            \
    do {                                                                                           \
        for (int protocol = 2; protocol <= 3; protocol++) {                                        \
            struct notes notes = {.sink.functions = &functions, .text = sds_new(SLICE(""))};       \
            struct reply into_sink = reply_into_sink(&notes.sink, protocol), *r = &into_sink;      \
            call;                                                                                  \
            assert_string_equal(notes.text, protocol == 2 ? resp2 : resp3);                        \
            assert_null(r->data);                                                                  \
            struct reply bytes;                                                                    \
            reply_init(&bytes, 1);                                                                 \
            bytes.protocol = protocol;                                                             \
            r = &bytes;                                                                            \
            call;                                                                                  \
            assert_int_equal(into_sink.len, bytes.len);                                            \
            reply_free(&bytes);                                                                    \
            sds_free(notes.text);                                                                  \
            sds_free(notes.error);                                                                 \
        }                                                                                          \
    } while (0)
#define ASSERT_ALIKE(call, expected) ASSERT_BOTH(call, expected, expected)

static void each_writer_passes_its_value(void **state) {
    (void)state;
    ASSERT_ALIKE(reply_ok(r), "status(OK) ");
    ASSERT_ALIKE(reply_status(r, SLICE("PONG")), "status(PONG) ");
    ASSERT_ALIKE(reply_integer(r, INT64_MIN), "-9223372036854775808 ");
    ASSERT_ALIKE(reply_integer(r, 7), "7 ");
    ASSERT_ALIKE(reply_integer(r, -100), "-100 ");
    ASSERT_ALIKE(reply_bulk(r, SLICE("")), "'' ");
    ASSERT_ALIKE(reply_bulk_cstr(r, "text"), "'text' ");
    ASSERT_ALIKE(reply_bulk_integer(r, -12), "'-12' ");
    ASSERT_BOTH(reply_null(r), "null ", "null3 ");
    ASSERT_BOTH(reply_null_array(r), "null-array ", "null3 ");
    ASSERT_BOTH(reply_bool(r, true), "1 ", "true ");
    ASSERT_BOTH(reply_bool(r, false), "0 ", "false ");
    ASSERT_BOTH(reply_double(r, 1.5), "'1.5' ", "double(1.5) ");
    ASSERT_BOTH(reply_double(r, -1000), "'-1000' ", "double(-1000) ");
    ASSERT_BOTH(reply_verbatim(r, SLICE("a"), "txt"), "'a' ", "verbatim(txt:a) ");
    ASSERT_BOTH(reply_big_number(r, SLICE("123")), "'123' ", "big(123) ");
    ASSERT_ALIKE(reply_array(r, 3), "array(3) ");
    ASSERT_ALIKE(reply_array(r, 0), "array(0) ");
    ASSERT_BOTH(reply_map(r, 3), "array(6) ", "map(6) ");
    ASSERT_BOTH(reply_map(r, 50), "array(100) ", "map(100) ");
    ASSERT_BOTH(reply_set(r, 3), "array(3) ", "set(3) ");
    ASSERT_ALIKE(reply_push(r, 3), "array(3) ");
}

static void an_error_has_no_line_breaks_and_is_kept(void **state) {
    (void)state;
    ASSERT_ALIKE(reply_error(r, "\r\nERR a\r\nb\n"), "error(ERR a  b) ");
    ASSERT_ALIKE(reply_error_format(r, "ERR %d", 5), "error(ERR 5) ");
    ASSERT_ALIKE(
        {
            reply_error(r, "ERR kept");
            if (r->sink) assert_true(slice_equal(r->sink->error, SLICE("ERR kept")));
        },
        "error(ERR kept) ");
}

static void aggregates_may_be_counted_afterwards(void **state) {
    (void)state;
    ASSERT_BOTH(
        {
            size_t outer = reply_begin(r);
            reply_integer(r, 1);
            size_t inner = reply_begin(r);
            reply_bulk(r, SLICE("a"));
            reply_set_end(r, inner, 1);
            reply_map_end(r, outer, 1);
        },
        "[ 1 [ 'a' ]array ]array ", "[ 1 [ 'a' ]set ]map ");
    ASSERT_ALIKE(reply_array_end(r, reply_begin(r), 0), "[ ]array ");
}

static void elements_of_a_listpack_come_one_by_one(void **state) {
    (void)state;
    uint8_t body[128], *out = body;
    const char *const texts[] = {"short", "12", "-70000", "another"};
    for (size_t i = 0; i < 4; i++) {
        struct listpack_element element;
        listpack_prepare(&element, slice_of_cstr(texts[i]));
        listpack_write(out, &element);
        out += element.size;
    }
    const uint8_t *first = body, *end = out;
    ASSERT_ALIKE(assert_ptr_equal(reply_listpack_run(r, first, 4, end, end), end),
                 "'short' '12' '-70000' 'another' ");
    ASSERT_ALIKE(reply_listpack_run_back(r, end, 3, first, end), "'another' '-70000' '12' ");
    ASSERT_ALIKE(reply_listpack_element(r, first), "'short' ");
}

static void bulks_of_another_reply_are_passed_on(void **state) {
    (void)state;
    struct reply part;
    reply_init(&part, 0);
    reply_bulk(&part, SLICE("a"));
    reply_bulk(&part, SLICE(""));
    reply_bulk(&part, SLICE("of twelve .."));
    ASSERT_ALIKE(reply_append_bulks(r, &part, 3), "'a' '' 'of twelve ..' ");
    reply_free(&part);
}

static void bulks_of_a_batch_come_one_by_one(void **state) {
    (void)state;
    const struct slice texts[] = {SLICE("a"), SLICE(""),
                                  SLICE("0123456789012345678901234567890123")};
    ASSERT_ALIKE(reply_bulks(r, texts, 3), "'a' '' '0123456789012345678901234567890123' ");
    ASSERT_ALIKE(
        {
            reply_integer(r, 1);
            reply_bulks(r, texts, 0);
            reply_integer(r, 2);
        },
        "1 2 ");
}

static void all_values_can_be_dropped(void **state) {
    (void)state;
    ASSERT_ALIKE(
        {
            reply_array(r, 2);
            reply_integer(r, 1);
            reply_truncate(r, 0);
            reply_error(r, "ERR instead");
        },
        "error(ERR instead) ");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_writer_passes_its_value),
        cmocka_unit_test(an_error_has_no_line_breaks_and_is_kept),
        cmocka_unit_test(aggregates_may_be_counted_afterwards),
        cmocka_unit_test(elements_of_a_listpack_come_one_by_one),
        cmocka_unit_test(bulks_of_another_reply_are_passed_on),
        cmocka_unit_test(bulks_of_a_batch_come_one_by_one),
        cmocka_unit_test(all_values_can_be_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
