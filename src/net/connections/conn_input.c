/* Connections: input, and their end. How much is read at once: CONN_READ_SIZE in conn_state.h.
 *
 * Unconsumed bytes are in a block that exists only while there are any:
 *
 *      struct input | consumed | pending bytes | free |
 *                   ^bytes     ^start          ^end   ^capacity
 *
 * Invariants
 *   1. start < end <= capacity.
 *   2. A block of at most CONN_TAIL_MAX pending bytes that does not expect to grow beyond that is a
 *      *tail*: the next read copies it to the front of the shared buffer and goes there. Any other
 *      block is read into directly.
 *   3. Bytes do not move while they are presented: a block changes only in conn_room and after the
 *      callback, and a connection is freed only by conn_closed, at the end of the iteration. */
#include "net/connections/conn.h"

#include "base/memory/alloc.h"
#include "base/text/secret.h"
#include "net/connections/nested.h"

#include <assert.h>
#include <string.h>

/* --- Blocks of a connection --- */

static size_t pending(const struct input *input) {
    return input == NULL ? 0 : input->end - input->start;
}

static bool is_tail(const struct input *input) {
    return pending(input) <= CONN_TAIL_MAX && input->expected <= CONN_TAIL_MAX;
}

static void input_free(const struct conn *conn) {
    struct input *input = conn->input;
    if (input != NULL && conn->flags & CONN_CLEARS) secret_clear(input->bytes, input->capacity);
    mem_free(input);
}

static void input_drop(struct conn *conn) {
    if (conn->input != NULL) conn_free_text(conn, conn->input->collected.text);
    input_free(conn);
    conn->input = NULL;
}

/* Returns the capacity of a block that holds `have` bytes of `expected`. A small announcement gets
 * its block at once, a large one in proportion to the bytes that have arrived, so a client cannot
 * take memory by announcing alone. A block grows by at least a quarter, because each of many small
 * arguments announces only itself. */
static size_t block_capacity(size_t have, size_t expected) {
    if (have <= CONN_TAIL_MAX && expected <= CONN_TAIL_MAX) return have;
    if (expected <= have) return have + (have > CONN_READ_SIZE ? have : CONN_READ_SIZE);
    size_t believed = have * 8 > CONN_BELIEVED ? have * 8 : CONN_BELIEVED;
    size_t size = expected < believed ? expected : believed;
    return size > have + have / 4 ? size : have + have / 4;
}

/* Replaces the connection's block by one that holds `len` bytes, which may be in the old one. */
static void input_replace(struct conn *conn, const char *bytes, size_t len, size_t expected) {
    size_t size = mem_good_size(sizeof(struct input) + block_capacity(len, expected));
    struct input *input = mem_alloc(size);
    *input =
        (struct input){.end = len, .capacity = size - sizeof(struct input), .expected = expected};
    if (conn->input != NULL) input->collected = conn->input->collected;
    memcpy(input->bytes, bytes, len);
    input_free(conn);
    conn->input = input;
}

/* Keeps `len` bytes of the shared buffer, in the existing block if they fit. */
static void input_keep(struct conn *conn, const char *bytes, size_t len, size_t expected) {
    struct input *input = conn->input;
    size_t wanted = block_capacity(len, expected);
    if (input == NULL || input->capacity < wanted || input->capacity > wanted * 2 + 256) {
        input_replace(conn, bytes, len, expected);
        return;
    }
    input->start = 0;
    input->end = len;
    input->expected = expected;
    memcpy(input->bytes, bytes, len);
}

/* Makes room for a read after the pending bytes. A byte is moved O(1) times on average: to the
 * front only when at least as many bytes have been consumed, otherwise into a block that is larger
 * by a factor. */
static void input_reserve(struct conn *conn) {
    struct input *input = conn->input;
    size_t have = pending(input);
    size_t wanted = CONN_READ_SIZE / 4;
    if (input->expected > have && input->expected - have < wanted) wanted = input->expected - have;
    if (input->capacity - input->end >= wanted) return;
    if (input->start >= have && input->capacity - have >= wanted) {
        memmove(input->bytes, input->bytes + input->start, have);
        input->start = 0;
        input->end = have;
        return;
    }
    input_replace(conn, input->bytes + input->start, have, input->expected);
}

/* --- Secrets --- */

void conn_clear_input(struct conn *conn, bool and_rest) {
    conn->flags |= and_rest ? CONN_CLEARS | CONN_CLEARS_REST : CONN_CLEARS;
}

bool conn_clears_input(const struct conn *conn) {
    return (conn->flags & CONN_CLEARS) != 0;
}

/* Overwrites the consumed ones of the presented bytes, and all copies that are left of them. */
static void clear_consumed(struct conn *conn, char *bytes, size_t consumed, size_t len) {
    struct input *input = conn->input;
    bool is_kept = input && bytes >= input->bytes && bytes < input->bytes + input->capacity;
    if (!is_kept) {
        secret_clear(bytes, consumed);
        if (input != NULL) secret_clear(input->bytes, input->capacity); /* the tail was copied */
    } else {
        secret_clear(input->bytes, (size_t)(bytes + consumed - input->bytes));
        secret_clear(bytes + len, (size_t)(input->bytes + input->capacity - bytes) - len);
    }
    conn->flags &= (uint16_t) ~(conn->flags & CONN_CLEARS_REST ? CONN_CLEARS_REST : CONN_CLEARS);
}

