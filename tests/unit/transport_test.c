/* Connections over a transport without a socket: they use only the functions of the table. It
 * passes one byte at a time, or as many as a test sets, and refuses every other attempt to
 * write. */
#include "net/connections/conn.h"
#include "net/connections/conn_state.h"
#include "net/net.h"

#include "base/clock.h"
#include "base/memory/alloc.h"
#include "unit/in_range.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* --- The transport --- */

enum { OUTPUT_MAX = 4096, STEPS_MAX = 100 * 1000 };

/* The state of a connection; `conn` checks where it is. */
struct dripping {
    struct conn *conn;
    bool reads;
    bool is_shut;
    bool is_closing;
};

/* The state of an outstanding write. */
struct dripping_write {
    uv_buf_t buffers[CONN_BATCH_MAX];
    unsigned count;
    unsigned first; /* the first buffer that is not sent completely */
    size_t sent;    /* bytes sent of that buffer */
};

/* The other side, and what the connection has asked of the transport. */
static struct {
    const char *input;
    size_t input_len;
    bool input_ends; /* the other side ends its output after `input` */
    char output[OUTPUT_MAX];
    size_t output_len;
    size_t most; /* bytes passed at a time */
    bool refuses_next;
    int accept_status;
    struct conn *accepted;        /* the newest */
    int write_status;             /* result of every write from now on */
    struct dripping_write *write; /* the outstanding one; NULL: none */
    int refusals;                 /* calls of conn_room that gave none */
    int tries, writes, closes;
} other;

static int drip_accept(struct conn *conn, void *from) {
    struct dripping *state = transport_state(conn);
    assert_ptr_equal(from, &other);
    assert_null(state->conn);
    state->conn = conn;
    other.accepted = conn;
    return other.accept_status;
}

static void drip_start_reading(struct conn *conn) {
    ((struct dripping *)transport_state(conn))->reads = true;
}

static void drip_stop_reading(struct conn *conn) {
    ((struct dripping *)transport_state(conn))->reads = false;
}

static size_t drip_take(const uv_buf_t *buffer, size_t from) {
    size_t len = buffer->len - from < other.most ? buffer->len - from : other.most;
    assert_true(other.output_len + len <= OUTPUT_MAX);
    memcpy(other.output + other.output_len, buffer->base + from, len);
    other.output_len += len;
    return len;
}

static ssize_t drip_try_write(struct conn *conn, const uv_buf_t *buffers, unsigned count) {
    (void)conn;
    assert_true(count > 0);
    assert_null(other.write);
    other.tries++;
    if (other.write_status != 0) return other.write_status;
    other.refuses_next = !other.refuses_next;
    return other.refuses_next ? (ssize_t)drip_take(buffers, 0) : 0;
}

static int drip_write(struct conn *conn, void *write, const uv_buf_t *buffers, unsigned count) {
    (void)conn;
    assert_null(other.write);
    assert_uint_in_range(count, 1, CONN_BATCH_MAX);
    other.writes++;
    other.write = write;
    *other.write = (struct dripping_write){.count = count};
    memcpy(other.write->buffers, buffers, count * sizeof(*buffers));
    return 0;
}

static size_t drip_unsent(const struct conn *conn) {
    (void)conn;
    if (!other.write) return 0;
    size_t bytes = 0;
    for (unsigned i = other.write->first; i < other.write->count; i++)
        bytes += other.write->buffers[i].len;
    return bytes - other.write->sent;
}

static void drip_shut_down(struct conn *conn) {
    ((struct dripping *)transport_state(conn))->is_shut = true;
}

static void drip_close(struct conn *conn) {
    other.closes++;
    drip_stop_reading(conn);
    ((struct dripping *)transport_state(conn))->is_closing = true;
}

static int drip_fd(const struct conn *conn) {
    (void)conn;
    return -1;
}

static const struct transport DRIPPING = {.state_size = sizeof(struct dripping),
                                          .write_size = sizeof(struct dripping_write),
                                          .accept = drip_accept,
                                          .start_reading = drip_start_reading,
                                          .stop_reading = drip_stop_reading,
                                          .try_write = drip_try_write,
                                          .write = drip_write,
                                          .unsent = drip_unsent,
                                          .shut_down = drip_shut_down,
                                          .close = drip_close,
                                          .fd = drip_fd};

