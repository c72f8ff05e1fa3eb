/* The module net over real sockets: server and clients are in this one thread, which runs single
 * iterations of the event loop. */
#include "net/listener.h"
#include "net/net.h"
#include "net/net_internal.h"
#include "unit/seed.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "unit/in_range.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
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
    void (*on_ended)(struct conn *conn);
};

static struct world world;

static void opened(struct conn *conn, void *owner) {
    assert_ptr_equal(owner, &world);
    struct session *session = conn_session(conn);
    assert_ptr_equal(conn_of_session(session), conn);
    assert_null(session->conn);
    session->conn = conn;
    world.opened++;
    world.newest = conn;
    if (world.on_opened != NULL) world.on_opened(conn);
}

static size_t data(struct conn *conn, char *bytes, size_t len) {
    struct session *session = conn_session(conn);
    assert_ptr_equal(session->conn, conn);
    assert_true(len > 0);
    assert_int_equal(session->ended_calls, 0);
    session->data_calls++;
    size_t consumed = world.on_data(conn, bytes, len);
    session->received += consumed;
    return consumed;
}

static void ended(struct conn *conn, const char *reason) {
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

static void drained(struct conn *conn) {
    assert_true(conn_is_closing(conn));
    assert_int_equal(conn_pending_output(conn), 0);
    assert_ptr_equal(((struct session *)conn_session(conn))->conn, conn);
    world.drained++;
}

static const struct conn_events EVENTS = {.session_size = sizeof(struct session),
                                          .opened = opened,
                                          .data = data,
                                          .ended = ended,
                                          .drained = drained};

static bool stop_at_once(void *net) {
    net_stop(net);
    return true;
}

/* Runs one iteration of the loop, without sleep. */
static void iterate(void) {
    net_on_before_poll(world.net, stop_at_once, world.net);
    net_run(world.net);
}

static int64_t now_ms(void) {
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
static void await_socket(int fd, short events) {
    struct pollfd poll_fd = {.fd = fd, .events = events};
    assert_int_equal(poll(&poll_fd, 1, PATIENCE_MS), 1);
}

static size_t echo(struct conn *conn, char *bytes, size_t len) {
    size_t sent = conn_try_write(conn, bytes, len);
    if (sent < len) conn_queue(conn, bytes + sent, len - sent);
    return len;
}

static size_t swallow(struct conn *conn, char *bytes, size_t len) {
    (void)conn, (void)bytes;
    return len;
}

static size_t refuse(struct conn *conn, char *bytes, size_t len) {
    (void)conn, (void)bytes, (void)len;
    return 0;
}

static int setup(void **state) {
    (void)state;
    const char *error;
    char text[128];
    world = (struct world){.on_data = echo};
    world.net = net_new(&error);
    if (world.net == NULL) return -1;
    return listener_open_tcp(world.net, "127.0.0.1", 0, 511, &EVENTS, &world, &world.listener, text,
                             sizeof(text)) == LISTEN_OK
               ? 0
               : -1;
}

static int teardown(void **state) {
    (void)state;
    net_free(world.net);
    return 0;
}

/* --- Clients --- */

static int client_try(void) {
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
static int client_new(void) {
    int before = world.opened;
    int fd = client_try();
    assert_true(fd >= 0);
    ITERATE_UNTIL(world.opened > before);
    return fd;
}

static void client_reset(int fd) {
    struct linger hard = {.l_onoff = 1, .l_linger = 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
    close(fd);
}

/* Writes all bytes, and runs the loop while the socket is full. */
static void client_send(int fd, const char *bytes, size_t len) {
    while (len > 0) {
        ssize_t sent;
        ITERATE_UNTIL((sent = send(fd, bytes, len, MSG_NOSIGNAL)) >= 0 || errno != EAGAIN);
        assert_true(sent > 0);
        bytes += sent;
        len -= (size_t)sent;
    }
}

/* Reads exactly `len` bytes, and runs the loop meanwhile. */
static void client_receive(int fd, char *bytes, size_t len) {
    while (len > 0) {
        ssize_t got;
        ITERATE_UNTIL((got = recv(fd, bytes, len, 0)) >= 0 || errno != EAGAIN);
        assert_true(got > 0);
        bytes += got;
        len -= (size_t)got;
    }
}

static bool client_at_end(int fd) {
    char byte;
    ssize_t got = recv(fd, &byte, 1, 0);
    assert_true(got <= 0);
    return got == 0 || (got < 0 && errno == ECONNRESET);
}

static struct session *session_of(struct conn *conn) {
    return conn_session(conn);
}

/* A stream in which each byte shows its position. */
static char stream_byte(size_t at) {
    return (char)((at * 2654435761u) >> 13);
}

static void stream_fill(char *bytes, size_t len, size_t at) {
    for (size_t i = 0; i < len; i++) bytes[i] = stream_byte(at + i);
}

static void assert_stream(const char *bytes, size_t len, size_t at) {
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] != stream_byte(at + i)) fail_msg("stream differs at %zu", at + i);
    }
}

/* --- Facts --- */

static void an_echo_comes_back_and_an_idle_connection_owns_no_buffer(void **state) {
    (void)state;
    int fd = client_new();
    struct conn_totals before = conn_totals(world.net);
    client_send(fd, "hello", 5);
    char answer[5];
    client_receive(fd, answer, 5);
    assert_memory_equal(answer, "hello", 5);
    assert_int_equal(conn_pending_input(world.newest), 0);
    assert_int_equal(conn_input_allocated(world.newest), 0);
    assert_int_equal(conn_pending_output(world.newest), 0);
    assert_int_equal(conn_totals(world.net).input_bytes - before.input_bytes, 5);
    assert_int_equal(conn_totals(world.net).output_bytes - before.output_bytes, 5);
    close(fd);
}

static void a_connection_is_small(void **state) {
    (void)state;
    int fd = client_new();
    assert_true(conn_allocated(world.newest) <= mem_good_size(304 + sizeof(struct session)));
    close(fd);
}

static void a_connection_knows_its_names_and_options(void **state) {
    (void)state;
    int fd = client_new();
    struct sockaddr_in own;
    socklen_t len = sizeof(own);
    getsockname(fd, (struct sockaddr *)&own, &len);
    char want[CONN_NAME_MAX], got[CONN_NAME_MAX];
    snprintf(want, sizeof(want), "127.0.0.1:%d", ntohs(own.sin_port));
    assert_string_equal(conn_peer_name(world.newest, got), want);
    snprintf(want, sizeof(want), "127.0.0.1:%d", listener_port(world.listener));
    assert_string_equal(conn_local_name(world.newest, got), want);
    assert_true(conn_is_local(world.newest));
    assert_false(conn_is_unix(world.newest));

    int value = 0;
    len = sizeof(value);
    int server_fd = conn_fd(world.newest);
    getsockopt(server_fd, IPPROTO_TCP, TCP_NODELAY, &value, &len);
    assert_int_equal(value, 1);
    conn_set_keepalive(world.newest, 300);
    getsockopt(server_fd, SOL_SOCKET, SO_KEEPALIVE, &value, &len);
    assert_int_equal(value, 1);
    getsockopt(server_fd, IPPROTO_TCP, TCP_KEEPIDLE, &value, &len);
    assert_int_equal(value, 300);
    getsockopt(server_fd, IPPROTO_TCP, TCP_KEEPINTVL, &value, &len);
    assert_int_equal(value, 100);
    conn_set_keepalive(world.newest, 0);
    getsockopt(server_fd, SOL_SOCKET, SO_KEEPALIVE, &value, &len);
    assert_int_equal(value, 0);

    conn_close(world.newest);
    assert_int_equal(conn_fd(world.newest), -1);
    assert_string_equal(conn_peer_name(world.newest, got), "?:0");
    close(fd);
}

/* --- Input --- */

enum { RECORD = 10 };

/* Consumes only whole records. */
static size_t take_records(struct conn *conn, char *bytes, size_t len) {
    size_t whole = len - len % RECORD;
    assert_stream(bytes, len, session_of(conn)->received);
    memset(bytes, 0, whole); /* the bytes are writable */
    return whole;
}

static void input_that_comes_in_pieces_is_presented_in_one_piece(void **state) {
    (void)state;
    world.on_data = take_records;
    int fd = client_new();
    struct session *session = session_of(world.newest);
    char bytes[RECORD * 3];
    stream_fill(bytes, sizeof(bytes), 0);
    for (size_t i = 0; i < sizeof(bytes); i++) {
        client_send(fd, bytes + i, 1);
        ITERATE_UNTIL(session->data_calls == (int)i + 1);
        assert_int_equal(session->received, (i + 1) - (i + 1) % RECORD);
        assert_int_equal(conn_pending_input(world.newest), (i + 1) % RECORD);
        assert_int_equal(conn_input_allocated(world.newest) > 0, (i + 1) % RECORD > 0);
    }
    close(fd);
}

static size_t big_total;
static size_t largest_block;
static const char *block_at;
static int block_moves;

/* Announces `big_total` bytes and consumes them in one piece. */
static size_t take_big(struct conn *conn, char *bytes, size_t len) {
    size_t block = conn_input_allocated(conn);
    if (block > largest_block) largest_block = block;
    if (bytes != block_at) block_moves++;
    block_at = bytes;
    if (len < big_total) {
        conn_expect(conn, big_total);
        return 0;
    }
    assert_stream(bytes, big_total, session_of(conn)->received);
    return big_total;
}

static void a_big_announced_argument_is_read_into_a_buffer_of_its_size(void **state) {
    (void)state;
    static const size_t totals[] = {CONN_TAIL_MAX - 1, CONN_TAIL_MAX,     CONN_TAIL_MAX + 1,
                                    100 * 1000,        CONN_BELIEVED + 1, 5 * 1000 * 1000};
    world.on_data = take_big;
    int fd = client_new();
    struct session *session = session_of(world.newest);
    for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++) {
        size_t before = session->received;
        big_total = totals[i];
        largest_block = 0;
        block_moves = 0;
        char *bytes = mem_alloc(big_total);
        stream_fill(bytes, big_total, before);
        client_send(fd, bytes, 3);
        ITERATE_UNTIL(conn_pending_input(world.newest) == 3);
        client_send(fd, bytes + 3, big_total - 3);
        ITERATE_UNTIL(session->received == before + big_total);
        assert_int_equal(conn_input_allocated(world.newest), 0);
        /* A block that grows does so by a quarter at least. */
        assert_true(largest_block <= mem_good_size(big_total + big_total / 4 + 64));
        if (big_total > CONN_TAIL_MAX) assert_true(largest_block >= big_total);
        if (big_total > CONN_BELIEVED / 2) assert_uint_in_range(block_moves, 2, 10);
        mem_free(bytes);
    }
    close(fd);
}

