/* The module net: what connections are, and the input that they bring. */
#include "base/memory/alloc.h"
#include "net/connections/conn_state.h"
#include "unit/in_range.h"
#include "unit/net_fixture.h"
#include "unit/seed.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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
    NOT_WITH_THREADS();
    int fd = client_new();
    assert_true(conn_allocated(world.newest) <= mem_good_size(320 + sizeof(struct session)));
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
            assert_int_equal(conn_pending_input(conn) + conn_waiting_input(conn) == 0,
                             conn_input_allocated(conn) == 0);
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
    NOT_WITH_THREADS();
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

/* At most CONN_ACCEPTS_MAX, and the one that the iteration before has left. */
static void an_iteration_accepts_few_clients(void **state) {
    (void)state;
    enum { CLIENTS = 5 * CONN_ACCEPTS_MAX };
    int fds[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) fds[i] = client_try();
    for (int before = 0; world.opened < CLIENTS; before = world.opened) {
        iterate();
        assert_uint_in_range(world.opened - before, 0, CONN_ACCEPTS_MAX + 1);
    }
    for (int i = 0; i < CLIENTS; i++) close(fds[i]);
}

static void a_listener_may_close_while_clients_wait(void **state) {
    (void)state;
    enum { CLIENTS = 3 * CONN_ACCEPTS_MAX };
    int fds[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) fds[i] = client_try();
    ITERATE_UNTIL(world.opened > 0);
    listener_close(world.listener);
    int before = world.opened;
    for (int i = 0; i < 3; i++) iterate();
    assert_int_equal(world.opened, before);
    for (int i = 0; i < CLIENTS; i++) close(fds[i]);
}

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
        NET_TEST(an_iteration_accepts_few_clients),
        NET_TEST(a_listener_may_close_while_clients_wait),
    };
    return cmocka_run_group_tests_name("net", tests, NULL, NULL);
}