/* Sends a part of the outstanding write, or lets it fail. */
static void step_write(struct conn *conn) {
    struct dripping_write *write = other.write;
    if (!write) return;
    if (other.write_status == 0) {
        write->sent += drip_take(&write->buffers[write->first], write->sent);
        if (write->sent < write->buffers[write->first].len) return;
        write->sent = 0;
        if (++write->first < write->count) return;
    }
    other.write = NULL;
    conn_written(conn, other.write_status);
}

static void step_read(struct conn *conn) {
    struct dripping *state = transport_state(conn);
    if (!state->reads) return;
    if (state->is_shut) {
        conn_input_ended(conn, UV_ECONNRESET);
    } else if (other.input_len > 0) {
        uv_buf_t room = conn_room(conn);
        if (!room.base) {
            other.refusals++;
            return;
        }
        size_t len = other.input_len < other.most ? other.input_len : other.most;
        if (len > room.len) len = room.len;
        memcpy(room.base, other.input, len);
        other.input += len;
        other.input_len -= len;
        conn_received(conn, len);
    } else if (other.input_ends) {
        conn_input_ended(conn, UV_EOF);
    }
}

/* --- The owner --- */

static struct {
    struct net *net;
    struct conn *conn; /* NULL: it was freed */
    int opened, ended, drained;
    char reason[64];
    size_t (*on_data)(struct conn *conn, char *bytes, size_t len);
    void (*on_ended)(struct conn *conn);
} owner;

static void opened(struct conn *conn, void *arg) {
    assert_ptr_equal(arg, &owner);
    owner.conn = conn;
    owner.opened++;
}

static size_t data(struct conn *conn, char *bytes, size_t len) {
    assert_true(len > 0);
    return owner.on_data(conn, bytes, len);
}

static void ended(struct conn *conn, const char *reason) {
    owner.ended++;
    snprintf(owner.reason, sizeof(owner.reason), "%s", reason);
    owner.on_ended(conn);
}

static void drained(struct conn *conn) {
    assert_int_equal(conn_pending_output(conn), 0);
    owner.drained++;
}

static void collecting(struct conn *conn) {
    conn_replay(conn);
}

static const struct conn_events EVENTS = {.session_size = 8,
                                          .opened = opened,
                                          .data = data,
                                          .collecting = collecting,
                                          .ended = ended,
                                          .drained = drained};

static size_t swallow(struct conn *conn, char *bytes, size_t len) {
    (void)conn, (void)bytes;
    return len;
}

static int setup(void **state) {
    (void)state;
    const char *error;
    memset(&other, 0, sizeof(other));
    memset(&owner, 0, sizeof(owner));
    other.most = 1;
    owner.on_data = swallow;
    owner.on_ended = conn_close;
    owner.net = net_new(&error);
    return owner.net ? 0 : -1;
}

/* Frees closed connections: the sanitizer would report a later use, or a leak. */
static void finish_closing(struct conn *conn) {
    struct dripping *state = transport_state(conn);
    if (!state->is_closing) return;
    if (other.write) { /* its bytes must still be there */
        drip_take(&other.write->buffers[other.write->first], other.write->sent);
        other.write = NULL;
        conn_written(conn, UV_ECANCELED);
    }
    owner.conn = NULL;
    conn_closed(conn);
}

/* One iteration of the loop. */
static void iterate(void) {
    struct conn *conn = owner.conn;
    if (!((struct dripping *)transport_state(conn))->is_closing) step_write(conn);
    step_read(conn);
    net_poll(owner.net);
    finish_closing(conn);
}

#define ITERATE_UNTIL(condition)                                                                   \
    for (int steps_ = 0; !(condition); iterate()) assert_true(++steps_ < STEPS_MAX)

static struct conn *client_new(void) {
    conn_accept(owner.net, &DRIPPING, &other, &EVENTS, &owner);
    assert_int_equal(owner.opened, 1);
    return owner.conn;
}

static int teardown(void **state) {
    (void)state;
    if (owner.conn) {
        conn_close(owner.conn);
        iterate();
    }
    net_free(owner.net);
    return 0;
}

