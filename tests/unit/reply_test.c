/* reply: the bytes of each type in both protocols, and the fused writer against a naive one. */
#include "resp/reply_source.h"

#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "ds/strings/shared_text.h"
#include "unit/guard.h"
#include "unit/in_range.h"
#include "unit/seed.h"
#include "unit/texts.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* The reply holds exactly `expected`, and then nothing. */
static void assert_reply(struct reply *reply, struct slice expected) {
    assert_int_equal(reply->len, expected.len);
    if (expected.len > 0) assert_memory_equal(reply->data, expected.ptr, expected.len);
    assert_true(reply->len <= reply->capacity);
    reply->len = 0;
}

/* Runs `call` with a fresh reply named r in RESP2, then in RESP3. */
#define ASSERT_BOTH(call, resp2, resp3)                                                            \
    do {                                                                                           \
        for (int protocol = 2; protocol <= 3; protocol++) {                                        \
            struct reply fresh, *r = &fresh;                                                       \
            reply_init(r, 0);                                                                      \
            r->protocol = protocol;                                                                \
            call;                                                                                  \
            assert_reply(r, protocol == 2 ? SLICE(resp2) : SLICE(resp3));                          \
            reply_free(r);                                                                         \
        }                                                                                          \
    } while (0)
#define ASSERT_ALIKE(call, expected) ASSERT_BOTH(call, expected, expected)

/* --- Each type --- */

static void lines_are_alike_in_both_protocols(void **state) {
    (void)state;
    ASSERT_ALIKE(reply_ok(r), "+OK\r\n");
    ASSERT_ALIKE(reply_status(r, SLICE("PONG")), "+PONG\r\n");
    ASSERT_ALIKE(reply_status(r, SLICE("")), "+\r\n");
    ASSERT_ALIKE(reply_raw(r, SLICE(":1\r\n")), ":1\r\n");
    ASSERT_ALIKE(reply_error(r, "ERR no such key"), "-ERR no such key\r\n");
    ASSERT_ALIKE(reply_error(r, "\r\nERR a\r\nb\n\r\n"), "-ERR a  b\r\n");
    ASSERT_ALIKE(reply_error(r, "\n"), "-\r\n");
    ASSERT_ALIKE(reply_error_format(r, "ERR %s: %d\n", "x\ny", -5), "-ERR x y: -5\r\n");
}

static void an_error_may_be_longer_than_any_buffer(void **state) {
    (void)state;
    char text[3000], expected[3100];
    for (size_t len = 240; len < 270; len++) {
        memset(text, 'e', len);
        text[len] = '\0';
        struct reply reply;
        reply_init(&reply, 0);
        reply_error_format(&reply, "ERR %s", text);
        int size = snprintf(expected, sizeof(expected), "-ERR %s\r\n", text);
        assert_reply(&reply, slice_make(expected, (size_t)size));
        reply_free(&reply);
    }
}

