/* What connections that are with I/O threads may meet while they move, end, or get bytes by reference. */
#define NET_FIXTURE_THREADS 2
#include "net/connections/conn_state.h"
#include "net/nested_poll.h"
#include "net/threads/io_state.h"
#include "unit/tls_fixture.h"

#include <limits.h>

/* Returns a client whose connection, world.newest, is with a thread. */
static int client_of_thread(void) {
    int fd = client_new();
    ITERATE_UNTIL(conn_io_thread(world.newest) > 0);
    return fd;
}

/* --- Ends during nested polling --- */

static struct conn *runner;

/* The runner closes the connection of another client, and its thread does so meanwhile. */
static size_t close_the_other(struct conn *conn, char *bytes, size_t len) {
    (void)bytes;
    if (!runner) runner = conn;
    if (conn != runner) return len;
    struct conn *other = world.newest == conn ? last_words.conn : world.newest;
    assert_true(nested_poll_begin(world.net, false));
    nested_poll_add(world.net, other);
    conn_close(other);
    for (int i = 0; i < 20; i++) {
        nested_poll_step(world.net);
        usleep(1000);
    }
    nested_poll_end(world.net);
    return len;
}

/* Both are about to be presented what has waited for them, one after the other. */
static void one_that_resumes_may_be_closed_by_the_one_before_it(void **state) {
    (void)state;
    runner = NULL;
    world.on_data = close_the_other;
    int fds[2];
    struct conn *conns[2];
    for (int i = 0; i < 2; i++) {
        fds[i] = client_of_thread();
        conns[i] = world.newest;
        conn_pause_input(conns[i]);
    }
    last_words.conn = conns[0];
    for (int i = 0; i < 2; i++) {
        client_send(fds[i], "x", 1);
        ITERATE_UNTIL(conn_waiting_input(conns[i]) > 0);
    }
    for (int i = 0; i < 2; i++) conn_resume_input(conns[i]);
    ITERATE_UNTIL(runner);
    for (int i = 0; i < 2; i++) ITERATE_UNTIL(conns[i] == runner || client_at_end(fds[i]));
    for (int i = 0; i < 2; i++) close(fds[i]);
    ITERATE_UNTIL(world.ended == 1);
}

/* --- On the way back --- */

static void poll_nested(void *arg) {
    assert_true(nested_poll_begin(world.net, false));
    nested_poll_add(world.net, arg);
    usleep(200);
    nested_poll_step(world.net);
    nested_poll_end(world.net);
}

/* It is asked for in an iteration in which input was consumed; and nested polling brings more. */
static void input_may_arrive_on_the_way_back(void **state) {
    (void)state;
    static char bytes[64 * 1024];
    const char *error;
    world.on_data = swallow;
    int fd = client_of_thread();
    struct conn *conn = world.newest;
    struct net_timer *timer = net_timer_new(world.net, poll_nested, conn);
    net_timer_start(timer, 1, 1);
    for (int round = 0; round < 100; round++) {
        assert_true(io_threads_set(world.net, 0, IO_ALWAYS, &error));
        for (int i = 0; i < 200 && conn_io_thread(conn) > 0; i++) {
            if (send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL) < 0) assert_int_equal(errno, EAGAIN);
            iterate();
        }
        assert_true(io_threads_set(world.net, 2, IO_ALWAYS, &error));
        ITERATE_UNTIL(conn_io_thread(conn) > 0);
    }
    net_timer_free(timer);
    close(fd);
    ITERATE_UNTIL(world.ended == 1);
}

static bool is_leaving(const struct conn *conn) {
    return conn->transport->is_threaded && ((struct threaded *)transport_state(conn))->is_leaving;
}

static void more_than_4_gb_may_be_queued_on_the_way_back(void **state) {
    (void)state;
    const size_t size = (size_t)UINT_MAX + 100;
    const char *error;
    char *bytes = mem_try_alloc(size); /* hardly any of it is ever touched */
    if (!bytes) skip();
    int fd = client_of_thread();
    struct conn *conn = world.newest;
    assert_true(io_threads_set(world.net, 0, IO_ALWAYS, &error));
    ITERATE_UNTIL(is_leaving(conn));
    conn_queue_owned(conn, bytes, 0, size);
    assert_int_equal(conn_pending_output(conn), size);
    ITERATE_UNTIL(conn_io_thread(conn) == 0);
    assert_in_range(conn_pending_output(conn), size / 2, size);
    client_reset(fd);
    ITERATE_UNTIL(world.ended == 1);
}

/* --- By reference, over TLS --- */

static struct conn_shared *shared;
static size_t shared_count;

/* Sends bytes by reference and others in turn, while the thread waits for input to be consumed. */
static size_t share_and_write(struct conn *conn, char *bytes, size_t len) {
    (void)bytes;
    for (int i = 0; i < 2; i++) {
        if (conn_may_share(conn) && conn_send_shared(conn, shared)) shared_count++;
        if (conn_try_write(conn, "-", 1) == 1) shared_count++;
    }
    return len;
}

static void input_that_goes_on_between_bytes_by_reference(void **state) {
    (void)state;
    for (size_t size = 500; size <= 16000; size += 3100) {
        struct client client = connected(TLS1_3_VERSION);
        struct conn *conn = world.newest;
        static char bytes[16 * 1024];
        size_t waiting = 0;
        shared_count = 0;
        ITERATE_UNTIL(conn_io_thread(conn) > 0);
        conn_pause_input(conn);
        while (BIO_ctrl_pending(client.out) < 512 * 1024)
            assert_int_equal(SSL_write(client.ssl, bytes, (int)size), size);
        for (int idle = 0; idle < 50; iterate(), usleep(100)) {
            char *records;
            long len = BIO_get_mem_data(client.out, &records);
            ssize_t sent = send(client.fd, records, (size_t)len, MSG_NOSIGNAL);
            for (ssize_t left = sent; left > 0;)
                left -= BIO_read(client.out, bytes,
                                 left < (ssize_t)sizeof(bytes) ? (int)left : (int)sizeof(bytes));
            idle = conn_waiting_input(conn) > waiting ? 0 : idle + 1;
            waiting = conn_waiting_input(conn);
        }
        shared = conn_shared_new(SLICE("+"));
        world.on_data = share_and_write;
        conn_resume_input(conn);
        ITERATE_UNTIL(shared_count > 0);
        world.on_data = swallow;
        conn_shared_end(shared);
        receive(&client, bytes, shared_count);
        int before = world.ended;
        client_free(&client);
        ITERATE_UNTIL(world.ended > before);
    }
}

int main(void) {
    clock_init();
    const struct CMUnitTest tests[] = {
        NET_TEST(one_that_resumes_may_be_closed_by_the_one_before_it),
        NET_TEST(input_may_arrive_on_the_way_back),
        NET_TEST(more_than_4_gb_may_be_queued_on_the_way_back),
        TLS_TEST(input_that_goes_on_between_bytes_by_reference),
    };
    return cmocka_run_group_tests(tests, make_certificates, remove_certificates);
}