static void client_sends(const char *bytes, size_t len) {
    other.input = bytes;
    other.input_len = len;
}

static void assert_output(const char *expected) {
    assert_int_equal(other.output_len, strlen(expected));
    assert_memory_equal(other.output, expected, other.output_len);
}

/* --- Input --- */

enum { RECORD = 1000 };
static char records[3 * RECORD];
static size_t records_seen;

static void fill_records(void) {
    for (size_t i = 0; i < sizeof(records); i++) records[i] = (char)(i * 2654435761u >> 13);
    records_seen = 0;
}

/* Takes whole records. */
static size_t take_records(struct conn *conn, char *bytes, size_t len) {
    assert_memory_equal(bytes, records + records_seen * RECORD, len < RECORD ? len : RECORD);
    conn_expect(conn, RECORD);
    if (len < RECORD) return 0;
    records_seen++;
    return RECORD;
}

static void pieces_of_any_size_are_presented_in_one_piece(void **state) {
    (void)state;
    struct conn *conn = client_new();
    owner.on_data = take_records;
    const size_t sizes[] = {1, 7, 40, 100, 999};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        fill_records();
        other.most = sizes[i];
        client_sends(records, sizeof(records));
        ITERATE_UNTIL(other.input_len == 0);
        while (conn_pending_input(conn) >= RECORD) conn_replay(conn);
        assert_int_equal(records_seen, 3);
        assert_int_equal(conn_pending_input(conn), 0);
    }
    assert_int_equal(conn_totals(owner.net).input_bytes, 5 * sizeof(records));
}

/* "=" announces an argument of one record, which is collected; "." follows it. */
static size_t take_collected(struct conn *conn, char *bytes, size_t len) {
    sds text = conn_take_collected(conn);
    if (text) {
        assert_int_equal(bytes[0], '=');
        if (len > 1) assert_int_equal(bytes[1], '.');
        assert_int_equal(sds_len(text), RECORD);
        assert_memory_equal(text, records, RECORD);
        sds_free(text);
        records_seen++;
        return 1;
    }
    if (bytes[0] == '=' && records_seen == 0) {
        if (len > 1) assert_true(conn_collect(conn, bytes + 1, len - 1, RECORD));
        return 0;
    }
    return len;
}

static void an_argument_is_collected_byte_by_byte(void **state) {
    (void)state;
    client_new();
    fill_records();
    owner.on_data = take_collected;
    client_sends("=", 1);
    ITERATE_UNTIL(other.input_len == 0);
    client_sends(records, RECORD);
    ITERATE_UNTIL(other.input_len == 0);
    client_sends(".", 1);
    ITERATE_UNTIL(other.input_len == 0);
    assert_int_equal(records_seen, 1);
    assert_int_equal(conn_pending_input(owner.conn), 0);
}

static void a_flood_waits_for_the_next_iteration(void **state) {
    (void)state;
    struct conn *conn = client_new();
    size_t len = 3 * (size_t)CONN_ITERATION_MAX;
    char *flood = mem_alloc_zeroed(len);
    other.most = CONN_READ_SIZE;
    client_sends(flood, len);
    while (other.refusals == 0) step_read(conn);
    assert_true(other.input_len > 0);
    iterate(); /* still refused: the call ends the iteration */
    assert_int_equal(other.refusals, 2);
    ITERATE_UNTIL(other.input_len == 0);
    assert_int_equal(other.refusals, 2);
    assert_int_equal(conn_totals(owner.net).input_bytes, len);
    mem_free(flood);
}

static void nothing_is_read_after_the_end(void **state) {
    (void)state;
    client_new();
    client_sends("abc", 3);
    other.input_ends = true;
    ITERATE_UNTIL(!owner.conn);
    assert_int_equal(other.input_len, 0);
    assert_int_equal(owner.ended, 1);
    assert_string_equal(owner.reason, "the other side closed");
    assert_int_equal(other.closes, 1);
}

/* --- Output --- */

