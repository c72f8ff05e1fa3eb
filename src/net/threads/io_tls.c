/* TLS of connections that are with an I/O thread: the thread's side decrypts what it reads and
 * encrypts what it sends. Their handshakes are done in the event loop before.
 *
 *      socket ──→ worker's input ──OpenSSL──→ blocks ──→ loop
 *                    └─ kept: what the loop has no room for yet
 *      loop ──→ blocks ──OpenSSL──→ records ──→ socket
 *                                      └─ kept: what the socket does not take
 *
 * Bytes count as sent when the socket has taken their records, so whatever waits for that needs to
 * know nothing of TLS. While records are kept, no further bytes are encrypted. */
#include "net/threads/io_state.h"

#include "base/memory/alloc.h"
#include "net/loop/timer.h"

#include <errno.h>
#include <limits.h>
#include <sys/socket.h>

#ifdef TINY_LIMITS
enum { INPUT_SIZE = 150 };
#else
enum { INPUT_SIZE = 20 * 1024 }; /* read at a time: a whole record at least */
#endif

struct io_tls_worker {
    struct tls_worker worker;
    char input[INPUT_SIZE];
};

/* --- The worker --- */

static struct io_tls_worker *worker_of(struct io_thread *thread) {
    if (thread->tls) return thread->tls;
    struct io_tls_worker *worker = thread->tls = mem_alloc_zeroed(sizeof(*worker));
    tls_worker_begin(&worker->worker, &thread->loop);
    return worker;
}

void io_tls_end(struct io_thread *thread) {
    if (thread->tls) net_timer_free(thread->tls->worker.timer);
}

void io_tls_free(struct io_thread *thread) {
    if (thread->tls) tls_worker_free(&thread->tls->worker);
    mem_free(thread->tls);
}

/* --- Sending --- */

