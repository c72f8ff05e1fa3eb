/* What the files of this room share. */
#ifndef PACKLIST_NET_NET_INTERNAL_H
#define PACKLIST_NET_NET_INTERNAL_H

#include "base/clock.h"
#include "net/conn.h"
#include "net/net.h"
#include "net/transport.h"

#include <stdint.h>

#include <uv.h>

/* The shared read buffer: a copied-back tail, and behind it what one read brings.
 *
 *      | tail, at most CONN_TAIL_MAX | new bytes, at most CONN_READ_SIZE |          unused |
 *      ^read_buffer                  ^conn_room
 *
 * A tail that is longer, or announced to become so, has a buffer of its own. */
#ifdef TINY_LIMITS
enum { CONN_TAIL_MAX = 48, CONN_READ_SIZE = 64, CONN_ITERATION_MAX = 256, CONN_BELIEVED = 200 };
enum { CONN_CLOSES_MAX = 2 };
enum { CONN_CHUNK_SIZE = 128, CONN_BATCH_MAX = 3, CONN_FIRST_CHUNK = 64, CONN_HOLD_MAX = 200 };
#else
enum {
    CONN_TAIL_MAX = 32 * 1024,
    CONN_READ_SIZE = 64 * 1024,
    CONN_ITERATION_MAX =
        256 * 1024,             /* read from one connection before the others have their turn */
    CONN_BELIEVED = 1024 * 1024 /* of an announced size: given before any of it has come */
};
enum {
    CONN_CHUNK_SIZE = 16 * 1024, /* of the output queue */
    CONN_FIRST_CHUNK = 512,      /* is smaller */
    CONN_BATCH_MAX = 64,         /* chunks handed to one write */
    CONN_HOLD_MAX = 64 * 1024    /* bytes that wait for the end of the turn */
};
enum { CONN_CLOSES_MAX = 32 }; /* sockets closed in one turn: about 10 us each */
#endif

/* An argument that is read into a string of its own. */
struct collected {
    sds text;       /* what has come of it; NULL: there is none */
    size_t missing; /* bytes that are still to come */
};

/* Unconsumed bytes: see conn.c. */
struct input {
    size_t start;
    size_t end;
    size_t capacity;
    size_t expected; /* bytes from `start` on that were announced; 0 = nothing was */
    struct collected collected;
    char bytes[];
};

/* Handles are the first member of what they belong to, so that a handle can be freed as such. The
 * `data` of a stream's handle is its connection, or NULL: it listens. */
struct net {
    uv_loop_t loop; /* its `data` is this net */
    uv_prepare_t prepare;
    uv_idle_t idle; /* active while the loop must not sleep */
    bool (*before_poll)(void *arg);
    void *before_poll_arg;
    char *read_buffer;
    struct conn_totals totals;
    struct net_totals loop_totals;
    uint64_t awake_ticks; /* clock_ticks at this iteration's first callback; 0 = there was none */
    struct output *held;  /* to be sent before the loop sleeps: linked by next_held */
    struct conn *unclosed_first; /* CONN_CLOSING, but their sockets are not closed yet */
    struct conn *unclosed_last;
    unsigned closes; /* in this turn */

    /* Whose bytes are being presented (the innermost), and what conn_expect said about them. */
    struct conn *presenting;
    size_t expected;

    /* What conn_collect has begun for the connection that is being presented, or no text. */
    struct collected collecting;
    const char *collecting_from; /* among the presented bytes */

    /* Who was read from last in this turn, and how many bytes. */
    const struct conn *reader;
    size_t reader_bytes;
};

/* A callback begins: the first one of an iteration begins its active time. */
static inline void net_note_awake(struct net *net) {
    if (net->awake_ticks == 0) net->awake_ticks = clock_ticks();
}

/* libuv's handle of a socket that listens or is connected, as any of the types it has there. */
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
    CONN_ENDED = 1 << 3     /* `ended` was called */
};

/* One allocation: the transport's state, this, the session. What an idle connection does not need
 * is allocated apart from it. */
struct conn {
    const struct transport *transport;
    struct net *net;
    const struct conn_events *events;
    struct input *input;   /* unconsumed bytes; NULL = none */
    struct output *output; /* queued bytes; NULL = none */
    struct conn *next_unclosed;
    int error;      /* of the write that failed */
    uint32_t flags; /* enum conn_flag */
    _Alignas(uint64_t) char session[];
};

static inline struct net *net_of(const struct conn *conn) {
    return conn->net;
}

/* Frees what begins with the handle; a uv_close_cb. */
void net_free_handle(uv_handle_t *handle);

/* Takes the client that waits at `from` (see transport.h), and calls `opened`. */
void conn_accept(struct net *net, const struct transport *transport, void *from,
                 const struct conn_events *events, void *owner);

/* The connection collects an argument that is not complete: where its next bytes go, at most
 * `most`. base is NULL when the memory can't be had. */
uv_buf_t conn_collect_room(struct conn *conn, size_t most);

/* So many bytes were read there. */
void conn_collect_read(struct conn *conn, size_t len);

/* Frees the queued bytes; no write may be outstanding. */
void conn_output_drop(struct conn *conn);

/* Sends what conn_hold kept. */
void conn_release_all(struct net *net);

/* A turn of the loop ends: closes sockets of closed connections, as many as a turn may close. True
 * while there are more. */
bool conn_close_sockets(struct net *net);

/* Closes them all. */
void conn_close_all_sockets(struct net *net);

#endif