static void types_that_resp2_lacks_are_written_as_it_can(void **state) {
    (void)state;
    ASSERT_BOTH(reply_null(r), "$-1\r\n", "_\r\n");
    ASSERT_BOTH(reply_null_array(r), "*-1\r\n", "_\r\n");
    ASSERT_BOTH(reply_bool(r, true), ":1\r\n", "#t\r\n");
    ASSERT_BOTH(reply_bool(r, false), ":0\r\n", "#f\r\n");
    ASSERT_BOTH(reply_double(r, 1.5), "$3\r\n1.5\r\n", ",1.5\r\n");
    ASSERT_BOTH(reply_double(r, 3), "$1\r\n3\r\n", ",3\r\n");
    ASSERT_BOTH(reply_double(r, 1e21), "$5\r\n1e+21\r\n", ",1e+21\r\n");
    ASSERT_BOTH(reply_double(r, HUGE_VAL), "$3\r\ninf\r\n", ",inf\r\n");
    ASSERT_BOTH(reply_double(r, -HUGE_VAL), "$4\r\n-inf\r\n", ",-inf\r\n");
    ASSERT_BOTH(reply_double(r, NAN), "$3\r\nnan\r\n", ",nan\r\n");
    ASSERT_BOTH(reply_verbatim(r, SLICE("a\nb"), "txt"), "$3\r\na\nb\r\n", "=7\r\ntxt:a\nb\r\n");
    ASSERT_BOTH(reply_big_number(r, SLICE("-123456789012345678901234567890")),
                "$31\r\n-123456789012345678901234567890\r\n",
                "(-123456789012345678901234567890\r\n");
    ASSERT_BOTH(reply_map(r, 3), "*6\r\n", "%3\r\n");
    ASSERT_BOTH(reply_set(r, 3), "*3\r\n", "~3\r\n");
    ASSERT_BOTH(reply_push(r, 3), "*3\r\n", ">3\r\n");
    ASSERT_ALIKE(reply_array(r, 0), "*0\r\n");
    ASSERT_ALIKE(reply_array(r, 1234567), "*1234567\r\n");
    ASSERT_ALIKE(reply_attribute(r, 1), "|1\r\n");
}

static void aggregates_that_are_counted_afterwards_nest(void **state) {
    (void)state;
    for (int protocol = 2; protocol <= 3; protocol++) {
        struct reply reply;
        reply_init(&reply, 0);
        reply.protocol = protocol;
        reply_integer(&reply, 7);
        size_t outer = reply_begin(&reply);
        size_t map = reply_begin(&reply);
        reply_bulk_cstr(&reply, "k");
        reply_integer(&reply, 1);
        reply_map_end(&reply, map, 1);
        size_t array = reply_begin(&reply);
        for (int i = 0; i < 12; i++) reply_ok(&reply);
        reply_array_end(&reply, array, 12);
        reply_array_end(&reply, outer, 2);
#define TWELVE                                                                                     \
    "+OK\r\n+OK\r\n+OK\r\n+OK\r\n+OK\r\n+OK\r\n+OK\r\n+OK\r\n+OK\r\n+OK\r\n+OK\r\n+OK\r\n"
        assert_reply(&reply, protocol == 2
                                 ? SLICE(":7\r\n*2\r\n*2\r\n$1\r\nk\r\n:1\r\n*12\r\n" TWELVE)
                                 : SLICE(":7\r\n*2\r\n%1\r\n$1\r\nk\r\n:1\r\n*12\r\n" TWELVE));
        reply_free(&reply);
    }
}

/* --- Numbers and bulks --- */

static void assert_integer(struct reply *reply, int64_t value) {
    char text[32], expected[64];
    int len = snprintf(text, sizeof(text), "%lld", (long long)value);
    reply_integer(reply, value);
    int size = snprintf(expected, sizeof(expected), ":%s\r\n", text);
    assert_reply(reply, slice_make(expected, (size_t)size));
    reply_bulk_integer(reply, value);
    size = snprintf(expected, sizeof(expected), "$%d\r\n%s\r\n", len, text);
    assert_reply(reply, slice_make(expected, (size_t)size));
}

static void integers_have_the_digits_that_printf_gives_them(void **state) {
    struct random *random = *state;
    struct reply reply;
    reply_init(&reply, 0);
    for (int64_t value = -1100; value <= 11000; value++) assert_integer(&reply, value);
    uint64_t power = 10;
    for (int digits = 1; digits < 20; digits++, power *= 10) {
        for (int near = -2; near <= 2; near++) {
            assert_integer(&reply, (int64_t)(power + (uint64_t)near));
            assert_integer(&reply, -(int64_t)(power + (uint64_t)near));
        }
    }
    assert_integer(&reply, INT64_MAX);
    assert_integer(&reply, INT64_MIN);
    for (int i = 0; i < 100000; i++) {
        assert_integer(&reply, (int64_t)(random_next(random) >> random_below(random, 64)));
    }
    reply_free(&reply);
}