/* Gives the socket bytes. Returns how many it has taken. */
static size_t give(struct io_socket *socket, const char *bytes, size_t len) {
    ssize_t sent;
    do {
        sent = send(socket->fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent >= 0) return (size_t)sent;
    if (errno != EAGAIN && errno != EWOULDBLOCK) io_fail(socket, -errno);
    return 0;
}

/* The socket has taken bytes of records, whose last ones are those that are not bytes of the
 * connection, for all that is counted. */
static void note_taken(struct io_socket *socket, size_t taken) {
    struct io_tls *tls = socket->tls;
    size_t left = tls->left - taken;
    size_t sent = tls->plain > left ? tls->plain - left : 0;
    __atomic_store_n(&tls->left, left, __ATOMIC_RELAXED);
    tls->plain -= sent;
    if (sent > 0 || left == 0) io_note_sent(socket, sent);
}

static struct block_pool *pool_of(const struct io_socket *socket) {
    return &socket->thread->read_spares.large;
}

/* A peer that does not read may have many short records made, so that these share blocks. */
static void keep(struct io_socket *socket, const char *records, size_t len) {
    struct io_tls *tls = socket->tls;
    size_t part = 0, size = sizeof(struct block) + len;
    if (tls->records.first) {
        part = block_fill(tls->records.last, records, len);
        tls->records.bytes += part;
        if (size < IO_LARGE_SIZE) size = IO_LARGE_SIZE;
    }
    if (part < len) {
        struct block *block = block_new_sized(pool_of(socket), size);
        block_fill(block, records + part, len - part);
        block_push(&tls->records, block);
    }
    __atomic_store_n(&tls->left, tls->records.bytes, __ATOMIC_RELAXED);
}

/* Sends kept records. Returns whether none are left. */
static bool send_kept(struct io_socket *socket) {
    struct io_tls *tls = socket->tls;
    struct block *block;
    while ((block = tls->records.first)) {
        size_t len = block->len, sent = give(socket, block->at, len), taken = sent;
        if (socket->failed) return false;
        block = block_pop_done(&tls->records, &taken);
        if (block) block_free(pool_of(socket), block);
        note_taken(socket, sent);
        if (sent < len) return false;
    }
    return true;
}

/* Nothing can be read or sent any more. */
static void fail(struct io_socket *socket, int status, const char *reason) {
    struct tls_codec *codec = &socket->tls->codec;
    codec->input_len = 0;
    codec->has_more = false;
    io_end_input(socket, status, reason);
    if (!socket->failed) io_fail(socket, status);
}

/* Sends what OpenSSL has made, of which `plain` are bytes of the connection. */
static void flush(struct io_socket *socket, size_t plain) {
    struct io_tls *tls = socket->tls;
    struct tls_worker *worker = tls->codec.worker;
    size_t len = worker->output_len, sent = 0;
    worker->output_len = 0;
    if (len == 0 || socket->failed) return;
    if (tls->left == 0) sent = give(socket, worker->output, len);
    if (socket->failed) return;
    tls->plain += plain;
    if (sent < len) keep(socket, worker->output + sent, len - sent);
    if (tls->left > TLS_UNSENT_MAX)
        fail(socket, UV_ENOBUFS, NULL);
    else if (sent > 0)
        note_taken(socket, 0);
}

/* Encrypts a batch of what is to be sent. Returns whether it has sent all of that. */
static bool send_batch(struct io_socket *socket) {
    uv_buf_t buffers[CONN_BATCH_MAX];
    struct tls_write rest;
    struct tls_codec *codec = &socket->tls->codec;
    tls_set_write(&rest, buffers, block_gather(&socket->output, buffers, CONN_BATCH_MAX));
    size_t all = rest.left;
    if (all == 0) {
        io_note_sent(socket, 0);
        return true;
    }
    if (!tls_encrypt_batch(codec, &rest)) {
        fail(socket, UV_EPROTO, tls_reason(codec));
        return false;
    }
    flush(socket, all - rest.left);
    return socket->tls->left == 0;
}

void io_tls_send(struct io_socket *socket) {
    while (!socket->failed && send_kept(socket) && socket->output.first &&
           tls_may_encrypt(&socket->tls->codec) && send_batch(socket))
        continue;
}

/* --- Reading --- */

/* Decrypts into one block, which goes to the loop. Returns false when the input has ended. */
static bool decrypt(struct io_socket *socket) {
    struct io_spares *spares = &socket->thread->read_spares;
    struct tls_codec *codec = &socket->tls->codec;
    const char *reason = NULL;
    int status = 0;
    size_t left =
        codec->input_len + (size_t)SSL_pending(codec->ssl); /* some is decrypted already */
    bool is_large = left > IO_SMALL_SIZE || codec->header_len > 0;
    struct block *block = io_block_new(spares, is_large);
    size_t len = tls_decrypt(codec, (uv_buf_t){.base = block->bytes, .len = block->capacity},
                             &status, &reason);
    if (len > 0)
        io_hand_data(socket, block, len);
    else
        io_block_free(spares, block);
    flush(socket, 0);
    if (reason)
        fail(socket, status, reason);
    else if (status)
        io_end_input(socket, status, NULL);
    return !socket->has_ended;
}

static void decrypt_all(struct io_socket *socket) {
    struct tls_codec *codec = &socket->tls->codec;
    codec->records_left = UINT_MAX; /* what is read at a time is little */
    while (decrypt(socket) && codec->has_more && socket->credit > 0) continue;
    tls_keep_input(codec);
}

/* Reads records. Returns whether there are any. */
static bool read_records(struct io_socket *socket) {
    struct io_tls_worker *worker = worker_of(socket->thread);
    ssize_t got;
    do {
        got = recv(socket->fd, worker->input, INPUT_SIZE, MSG_DONTWAIT);
    } while (got < 0 && errno == EINTR);
    if (got == 0)
        io_end_input(socket, UV_EOF, NULL);
    else if (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
        io_end_input(socket, -errno, NULL);
    if (got <= 0) return false;
    socket->tls->codec.input = worker->input;
    socket->tls->codec.input_len = (size_t)got;
    return true;
}

void io_tls_read(struct io_socket *socket) {
    struct tls_codec *codec = &socket->tls->codec;
    if (tls_has_input(codec) || read_records(socket)) decrypt_all(socket);
    if (!socket->output.first) return;
    if (tls_may_encrypt(codec))
        io_tls_send(socket); /* an update of keys may have been completed */
    else if (socket->has_ended && !socket->failed)
        io_fail(socket, UV_EPIPE); /* and it never will be */
}

/* --- Begin and end --- */

void io_tls_open(struct io_socket *socket) {
    tls_attach(&socket->tls->codec, &worker_of(socket->thread)->worker);
}

void io_tls_release(struct io_socket *socket) {
    tls_detach(&socket->tls->codec);
}

void io_tls_close(struct io_socket *socket) {
    struct io_tls *tls = socket->tls;
    if (!socket->failed && !socket->output.first && tls->left == 0) {
        tls_say_goodbye(&tls->codec);
        flush(socket, 0);
    }
    io_drop_records(tls, pool_of(socket));
    tls_codec_free(&tls->codec);
}