static void every_way_to_write_keeps_the_order(void **state) {
    (void)state;
    struct conn *conn = client_new();
    assert_int_equal(conn_try_write(conn, "12", 2), 1); /* the transport takes no more at a time */
    assert_int_equal(conn_try_write(conn, "2", 1), 0);  /* it refuses */
    conn_hold(conn, "2", 1);
    conn_queue(conn, "34", 2);
    char *buffer = mem_alloc(4);
    memcpy(buffer, "x567", 4);
    conn_queue_owned(conn, buffer, 1, 4);
    assert_int_equal(conn_try_write(conn, "8", 1), 0);
    conn_queue(conn, "8", 1);
    assert_int_equal(conn_pending_output(conn), 7);
    ITERATE_UNTIL(conn_pending_output(conn) == 0);
    assert_output("12345678");
    assert_int_equal(conn_output_allocated(conn), 0);
    assert_int_equal(conn_totals(owner.net).output_bytes, 8);
    size_t sent = conn_try_write(conn, "9", 1); /* the transport changes refuses_next first */
    assert_int_equal(sent, other.refuses_next);
}

static void pending_output_falls_while_a_write_goes_on(void **state) {
    (void)state;
    struct conn *conn = client_new();
    conn_queue(conn, "abcdef", 6);
    assert_int_equal(other.writes, 1);
    for (size_t left = 6; left > 0; left--) {
        assert_int_equal(conn_pending_output(conn), left);
        iterate();
        assert_int_equal(conn_output_moved(conn), left > 1);
        assert_false(conn_output_moved(conn));
    }
    assert_int_equal(conn_pending_output(conn), 0);
    assert_output("abcdef");
}

static void much_output_goes_through_small_writes(void **state) {
    (void)state;
    struct conn *conn = client_new();
    fill_records();
    other.most = 13;
    for (size_t i = 0; i < sizeof(records); i += 10) conn_queue(conn, records + i, 10);
    ITERATE_UNTIL(conn_pending_output(conn) == 0);
    assert_int_equal(other.output_len, sizeof(records));
    assert_memory_equal(other.output, records, sizeof(records));
    assert_true(other.writes > 1);
}

static void held_output_leaves_when_the_iteration_has_lasted_long(void **state) {
    (void)state;
    struct conn *conn = client_new();
    struct net *net = net_of(conn);
    other.most = 8;
    uint64_t now = clock_ticks();
    net_release_late(net, now, 0);
    conn_hold(conn, "one ", 4);
    net_release_late(net, now + 99, 100);
    assert_true(conn_is_holding(conn));
    net_release_late(net, now + 100, 100);
    assert_false(conn_is_holding(conn));
    assert_output("one ");
    conn_hold(conn, "two ", 4);
    net_release_late(net, now + 199, 100);
    assert_true(conn_is_holding(conn));
    net_release_late(net, now + 200, 100);
    assert_false(conn_is_holding(conn));
    ITERATE_UNTIL(conn_pending_output(conn) == 0);
    assert_output("one two ");
}

static void output_is_sent_before_a_close_after_write(void **state) {
    (void)state;
    struct conn *conn = client_new();
    conn_hold(conn, "abc", 3);
    conn_close_after_write(conn);
    client_sends("late", 4);
    ITERATE_UNTIL(!owner.conn);
    assert_output("abc");
    assert_int_equal(owner.drained, 1);
    assert_int_equal(owner.ended, 0);
    assert_int_equal(other.input_len, 4);
}

static void close_after_write(struct conn *conn) {
    assert_true(conn_close_after_write(conn));
}

static void a_client_that_ended_its_input_gets_the_rest(void **state) {
    (void)state;
    struct conn *conn = client_new();
    owner.on_ended = close_after_write;
    conn_queue(conn, "abc", 3);
    other.input_ends = true;
    ITERATE_UNTIL(!owner.conn);
    assert_output("abc");
    assert_int_equal(owner.ended, 1);
    assert_int_equal(owner.drained, 1);
}

/* --- Errors and closing --- */

static void a_failing_try_is_reported_as_an_end(void **state) {
    (void)state;
    struct conn *conn = client_new();
    other.write_status = UV_EPIPE;
    assert_int_equal(conn_try_write(conn, "a", 1), 0);
    assert_int_equal(owner.ended, 0); /* never inside the owner's own call */
    assert_int_equal(conn_try_write(conn, "b", 1), 0);
    assert_int_equal(other.tries, 1);
    ITERATE_UNTIL(!owner.conn);
    assert_int_equal(owner.ended, 1);
    assert_string_equal(owner.reason, uv_strerror(UV_EPIPE));
}