static void an_announcement_alone_costs_little_memory(void **state) {
    (void)state;
    world.on_data = take_big;
    big_total = 512u << 20;
    int fd = client_new();
    client_send(fd, "x", 1);
    ITERATE_UNTIL(conn_pending_input(world.newest) == 1);
    assert_true(conn_input_allocated(world.newest) <= mem_good_size(CONN_BELIEVED + 64));
    close(fd);
}

static size_t take_all_but_five(struct conn *conn, char *bytes, size_t len) {
    assert_stream(bytes, len, session_of(conn)->received);
    return len - 5;
}

static void input_that_is_not_consumed_is_kept_and_replayed(void **state) {
    (void)state;
    enum { TOTAL = 300 * 1000 };
    world.on_data = refuse;
    int fd = client_new();
    struct conn *conn = world.newest;
    conn_replay(conn); /* no bytes are kept */
    assert_int_equal(session_of(conn)->data_calls, 0);
    char *bytes = mem_alloc(TOTAL);
    stream_fill(bytes, TOTAL, 0);
    client_send(fd, bytes, TOTAL);
    ITERATE_UNTIL(conn_pending_input(conn) == TOTAL);
    assert_true(conn_input_allocated(conn) >= TOTAL);

    world.on_data = take_all_but_five;
    conn_replay(conn);
    assert_int_equal(conn_pending_input(conn), 5);
    assert_true(conn_input_allocated(conn) <= 128); /* a small rest does not keep a large block */
    world.on_data = swallow;
    conn_replay(conn);
    assert_int_equal(session_of(conn)->received, TOTAL);
    assert_int_equal(conn_input_allocated(conn), 0);
    mem_free(bytes);
    close(fd);
}

static struct random dice;

/* Consumes and announces random numbers of bytes. */
static size_t take_at_random(struct conn *conn, char *bytes, size_t len) {
    assert_stream(bytes, len, session_of(conn)->received);
    size_t consumed = random_below(&dice, 4) ? random_below(&dice, len + 1) : 0;
    if (random_below(&dice, 3) == 0) consumed = len;
    if (random_below(&dice, 4) == 0) {
        size_t shift = random_below(&dice, 22);
        conn_expect(conn, len - consumed + random_below(&dice, (uint64_t)1 << shift));
    }
    return consumed;
}

static void no_byte_is_lost_or_moved_whatever_is_consumed_and_announced(void **state) {
    (void)state;
    dice = random_of_this_run();
    enum { PIECE_MAX = 200 * 1000 };
    char *bytes = mem_alloc(PIECE_MAX);
    for (int round = 0; round < 12; round++) {
        world.on_data = take_at_random;
        int fd = client_new();
        struct conn *conn = world.newest;
        size_t sent = 0;
        for (int i = 0; i < 60; i++) {
            size_t len = 1 + random_below(&dice, (uint64_t)1 << random_below(&dice, 18));
            if (len > PIECE_MAX) len = PIECE_MAX;
            stream_fill(bytes, len, sent);
            client_send(fd, bytes, len);
            sent += len;
            if (random_below(&dice, 2)) iterate();
            if (random_below(&dice, 3) == 0) conn_replay(conn);
            assert_int_equal(conn_pending_input(conn) == 0, conn_input_allocated(conn) == 0);
        }
        world.on_data = swallow;
        ITERATE_UNTIL(session_of(conn)->received + conn_pending_input(conn) == sent);
        conn_replay(conn);
        assert_int_equal(session_of(conn)->received, sent);
        assert_int_equal(conn_input_allocated(conn), 0);
        close(fd);
    }
    mem_free(bytes);
}

