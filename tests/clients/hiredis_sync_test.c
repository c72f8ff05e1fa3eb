/* hiredis, one request at a time: lists, binary values, errors, big replies, blocking pops, RESP3's
 * beginning. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BIG = 8 * 1024 * 1024 };

static redisContext *context;

static int server_port(void) {
    return (int)strtol(getenv("PACKLIST_PORT"), NULL, 10);
}

static redisContext *connect_to_server(void) {
    redisContext *c = redisConnect("127.0.0.1", server_port());
    assert_non_null(c);
    assert_int_equal(c->err, 0);
    redisSetTimeout(c, (struct timeval){.tv_sec = 60});
    return c;
}

static redisReply *ask(const char *format, ...) {
    va_list args;
    va_start(args, format);
    redisReply *reply = redisvCommand(context, format, args);
    va_end(args);
    if (!reply) fail_msg("no reply to %s: %s", format, context->errstr);
    return reply;
}

static void is_integer(redisReply *reply, long long value) {
    assert_int_equal(reply->type, REDIS_REPLY_INTEGER);
    assert_int_equal(reply->integer, value);
    freeReplyObject(reply);
}

static void is_text(redisReply *reply, int type, const char *text) {
    assert_int_equal(reply->type, type);
    assert_string_equal(reply->str, text);
    freeReplyObject(reply);
}

static void is_string(redisReply *reply, const char *text) {
    is_text(reply, REDIS_REPLY_STRING, text);
}

static void is_nil(redisReply *reply) {
    assert_int_equal(reply->type, REDIS_REPLY_NIL);
    freeReplyObject(reply);
}

/* The elements of an array reply, joined by blanks. */
static void is_array(redisReply *reply, const char *joined) {
    char text[256] = "";
    size_t len = 0;
    assert_int_equal(reply->type, REDIS_REPLY_ARRAY);
    for (size_t i = 0; i < reply->elements; i++) {
        assert_int_equal(reply->element[i]->type, REDIS_REPLY_STRING);
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i > 0 ? " " : "",
                                reply->element[i]->str);
        assert_true(len < sizeof(text));
    }
    assert_string_equal(text, joined);
    freeReplyObject(reply);
}

static int begin(void **state) {
    (void)state;
    context = connect_to_server();
    freeReplyObject(ask("FLUSHALL"));
    return 0;
}

static int end(void **state) {
    (void)state;
    redisFree(context);
    return 0;
}

/* --- Lists --- */

static void pushes_and_pops_answer_what_they_should(void **state) {
    (void)state;
    is_integer(ask("RPUSH l %s %s %s", "a", "b", "c"), 3);
    is_integer(ask("LPUSH l z"), 4);
    is_integer(ask("LLEN l"), 4);
    is_array(ask("LRANGE l 0 -1"), "z a b c");
    is_string(ask("LPOP l"), "z");
    is_string(ask("RPOP l"), "c");
    is_array(ask("LPOP l 10"), "a b");
    is_nil(ask("LPOP l"));
    is_nil(ask("LPOP l 5"));
    is_integer(ask("EXISTS l"), 0);
}

static void every_list_command_is_understood(void **state) {
    (void)state;
    is_integer(ask("RPUSH l a b c b a"), 5);
    is_string(ask("LINDEX l -2"), "b");
    is_nil(ask("LINDEX l 5"));
    is_text(ask("LSET l 2 C"), REDIS_REPLY_STATUS, "OK");
    is_integer(ask("LINSERT l BEFORE C x"), 6);
    is_integer(ask("LPOS l b RANK -1"), 4);
    is_integer(ask("LREM l 0 b"), 2);
    is_array(ask("LRANGE l 0 -1"), "a x C a");
    is_text(ask("LTRIM l 1 2"), REDIS_REPLY_STATUS, "OK");
    is_string(ask("LMOVE l m LEFT RIGHT"), "x");
    is_string(ask("RPOPLPUSH l m"), "C");
    is_array(ask("LRANGE m 0 -1"), "C x");
    is_integer(ask("LPUSHX nosuch x"), 0);
    redisReply *popped = ask("LMPOP 2 l m RIGHT COUNT 5");
    assert_int_equal(popped->type, REDIS_REPLY_ARRAY);
    assert_int_equal(popped->elements, 2);
    assert_string_equal(popped->element[0]->str, "m");
    assert_int_equal(popped->element[1]->elements, 2);
    assert_string_equal(popped->element[1]->element[0]->str, "x");
    freeReplyObject(popped);
}

/* --- Sorted sets, hashes and sets --- */

