/* Bytes that many connections get by reference (conn_send_shared), whose sockets I/O threads have. */
#define NET_FIXTURE_THREADS 2
#include "base/memory/shared.h"
#include "unit/net_fixture.h"
#include "unit/seed.h"

enum { CLIENTS = 20 };

static int fds[CLIENTS];
static struct conn *conns[CLIENTS];

static bool all_with_threads(void) {
    for (int i = 0; i < CLIENTS; i++)
        if (conn_io_thread(conns[i]) == 0) return false;
    return true;
}

static void connect_all(void) {
    for (int i = 0; i < CLIENTS; i++) {
        fds[i] = client_new();
        conns[i] = world.newest;
    }
    ITERATE_UNTIL(all_with_threads());
}

static void close_all(void) {
    for (int i = 0; i < CLIENTS; i++) close(fds[i]);
    ITERATE_UNTIL(world.ended == CLIENTS);
}

/* Sends the same bytes to all, by reference where that is possible. Returns to how many it was. */
static int send_to_all(const char *bytes, size_t len) {
    struct conn_shared *shared = conn_shared_new(slice_make(bytes, len));
    int count = 0;
    for (int i = 0; i < CLIENTS; i++) {
        if (conn_may_share(conns[i]) && conn_send_shared(conns[i], shared))
            count++;
        else
            conn_hold(conns[i], bytes, len);
    }
    conn_shared_end(shared);
    return count;
}

static void all_get_the_bytes_in_order(void **state) {
    (void)state;
    static char bytes[100 * 1000], got[100 * 1000];
    static const size_t SIZES[] = {1, 1, 1, 10, 100, 1000, 5000, sizeof(bytes)};
    struct random random = random_of_this_run();
    connect_all();
    size_t at = 0;
    for (int round = 0; round < 200; round++) {
        size_t begin = at;
        for (int parts = (int)random_below(&random, 4); parts >= 0; parts--) {
            size_t len = SIZES[random_below(&random, 8)], sent;
            if (len > sizeof(bytes) - (at - begin)) break;
            stream_fill(bytes, len, at);
            at += len;
            switch (random_below(&random, 3)) {
            case 0:
                for (int i = 0; i < CLIENTS; i++) {
                    sent = conn_try_write(conns[i], bytes, len);
                    conn_queue(conns[i], bytes + sent, len - sent);
                }
                break;
            case 1:
                for (int i = 0; i < CLIENTS; i++) conn_hold(conns[i], bytes, len);
                break;
            default: send_to_all(bytes, len); break;
            }
        }
        for (int i = 0; i < CLIENTS; i++) {
            client_receive(fds[i], got, at - begin);
            assert_stream(got, at - begin, begin);
        }
    }
    close_all();
}

/* With small limits a thread takes less than a message, and has soon sent it. */
static bool all_have_output(void) {
#ifndef TINY_LIMITS
    for (int i = 0; i < CLIENTS; i++)
        if (conn_pending_output(conns[i]) == 0) return false;
#endif
    return true;
}

/* What a thread has for one connection is bounded; from then on its output waits in the loop. */
static void those_who_do_not_read_get_no_more_by_reference(void **state) {
    (void)state;
    static char bytes[10 * 1000];
    connect_all();
    size_t rounds = 0;
    for (int count = CLIENTS; count > 0 || !all_have_output(); rounds++) {
        stream_fill(bytes, sizeof(bytes), rounds * sizeof(bytes));
        count = send_to_all(bytes, sizeof(bytes));
#ifndef TINY_LIMITS /* with them a thread takes less than a message, and the loop holds no more */
        /* At once: a thread that is late takes more of it in the next iterations. */
        for (int i = 0; count == 0 && i < CLIENTS; i++)
            assert_true(conn_pending_output(conns[i]) > 0);
#endif
        iterate();
        assert_true(rounds < 10000);
    }
    for (int i = 0; i < CLIENTS; i += 2) {
        for (size_t at = 0; at < rounds * sizeof(bytes); at += sizeof(bytes)) {
            client_receive(fds[i], bytes, sizeof(bytes));
            assert_stream(bytes, sizeof(bytes), at);
        }
        ITERATE_UNTIL(conn_may_share(conns[i]));
    }
    for (int i = 0; i < CLIENTS; i++) conn_close(conns[i]);
    iterate();
    for (int i = 0; i < CLIENTS; i++) close(fds[i]);
}

/* A source whose bytes lie in one shared allocation, which it ends when it is released. */
struct shared_source {
    struct shared shared;
    char bytes[5000];
};

static struct slice peek(void *source, size_t offset, size_t most) {
    struct shared_source *from = source;
    size_t len = sizeof(from->bytes) - offset;
    if (len > 2000) len = 2000;
    return slice_make(from->bytes + offset, len < most ? len : most);
}

static void release(void *source) {
    shared_end(&((struct shared_source *)source)->shared);
}

static struct shared *share(void *source, size_t offset) {
    (void)offset;
    return &((struct shared_source *)source)->shared;
}

static void hold_source(struct conn *conn, size_t at) {
    static const struct conn_source functions = {.peek = peek, .release = release, .share = share};
    struct shared_source *source = mem_alloc(sizeof(*source));
    shared_begin(&source->shared);
    stream_fill(source->bytes, sizeof(source->bytes), at);
    conn_hold_source(conn, &functions, source, 0, sizeof(source->bytes));
}

/* The sources are released before the threads have sent all, and then the connections of some are
 * closed. */
static void sources_are_sent_from_where_they_are(void **state) {
    (void)state;
    static char got[40 * sizeof(((struct shared_source *)0)->bytes)];
    connect_all();
    for (int i = 0; i < CLIENTS; i++)
        for (size_t at = 0; at < sizeof(got); at += sizeof(((struct shared_source *)0)->bytes))
            hold_source(conns[i], at);
    iterate();
    for (int i = 0; i < CLIENTS; i += 2) conn_close(conns[i]);
    for (int i = 1; i < CLIENTS; i += 2) {
        client_receive(fds[i], got, sizeof(got));
        assert_stream(got, sizeof(got), 0);
        conn_close(conns[i]);
    }
    iterate();
    for (int i = 0; i < CLIENTS; i++) close(fds[i]);
}

static void a_connection_of_the_loop_shares_nothing(void **state) {
    (void)state;
    const char *error;
    connect_all();
    assert_true(io_threads_set(world.net, 0, IO_ALWAYS, &error));
    for (int i = 0; i < CLIENTS; i++) {
        ITERATE_UNTIL(conn_io_thread(conns[i]) == 0);
        assert_false(conn_may_share(conns[i]));
    }
    close_all();
}

int main(void) {
    clock_init();
    const struct CMUnitTest tests[] = {
        NET_TEST(all_get_the_bytes_in_order),
        NET_TEST(those_who_do_not_read_get_no_more_by_reference),
        NET_TEST(sources_are_sent_from_where_they_are),
        NET_TEST(a_connection_of_the_loop_shares_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
