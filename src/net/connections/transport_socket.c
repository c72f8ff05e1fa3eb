/* TCP and Unix sockets, by libuv. The state is libuv's handle; its `data` is the connection. libuv
 * itself keeps the rules of transport.h: it never calls back from inside its functions, and its
 * close callback comes after the callback of a write that closing has ended early.
 *
 * And sockets of clients that were accepted while the loop does not run (nested_poll.h): at the end
 * of this file. libuv frees a connection that it knows only in its loop, so during a long script,
 * clients that come and go would take more and more memory. So libuv gets a socket only when its
 * loop runs again. Until then the direct functions use it, and nested polling says when. */
#include "base/chain.h"
#include "net/connections/nested.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static_assert(sizeof(struct direct) <= sizeof(uv_tcp_t) &&
                  sizeof(struct direct) <= sizeof(uv_pipe_t),
              "the state of libuv takes its place");

static union net_socket *socket_of(const struct conn *conn) {
    return transport_state(conn);
}

/* --- Accepting, connecting and closing --- */

static int accept_from(struct conn *conn, void *from) {
    union net_socket *socket = socket_of(conn);
    socket->handle.data = conn;
    return uv_accept(from, &socket->stream);
}

static int accept_tcp(struct conn *conn, void *from) {
    uv_tcp_init(&net_of(conn)->loop.uv, &socket_of(conn)->tcp);
    int status = accept_from(conn, from);
    if (status == 0) uv_tcp_nodelay(&socket_of(conn)->tcp, 1);
    return status;
}

static int connect_tcp(struct conn *conn, uv_connect_t *request, const struct destination *to,
                       uv_connect_cb done) {
    uv_tcp_t *tcp = &socket_of(conn)->tcp;
    uv_tcp_init(&net_of(conn)->loop.uv, tcp);
    tcp->data = conn;
    int status = 0;
    if (to->from->ss_family != AF_UNSPEC)
        status = uv_tcp_bind(tcp, (const struct sockaddr *)to->from, 0);
    if (status != 0) return status;
    uv_tcp_nodelay(tcp, 1);
    return uv_tcp_connect(request, tcp, to->address, done);
}

static int accept_unix(struct conn *conn, void *from) {
    uv_pipe_init(&net_of(conn)->loop.uv, &socket_of(conn)->pipe, 0);
    return accept_from(conn, from);
}

static int adopt_tcp(struct conn *conn, int fd) {
    uv_tcp_init(&net_of(conn)->loop.uv, &socket_of(conn)->tcp);
    socket_of(conn)->handle.data = conn;
    return uv_tcp_open(&socket_of(conn)->tcp, fd);
}

static int adopt_unix(struct conn *conn, int fd) {
    uv_pipe_init(&net_of(conn)->loop.uv, &socket_of(conn)->pipe, 0);
    socket_of(conn)->handle.data = conn;
    return uv_pipe_open(&socket_of(conn)->pipe, fd);
}

static void on_closed(uv_handle_t *handle) {
    conn_closed(handle->data);
}

static void close_socket(struct conn *conn) {
    uv_close(&socket_of(conn)->handle, on_closed);
}

static int fd_of(const struct conn *conn) {
    uv_os_fd_t fd;
    return uv_fileno(&socket_of(conn)->handle, &fd) == 0 ? fd : -1;
}

/* shut_down of all sockets. */
static void shut_down(struct conn *conn) {
    shutdown(conn->transport->fd(conn), SHUT_RDWR);
}

/* --- Reading --- */

/* libuv reads a stream again as long as it fills the buffer. Without a buffer it goes on to other
 * streams. */
static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
    (void)suggested;
    *buffer = conn_room(handle->data);
}

static void on_read(uv_stream_t *stream, ssize_t read, const uv_buf_t *buffer) {
    (void)buffer;
    if (read == 0 || read == UV_ENOBUFS) return;
    if (read < 0)
        conn_input_ended(stream->data, (int)read);
    else
        conn_received(stream->data, (size_t)read);
}

static void start_reading(struct conn *conn) {
    uv_read_start(&socket_of(conn)->stream, on_alloc, on_read);
}

static void stop_reading(struct conn *conn) {
    uv_read_stop(&socket_of(conn)->stream);
}

