/* What the module net sends: output that waits, sources of it; and the ends of connections, with output
 * or without. */
#include "base/memory/alloc.h"
#include "net/connections/conn_state.h"
#include "unit/in_range.h"
#include "unit/net_fixture.h"
#include "unit/seed.h"

#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct random dice;

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

static const struct conn_source moving_source = {moving_peek, moving_release, NULL};

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

/* A maker of bytes of the stream, in parts. */
struct making {
    size_t at, left;
    char part[64 * 1024];
};

static size_t makers; /* not ended */

static struct slice making_make(void *arg, bool *more) {
    struct making *making = arg;
    size_t len = random_below(&dice, 4) ? 1 + random_below(&dice, sizeof(making->part)) : 0;
    if (len > making->left) len = making->left;
    stream_fill(making->part, len, making->at);
    making->at += len;
    making->left -= len;
    *more = making->left > 0;
    return slice_make(making->part, len);
}

static void making_end(void *arg) {
    free(arg);
    makers--;
}

static const struct conn_maker stream_maker = {making_make, making_end};

static struct making *hold_maker(struct conn *conn, size_t at, size_t len) {
    struct making *making = malloc(sizeof(*making));
    making->at = at;
    making->left = len;
    makers++;
    conn_hold_maker(conn, &stream_maker, making, 1000);
    return making;
}

/* Sends the next `len` bytes of the stream in the given way. */
static void write_stream(struct conn *conn, size_t len, int way) {
    char *bytes = mem_alloc(len + 7);
    stream_fill(bytes + 7, len, written);
    if (way == 4) hold_source(conn, written, len);
    if (way == 5) hold_maker(conn, written, len);
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
        write_stream(conn, len, (int)random_below(&dice, 6));
        ASSERT_SOON(conn_pending_output(conn) <= written - read);
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
    assert_int_equal(makers, 0);
    close(slow);
    close(quick);
}

static void a_source_takes_no_memory_and_its_bytes_count_as_output(void **state) {
    (void)state;
    NOT_WITH_THREADS(); /* the source is copied for each part, and parts are small */
    enum { SIZE = 20 << 20 };
    dice = random_of_this_run();
    int fd = client_new();
    struct conn *conn = world.newest;
    conn_hold(conn, "a", 1);
    hold_source(conn, 0, SIZE);
    conn_hold(conn, "b", 1);
    assert_int_equal(conn_pending_output(conn), SIZE + 2); /* it takes no memory, so it may wait */
    conn_release(conn);
    size_t pending = conn_pending_output(conn);
    assert_true(pending <= SIZE + 2 && pending > SIZE / 2);
    assert_true(conn_output_referred(conn) <= pending);
    assert_true(conn_output_referred(conn) > SIZE / 2);
    assert_true(conn_output_allocated(conn) < CONN_BLOCK_SIZE + 8192);
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
    NOT_WITH_THREADS(); /* the source is copied for each part, and parts are small */
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
                    CALLBACKS * (CONN_SOURCE_BATCH + CONN_BLOCK_SIZE));
        ssize_t got = recv(fd, bytes, sizeof(bytes), 0);
        if (got > 0) left -= (size_t)got;
    }
    assert_int_equal(sources, 0);
    close(fd);
}

#if defined(TINY_LIMITS) && defined(NET_FIXTURE_THREADS)
enum { SOURCE_SIZE = 1 << 18 }; /* a thread gets 150 bytes at a time */
#else
enum { SOURCE_SIZE = 20 << 20 };
#endif

