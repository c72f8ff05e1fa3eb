/* The output of TLS connections.
 *
 *      buffers ──gather──→ piece ──SSL_write──→ shared->output ──try_write──→ lower
 *                                                └─ what it does not take: chunks
 *
 * Invariant: while records are kept, the connection's bytes are not encrypted; only what OpenSSL
 * sends by itself (alerts, answers to updates of keys) is added to them. */
#include "base/alloc.h"
#include "base/checked.h"
#include "base/secret.h"
#include "net/tls_internal.h"

#include <openssl/err.h>
#include <string.h>

/* --- Records --- */

static void keep(struct tls *tls, const char *bytes, size_t len) {
    size_t write_size = (tls_lower(tls)->transport->write_size + 15) & ~(size_t)15;
    size_t size = sizeof(struct tls_chunk) + write_size + len;
    struct tls_chunk *chunk = mem_alloc(size);
    *chunk = (struct tls_chunk){
        .bytes = (char *)(chunk + 1) + write_size, .end = len, .allocated = size};
    memset(chunk + 1, 0, write_size);
    memcpy(chunk->bytes, bytes, len);
    *(tls->unsent_last ? &tls->unsent_last->next : &tls->unsent_first) = chunk;
    tls->unsent_last = chunk;
    tls->unsent += len;
}

static void drop_first(struct tls *tls) {
    struct tls_chunk *chunk = tls->unsent_first;
    tls->unsent_first = chunk->next;
    if (!chunk->next) tls->unsent_last = NULL;
    tls->unsent -= chunk->end - chunk->start;
    mem_free(chunk);
}

void tls_drop_output(struct tls *tls) {
    while (tls->unsent_first) drop_first(tls);
}

/* Has the lower transport write the first chunk; in nested polling the next turn tries again. */
static void start_lower_write(struct tls *tls) {
    struct tls_chunk *chunk = tls->unsent_first;
    struct conn *lower = tls_lower(tls);
    if (lower->net->nested) {
        tls_want_turn(tls);
        return;
    }
    uv_buf_t buffer =
        uv_buf_init(chunk->bytes + chunk->start, (unsigned)(chunk->end - chunk->start));
    int status = lower->transport->write(lower, chunk + 1, &buffer, 1);
    if (status < 0)
        tls_fail(tls, status);
    else
        tls->lower_writes = true;
}

bool tls_send_kept(struct tls *tls) {
    struct conn *lower = tls_lower(tls);
    while (tls->unsent_first && !tls->lower_writes && !tls->is_failed) {
        struct tls_chunk *chunk = tls->unsent_first;
        size_t len = chunk->end - chunk->start;
        uv_buf_t buffer = uv_buf_init(chunk->bytes + chunk->start, (unsigned)len);
        ssize_t sent = lower->transport->try_write(lower, &buffer, 1);
        if (sent < 0) {
            tls_fail(tls, (int)sent);
        } else if ((size_t)sent == len) {
            drop_first(tls);
        } else {
            chunk->start += (size_t)sent;
            tls->unsent -= (size_t)sent;
            start_lower_write(tls);
            return false;
        }
    }
    return !tls->unsent_first;
}

void tls_flush(struct tls *tls) {
    struct tls_shared *shared = tls_shared_of(tls);
    struct conn *lower = tls_lower(tls);
    size_t len = shared->output_len;
    ssize_t sent = 0;
    shared->output_len = 0;
    if (len == 0 || (tls->is_failed && tls->unsent_first)) return;
    if (!tls->unsent_first) {
        uv_buf_t buffer = uv_buf_init(shared->output, (unsigned)len);
        sent = lower->transport->try_write(lower, &buffer, 1);
        if (sent < 0) tls_fail(tls, (int)sent);
        if (sent < 0 || (size_t)sent == len) return;
    }
    if (tls->is_failed) return;
    bool is_first = !tls->unsent_first;
    keep(tls, shared->output + sent, len - (size_t)sent);
    if (is_first)
        start_lower_write(tls);
    else if (tls->unsent > TLS_UNSENT_MAX)
        tls_fail(tls, UV_ENOBUFS);
}

/* --- Encrypting --- */

