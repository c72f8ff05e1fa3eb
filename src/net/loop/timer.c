#include "net/loop/timer.h"

#include "base/memory/alloc.h"
#include "net/loop/loop.h"

struct net_timer {
    uv_timer_t handle;
    void (*callback)(void *arg);
    void *arg;
};

struct net_signal {
    uv_signal_t handle;
    void (*callback)(int signum, void *arg);
    void *arg;
};

/* --- Signals --- */

static void on_signal(uv_signal_t *handle, int signum) {
    struct net_signal *watch = (struct net_signal *)handle;
    watch->callback(signum, watch->arg);
}

bool net_on_signal(struct net *net, int signum, void (*callback)(int signum, void *arg),
                   void *arg) {
    struct net_signal *watch = mem_alloc(sizeof(*watch));
    watch->callback = callback;
    watch->arg = arg;
    if (uv_signal_init(&loop_of(net)->uv, &watch->handle) != 0) {
        mem_free(watch);
        return false;
    }
    if (uv_signal_start(&watch->handle, on_signal, signum) == 0) return true;
    uv_close((uv_handle_t *)&watch->handle, loop_free_handle);
    return false;
}

/* --- Timers --- */

static void on_timer(uv_timer_t *handle) {
    struct net_timer *timer = (struct net_timer *)handle;
    loop_note_awake(handle->loop->data);
    timer->callback(timer->arg);
}

struct net_timer *loop_timer_new(struct loop *loop, void (*callback)(void *arg), void *arg) {
    struct net_timer *timer = mem_alloc(sizeof(*timer));
    uv_timer_init(&loop->uv, &timer->handle);
    timer->callback = callback;
    timer->arg = arg;
    return timer;
}

struct net_timer *net_timer_new(struct net *net, void (*callback)(void *arg), void *arg) {
    return loop_timer_new(loop_of(net), callback, arg);
}

void net_timer_free(struct net_timer *timer) {
    uv_close((uv_handle_t *)&timer->handle, loop_free_handle);
}

void net_timer_start(struct net_timer *timer, uint64_t delay_ms, uint64_t repeat_ms) {
    /* libuv reads its clock once per iteration; without an update the timer would fire too
     * early. */
    uv_update_time(timer->handle.loop);
    uv_timer_start(&timer->handle, on_timer, delay_ms, repeat_ms);
}

void net_timer_stop(struct net_timer *timer) {
    uv_timer_stop(&timer->handle);
}
