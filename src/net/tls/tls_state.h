/* The state of TLS connections, and what its files call of each other.
 *
 *      tls_peer.c                names in certificates
 *      tls.c                     the table of the transport: handshakes, input, turns, the end;
 *                                connections that go to an I/O thread and come back
 *      tls_output.c              output
 *      tls_turns.c               whose turn it is, failures
 *      tls_call.c                what is different when they go to a server
 *      tls_codec.c               what OpenSSL does for them; also in I/O threads
 *      tls_context.c             what new ones use, made from directives; in any thread
 *
 * Each calls those below it, from the thread of the loop. Between two calls of this family's
 * functions the invariants of tls_codec.h hold. */
#ifndef PACKLIST_NET_TLS_TLS_STATE_H
#define PACKLIST_NET_TLS_TLS_STATE_H

#include "base/log/log.h"
#include "net/connections/conn_state.h"
#include "net/loop/timer.h"
#include "net/tls/tls_codec.h"
#include "net/tls/tls_context.h"

#ifdef TINY_LIMITS
enum { TLS_WRITE_MAX = 900, TLS_TURN_RECORDS = 4, TLS_TURN_STEPS = 2, TLS_TURN_GONE = 3 };
#else
enum {
    TLS_WRITE_MAX = 256 * 1024, /* bytes encrypted for one connection before others have a turn */
    TLS_TURN_RECORDS = 256,     /* records read of one connection before others are read */
    TLS_TURN_STEPS = 4,         /* steps of begun handshakes: 60 to 200 us each */
    TLS_TURN_GONE = 32          /* clients that have gone before theirs: 10 to 20 us each */
};
#endif
struct tls_call; /* tls_call.c */

enum tls_list { TLS_NO_LIST, TLS_TURNS, TLS_WAITING };

/* The state of a connection. Its lower connection lies before it, the connection behind it. */
struct tls {
    struct tls_codec codec; /* its `ssl` is NULL until the first bytes are there */
    enum tls_role role;
    struct tls_call *call;     /* until it is connected with a server; then, or of a client: NULL */
    struct block_queue unsent; /* records that the lower transport has not taken */
    void *lower_write;         /* its state of writing the first of them; NULL: it does not */
    struct tls_write *write;   /* the outstanding one, or NULL */

    struct tls *prev; /* in the list of `list` */
    struct tls *next;
    enum tls_list list;
    struct tls *shaking_prev; /* among those whose handshake goes on */
    struct tls *shaking_next;
    uint64_t deadline_ms;

    size_t ssl_allocated; /* memory of OpenSSL without buffers, as it was after the handshake */
    int end_status;       /* the input ends with it once all is read; 0: it goes on */
    int lower_status;     /* the lower transport's input has ended with it; 0: not yet */
    bool is_shaking;      /* in the list of handshakes */
    bool is_open;         /* the handshake is done */
    bool is_failed;       /* after what is queued, such as an alert, nothing is sent any more */
    bool is_begun;        /* tls_begin was called */
    bool is_closed;       /* `close` was called */
    bool reads;           /* the connection reads */
    bool reported;        /* conn_input_ended was called */
};

/* What the connections of a net share. */
struct tls_shared {
    struct net *net;
    struct tls_context *contexts[TLS_ROLES];
    BIO_METHOD *method;
    uv_idle_t idle;           /* active while there are turns to take … */
    uv_idle_cb take_turns;    /* … by this function, of tls.c */
    struct net_timer *timer;  /* runs while there are handshakes */
    struct tls_worker worker; /* the loop's */
    /* Those that have something to do in the next iteration, and those whose handshake may not
     * begin yet. */
    struct {
        struct tls *first, *last;
    } lists[TLS_WAITING + 1];
    bool newest_next; /* the last of those that wait begins next, otherwise the first */
    /* In the order in which they began, which is that of their deadlines, unless a context had
     * another time limit; then the end of some is late. */
    struct tls *shaking_first;
    struct tls *shaking_last;
    unsigned turn; /* net->turn for which the next two count */
    unsigned begun;
    unsigned steps;
    struct log_limit refused; /* lines about clients whose handshake or records were refused … */
    struct log_limit plain;   /* … and about those who do not speak TLS */
    char input[CONN_READ_SIZE];
};

