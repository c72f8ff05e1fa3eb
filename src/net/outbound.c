#define _GNU_SOURCE /* for memmem */
#include "net/outbound.h"

#include "base/alloc.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct outbound {
    int fd;
    size_t line; /* bytes of the line that was returned last */
    size_t used; /* bytes in the buffer, with that line first */
    char buffer[OUTBOUND_LINE_MAX];
};

/* Waits until the socket can be read or written. Returns false with errno set. */
static bool wait_for(int fd, short events, int timeout_ms) {
    struct pollfd poll_fd = {.fd = fd, .events = events};
    int ready;
    do {
        ready = poll(&poll_fd, 1, timeout_ms);
    } while (ready < 0 && errno == EINTR);
    if (ready == 0) errno = ETIMEDOUT;
    return ready > 0;
}

/* --- Opening --- */

/* Waits until the socket is connected. Returns 0 or an errno. */
static int finish_connecting(int fd, int timeout_ms) {
    int error = 0;
    socklen_t size = sizeof(error);
    if (!wait_for(fd, POLLOUT, timeout_ms)) return errno;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

/* Returns a connected socket, or -1 with errno set. */
static int connect_to(const struct addrinfo *address, int timeout_ms) {
    const int on = 1;
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    int error = connect(fd, address->ai_addr, address->ai_addrlen) == 0 ? 0 : errno;
    if (error == EINPROGRESS) error = finish_connecting(fd, timeout_ms);
    if (error == 0) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        return fd;
    }
    close(fd);
    errno = error;
    return -1;
}

struct outbound *outbound_open(const char *host, int port, int timeout_ms) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    char service[16];
    snprintf(service, sizeof(service), "%d", port);
    if (getaddrinfo(host, service, &hints, &found) != 0) {
        errno = EHOSTUNREACH;
        return NULL;
    }
    int fd = -1;
    for (const struct addrinfo *at = found; at && fd < 0; at = at->ai_next)
        fd = connect_to(at, timeout_ms);
    int error = errno;
    freeaddrinfo(found);
    errno = error;
    if (fd < 0) return NULL;
    struct outbound *outbound = mem_alloc(sizeof(*outbound));
    outbound->fd = fd;
    outbound->line = outbound->used = 0;
    return outbound;
}

void outbound_close(struct outbound *outbound) {
    if (!outbound) return;
    close(outbound->fd);
    mem_free(outbound);
}

/* --- Reading and writing --- */

static bool is_transient(int error) {
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

bool outbound_write(struct outbound *outbound, const void *bytes, size_t len, int timeout_ms) {
    const char *at = bytes;
    while (len > 0) {
        ssize_t sent = send(outbound->fd, at, len, MSG_NOSIGNAL);
        if (sent > 0) {
            at += sent;
            len -= (size_t)sent;
        } else if (!is_transient(errno) || !wait_for(outbound->fd, POLLOUT, timeout_ms)) {
            return false;
        }
    }
    return true;
}

/* Reads the bytes that have arrived; waits for some if there are none. */
static bool read_more(struct outbound *outbound, int timeout_ms) {
    for (;;) {
        ssize_t got = recv(outbound->fd, outbound->buffer + outbound->used,
                           sizeof(outbound->buffer) - outbound->used, 0);
        if (got > 0) {
            outbound->used += (size_t)got;
            return true;
        }
        if (got == 0) errno = ECONNRESET;
        if (got == 0 || !is_transient(errno)) return false;
        if (!wait_for(outbound->fd, POLLIN, timeout_ms)) return false;
    }
}

/* Finds the line at the beginning of the buffer. */
static bool find_line(struct outbound *outbound, struct slice *line) {
    const char *end = memmem(outbound->buffer, outbound->used, "\r\n", 2);
    if (!end) return false;
    *line = slice_make(outbound->buffer, (size_t)(end - outbound->buffer));
    outbound->line = line->len + 2;
    return true;
}

bool outbound_read_line(struct outbound *outbound, struct slice *line, int timeout_ms) {
    outbound->used -= outbound->line;
    memmove(outbound->buffer, outbound->buffer + outbound->line, outbound->used);
    outbound->line = 0;
    while (!find_line(outbound, line)) {
        if (outbound->used == sizeof(outbound->buffer)) {
            errno = EPROTO;
            return false;
        }
        if (!read_more(outbound, timeout_ms)) return false;
    }
    return true;
}