static void a_source_is_released_when_the_connection_ends(void **state) {
    (void)state;
    dice = random_of_this_run();
    int fd = client_new();
    hold_source(world.newest, 0, SOURCE_SIZE);
    conn_close(world.newest);
    hold_source(world.newest, 0, SOURCE_SIZE); /* takes no output any more */
    ITERATE_UNTIL(sources == 0);
    close(fd);
    fd = client_new();
    hold_source(world.newest, 0, SOURCE_SIZE);
    conn_hold(world.newest, "b", 1);
    client_reset(fd); /* the other side is gone while a write is outstanding */
    ITERATE_UNTIL(sources == 0);
    fd = client_new();
    hold_source(world.newest, 0, SOURCE_SIZE);
    conn_hold(world.newest, "b", 1);
    conn_close_after_write(world.newest);
    char *bytes = malloc(SOURCE_SIZE + 1);
    client_receive(fd, bytes, SOURCE_SIZE + 1);
    assert_stream(bytes, SOURCE_SIZE, 0);
    free(bytes);
    ITERATE_UNTIL(sources == 0 && client_at_end(fd));
    close(fd);
}

static void a_maker_makes_what_the_socket_takes(void **state) {
    (void)state;
    NOT_WITH_THREADS(); /* what a thread has is not counted here */
    enum { SIZE = 20 << 20, LITTLE = 200 * 1024 };
    dice = random_of_this_run();
    int fd = client_new();
    struct conn *conn = world.newest;
    conn_hold(conn, "a", 1);
    struct making *first = hold_maker(conn, 0, SIZE);
    conn_hold(conn, "b", 1);
    struct making *second = hold_maker(conn, 0, SIZE);
    conn_hold(conn, "c", 1);
    assert_int_equal(conn_pending_output(conn), 3);
    assert_true(conn_output_allocated(conn) > 2000);
    for (int i = 0; i < 100; i++) iterate();
    assert_true(first->left > SIZE / 4);
    assert_int_equal(second->left, SIZE);
    assert_true(conn_pending_output(conn) < LITTLE && conn_output_allocated(conn) < LITTLE);
    char *bytes = malloc(2 * SIZE + 3);
    client_receive(fd, bytes, 2 * SIZE + 3);
    ITERATE_UNTIL(makers == 0);
    assert_true(bytes[0] == 'a' && bytes[SIZE + 1] == 'b' && bytes[2 * SIZE + 2] == 'c');
    assert_stream(bytes + 1, SIZE, 0);
    assert_stream(bytes + SIZE + 2, SIZE, 0);
    ITERATE_UNTIL(conn_try_write(conn, "x", 1) == 1);
    assert_int_equal(conn_output_allocated(conn), 0);
    free(bytes);
    close(fd);
}

