/* The state of connections, and what the families of this module call of each other's files here.
 *
 *      listener.c, dial.c        ──→ make connections
 *      transport_socket.c        the sockets; calls the functions that transport.h ends with:
 *      conn_input.c              what comes in, and the end of a connection
 *      conn_output.c             what goes out
 *      conn_life.c, nested.c     making and closing; nested polling's sockets
 *
 * Each calls those below it. Sending and reading go through the table of the connection
 * (transport.h), so conn_input.c and conn_output.c know none of those above. */
#ifndef PACKLIST_NET_CONNECTIONS_CONN_STATE_H
#define PACKLIST_NET_CONNECTIONS_CONN_STATE_H

#include "base/text/secret.h"
#include "net/connections/block.h"
#include "net/connections/conn.h"
#include "net/connections/transport.h"
#include "net/loop/loop.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* The shared read buffer: a tail copied to its front, and then the bytes of one read.
 *
 *      | tail, at most CONN_TAIL_MAX | new bytes, at most CONN_READ_SIZE |          unused |
 *      ^read_buffer                  ^conn_room
 *
 * A longer tail, or one that is announced to become longer, has a buffer of its own, which a read
 * may fill; while a long argument is collected, up to CONN_ITERATION_MAX. */
#ifdef TINY_LIMITS
enum { CONN_TAIL_MAX = 48, CONN_READ_SIZE = 64, CONN_ITERATION_MAX = 256, CONN_BELIEVED = 200 };
enum { CONN_CLOSES_MAX = 2, CONN_ACCEPTS_MAX = 2, CONN_DROPS_MAX = 2, CONN_DROP_AT_ONCE = 200 };
enum { CONN_MAKES_MAX = 2 };
enum { CONN_BLOCK_SIZE = 128, CONN_BATCH_MAX = 3, CONN_FIRST_BLOCK = 64, CONN_HOLD_MAX = 200 };
enum { CONN_MAKE_BELOW = 30, CONN_SOURCE_BATCH = 300, CONN_SHARE_MIN = 10, CONN_SPARES_MAX = 2 };
#else
enum {
    CONN_TAIL_MAX = 32 * 1024,
    CONN_READ_SIZE = 64 * 1024,
    CONN_ITERATION_MAX = 256 * 1024, /* bytes read from one connection before others are read */
    CONN_BELIEVED = 1024 * 1024 /* bytes of an announced size that get memory before they arrive */
};
enum {
    CONN_BLOCK_SIZE = 16 * 1024,    /* bytes of a block of the output queue */
    CONN_FIRST_BLOCK = 512,         /* bytes of its first block */
    CONN_BATCH_MAX = 64,            /* blocks passed to one write */
    CONN_MAKE_BELOW = 16 * 1024,    /* bytes before those of a maker, which then makes some */
    CONN_HOLD_MAX = 64 * 1024,      /* copied bytes held until the iteration ends */
    CONN_SOURCE_BATCH = 512 * 1024, /* bytes of sources passed to one write: about 100 us */
    CONN_SHARE_MIN = 1024,          /* bytes of a source that are not rather copied */
    CONN_SPARES_MAX = 128           /* empty output queues that are kept, and first blocks */
};
enum {
    CONN_CLOSES_MAX = 32,  /* sockets closed per iteration: about 10 us each */
    CONN_ACCEPTS_MAX = 16, /* and accepted: about 20 us each */
    CONN_MAKES_MAX = 4,    /* outputs with makers that are sent: about 100 us each */
    CONN_DROPS_MAX = 64,   /* blocks of dropped output freed per iteration: about 1 us each */
    CONN_DROP_AT_ONCE = 256 * 1024 /* bytes of dropped output that are freed at once */
};
#endif

/* An argument that is read into a string of its own (conn_collect). */
struct collected {
    sds text;       /* the bytes that have arrived; NULL: no argument */
    size_t missing; /* bytes still to arrive */
};