static void bulks_of_any_length_are_framed(void **state) {
    (void)state;
    enum { LONGEST = 1200 };
    char text[LONGEST], expected[LONGEST + 32];
    memset(text, 't', sizeof(text));
    struct guard guard = guard_new(LONGEST);
    for (size_t len = 0; len < LONGEST; len++) {
        struct reply reply;
        reply_init(&reply, 0);
        reply_bulk(&reply, slice_make(guard_place(&guard, text, len), len));
        int size = snprintf(expected, sizeof(expected), "$%zu\r\n%.*s\r\n", len, (int)len, text);
        assert_reply(&reply, slice_make(expected, (size_t)size));
        reply_free(&reply);
    }
    ASSERT_ALIKE(reply_bulk(r, (struct slice){NULL, 0}), "$0\r\n\r\n");
    guard_free(&guard);
}

/* The texts stand at the end of readable memory, one below the other. */
static void many_bulks_are_those_that_are_written_one_by_one(void **state) {
    struct random *random = *state;
    struct guard guard = guard_new(16384);
    for (int round = 0; round < 300; round++) {
        struct reply reply, one_by_one;
        struct slice texts[40];
        size_t count = random_below(random, 41), longest = 1 + random_below(random, 300);
        char *at = (char *)guard.end;
        reply_init(&reply, 0);
        reply_init(&one_by_one, 0);
        reply_ok(&reply);
        reply_ok(&one_by_one);
        for (size_t i = 0; i < count; i++) {
            size_t len = round < 60 && i == 0 ? (size_t)round : random_below(random, longest);
            at -= len;
            for (size_t byte = 0; byte < len; byte++) at[byte] = (char)random_next(random);
            texts[i] = slice_make(at, len);
            reply_bulk(&one_by_one, texts[i]);
        }
        reply_bulks(&reply, texts, count);
        assert_reply(&reply, slice_make(one_by_one.data, one_by_one.len));
        reply_free(&reply);
        reply_free(&one_by_one);
    }
    guard_free(&guard);
}

static void a_reply_keeps_what_it_has_when_it_grows(void **state) {
    (void)state;
    struct reply reply;
    reply_init(&reply, 1);
    size_t capacity = reply.capacity, grown = 0;
    for (int i = 0; i < 100000; i++) {
        reply_integer(&reply, i % 10);
        grown += reply.capacity != capacity;
        capacity = reply.capacity;
    }
    assert_int_equal(reply.len, 400000);
    for (size_t i = 0; i < 100000; i++) {
        char expected[] = {':', (char)('0' + i % 10), '\r', '\n'};
        assert_memory_equal(reply.data + 4 * i, expected, 4);
    }
    assert_uint_in_range(grown, 1, 25);
    reply_free(&reply);
    assert_null(reply.data);
    assert_int_equal(reply.capacity, 0);
}

/* --- The fused writer --- */

/* A body before an unreadable page, and what its elements look like as bulks one by one. */
struct body {
    struct guard guard;
    uint8_t *first;
    size_t count;
    char *bulks;
    size_t *offsets; /* of each bulk; count + 1 of them */
};

enum { BODY_MAX = 300 };

static struct body body_new(const struct slice *texts, size_t count) {
    struct body body = {.count = count};
    size_t size = 0, text_size = 0;
    struct listpack_element element;
    for (size_t i = 0; i < count; i++) {
        listpack_prepare(&element, texts[i]);
        size += element.size;
        text_size += texts[i].len + 32;
    }
    body.guard = guard_new(size);
    body.first = body.guard.end - size;
    body.bulks = mem_alloc(text_size);
    body.offsets = mem_alloc((count + 1) * sizeof(*body.offsets));
    uint8_t *p = body.first;
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        listpack_prepare(&element, texts[i]);
        listpack_write(p, &element);
        p += element.size;
        body.offsets[i] = at;
        at += (size_t)snprintf(body.bulks + at, 32, "$%zu\r\n", texts[i].len);
        if (texts[i].len > 0) memcpy(body.bulks + at, texts[i].ptr, texts[i].len);
        at += texts[i].len;
        memcpy(body.bulks + at, "\r\n", 2);
        at += 2;
    }
    body.offsets[count] = at;
    return body;
}

