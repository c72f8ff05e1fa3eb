/* hiredis with libevent: replies arrive by callbacks, in order, and connections wait beside each
 * other. */
#include "unit/in_range.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <event2/event.h>
#include <hiredis/adapters/libevent.h>
#include <hiredis/async.h>
#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATIENCE_SECONDS = 60 };

static struct event_base *loop;
static bool timed_out;
static int opened;
static int closed;

static int server_port(void) {
    return (int)strtol(getenv("PACKLIST_PORT"), NULL, 10);
}

static void on_connect(const redisAsyncContext *c, int status) {
    (void)c;
    assert_int_equal(status, REDIS_OK);
}

static void on_disconnect(const redisAsyncContext *c, int status) {
    (void)c;
    (void)status;
    closed++;
}

static redisAsyncContext *connect_to_server(void) {
    redisAsyncContext *c = redisAsyncConnect("127.0.0.1", server_port());
    assert_non_null(c);
    assert_int_equal(c->err, 0);
    assert_int_equal(redisLibeventAttach(c, loop), REDIS_OK);
    opened++;
    redisAsyncSetConnectCallback(c, on_connect);
    redisAsyncSetDisconnectCallback(c, on_disconnect);
    return c;
}

static void give_up(evutil_socket_t fd, short what, void *arg) {
    (void)fd;
    (void)what;
    (void)arg;
    timed_out = true;
    event_base_loopbreak(loop);
}

/* Until every connection is closed. */
static void run_loop(void) {
    struct event *timer = evtimer_new(loop, give_up, NULL);
    evtimer_add(timer, &(struct timeval){.tv_sec = PATIENCE_SECONDS});
    while (!timed_out && closed < opened) event_base_loop(loop, EVLOOP_ONCE);
    event_free(timer);
    assert_false(timed_out);
}

static int begin(void **state) {
    (void)state;
    redisContext *c = redisConnect("127.0.0.1", server_port());
    if (!c || c->err) return -1;
    freeReplyObject(redisCommand(c, "FLUSHALL"));
    redisFree(c);
    loop = event_base_new();
    opened = closed = 0;
    timed_out = false;
    return 0;
}

static int end(void **state) {
    (void)state;
    event_base_free(loop);
    return 0;
}

/* --- Order --- */

enum { REQUESTS = 20000 };

static int answered;

static void on_numbered(redisAsyncContext *c, void *data, void *arg) {
    redisReply *reply = data;
    intptr_t number = (intptr_t)arg;
    assert_non_null(reply);
    assert_int_equal(reply->type, REDIS_REPLY_INTEGER);
    assert_int_equal(reply->integer, number + 1);
    assert_int_equal(number, answered);
    answered++;
    if (answered == REQUESTS) redisAsyncDisconnect(c);
}

static void callbacks_come_in_the_order_of_the_requests(void **state) {
    (void)state;
    redisAsyncContext *c = connect_to_server();
    answered = 0;
    for (intptr_t i = 0; i < REQUESTS; i++)
        redisAsyncCommand(c, on_numbered, (void *)i, "RPUSH l %d", (int)i);
    run_loop();
    assert_int_equal(answered, REQUESTS);
}

/* --- Waiting --- */

enum { WAITERS = 50 };

static int served[WAITERS];
static int served_count;

static void on_popped(redisAsyncContext *c, void *data, void *arg) {
    redisReply *reply = data;
    assert_non_null(reply);
    assert_int_equal(reply->type, REDIS_REPLY_ARRAY);
    assert_string_equal(reply->element[0]->str, "queue");
    served[(intptr_t)arg] = (int)strtol(reply->element[1]->str, NULL, 10);
    served_count++;
    redisAsyncDisconnect(c);
}

static void on_pushed(redisAsyncContext *c, void *data, void *arg) {
    (void)arg;
    redisReply *reply = data;
    assert_non_null(reply);
    assert_int_equal(reply->integer, WAITERS);
    redisAsyncDisconnect(c);
}

