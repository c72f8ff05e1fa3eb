/* Internal declarations of TLS: tls.c has the connections, tls_output.c their output, tls_buffers.c
 * OpenSSL's buffers, tls_connect.c what is different when they go to a server, tls_peer.c what the
 * other side's certificate says.
 *
 * Invariants between two calls of this module's functions
 *   1. OpenSSL's queue of errors is empty: an error that one connection leaves there would be taken
 *      for one of the next. Who calls a function of OpenSSL that may fail clears it.
 *   2. What OpenSSL has made for a connection is sent or kept: shared->output_len is 0. */
#ifndef PACKLIST_NET_TLS_INTERNAL_H
#define PACKLIST_NET_TLS_INTERNAL_H

#include "net/net_internal.h"
#include "net/tls.h"

#include <openssl/ssl.h>

struct tls_context {
    SSL_CTX *ssl;
    struct tls_certificates certificates;
    unsigned handshake_timeout_ms;
    unsigned new_per_turn;
};

#ifdef TINY_LIMITS
enum {
    TLS_PIECE = 100,
    TLS_BATCH = 300,
    TLS_WRITE_MAX = 900,
    TLS_TURN_RECORDS = 4,
    TLS_TURN_STEPS = 2,
    TLS_TURN_GONE = 3
};
#else
enum {
    TLS_PIECE = 16 * 1024,      /* bytes of a record, at most */
    TLS_BATCH = 4 * TLS_PIECE,  /* bytes in records that one system call sends */
    TLS_WRITE_MAX = 256 * 1024, /* bytes encrypted for one connection before others have a turn */
    TLS_TURN_RECORDS = 256,     /* records read of one connection before others are read */
    TLS_TURN_STEPS = 4,         /* steps of begun handshakes: 60 to 200 us each */
    TLS_TURN_GONE = 32          /* clients that have gone before theirs: 10 to 20 us each */
};
#endif
enum {
    TLS_HEADER = 5,              /* bytes of a record's header */
    TLS_EMPTY_MAX = 64,          /* records in a row that bring no bytes */
    TLS_BUFFERS = 40 * 1024,     /* memory of OpenSSL's two buffers of a connection */
    TLS_UNSENT_MAX = 1024 * 1024 /* bytes of records that wait for the lower transport */
};

/* Records that the lower transport has not taken:
 *      | this struct | its state of a write | bytes | */
struct tls_chunk {
    struct tls_chunk *next;
    char *bytes;
    size_t start;
    size_t end;
    size_t allocated;
};

/* An outstanding write of the connection; the bytes are the caller's. */
struct tls_write {
    uv_buf_t buffers[CONN_BATCH_MAX];
    unsigned count;
    unsigned first; /* the first buffer that is not encrypted completely */
    size_t done;    /* bytes encrypted of that buffer */
    size_t left;    /* bytes not encrypted */
};

struct tls_call; /* tls_connect.c */

enum tls_list { TLS_NO_LIST, TLS_TURNS, TLS_WAITING };

/* The state of a connection. Its lower connection lies before it, the connection behind it. */
struct tls {
    SSL *ssl; /* NULL until the first bytes are there */
    enum tls_role role;
    struct tls_call *call; /* until it is connected with a server; then, or of a client: NULL */
    struct tls_chunk *unsent_first;
    struct tls_chunk *unsent_last;
    size_t unsent;           /* bytes of the chunks */
    struct tls_write *write; /* the outstanding one, or NULL */

    const char *input; /* records that OpenSSL has not got: of a read, or kept */
    size_t input_len;
    char *kept; /* a copy of them that outlives a callback; NULL: none */
    size_t kept_allocated;

    unsigned header_len; /* bytes that OpenSSL has got of the record's header; 0: none of it */
    unsigned body_left;  /* and has not got of its body, once it has the header */

    struct tls *prev; /* in the list of `list` */
    struct tls *next;
    enum tls_list list;
    struct tls *shaking_prev; /* among those whose handshake goes on */
    struct tls *shaking_next;
    uint64_t deadline_ms;

    size_t ssl_allocated;      /* memory of `ssl` without buffers, as it was after the handshake */
    struct tls *buffered_prev; /* among those that have buffers */
    struct tls *buffered_next;
    uint64_t
        looked_at_ms; /* monotonic clock: when the timer has looked at it, or it came to them */
    bool has_buffers;
    bool used; /* since then */

    unsigned records_left; /* of TLS_TURN_RECORDS */
    unsigned empty_records;
    int end_status;    /* the input ends with it once all is read; 0: it goes on */
    int lower_status;  /* the lower transport's input has ended with it; 0: not yet */
    bool is_shaking;   /* in the list of handshakes */
    bool is_open;      /* the handshake is done */
    bool is_failed;    /* nothing can be sent any more */
    bool is_begun;     /* tls_begin was called */
    bool is_closed;    /* `close` was called */
    bool reads;        /* the connection reads */
    bool lower_writes; /* the first chunk is an outstanding write of the lower transport */
    bool has_more;     /* OpenSSL may hold decrypted bytes, or was stopped by records_left */
    bool reported;     /* conn_input_ended was called */
};