/* Unconsumed bytes: see conn_input.c. */
struct input {
    size_t start;
    size_t end;
    size_t capacity;
    size_t expected; /* announced bytes, counted from `start`; 0 = none */
    struct collected collected;
    char bytes[];
};

/* The state of the loop and of its connections; what other families have they keep themselves. */
struct net {
    struct loop loop;
    const struct net_upward *upward; /* net.h */
    void *owner;                     /* for its functions */
    char *read_buffer;
    struct conn_totals totals[CONN_KINDS];
    uint64_t iterations, active_ticks, thread_reads, thread_writes; /* as in struct net_totals */
    struct output *held;   /* to be sent before the loop sleeps; linked by next_held */
    struct output *making; /* the same of those with makers, a few in an iteration: a queue */
    struct output **making_end;
    struct conn *unclosed_first; /* CONN_CLOSING, but the sockets are not closed yet */
    struct conn *unclosed_last;
    struct block *dropped;    /* of closed connections: to be freed */
    struct block_pool blocks; /* of the size of first ones */
    struct output *spare_outputs;
    unsigned spare_output_count;
    unsigned closes;             /* sockets closed in this iteration */
    unsigned accepts;            /* sockets accepted in it */
    struct listener *full_first; /* listeners that accept again in the next one */

    /* The connection whose bytes are presented (the innermost one), and its conn_expect. */
    struct conn *presenting;
    size_t expected;

    /* What conn_collect has begun for the connection whose bytes are presented; or no text. */
    struct collected collecting;
    const char *collecting_from; /* where it begins in the presented bytes */

    /* The connection that was read last in this iteration, and how many bytes. */
    struct conn *reader;
    size_t reader_bytes;

    uint64_t reads;      /* counts connections that had input, in all iterations */
    struct conn *writer; /* the one whose held output was sent last; for io_threads.c, which forgets
                            it when the iteration ends */

    unsigned turn; /* counts iterations, and batches of nested polling */

    struct tls_shared *tls; /* tls.c; NULL: no connection has used TLS */
    struct io_threads *io;  /* io_threads.c; NULL: there is none */
    struct nested *nested;  /* nested.h; NULL: connections are not polled inside a callback */
};
static_assert(offsetof(struct net, loop) == 0, "loop_of");

static inline void net_note_awake(struct net *net) {
    loop_note_awake(&net->loop);
}

/* A libuv handle of a listening or connected socket, as any of its libuv types. */
union net_socket {
    uv_handle_t handle;
    uv_stream_t stream;
    uv_tcp_t tcp;
    uv_pipe_t pipe;
};

enum conn_flag {
    CONN_CLOSING = 1 << 0,  /* conn_close was called */
    CONN_DRAINING = 1 << 1, /* conn_close_after_write was called */
    CONN_FAILED = 1 << 2,   /* a write failed: output is dropped */
    CONN_ENDED = 1 << 3,    /* `ended` was called */
    CONN_LOWER = 1 << 4,    /* it is a filter's lower connection */

    /* Of secrets (conn_clear_input, conn_clear_output): */
    CONN_CLEARS = 1 << 5,      /* the presented or kept bytes are overwritten when they are gone */
    CONN_CLEARS_REST = 1 << 6, /* so is what `data` leaves of those that are presented */
    CONN_CLEARS_OUTPUT = 1 << 7, /* what is queued is overwritten when it is sent */

    CONN_NESTED = 1 << 8, /* nested polling serves it, which is with an I/O thread */
    CONN_STAYS = 1 << 9   /* conn_stay_with_loop */
};

/* One allocation: the transport's state, this struct, the session. An idle connection needs nothing
 * else. */