static struct conn *replayed;

/* Serving one connection makes another one run: its `data` is called inside this one's. */
static size_t replay_other(struct conn *conn, char *bytes, size_t len) {
    assert_stream(bytes, len, session_of(conn)->received);
    if (replayed != NULL && conn != replayed) {
        conn_expect(conn, CONN_TAIL_MAX + len);
        conn_replay(replayed);
        assert_ptr_equal(world.net->presenting, conn);
        assert_stream(bytes, len, session_of(conn)->received);
        return 0;
    }
    return len;
}

static void callbacks_nest_over_different_connections(void **state) {
    (void)state;
    char bytes[20];
    stream_fill(bytes, sizeof(bytes), 0);
    world.on_data = refuse;
    int waiting = client_new();
    replayed = world.newest;
    client_send(waiting, bytes, sizeof(bytes));
    ITERATE_UNTIL(conn_pending_input(replayed) == sizeof(bytes));
    world.on_data = replay_other;
    int serving = client_new();
    struct conn *conn = world.newest;
    client_send(serving, bytes, 15);
    ITERATE_UNTIL(session_of(conn)->data_calls == 1);
    assert_int_equal(session_of(replayed)->received, sizeof(bytes));
    assert_int_equal(conn_input_allocated(replayed), 0);
    assert_true(conn_input_allocated(conn) > CONN_TAIL_MAX); /* its own announcement was kept */
    replayed = NULL;
    client_send(serving, bytes + 15, 5);
    ITERATE_UNTIL(session_of(conn)->received == sizeof(bytes));
    close(waiting);
    close(serving);
}

static void a_client_that_floods_leaves_time_to_the_others(void **state) {
    (void)state;
    world.on_data = swallow;
    int flooding = client_new();
    struct session *flooded = session_of(world.newest);
    int flooded_fd = conn_fd(world.newest);
    int polite = client_new();
    struct session *other = session_of(world.newest);
    static char bytes[1 << 20];
    size_t queued = 0;
    for (ssize_t sent; (sent = send(flooding, bytes, sizeof(bytes), MSG_NOSIGNAL)) > 0;)
        queued += (size_t)sent;
    client_send(polite, "x", 1);
    assert_true(queued > CONN_ITERATION_MAX + CONN_READ_SIZE);
    await_socket(flooded_fd, POLLIN);
    await_socket(conn_fd(world.newest), POLLIN);
    iterate();
    assert_int_equal(other->received, 1);
    assert_true(flooded->received <= CONN_ITERATION_MAX + CONN_READ_SIZE);
    ITERATE_UNTIL(flooded->received == queued);
    close(flooding);
    close(polite);
}

/* --- Output --- */

static size_t written;

/* A source whose bytes lie elsewhere whenever it is looked at again. */
struct moving {
    char *bytes;
    size_t end;
    size_t peeked; /* the end of what was returned last */
};

static size_t sources; /* not released */

static struct slice moving_peek(void *arg, size_t offset, size_t most) {
    struct moving *moving = arg;
    assert_true(most > 0 && offset + most <= moving->end);
    if (offset != moving->peeked || random_below(&dice, 2) == 0) {
        if (offset < moving->peeked) { /* a new batch: nothing refers to the bytes any more */
            char *bytes = malloc(moving->end);
            memcpy(bytes + offset, moving->bytes + offset, moving->end - offset);
            free(moving->bytes);
            moving->bytes = bytes;
        }
        most = 1 + random_below(&dice, most);
    }
    moving->peeked = offset + most;
    return slice_make(moving->bytes + offset, most);
}

static void moving_release(void *arg) {
    struct moving *moving = arg;
    free(moving->bytes);
    free(moving);
    sources--;
}

static const struct conn_source moving_source = {moving_peek, moving_release};

/* Holds a source of the `len` bytes from position `at` of the stream on. */
static void hold_source(struct conn *conn, size_t at, size_t len) {
    enum { BEFORE = 7, AFTER = 5 };
    struct moving *moving = calloc(1, sizeof(*moving));
    moving->end = BEFORE + len + AFTER;
    moving->bytes = calloc(1, moving->end);
    stream_fill(moving->bytes + BEFORE, len, at);
    sources++;
    conn_hold_source(conn, &moving_source, moving, BEFORE, BEFORE + len);
}

/* Sends the next `len` bytes of the stream in the given way. */
static void write_stream(struct conn *conn, size_t len, int way) {
    char *bytes = mem_alloc(len + 7);
    stream_fill(bytes + 7, len, written);
    if (way == 4) hold_source(conn, written, len);
    written += len;
    size_t sent = way == 0 ? conn_try_write(conn, bytes + 7, len) : 0;
    if (way == 2) {
        conn_queue_owned(conn, bytes, 7, 7 + len);
        return;
    }
    if (way == 3)
        conn_hold(conn, bytes + 7, len);
    else if (way < 3)
        conn_queue(conn, bytes + 7 + sent, len - sent);
    mem_free(bytes);
}

static void a_slow_reader_gets_every_byte_in_order_and_stops_nobody(void **state) {
    (void)state;
    dice = random_of_this_run();
    enum { ROUNDS = 400 };
    static char bytes[64 * 1024];
    int slow = client_new();
    struct conn *conn = world.newest;
    int quick = client_new();
    size_t read = 0;
    written = 0;
    for (int i = 0; i < ROUNDS; i++) {
        size_t len = 1 + random_below(&dice, (uint64_t)1 << random_below(&dice, 19));
        write_stream(conn, len, (int)random_below(&dice, 5));
        assert_true(conn_pending_output(conn) <= written - read);
        if (random_below(&dice, 4) == 0) {
            ssize_t got = recv(slow, bytes, random_below(&dice, sizeof(bytes)) + 1, 0);
            if (got > 0) {
                assert_stream(bytes, (size_t)got, read);
                read += (size_t)got;
            }
        }
        if (i % 16 == 0) {
            client_send(quick, "ping", 4);
            client_receive(quick, bytes, 4);
        }
    }
    /* The system decides how much the socket takes by itself. */
    while (conn_pending_output(conn) == 0) write_stream(conn, sizeof(bytes), 0);
    assert_int_equal(conn_try_write(conn, "x", 1), 0); /* would overtake */
    while (read < written) {
        size_t len = written - read < sizeof(bytes) ? written - read : sizeof(bytes);
        client_receive(slow, bytes, len);
        assert_stream(bytes, len, read);
        read += len;
    }
    /* The end of the last write is noted in a later iteration than its bytes are taken. */
    ITERATE_UNTIL(conn_try_write(conn, "x", 1) == 1);
    assert_int_equal(conn_pending_output(conn), 0);
    assert_int_equal(world.ended, 0);
    assert_int_equal(sources, 0);
    close(slow);
    close(quick);
}

