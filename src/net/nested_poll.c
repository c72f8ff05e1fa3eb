#include "net/nested_poll.h"

#include "base/chain.h"
#include "base/clock.h"
#include "base/log/log.h"
#include "base/memory/alloc.h"
#include "net/connections/nested.h"
#include "net/net.h"
#include "net/threads/io_threads.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    BATCH = 16,     /* connections served between two looks at the clock */
    ACCEPT_MAX = 64 /* clients accepted at each listener in one step */
};

/* --- What is polled --- */

void nested_poll_add(struct net *net, struct conn *conn) {
    assert(net->presenting != conn);
    if (conn_is_holding(conn)) conn_release(conn);
    if (conn_is_closing(conn) || conn->flags & (CONN_ENDED | CONN_FAILED)) return;
    if (conn->output != NULL && !conn_is_holding(conn)) return;
    if (conn->transport->is_threaded) conn->flags |= CONN_NESTED;
    nested_change(conn, EPOLL_CTL_ADD, conn->output != NULL ? EPOLLOUT : EPOLLIN);
}

/* --- Connections that libuv does not know --- */

static void free_closed(struct nested *nested) {
    while (nested->closed_first != NULL) {
        struct direct *direct = nested->closed_first;
        CHAIN_REMOVE(nested->closed_first, nested->closed_last, direct, prev, next);
        conn_closed(direct->conn);
    }
}

/* Gives the socket to libuv. */
static void adopt(struct direct *direct) {
    struct conn *conn = direct->conn;
    int fd = direct->fd;
    conn->transport = conn->transport->counterpart;
    memset(direct, 0, conn->transport->state_size);
    int status = conn->transport->adopt(conn, fd);
    conn = conn_top(conn);
    if (status != 0) {
        log_warning("Accepting client connection: %s", uv_strerror(status));
        close(fd);
        conn_close(conn);
    } else if (!conn_is_closing(conn) && !(conn->flags & CONN_ENDED)) {
        conn->transport->start_reading(conn);
    }
}

/* --- Begin and end --- */

static void note_listener(uv_handle_t *handle, void *arg) {
    struct nested *nested = arg;
    bool is_stream = handle->type == UV_TCP || handle->type == UV_NAMED_PIPE;
    if (!is_stream || handle->data != NULL || uv_is_closing(handle)) return;
    if (nested->listener_count < NESTED_LISTENERS_MAX)
        nested->listeners[nested->listener_count++] = handle;
}

bool nested_poll_is_on(const struct net *net) {
    return net->nested != NULL;
}

bool nested_poll_begin(struct net *net, bool holds_output) {
    assert(net->nested == NULL);
    int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_fd < 0) return false;
    struct nested *nested = mem_alloc_zeroed(sizeof(*nested));
    nested->epoll_fd = epoll_fd;
    nested->holds_output = holds_output;
    nested->read_buffer = mem_alloc(CONN_TAIL_MAX + CONN_READ_SIZE);
    uv_walk(&net->loop.uv, note_listener, nested);
    net->nested = nested;
    return true;
}

void nested_poll_end(struct net *net) {
    struct nested *nested = net->nested;
    if (net->io) io_threads_end_nested(net);
    free_closed(nested);
    net->nested = NULL; /* what is closed or held from now on does not concern us */
    while (nested->open_first != NULL) {
        struct direct *direct = nested->open_first;
        CHAIN_REMOVE(nested->open_first, nested->open_last, direct, prev, next);
        adopt(direct);
    }
    close(nested->epoll_fd);
    mem_free(nested->read_buffer);
    mem_free(nested);
}

/* --- A step --- */

static void accept_clients(struct nested *nested) {
    for (size_t i = 0; i < nested->listener_count; i++) {
        int error = listener_accept_now(nested->listeners[i], ACCEPT_MAX);
        if (error && !nested->is_refused)
            log_warning("Accepting client connection: %s", strerror(error));
        nested->is_refused |= error != 0;
    }
}

static void serve(struct conn *conn) {
    if (conn->flags & CONN_CLOSING) return; /* it was closed since the events were read */
    if (conn->output != NULL)
        conn_release(conn);
    else
        conn->transport->read_now(conn);
    if (conn->output == NULL && !conn_is_closing(conn) && !(conn->flags & CONN_ENDED))
        nested_change(conn, EPOLL_CTL_MOD, EPOLLIN);
}

/* Serves connections that are ready. Returns whether there may be more. */
static bool serve_batch(struct net *net) {
    struct epoll_event events[BATCH];
    int count = epoll_wait(net->nested->epoll_fd, events, BATCH, 0);
    net->reader = NULL;
    net->turn++;
    net->closes = 0;
    for (int i = 0; i < count; i++) serve(events[i].data.ptr);
    return count == BATCH;
}

void nested_poll_step(struct net *net) {
    struct nested *nested = net->nested;
    assert(net->collecting.text == NULL);
    char *outer_buffer = net->read_buffer;
    net->read_buffer = nested->read_buffer;
    nested->is_serving = true;
    uint64_t end = clock_ticks() + clock_us_to_ticks(NESTED_POLL_MS * 1000);
    if (net->upward->nested_step) net->upward->nested_step(net->owner);
    accept_clients(nested);
    while (serve_batch(net) && clock_ticks() < end) continue;
    if (net->io) {
        io_threads_take(net);
        conn_release_nested(net);
        io_threads_hand_over(net);
    }
    conn_close_sockets(net);
    free_closed(nested);
    nested->is_serving = false;
    net->reader = NULL;
    net->read_buffer = outer_buffer;
}
