#include "net/net.h"

#include "base/alloc.h"
#include "net/connections/connections.h"

#include <signal.h>
#include <string.h>

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

void net_free_handle(uv_handle_t *handle) {
    mem_free(handle);
}

/* --- The loop --- */

/* While this idle handle is active, libuv does not let the loop sleep. It has nothing else to
 * do. */
static void on_idle(uv_idle_t *idle) {
    (void)idle;
}

static void on_prepare(uv_prepare_t *prepare) {
    struct net *net = prepare->loop->data;
    net_note_awake(net);
    net->reader = NULL;
    net->turn++;
    net->accepts = 0;
    if (__builtin_expect(net->full_first != NULL, 0)) listener_go_on(net);
    bool stays_awake = net->before_poll != NULL && net->before_poll(net->before_poll_arg);
    conn_release_all(net);
    stays_awake |= conn_close_sockets(net);
    if (__builtin_expect(net->dropped != NULL, 0)) stays_awake |= conn_free_dropped(net);
    if (net->io_calls) stays_awake |= net->io_calls->before_sleep(net);
    if (stays_awake)
        uv_idle_start(&net->idle, on_idle);
    else
        uv_idle_stop(&net->idle);
    net->loop_totals.iterations++;
    net->loop_totals.active_ticks += clock_ticks() - net->awake_ticks;
    net->awake_ticks = 0;
}

struct net *net_new(const char **error) {
    struct net *net = mem_alloc_zeroed(sizeof(*net));
    int status = uv_loop_init(&net->loop);
    if (status != 0) {
        *error = uv_strerror(status);
        mem_free(net);
        return NULL;
    }
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, NULL);
    net->loop.data = net;
    net->read_buffer = mem_alloc(CONN_TAIL_MAX + CONN_READ_SIZE);
    uv_idle_init(&net->loop, &net->idle);
    uv_prepare_init(&net->loop, &net->prepare);
    uv_prepare_start(&net->prepare, on_prepare);
    return net;
}

static void close_handle(uv_handle_t *handle, void *arg) {
    (void)arg;
    if (uv_is_closing(handle)) return;
    bool is_stream = handle->type == UV_TCP || handle->type == UV_NAMED_PIPE;
    if (handle->type == UV_PREPARE || handle->type == UV_IDLE)
        uv_close(handle, NULL);
    else if (is_stream && handle->data != NULL)
        conn_close(conn_top(handle->data));
    else if (handle->type == UV_POLL)
        net_close_wake(handle);
    else
        uv_close(handle, net_free_handle);
}

/* A callback of the loop may open a connection, or close one whose socket then is still to be
 * closed: a dial whose name has been looked up does both. */
void net_free(struct net *net) {
    if (net->io_calls) net->io_calls->free(net);
    while (uv_loop_close(&net->loop) == UV_EBUSY) {
        uv_walk(&net->loop, close_handle, NULL);
        conn_close_all_sockets(net);
        uv_run(&net->loop, UV_RUN_ONCE);
    }
    while (conn_free_dropped(net)) {
    }
    conn_free_spares(net);
    if (net->free_tls) net->free_tls(net);
    mem_free(net->read_buffer);
    mem_free(net);
}

void net_run(struct net *net) {
    uv_run(&net->loop, UV_RUN_DEFAULT);
    conn_release_all(net);
}

void net_poll(struct net *net) {
    uv_run(&net->loop, UV_RUN_NOWAIT);
    conn_release_all(net);
}

void net_wait(struct net *net) {
    uv_run(&net->loop, UV_RUN_ONCE);
    conn_release_all(net);
}

void net_stop(struct net *net) {
    uv_stop(&net->loop);
}

void net_on_before_poll(struct net *net, bool (*callback)(void *arg), void *arg) {
    net->before_poll = callback;
    net->before_poll_arg = arg;
}

struct net_totals net_totals(const struct net *net) {
    return net->loop_totals;
}

void net_reset_totals(struct net *net) {
    net->loop_totals = (struct net_totals){0};
    memset(net->totals, 0, sizeof(net->totals));
    if (net->io_calls) net->io_calls->reset_totals(net);
}

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
    if (uv_signal_init(&net->loop, &watch->handle) != 0) {
        mem_free(watch);
        return false;
    }
    if (uv_signal_start(&watch->handle, on_signal, signum) == 0) return true;
    uv_close((uv_handle_t *)&watch->handle, net_free_handle);
    return false;
}

/* --- Timers --- */

static void on_timer(uv_timer_t *handle) {
    struct net_timer *timer = (struct net_timer *)handle;
    net_note_awake(handle->loop->data);
    timer->callback(timer->arg);
}

struct net_timer *net_timer_new(struct net *net, void (*callback)(void *arg), void *arg) {
    struct net_timer *timer = mem_alloc(sizeof(*timer));
    uv_timer_init(&net->loop, &timer->handle);
    timer->callback = callback;
    timer->arg = arg;
    return timer;
}

void net_timer_free(struct net_timer *timer) {
    uv_close((uv_handle_t *)&timer->handle, net_free_handle);
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