/* Makes a record of the first bytes of the rest, which is not empty. Returns false if it failed. */
static bool encrypt_piece(struct tls *tls, struct tls_write *rest) {
    struct tls_shared *shared = tls_shared_of(tls);
    const uv_buf_t *buffer = &rest->buffers[rest->first];
    const char *bytes = buffer->base + rest->done;
    size_t len = buffer->len - rest->done;
    if (len >= TLS_PIECE || len == rest->left) {
        if (len > TLS_PIECE) len = TLS_PIECE;
        rest->done += len;
    } else {
        for (len = 0; len < TLS_PIECE && len < rest->left;) {
            buffer = &rest->buffers[rest->first];
            size_t part = buffer->len - rest->done;
            if (part > TLS_PIECE - len) part = TLS_PIECE - len;
            memcpy(shared->piece + len, buffer->base + rest->done, part);
            len += part;
            rest->done += part;
            if (rest->done < buffer->len) break;
            rest->first++;
            rest->done = 0;
        }
        bytes = shared->piece;
    }
    rest->left -= len;
    while (rest->first < rest->count && rest->done == rest->buffers[rest->first].len) {
        rest->first++;
        rest->done = 0;
    }
    tls_note_use(tls);
    CHECKED_ASSERT(ERR_peek_error() == 0);
    bool is_done = SSL_write(tls->ssl, bytes, (int)len) == (int)len;
    if (bytes == shared->piece) secret_clear(shared->piece, len); /* it may hold a password */
    if (!is_done) tls_fail_by_openssl(tls);
    return is_done;
}

/* Encrypts a batch of the rest, and sends it. */
static void encrypt_batch(struct tls *tls, struct tls_write *rest) {
    struct tls_shared *shared = tls_shared_of(tls);
    CHECKED_ASSERT(shared->output_len == 0);
    for (size_t last = rest->left; rest->left > 0 && last - rest->left < TLS_BATCH;) {
        if (!encrypt_piece(tls, rest)) {
            shared->output_len = 0;
            return;
        }
    }
    tls_flush(tls);
}

/* Returns whether bytes can be encrypted. After the first part of an update of keys OpenSSL writes
 * nothing before it has read the rest. */
static bool may_encrypt(const struct tls *tls) {
    return tls->is_open && !tls->is_failed && !SSL_in_init(tls->ssl);
}

void tls_go_on_writing(struct tls *tls) {
    if (tls->write && !tls->unsent_first && may_encrypt(tls)) tls_want_turn(tls);
}

static void set_rest(struct tls_write *rest, const uv_buf_t *buffers, unsigned count) {
    rest->count = count;
    rest->first = 0;
    rest->done = rest->left = 0;
    memcpy(rest->buffers, buffers, count * sizeof(*buffers));
    for (unsigned i = 0; i < count; i++) rest->left += buffers[i].len;
    while (rest->first < count && buffers[rest->first].len == 0) rest->first++;
}

ssize_t tls_try_write(struct conn *conn, const uv_buf_t *buffers, unsigned count) {
    struct tls *tls = tls_of(conn);
    struct tls_write rest;
    if (tls->is_failed) return tls->end_status;
    if (!tls->is_open || !tls_send_kept(tls)) return tls->is_failed ? tls->end_status : 0;
    set_rest(&rest, buffers, count);
    size_t all = rest.left;
    while (rest.left > 0 && all - rest.left < TLS_WRITE_MAX && !tls->unsent_first &&
           may_encrypt(tls))
        encrypt_batch(tls, &rest);
    return tls->is_failed ? tls->end_status : (ssize_t)(all - rest.left);
}

/* It ends in a later iteration: a lower write that is started here, or a turn, sees to that. */
int tls_begin_write(struct conn *conn, void *write, const uv_buf_t *buffers, unsigned count) {
    struct tls *tls = tls_of(conn);
    if (tls->is_failed) return tls->end_status;
    tls->write = write;
    set_rest(tls->write, buffers, count);
    tls_begin(tls);
    if (tls->is_open && !tls->unsent_first) tls_want_turn(tls);
    return 0;
}

size_t tls_unsent(const struct conn *conn) {
    const struct tls *tls = tls_of(conn);
    return tls->write ? tls->write->left : 0;
}

void tls_pump(struct tls *tls) {
    size_t done = 0;
    while (tls_send_kept(tls) && tls->write && may_encrypt(tls)) {
        struct tls_write *write = tls->write;
        size_t left = write->left;
        if (left == 0) {
            tls->write = NULL;
            conn_written(tls_conn(tls), 0);
            return;
        }
        if (done >= TLS_WRITE_MAX) {
            tls_want_turn(tls);
            return;
        }
        encrypt_batch(tls, write);
        done += left - write->left;
    }
}

void tls_written(struct conn *conn, int status) {
    struct tls *tls = tls_of(conn);
    tls->lower_writes = false;
    if (tls->is_closed) return;
    drop_first(tls);
    if (status < 0) {
        tls_fail(tls, status);
        return;
    }
    tls_pump(tls);
}
