/* conn: one client connection: its unconsumed input, its output queue, and the memory for its
 * session.
 *
 * All connections read into one shared buffer, so an idle connection has none. The owner's `data`
 * callback gets all unconsumed bytes in one piece and returns how many it has consumed. The rest
 * (an incomplete request) is kept and presented again, at another address, together with the bytes
 * that arrive next. How output is sent is up to the function that it is given to. */
#ifndef PACKLIST_NET_CONNECTIONS_CONN_H
#define PACKLIST_NET_CONNECTIONS_CONN_H

#include "base/slice.h"
#include "base/text/sds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct conn;

/* How the bytes of a connection travel (net/connections/transport.h): these two by themselves. */
struct transport;
extern const struct transport transport_tcp;
extern const struct transport transport_unix;
extern const struct transport transport_tls; /* over TCP: net/tls/tls.h */

/* Callbacks, and the size of the session, which is the owner's memory inside the connection's
 * single allocation. */
struct conn_events {
    size_t session_size;

    /* A connection was accepted; its session is zeroed. `owner` is the listener's. May call
     * conn_close. */
    void (*opened)(struct conn *conn, void *owner);

    /* `bytes` (writable, `len` > 0) are all unconsumed bytes. Returns how many were consumed. They
     * are valid until the callback returns. May call conn_close; then the result is ignored. */
    size_t (*data)(struct conn *conn, char *bytes, size_t len);

    /* conn_input_allocated may have changed, because the connection keeps unconsumed bytes or no
     * longer does. Called after `data`. May be NULL. */
    void (*input_kept)(struct conn *conn);

    /* The client of an accepted connection has shown a certificate that this side trusts
     * (tls_peer_names, net/tls/tls.h). Called once, before the first `data`. May call conn_close.
     * May be NULL. */
    void (*verified)(struct conn *conn);

    /* More bytes of the collected argument (conn_collect) have arrived. May call conn_close. Not
     * NULL if conn_collect is used. */
    void (*collecting)(struct conn *conn);

    /* The other side closed, or an error occurred (`reason` is a static text); called once. The
     * owner must call conn_close, or conn_close_after_write: a client that has only shut down its
     * sending side still reads the queued output. */
    void (*ended)(struct conn *conn, const char *reason);

    /* The output that conn_close_after_write left in the queue is sent, or cannot be sent; called
     * once. The connection is closed when the callback returns. May be NULL. */
    void (*drained)(struct conn *conn);
};

/* Returns the owner's memory, which lives as long as the connection. conn_of_session is the
 * inverse. Both O(1). */
void *conn_session(struct conn *conn);
struct conn *conn_of_session(void *session);

/* Closes the connection now: no callback follows and queued output is dropped. Connection and
 * session stay readable until the current loop iteration ends, then they are freed. A second call
 * has no effect. The peer sees the end at once, unless many connections are closed: an iteration
 * closes a limited number of sockets, and the next ones close the others. */
void conn_close(struct conn *conn);

/* Stops reading, and closes as soon as all output is sent, also what an I/O thread has of it, or
 * cannot be sent. Returns whether it is not closed yet: then `drained` follows, and nothing else;
 * no more output is accepted. conn_close ends this early, without a callback. */
bool conn_close_after_write(struct conn *conn);
bool conn_is_closing(const struct conn *conn); /* true after either of them */

/* --- Input --- */

/* Announces that the current request has at least `total` bytes, counted from the first unconsumed
 * one. They are then read straight into a buffer of that size; a large one grows towards it as
 * bytes arrive. Call it only from `data` of the same connection; valid until the next `data`. */
void conn_expect(struct conn *conn, size_t total);

/* The presented bytes end inside an argument of `len` bytes, whose first `have` < len bytes begin
 * at `argument`. Copies these into a string of its own and reads the rest straight into it, so that
 * only a small part of a large argument is ever copied. Until the argument is complete nothing is
 * presented, but `collecting` is called; from then on the presented bytes lack the argument.
 * Returns false, with nothing changed, when there is no memory, or a collected argument was not
 * taken yet. Call it only from `data` of the same connection, which then consumes no byte of that
 * request. */
bool conn_collect(struct conn *conn, const char *argument, size_t have, size_t len);

/* Returns how many bytes of the collected argument have arrived; 0 when none is collected. O(1). */
size_t conn_collected_input(const struct conn *conn);

/* Returns the collected argument, which is complete; the caller owns it. NULL when there is none.
 * O(1). */
sds conn_take_collected(struct conn *conn);

