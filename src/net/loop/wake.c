#include "net/loop/wake.h"

#include "base/memory/alloc.h"
#include "net/loop/loop.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Not a uv_async_t: the loop would wait, without sleeping, for a thread that has begun to send a
 * wake-up and was interrupted. A thread of lower priority on the same processor then goes on only
 * when the scheduler takes that processor from the loop: milliseconds later, or hundreds. */
struct net_wake {
    uv_poll_t handle;
    int fd;
    bool is_pending; /* atomic: the loop will call the callback */
    void (*callback)(void *arg);
    void *arg;
};

/* Clears is_pending before the callback, which may miss what another thread does after that. */
static void on_readable(uv_poll_t *handle, int status, int events) {
    struct net_wake *wake = (struct net_wake *)handle;
    (void)status;
    (void)events;
    eventfd_t count;
    if (eventfd_read(wake->fd, &count) != 0) return;
    (void)__atomic_exchange_n(&wake->is_pending, false, __ATOMIC_ACQ_REL);
    wake->callback(wake->arg);
}

static void free_wake(uv_handle_t *handle) {
    struct net_wake *wake = (struct net_wake *)handle;
    close(wake->fd);
    mem_free(wake);
}

void loop_close_wake(uv_handle_t *handle) {
    uv_close(handle, free_wake);
}

struct net_wake *net_wake_new(struct net *net, void (*callback)(void *arg), void *arg) {
    int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (fd < 0) return NULL;
    struct net_wake *wake = mem_alloc_zeroed(sizeof(*wake));
    wake->fd = fd;
    wake->callback = callback;
    wake->arg = arg;
    if (uv_poll_init(&loop_of(net)->uv, &wake->handle, fd) != 0) {
        close(fd);
        mem_free(wake);
        return NULL;
    }
    uv_poll_start(&wake->handle, UV_READABLE, on_readable);
    return wake;
}

void net_wake(struct net_wake *wake) {
    if (__atomic_exchange_n(&wake->is_pending, true, __ATOMIC_ACQ_REL)) return;
    while (eventfd_write(wake->fd, 1) != 0 && errno == EINTR) {
    }
}
