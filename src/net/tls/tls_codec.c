/* OpenSSL's work for a connection: see the header. */
#include "net/tls/tls_codec.h"

#include "base/chain.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/memory/alloc.h"
#include "base/text/secret.h"
#include "net/loop/timer.h"

#include <limits.h>
#include <openssl/err.h>
#include <string.h>

/* --- What OpenSSL reads and writes --- */

/* Notes bytes of a record that OpenSSL gets: of the header, whose last two bytes are the length of
 * the body, or of the body. */
static void note_record(struct tls_codec *codec, const unsigned char *bytes, size_t len) {
    if (codec->header_len == TLS_HEADER) {
        codec->body_left -= (unsigned)len;
    } else {
        for (size_t i = 0; i < len; i++)
            codec->body_left = (codec->body_left << 8 | bytes[i]) & 0xffff;
        codec->header_len += (unsigned)len;
    }
    if (codec->header_len == TLS_HEADER && codec->body_left == 0) codec->header_len = 0;
}

/* Gives OpenSSL no more than the rest of the header, or of the body. */
static int bio_read(BIO *bio, char *bytes, int len) {
    struct tls_codec *codec = BIO_get_data(bio);
    bool is_record = codec->header_len == 0;
    BIO_clear_retry_flags(bio);
    if (codec->input_len == 0 || (is_record && codec->records_left == 0)) {
        BIO_set_retry_read(bio);
        return -1;
    }
    if (is_record) {
        codec->records_left--;
        codec->empty_records++;
    }
    size_t rest = codec->header_len == TLS_HEADER ? codec->body_left
                                                  : (size_t)(TLS_HEADER - codec->header_len);
    size_t part = (size_t)len < codec->input_len ? (size_t)len : codec->input_len;
    if (part > rest) part = rest;
    note_record(codec, (const unsigned char *)codec->input, part);
    memcpy(bytes, codec->input, part);
    codec->input += part;
    codec->input_len -= part;
    return (int)part;
}

static int bio_write(BIO *bio, const char *bytes, int len) {
    struct tls_worker *worker = ((struct tls_codec *)BIO_get_data(bio))->worker;
    size_t end = worker->output_len + (size_t)len;
    MEM_RESERVE(worker->output, worker->output_capacity, end);
    memcpy(worker->output + worker->output_len, bytes, (size_t)len);
    worker->output_len = end;
    return len;
}

static long bio_control(BIO *bio, int command, long number, void *pointer) {
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

BIO_METHOD *tls_codec_method_new(void) {
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "packlist");
    BIO_meth_set_read(method, bio_read);
    BIO_meth_set_write(method, bio_write);
    BIO_meth_set_ctrl(method, bio_control);
    return method;
}

/* --- OpenSSL's buffers ---
 *
 * One for a record that is read, one for records that are written. A connection in use keeps them:
 * allocating both for each burst, and overwriting 16 KB to free them, costs more than the records.
 * An idle one has none. A timer looks after those that have them, the ones first that it has not
 * looked at for longest. */

/* A connection is idle when it was not used for one to two of these periods. The others bound what
 * a call of the timer does: it takes 4 us to free the buffers of a connection. */
enum { IDLE_MS = 500, LOOKED_AT_MAX = 1000, FREED_MAX = 32, TICK_MS = 50 };

static void append_buffered(struct tls_worker *worker, struct tls_codec *codec) {
    codec->used = false;
    codec->looked_at_ms = (uint64_t)clock_monotonic_ms();
    CHAIN_APPEND(worker->buffered_first, worker->buffered_last, codec, buffered_prev,
                 buffered_next);
}

static void remove_buffered(struct tls_worker *worker, struct tls_codec *codec) {
    CHAIN_REMOVE(worker->buffered_first, worker->buffered_last, codec, buffered_prev,
                 buffered_next);
}

static void look_after(struct tls_codec *codec) {
    struct tls_worker *worker = codec->worker;
    if (!worker->buffered_first) net_timer_start(worker->timer, TICK_MS, TICK_MS);
    append_buffered(worker, codec);
}