/* The presented bytes hold a secret: once `data` has returned, those that it has consumed are
 * overwritten, wherever they were. `and_rest`: the others, too, as soon as they are consumed or the
 * connection is closed. Call it only from `data` of the same connection. O(bytes) later. */
void conn_clear_input(struct conn *conn, bool and_rest);

/* Returns whether the bytes that are presented, or kept, are to be overwritten. O(1). */
bool conn_clears_input(const struct conn *conn);

/* Stops reading until conn_resume_input, so that the other side must wait. Bytes that were read
 * before may still be unconsumed. The end of the connection is not noticed until then. */
void conn_pause_input(struct conn *conn);
void conn_resume_input(struct conn *conn);

/* Presents the unconsumed bytes again, after the session could not consume them because it was
 * blocked. Does nothing when there are none. Do not call it inside `data` of the same
 * connection. */
void conn_replay(struct conn *conn);

/* Returns the number of unconsumed bytes that are kept, with those of a collected argument.
 * O(1). */
size_t conn_pending_input(const struct conn *conn);

/* Returns the number of bytes that an I/O thread has read and that were not presented yet, because
 * the connection does not read, or waits for others. O(1). */
size_t conn_waiting_input(const struct conn *conn);

/* Returns the memory that both take. O(1). */
size_t conn_input_allocated(const struct conn *conn);

/* From now on the connection stays with the event loop, and no I/O thread gets it: what it keeps
 * for a client whom nobody knows would be too much. Or it need not (`on` is false). One that a
 * thread has comes back soon: once the replies to what it has sent are on their way. */
void conn_stay_with_loop(struct conn *conn, bool on);

/* --- Output --- */

/* Sends what the socket takes now, with one system call. Returns the number of bytes taken: 0 when
 * output is queued already (order is kept) or the socket is full. An error is reported by `ended`
 * in the next loop iteration. */
size_t conn_try_write(struct conn *conn, const char *bytes, size_t len);

/* Copies bytes to the end of the queue, after held ones, and sends them when the socket is
 * ready. */
void conn_queue(struct conn *conn, const char *bytes, size_t len);

/* Copies bytes to the end of the queue. They are sent after all callbacks of this loop iteration,
 * before the loop sleeps, with one system call for all held bytes; earlier when many were copied,
 * or by conn_release and net_release_late. */
void conn_hold(struct conn *conn, const char *bytes, size_t len);

/* While it is on, bytes that the connection takes to be sent later hold a secret: they are
 * overwritten as soon as they are sent, or cannot be sent. O(1). */
void conn_clear_output(struct conn *conn, bool on);

/* Returns whether conn_hold would keep `len` more bytes until the iteration ends, whatever is held
 * in between; false when queued output is being sent already. The second returns whether any are
 * held now. O(1). */
bool conn_can_hold(const struct conn *conn, size_t len);
bool conn_is_holding(const struct conn *conn);

/* Sends what the connection, which must hold something, holds. */
void conn_release(struct conn *conn);

/* Queues the bytes [start, end) of a mem_alloc'ed buffer without a copy; the connection frees
 * it. */
void conn_queue_owned(struct conn *conn, char *buffer, size_t start, size_t end);

/* Functions of bytes that the output refers to. `source` is what conn_hold_source got. */
struct shared;
struct conn_source {
    /* Returns bytes from `offset` on, at least one and at most `most`, which are valid until the
     * connection's function or callback that calls this returns. Does not ask for bytes before
     * `offset` again. */
    struct slice (*peek)(void *source, size_t offset, size_t most);

    /* The connection needs the source no longer: its bytes are sent, or never will be. */
    void (*release)(void *source);

    /* Returns the allocation in which the bytes lie that `peek` returns for this offset: they do
     * not change until it is freed, so that an I/O thread may send them from where they are. NULL:
     * they are copied for it. */
    struct shared *(*share)(void *source, size_t offset);
};

/* Adds the bytes [start, end) of a source to the end of the queue, after held ones, without a copy:
 * they are taken from the source when they are sent, little by little, so that no loop iteration
 * sends much. They are sent with what is held after them, at the end of the iteration at the
 * latest. Takes ownership of the source. */
void conn_hold_source(struct conn *conn, const struct conn_source *functions, void *source,
                      size_t start, size_t end);

/* Functions of bytes that are made while they are sent. `state` is what conn_hold_maker got. */
struct conn_maker {
    /* Returns the next bytes, valid until anything is called; none: it has not found them yet, and
     * goes on in the next iteration. Sets *more to false with the last ones. */
    struct slice (*make)(void *state, bool *more);

