/* conn: one client connection: input tail, output queue, and the room for its session.
 *
 * Input. All connections read into one shared buffer, so an idle connection owns none. The owner's
 * `data` callback gets all unconsumed bytes in one piece and returns how many it has consumed; the
 * rest (an incomplete request) is kept and comes again, at another address, together with what
 * arrives next. Small tails are copied back in front of the next read into the shared buffer; once
 * a tail is large, or conn_expect says that it will be, the connection gets a buffer of its own
 * that is read into directly, so that a big argument is not copied again and again.
 *
 * Output. conn_try_write sends at once what the socket takes; conn_queue keeps the rest and
 * finishes it with one outstanding asynchronous write. conn_hold is for what may be followed by
 * more in the same turn of the loop: all of it leaves together, when the turn ends. */
#ifndef PACKLIST_NET_CONN_H
#define PACKLIST_NET_CONN_H

#include "base/sds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct conn;

/* Upcalls and the size of the session, the owner's memory inside the connection's single
 * allocation. */
struct conn_events {
    size_t session_size;

    /* A connection was accepted; its session is zeroed. `owner` is the listener's. May call
     * conn_close. */
    void (*opened)(struct conn *conn, void *owner);

    /* `bytes` (writable, `len` > 0) are all unconsumed bytes; returns how many were consumed. They
     * are gone when the callback returns. May call conn_close; then the result is ignored. */
    size_t (*data)(struct conn *conn, char *bytes, size_t len);

    /* conn_input_allocated may have changed: the connection keeps unconsumed bytes, or no longer
     * does. Follows `data`. May be NULL. */
    void (*input_kept)(struct conn *conn);

    /* More bytes of the argument that conn_collect speaks of have come. May call conn_close. Not
     * NULL where conn_collect is used. */
    void (*collecting)(struct conn *conn);

    /* The other side closed, or an error occurred (`reason` is a static text); once. The owner must
     * call conn_close, or conn_close_after_write: a client that has only shut down its sending
     * side still reads the queued output. */
    void (*ended)(struct conn *conn, const char *reason);

    /* The output that conn_close_after_write left to be sent is sent, or cannot be; once. The
     * connection is closed when the callback returns. */
    void (*drained)(struct conn *conn);
};

/* The owner's memory; lives as long as the connection. conn_of_session goes back. Both O(1). */
void *conn_session(struct conn *conn);
struct conn *conn_of_session(void *session);

/* Closes now: no callback follows, queued output is dropped. Connection and session stay readable
 * until the current turn of the loop ends, then they are freed. Calling it twice is allowed. The
 * peer sees the end at once too, unless many connections are closed: of these a turn of the loop
 * closes only so many sockets that it does not last, and the next turns close the others. */
void conn_close(struct conn *conn);

/* Stops reading and closes as soon as the queued output is sent (at once when there is none) or
 * cannot be sent. If it is not closed at once, `drained` follows, and nothing else; no more output
 * is taken. conn_close cuts it short, without a callback. */
void conn_close_after_write(struct conn *conn);
bool conn_is_closing(const struct conn *conn); /* true after either */

/* --- Input --- */

/* The current request needs at least `total` bytes counted from the first unconsumed one: they are
 * then read straight into a buffer of that size, which, if it is large, grows towards it with what
 * comes in. Only from `data` of the same connection; holds until the next one. */
void conn_expect(struct conn *conn, size_t total);

/* The presented bytes end inside an argument of `len` bytes: its first `have` < len bytes begin at
 * `argument`. They are copied into a string of their own, and what comes next is read straight into
 * it: a large argument is neither moved nor copied when it is complete, but for a small part. The
 * bytes presented from then on lack it: nothing is presented, but `collecting` called, until it is
 * there. False, and nothing is changed, when the memory can't be had, or one was collected already
 * and not taken. Only from `data` of the same connection, which consumes none of the bytes from the
 * beginning of that request on. */
bool conn_collect(struct conn *conn, const char *argument, size_t have, size_t len);

/* How much of it has come; 0 when none is collected. O(1). */
size_t conn_collected_input(const struct conn *conn);

/* The collected argument, which is complete; the caller's. NULL when there is none. */
sds conn_take_collected(struct conn *conn);

/* Presents the unconsumed bytes again (after the session was blocked and did not consume). Does
 * nothing when there are none. Not from inside `data` of the same connection. */
void conn_replay(struct conn *conn);

/* Unconsumed bytes kept, with those of a collected argument, and the memory they take. O(1). */
size_t conn_pending_input(const struct conn *conn);
size_t conn_input_allocated(const struct conn *conn);

/* --- Output --- */

/* Sends what the socket takes right now, with one system call; returns the number of bytes taken: 0
 * when output is queued already (order is kept) or the socket is full. An error is reported by
 * `ended` in the next turn. */
size_t conn_try_write(struct conn *conn, const char *bytes, size_t len);

/* Copies bytes to the end of the queue and sends them when the socket allows, behind held ones
 * if there are any. */
void conn_queue(struct conn *conn, const char *bytes, size_t len);

/* Copies bytes to the end of the queue and sends them after all callbacks of this turn, before the
 * loop sleeps, with one system call for all that was held until then; sooner when that is much. */
void conn_hold(struct conn *conn, const char *bytes, size_t len);

/* Would conn_hold keep `len` more bytes until the turn ends, whatever comes until then? Not behind
 * output that is on its way already. And does it keep any now? O(1). */
bool conn_can_hold(const struct conn *conn, size_t len);
bool conn_is_holding(const struct conn *conn);

/* Hands over a mem_alloc'ed buffer whose bytes [start, end) are to be sent: no copy; the connection
 * frees it. */
void conn_queue_owned(struct conn *conn, char *buffer, size_t start, size_t end);

/* Bytes queued and not yet taken by the socket. O(1). */
size_t conn_pending_output(const struct conn *conn);

/* The memory that they take. O(1). */
size_t conn_output_allocated(const struct conn *conn);

/* Has the socket taken any of the queued output since this was asked last? False when none is
 * queued any more. O(1). */
bool conn_output_moved(struct conn *conn);

/* --- Facts --- */

/* "ip:port", "[ip6]:port" or "path:0" of either side, into a caller's buffer; returns it. */
enum { CONN_NAME_MAX = 128 };
const char *conn_peer_name(const struct conn *conn, char buffer[CONN_NAME_MAX]);
const char *conn_local_name(const struct conn *conn, char buffer[CONN_NAME_MAX]);

/* The port of the other side; 0 for a unix socket. A system call. */
uint16_t conn_peer_port(const struct conn *conn);

/* The file descriptor, -1 when closed. */
int conn_fd(const struct conn *conn);

bool conn_is_unix(const struct conn *conn);

/* Did it come over the loopback interface or a unix socket? */
bool conn_is_local(const struct conn *conn);

/* TCP keepalive after `seconds` of silence; 0 switches it off. Nothing for unix sockets. */
void conn_set_keepalive(struct conn *conn, unsigned seconds);

/* Bytes of the connection's own allocation, session included. */
size_t conn_allocated(const struct conn *conn);

/* Bytes read and written over all connections since the start or the last net_reset_totals. */
struct conn_totals {
    unsigned long long input_bytes;
    unsigned long long output_bytes;
};
struct net;
struct conn_totals conn_totals(const struct net *net);

#endif
