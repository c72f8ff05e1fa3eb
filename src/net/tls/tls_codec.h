/* tls_codec: what OpenSSL does for a connection whose handshake has begun: records to bytes, and
 * bytes to records, in memory. Who owns the connection moves the records: tls.c in the event loop.
 *
 *      input ──→ OpenSSL ──→ bytes          bytes ──→ OpenSSL ──→ worker->output
 *
 * Invariants between two calls
 *   1. OpenSSL's queue of errors is empty: an error that one connection leaves there would be taken
 *      for one of the next. Who calls a function of OpenSSL that may fail clears it.
 *   2. What OpenSSL has made for a connection is sent or kept: worker->output_len is 0. */
#ifndef PACKLIST_NET_TLS_TLS_CODEC_H
#define PACKLIST_NET_TLS_TLS_CODEC_H

#include "net/connections/conn_state.h"

#include <openssl/ssl.h>

#ifdef TINY_LIMITS
enum { TLS_PIECE = 100, TLS_BATCH = 300 };
#else
enum {
    TLS_PIECE = 16 * 1024,    /* bytes of a record, at most */
    TLS_BATCH = 4 * TLS_PIECE /* bytes in records that one system call sends */
};
#endif
enum {
    TLS_HEADER = 5,              /* bytes of a record's header */
    TLS_EMPTY_MAX = 64,          /* records in a row that bring no bytes */
    TLS_BUFFERS = 40 * 1024,     /* memory of OpenSSL's two buffers of a connection */
    TLS_UNSENT_MAX = 1024 * 1024 /* bytes of records that wait to be sent */
};

/* What the connections share that one thread works for. */
struct tls_worker {
    char *output; /* records that OpenSSL has just made */
    size_t output_len;
    size_t output_capacity;
    struct tls_codec *buffered_first; /* those that have buffers, by looked_at_ms */
    struct tls_codec *buffered_last;
    struct net_timer *timer; /* runs while there are any; tls_worker_begin makes it */
    char piece[TLS_PIECE];   /* bytes gathered for a record */
};

struct tls_codec {
    SSL *ssl;
    struct tls_worker *worker; /* of the thread that works for it; NULL: on its way */

    const char *input; /* records that OpenSSL has not got: of a read, or kept */
    size_t input_len;
    char *kept;            /* a copy of them that outlives a callback; NULL: none */
    size_t kept_allocated; /* atomic; 0: none */

    unsigned header_len;   /* bytes that OpenSSL has got of the record's header; 0: none of it */
    unsigned body_left;    /* and has not got of its body, once it has the header */
    unsigned records_left; /* that it gets, at most */
    unsigned empty_records;
    bool has_more; /* OpenSSL may hold decrypted bytes, or was stopped by records_left */

    bool has_buffers;                /* atomic */
    bool used;                       /* since looked_at_ms */
    struct tls_codec *buffered_prev; /* among those that have buffers */
    struct tls_codec *buffered_next;
    uint64_t looked_at_ms; /* when the timer has looked at it, or it came to them (monotonic) */
};

/* Bytes to be encrypted, which are the caller's. */
struct tls_write {
    uv_buf_t buffers[CONN_BATCH_MAX];
    unsigned count;
    unsigned first; /* the first buffer that is not encrypted completely */
    size_t done;    /* bytes encrypted of that buffer */
    size_t left;    /* bytes not encrypted */
};

/* Returns OpenSSL's view of the codec's input and its worker's output; the caller owns it. The
 * codec stays where it is, but for tls_codec_move. */
BIO_METHOD *tls_codec_method_new(void);

/* The worker begins or ends to work for the connection: in its thread. */
void tls_attach(struct tls_codec *codec, struct tls_worker *worker);
void tls_detach(struct tls_codec *codec);

/* Moves the codec, which has no worker, to another place. */
void tls_codec_move(struct tls_codec *to, struct tls_codec *from);

/* Ends the connection's use of the codec, and frees what it has. */
void tls_codec_free(struct tls_codec *codec);

/* Begins to work in this loop, zeroed and staying where it is; frees what it has, except its timer
 * and itself. */
void tls_worker_begin(struct tls_worker *worker, struct loop *loop);
void tls_worker_free(struct tls_worker *worker);

/* Returns the memory of its input and buffers. Any thread. */
size_t tls_codec_allocated(const struct tls_codec *codec);

/* Whether there is input whose bytes were not taken. */
static inline bool tls_has_input(const struct tls_codec *codec) {
    return codec->input_len > 0 || codec->has_more;
}

/* Moves unread records to memory of the codec: what they were read into is needed for others. */
void tls_keep_input(struct tls_codec *codec);

/* Decrypts as much as there is and fits, and sets has_more. Returns the number of bytes. When the
 * input has ended, *status is UV_EOF or an error with a static *reason; otherwise they are not
 * changed. What OpenSSL answers by itself is in the worker's output. */
size_t tls_decrypt(struct tls_codec *codec, uv_buf_t room, int *status, const char **reason);

/* Returns why OpenSSL has failed, a static text, and clears its errors. */
const char *tls_reason(const struct tls_codec *codec);

/* Returns whether bytes can be encrypted. After the first part of an update of keys OpenSSL writes
 * nothing before it has read the rest. */
static inline bool tls_may_encrypt(const struct tls_codec *codec) {
    return !SSL_in_init(codec->ssl);
}

void tls_set_write(struct tls_write *write, const uv_buf_t *buffers, unsigned count);

/* Makes records of TLS_BATCH bytes of the rest at least, or of all of it: in the worker's output.
 * Returns false if OpenSSL has failed (tls_reason); then there is no output. */
bool tls_encrypt_batch(struct tls_codec *codec, struct tls_write *rest);

/* Puts the last record, close_notify, into the worker's output. */
void tls_say_goodbye(struct tls_codec *codec);

/* Returns whether the other side has shown a certificate, which was verified by the handshake, or
 * by the one whose session is resumed. */
bool tls_has_peer(const struct tls_codec *codec);

/* Returns whether that certificate has expired since it was verified. */
bool tls_peer_has_expired(const struct tls_codec *codec);

/* --- OpenSSL's buffers --- */

/* Frees OpenSSL's buffers, unless a record is in them. Returns whether it did. */
bool tls_free_buffers(const struct tls_codec *codec);

/* The worker looks no longer after its buffers. */
void tls_forget_buffers(struct tls_codec *codec);

#endif