static void body_free(struct body *body) {
    guard_free(&body->guard);
    mem_free(body->bulks);
    mem_free(body->offsets);
}

/* `count` elements from `index` on are written right, up to the unreadable page. */
static void assert_run(const struct body *body, size_t index, size_t count) {
    struct reply reply;
    reply_init(&reply, 0);
    const uint8_t *first = listpack_seek(body->first, index);
    const uint8_t *last =
        reply_listpack_run(&reply, first, count, body->guard.end, body->guard.end);
    assert_ptr_equal(last, listpack_seek(first, count));
    assert_reply(&reply, slice_make(body->bulks + body->offsets[index],
                                    body->offsets[index + count] - body->offsets[index]));
    reply_free(&reply);
}

/* The same from the element before `end_index` backwards. */
static void assert_run_back(const struct body *body, size_t end_index, size_t count) {
    struct reply reply;
    reply_init(&reply, 0);
    const uint8_t *end = listpack_seek(body->first, end_index);
    const uint8_t *last = reply_listpack_run_back(&reply, end, count, body->first, body->guard.end);
    assert_ptr_equal(last, listpack_seek(body->first, end_index - count));
    size_t at = 0;
    for (size_t i = end_index; i-- > end_index - count;) {
        size_t size = body->offsets[i + 1] - body->offsets[i];
        assert_true(at + size <= reply.len);
        assert_memory_equal(reply.data + at, body->bulks + body->offsets[i], size);
        at += size;
    }
    assert_int_equal(at, reply.len);
    reply_free(&reply);
}

static void assert_all_runs(const struct body *body, struct random *random) {
    assert_run(body, 0, body->count);
    assert_run_back(body, body->count, body->count);
    for (int i = 0; i < 4; i++) {
        size_t index = random_below(random, body->count);
        size_t count = random_below(random, body->count - index + 1);
        assert_run(body, index, count);
        assert_run_back(body, index + count, count);
    }
}

static void runs_of_strings_of_every_length_are_written(void **state) {
    struct random *random = *state;
    char text[BODY_MAX + 600];
    for (size_t i = 0; i < sizeof(text); i++) text[i] = (char)('A' + i % 57);
    struct slice texts[BODY_MAX];
    for (size_t len = 0; len < 600; len++) {
        size_t count = 1 + random_below(random, 40);
        for (size_t i = 0; i < count; i++) texts[i] = slice_make(text + i, len);
        struct body body = body_new(texts, count);
        assert_all_runs(&body, random);
        body_free(&body);
    }
}

static void a_longer_string_near_the_end_is_not_copied_from_beyond_it(void **state) {
    (void)state;
    char text[200];
    memset(text, 'n', sizeof(text));
    for (size_t len = 60; len <= 195; len++) {
        for (size_t behind = 0; behind <= 70; behind++) {
            const struct slice texts[] = {slice_make(text, len), slice_make(text, behind)};
            struct body body = body_new(texts, 2);
            assert_run(&body, 0, 2);
            assert_run_back(&body, 2, 2);
            body_free(&body);
        }
    }
}

static void runs_of_integers_of_every_size_are_written(void **state) {
    struct random *random = *state;
    char text[BODY_MAX][24];
    struct slice texts[BODY_MAX];
    for (unsigned bits = 1; bits <= 64; bits++) {
        for (size_t i = 0; i < BODY_MAX; i++) {
            int64_t value = (int64_t)(random_next(random) >> (64 - bits));
            if (random_below(random, 4) == 0) value = (int64_t) - (uint64_t)value;
            texts[i] = slice_make(text[i], number_format_int64(text[i], value));
        }
        struct body body = body_new(texts, BODY_MAX);
        assert_all_runs(&body, random);
        body_free(&body);
    }
}

