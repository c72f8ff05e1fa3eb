#include "net/loop/wake.h"

#include "base/memory/alloc.h"
#include "base/threads/bell.h"
#include "net/loop/loop.h"

/* Not a uv_async_t: the loop would wait, without sleeping, for a thread that has begun to send a
 * wake-up and was interrupted. A thread of lower priority on the same processor then goes on only
 * when the scheduler takes that processor from the loop: milliseconds later, or hundreds. */
struct net_wake {
    uv_poll_t handle;
    struct bell bell; /* rung by the first net_wake since the callback */
    void (*callback)(void *arg);
    void *arg;
};

/* The callback may miss what another thread does after bell_sleep. */
static void on_readable(uv_poll_t *handle, int status, int events) {
    struct net_wake *wake = (struct net_wake *)handle;
    (void)status, (void)events;
    bell_clear(&wake->bell);
    bell_sleep(&wake->bell);
    wake->callback(wake->arg);
}

static void free_wake(uv_handle_t *handle) {
    struct net_wake *wake = (struct net_wake *)handle;
    bell_free(&wake->bell);
    mem_free(wake);
}

void loop_close_wake(uv_handle_t *handle) {
    uv_close(handle, free_wake);
}

struct net_wake *net_wake_new(struct net *net, void (*callback)(void *arg), void *arg) {
    struct net_wake *wake = mem_alloc_aligned(_Alignof(struct net_wake), sizeof(*wake));
    *wake = (struct net_wake){.callback = callback, .arg = arg};
    bool has_bell = bell_init(&wake->bell);
    if (!has_bell || uv_poll_init(&loop_of(net)->uv, &wake->handle, wake->bell.fd) != 0) {
        if (has_bell) bell_free(&wake->bell);
        mem_free(wake);
        return NULL;
    }
    bell_sleep(&wake->bell);
    uv_poll_start(&wake->handle, UV_READABLE, on_readable);
    return wake;
}

void net_wake(struct net_wake *wake) {
    bell_ring(&wake->bell);
}