static inline struct tls *tls_of(const struct conn *conn) {
    return (struct tls *)conn - 1;
}
static inline struct conn *tls_conn(struct tls *tls) {
    return (struct conn *)(tls + 1);
}
static inline struct conn *tls_lower(const struct tls *tls) {
    return (struct conn *)tls - 1;
}
static inline struct tls_shared *tls_shared_of(struct tls *tls) {
    return tls_lower(tls)->net->tls;
}

/* --- tls_turns.c --- */

/* The connection has something to do in the next loop iteration. */
void tls_want_turn(struct tls *tls);
void tls_enter_list(struct tls *tls, enum tls_list list);
void tls_leave_list(struct tls *tls);

/* The time for its handshake begins and ends. */
void tls_begin_shaking(struct tls *tls);
void tls_end_shaking(struct tls *tls);

/* The handshake goes on from now on, also if the connection does not read. */
void tls_begin(struct tls *tls);

/* Nothing can be sent or read any more. The connection hears of it in its next turn. */
void tls_fail(struct tls *tls, int status);

/* The same, with a line in the log (tls_log_failure), or with the reason for the caller of
 * `connect`. */
void tls_fail_and_log(struct tls *tls, int status, const char *reason, struct log_limit *limit);

/* The same: that a client has gone or is slow is not noticed; that it or its certificate was
 * refused is. The second takes OpenSSL's last error as the reason. */
void tls_fail_with(struct tls *tls, int status, const char *reason);
void tls_fail_by_openssl(struct tls *tls);

/* Writes a line into the log: the connection, which is open, has failed. That of a client is
 * noticed as far as `limit` allows; NULL: it is nothing to be noticed. */
void tls_log_failure(struct conn *conn, const char *reason, struct log_limit *limit);

/* --- tls_call.c --- */

/* Keeps what `connect` has got, until the connection is connected or closed. */
void tls_begin_call(struct tls *tls, uv_connect_t *request, const struct destination *to,
                    uv_connect_cb done);

/* Says whom the server must prove to be. Returns false when a name cannot be one. */
bool tls_set_names(const struct tls_call *call, SSL *ssl);

/* The handshake with the server has ended with this status. From the loop only. */
void tls_connected(struct tls *tls, int status);

/* Keeps the reason why it fails, for tls_failure. */
void tls_note_failure(struct tls *tls, const char *reason);

void tls_free_call(struct tls *tls);
const char *tls_failure(const struct conn *conn);

/* --- tls_output.c --- */

/* Sends what OpenSSL has just made, and keeps what the lower transport does not take. */
void tls_flush(struct tls *tls);

/* Goes on with kept records and the outstanding write. May call conn_written: from the loop
 * only. */
void tls_pump(struct tls *tls);

/* OpenSSL has read: the outstanding write goes on in the next turn, if it had to wait for that. */
void tls_go_on_writing(struct tls *tls);

void tls_drop_output(struct tls *tls);

ssize_t tls_try_write(struct conn *conn, const uv_buf_t *buffers, unsigned count);
int tls_begin_write(struct conn *conn, void *write, const uv_buf_t *buffers, unsigned count);
size_t tls_unsent(const struct conn *conn);
void tls_written(struct conn *conn, int status); /* of its filter */

/* --- tls.c --- */

/* Returns whether the connection is one of TLS, which the loop has; and over a socket of TCP that
 * is libuv's. */
bool tls_is(const struct conn *conn);
bool tls_is_over_tcp(const struct conn *conn);

/* Returns whether the codec of a connection over TCP can be given to another thread now: it is
 * open, and nothing of it is on its way. tls_lend copies it to `to`, without a worker. Until
 * tls_take_back no function of its table is called, and its certificate is not known. */
bool tls_may_lend(const struct conn *conn);
void tls_lend(struct conn *conn, struct tls_codec *to);

/* The codec comes back, which reads nothing at first, with records that are to be sent. Its socket
 * is that of the table's `adopt` from then on. */
void tls_take_back(struct conn *conn, struct tls_codec *from, struct block_queue *records);

/* Returns what TLS takes for a connection whose codec is lent. Any thread may have the codec. */
size_t tls_lent_allocated(const struct conn *conn, const struct tls_codec *codec);

/* The size of its state over a lower transport with one of `lower_size` bytes. */
#define TLS_STATE_SIZE(lower_size) ((lower_size) + sizeof(struct conn) + sizeof(struct tls))

#endif
