/* transport: how the bytes of a connection are sent and received.
 *
 * The files conn_*.c use a connection's socket only through one of these tables; listener.c and
 * dial.c get connections with them. transport_socket.c has the tables for TCP and for Unix sockets.
 * Another transport, such as one that encrypts, adds a table, and a listener that accepts with it.
 *
 *      one allocation:   | state of the transport | struct conn | session |
 *                        ^transport_state()       ^conn
 *
 * A filter is a transport that changes the bytes and has another one, the lower, move them. The
 * lower works for a connection of its own, which has no session and lies in the filter's state;
 * what it calls for that connection goes to the filter (struct filter). tls.c is one.
 *
 *      | lower's state | struct conn | the filter's own | struct conn | session |
 *                      ^the lower's                     ^conn (`above` of the lower's)
 *
 * Rules for every transport
 *   1. The functions at the end of this header are called from the loop only, never from inside a
 *      function of the table but read_now: the connection's own code is then on the stack.
 *   2. Any of those functions may call conn_close, and so `close`. The state and the connection
 *      stay valid until the transport calls conn_closed.
 *   3. Bytes are neither lost, repeated nor reordered. The bytes of try_write precede those of a
 *      later `write`, even where the transport buffers them itself.
 *   4. A status is 0, or one of libuv's negative error numbers.
 *   5. A connection begins with `accept`, `connect` or `adopt`, once. Until that has succeeded only
 *      `close` is called. */
#ifndef PACKLIST_NET_CONNECTIONS_TRANSPORT_H
#define PACKLIST_NET_CONNECTIONS_TRANSPORT_H

#include "net/connections/conn.h"
#include "net/loop/loop.h"

#include <sys/types.h>

struct filter;
struct shared;

/* Where a connection goes. The names are for transports that verify the other side. */
struct destination {
    const struct sockaddr *address;
    const struct sockaddr_storage *from; /* the own address; of the family AF_UNSPEC: any */
    const char *host;                    /* as the caller knows it: a name or a numeric address */
    const char *expected_name; /* that the other side must prove; NULL or "": see the transport */
};

struct transport {
    const struct filter *filter; /* NULL: it is none */

    /* The table for connections that are accepted during nested polling (nested_poll.h): its
     * `accept` takes the socket itself (a const int *). Its state is as large. The counterpart of
     * that table is this one, whose `adopt` takes the socket over when the loop runs again: it
     * finds a zeroed state of the socket and returns a status. So is that of a table for
     * connections that are with an I/O thread. */
    const struct transport *counterpart;
    int (*adopt)(struct conn *conn, int fd);

    /* Size in bytes of its state for a connection, a multiple of 8, and for an outstanding write.
     * Both are zeroed at first. */
    size_t state_size;
    size_t write_size;

    bool is_threaded; /* an I/O thread has the socket: only it may poll, read and write it */
    bool is_unix;     /* the other side is a process of this machine, connected by a Unix socket */

    /* Connects the new `conn` with the client that waits at `from`, which this transport's listener
     * has given to conn_accept. Returns a status. */
    int (*accept)(struct conn *conn, void *from);

    /* Begins to connect the new `conn`. Returns a status; unless that is an error, calls
     * done(request, status) later, once, also when `close` ends it early, but before conn_closed.
     * `request` stays in place until then, what `to` refers to only until `connect` returns. NULL:
     * it only accepts. */
    int (*connect)(struct conn *conn, uv_connect_t *request, const struct destination *to,
                   uv_connect_cb done);

    /* Starts reading. Whenever bytes arrive, the transport calls conn_room, stores at most that
     * many bytes there, and calls conn_received, with no call of another function of net/ in
     * between. It repeats that while bytes are there and reading was not stopped. When conn_room
     * returns no buffer, it turns to other connections and asks again in the next loop iteration,
     * even if no further bytes arrive until then. The end of the input, or an error, is reported by
     * conn_input_ended, after all bytes that came before it. The other direction may remain
     * usable. */
    void (*start_reading)(struct conn *conn);

    /* Stops reading: no call of conn_room, conn_received or conn_input_ended follows. May be called
     * from inside any of these, and more than once. */
    void (*stop_reading)(struct conn *conn);

    /* Reads once, without waiting, with the calls of conn_room and conn_received or
     * conn_input_ended from inside this function: for nested polling. */
    void (*read_now)(struct conn *conn);

    /* Takes what can be sent, or buffered within a fixed bound, without waiting: possibly only the
     * first part. Returns the number of bytes taken, 0 when none can be taken now, or a negative
     * status. Never called while a write is outstanding. The buffers belong to the caller again
     * when it returns. */
    ssize_t (*try_write)(struct conn *conn, const uv_buf_t *buffers, unsigned count);

