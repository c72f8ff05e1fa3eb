/* OpenSSL's buffers of a connection: one for a record that is read, one for records that are
 * written.
 *
 * A connection in use keeps them: allocating both for each burst, and overwriting 16 KB to free
 * them, costs more than the records. An idle one has none. A timer looks after those that have
 * them, the ones first that it has not looked at for longest. */
#include "base/chain.h"
#include "base/checked.h"
#include "base/clock.h"
#include "net/tls_internal.h"

/* A connection is idle when it was not used for one to two of these periods. The others bound what
 * a call of the timer does: it takes 4 us to free the buffers of a connection. */
enum { IDLE_MS = 500, TICK_MS = 50, LOOKED_AT_MAX = 1000, FREED_MAX = 32 };

static void append(struct tls_shared *shared, struct tls *tls) {
    tls->used = false;
    tls->looked_at_ms = (uint64_t)clock_monotonic_ms();
    CHAIN_APPEND(shared->buffered_first, shared->buffered_last, tls, buffered_prev, buffered_next);
}

static void remove_from_list(struct tls_shared *shared, struct tls *tls) {
    CHAIN_REMOVE(shared->buffered_first, shared->buffered_last, tls, buffered_prev, buffered_next);
}

void tls_keep_buffers(struct tls *tls) {
    struct tls_shared *shared = tls_shared_of(tls);
    CHECKED_ASSERT(!tls->has_buffers);
    if (!shared->buffered_first) net_timer_start(shared->buffer_timer, TICK_MS, TICK_MS);
    tls->has_buffers = true;
    append(shared, tls);
}

/* Before 3.0.14, 3.1.6, 3.2.2 and 3.3.1, OpenSSL frees a buffer even if it has got the header of a
 * record but not its body, or if a part of a record is unread; and it uses that buffer later
 * (CVE-2024-4741). */
bool tls_free_buffers(const struct tls *tls) {
    if (tls->header_len > 0 || tls->has_more || SSL_has_pending(tls->ssl)) return false;
    return SSL_free_buffers(tls->ssl) == 1;
}

void tls_forget_buffers(struct tls *tls) {
    if (tls->has_buffers) remove_from_list(tls_shared_of(tls), tls);
    tls->has_buffers = false;
}

void tls_free_idle_buffers(void *arg) {
    struct tls_shared *shared = arg;
    uint64_t now_ms = (uint64_t)clock_monotonic_ms();
    int looked_at = 0, freed = 0;
    struct tls *tls;
    while ((tls = shared->buffered_first) && tls->looked_at_ms + IDLE_MS <= now_ms &&
           looked_at++ < LOOKED_AT_MAX && freed < FREED_MAX) {
        remove_from_list(shared, tls);
        if (tls->used || !tls_free_buffers(tls)) {
            append(shared, tls);
        } else {
            tls->has_buffers = false;
            freed++;
        }
    }
    if (!shared->buffered_first) net_timer_stop(shared->buffer_timer);
}
