/* The output of TLS connections.
 *
 *      buffers ──gather──→ piece ──SSL_write──→ worker->output ──try_write──→ lower
 *                                                └─ what it does not take: blocks
 *
 * Invariant: while records are kept, the connection's bytes are not encrypted; only what OpenSSL
 * sends by itself (alerts, answers to updates of keys) is added to them. */
#include "base/memory/alloc.h"
#include "net/tls/tls_state.h"

/* --- Records --- */

static struct block_pool *pool_of(const struct tls *tls) {
    return &tls_lower(tls)->net->blocks;
}

void tls_drop_output(struct tls *tls) {
    mem_free(tls->lower_write);
    tls->lower_write = NULL;
    while (tls->unsent.first) block_free(pool_of(tls), block_pop(&tls->unsent));
}

/* The lower transport has taken bytes of the first block. */
static void note_taken(struct tls *tls, size_t taken) {
    struct block *block = block_pop_done(&tls->unsent, &taken);
    if (block) block_free(pool_of(tls), block);
}

/* Has the lower transport write the first block; in nested polling the next turn tries again. */
static void start_lower_write(struct tls *tls) {
    struct conn *lower = tls_lower(tls);
    if (lower->net->nested) {
        tls_want_turn(tls);
        return;
    }
    uv_buf_t buffer;
    block_gather(&tls->unsent, &buffer, 1);
    tls->lower_write = mem_alloc_zeroed(lower->transport->write_size);
    int status = lower->transport->write(lower, tls->lower_write, &buffer, 1);
    if (status == 0) return;
    mem_free(tls->lower_write);
    tls->lower_write = NULL;
    tls_fail(tls, status);
}

/* Tries to send kept records. Returns whether none are left. */
static bool send_kept(struct tls *tls) {
    struct conn *lower = tls_lower(tls);
    while (tls->unsent.first && !tls->lower_write && !tls->is_failed) {
        uv_buf_t buffer;
        block_gather(&tls->unsent, &buffer, 1);
        ssize_t sent = lower->transport->try_write(lower, &buffer, 1);
        if (sent < 0) {
            tls_fail(tls, (int)sent);
            return false;
        }
        note_taken(tls, (size_t)sent);
        if ((size_t)sent < buffer.len) {
            start_lower_write(tls);
            return false;
        }
    }
    return !tls->unsent.first;
}

void tls_flush(struct tls *tls) {
    struct tls_worker *worker = tls->codec.worker;
    struct conn *lower = tls_lower(tls);
    size_t len = worker->output_len;
    ssize_t sent = 0;
    worker->output_len = 0;
    if (len == 0 || (tls->is_failed && tls->unsent.first)) return;
    if (!tls->unsent.first) {
        uv_buf_t buffer = uv_buf_init(worker->output, (unsigned)len);
        sent = lower->transport->try_write(lower, &buffer, 1);
        if (sent < 0) tls_fail(tls, (int)sent);
        if (sent < 0 || (size_t)sent == len) return;
    }
    if (tls->is_failed) return;
    bool is_first = !tls->unsent.first;
    struct block *block = block_new_sized(pool_of(tls), sizeof(*block) + len - (size_t)sent);
    block_fill(block, worker->output + sent, len - (size_t)sent);
    block_push(&tls->unsent, block);
    if (is_first)
        start_lower_write(tls);
    else if (tls->unsent.bytes > TLS_UNSENT_MAX)
        tls_fail(tls, UV_ENOBUFS);
}

/* --- Encrypting --- */

/* Encrypts a batch of the rest, and sends it. */
static void encrypt_batch(struct tls *tls, struct tls_write *rest) {
    if (tls_encrypt_batch(&tls->codec, rest))
        tls_flush(tls);
    else
        tls_fail_by_openssl(tls);
}

static bool may_encrypt(const struct tls *tls) {
    return tls->is_open && !tls->is_failed && tls_may_encrypt(&tls->codec);
}

void tls_go_on_writing(struct tls *tls) {
    if (tls->write && !tls->unsent.first && may_encrypt(tls)) tls_want_turn(tls);
}

ssize_t tls_try_write(struct conn *conn, const uv_buf_t *buffers, unsigned count) {
    struct tls *tls = tls_of(conn);
    struct tls_write rest;
    if (tls->is_failed) return tls->end_status;
    if (!tls->is_open || !send_kept(tls)) return tls->is_failed ? tls->end_status : 0;
    tls_set_write(&rest, buffers, count);
    size_t all = rest.left;
    while (rest.left > 0 && all - rest.left < TLS_WRITE_MAX && !tls->unsent.first &&
           may_encrypt(tls))
        encrypt_batch(tls, &rest);
    return tls->is_failed ? tls->end_status : (ssize_t)(all - rest.left);
}

/* It ends in a later iteration: a lower write that is started here, or a turn, sees to that. */
int tls_begin_write(struct conn *conn, void *write, const uv_buf_t *buffers, unsigned count) {
    struct tls *tls = tls_of(conn);
    if (tls->is_failed) return tls->end_status;
    tls->write = write;
    tls_set_write(tls->write, buffers, count);
    tls_begin(tls);
    if (tls->is_open && !tls->unsent.first) tls_want_turn(tls);
    return 0;
}

size_t tls_unsent(const struct conn *conn) {
    const struct tls *tls = tls_of(conn);
    return tls->write ? tls->write->left : 0;
}

void tls_pump(struct tls *tls) {
    size_t done = 0;
    while (send_kept(tls) && tls->write && may_encrypt(tls)) {
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
    if (tls->is_closed) return; /* tls_closed frees the rest */
    mem_free(tls->lower_write);
    tls->lower_write = NULL;
    note_taken(tls, tls->unsent.first->len);
    if (status < 0) {
        tls_fail(tls, status);
        return;
    }
    tls_pump(tls);
}
