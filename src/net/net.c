/* The order of an iteration: what each family has to do before the loop sleeps, and when all
 * ends. */
#include "net/net.h"

#include "base/memory/alloc.h"
#include "net/connections/conn_state.h"
#include "net/threads/io_threads.h"
#include "net/tls/tls.h"

#include <signal.h>
#include <string.h>

/* Sends what was written in this iteration: connections give it to their sockets, or to I/O
 * threads, which get it then. */
static void release_all(struct net *net) {
    conn_release_all(net);
    if (net->io) io_threads_hand_over(net);
}

static void on_prepare(uv_prepare_t *prepare) {
    struct net *net = prepare->loop->data;
    net_note_awake(net);
    net->reader = NULL;
    net->turn++;
    net->accepts = 0;
    if (__builtin_expect(net->full_first != NULL, 0)) listener_go_on(net);
    bool stays_awake = net->upward->before_poll && net->upward->before_poll(net->owner);
    if (__builtin_expect(net->making != NULL, 0)) stays_awake |= conn_release_making(net);
    release_all(net);
    stays_awake |= conn_close_sockets(net);
    if (__builtin_expect(net->dropped != NULL, 0)) stays_awake |= conn_free_dropped(net);
    if (net->io) stays_awake |= io_threads_before_sleep(net);
    loop_stay_awake(&net->loop, stays_awake);
    net->iterations++;
    net->active_ticks += clock_ticks() - net->loop.awake_ticks;
    net->loop.awake_ticks = 0;
}

struct net *net_new(const char **error) {
    static const struct net_upward NOTHING;
    struct net *net = mem_alloc_zeroed(sizeof(*net));
    int status = loop_begin(&net->loop, on_prepare);
    if (status != 0) {
        *error = uv_strerror(status);
        mem_free(net);
        return NULL;
    }
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, NULL);
    net->upward = &NOTHING;
    net->read_buffer = mem_alloc(CONN_TAIL_MAX + CONN_READ_SIZE);
    conn_begin_spares(net);
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
        loop_close_wake(handle);
    else
        uv_close(handle, loop_free_handle);
}

/* A callback of the loop may open a connection, or close one whose socket then is still to be
 * closed: a dial whose name has been looked up does both. */
void net_free(struct net *net) {
    if (net->io) io_threads_free(net);
    while (uv_loop_close(&net->loop.uv) == UV_EBUSY) {
        uv_walk(&net->loop.uv, close_handle, NULL);
        conn_close_all_sockets(net);
        uv_run(&net->loop.uv, UV_RUN_ONCE);
    }
    while (conn_free_dropped(net)) {
    }
    conn_free_spares(net);
    if (net->tls) tls_free(net);
    mem_free(net->read_buffer);
    mem_free(net);
}

void net_run(struct net *net) {
    uv_run(&net->loop.uv, UV_RUN_DEFAULT);
    release_all(net);
}

void net_poll(struct net *net) {
    uv_run(&net->loop.uv, UV_RUN_NOWAIT);
    release_all(net);
}

void net_wait(struct net *net) {
    uv_run(&net->loop.uv, UV_RUN_ONCE);
    release_all(net);
}

void net_stop(struct net *net) {
    uv_stop(&net->loop.uv);
}

void net_set_upward(struct net *net, const struct net_upward *upward, void *owner) {
    net->upward = upward;
    net->owner = owner;
}

struct net_totals net_totals(const struct net *net) {
    return (struct net_totals){net->iterations, net->active_ticks, net->thread_reads,
                               net->thread_writes};
}

void net_reset_totals(struct net *net) {
    net->iterations = net->active_ticks = net->thread_reads = net->thread_writes = 0;
    memset(net->totals, 0, sizeof(net->totals));
    if (net->io) io_threads_reset_totals(net);
}

bool net_release_late(struct net *net, uint64_t now, uint64_t ticks) {
    if (net->nested != NULL || now - net->loop.released_ticks < ticks) return false;
    release_all(net);
    net->loop.released_ticks = now;
    return true;
}
