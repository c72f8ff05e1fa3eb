/* hiredis, thousands of requests before the first reply is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static redisContext *context;

static int server_port(void) {
    return (int)strtol(getenv("PACKLIST_PORT"), NULL, 10);
}

static int begin(void **state) {
    (void)state;
    context = redisConnect("127.0.0.1", server_port());
    if (!context || context->err) return -1;
    redisSetTimeout(context, (struct timeval){.tv_sec = 60});
    freeReplyObject(redisCommand(context, "FLUSHALL"));
    return 0;
}

static int end(void **state) {
    (void)state;
    redisFree(context);
    return 0;
}

static void append(const char *format, ...) {
    va_list args;
    va_start(args, format);
    assert_int_equal(redisvAppendCommand(context, format, args), REDIS_OK);
    va_end(args);
}

static redisReply *next_reply(void) {
    redisReply *reply = NULL;
    if (redisGetReply(context, (void **)&reply) != REDIS_OK) fail_msg("%s", context->errstr);
    return reply;
}

static void next_is_integer(long long value) {
    redisReply *reply = next_reply();
    assert_int_equal(reply->type, REDIS_REPLY_INTEGER);
    assert_int_equal(reply->integer, value);
    freeReplyObject(reply);
}

static void next_is_text(int type, const char *text) {
    redisReply *reply = next_reply();
    assert_int_equal(reply->type, type);
    assert_string_equal(reply->str, text);
    freeReplyObject(reply);
}

static void replies_come_in_the_order_of_the_requests(void **state) {
    (void)state;
    enum { COUNT = 50000 };
    char text[32];
    for (int i = 0; i < COUNT; i++) append("ECHO %d", i);
    for (int i = 0; i < COUNT; i++) {
        snprintf(text, sizeof(text), "%d", i);
        next_is_text(REDIS_REPLY_STRING, text);
    }
}

static void a_pipeline_of_pushes_and_one_of_pops_lose_nothing(void **state) {
    (void)state;
    enum { COUNT = 30000 };
    char text[32];
    for (int i = 0; i < COUNT; i++) append(i % 2 ? "RPUSH l r%d" : "LPUSH l l%d", i);
    for (int i = 0; i < COUNT; i++) next_is_integer(i + 1);
    for (int i = 0; i < COUNT; i++) append(i % 2 ? "RPOP l" : "LPOP l");
    for (int i = 0; i < COUNT; i++) {
        int pushed = COUNT - 1 - i - (i % 2 ? -1 : 1);
        snprintf(text, sizeof(text), "%c%d", i % 2 ? 'r' : 'l', pushed);
        next_is_text(REDIS_REPLY_STRING, text);
    }
    append("EXISTS l");
    next_is_integer(0);
}

static void errors_and_nulls_have_their_place_among_the_replies(void **state) {
    (void)state;
    enum { COUNT = 2000 };
    for (int i = 0; i < COUNT; i++) {
        append("SET s %d", i);
        append("LPUSH s x");
        append("GET nosuch");
        append("LRANGE nosuch 0 -1");
        append("NOSUCH");
    }
    for (int i = 0; i < COUNT; i++) {
        next_is_text(REDIS_REPLY_STATUS, "OK");
        next_is_text(REDIS_REPLY_ERROR,
                     "WRONGTYPE Operation against a key holding the wrong kind of value");
        redisReply *null = next_reply();
        assert_int_equal(null->type, REDIS_REPLY_NIL);
        freeReplyObject(null);
        redisReply *empty = next_reply();
        assert_int_equal(empty->type, REDIS_REPLY_ARRAY);
        assert_int_equal(empty->elements, 0);
        freeReplyObject(empty);
        next_is_text(REDIS_REPLY_ERROR, "ERR unknown command 'NOSUCH', with args beginning with: ");
    }
}

static void binary_values_of_all_sizes_pass_through_a_pipeline(void **state) {
    (void)state;
    enum { LONGEST = 20000, STEP = 17 };
    char *bytes = malloc(LONGEST);
    for (size_t i = 0; i < LONGEST; i++) bytes[i] = (char)(i * 7 + i / 256);
    for (size_t len = 0; len < LONGEST; len += STEP) append("RPUSH l %b", bytes, len);
    append("LRANGE l 0 -1");
    long long count = 0;
    for (size_t len = 0; len < LONGEST; len += STEP) next_is_integer(++count);
    redisReply *all = next_reply();
    assert_int_equal(all->elements, count);
    for (size_t i = 0; i < all->elements; i++) {
        assert_int_equal(all->element[i]->len, i * STEP);
        assert_memory_equal(all->element[i]->str, bytes, i * STEP);
    }
    freeReplyObject(all);
    free(bytes);
}

static void many_big_replies_are_read_in_the_end(void **state) {
    (void)state;
    enum { COUNT = 100, ELEMENTS = 5000 };
    for (int i = 0; i < ELEMENTS; i++) append("RPUSH l an-element-of-some-length:%d", i);
    for (int i = 0; i < ELEMENTS; i++) next_is_integer(i + 1);
    for (int i = 0; i < COUNT; i++) {
        append("LRANGE l 0 -1");
        append("PING");
    }
    for (int i = 0; i < COUNT; i++) {
        redisReply *reply = next_reply();
        assert_int_equal(reply->elements, ELEMENTS);
        assert_string_equal(reply->element[ELEMENTS - 1]->str, "an-element-of-some-length:4999");
        freeReplyObject(reply);
        next_is_text(REDIS_REPLY_STATUS, "PONG");
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(replies_come_in_the_order_of_the_requests),
        TEST(a_pipeline_of_pushes_and_one_of_pops_lose_nothing),
        TEST(errors_and_nulls_have_their_place_among_the_replies),
        TEST(binary_values_of_all_sizes_pass_through_a_pipeline),
        TEST(many_big_replies_are_read_in_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
