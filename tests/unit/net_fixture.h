/* A server of the module net in this thread, whose behaviour each test sets, and clients of it: a test runs single
 * iterations of the event loop. */
#ifndef PACKLIST_TESTS_UNIT_NET_FIXTURE_H
#define PACKLIST_TESTS_UNIT_NET_FIXTURE_H

#include "net/net.h"
#include "net/threads/io_threads.h"
#include "unit/listener_port.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

/* --- A server whose behaviour each test sets --- */

struct session {
    struct conn *conn; /* checks that the session's memory is its own */
    size_t received;   /* bytes consumed */
    int data_calls;
    int ended_calls;
    char reason[64];
};

struct world {
    struct net *net;
    struct listener *listener;
    int opened;
    int ended; /* callbacks over all connections */
    int drained;
    struct conn *newest;
    void (*on_opened)(struct conn *conn);
    size_t (*on_data)(struct conn *conn, char *bytes, size_t len);
    void (*on_verified)(struct conn *conn);
    void (*on_ended)(struct conn *conn);
};

static struct world world;

static inline void opened(struct conn *conn, void *owner) {
    assert_ptr_equal(owner, &world);
    struct session *session = conn_session(conn);
    assert_ptr_equal(conn_of_session(session), conn);
    assert_null(session->conn);
    session->conn = conn;
    world.opened++;
    world.newest = conn;
    if (world.on_opened != NULL) world.on_opened(conn);
}

static inline size_t data(struct conn *conn, char *bytes, size_t len) {
    struct session *session = conn_session(conn);
    assert_ptr_equal(session->conn, conn);
    assert_true(len > 0);
    assert_int_equal(session->ended_calls, 0);
    session->data_calls++;
    size_t consumed = world.on_data(conn, bytes, len);
    session->received += consumed;
    return consumed;
}

static inline void verified(struct conn *conn) {
    assert_int_equal(((struct session *)conn_session(conn))->data_calls, 0);
    if (world.on_verified != NULL) world.on_verified(conn);
}

static inline void ended(struct conn *conn, const char *reason) {
    struct session *session = conn_session(conn);
    assert_int_equal(session->ended_calls, 0);
    session->ended_calls++;
    snprintf(session->reason, sizeof(session->reason), "%s", reason);
    world.ended++;
    if (world.on_ended != NULL)
        world.on_ended(conn);
    else
        conn_close(conn);
}

static inline void drained(struct conn *conn) {
    assert_true(conn_is_closing(conn));
    assert_int_equal(conn_pending_output(conn), 0);
    assert_ptr_equal(((struct session *)conn_session(conn))->conn, conn);
    world.drained++;
}

static const struct conn_events EVENTS = {.session_size = sizeof(struct session),
                                          .opened = opened,
                                          .verified = verified,
                                          .data = data,
                                          .ended = ended,
                                          .drained = drained};

static inline bool stop_at_once(void *net) {
    net_stop(net);
    return true;
}

/* Runs one iteration of the loop, without sleep. */
static inline void iterate(void) {
    static const struct net_upward STOP = {.before_poll = stop_at_once};
    net_set_upward(world.net, &STOP, world.net);
    net_run(world.net);
}

static inline int64_t now_ms(void) {
    return clock_monotonic_us() / 1000;
}

/* Bytes sent over the loopback interface arrive by themselves, but later on a busy machine. Tests
 * wait this long for them at most. */
enum { PATIENCE_MS = 30 * 1000 };

#define ITERATE_UNTIL(condition)                                                                   \
    for (int64_t start_ = now_ms(); !(condition);) {                                               \
        assert_true(now_ms() - start_ < PATIENCE_MS);                                              \
        iterate();                                                                                 \
    }

/* Waits, without an iteration of the loop, until poll(2) reports one of these events or the end of
 * the socket. */
static inline void await_socket(int fd, short events) {
    struct pollfd poll_fd = {.fd = fd, .events = events};
    assert_int_equal(poll(&poll_fd, 1, PATIENCE_MS), 1);
}

static inline size_t echo(struct conn *conn, char *bytes, size_t len) {
    size_t sent = conn_try_write(conn, bytes, len);
    if (sent < len) conn_queue(conn, bytes + sent, len - sent);
    return len;
}