static void members_and_fields_are_understood(void **state) {
    (void)state;
    is_integer(ask("ZADD z 1 a 2.5 b 3 c"), 3);
    is_array(ask("ZRANGE z 0 -1 WITHSCORES"), "a 1 b 2.5 c 3");
    is_string(ask("ZINCRBY z 0.5 b"), "3");
    is_nil(ask("ZSCORE z nosuch"));
    is_array(ask("ZPOPMIN z"), "a 1");
    is_integer(ask("HSET h %s %s %s %b", "name", "Anna", "bytes", "\0\r\n", (size_t)3), 2);
    is_array(ask("HMGET h name"), "Anna");
    redisReply *bytes = ask("HGET h bytes");
    assert_int_equal(bytes->len, 3);
    assert_memory_equal(bytes->str, "\0\r\n", 3);
    freeReplyObject(bytes);
    is_integer(ask("SADD s a b"), 2);
    is_integer(ask("SISMEMBER s a"), 1);
    is_array(ask("SINTER s s2"), "");
    is_nil(ask("BZPOPMIN nosuch 0.01"));
}

static void elements_are_bytes(void **state) {
    (void)state;
    char bytes[256];
    for (size_t i = 0; i < sizeof(bytes); i++) bytes[i] = (char)i;
    for (size_t len = 0; len <= sizeof(bytes); len++) {
        is_integer(ask("RPUSH %b %b", bytes, sizeof(bytes), bytes, len), (long long)len + 1);
    }
    for (size_t len = 0; len <= sizeof(bytes); len++) {
        redisReply *reply = ask("LINDEX %b %lld", bytes, sizeof(bytes), (long long)len);
        assert_int_equal(reply->type, REDIS_REPLY_STRING);
        assert_int_equal(reply->len, len);
        assert_memory_equal(reply->str, bytes, len);
        freeReplyObject(reply);
    }
}

static void big_elements_come_back_unchanged(void **state) {
    (void)state;
    char *big = malloc(BIG);
    for (size_t i = 0; i < BIG; i++) big[i] = (char)(i * 31 + i / 251);
    long long count = 0;
    for (size_t len = 1; len <= BIG; len *= 8) {
        count += 2;
        is_integer(ask("RPUSH l %b %s", big, len, "small"), count);
    }
    for (size_t len = 1; len <= BIG; len *= 8) {
        redisReply *reply = ask("LPOP l");
        assert_int_equal(reply->len, len);
        assert_memory_equal(reply->str, big, len);
        freeReplyObject(reply);
        is_string(ask("LPOP l"), "small");
    }
    free(big);
}

static void a_reply_of_a_hundred_thousand_elements_comes_whole(void **state) {
    (void)state;
    enum { COUNT = 100000, BATCH = 1000 };
    char text[32];
    const char *argv[BATCH + 2] = {"RPUSH", "l"};
    for (int i = 0; i < COUNT; i += BATCH) {
        char elements[BATCH][16];
        for (int j = 0; j < BATCH; j++) {
            snprintf(elements[j], sizeof(elements[j]), "element:%d", i + j);
            argv[j + 2] = elements[j];
        }
        redisReply *pushed = redisCommandArgv(context, BATCH + 2, argv, NULL);
        is_integer(pushed, i + BATCH);
    }
    redisReply *reply = ask("LRANGE l 0 -1");
    assert_int_equal(reply->elements, COUNT);
    for (int i = 0; i < COUNT; i++) {
        snprintf(text, sizeof(text), "element:%d", i);
        assert_string_equal(reply->element[i]->str, text);
    }
    freeReplyObject(reply);
}

/* --- Errors --- */

static void errors_are_error_replies_and_the_connection_goes_on(void **state) {
    (void)state;
    is_text(ask("SET s text"), REDIS_REPLY_STATUS, "OK");
    is_text(ask("RPUSH s a"), REDIS_REPLY_ERROR,
            "WRONGTYPE Operation against a key holding the wrong kind of value");
    is_text(ask("LPOP"), REDIS_REPLY_ERROR, "ERR wrong number of arguments for 'lpop' command");
    is_text(ask("NOSUCH %s", "arg"), REDIS_REPLY_ERROR,
            "ERR unknown command 'NOSUCH', with args beginning with: 'arg' ");
    is_text(ask("LSET nosuch 0 x"), REDIS_REPLY_ERROR, "ERR no such key");
    is_text(ask("LRANGE s a b"), REDIS_REPLY_ERROR, "ERR value is not an integer or out of range");
    is_string(ask("GET s"), "text");
}