/* --- Presenting bytes --- */

/* The callback has closed the connection, or the bytes hold a secret. Returns how many bytes count
 * as consumed. */
static __attribute__((noinline)) size_t settle(struct conn *conn, char *bytes, size_t consumed,
                                               size_t len) {
    struct net *net = net_of(conn);
    if (conn_is_closing(conn)) {
        conn_free_text(conn, net->collecting.text);
        net->collecting.text = NULL;
        consumed = len;
    }
    if (conn->flags & CONN_CLEARS) clear_consumed(conn, bytes, consumed, len);
    return consumed;
}

/* Calls `data`. Returns the bytes consumed; *expected is what the callback announced. Callbacks
 * nest: serving one connection may replay another. */
static inline __attribute__((always_inline)) size_t present(struct conn *conn, char *bytes,
                                                            size_t len, size_t *expected) {
    struct net *net = net_of(conn);
    struct conn *outer = net->presenting;
    size_t outer_expected = net->expected;
    net->presenting = conn;
    net->expected = 0;
    size_t consumed = conn->events->data(conn, bytes, len);
    *expected = net->expected;
    net->presenting = outer;
    net->expected = outer_expected;
    if (conn->flags & (CONN_CLOSING | CONN_DRAINING | CONN_CLEARS))
        consumed = settle(conn, bytes, consumed, len);
    assert(consumed <= len);
    return consumed;
}

static void input_kept(struct conn *conn) {
    if (conn->events->input_kept != NULL && !conn_is_closing(conn)) conn->events->input_kept(conn);
}

/* Returns how many of the unconsumed bytes at `bytes` are kept: all but those that conn_collect has
 * taken. */
static size_t kept(struct conn *conn, const char *bytes, size_t len) {
    struct net *net = net_of(conn);
    return net->collecting.text == NULL ? len : (size_t)(net->collecting_from - bytes);
}

/* Gives the connection the argument that conn_collect has begun; the connection keeps the bytes
 * before it. */
static void attach_collected(struct conn *conn) {
    struct net *net = net_of(conn);
    if (net->collecting.text == NULL) return;
    conn->input->collected = net->collecting;
    net->collecting = (struct collected){.text = NULL};
}

static void present_block(struct conn *conn) {
    struct input *input = conn->input;
    size_t expected;
    input->start +=
        present(conn, input->bytes + input->start, input->end - input->start, &expected);
    input->expected = expected;
    input->end = input->start + kept(conn, input->bytes + input->start, pending(input));
    attach_collected(conn);
    if (input->start == input->end) {
        input_drop(conn);
    } else if (is_tail(input) && input->capacity > CONN_TAIL_MAX * 2) {
        input_replace(conn, input->bytes + input->start, pending(input), expected);
    }
    input_kept(conn);
}

static void present_shared(struct conn *conn, char *bytes, size_t len) {
    size_t expected;
    size_t consumed = present(conn, bytes, len, &expected);
    if (consumed == len && conn->input == NULL) return;
    if (consumed == len)
        input_drop(conn);
    else
        input_keep(conn, bytes + consumed, kept(conn, bytes + consumed, len - consumed), expected);
    if (conn->flags & CONN_CLEARS) secret_clear(bytes + consumed, len - consumed);
    attach_collected(conn);
    input_kept(conn);
}

void conn_expect(struct conn *conn, size_t total) {
    struct net *net = net_of(conn);
    assert(net->presenting == conn);
    net->expected = total;
}

void conn_replay(struct conn *conn) {
    assert(net_of(conn)->presenting != conn);
    if (conn->input == NULL || conn->input->collected.missing > 0 || conn_is_closing(conn)) return;
    present_block(conn);
}

size_t conn_pending_input(const struct conn *conn) {
    return pending(conn->input) + conn_collected_input(conn);
}

size_t conn_waiting_input(const struct conn *conn) {
    size_t allocated;
    return conn->transport->waiting ? conn->transport->waiting(conn, &allocated) : 0;
}

size_t conn_input_allocated(const struct conn *conn) {
    const struct input *input = conn->input;
    size_t waiting = 0;
    if (conn->transport->waiting) conn->transport->waiting(conn, &waiting);
    if (input == NULL) return waiting;
    size_t collected = input->collected.text == NULL ? 0 : sds_allocated(input->collected.text);
    return sizeof(struct input) + input->capacity + collected + waiting;
}

void conn_stay_with_loop(struct conn *conn, bool on) {
    conn->flags &= (uint16_t)~CONN_STAYS;
    if (on) conn->flags |= CONN_STAYS;
    if (on && conn->transport->want_back) conn->transport->want_back(conn);
}

/* --- Reading --- */

static void stop_reading(struct conn *conn) {
    conn->transport->stop_reading(conn);
    if (net_of(conn)->nested != NULL && conn->output == NULL) nested_forget(conn);
}