static void a_source_takes_no_memory_and_its_bytes_count_as_output(void **state) {
    (void)state;
    enum { SIZE = 20 << 20 };
    dice = random_of_this_run();
    int fd = client_new();
    struct conn *conn = world.newest;
    conn_hold(conn, "a", 1);
    hold_source(conn, 0, SIZE);
    conn_hold(conn, "b", 1); /* more than is held: the socket gets what it takes */
    size_t pending = conn_pending_output(conn);
    assert_true(pending <= SIZE + 2 && pending > SIZE / 2);
    assert_true(conn_output_referred(conn) <= pending);
    assert_true(conn_output_referred(conn) > SIZE / 2);
    assert_true(conn_output_allocated(conn) < CONN_CHUNK_SIZE + 8192);
    assert_int_equal(sources, 1);
    char *bytes = malloc(SIZE + 2);
    client_receive(fd, bytes, SIZE + 2);
    ITERATE_UNTIL(conn_pending_output(conn) == 0);
    assert_int_equal(conn_output_referred(conn), 0);
    assert_int_equal(sources, 0);
    assert_true(bytes[0] == 'a' && bytes[SIZE + 1] == 'b');
    assert_stream(bytes + 1, SIZE, 0);
    free(bytes);
    close(fd);
}

static void an_iteration_sends_only_a_part_of_a_source(void **state) {
    (void)state;
    enum { SIZE = 64 << 20, CALLBACKS = 10 }; /* libuv calls back a few times in an iteration */
    dice = random_of_this_run();
    int fd = client_new();
    struct conn *conn = world.newest;
    hold_source(conn, 0, SIZE);
    static char bytes[1 << 20];
    for (size_t left = SIZE; left > 0;) {
        unsigned long long before = conn_totals(world.net).output_bytes;
        iterate();
        assert_true(conn_totals(world.net).output_bytes - before <=
                    CALLBACKS * (CONN_SOURCE_BATCH + CONN_CHUNK_SIZE));
        ssize_t got = recv(fd, bytes, sizeof(bytes), 0);
        if (got > 0) left -= (size_t)got;
    }
    assert_int_equal(sources, 0);
    close(fd);
}

static void a_source_is_released_when_the_connection_ends(void **state) {
    (void)state;
    enum { SIZE = 20 << 20 };
    dice = random_of_this_run();
    int fd = client_new();
    hold_source(world.newest, 0, SIZE);
    conn_close(world.newest);
    hold_source(world.newest, 0, SIZE); /* takes no output any more */
    ITERATE_UNTIL(sources == 0);
    close(fd);
    fd = client_new();
    hold_source(world.newest, 0, SIZE);
    conn_hold(world.newest, "b", 1);
    client_reset(fd); /* the other side is gone while a write is outstanding */
    ITERATE_UNTIL(sources == 0);
    fd = client_new();
    hold_source(world.newest, 0, SIZE);
    conn_hold(world.newest, "b", 1);
    conn_close_after_write(world.newest);
    char *bytes = malloc(SIZE + 1);
    client_receive(fd, bytes, SIZE + 1);
    assert_stream(bytes, SIZE, 0);
    free(bytes);
    ITERATE_UNTIL(sources == 0 && client_at_end(fd));
    close(fd);
}

static void held_output_leaves_when_the_iteration_ends(void **state) {
    (void)state;
    char bytes[16];
    int fd = client_new();
    struct conn *conn = world.newest;
    unsigned long long before = conn_totals(world.net).output_bytes;
    conn_hold(conn, "one ", 4);
    assert_int_equal(conn_try_write(conn, "x", 1), 0); /* would overtake */
    conn_hold(conn, "two ", 4);
    conn_queue(conn, "three ", 6);
    assert_int_equal(conn_pending_output(conn), 14);
    assert_int_equal(recv(fd, bytes, sizeof(bytes), 0), -1);
    iterate();
    assert_int_equal(conn_pending_output(conn), 0);
    assert_int_equal(conn_totals(world.net).output_bytes - before, 14);
    client_receive(fd, bytes, 14);
    assert_memory_equal(bytes, "one two three ", 14);
    assert_int_equal(conn_try_write(conn, "x", 1), 1);
    close(fd);
}

static void much_held_output_does_not_wait_for_the_end_of_the_iteration(void **state) {
    (void)state;
    static char bytes[CONN_HOLD_MAX];
    int fd = client_new();
    struct conn *conn = world.newest;
    unsigned long long before = conn_totals(world.net).output_bytes;
    conn_hold(conn, bytes, sizeof(bytes));
    assert_int_equal(conn_totals(world.net).output_bytes, before);
    conn_hold(conn, "x", 1);
    assert_true(conn_totals(world.net).output_bytes > before);
    client_receive(fd, bytes, sizeof(bytes));
    close(fd);
}

static void held_output_is_sent_before_a_close_after_write_and_dropped_by_a_close(void **state) {
    (void)state;
    char bytes[8];
    int patient = client_new();
    conn_hold(world.newest, "bye", 3);
    conn_close_after_write(world.newest);
    int dropped = client_new();
    conn_hold(world.newest, "never", 5);
    conn_close(world.newest);
    client_receive(patient, bytes, 3);
    assert_memory_equal(bytes, "bye", 3);
    ITERATE_UNTIL(client_at_end(patient));
    ITERATE_UNTIL(client_at_end(dropped));
    close(patient);
    close(dropped);
}

static void pending_output_counts_what_the_socket_has_not_taken(void **state) {
    (void)state;
    int fd = client_new();
    struct conn *conn = world.newest;
    static char bytes[16 << 20];
    size_t sent = conn_try_write(conn, bytes, sizeof(bytes));
    assert_true(sent > 0 && sent < sizeof(bytes));
    conn_queue(conn, bytes, sizeof(bytes) - sent);
    size_t pending = conn_pending_output(conn); /* less, if the client has read meanwhile */
    assert_true(pending > 0 && pending <= sizeof(bytes) - sent);
    conn_queue(conn, bytes, 1000);
    assert_int_equal(conn_pending_output(conn), pending + 1000);
    client_receive(fd, bytes, sent);
    ITERATE_UNTIL(conn_pending_output(conn) <
                  pending + 1000); /* part of one write counts at once */
    pending = conn_pending_output(conn);
    conn_queue_owned(conn, mem_alloc(10), 3, 3); /* nothing, but freed */
    conn_queue(conn, bytes, 0);
    assert_int_equal(conn_pending_output(conn), pending);
    close(fd);
}

static void a_full_socket_takes_nothing_and_is_no_error(void **state) {
    (void)state;
    static char bytes[1 << 20];
    int fd = client_new();
    struct conn *conn = world.newest;
    for (int writes = 0; conn_try_write(conn, bytes, sizeof(bytes)) > 0; writes++)
        assert_true(writes < 1000);
    assert_int_equal(conn_pending_output(conn), 0);
    iterate();
    assert_int_equal(world.ended, 0);
    client_receive(fd, bytes, sizeof(bytes));
    ITERATE_UNTIL(conn_try_write(conn, bytes, 1) == 1);
    close(fd);
}