static void a_reader_that_waits_too_long_can_reconnect(void **state) {
    (void)state;
    redisSetTimeout(context, (struct timeval){.tv_usec = 100000});
    assert_null(redisCommand(context, "BLPOP l 0"));
    assert_int_equal(context->err, REDIS_ERR_IO);
    assert_int_equal(redisReconnect(context), REDIS_OK);
    redisSetTimeout(context, (struct timeval){.tv_sec = 60});
    /* The waiter that was given up must not take the element. */
    is_integer(ask("RPUSH l a"), 1);
    is_string(ask("LPOP l"), "a");
}

/* --- Blocking --- */

static void blocking_pops_wait_for_another_connection(void **state) {
    (void)state;
    redisContext *waiting = connect_to_server();
    redisAppendCommand(waiting, "BLPOP a b 0");
    redisAppendCommand(waiting, "BLMOVE a c LEFT RIGHT 0");
    int done = 0;
    while (!done) assert_int_equal(redisBufferWrite(waiting, &done), REDIS_OK);
    is_integer(ask("RPUSH b one"), 1);
    redisReply *reply;
    assert_int_equal(redisGetReply(waiting, (void **)&reply), REDIS_OK);
    is_array(reply, "b one");
    is_integer(ask("RPUSH a two"), 1);
    assert_int_equal(redisGetReply(waiting, (void **)&reply), REDIS_OK);
    is_string(reply, "two");
    is_array(ask("LRANGE c 0 -1"), "two");
    redisFree(waiting);
}

static void blocking_pops_time_out(void **state) {
    (void)state;
    is_nil(ask("BLPOP l 0.05"));
    is_nil(ask("BRPOP l m 0.01"));
    is_nil(ask("BLMPOP 0.01 2 l m LEFT"));
    is_nil(ask("BRPOPLPUSH l m 0.01"));
    is_text(ask("PING"), REDIS_REPLY_STATUS, "PONG");
}

/* --- RESP3: this hiredis reads it only where it looks like RESP2 --- */

static int64_t now_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000LL + time.tv_nsec / 1000;
}

/* Many short waits: where in a millisecond each one begins is chance. */
static void no_timeout_ends_early(void **state) {
    (void)state;
    for (int i = 0; i < 400; i++) {
        int64_t begin = now_us();
        is_nil(ask("BLPOP never-pushed 0.003"));
        assert_true(now_us() - begin >= 3000);
    }
}

static void a_unix_socket_serves_as_tcp_does(void **state) {
    (void)state;
    redisReply *answer = ask("CONFIG GET unixsocket");
    assert_int_equal(answer->elements, 2);
    redisFree(context);
    context = redisConnectUnix(answer->element[1]->str);
    assert_non_null(context);
    assert_string_equal(context->errstr, "");
    freeReplyObject(answer);
    is_integer(ask("RPUSH l a b"), 2);
    is_array(ask("LRANGE l 0 -1"), "a b");
}

static void resp3_is_agreed_on_over_the_same_connection(void **state) {
    (void)state;
    redisReply *hello = ask("HELLO 2");
    assert_int_equal(hello->type, REDIS_REPLY_ARRAY);
    assert_string_equal(hello->element[0]->str, "server");
    freeReplyObject(hello);
    is_text(ask("HELLO 4"), REDIS_REPLY_ERROR, "NOPROTO unsupported protocol version");
#if HIREDIS_MAJOR >= 1
    hello = ask("HELLO 3");
    assert_int_equal(hello->type, REDIS_REPLY_MAP);
    freeReplyObject(hello);
#else /* it does not know maps */
    assert_null(redisCommand(context, "HELLO 3"));
    assert_int_equal(context->err, REDIS_ERR_PROTOCOL);
    assert_int_equal(context->errstr[0], 'P');
    assert_int_equal(redisReconnect(context), REDIS_OK);
#endif
    is_nil(ask("GET nosuch"));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(pushes_and_pops_answer_what_they_should),
        TEST(every_list_command_is_understood),
        TEST(members_and_fields_are_understood),
        TEST(elements_are_bytes),
        TEST(big_elements_come_back_unchanged),
        TEST(a_reply_of_a_hundred_thousand_elements_comes_whole),
        TEST(errors_are_error_replies_and_the_connection_goes_on),
        TEST(a_reader_that_waits_too_long_can_reconnect),
        TEST(blocking_pops_wait_for_another_connection),
        TEST(blocking_pops_time_out),
        TEST(no_timeout_ends_early),
        TEST(a_unix_socket_serves_as_tcp_does),
        TEST(resp3_is_agreed_on_over_the_same_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