static void the_longest_growth_of_all_elements_fits_what_was_reserved(void **state) {
    (void)state;
    static const struct slice longest[] = {
        SLICE("-9223372036854775808"),
        SLICE("-2147483648"),
        SLICE("-8388608"),
        SLICE("-32768"),
        SLICE("-4096"),
        SLICE("100"),
        SLICE("0"),
        SLICE(""),
    };
    struct slice texts[BODY_MAX];
    for (size_t kind = 0; kind < sizeof(longest) / sizeof(*longest); kind++) {
        for (size_t i = 0; i < BODY_MAX; i++) texts[i] = longest[kind];
        struct body body = body_new(texts, BODY_MAX);
        assert_run(&body, 0, BODY_MAX);
        assert_run_back(&body, BODY_MAX, BODY_MAX);
        body_free(&body);
    }
}

static void any_mixture_is_written(void **state) {
    struct random *random = *state;
    for (size_t round = 0; round < 400; round++) {
        struct slice texts[40];
        char *buffers = mem_alloc(40 * TEXT_SIZE_MAX);
        size_t count = 1 + random_below(random, 40);
        bool repeat = random_below(random, 2);
        for (size_t i = 0; i < count; i++) {
            texts[i] = i > 0 && repeat && random_below(random, 3)
                           ? texts[i - 1]
                           : text_random(random, buffers + i * TEXT_SIZE_MAX, round % 8 == 0);
        }
        struct body body = body_new(texts, count);
        assert_all_runs(&body, random);
        const uint8_t *p = body.first;
        for (size_t i = 0; i < count; i++, p += listpack_size(p)) {
            struct reply reply;
            reply_init(&reply, 0);
            reply_listpack_element(&reply, p);
            assert_reply(&reply, slice_make(body.bulks + body.offsets[i],
                                            body.offsets[i + 1] - body.offsets[i]));
            reply_free(&reply);
        }
        body_free(&body);
        mem_free(buffers);
    }
}

static void a_run_is_appended_to_what_stands_there(void **state) {
    (void)state;
    struct slice texts[] = {SLICE("a"), SLICE("12"), SLICE("hello")};
    struct body body = body_new(texts, 3);
    struct reply reply;
    reply_init(&reply, 0);
    reply_array(&reply, 3);
    reply_listpack_run(&reply, body.first, 3, body.guard.end, body.guard.end);
    reply_ok(&reply);
    assert_reply(&reply, SLICE("*3\r\n$1\r\na\r\n$2\r\n12\r\n$5\r\nhello\r\n+OK\r\n"));
    reply_free(&reply);
    body_free(&body);
}

static void forget_all(struct reply *reply) {
    reply->len = 0;
}

static void bytes_that_nobody_will_read_need_no_larger_buffer(void **state) {
    (void)state;
    enum { CAPACITY = 2048, HALF = 1100 };
    struct reply reply;
    char text[HALF] = "";
    reply_init(&reply, CAPACITY);
    reply.before_growth = forget_all;
    size_t capacity = reply.capacity;
    assert_true(capacity < 2 * HALF);
    char *large = mem_alloc_zeroed(2 * capacity);
    reply_raw(&reply, slice_make(text, HALF));
    size_t mark = reply_begin(&reply);
    reply_raw(&reply, slice_make(text, HALF - 1));
    assert_int_equal(reply.len, HALF - 1);
    reply_array_end(&reply, mark, 1); /* its mark is beyond the end */
    assert_int_equal(reply.len, HALF - 1);
    assert_int_equal(reply.capacity, capacity);
    reply_raw(&reply, slice_make(large, capacity - reply.len));
    mark = reply.len - 1;
    reply_array_end(&reply, mark, 1); /* its header needs a larger buffer */
    assert_int_equal(reply.len, 0);
    reply_raw(&reply, slice_make(text, HALF));
    reply_raw(&reply, slice_make(large, 2 * capacity));
    assert_int_equal(reply.len, 2 * capacity);
    mem_free(large);
    reply_free(&reply);
}