struct conn {
    const struct transport *transport;
    struct net *net;
    const struct conn_events *events;
    union {
        struct input *input; /* unconsumed bytes; NULL = none */
        struct conn *above;  /* with CONN_LOWER: the connection above it */
    };
    struct output *output; /* queued bytes; NULL = none */
    struct conn *next_unclosed;
    struct conn_totals traffic; /* its own */
    int error;                  /* status of the write that failed */
    uint16_t flags;             /* enum conn_flag */
    uint16_t kind;              /* enum conn_kind */
    _Alignas(uint64_t) char session[];
};

/* All but what only reads facts of a connection gets its net here. */
static inline struct net *net_of(const struct conn *conn) {
    OWNER_ASSERT(conn->net->loop.owner);
    return conn->net;
}

/* Returns the connection that has the session: this one, or the one above it. */
static inline struct conn *conn_top(struct conn *conn) {
    return conn->flags & CONN_LOWER ? conn->above : conn;
}

/* Returns the filter that gets what the transport calls for this connection; NULL: none. The first
 * test is for callers who know that there is no input: they ask nothing. */
static inline const struct filter *filter_above(const struct conn *conn) {
    return conn->above && conn->flags & CONN_LOWER ? conn->above->transport->filter : NULL;
}

/* Counts bytes that were sent. */
static inline void conn_count_output(struct conn *conn, size_t len) {
    net_of(conn)->totals[conn->kind].output_bytes += len;
    conn->traffic.output_bytes += len;
}

/* Makes a connection that is neither connected nor known to its owner. */
struct conn *conn_make(struct net *net, const struct transport *transport,
                       const struct conn_events *events);

/* It is connected: calls `opened`, and starts reading. */
void conn_begin(struct conn *conn, void *owner);

/* Accepts the clients that wait at the listener with this handle, at most `most`, without libuv:
 * for nested polling. Returns an errno when the system refuses one, otherwise 0. */
int listener_accept_now(const uv_handle_t *handle, unsigned most);

/* Has the listeners go on that have stopped because of CONN_ACCEPTS_MAX. */
void listener_go_on(struct net *net);

/* Accepts the client that waits at `from` (see transport.h), and calls `opened`. */
void conn_accept(struct net *net, const struct transport *transport, void *from,
                 const struct conn_events *events, void *owner);

/* Returns where the next bytes of the argument that the connection collects go, at most `most`.
 * base is NULL when there is no memory. */
uv_buf_t conn_collect_room(struct conn *conn, size_t most);

/* `len` bytes were read there. */
void conn_collect_read(struct conn *conn, size_t len);

/* Frees a text that was input, overwritten before if the connection clears its input. */
static inline void conn_free_text(const struct conn *conn, sds text) {
    if (conn->flags & CONN_CLEARS)
        secret_free(text);
    else
        sds_free(text);
}

/* Frees the output queue, or has conn_free_dropped free the blocks of a long one; no write may be
 * outstanding. */
void conn_output_drop(struct conn *conn);

/* Frees up to CONN_DROPS_MAX blocks of dropped queues at the end of an iteration. Returns true
 * while there are more. */
bool conn_free_dropped(struct net *net);

/* Begin and end to keep queues and blocks for later ones: while there are connections. */
void conn_begin_spares(struct net *net);
void conn_free_spares(struct net *net);

/* Returns whether the transport of the connection, which has no output queue, still has bytes to be
 * sent: then conn_drained follows. */
bool conn_drain(struct conn *conn);

/* Sends the output of all connections that conn_hold kept; what I/O threads get of it is still to
 * be handed over. */
void conn_release_all(struct net *net);

/* Sends a few of the outputs with makers, which have waited longest. Returns whether there are
 * more. */
bool conn_release_making(struct net *net);

/* During nested polling: sends what connections hold that have CONN_NESTED. */
void conn_release_nested(struct net *net);

/* Closes sockets of closed connections at the end of an iteration, up to CONN_CLOSES_MAX. Returns
 * true while there are more. */
bool conn_close_sockets(struct net *net);

/* Closes all of them. */
void conn_close_all_sockets(struct net *net);

#endif