static size_t answer_and_close(struct conn *conn, char *bytes, size_t len) {
    (void)bytes;
    written = 0;
    for (int i = 0; i < 30; i++) write_stream(conn, 100 * 1000, i % 3);
    conn_close_after_write(conn);
    assert_true(conn_is_closing(conn));
    conn_queue(conn, "late", 4);
    conn_queue_owned(conn, mem_alloc(4), 0, 4);
    assert_int_equal(conn_try_write(conn, "late", 4), 0);
    return len;
}

static void close_after_write_sends_all_and_then_closes(void **state) {
    (void)state;
    world.on_data = answer_and_close;
    int fd = client_new();
    client_send(fd, "x", 1);
    static char bytes[30 * 100 * 1000];
    client_receive(fd, bytes, sizeof(bytes));
    assert_stream(bytes, sizeof(bytes), 0);
    ITERATE_UNTIL(client_at_end(fd));
    assert_int_equal(world.ended, 0);
    assert_int_equal(world.drained, 1);
    close(fd);
}

static void close_after_write_closes_at_once_when_nothing_is_queued(void **state) {
    (void)state;
    int fd = client_new();
    conn_close_after_write(world.newest);
    ITERATE_UNTIL(client_at_end(fd));
    assert_int_equal(world.drained, 0);
    close(fd);
}

/* A client that does not read its output before its connection, world.newest, closes; the server's
 * side is *server_fd. */
static int client_draining(int *server_fd) {
    int fd = client_new();
    written = 0;
    write_stream(world.newest, 6 << 20, 0);
    conn_close_after_write(world.newest);
    iterate();
    *server_fd = conn_fd(world.newest);
    assert_true(*server_fd >= 0);
    return fd;
}

static void a_draining_connection_can_be_closed_at_once(void **state) {
    (void)state;
    int server_fd;
    int fd = client_draining(&server_fd);
    conn_close(world.newest);
    ITERATE_UNTIL(fcntl(server_fd, F_GETFD) < 0);
    assert_int_equal(world.drained, 0);
    close(fd);
}

static void output_moves_while_the_client_reads(void **state) {
    (void)state;
    enum { TOTAL = 30 << 20, READ = 3 << 20 }; /* sockets hold less than the difference */
    int fd = client_new();
    struct conn *conn = world.newest;
    assert_false(conn_output_moved(conn));
    written = 0;
    write_stream(conn, TOTAL, 0);
    ITERATE_UNTIL(!conn_output_moved(conn)); /* the socket is full now */
    conn_queue(conn, "x", 1);                /* what is queued has not moved yet */
    assert_false(conn_output_moved(conn));
    char *bytes = mem_alloc(TOTAL + 1);
    client_receive(fd, bytes, READ);
    ITERATE_UNTIL(conn_output_moved(conn));
    client_receive(fd, bytes, TOTAL - READ + 1);
    ITERATE_UNTIL(conn_pending_output(conn) == 0);
    assert_false(conn_output_moved(conn));
    mem_free(bytes);
    close(fd);
}

static void drain(struct conn *conn) {
    conn_close_after_write(conn);
}

static void a_client_that_shut_its_sending_side_down_still_gets_its_answer(void **state) {
    (void)state;
    enum { TOTAL = 6 << 20 };
    world.on_ended = drain;
    int fd = client_new();
    written = 0;
    write_stream(world.newest, TOTAL, 0);
    shutdown(fd, SHUT_WR);
    ITERATE_UNTIL(world.ended == 1);
    char *bytes = mem_alloc(TOTAL);
    client_receive(fd, bytes, TOTAL);
    assert_stream(bytes, TOTAL, 0);
    ITERATE_UNTIL(client_at_end(fd));
    mem_free(bytes);
    close(fd);
}

static void a_draining_connection_whose_client_dies_is_closed(void **state) {
    (void)state;
    int server_fd;
    int fd = client_draining(&server_fd);
    client_reset(fd);
    ITERATE_UNTIL(fcntl(server_fd, F_GETFD) < 0);
    assert_int_equal(world.ended, 0);
    assert_int_equal(world.drained, 1);
}

/* --- Ends --- */

static struct session last_words;

static void remember(struct conn *conn) {
    last_words = *session_of(conn);
    conn_close(conn);
    conn_close(conn);
    assert_ptr_equal(session_of(conn)->conn, conn); /* readable until the iteration ends */
}

static void the_end_of_a_client_is_reported_once(void **state) {
    (void)state;
    world.on_ended = remember;
    int fd = client_new();
    client_send(fd, "x", 1);
    close(fd);
    ITERATE_UNTIL(world.ended == 1);
    assert_int_equal(last_words.received, 1);
    assert_string_equal(last_words.reason, "the other side closed");
    fd = client_new();
    client_reset(fd);
    ITERATE_UNTIL(world.ended == 2);
    assert_string_equal(last_words.reason, "connection reset by peer");
}

static void a_failing_write_is_reported_in_a_later_iteration(void **state) {
    (void)state;
    world.on_ended = remember;
    int fd = client_new();
    client_reset(fd);
    await_socket(conn_fd(world.newest), POLLHUP);
    assert_int_equal(conn_try_write(world.newest, "x", 1), 0);
    conn_queue(world.newest, "y", 1);
    assert_int_equal(conn_pending_output(world.newest), 0);
    assert_int_equal(world.ended, 0);
    ITERATE_UNTIL(world.ended == 1);
    assert_string_equal(last_words.reason, "connection reset by peer");
}

static void a_failing_queued_write_is_reported(void **state) {
    (void)state;
    world.on_ended = remember;
    int fd = client_new();
    written = 0;
    write_stream(world.newest, 6 << 20, 0);
    iterate();
    client_reset(fd);
    ITERATE_UNTIL(world.ended == 1);
}

static size_t close_now(struct conn *conn, char *bytes, size_t len) {
    (void)len;
    conn_close(conn);
    bytes[0] = 'x'; /* still there */
    return 0;
}

static void close_inside_data_keeps_the_bytes_until_it_returns(void **state) {
    (void)state;
    static char bytes[200 * 1000];
    world.on_data = refuse;
    int fd = client_new();
    client_send(fd, bytes, sizeof(bytes));
    ITERATE_UNTIL(conn_pending_input(world.newest) == sizeof(bytes));
    world.on_data = close_now; /* with a block of its own, from a read */
    client_send(fd, "x", 1);
    ITERATE_UNTIL(client_at_end(fd));
    close(fd);

    fd = client_new(); /* in the shared buffer */
    client_send(fd, "x", 1);
    ITERATE_UNTIL(client_at_end(fd));
    close(fd);

    world.on_data = refuse; /* from a replay */
    fd = client_new();
    client_send(fd, "x", 1);
    ITERATE_UNTIL(conn_pending_input(world.newest) == 1);
    world.on_data = close_now;
    conn_replay(world.newest);
    assert_int_equal(conn_input_allocated(world.newest), 0);
    ITERATE_UNTIL(client_at_end(fd));
    assert_int_equal(world.ended, 0);
    close(fd);
}

