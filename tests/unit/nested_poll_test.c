/* Polling of sockets inside a callback of the loop: a server echoes what clients send, partly in its loop
 * and partly inside the callback of one connection, the runner. Clients are in the same thread. */
#include "net/connections/conn_state.h"
#include "net/nested_poll.h"
#include "net/net.h"

#include "base/clock.h"
#include "base/memory/alloc.h"
#include "unit/listener_port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

struct session {
    size_t received;
};

static struct world {
    struct net *net;
    struct listener *listener;
    struct listener *unix_listener;
    char folder[32];
    char path[64];
    void (*progress)(void); /* one iteration of the loop, or one step inside a callback */
    size_t opened;
    size_t ended;
    struct conn *newest;
    struct conn *runner;
    void (*in_callback)(void); /* what the runner does when it is asked to */
    bool holds_output;
} world;

/* --- The server --- */

static void opened(struct conn *conn, void *owner) {
    assert_ptr_equal(owner, &world);
    world.opened++;
    world.newest = conn;
}

static void step(void) {
    nested_poll_step(world.net);
}

static void iterate(void) {
    net_poll(world.net);
}

static size_t data(struct conn *conn, char *bytes, size_t len) {
    if (conn == world.runner) {
        assert_true(nested_poll_begin(world.net, world.holds_output));
        world.progress = step;
        world.in_callback();
        world.progress = iterate;
        nested_poll_end(world.net);
        world.in_callback = NULL;
        return len;
    }
    ((struct session *)conn_session(conn))->received += len;
    size_t sent = conn_try_write(conn, bytes, len);
    if (sent < len) conn_queue(conn, bytes + sent, len - sent);
    return len;
}

static void ended(struct conn *conn, const char *reason) {
    (void)reason;
    world.ended++;
    conn_close_after_write(conn);
}

static void drained(struct conn *conn) {
    (void)conn;
}

static const struct conn_events EVENTS = {.session_size = sizeof(struct session),
                                          .opened = opened,
                                          .data = data,
                                          .ended = ended,
                                          .drained = drained};

enum { PATIENCE_MS = 30 * 1000 };

#define PROGRESS_UNTIL(condition)                                                                  \
    for (int64_t start_ = clock_monotonic_ms(); !(condition);) {                                   \
        assert_true(clock_monotonic_ms() - start_ < PATIENCE_MS);                                  \
        world.progress();                                                                          \
    }

/* --- Clients --- */

static int client_connect(int family) {
    int fd = socket(family, SOCK_STREAM, 0);
    struct sockaddr_in in = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)listener_port(world.listener)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    snprintf(un.sun_path, sizeof(un.sun_path), "%s", world.path);
    bool is_unix = family == AF_UNIX;
    assert_int_equal(connect(fd, is_unix ? (struct sockaddr *)&un : (struct sockaddr *)&in,
                             is_unix ? sizeof(un) : sizeof(in)),
                     0);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

/* Returns a connected client whose connection was accepted: world.newest. */
static int client_new(int family) {
    size_t before = world.opened;
    int fd = client_connect(family);
    PROGRESS_UNTIL(world.opened > before);
    return fd;
}