/* --- References --- */

static void end_capture(struct reply_common *replies, struct capture *capture) {
    (void)replies;
    capture_end(capture);
}

static struct reply_common common = {.end_capture = end_capture};

/* Replies the bytes [start, end) of the text by reference. */
static void refer(struct reply *reply, struct shared_text *text, size_t start, size_t end) {
    reply_bulk_captured(reply, text_capture_begin(text, NULL), start, end);
}

/* The reply has exactly these bytes, where each # is a byte of a referred text. */
static void assert_with_references(const struct reply *reply, const char *expected) {
    char all[200];
    size_t len = 0, done = 0;
    for (size_t i = 0; i < reply->reference_count; i++) {
        const struct reply_reference *reference = &reply->references[i];
        memcpy(all + len, reply->data + done, reference->position - done);
        len += reference->position - done;
        done = reference->position;
        memset(all + len, '#', reference->end - reference->start);
        len += reference->end - reference->start;
    }
    memcpy(all + len, reply->data + done, reply->len - done);
    len += reply->len - done;
    assert_int_equal(len, reply_size(reply));
    assert_int_equal(len, strlen(expected));
    assert_memory_equal(all, expected, len);
}

static void a_referred_text_stands_where_it_was_written(void **state) {
    (void)state;
    size_t used = mem_used();
    struct shared_text *text = shared_text_new(sds_new(SLICE("0123456789")));
    struct reply reply;
    reply_init(&reply, 0);
    reply.common = &common;
    reply_ok(&reply);
    size_t outer = reply_begin(&reply);
    refer(&reply, text, 0, 10);
    size_t inner = reply_begin(&reply);
    refer(&reply, text, 3, 5);
    reply_integer(&reply, 7);
    reply_array_end(&reply, inner, 2);
    reply_array_end(&reply, outer, 2);
    assert_with_references(&reply, "+OK\r\n*2\r\n$10\r\n##########\r\n*2\r\n$2\r\n##\r\n:7\r\n");
    assert_int_equal(reply.references[1].start, 3);
    assert_true(shared_text_is_captured(text));
    reply_truncate(&reply, inner + 4); /* behind the header */
    assert_int_equal(reply.reference_count, 1);
    reply_truncate(&reply, outer);
    assert_with_references(&reply, "+OK\r\n");
    assert_false(shared_text_is_captured(text));
    for (int i = 0; i < 200; i++) refer(&reply, text, 0, 1);
    assert_int_equal(reply_size(&reply), 5 + 200 * 7);
    reply_free(&reply);
    assert_false(shared_text_is_captured(text));
    shared_text_free(text);
    assert_int_equal(mem_used(), used);
}

static void references_that_were_taken_over_are_forgotten(void **state) {
    (void)state;
    struct shared_text *text = shared_text_new(sds_new(SLICE("0123456789")));
    struct reply reply;
    reply_init(&reply, 0);
    reply.common = &common;
    refer(&reply, text, 0, 10);
    struct capture *capture = reply.references[0].capture;
    reply_forget_references(&reply);
    assert_int_equal(reply_size(&reply), 7);
    reply_free(&reply);
    assert_true(shared_text_is_captured(text));
    capture_release(capture);
    capture_free(capture);
    shared_text_free(text);
}