static void a_maker_ends_when_the_connection_does(void **state) {
    (void)state;
    dice = random_of_this_run();
    int fd = client_new();
    hold_maker(world.newest, 0, SOURCE_SIZE);
    conn_hold(world.newest, "b", 1);
    hold_maker(world.newest, 0, SOURCE_SIZE);
    conn_close(world.newest);
    hold_maker(world.newest, 0, SOURCE_SIZE); /* takes no output any more */
    ITERATE_UNTIL(makers == 0);
    close(fd);
    fd = client_new();
    hold_maker(world.newest, 0, SOURCE_SIZE);
    conn_hold(world.newest, "b", 1);
    client_reset(fd); /* the other side is gone while a write is outstanding */
    ITERATE_UNTIL(makers == 0);
    fd = client_new();
    hold_maker(world.newest, 0, 1);
    hold_maker(world.newest, 0, SOURCE_SIZE);
    conn_close_after_write(world.newest);
    char *bytes = malloc(SOURCE_SIZE + 1);
    client_receive(fd, bytes, SOURCE_SIZE + 1);
    assert_stream(bytes, 1, 0);
    assert_stream(bytes + 1, SOURCE_SIZE, 0);
    free(bytes);
    ITERATE_UNTIL(makers == 0 && client_at_end(fd));
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

static void sources_and_what_is_held_between_them_leave_together(void **state) {
    (void)state;
    NOT_WITH_THREADS(); /* the sources are copied */
    enum { PART = CONN_HOLD_MAX - 3, PARTS = 2 };
    char bytes[PARTS * (PART + 1)];
    dice = random_of_this_run();
    int fd = client_new();
    struct conn *conn = world.newest;
    for (int i = 0; i < PARTS; i++) {
        conn_hold(conn, "x", 1);
        hold_source(conn, 0, PART);
    }
    assert_int_equal(conn_pending_output(conn), sizeof(bytes));
    assert_true(conn_can_hold(conn, CONN_HOLD_MAX - PARTS));
    assert_false(conn_can_hold(conn, CONN_HOLD_MAX - PARTS + 1));
    assert_int_equal(recv(fd, bytes, sizeof(bytes), 0), -1);
    iterate();
    client_receive(fd, bytes, sizeof(bytes));
    for (int i = 0; i < PARTS; i++) {
        assert_true(bytes[i * (PART + 1)] == 'x');
        assert_stream(bytes + i * (PART + 1) + 1, PART, 0);
    }
    ITERATE_UNTIL(sources == 0);
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
    size_t pending; /* less, if the client has read meanwhile */
    ASSERT_SOON((pending = conn_pending_output(conn)) > 0 && pending <= sizeof(bytes) - sent);
    conn_queue(conn, bytes, 1000);
    ASSERT_PENDING(conn, pending + 1000);
    client_receive(fd, bytes, sent);
    ITERATE_UNTIL(conn_pending_output(conn) <
                  pending + 1000); /* part of one write counts at once */
    pending = conn_pending_output(conn);
    conn_queue_owned(conn, mem_alloc(10), 3, 3); /* nothing, but freed */
    conn_queue(conn, bytes, 0);
    ASSERT_PENDING(conn, pending);
    close(fd);
}

static void a_full_socket_takes_nothing_and_is_no_error(void **state) {
    (void)state;
    NOT_WITH_THREADS();
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
    NOT_WITH_THREADS();
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
    NOT_WITH_THREADS();
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

static void much_output_of_a_closed_connection_is_freed_in_steps(void **state) {
    (void)state;
    enum { QUEUED = 8 * 1024 * 1024, FREED_AT_ONCE = 3 * 1024 * 1024 };
    static char bytes[10000];
    int fd = client_new(), iterations = 0;
    struct conn *conn = world.newest;
    for (size_t queued = 0; queued < QUEUED; queued += sizeof(bytes))
        conn_queue(conn, bytes, sizeof(bytes));
    conn_close(conn);
    ITERATE_UNTIL(world.net->dropped != NULL);
    for (; world.net->dropped != NULL; iterations++) {
        size_t before = mem_used();
        iterate();
        assert_in_range(before - mem_used(), 1, FREED_AT_ONCE);
    }
    assert_true(iterations > 1);
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
    NOT_WITH_THREADS();
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
    NOT_WITH_THREADS();
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

int main(void) {
    clock_init();
    const struct CMUnitTest tests[] = {
        NET_TEST(a_slow_reader_gets_every_byte_in_order_and_stops_nobody),
        NET_TEST(pending_output_counts_what_the_socket_has_not_taken),
        NET_TEST(a_full_socket_takes_nothing_and_is_no_error),
        NET_TEST(close_after_write_sends_all_and_then_closes),
        NET_TEST(a_source_takes_no_memory_and_its_bytes_count_as_output),
        NET_TEST(an_iteration_sends_only_a_part_of_a_source),
        NET_TEST(a_source_is_released_when_the_connection_ends),
        NET_TEST(a_maker_makes_what_the_socket_takes),
        NET_TEST(a_maker_ends_when_the_connection_does),
        NET_TEST(held_output_leaves_when_the_iteration_ends),
        NET_TEST(much_held_output_does_not_wait_for_the_end_of_the_iteration),
        NET_TEST(sources_and_what_is_held_between_them_leave_together),
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
        NET_TEST(much_output_of_a_closed_connection_is_freed_in_steps),
        NET_TEST(close_inside_opened_still_says_why),
        NET_TEST(of_many_closed_connections_an_iteration_closes_a_few_sockets),
        NET_TEST(closed_connections_whose_sockets_wait_are_freed_with_the_loop),
        NET_TEST(everything_alive_is_freed_with_the_loop),
    };
    return cmocka_run_group_tests_name("net_output", tests, NULL, NULL);
}