static void client_send(int fd, const char *text) {
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

static void client_expect(int fd, const char *text) {
    char got[64];
    size_t len = 0, wanted = strlen(text);
    ssize_t part = -1;
    while (len < wanted) {
        PROGRESS_UNTIL((part = recv(fd, got + len, wanted - len, 0)) >= 0 || errno != EAGAIN);
        assert_true(part > 0);
        len += (size_t)part;
    }
    assert_memory_equal(got, text, wanted);
}

static void client_expect_end(int fd) {
    char byte;
    ssize_t got = -1;
    PROGRESS_UNTIL((got = recv(fd, &byte, 1, 0)) >= 0 || errno != EAGAIN);
    assert_true(got <= 0);
    close(fd);
}

/* Lets the body run inside the callback of a connection. */
static void inside_callback(void (*body)(void)) {
    int fd = client_new(AF_INET);
    world.runner = world.newest;
    world.in_callback = body;
    client_send(fd, "x");
    PROGRESS_UNTIL(world.in_callback == NULL);
    world.runner = NULL;
    close(fd);
}

static int setup(void **state) {
    (void)state;
    const char *error;
    char text[128];
    clock_init();
    world = (struct world){.progress = iterate, .folder = "/tmp/nested_poll_test.XXXXXX"};
    if (!mkdtemp(world.folder)) return -1;
    snprintf(world.path, sizeof(world.path), "%s/socket", world.folder);
    world.net = net_new(&error);
    const struct unix_place place = {.path = world.path, .group = ""};
    bool is_open = listener_open_tcp(world.net, "127.0.0.1", 0, 511, &EVENTS, &world,
                                     &world.listener, text, sizeof(text)) == LISTEN_OK &&
                   listener_open_unix(world.net, &place, 511, &EVENTS, &world, &world.unix_listener,
                                      text, sizeof(text)) == LISTEN_OK;
    return is_open ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    net_free(world.net);
    unlink(world.path);
    rmdir(world.folder);
    return 0;
}

/* --- Tests --- */

static struct {
    int fds[4];
    struct conn *conns[4];
} clients;

static void add_new(int index, int family) {
    clients.fds[index] = client_new(family);
    clients.conns[index] = world.newest;
}

static void exchange_words(void) {
    for (int i = 0; i < 4; i++) client_send(clients.fds[i], "word");
    for (int i = 0; i < 4; i++) client_expect(clients.fds[i], "word");
}

static void serve_old_and_new(void) {
    for (int i = 0; i < 2; i++) nested_poll_add(world.net, clients.conns[i]);
    add_new(2, AF_INET);
    add_new(3, AF_UNIX);
    exchange_words();
    exchange_words();
}

static void old_and_new_connections_are_served_inside_and_afterwards(void **state) {
    (void)state;
    add_new(0, AF_INET);
    add_new(1, AF_UNIX);
    inside_callback(serve_old_and_new);
    exchange_words();
    assert_ptr_equal(clients.conns[2]->transport, &transport_tcp);
    assert_ptr_equal(clients.conns[3]->transport, &transport_unix);
    for (int i = 0; i < 4; i++) {
        shutdown(clients.fds[i], SHUT_WR);
        client_expect_end(clients.fds[i]);
    }
}

static void let_all_leave(void) {
    for (int i = 0; i < 2; i++) nested_poll_add(world.net, clients.conns[i]);
    add_new(2, AF_INET);
    add_new(3, AF_UNIX);
    size_t before = world.ended;
    for (int i = 0; i < 4; i++) {
        client_send(clients.fds[i], "word");
        shutdown(clients.fds[i], SHUT_WR);
        client_expect(clients.fds[i], "word");
        client_expect_end(clients.fds[i]);
    }
    assert_int_equal(world.ended, before + 4);
}

static void connections_may_end_inside(void **state) {
    (void)state;
    add_new(0, AF_INET);
    add_new(1, AF_UNIX);
    inside_callback(let_all_leave);
}

static void come_and_go(void) {
    size_t before = mem_used();
    for (int i = 0; i < 500; i++) {
        int fd = client_new(i % 2 ? AF_INET : AF_UNIX);
        client_send(fd, "word");
        client_expect(fd, "word");
        close(fd);
    }
    size_t wanted = world.opened - 1; /* all but the runner */
    PROGRESS_UNTIL(world.ended == wanted);
    world.progress();
    assert_true(mem_used() < before + 20000);
}

static void connections_that_come_and_go_inside_take_no_memory(void **state) {
    (void)state;
    inside_callback(come_and_go);
}

/* A stream in which each byte shows its position, as far as it was sent and has come back. */
enum { STREAM = 3 * 1000 * 1000 };
static struct {
    int fd;
    size_t sent;
    size_t received;
    size_t goal; /* of `received`, before the loop or the callback goes on */
} stream;

static char stream_byte(size_t at) {
    return (char)((at * 2654435761u) >> 13);
}

static void send_some(void) {
    char bytes[5000];
    size_t len = STREAM - stream.sent < sizeof(bytes) ? STREAM - stream.sent : sizeof(bytes);
    for (size_t i = 0; i < len; i++) bytes[i] = stream_byte(stream.sent + i);
    ssize_t part = send(stream.fd, bytes, len, MSG_NOSIGNAL);
    if (part > 0) stream.sent += (size_t)part;
}

static void receive_some(void) {
    char bytes[3000];
    ssize_t part = recv(stream.fd, bytes, sizeof(bytes), 0);
    for (ssize_t i = 0; i < part; i++)
        assert_int_equal(bytes[i], stream_byte(stream.received + (size_t)i));
    if (part > 0) stream.received += (size_t)part;
}

/* Sends as long as the server reads, and reads little, until a goal is reached. */
static void go_on_streaming(void) {
    while (stream.received < stream.goal) {
        for (int i = 0; i < 20; i++) send_some();
        world.progress();
        if (world.progress == step)
            assert_true(conn_output_allocated(clients.conns[0]) < CONN_READ_SIZE + 40 * 1024);
        receive_some();
        if (stream.sent == STREAM)
            for (int i = 0; i < 100; i++) receive_some();
    }
}

static void stream_inside(void) {
    nested_poll_add(world.net, clients.conns[0]);
    go_on_streaming();
}

static void begin_stream_inside(void) {
    add_new(0, AF_INET);
    stream.fd = clients.fds[0];
    go_on_streaming();
}

static void a_stream_stays_whole_when_the_loop_and_callbacks_take_turns(void **state) {
    (void)state;
    stream.sent = stream.received = 0;
    stream.goal = 100 * 1000;
    inside_callback(begin_stream_inside);
    while (stream.received < STREAM) {
        stream.goal = stream.received + 200 * 1000;
        if (stream.goal > STREAM) stream.goal = STREAM;
        go_on_streaming();
        stream.goal = stream.received + 200 * 1000;
        if (stream.goal > STREAM) stream.goal = STREAM;
        /* With a write under way the connection waits for the loop. */
        PROGRESS_UNTIL((receive_some(), clients.conns[0]->output == NULL));
        inside_callback(stream_inside);
    }
    close(stream.fd);
}

static void hold_inside(void) {
    char byte;
    for (int i = 0; i < 2; i++) nested_poll_add(world.net, clients.conns[i]);
    conn_hold(clients.conns[0], "held", 4);
    client_send(clients.fds[0], "word");
    client_send(clients.fds[1], "word");
    client_expect(clients.fds[1], "word");
    if (world.holds_output) {
        for (int i = 0; i < 10; i++) step();
        net_release_late(world.net, UINT64_MAX, 0);
        assert_int_equal(recv(clients.fds[0], &byte, 1, 0), -1);
        assert_int_equal(((struct session *)conn_session(clients.conns[0]))->received, 0);
    } else {
        client_expect(clients.fds[0], "heldword");
    }
}

static void what_must_be_held_leaves_with_the_loop(void **state) {
    (void)state;
    add_new(0, AF_INET);
    add_new(1, AF_INET);
    world.holds_output = true;
    inside_callback(hold_inside);
    client_expect(clients.fds[0], "heldword");
    close(clients.fds[0]);
    close(clients.fds[1]);
}

static void otherwise_it_leaves_with_the_next_step(void **state) {
    (void)state;
    add_new(0, AF_INET);
    add_new(1, AF_INET);
    inside_callback(hold_inside);
    close(clients.fds[0]);
    close(clients.fds[1]);
}

/* It was held earlier in the same iteration. */
static void hold_and_serve(void) {
    conn_hold(clients.conns[0], "held", 4);
    nested_poll_add(world.net, clients.conns[0]);
    client_expect(clients.fds[0], "held");
    client_send(clients.fds[0], "word");
    client_expect(clients.fds[0], "word");
}

static void what_a_connection_holds_is_sent_when_it_is_added(void **state) {
    (void)state;
    add_new(0, AF_INET);
    world.holds_output = true;
    inside_callback(hold_and_serve);
    close(clients.fds[0]);
}

static void serve_nobody(void) {
    nested_poll_add(world.net, clients.conns[0]);
    client_send(clients.fds[0], "word");
    for (int i = 0; i < 10; i++) step();
    assert_int_equal(((struct session *)conn_session(clients.conns[0]))->received, 0);
}

static void a_connection_whose_write_is_under_way_waits(void **state) {
    (void)state;
    enum { SIZE = 30 * 1000 * 1000 };
    add_new(0, AF_INET);
    char *bytes = mem_alloc_zeroed(SIZE);
    conn_queue(clients.conns[0], bytes, SIZE);
    inside_callback(serve_nobody);
    size_t left = SIZE;
    ssize_t part = -1;
    while (left > 0) {
        size_t most = left < 65536 ? left : 65536;
        PROGRESS_UNTIL((part = recv(clients.fds[0], bytes, most, 0)) >= 0 || errno != EAGAIN);
        assert_true(part > 0);
        left -= (size_t)part;
    }
    client_expect(clients.fds[0], "word");
    mem_free(bytes);
    close(clients.fds[0]);
}

#define WITH_WORLD(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_WORLD(old_and_new_connections_are_served_inside_and_afterwards),
        WITH_WORLD(connections_may_end_inside),
        WITH_WORLD(connections_that_come_and_go_inside_take_no_memory),
        WITH_WORLD(a_stream_stays_whole_when_the_loop_and_callbacks_take_turns),
        WITH_WORLD(what_must_be_held_leaves_with_the_loop),
        WITH_WORLD(otherwise_it_leaves_with_the_next_step),
        WITH_WORLD(what_a_connection_holds_is_sent_when_it_is_added),
        WITH_WORLD(a_connection_whose_write_is_under_way_waits),
    };
    return cmocka_run_group_tests_name("nested_poll", tests, NULL, NULL);
}