static void large_texts_are_taken_over(void **state) {
    (void)state;
    size_t used = mem_used();
    for (int i = 0; i < 8; i++) {
        size_t len = i & 1 ? REPLY_REFER_AT : REPLY_REFER_AT - 1;
        sds text = sds_try_new_uninit(len);
        memset(text, 'x', len);
        struct reply reply;
        reply_init(&reply, 0);
        reply.common = i & 2 ? &common : NULL;
        if (i & 4)
            reply_bulk_owned(&reply, text);
        else
            reply_raw_owned(&reply, text);
        reply_ok(&reply);
        bool refers = i & 1 && i & 2;
        assert_int_equal(reply.reference_count, refers);
        if (refers) {
            const struct reply_reference *reference = &reply.references[0];
            assert_int_equal(reference->end, len);
            assert_int_equal(reference->start, i & 4 ? 0 : 1); /* a value begins with own bytes */
            assert_int_equal(text_capture_peek(reference->capture, 0, len).len, len);
            assert_ptr_equal(text_capture_peek(reference->capture, 0, len).ptr, text);
        }
        struct reply copied;
        reply_init(&copied, 0);
        char *bytes = malloc(len);
        memset(bytes, 'x', len);
        if (i & 4)
            reply_bulk(&copied, slice_make(bytes, len));
        else
            reply_raw(&copied, slice_make(bytes, len));
        reply_ok(&copied);
        assert_int_equal(reply_size(&reply), reply_size(&copied));
        if (!refers) assert_memory_equal(reply.data, copied.data, copied.len);
        free(bytes);
        reply_free(&copied);
        reply_free(&reply);
    }
    assert_int_equal(mem_used(), used);
}

/* Values of a source: numbers that are written, and texts. */
struct counting {
    struct reply_source source;
    uint64_t next;
    struct slice texts[3];
    bool *is_ended;
};

enum { LONG_TEXT = 3 * REPLY_SOURCE_PIECE };

static void count_on(struct reply_source *source, struct reply *reply) {
    struct counting *counting = (struct counting *)source;
    static char text[LONG_TEXT];
    if (counting->next++ % 2) {
        reply_bulk_integer(reply, (int64_t)counting->next);
        source->left--;
        return;
    }
    memset(text, 'x', sizeof(text));
    for (int i = 0; i < 3; i++) counting->texts[i] = slice_make(text, i == 1 ? LONG_TEXT : 3);
    source->texts = counting->texts;
    source->text_count = source->left < 3 ? source->left : 3;
}

static void end_counting(struct reply_source *source) {
    *((struct counting *)source)->is_ended = true;
}

static const struct reply_source_functions counting_functions = {count_on, end_counting};

static struct counting *counting_new(const struct reply *reply, struct shared_text *text,
                                     uint64_t values, bool *is_ended) {
    struct capture *capture = text_capture_begin(text, &reply->sources->capture_bytes);
    struct counting *counting = reply_source_new(reply, &counting_functions, sizeof(*counting),
                                                 capture, values, 1000 * LONG_TEXT);
    counting->next = 0;
    counting->is_ended = is_ended;
    *is_ended = false;
    return counting;
}

/* As if the values were written at once. */
static void write_all(struct reply *reply, uint64_t values) {
    char *text = malloc(LONG_TEXT);
    memset(text, 'x', LONG_TEXT);
    for (uint64_t i = 0; i < values; i++) {
        if (i % 4 == 3)
            reply_bulk_integer(reply, (int64_t)(i / 2 + 1));
        else
            reply_bulk(reply, slice_make(text, i % 4 == 1 ? LONG_TEXT : 3));
    }
    free(text);
}