    /* The connection needs the state no longer: all is made, or will never be sent. */
    void (*end)(void *state);
};

/* Adds bytes of any number to the end of the queue, after held ones. They are made little by
 * little, when the socket is about to take them, so that few of them wait here. They are sent with
 * what is held after them, at the end of the iteration at the latest. Takes ownership of the
 * state, which takes `allocated` bytes. */
void conn_hold_maker(struct conn *conn, const struct conn_maker *functions, void *state,
                     size_t allocated);

/* Bytes that many connections get, without a copy for each: where I/O threads have them. */
struct conn_shared;

/* Returns a copy of the bytes. The second function is called when no further connection gets them:
 * they are freed when they are sent. */
struct conn_shared *conn_shared_new(struct slice bytes);
void conn_shared_end(struct conn_shared *shared);

/* Returns whether conn_send_shared may be tried: an I/O thread has the connection, and none of its
 * output waits here. */
bool conn_may_share(const struct conn *conn);

/* Sends the bytes, after those that were sent before, at the end of the iteration. Returns false
 * when the thread has too much to send for the connection: then nothing is done. O(1). */
bool conn_send_shared(struct conn *conn, struct conn_shared *shared);

/* Returns the number of bytes queued that the socket has not taken; if there are any, with those
 * that an I/O thread has for it. O(1). */
size_t conn_pending_output(const struct conn *conn);

/* Return the memory that they take, besides sources, and how many of them are in sources. O(1). */
size_t conn_output_allocated(const struct conn *conn);
size_t conn_output_referred(const struct conn *conn);

/* Returns whether the socket has taken any of the queued output since the last call; false when
 * none is queued any more. O(1). */
bool conn_output_moved(struct conn *conn);

/* --- Facts --- */

/* Write the address of the peer, or of this side, to the caller's buffer and return it: "ip:port",
 * "[ip6]:port" or "path:0". A system call. */
enum { CONN_NAME_MAX = 128 };
const char *conn_peer_name(const struct conn *conn, char buffer[CONN_NAME_MAX]);
const char *conn_local_name(const struct conn *conn, char buffer[CONN_NAME_MAX]);

/* Where the other side is, for counting what comes from one place: writes the address of IPv4, the
 * first eight bytes of that of IPv6, of which one client may have all that begin so, or nothing for
 * a Unix socket. Returns the number of bytes. A system call. */
enum { CONN_NETWORK_MAX = 8 };
size_t conn_peer_network(const struct conn *conn, unsigned char network[CONN_NETWORK_MAX]);

/* Returns the port of the other side; 0 for a Unix socket. A system call. */
uint16_t conn_peer_port(const struct conn *conn);

/* Returns the file descriptor; -1 when closed. */
int conn_fd(const struct conn *conn);

bool conn_is_unix(const struct conn *conn);

/* Returns the number of the I/O thread that has the connection, from 1 on; 0: the loop has it. */
unsigned conn_io_thread(const struct conn *conn);

/* Returns whether the client came over the loopback interface or a Unix socket. */
bool conn_is_local(const struct conn *conn);

/* Enables TCP keepalive after `seconds` of silence; 0 disables it. Does nothing for Unix
 * sockets. */
void conn_set_keepalive(struct conn *conn, unsigned seconds);

/* Sends small pieces at once (TCP_NODELAY, as at first), or lets the system wait for more. */
void conn_set_nodelay(struct conn *conn, bool on);

/* Returns the bytes of the connection's own allocation, session included, with what its transport
 * takes: the second function. O(1). */
size_t conn_allocated(const struct conn *conn);
size_t conn_transport_allocated(const struct conn *conn);

/* The kinds of connections whose bytes are counted separately, named by the other side. */
enum conn_kind { CONN_CLIENT, CONN_REPLICA, CONN_PRIMARY, CONN_KINDS };

/* Counts the connection's bytes from now on as those of `kind`; at first it is a CONN_CLIENT.
 * O(1). */
void conn_count_as(struct conn *conn, enum conn_kind kind);

/* Bytes read and written, without the encryption of TLS: since the start or the last
 * net_reset_totals over all connections, and over those of one kind; and by one connection since it
 * began. O(1). */
struct conn_totals {
    unsigned long long input_bytes;
    unsigned long long output_bytes;
};
struct net;
struct conn_totals conn_totals(const struct net *net);
struct conn_totals conn_totals_of(const struct net *net, enum conn_kind kind);
struct conn_totals conn_traffic(const struct conn *conn);

#endif
