/* bell: wakes a thread that sleeps in a poll of file descriptors, and only one that sleeps.
 *
 * The sleeper: bell_sleep; looks whether there is work, and polls, which must include `fd`, only if
 * there is none; bell_awake; does the work.
 * Others: hand over work (with at least release order: ring_publish); bell_ring.
 *
 * Both sides exchange the same variable, so one of the exchanges comes first: if it is bell_ring's,
 * then the sleeper sees the work; otherwise bell_ring sees that it sleeps. */
#ifndef PACKLIST_BASE_THREADS_BELL_H
#define PACKLIST_BASE_THREADS_BELL_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct bell {
    _Alignas(128) uint32_t sleeps; /* atomic */
    int fd;                        /* an eventfd, readable after a wake-up */
};

/* Returns false when the system refuses; then bell_free is not to be called. */
static inline bool bell_init(struct bell *bell) {
    *bell = (struct bell){.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    return bell->fd >= 0;
}

static inline void bell_free(struct bell *bell) {
    close(bell->fd);
}

/* --- For the sleeper --- */

static inline void bell_sleep(struct bell *bell) {
    __atomic_exchange_n(&bell->sleeps, 1, __ATOMIC_SEQ_CST);
}

static inline void bell_awake(struct bell *bell) {
    __atomic_exchange_n(&bell->sleeps, 0, __ATOMIC_SEQ_CST);
}

/* Makes `fd` unreadable again. Call it when a poll says that it is readable. */
static inline void bell_clear(struct bell *bell) {
    eventfd_t count;
    eventfd_read(bell->fd, &count);
}

/* --- For others --- */

/* Returns whether it has woken the sleeper. */
static inline bool bell_ring(struct bell *bell) {
    if (__atomic_exchange_n(&bell->sleeps, 0, __ATOMIC_SEQ_CST) == 0) return false;
    while (eventfd_write(bell->fd, 1) != 0 && errno == EINTR) {
    }
    return true;
}

#endif