static size_t close_with_output(struct conn *conn, char *bytes, size_t len) {
    (void)bytes;
    written = 0;
    for (int i = 0; i < 9; i++) write_stream(conn, 1 << 20, i % 3);
    if (session_of(conn)->data_calls == 2) conn_close(conn);
    return len;
}

static void close_drops_output_that_is_being_written(void **state) {
    (void)state;
    world.on_data = close_with_output;
    int fd = client_new();
    client_send(fd, "x", 1);
    ITERATE_UNTIL(session_of(world.newest)->data_calls == 1);
    client_send(fd, "x", 1);
    static char bytes[1 << 20];
    ITERATE_UNTIL(recv(fd, bytes, sizeof(bytes), 0) == 0);
    assert_int_equal(world.ended, 0);
    close(fd);
}

static void refuse_client(struct conn *conn) {
    conn_try_write(conn, "-no\r\n", 5);
    conn_close(conn);
}

static void close_inside_opened_still_says_why(void **state) {
    (void)state;
    world.on_opened = refuse_client;
    int fd = client_new();
    char answer[5];
    client_receive(fd, answer, 5);
    assert_memory_equal(answer, "-no\r\n", 5);
    ITERATE_UNTIL(client_at_end(fd));
    close(fd);
}

enum { CROWD = 4 * CONN_CLOSES_MAX };

/* Many clients; each connection has a byte to read on the server's side. */
static void crowd_new(int fds[CROWD], struct conn *conns[CROWD], int server_fds[CROWD]) {
    for (int i = 0; i < CROWD; i++) {
        fds[i] = client_new();
        conns[i] = world.newest;
        server_fds[i] = conn_fd(conns[i]);
        assert_int_equal(send(fds[i], "x", 1, 0), 1);
        await_socket(server_fds[i], POLLIN);
    }
}

static int count_closed(const int server_fds[CROWD]) {
    int closed = 0;
    for (int i = 0; i < CROWD; i++) closed += fcntl(server_fds[i], F_GETFD) < 0;
    return closed;
}

static void of_many_closed_connections_an_iteration_closes_a_few_sockets(void **state) {
    (void)state;
    int fds[CROWD], server_fds[CROWD];
    struct conn *conns[CROWD];
    world.on_data = refuse;
    crowd_new(fds, conns, server_fds);
    int calls[CROWD];
    for (int i = 0; i < CROWD; i++) calls[i] = session_of(conns[i])->data_calls;
    for (int i = 0; i < CROWD; i++) conn_close(conns[i]);
    int closed = count_closed(server_fds);
    assert_uint_in_range(closed, 1, CONN_CLOSES_MAX);
    for (int i = closed; i < CROWD; i++) {
        assert_true(conn_is_closing(conns[i]));
        assert_int_equal(conn_try_write(conns[i], "x", 1), 0);
        assert_int_equal(session_of(conns[i])->data_calls, calls[i]);
    }
    while (closed < CROWD) {
        iterate();
        int now = count_closed(server_fds);
        assert_uint_in_range(now - closed, 1, CONN_CLOSES_MAX);
        closed = now;
    }
    assert_int_equal(world.ended, 0);
    for (int i = 0; i < CROWD; i++) {
        assert_true(client_at_end(fds[i]));
        close(fds[i]);
    }
}

static void closed_connections_whose_sockets_wait_are_freed_with_the_loop(void **state) {
    (void)state;
    int fds[CROWD], server_fds[CROWD];
    struct conn *conns[CROWD];
    world.on_data = refuse;
    crowd_new(fds, conns, server_fds);
    for (int i = 0; i < CROWD; i++) conn_close(conns[i]);
    iterate();
    assert_true(count_closed(server_fds) < CROWD);
    net_free(world.net);
    assert_int_equal(count_closed(server_fds), CROWD);
    for (int i = 0; i < CROWD; i++) close(fds[i]);
    setup(NULL);
}

static void everything_alive_is_freed_with_the_loop(void **state) {
    (void)state;
    world.on_data = refuse;
    int fds[3];
    for (int i = 0; i < 3; i++) {
        fds[i] = client_new();
        written = 0;
        write_stream(world.newest, 4 << 20, 0);
        client_send(fds[i], "partial", 7);
    }
    conn_close(world.newest);
    iterate();
    net_free(world.net);
    for (int i = 0; i < 3; i++) close(fds[i]);
    assert_int_equal(world.ended, 0);
    setup(NULL);
}

/* --- Listeners --- */

static void many_clients_that_come_at_once_are_all_served(void **state) {
    (void)state;
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    enum { MANY = 2000 };
    static int fds[MANY];
    int count = 0;
    while (count < MANY && count + 100 < (int)limit.rlim_cur / 2) {
        fds[count] = client_try();
        assert_true(fds[count] >= 0);
        client_send(fds[count], "x", 1);
        if (++count % 500 == 0) ITERATE_UNTIL(world.opened == count); /* the backlog is 511 */
    }
    ITERATE_UNTIL(world.opened == count);
    char answer;
    for (int i = 0; i < count; i++) client_receive(fds[i], &answer, 1);
    for (int i = 0; i < count; i++) close(fds[i]);
    ITERATE_UNTIL(world.ended == count);
}

static void running_out_of_descriptors_costs_clients_but_not_the_server(void **state) {
    (void)state;
    struct rlimit limit, tight;
    getrlimit(RLIMIT_NOFILE, &limit);
    int fds[20];
    for (int i = 0; i < 20; i++) fds[i] = client_try();
    tight = limit;
    tight.rlim_cur = (rlim_t)fds[19] + 5;
    log_set_level(LOG_NOTHING);
    setrlimit(RLIMIT_NOFILE, &tight);
    ITERATE_UNTIL(world.opened > 0);
    for (int i = 0; i < 50; i++) iterate();
    setrlimit(RLIMIT_NOFILE, &limit);
    log_set_level(LOG_NOTICE);
    assert_true(world.opened < 20);
    for (int i = 0; i < 20; i++) close(fds[i]);
    ITERATE_UNTIL(world.ended == world.opened);
    int fd = client_new();
    char answer;
    client_send(fd, "x", 1);
    client_receive(fd, &answer, 1);
    close(fd);
}

static void a_closed_listener_leaves_its_connections_alone(void **state) {
    (void)state;
    int fd = client_new();
    int port = listener_port(world.listener);
    assert_true(port > 0);
    listener_close(world.listener);
    iterate();
    char answer;
    client_send(fd, "x", 1);
    client_receive(fd, &answer, 1);
    close(fd);
    ITERATE_UNTIL(world.ended == 1);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), -1);
    close(fd);
}