    /* Starts sending all bytes of the buffers. Calls conn_written once when that is done or has
     * failed, also when `close` ends it early, unless conn_closed comes instead. `write` points to
     * write_size bytes for the transport's use. They, and the bytes that the buffers refer to, stay
     * in place until conn_written begins, or conn_closed; the array of buffers stays only until
     * `write` returns. One write is outstanding at a time. Returns a status; after an error
     * conn_written does not follow. */
    int (*write)(struct conn *conn, void *write, const uv_buf_t *buffers, unsigned count);

    /* Returns how many bytes of the outstanding write are still in the caller's buffers; 0 when
     * there is none. It need not be exact, but may only fall during a write. O(1). */
    size_t (*unsent)(const struct conn *conn);

    /* Called once, after a write has failed: ends the input too. conn_input_ended must follow, in a
     * later loop iteration, if the connection reads. */
    void (*shut_down)(struct conn *conn);

    /* Ends both directions at once, without waiting for the outstanding write. Calls conn_closed in
     * this loop iteration or a later one, as the last call about this connection. Called once. */
    void (*close)(struct conn *conn);

    /* Returns the file descriptor of the socket to which the addresses and keepalive belong; -1
     * when there is none, or it is closed. */
    int (*fd)(const struct conn *conn);

    /* Sends the bytes, which lie in the shared allocation, as try_write does, all or none, and
     * keeps a reference to it: gives it. Returns whether it does. Not while a write is outstanding.
     * NULL: it never does. */
    bool (*share)(struct conn *conn, struct shared *shared, struct slice bytes);

    /* The connection, which an I/O thread has, is to come back (conn_stay_with_loop). NULL: none
     * has it. O(1). */
    void (*want_back)(struct conn *conn);

    /* The next six may be NULL, which is false, NULL, false and 0.
     *
     * Returns whether bytes that try_write has taken are not sent yet, which `close` would drop.
     * Then conn_drained is called once they are sent or cannot be sent, unless conn_closed comes
     * instead. Not while a write is outstanding. Called once. */
    bool (*drain)(struct conn *conn);

    /* Returns why the connection could not be made, if the status that `done` got does not say it;
     * otherwise NULL. Valid until conn_closed. */
    const char *(*failure)(const struct conn *conn);

    /* Returns whether read_now has something to do although no bytes arrive: it holds input, or
     * output that the other side takes no faster. O(1). */
    bool (*wants_turn)(const struct conn *conn);

    /* Returns how many bytes of try_write are not sent yet. O(1). */
    size_t (*held)(const struct conn *conn);

    /* Returns how many bytes have been received and not been presented, because the connection does
     * not read or is to wait; and in *allocated the memory of these. O(1). */
    size_t (*waiting)(const struct conn *conn, size_t *allocated);

    /* Returns the memory that this connection takes beside its allocation and what `waiting`
     * says. O(1). */
    size_t (*allocated)(const struct conn *conn);
};

/* What a filter does when its lower transport calls the function of that name (conn_room …) for the
 * lower's connection. `conn` is the connection above. */
struct filter {
    const struct transport *lower; /* that a new connection begins with */
    uv_buf_t (*room)(struct conn *conn);
    void (*received)(struct conn *conn, size_t len);
    void (*input_ended)(struct conn *conn, int status);
    void (*written)(struct conn *conn, int status);
    void (*closed)(struct conn *conn);
};

/* The tables until the loop runs again. Their connections never wait for a `write`: nested polling
 * holds what the socket does not take. */
extern const struct transport transport_direct_tcp;
extern const struct transport transport_direct_unix;

/* Returns the transport's own state of this connection. O(1). */
void *transport_state(const struct conn *conn);

/* --- Functions that a transport calls --- */

/* Returns where the next bytes of the connection go. base is NULL, and len 0, when the connection
 * must wait for the next iteration, or was closed by this call. */
uv_buf_t conn_room(struct conn *conn);

/* `len` bytes (> 0) were stored there. */
void conn_received(struct conn *conn, size_t len);

/* `len` bytes (> 0) were received, which are at `bytes`, writable: in place of conn_room and
 * conn_received, for a transport with buffers of its own. They are presented where they are, unless
 * the connection keeps earlier ones. Returns how many were taken; 0 when the connection must wait
 * for the next iteration, or reads no longer. */
size_t conn_received_at(struct conn *conn, char *bytes, size_t len);

/* The client of an accepted connection has shown a certificate that is trusted, and nothing was
 * received before. */
void conn_verified(struct conn *conn);

/* Nothing more can be read. `status` is UV_EOF when the other side ended its output, otherwise an
 * error. */
void conn_input_ended(struct conn *conn, int status);

/* The outstanding write has finished: all its bytes are taken (0), or it failed. */
void conn_written(struct conn *conn, int status);

/* What `drain` has announced. */
void conn_drained(struct conn *conn);

/* `close` is done: frees the connection with the transport's state. */
void conn_closed(struct conn *conn);

#endif
