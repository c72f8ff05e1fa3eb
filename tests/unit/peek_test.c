/* Peeking at a request gives what the parser would give, and reads no byte behind it. */
#include "resp/peek.h"

#include "resp/parser.h"
#include "unit/guard.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void check(const char *text, size_t expected, const char *second) {
    struct slice bytes = slice_of_cstr(text), argument = SLICE("untouched");
    assert_int_equal(resp_peek(bytes.ptr, bytes.len, &argument), expected);
    if (expected) assert_true(slice_equal(argument, slice_of_cstr(second)));
}

static void whole_requests_show_their_second_argument(void **state) {
    (void)state;
    check("*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", 20, "k");
    check("*2\r\n$3\r\nGET\r\n$0\r\n\r\n", 19, "");
    check("*1\r\n$4\r\nPING\r\n*1\r\n", 14, "");
    check("*3\r\n$3\r\nSET\r\n$12\r\nkey:00000001\r\n$1\r\nv\r\nrest", 39, "key:00000001");
}

static void other_requests_show_nothing(void **state) {
    (void)state;
    static const char *const texts[] = {"",
                                        "*",
                                        "PING\r\n",
                                        "*0\r\n",
                                        "*-1\r\n",
                                        "*x\r\n",
                                        "*17\r\n$1\r\na\r\n",
                                        "*99999999999999999999\r\n",
                                        "*2\r\n$3\r\nGET\r\n:1\r\n",
                                        "*2\r\n$3\r\nGET\r\n$-1\r\n",
                                        "*2\r\n$3\r\nGET\r\n$99999\r\n",
                                        "*2\r\n$3\r\nGET\r\n$1 \r\nk\r\n"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) check(texts[i], 0, "");
}

/* Writes a request of random arguments; returns its length. */
static size_t write_request(struct random *random, char *out) {
    size_t count = 1 + random_below(random, 6), len = 0;
    len += (size_t)snprintf(out, 32, "*%zu\r\n", count);
    for (size_t i = 0; i < count; i++) {
        size_t size = random_below(random, 30);
        len += (size_t)snprintf(out + len, 32, "$%zu\r\n", size);
        memset(out + len, '0' + (int)random_below(random, 10), size);
        memcpy(out + len + size, "\r\n", 2);
        len += size + 2;
    }
    return len;
}

static void every_prefix_shows_what_the_parser_finds(void **state) {
    (void)state;
    enum { ROUNDS = 300, LENGTH_MAX = 400 };
    struct random random = random_of_this_run();
    struct resp_limits limits = {.bulk_max = 1 << 20, .authenticated = true};
    struct resp_parser parser;
    struct guard guard = guard_new(LENGTH_MAX);
    resp_parser_init(&parser);
    for (int round = 0; round < ROUNDS; round++) {
        char request[LENGTH_MAX];
        size_t len = write_request(&random, request);
        for (size_t i = 0; i <= len; i++) {
            struct slice second;
            char *bytes = (char *)guard_place(&guard, request, i);
            assert_int_equal(resp_peek(bytes, i, &second), i == len ? len : 0);
            if (i < len) continue;
            assert_int_equal(resp_parse(&parser, bytes, i, &limits), RESP_REQUEST);
            struct slice expected = parser.argc > 1 ? parser.argv[1] : SLICE("");
            assert_true(slice_equal(second, expected));
            struct slice argv[4];
            assert_int_equal(resp_peek_arguments(bytes, i, argv, 4), parser.argc);
            for (size_t n = 0; n < 4 && n < parser.argc; n++)
                assert_true(slice_equal(argv[n], parser.argv[n]));
            size_t at = random_below(&random, 6);
            assert_int_equal(resp_peek_at(bytes, i, at, &second), len);
            expected = at < parser.argc ? parser.argv[at] : SLICE("");
            assert_true(slice_equal(second, expected));
        }
    }
    resp_parser_free(&parser);
    guard_free(&guard);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_requests_show_their_second_argument),
        cmocka_unit_test(other_requests_show_nothing),
        cmocka_unit_test(every_prefix_shows_what_the_parser_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