static void a_failing_outstanding_write_is_reported_as_an_end(void **state) {
    (void)state;
    struct conn *conn = client_new();
    conn_queue(conn, "abc", 3);
    iterate();
    other.write_status = UV_ETIMEDOUT;
    ITERATE_UNTIL(!owner.conn);
    assert_int_equal(owner.ended, 1);
    assert_string_equal(owner.reason, uv_strerror(UV_ETIMEDOUT));
    assert_output("a");
}

static void a_draining_connection_whose_write_fails_is_closed(void **state) {
    (void)state;
    struct conn *conn = client_new();
    conn_queue(conn, "abc", 3);
    conn_close_after_write(conn);
    other.write_status = UV_EPIPE;
    ITERATE_UNTIL(!owner.conn);
    assert_int_equal(owner.drained, 1);
    assert_int_equal(owner.ended, 0);
}

static void a_close_leaves_the_bytes_of_a_write_until_it_is_done(void **state) {
    (void)state;
    struct conn *conn = client_new();
    conn_queue(conn, "abc", 3);
    conn_close(conn);
    conn_close(conn);
    assert_int_equal(other.closes, 1);
    iterate();
    assert_null(owner.conn);
    assert_output("a"); /* the transport could still read it */
    assert_int_equal(owner.ended + owner.drained, 0);
}

static void a_client_that_cannot_be_accepted_is_closed(void **state) {
    (void)state;
    other.accept_status = UV_EMFILE;
    conn_accept(owner.net, &DRIPPING, &other, &EVENTS, &owner);
    assert_int_equal(owner.opened, 0);
    assert_int_equal(other.closes, 1);
    conn_closed(other.accepted);
}

static void what_belongs_to_a_socket_is_unknown_without_one(void **state) {
    (void)state;
    struct conn *conn = client_new();
    char name[CONN_NAME_MAX];
    assert_int_equal(conn_fd(conn), -1);
    assert_string_equal(conn_peer_name(conn, name), "?:0");
    assert_string_equal(conn_local_name(conn, name), "?:0");
    assert_int_equal(conn_peer_port(conn), 0);
    assert_false(conn_is_unix(conn));
    assert_false(conn_is_local(conn));
    conn_set_keepalive(conn, 10);
    assert_true(conn_allocated(conn) >= sizeof(struct dripping) + sizeof(struct conn) + 8);
}

#define TRANSPORT_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    clock_init();
    const struct CMUnitTest tests[] = {
        TRANSPORT_TEST(pieces_of_any_size_are_presented_in_one_piece),
        TRANSPORT_TEST(an_argument_is_collected_byte_by_byte),
        TRANSPORT_TEST(a_flood_waits_for_the_next_iteration),
        TRANSPORT_TEST(nothing_is_read_after_the_end),
        TRANSPORT_TEST(every_way_to_write_keeps_the_order),
        TRANSPORT_TEST(pending_output_falls_while_a_write_goes_on),
        TRANSPORT_TEST(much_output_goes_through_small_writes),
        TRANSPORT_TEST(held_output_leaves_when_the_iteration_has_lasted_long),
        TRANSPORT_TEST(output_is_sent_before_a_close_after_write),
        TRANSPORT_TEST(a_client_that_ended_its_input_gets_the_rest),
        TRANSPORT_TEST(a_failing_try_is_reported_as_an_end),
        TRANSPORT_TEST(a_failing_outstanding_write_is_reported_as_an_end),
        TRANSPORT_TEST(a_draining_connection_whose_write_fails_is_closed),
        TRANSPORT_TEST(a_close_leaves_the_bytes_of_a_write_until_it_is_done),
        TRANSPORT_TEST(a_client_that_cannot_be_accepted_is_closed),
        TRANSPORT_TEST(what_belongs_to_a_socket_is_unknown_without_one),
    };
    return cmocka_run_group_tests_name("transport", tests, NULL, NULL);
}
