#include "net/wake.h"

#include "base/alloc.h"
#include "net/net_internal.h"

struct net_wake {
    uv_async_t handle;
    void (*callback)(void *arg);
    void *arg;
};

static void on_wake(uv_async_t *handle) {
    struct net_wake *wake = (struct net_wake *)handle;
    wake->callback(wake->arg);
}

struct net_wake *net_wake_new(struct net *net, void (*callback)(void *arg), void *arg) {
    struct net_wake *wake = mem_alloc_zeroed(sizeof(*wake));
    wake->callback = callback;
    wake->arg = arg;
    if (uv_async_init(&net->loop, &wake->handle, on_wake) == 0) return wake;
    mem_free(wake);
    return NULL;
}

void net_wake(struct net_wake *wake) {
    uv_async_send(&wake->handle);
}