/* read_now of all sockets. */
static void read_socket(struct conn *conn) {
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

/* --- Writing --- */

static ssize_t try_write(struct conn *conn, const uv_buf_t *buffers, unsigned count) {
    int sent = uv_try_write(&socket_of(conn)->stream, buffers, count);
    return sent == UV_EAGAIN ? 0 : sent;
}

static void on_written(uv_write_t *request, int status) {
    conn_written(request->handle->data, status);
}

static int begin_write(struct conn *conn, void *write, const uv_buf_t *buffers, unsigned count) {
    return uv_write(write, &socket_of(conn)->stream, buffers, count, on_written);
}

static size_t unsent(const struct conn *conn) {
    return uv_stream_get_write_queue_size(&socket_of(conn)->stream);
}

#define SOCKET_FUNCTIONS                                                                           \
    .write_size = sizeof(uv_write_t), .start_reading = start_reading,                              \
    .stop_reading = stop_reading, .read_now = read_socket, .try_write = try_write,                 \
    .write = begin_write, .unsent = unsent, .shut_down = shut_down, .close = close_socket,         \
    .fd = fd_of

const struct transport transport_tcp = {.counterpart = &transport_direct_tcp,
                                        .adopt = adopt_tcp,
                                        .state_size = sizeof(uv_tcp_t),
                                        .accept = accept_tcp,
                                        .connect = connect_tcp,
                                        SOCKET_FUNCTIONS};

const struct transport transport_unix = {.counterpart = &transport_direct_unix,
                                         .adopt = adopt_unix,
                                         .state_size = sizeof(uv_pipe_t),
                                         .is_unix = true,
                                         .accept = accept_unix,
                                         SOCKET_FUNCTIONS};

/* --- Sockets that libuv does not know yet --- */

static struct direct *direct_of(const struct conn *conn) {
    return transport_state(conn);
}

static int direct_accept_unix(struct conn *conn, void *from) {
    struct direct *direct = direct_of(conn);
    const int *fd = from;
    direct->conn = conn;
    direct->fd = *fd;
    struct nested *nested = net_of(conn)->nested;
    CHAIN_APPEND(nested->open_first, nested->open_last, direct, prev, next);
    return 0;
}

static int direct_accept_tcp(struct conn *conn, void *from) {
    const int *fd = from, on = 1;
    setsockopt(*fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return direct_accept_unix(conn, from);
}

static void direct_start_reading(struct conn *conn) {
    nested_change(conn_top(conn), EPOLL_CTL_ADD, EPOLLIN);
}

/* What is not read any more, nested polling forgets. */
static void direct_stop_reading(struct conn *conn) {
    (void)conn;
}

static ssize_t direct_try_write(struct conn *conn, const uv_buf_t *buffers, unsigned count) {
    ssize_t sent;
    do {
        /* uv_buf_t has the layout of struct iovec. */
        sent = writev(direct_of(conn)->fd, (const struct iovec *)buffers, (int)count);
    } while (sent < 0 && errno == EINTR);
    if (sent >= 0) return sent;
    return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -errno;
}

static int direct_begin_write(struct conn *conn, void *write, const uv_buf_t *buffers,
                              unsigned count) {
    (void)conn, (void)write, (void)buffers, (void)count;
    abort(); /* conn_output.c holds output while connections are polled by us */
}

static size_t direct_unsent(const struct conn *conn) {
    (void)conn;
    return 0;
}

static void direct_close_socket(struct conn *conn) {
    struct direct *direct = direct_of(conn);
    close(direct->fd);
    direct->fd = -1;
    struct nested *nested = net_of(conn)->nested;
    CHAIN_REMOVE(nested->open_first, nested->open_last, direct, prev, next);
    CHAIN_APPEND(nested->closed_first, nested->closed_last, direct, prev, next);
}

static int direct_fd_of(const struct conn *conn) {
    return direct_of(conn)->fd;
}

#define DIRECT_FUNCTIONS                                                                           \
    .write_size = sizeof(uv_write_t), .start_reading = direct_start_reading,                       \
    .stop_reading = direct_stop_reading, .read_now = read_socket, .try_write = direct_try_write,   \
    .write = direct_begin_write, .unsent = direct_unsent, .shut_down = shut_down,                  \
    .close = direct_close_socket, .fd = direct_fd_of

const struct transport transport_direct_tcp = {.counterpart = &transport_tcp,
                                               .state_size = sizeof(uv_tcp_t),
                                               .accept = direct_accept_tcp,
                                               DIRECT_FUNCTIONS};

const struct transport transport_direct_unix = {.counterpart = &transport_unix,
                                                .state_size = sizeof(uv_pipe_t),
                                                .is_unix = true,
                                                .accept = direct_accept_unix,
                                                DIRECT_FUNCTIONS};