/* OpenSSL is about to read or write, and allocates its buffers if it has none. */
static void note_use(struct tls_codec *codec) {
    codec->used = true;
    if (codec->has_buffers) return;
    __atomic_store_n(&codec->has_buffers, true, __ATOMIC_RELAXED);
    look_after(codec);
}

void tls_attach(struct tls_codec *codec, struct tls_worker *worker) {
    CHECKED_ASSERT(!codec->worker);
    codec->worker = worker;
    if (codec->has_buffers) look_after(codec);
}

void tls_detach(struct tls_codec *codec) {
    if (codec->has_buffers) remove_buffered(codec->worker, codec);
    codec->worker = NULL;
}

/* Before 3.0.14, 3.1.6, 3.2.2 and 3.3.1, OpenSSL frees a buffer even if it has got the header of a
 * record but not its body, or if a part of a record is unread; and it uses that buffer later
 * (CVE-2024-4741). */
bool tls_free_buffers(const struct tls_codec *codec) {
    if (codec->header_len > 0 || codec->has_more || SSL_has_pending(codec->ssl)) return false;
    return SSL_free_buffers(codec->ssl) == 1;
}

void tls_forget_buffers(struct tls_codec *codec) {
    if (codec->has_buffers && codec->worker) remove_buffered(codec->worker, codec);
    __atomic_store_n(&codec->has_buffers, false, __ATOMIC_RELAXED);
}

static void free_idle_buffers(void *arg) {
    struct tls_worker *worker = arg;
    uint64_t now_ms = (uint64_t)clock_monotonic_ms();
    int looked_at = 0, freed = 0;
    struct tls_codec *codec;
    while ((codec = worker->buffered_first) && codec->looked_at_ms + IDLE_MS <= now_ms &&
           looked_at++ < LOOKED_AT_MAX && freed < FREED_MAX) {
        remove_buffered(worker, codec);
        if (codec->used || !tls_free_buffers(codec)) {
            append_buffered(worker, codec);
        } else {
            __atomic_store_n(&codec->has_buffers, false, __ATOMIC_RELAXED);
            freed++;
        }
    }
    if (!worker->buffered_first) net_timer_stop(worker->timer);
}

/* --- Ownership --- */

void tls_codec_move(struct tls_codec *to, struct tls_codec *from) {
    CHECKED_ASSERT(!from->worker);
    *to = *from;
    BIO_set_data(SSL_get_rbio(to->ssl), to);
    *from = (struct tls_codec){.ssl = NULL};
}

void tls_codec_free(struct tls_codec *codec) {
    tls_forget_buffers(codec);
    SSL_free(codec->ssl);
    mem_free(codec->kept);
    codec->ssl = NULL;
    codec->kept = NULL;
}

size_t tls_codec_allocated(const struct tls_codec *codec) {
    bool has_buffers = __atomic_load_n(&codec->has_buffers, __ATOMIC_RELAXED);
    return __atomic_load_n(&codec->kept_allocated, __ATOMIC_RELAXED) +
           (has_buffers ? TLS_BUFFERS : 0);
}

void tls_worker_begin(struct tls_worker *worker, struct loop *loop) {
    worker->timer = loop_timer_new(loop, free_idle_buffers, worker);
}

void tls_worker_free(struct tls_worker *worker) {
    mem_free(worker->output);
}

/* --- The other side's certificate --- */

bool tls_has_peer(const struct tls_codec *codec) {
    return codec->ssl && SSL_get0_peer_certificate(codec->ssl) &&
           SSL_get_verify_result(codec->ssl) == X509_V_OK;
}

bool tls_peer_has_expired(const struct tls_codec *codec) {
    const X509 *certificate = SSL_get0_peer_certificate(codec->ssl);
    return certificate && X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0;
}

/* --- Decrypting --- */

void tls_keep_input(struct tls_codec *codec) {
    if (codec->input_len == 0) {
        if (!codec->kept) return;
        mem_free(codec->kept);
        codec->kept = NULL;
        __atomic_store_n(&codec->kept_allocated, 0, __ATOMIC_RELAXED);
    } else if (!codec->kept) {
        codec->kept = mem_alloc(codec->input_len);
        __atomic_store_n(&codec->kept_allocated, codec->input_len, __ATOMIC_RELAXED);
        memcpy(codec->kept, codec->input, codec->input_len);
        codec->input = codec->kept;
    }
}

