/* Sockets of clients that were accepted while the loop does not run (nested_poll.h). libuv frees a
 * connection that it knows only in its loop, so during a long script, clients that come and go
 * would take more and more memory. So libuv gets a socket only when its loop runs again. Until then
 * these functions use it, and nested polling says when. */
#include "net/connections/connections.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static_assert(sizeof(struct direct) <= sizeof(uv_tcp_t) &&
                  sizeof(struct direct) <= sizeof(uv_pipe_t),
              "the state of libuv takes its place");

static struct direct *direct_of(const struct conn *conn) {
    return transport_state(conn);
}

static int accept_unix(struct conn *conn, void *from) {
    struct direct *direct = direct_of(conn);
    const int *fd = from;
    direct->conn = conn;
    direct->fd = *fd;
    nested_keep_open(net_of(conn), direct);
    return 0;
}

static int accept_tcp(struct conn *conn, void *from) {
    const int *fd = from, on = 1;
    setsockopt(*fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return accept_unix(conn, from);
}

/* What is not read any more, nested polling forgets. */
static void stop_reading(struct conn *conn) {
    (void)conn;
}

void transport_read_socket(struct conn *conn) {
    uv_buf_t room = conn_room(conn);
    if (room.base == NULL) return;
    ssize_t got = recv(conn->transport->fd(conn), room.base, room.len, MSG_DONTWAIT);
    if (got > 0)
        conn_received(conn, (size_t)got);
    else if (got == 0)
        conn_input_ended(conn, UV_EOF);
    else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
        conn_input_ended(conn, -errno);
}

static ssize_t try_write(struct conn *conn, const uv_buf_t *buffers, unsigned count) {
    ssize_t sent;
    do {
        /* uv_buf_t has the layout of struct iovec. */
        sent = writev(direct_of(conn)->fd, (const struct iovec *)buffers, (int)count);
    } while (sent < 0 && errno == EINTR);
    if (sent >= 0) return sent;
    return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -errno;
}

static int begin_write(struct conn *conn, void *write, const uv_buf_t *buffers, unsigned count) {
    (void)conn, (void)write, (void)buffers, (void)count;
    abort(); /* conn_output.c holds output while connections are polled by us */
}

static size_t unsent(const struct conn *conn) {
    (void)conn;
    return 0;
}

static void shut_down(struct conn *conn) {
    shutdown(direct_of(conn)->fd, SHUT_RDWR);
}

static void close_socket(struct conn *conn) {
    struct direct *direct = direct_of(conn);
    close(direct->fd);
    direct->fd = -1;
    nested_keep_closed(net_of(conn), direct);
}

static int fd_of(const struct conn *conn) {
    return direct_of(conn)->fd;
}

#define DIRECT_FUNCTIONS                                                                           \
    .write_size = sizeof(uv_write_t), .start_reading = nested_start_reading,                       \
    .stop_reading = stop_reading, .read_now = transport_read_socket, .try_write = try_write,       \
    .write = begin_write, .unsent = unsent, .shut_down = shut_down, .close = close_socket,         \
    .fd = fd_of

const struct transport transport_direct_tcp = {.counterpart = &transport_tcp,
                                               .state_size = sizeof(uv_tcp_t),
                                               .accept = accept_tcp,
                                               DIRECT_FUNCTIONS};

const struct transport transport_direct_unix = {.counterpart = &transport_unix,
                                                .state_size = sizeof(uv_pipe_t),
                                                .is_unix = true,
                                                .accept = accept_unix,
                                                DIRECT_FUNCTIONS};
