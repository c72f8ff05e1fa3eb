/* OpenSSL's buffers of a connection: one for a record that is read, one for records that are
 * written.
 *
 * A connection in use keeps them: allocating both for each burst, and overwriting 16 KB to free
 * them, costs more than the records. An idle one has none. A timer looks after those that have
 * them, the ones first that it has not looked at for longest. */
#include "base/chain.h"
#include "base/checked.h"
#include "base/clock.h"
#include "net/tls/tls_codec.h"

/* A connection is idle when it was not used for one to two of these periods. The others bound what
 * a call of the timer does: it takes 4 us to free the buffers of a connection. */
enum { IDLE_MS = 500, LOOKED_AT_MAX = 1000, FREED_MAX = 32 };

static void append(struct tls_worker *worker, struct tls_codec *codec) {
    codec->used = false;
    codec->looked_at_ms = (uint64_t)clock_monotonic_ms();
    CHAIN_APPEND(worker->buffered_first, worker->buffered_last, codec, buffered_prev,
                 buffered_next);
}

static void remove_from_list(struct tls_worker *worker, struct tls_codec *codec) {
    CHAIN_REMOVE(worker->buffered_first, worker->buffered_last, codec, buffered_prev,
                 buffered_next);
}

static void look_after(struct tls_codec *codec) {
    struct tls_worker *worker = codec->worker;
    if (!worker->buffered_first) worker->set_timer(worker, true);
    append(worker, codec);
}

void tls_keep_buffers(struct tls_codec *codec) {
    CHECKED_ASSERT(!codec->has_buffers);
    __atomic_store_n(&codec->has_buffers, true, __ATOMIC_RELAXED);
    look_after(codec);
}

void tls_attach(struct tls_codec *codec, struct tls_worker *worker) {
    CHECKED_ASSERT(!codec->worker);
    codec->worker = worker;
    if (codec->has_buffers) look_after(codec);
}

void tls_detach(struct tls_codec *codec) {
    if (codec->has_buffers) remove_from_list(codec->worker, codec);
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
    if (codec->has_buffers && codec->worker) remove_from_list(codec->worker, codec);
    __atomic_store_n(&codec->has_buffers, false, __ATOMIC_RELAXED);
}

void tls_free_idle_buffers(struct tls_worker *worker) {
    uint64_t now_ms = (uint64_t)clock_monotonic_ms();
    int looked_at = 0, freed = 0;
    struct tls_codec *codec;
    while ((codec = worker->buffered_first) && codec->looked_at_ms + IDLE_MS <= now_ms &&
           looked_at++ < LOOKED_AT_MAX && freed < FREED_MAX) {
        remove_from_list(worker, codec);
        if (codec->used || !tls_free_buffers(codec)) {
            append(worker, codec);
        } else {
            __atomic_store_n(&codec->has_buffers, false, __ATOMIC_RELAXED);
            freed++;
        }
    }
    if (!worker->buffered_first) worker->set_timer(worker, false);
}