const char *tls_reason(const struct tls_codec *codec) {
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    long verified = SSL_get_verify_result(codec->ssl);
    if (verified != X509_V_OK) reason = X509_verify_cert_error_string(verified);
    ERR_clear_error();
    return reason ? reason : "the other side closed";
}

/* OpenSSL had no bytes for us, for this reason. */
static void read_nothing(struct tls_codec *codec, int error, int *status, const char **reason) {
    if (error == SSL_ERROR_ZERO_RETURN) {
        *status = UV_EOF;
        codec->input_len = 0;
    } else if (error != SSL_ERROR_WANT_READ) {
        *status = UV_EPROTO;
        *reason = tls_reason(codec);
    } else if (codec->empty_records > TLS_EMPTY_MAX) {
        *status = UV_EPROTO;
        *reason = "too many records without data";
    } else if (codec->input_len > 0) {
        codec->has_more = true;
    }
}

/* OpenSSL is not asked for more when it has got all records and holds no bytes: that costs as much
 * as a record. */
size_t tls_decrypt(struct tls_codec *codec, uv_buf_t room, int *status, const char **reason) {
    size_t have = 0;
    codec->has_more = false;
    note_use(codec);
    CHECKED_ASSERT(codec->worker->output_len == 0);
    while (have < room.len) {
        CHECKED_ASSERT(ERR_peek_error() == 0);
        size_t most = room.len - have;
        int got = SSL_read(codec->ssl, room.base + have, most < INT_MAX ? (int)most : INT_MAX);
        if (got <= 0) {
            read_nothing(codec, SSL_get_error(codec->ssl, got), status, reason);
            return have;
        }
        have += (size_t)got;
        codec->empty_records = 0;
        if (codec->input_len == 0 && SSL_pending(codec->ssl) == 0) return have;
    }
    codec->has_more = true;
    return have;
}

/* --- Encrypting --- */

/* Makes a record of the first bytes of the rest, which is not empty. Returns false if it failed. */
static bool encrypt_piece(struct tls_codec *codec, struct tls_write *rest) {
    struct tls_worker *worker = codec->worker;
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
            memcpy(worker->piece + len, buffer->base + rest->done, part);
            len += part;
            rest->done += part;
            if (rest->done < buffer->len) break;
            rest->first++;
            rest->done = 0;
        }
        bytes = worker->piece;
    }
    rest->left -= len;
    while (rest->first < rest->count && rest->done == rest->buffers[rest->first].len) {
        rest->first++;
        rest->done = 0;
    }
    note_use(codec);
    CHECKED_ASSERT(ERR_peek_error() == 0);
    bool is_done = SSL_write(codec->ssl, bytes, (int)len) == (int)len;
    if (bytes == worker->piece) secret_clear(worker->piece, len); /* it may hold a password */
    return is_done;
}

void tls_set_write(struct tls_write *write, const uv_buf_t *buffers, unsigned count) {
    write->count = count;
    write->first = 0;
    write->done = write->left = 0;
    memcpy(write->buffers, buffers, count * sizeof(*buffers));
    for (unsigned i = 0; i < count; i++) write->left += buffers[i].len;
    while (write->first < count && buffers[write->first].len == 0) write->first++;
}

bool tls_encrypt_batch(struct tls_codec *codec, struct tls_write *rest) {
    CHECKED_ASSERT(codec->worker->output_len == 0);
    for (size_t last = rest->left; rest->left > 0 && last - rest->left < TLS_BATCH;) {
        if (encrypt_piece(codec, rest)) continue;
        codec->worker->output_len = 0;
        return false;
    }
    return true;
}

void tls_say_goodbye(struct tls_codec *codec) {
    CHECKED_ASSERT(ERR_peek_error() == 0 && codec->worker->output_len == 0);
    SSL_shutdown(codec->ssl);
    ERR_clear_error();
}