static enum listen_status open_at(const char *address, int port, char text[128]) {
    struct listener *listener;
    text[0] = '\0';
    enum listen_status status =
        listener_open_tcp(world.net, address, port, 10, &EVENTS, &world, &listener, text, 128);
    if (status == LISTEN_OK) listener_close(listener);
    return status;
}

static void an_address_that_cannot_be_had_gives_a_reason(void **state) {
    (void)state;
    char text[128];
    assert_int_equal(open_at("127.0.0.1", listener_port(world.listener), text), LISTEN_IN_USE);
    assert_string_equal(text, strerror(EADDRINUSE));
    assert_int_equal(open_at("192.0.2.77", 0, text), LISTEN_UNAVAILABLE);
    assert_string_equal(text, strerror(EADDRNOTAVAIL));
    assert_int_equal(open_at("no..such", 0, text), LISTEN_FAILED);
    assert_true(strlen(text) > 0);
    assert_int_equal(open_at("*", 0, text), LISTEN_OK);
    assert_int_equal(open_at("localhost", 0, text), LISTEN_OK);
    struct listener *any;
    assert_int_equal(listener_open_tcp(world.net, "*", 0, 10, &EVENTS, &world, &any, text, 128),
                     LISTEN_OK);
    enum listen_status side_by_side = open_at("::*", listener_port(any), text);
    assert_true(side_by_side == LISTEN_OK || side_by_side == LISTEN_UNAVAILABLE);
    iterate();
}