/* What the connections of a net share. */
struct tls_shared {
    struct net *net;
    struct tls_context *contexts[TLS_ROLES];
    BIO_METHOD *method;
    uv_idle_t idle; /* active while there are turns to take */
    struct net_timer *timer;
    bool timer_runs;
    struct net_timer *buffer_timer; /* runs while a connection has buffers */
    struct tls *buffered_first;     /* by looked_at_ms */
    struct tls *buffered_last;
    struct tls *turns_first; /* those that have something to do in the next iteration */
    struct tls *turns_last;
    struct tls *waiting_first; /* those whose handshake may not begin yet */
    struct tls *waiting_last;
    /* In the order in which they began, which is that of their deadlines, unless a context had
     * another time limit; then the end of some is late. */
    struct tls *shaking_first;
    struct tls *shaking_last;
    unsigned turn; /* net->turn for which the next two count */
    unsigned begun;
    unsigned steps;
    char *output; /* records that OpenSSL has just made */
    size_t output_len;
    size_t output_capacity;
    char piece[TLS_PIECE]; /* bytes gathered for a record */
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

/* The connection has something to do in the next loop iteration. */
void tls_want_turn(struct tls *tls);

/* Nothing can be sent or read any more. The connection hears of it in its next turn. */
void tls_fail(struct tls *tls, int status);

/* The same, with a line in the log that has OpenSSL's last error as the reason. */
void tls_fail_by_openssl(struct tls *tls);

/* The handshake goes on from now on, also if the connection does not read. */
void tls_begin(struct tls *tls);

/* Prepares the lower connection of a new one. */
struct conn *tls_make_lower(struct conn *conn, enum tls_role role);

/* --- tls_connect.c --- */

/* Says whom the server must prove to be. Returns false when a name cannot be one. */
bool tls_set_names(const struct tls_call *call, SSL *ssl);

/* The handshake with the server has ended with this status. From the loop only. */
void tls_connected(struct tls *tls, int status);

/* Keeps the reason why it fails, for tls_failure. */
void tls_note_failure(struct tls *tls, const char *reason);

void tls_free_call(struct tls *tls);

/* --- tls_peer.c --- */

/* Returns whether the other side has shown a certificate, which was verified by the handshake, or
 * by the one whose session is resumed. */
bool tls_has_peer(const struct tls *tls);

/* Returns whether that certificate has expired since it was verified. */
bool tls_peer_has_expired(const struct tls *tls);

/* --- tls_buffers.c --- */

/* OpenSSL is about to read or write, and allocates its buffers if it has none. */
void tls_keep_buffers(struct tls *tls);
static inline void tls_note_use(struct tls *tls) {
    tls->used = true;
    if (!tls->has_buffers) tls_keep_buffers(tls);
}

/* Frees OpenSSL's buffers, unless a record is in them. Returns whether it did. */
bool tls_free_buffers(const struct tls *tls);

/* The connection is being closed. */
void tls_forget_buffers(struct tls *tls);

/* The callback of buffer_timer, for a struct tls_shared. */
void tls_free_idle_buffers(void *shared);

/* --- tls_output.c --- */

/* Sends what OpenSSL has just made, and keeps what the lower transport does not take. */
void tls_flush(struct tls *tls);

/* Goes on with kept records and the outstanding write. May call conn_written: from the loop
 * only. */
void tls_pump(struct tls *tls);

/* OpenSSL has read: the outstanding write goes on in the next turn, if it had to wait for that. */
void tls_go_on_writing(struct tls *tls);

/* Tries to send kept records. Returns whether none are left. */
bool tls_send_kept(struct tls *tls);

void tls_drop_output(struct tls *tls);

ssize_t tls_try_write(struct conn *conn, const uv_buf_t *buffers, unsigned count);
int tls_begin_write(struct conn *conn, void *write, const uv_buf_t *buffers, unsigned count);
size_t tls_unsent(const struct conn *conn);

/* The table of a transport over a lower one with a state of `lower_size` bytes; `over` is its
 * struct filter, made with TLS_FILTER. */
uv_buf_t tls_room(struct conn *conn);
void tls_received(struct conn *conn, size_t len);
void tls_input_ended(struct conn *conn, int status);
void tls_written(struct conn *conn, int status);
void tls_closed(struct conn *conn);
int tls_accept(struct conn *conn, void *from);
int tls_connect(struct conn *conn, uv_connect_t *request, const struct destination *to,
                uv_connect_cb done);
const char *tls_failure(const struct conn *conn);
void tls_start_reading(struct conn *conn);
void tls_stop_reading(struct conn *conn);
void tls_read_now(struct conn *conn);
void tls_shut_down(struct conn *conn);
void tls_close(struct conn *conn);
int tls_fd(const struct conn *conn);
bool tls_wants_turn(const struct conn *conn);
size_t tls_allocated(const struct conn *conn);

#define TLS_FILTER(transport)                                                                      \
    {                                                                                              \
        .lower = (transport), .room = tls_room, .received = tls_received,                          \
        .input_ended = tls_input_ended, .written = tls_written, .closed = tls_closed               \
    }
#define TLS_FUNCTIONS(over, lower_size)                                                            \
    .filter = (over), .state_size = (lower_size) + sizeof(struct conn) + sizeof(struct tls),       \
    .write_size = sizeof(struct tls_write), .accept = tls_accept,                                  \
    .start_reading = tls_start_reading, .stop_reading = tls_stop_reading,                          \
    .read_now = tls_read_now, .try_write = tls_try_write, .write = tls_begin_write,                \
    .unsent = tls_unsent, .shut_down = tls_shut_down, .close = tls_close, .fd = tls_fd,            \
    .wants_turn = tls_wants_turn, .allocated = tls_allocated

#endif
