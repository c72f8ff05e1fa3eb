/* TCP and Unix sockets, by libuv. The state is libuv's handle; its `data` is the connection. libuv
 * itself keeps the rules of transport.h: it never calls back from inside its functions, and its
 * close callback comes after the callback of a write that closing has ended early. */
#include "net/connections/connections.h"

#include <sys/socket.h>

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
    uv_tcp_init(&net_of(conn)->loop, &socket_of(conn)->tcp);
    int status = accept_from(conn, from);
    if (status == 0) uv_tcp_nodelay(&socket_of(conn)->tcp, 1);
    return status;
}

static int connect_tcp(struct conn *conn, uv_connect_t *request, const struct destination *to,
                       uv_connect_cb done) {
    uv_tcp_t *tcp = &socket_of(conn)->tcp;
    uv_tcp_init(&net_of(conn)->loop, tcp);
    tcp->data = conn;
    int status = 0;
    if (to->from->ss_family != AF_UNSPEC)
        status = uv_tcp_bind(tcp, (const struct sockaddr *)to->from, 0);
    if (status != 0) return status;
    uv_tcp_nodelay(tcp, 1);
    return uv_tcp_connect(request, tcp, to->address, done);
}

static int accept_unix(struct conn *conn, void *from) {
    uv_pipe_init(&net_of(conn)->loop, &socket_of(conn)->pipe, 0);
    return accept_from(conn, from);
}

static int adopt_tcp(struct conn *conn, int fd) {
    uv_tcp_init(&net_of(conn)->loop, &socket_of(conn)->tcp);
    socket_of(conn)->handle.data = conn;
    return uv_tcp_open(&socket_of(conn)->tcp, fd);
}

static int adopt_unix(struct conn *conn, int fd) {
    uv_pipe_init(&net_of(conn)->loop, &socket_of(conn)->pipe, 0);
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

static void shut_down(struct conn *conn) {
    shutdown(fd_of(conn), SHUT_RDWR);
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
    .stop_reading = stop_reading, .read_now = transport_read_socket, .try_write = try_write,       \
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