static void push_all(redisAsyncContext *c) {
    const char *argv[WAITERS + 2] = {"RPUSH", "queue"};
    char elements[WAITERS][8];
    for (int i = 0; i < WAITERS; i++) {
        snprintf(elements[i], sizeof(elements[i]), "%d", i);
        argv[i + 2] = elements[i];
    }
    redisAsyncCommandArgv(c, on_pushed, NULL, WAITERS + 2, argv, NULL);
}

static void on_info(redisAsyncContext *c, void *data, void *arg) {
    redisReply *reply = data;
    char *found = strstr(reply->str, "blocked_clients:");
    assert_non_null(found);
    if (strtol(found + strlen("blocked_clients:"), NULL, 10) == WAITERS)
        push_all(c);
    else
        redisAsyncCommand(c, on_info, arg, "INFO clients");
}

static void one_push_serves_everybody_who_waits(void **state) {
    (void)state;
    served_count = 0;
    memset(served, -1, sizeof(served));
    for (intptr_t i = 0; i < WAITERS; i++)
        redisAsyncCommand(connect_to_server(), on_popped, (void *)i, "BLPOP nosuch queue 0");
    redisAsyncCommand(connect_to_server(), on_info, NULL, "INFO clients");
    run_loop();
    assert_int_equal(served_count, WAITERS);
    bool seen[WAITERS] = {false};
    for (int i = 0; i < WAITERS; i++) {
        assert_uint_in_range(served[i], 0, WAITERS - 1);
        assert_false(seen[served[i]]);
        seen[served[i]] = true;
    }
}

/* --- Ends --- */

static int errors;

static void on_error(redisAsyncContext *c, void *data, void *arg) {
    (void)c;
    redisReply *reply = data;
    assert_non_null(reply);
    assert_int_equal(reply->type, REDIS_REPLY_ERROR);
    assert_string_equal(reply->str, (const char *)arg);
    errors++;
}

static void on_quit(redisAsyncContext *c, void *data, void *arg) {
    (void)c;
    (void)arg;
    redisReply *reply = data;
    assert_non_null(reply);
    assert_string_equal(reply->str, "OK");
}

static void errors_reach_their_callbacks_and_quit_ends_the_connection(void **state) {
    (void)state;
    redisAsyncContext *c = connect_to_server();
    errors = 0;
    redisAsyncCommand(c, NULL, NULL, "SET s text");
    redisAsyncCommand(c, on_error,
                      "WRONGTYPE Operation against a key holding the wrong kind of value",
                      "LPUSH s a");
    redisAsyncCommand(c, on_error, "ERR syntax error", "LPOS l a NOSUCH 1");
    redisAsyncCommand(c, on_error, "ERR timeout is negative", "BLPOP l -1");
    redisAsyncCommand(c, on_quit, NULL, "QUIT");
    run_loop();
    assert_int_equal(errors, 3);
}

static int big_replies;

static void on_big(redisAsyncContext *c, void *data, void *arg) {
    (void)c;
    (void)arg;
    redisReply *reply = data;
    assert_non_null(reply);
    assert_int_equal(reply->elements, 1000);
    assert_int_equal(reply->element[999]->len, 1000);
    big_replies++;
}

static void big_replies_to_several_connections_come_beside_each_other(void **state) {
    (void)state;
    enum { CONNECTIONS = 5, REPLIES = 20 };
    char element[1001];
    memset(element, 'x', 1000);
    element[1000] = '\0';
    redisContext *filler = redisConnect("127.0.0.1", server_port());
    for (int i = 0; i < 1000; i++) freeReplyObject(redisCommand(filler, "RPUSH l %s", element));
    redisFree(filler);
    big_replies = 0;
    for (int i = 0; i < CONNECTIONS; i++) {
        redisAsyncContext *c = connect_to_server();
        for (int j = 0; j < REPLIES; j++) redisAsyncCommand(c, on_big, NULL, "LRANGE l 0 -1");
        redisAsyncCommand(c, on_quit, NULL, "QUIT");
    }
    run_loop();
    assert_int_equal(big_replies, CONNECTIONS * REPLIES);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(callbacks_come_in_the_order_of_the_requests),
        TEST(one_push_serves_everybody_who_waits),
        TEST(errors_reach_their_callbacks_and_quit_ends_the_connection),
        TEST(big_replies_to_several_connections_come_beside_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