static void values_of_a_source_are_written_piece_by_piece(void **state) {
    (void)state;
    size_t used = mem_used();
    for (uint64_t values = 1; values < 30; values++) {
        struct shared_text *text = shared_text_new(sds_new(SLICE("0123456789")));
        struct reply_sources own = {0};
        struct reply reply, piece, expected;
        bool is_ended;
        reply_init(&reply, 0);
        reply_init(&piece, 0);
        reply_init(&expected, 0);
        reply.sources = &own;
        reply.common = &common;
        reply_array(&reply, values);
        struct counting *counting = counting_new(&reply, text, values, &is_ended);
        assert_true(own.count == 1 && common.sources == 1);
        reply_defer(&reply, &counting->source);
        size_t end = reply.len, mark = reply_begin(&reply);
        reply_ok(&reply);
        reply_array_end(&reply, mark, 1); /* its header does not come before the values */
        reply_array(&expected, values);
        write_all(&expected, values);
        assert_memory_equal(reply.data, expected.data, end);
        size_t done = end;
        if (reply.reference_count > 0) {
            assert_int_equal(reply.references[0].position, end);
            assert_true(reply_size_from(&reply, 0) > reply.len);
            assert_int_equal(reply_size_from(&reply, end), reply.len - end);
            for (bool more = true; more;) {
                more = reply_source_write(&counting->source, &piece);
                assert_true(piece.len > 0);
                assert_true(piece.len < 2 * REPLY_SOURCE_PIECE);
                assert_memory_equal(piece.data, expected.data + done, piece.len);
                done += piece.len;
            }
            reply_truncate(&reply, end);
            assert_int_equal(reply.reference_count, 1);
            assert_false(is_ended);
        }
        assert_int_equal(done, expected.len);
        reply_truncate(&reply, 0);
        assert_true(is_ended && own.count == 0 && common.sources == 0);
        assert_false(shared_text_is_captured(text));
        shared_text_free(text);
        reply_free(&reply);
        reply_free(&piece);
        reply_free(&expected);
    }
    assert_int_equal(mem_used(), used);
}

static void sources_are_bounded(void **state) {
    (void)state;
    struct reply_sources own = {0};
    struct reply reply = {.sources = &own, .common = &common};
    assert_true(reply_may_defer(&reply, REPLY_DEFER_AT));
    assert_false(reply_may_defer(&reply, REPLY_DEFER_AT - 1));
    own.count = REPLY_SOURCES_OF_ONE;
    assert_false(reply_may_defer(&reply, REPLY_DEFER_AT));
    own.count = 0;
    common.sources = REPLY_SOURCES_OF_ALL;
    assert_false(reply_may_defer(&reply, REPLY_DEFER_AT));
    reply.sources = NULL;
    common.sources = 0;
    assert_false(reply_may_defer(&reply, REPLY_DEFER_AT));
}

int main(void) {
    struct random random = random_of_this_run();
#define RANDOM_TEST(test) cmocka_unit_test_prestate(test, &random)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_alike_in_both_protocols),
        cmocka_unit_test(an_error_may_be_longer_than_any_buffer),
        cmocka_unit_test(types_that_resp2_lacks_are_written_as_it_can),
        cmocka_unit_test(aggregates_that_are_counted_afterwards_nest),
        RANDOM_TEST(integers_have_the_digits_that_printf_gives_them),
        cmocka_unit_test(bulks_of_any_length_are_framed),
        RANDOM_TEST(many_bulks_are_those_that_are_written_one_by_one),
        cmocka_unit_test(a_reply_keeps_what_it_has_when_it_grows),
        RANDOM_TEST(runs_of_strings_of_every_length_are_written),
        cmocka_unit_test(a_longer_string_near_the_end_is_not_copied_from_beyond_it),
        RANDOM_TEST(runs_of_integers_of_every_size_are_written),
        cmocka_unit_test(the_longest_growth_of_all_elements_fits_what_was_reserved),
        RANDOM_TEST(any_mixture_is_written),
        cmocka_unit_test(a_run_is_appended_to_what_stands_there),
        cmocka_unit_test(bytes_that_nobody_will_read_need_no_larger_buffer),
        cmocka_unit_test(a_referred_text_stands_where_it_was_written),
        cmocka_unit_test(references_that_were_taken_over_are_forgotten),
        cmocka_unit_test(large_texts_are_taken_over),
        cmocka_unit_test(values_of_a_source_are_written_piece_by_piece),
        cmocka_unit_test(sources_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