/* Calls `ended`, once. */
void conn_input_ended(struct conn *conn, int status) {
    if (filter_above(conn)) {
        filter_above(conn)->input_ended(conn->above, status);
        return;
    }
    if (conn->flags & (CONN_CLOSING | CONN_ENDED)) return;
    conn->flags |= CONN_ENDED;
    stop_reading(conn);
    /* The tail was copied there for a read that brought nothing. */
    if (conn->flags & CONN_CLEARS && net_of(conn)->presenting == NULL)
        secret_clear(net_of(conn)->read_buffer, CONN_TAIL_MAX);
    if (conn->flags & CONN_FAILED) status = conn->error;
    conn->events->ended(conn, status == UV_EOF ? "the other side closed" : uv_strerror(status));
}

/* Returns whether the connection may read in this iteration. */
static inline bool begin_read(struct net *net, struct conn *conn) {
    if (net->reader == conn) return net->reader_bytes < CONN_ITERATION_MAX;
    net_note_awake(net);
    net->reader = conn;
    net->reader_bytes = 0;
    net->reads++;
    return true;
}

/* conn_room for a connection that has input. */
static __attribute__((noinline)) uv_buf_t room_after_input(struct conn *conn) {
    struct net *net = net_of(conn);
    struct input *input = conn->input;
    if (!begin_read(net, conn)) return uv_buf_init(NULL, 0);
    if (input->collected.missing > 0) {
        uv_buf_t room = conn_collect_room(conn, CONN_ITERATION_MAX - net->reader_bytes);
        if (room.base == NULL) conn_input_ended(conn, UV_ENOMEM);
        return room;
    }
    if (!is_tail(input)) {
        input_reserve(conn);
        input = conn->input;
        return (uv_buf_t){.base = input->bytes + input->end, .len = input->capacity - input->end};
    }
    size_t tail = pending(input);
    memcpy(net->read_buffer, input->bytes + input->start, tail);
    return uv_buf_init(net->read_buffer + tail, CONN_READ_SIZE);
}

uv_buf_t conn_room(struct conn *conn) {
    struct net *net = net_of(conn);
    if (conn->input) {
        const struct filter *filter = filter_above(conn);
        return filter ? filter->room(conn->above) : room_after_input(conn);
    }
    if (!begin_read(net, conn)) return uv_buf_init(NULL, 0);
    return uv_buf_init(net->read_buffer, CONN_READ_SIZE);
}

static inline void note_received(struct conn *conn, size_t len) {
    struct net *net = net_of(conn);
    net->totals[conn->kind].input_bytes += len;
    conn->traffic.input_bytes += len;
    net->reader_bytes += len;
}

/* conn_received for a connection that has input. */
static __attribute__((noinline)) void received_after_input(struct conn *conn, size_t len) {
    struct input *input = conn->input;
    note_received(conn, len);
    if (input->collected.missing > 0) {
        conn_collect_read(conn, len);
    } else if (is_tail(input)) {
        present_shared(conn, net_of(conn)->read_buffer, pending(input) + len);
    } else {
        input->end += len;
        present_block(conn);
    }
}

void conn_received(struct conn *conn, size_t len) {
    if (!conn->input) {
        note_received(conn, len);
        present_shared(conn, net_of(conn)->read_buffer, len);
        return;
    }
    const struct filter *filter = filter_above(conn);
    if (filter)
        filter->received(conn->above, len);
    else
        received_after_input(conn, len);
}

size_t conn_received_at(struct conn *conn, char *bytes, size_t len) {
    if (!conn->input) {
        begin_read(net_of(conn), conn);
        note_received(conn, len);
        present_shared(conn, bytes, len);
        return len;
    }
    uv_buf_t room = conn_room(conn);
    if (room.base == NULL) return 0;
    if (len > room.len) len = room.len;
    memcpy(room.base, bytes, len);
    secret_clear(bytes, len); /* whether there is a secret is known only when they are presented */
    conn_received(conn, len);
    return len;
}

void conn_verified(struct conn *conn) {
    if (conn->events->verified && !conn_is_closing(conn)) conn->events->verified(conn);
}

/* --- Stop and end --- */

void conn_closed(struct conn *conn) {
    if (filter_above(conn)) {
        filter_above(conn)->closed(conn->above);
        return;
    }
    conn_output_drop(conn);
    input_drop(conn);
    mem_free(transport_state(conn));
}

void conn_pause_input(struct conn *conn) {
    if (!conn_is_closing(conn)) conn->transport->stop_reading(conn);
}

void conn_resume_input(struct conn *conn) {
    if (conn_is_closing(conn) || conn->flags & CONN_ENDED) return;
    conn->transport->start_reading(conn);
}

bool conn_close_after_write(struct conn *conn) {
    if (conn_is_closing(conn)) return !(conn->flags & CONN_CLOSING);
    conn->flags |= CONN_DRAINING;
    stop_reading(conn);
    if (conn->output != NULL || conn_drain(conn)) return true;
    conn_close(conn);
    return false;
}