static inline size_t swallow(struct conn *conn, char *bytes, size_t len) {
    (void)conn, (void)bytes;
    return len;
}

static inline size_t refuse(struct conn *conn, char *bytes, size_t len) {
    (void)conn, (void)bytes, (void)len;
    return 0;
}

static inline int setup(void **state) {
    (void)state;
    const char *error;
    char text[128];
    world = (struct world){.on_data = echo};
    world.net = net_new(&error);
    if (world.net == NULL) return -1;
#ifdef NET_FIXTURE_THREADS
    if (!io_threads_set(world.net, NET_FIXTURE_THREADS, IO_ALWAYS, &error)) return -1;
#endif
    return listener_open_tcp(world.net, "127.0.0.1", 0, 511, &EVENTS, &world, &world.listener, text,
                             sizeof(text)) == LISTEN_OK
               ? 0
               : -1;
}

static inline int teardown(void **state) {
    (void)state;
    net_free(world.net);
    return 0;
}

/* --- Clients --- */

static inline int client_try(void) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)listener_port(world.listener)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        close(fd);
        return -1;
    }
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

/* Returns a connected client whose connection was accepted: world.newest. */
static inline int client_new(void) {
    int before = world.opened;
    int fd = client_try();
    assert_true(fd >= 0);
    ITERATE_UNTIL(world.opened > before);
    return fd;
}

static inline void client_reset(int fd) {
    struct linger hard = {.l_onoff = 1, .l_linger = 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
    close(fd);
}

/* Writes all bytes, and runs the loop while the socket is full. */
static inline void client_send(int fd, const char *bytes, size_t len) {
    while (len > 0) {
        ssize_t sent;
        ITERATE_UNTIL((sent = send(fd, bytes, len, MSG_NOSIGNAL)) >= 0 || errno != EAGAIN);
        assert_true(sent > 0);
        bytes += sent;
        len -= (size_t)sent;
    }
}

/* Reads exactly `len` bytes, and runs the loop meanwhile. */
static inline void client_receive(int fd, char *bytes, size_t len) {
    while (len > 0) {
        ssize_t got;
        ITERATE_UNTIL((got = recv(fd, bytes, len, 0)) >= 0 || errno != EAGAIN);
        assert_true(got > 0);
        bytes += got;
        len -= (size_t)got;
    }
}

static inline bool client_at_end(int fd) {
    char byte;
    ssize_t got = recv(fd, &byte, 1, 0);
    assert_true(got <= 0);
    return got == 0 || (got < 0 && errno == ECONNRESET);
}

static inline struct session *session_of(struct conn *conn) {
    return conn_session(conn);
}

/* A stream in which each byte shows its position. */
static inline char stream_byte(size_t at) {
    return (char)((at * 2654435761u) >> 13);
}

static inline void stream_fill(char *bytes, size_t len, size_t at) {
    for (size_t i = 0; i < len; i++) bytes[i] = stream_byte(at + i);
}

static inline void assert_stream(const char *bytes, size_t len, size_t at) {
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] != stream_byte(at + i)) fail_msg("stream differs at %zu", at + i);
    }
}

/* --- The end of a connection --- */

static struct session last_words;

static inline void remember(struct conn *conn) {
    last_words = *session_of(conn);
    conn_close(conn);
    conn_close(conn);
    assert_ptr_equal(session_of(conn)->conn, conn); /* readable until the iteration ends */
}

/* NOT_WITH_THREADS: for a check of what the loop's own sockets do at once, or of their size.
 * ASSERT_SOON: a thread counts bytes as sent a moment after the client can read them.
 * ASSERT_PENDING: a thread sends while the loop counts. */
#ifdef NET_FIXTURE_THREADS
#define NOT_WITH_THREADS() skip()
#define ASSERT_SOON(condition)                                                                     \
    do {                                                                                           \
        for (int ms = 0; ms < 5000 && !(condition); ms++) usleep(1000);                            \
        assert_true(condition);                                                                    \
    } while (0)
#define ASSERT_PENDING(conn, expected) assert_true(conn_pending_output(conn) <= (expected))
#else
#define NOT_WITH_THREADS()             ((void)0)
#define ASSERT_SOON(condition)         assert_true(condition)
#define ASSERT_PENDING(conn, expected) assert_int_equal(conn_pending_output(conn), expected)
#endif

#define NET_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