static void ipv6_names_stand_in_brackets(void **state) {
    (void)state;
    struct listener *listener;
    char text[128], want[CONN_NAME_MAX];
    enum listen_status status =
        listener_open_tcp(world.net, "::1", 0, 10, &EVENTS, &world, &listener, text, sizeof(text));
    if (status == LISTEN_UNAVAILABLE) skip();
    assert_int_equal(status, LISTEN_OK);
    struct sockaddr_in6 address = {.sin6_family = AF_INET6,
                                   .sin6_port = htons((uint16_t)listener_port(listener)),
                                   .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    ITERATE_UNTIL(world.opened == 1);
    snprintf(want, sizeof(want), "[::1]:%d", listener_port(listener));
    assert_string_equal(conn_local_name(world.newest, text), want);
    assert_true(conn_is_local(world.newest));
    close(fd);
}

static enum listen_status open_path(const char *path, unsigned permissions,
                                    struct listener **listener, char text[128]) {
    struct unix_place place = {.path = path, .permissions = permissions, .group = ""};
    return listener_open_unix(world.net, &place, 10, &EVENTS, &world, listener, text, 128);
}

static int connect_path(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

static void a_unix_socket_serves_and_removes_its_file(void **state) {
    (void)state;
    struct listener *listener;
    char path[64], text[128], name[CONN_NAME_MAX];
    snprintf(path, sizeof(path), "/tmp/packlist-net-test-%d.sock", (int)getpid());
    assert_int_equal(open_path(path, 0700, &listener, text), LISTEN_OK);
    assert_int_equal(listener_port(listener), 0);
    struct stat file;
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_mode & 0777, 0700);

    int fd = connect_path(path);
    ITERATE_UNTIL(world.opened == 1);
    char answer[5];
    client_send(fd, "hello", 5);
    client_receive(fd, answer, 5);
    assert_memory_equal(answer, "hello", 5);
    assert_true(conn_is_unix(world.newest));
    assert_true(conn_is_local(world.newest));
    snprintf(text, sizeof(text), "%s:0", path);
    assert_string_equal(conn_peer_name(world.newest, name), text);
    assert_string_equal(conn_local_name(world.newest, name), text);
    conn_set_keepalive(world.newest, 10);
    close(fd);
    ITERATE_UNTIL(world.ended == 1);
    listener_close(listener);
    iterate();
    assert_int_equal(stat(path, &file), -1);
}

static void a_unix_socket_replaces_a_socket_but_no_other_file(void **state) {
    (void)state;
    struct listener *listener;
    char path[64], text[128];
    snprintf(path, sizeof(path), "/tmp/packlist-net-test-%d.sock", (int)getpid());
    struct sockaddr_un stale = {.sun_family = AF_UNIX};
    snprintf(stale.sun_path, sizeof(stale.sun_path), "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&stale, sizeof(stale)), 0);
    close(fd);
    assert_int_equal(open_path(path, 0, &listener, text), LISTEN_OK);
    fd = connect_path(path);
    ITERATE_UNTIL(world.opened == 1);
    close(fd);
    listener_close(listener);
    iterate();

    fd = open(path, O_CREAT | O_RDWR, 0600);
    close(fd);
    assert_int_equal(open_path(path, 0, &listener, text), LISTEN_FAILED);
    assert_string_equal(text, strerror(EEXIST));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(open_path("/no/such/folder/s", 0, &listener, text), LISTEN_FAILED);
    assert_string_equal(text, strerror(ENOENT));
    char long_path[200];
    memset(long_path, 'a', sizeof(long_path));
    long_path[0] = '/';
    long_path[199] = '\0';
    assert_int_equal(open_path(long_path, 0, &listener, text), LISTEN_FAILED);
    assert_string_equal(text, strerror(ENAMETOOLONG));
}

static void a_client_that_takes_no_answers_any_more_is_reported_as_an_end(void **state) {
    (void)state;
    world.on_ended = remember;
    struct listener *listener;
    char path[64], text[128];
    snprintf(path, sizeof(path), "/tmp/packlist-net-test-%d.sock", (int)getpid());
    assert_int_equal(open_path(path, 0, &listener, text), LISTEN_OK);
    int fd = connect_path(path);
    ITERATE_UNTIL(world.opened == 1);
    shutdown(fd, SHUT_RD); /* only the write fails, and raises no signal */
    assert_int_equal(conn_try_write(world.newest, "x", 1), 0);
    assert_int_equal(world.ended, 0);
    ITERATE_UNTIL(world.ended == 1);
    assert_string_equal(last_words.reason, "broken pipe");
    close(fd);
}

/* --- The loop, timers, signals --- */

struct beat {
    struct net_timer *timer;
    int count;
    int stop_after;
    bool free;
};

static void on_beat(void *arg) {
    struct beat *beat = arg;
    beat->count++;
    if (beat->count != beat->stop_after) return;
    if (beat->free) net_timer_free(beat->timer);
    net_stop(world.net);
}

static void run_freely(void) {
    net_on_before_poll(world.net, NULL, NULL);
    net_run(world.net);
}

static void timers_fire_once_or_again_and_not_early(void **state) {
    (void)state;
    struct beat once = {.stop_after = 1}, often = {.stop_after = 3, .free = true};
    once.timer = net_timer_new(world.net, on_beat, &once);
    often.timer = net_timer_new(world.net, on_beat, &often);
    int64_t start = now_ms();
    net_timer_start(once.timer, 20, 0);
    run_freely();
    assert_true(now_ms() - start >= 19);
    assert_int_equal(once.count, 1);

    usleep(20 * 1000); /* the loop's clock is behind now */
    start = now_ms();
    net_timer_start(often.timer, 10, 5);
    run_freely();
    assert_true(now_ms() - start >= 19);
    assert_int_equal(often.count, 3);
    assert_int_equal(once.count, 1);
    net_timer_free(once.timer);
}

static void a_timer_can_be_stopped_and_reset(void **state) {
    (void)state;
    struct beat stopped = {.stop_after = 1}, reset = {.stop_after = 1}, end = {.stop_after = 1};
    stopped.timer = net_timer_new(world.net, on_beat, &stopped);
    reset.timer = net_timer_new(world.net, on_beat, &reset);
    end.timer = net_timer_new(world.net, on_beat, &end);
    net_timer_start(stopped.timer, 1, 0);
    net_timer_stop(stopped.timer);
    net_timer_start(reset.timer, 1, 0);
    net_timer_start(reset.timer, 60 * 1000, 0);
    net_timer_start(end.timer, 10, 0);
    run_freely();
    assert_int_equal(end.count, 1);
    assert_int_equal(stopped.count, 0);
    assert_int_equal(reset.count, 0);
    net_timer_free(stopped.timer); /* the others are freed with the loop */
}

static int polls;

/* Then the timer starts: ten iterations may take this long. */
static bool stay_awake_ten_times(void *arg) {
    struct beat *end = arg;
    if (++polls == 10) net_timer_start(end->timer, 50, 0);
    return polls < 10;
}

static void the_loop_sleeps_only_when_before_poll_says_so(void **state) {
    (void)state;
    struct beat end = {.stop_after = 1};
    end.timer = net_timer_new(world.net, on_beat, &end);
    polls = 0;
    net_on_before_poll(world.net, stay_awake_ten_times, &end);
    int64_t start = now_ms();
    net_run(world.net);
    assert_true(now_ms() - start >= 49);
    assert_true(polls >= 10 && polls <= 12); /* ten iterations at once, and then the loop slept */
}

static void a_poll_is_one_iteration_without_sleep(void **state) {
    (void)state;
    struct beat beat = {.stop_after = 1};
    beat.timer = net_timer_new(world.net, on_beat, &beat);
    net_timer_start(beat.timer, 2 * PATIENCE_MS, 0);
    int64_t start = now_ms();
    net_poll(world.net);
    assert_true(now_ms() - start < PATIENCE_MS);
    assert_int_equal(beat.count, 0);
    for (int beats = 1; beats <= 2; beats++) { /* net_stop in one ends only its iteration */
        start = now_ms();
        net_timer_start(beat.timer, 5, 0);
        while (beat.count < beats && now_ms() - start < PATIENCE_MS) net_poll(world.net);
        assert_int_equal(beat.count, beats);
        assert_true(now_ms() - start >= 4);
    }
}

static void on_usr1(int signum, void *arg) {
    *(int *)arg = signum;
    net_stop(world.net);
}

static void a_signal_arrives_as_a_callback(void **state) {
    (void)state;
    int seen = 0;
    assert_true(net_on_signal(world.net, SIGUSR1, on_usr1, &seen));
    assert_false(net_on_signal(world.net, SIGKILL, on_usr1, &seen));
    raise(SIGUSR1);
    assert_int_equal(seen, 0);
    run_freely();
    assert_int_equal(seen, SIGUSR1);
}

#define NET_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    clock_init();
    const struct CMUnitTest tests[] = {
        NET_TEST(an_echo_comes_back_and_an_idle_connection_owns_no_buffer),
        NET_TEST(a_connection_is_small),
        NET_TEST(a_connection_knows_its_names_and_options),
        NET_TEST(input_that_comes_in_pieces_is_presented_in_one_piece),
        NET_TEST(a_big_announced_argument_is_read_into_a_buffer_of_its_size),
        NET_TEST(an_announcement_alone_costs_little_memory),
        NET_TEST(input_that_is_not_consumed_is_kept_and_replayed),
        NET_TEST(no_byte_is_lost_or_moved_whatever_is_consumed_and_announced),
        NET_TEST(callbacks_nest_over_different_connections),
        NET_TEST(a_client_that_floods_leaves_time_to_the_others),
        NET_TEST(a_slow_reader_gets_every_byte_in_order_and_stops_nobody),
        NET_TEST(pending_output_counts_what_the_socket_has_not_taken),
        NET_TEST(a_full_socket_takes_nothing_and_is_no_error),
        NET_TEST(close_after_write_sends_all_and_then_closes),
        NET_TEST(a_source_takes_no_memory_and_its_bytes_count_as_output),
        NET_TEST(an_iteration_sends_only_a_part_of_a_source),
        NET_TEST(a_source_is_released_when_the_connection_ends),
        NET_TEST(held_output_leaves_when_the_iteration_ends),
        NET_TEST(much_held_output_does_not_wait_for_the_end_of_the_iteration),
        NET_TEST(held_output_is_sent_before_a_close_after_write_and_dropped_by_a_close),
        NET_TEST(close_after_write_closes_at_once_when_nothing_is_queued),
        NET_TEST(a_draining_connection_can_be_closed_at_once),
        NET_TEST(output_moves_while_the_client_reads),
        NET_TEST(a_client_that_shut_its_sending_side_down_still_gets_its_answer),
        NET_TEST(a_draining_connection_whose_client_dies_is_closed),
        NET_TEST(the_end_of_a_client_is_reported_once),
        NET_TEST(a_failing_write_is_reported_in_a_later_iteration),
        NET_TEST(a_failing_queued_write_is_reported),
        NET_TEST(close_inside_data_keeps_the_bytes_until_it_returns),
        NET_TEST(close_drops_output_that_is_being_written),
        NET_TEST(close_inside_opened_still_says_why),
        NET_TEST(of_many_closed_connections_an_iteration_closes_a_few_sockets),
        NET_TEST(closed_connections_whose_sockets_wait_are_freed_with_the_loop),
        NET_TEST(everything_alive_is_freed_with_the_loop),
        NET_TEST(many_clients_that_come_at_once_are_all_served),
        NET_TEST(running_out_of_descriptors_costs_clients_but_not_the_server),
        NET_TEST(a_closed_listener_leaves_its_connections_alone),
        NET_TEST(an_address_that_cannot_be_had_gives_a_reason),
        NET_TEST(ipv6_names_stand_in_brackets),
        NET_TEST(a_unix_socket_serves_and_removes_its_file),
        NET_TEST(a_unix_socket_replaces_a_socket_but_no_other_file),
        NET_TEST(a_client_that_takes_no_answers_any_more_is_reported_as_an_end),
        NET_TEST(timers_fire_once_or_again_and_not_early),
        NET_TEST(a_timer_can_be_stopped_and_reset),
        NET_TEST(the_loop_sleeps_only_when_before_poll_says_so),
        NET_TEST(a_poll_is_one_iteration_without_sleep),
        NET_TEST(a_signal_arrives_as_a_callback),
    };
    return cmocka_run_group_tests_name("net", tests, NULL, NULL);
}
