/* The floor below every single-threaded server: what the kernel alone costs. An epoll server that parses
 * nothing: for every REQUEST_BYTES that arrive it sends the bytes of standard input once; with `all`
 * to all connections, as a server does with a message to subscribers.
 *
 *      make benchmarks
 *      printf '+PONG\r\n' | build/release/utils/bench/floor PORT REQUEST_BYTES [all]
 *
 * Serves on 127.0.0.1 until it is killed. A connection that starts with CONFIG is closed: redis-benchmark
 * asks for the configuration before it loads, with requests of another length, and does without. */
#define _GNU_SOURCE /* accept4 */
#include "base/memory/alloc.h"
#include "base/text/number.h"

#include <stdio.h>

#if __has_include(<sys/epoll.h>)
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECTIONS_MAX = 4096, EVENTS_MAX = 256, READ_SIZE = 64 * 1024, REPLIES_SIZE = 512 * 1024 };

/* One per descriptor. */
struct connection {
    bool open;
    bool begun;     /* something has arrived */
    size_t partial; /* bytes of a request that has not arrived whole */
    size_t owed;    /* bytes of replies that the socket did not take yet */
    size_t at;      /* where in a reply the next byte to send lies */
};

struct floor {
    int epoll, listener;
    bool to_all;    /* a reply goes to all connections */
    int open_below; /* no descriptor from here on is an open connection */
    size_t request_len, reply_len;
    size_t replies_len; /* a multiple of reply_len */
    char *replies;      /* the reply, again and again: a write sends many without copying any */
    char in[READ_SIZE];
    struct connection connections[CONNECTIONS_MAX];
};

static bool watch(struct floor *f, int operation, int fd, uint32_t events) {
    struct epoll_event event = {.events = events, .data.fd = fd};
    return epoll_ctl(f->epoll, operation, fd, &event) == 0;
}

/* Sends what is owed. What the socket does not take goes when it can be written to; nothing is read
 * before that. False when the connection is broken. */
static bool send_replies(struct floor *f, int fd) {
    struct connection *c = &f->connections[fd];
    while (c->owed > 0) {
        size_t len = f->replies_len - c->at;
        ssize_t sent = send(fd, f->replies + c->at, len < c->owed ? len : c->owed, MSG_NOSIGNAL);
        if (sent < 0) return errno == EAGAIN && watch(f, EPOLL_CTL_MOD, fd, EPOLLOUT);
        c->owed -= (size_t)sent;
        c->at = (c->at + (size_t)sent) % f->reply_len;
    }
    return true;
}

static void close_connection(struct floor *f, int fd) {
    f->connections[fd].open = false;
    close(fd);
}

/* So many bytes of replies, to all connections but `fd`. */
static void send_to_others(struct floor *f, int fd, size_t len) {
    for (int other = 0; other < f->open_below; other++) {
        if (other == fd || !f->connections[other].open) continue;
        f->connections[other].owed += len;
        if (!send_replies(f, other)) close_connection(f, other);
    }
}

/* False when there is none. */
static bool accept_connection(struct floor *f) {
    int fd = accept4(f->listener, NULL, NULL, SOCK_NONBLOCK), on = 1;
    if (fd < 0) return false;
    if (fd >= CONNECTIONS_MAX || !watch(f, EPOLL_CTL_ADD, fd, EPOLLIN)) {
        close(fd);
        return true;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    f->connections[fd] = (struct connection){.open = true};
    if (fd >= f->open_below) f->open_below = fd + 1;
    return true;
}

static bool receive(struct floor *f, int fd) {
    static const char handshake[] = "*3\r\n$6\r\nCONFIG";
    struct connection *c = &f->connections[fd];
    ssize_t len = read(fd, f->in, sizeof(f->in));
    if (len <= 0) return len < 0 && errno == EAGAIN;
    if (!c->begun && (size_t)len >= sizeof(handshake) &&
        memcmp(f->in, handshake, sizeof(handshake) - 1) == 0) {
        return false;
    }
    if (f->to_all && !c->begun) {
        while (accept_connection(f)) { /* others that have connected before this request was sent */
        }
    }
    c->begun = true;
    c->partial += (size_t)len;
    size_t replies_len = c->partial / f->request_len * f->reply_len;
    c->partial %= f->request_len;
    c->owed += replies_len;
    if (f->to_all) send_to_others(f, fd, replies_len);
    return send_replies(f, fd);
}

static void handle(struct floor *f, const struct epoll_event *event) {
    int fd = event->data.fd;
    if (fd == f->listener) {
        accept_connection(f);
        return;
    }
    if (!f->connections[fd].open) return; /* closed since the event */
    bool well;
    if (event->events & EPOLLOUT) {
        well = send_replies(f, fd);
        if (well && f->connections[fd].owed == 0) watch(f, EPOLL_CTL_MOD, fd, EPOLLIN);
    } else {
        well = receive(f, fd);
    }
    if (!well) close_connection(f, fd);
}

static bool listen_on(struct floor *f, uint16_t port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int on = 1;
    f->epoll = epoll_create1(0);
    f->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    return f->epoll >= 0 && f->listener >= 0 &&
           setsockopt(f->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
           bind(f->listener, (struct sockaddr *)&address, sizeof(address)) == 0 &&
           listen(f->listener, 511) == 0 && watch(f, EPOLL_CTL_ADD, f->listener, EPOLLIN);
}

/* Reads the reply and repeats it to the end of the buffer. */
static bool read_reply(struct floor *f) {
    f->replies = mem_alloc(REPLIES_SIZE);
    f->reply_len = fread(f->replies, 1, REPLIES_SIZE, stdin);
    if (f->reply_len == 0 || f->reply_len == REPLIES_SIZE) return false;
    f->replies_len = REPLIES_SIZE / f->reply_len * f->reply_len;
    for (size_t at = f->reply_len; at < f->replies_len; at += f->reply_len) {
        memcpy(f->replies + at, f->replies, f->reply_len);
    }
    return true;
}

static int serve(uint16_t port, size_t request_len, bool to_all) {
    struct floor *f = mem_alloc_zeroed(sizeof(*f));
    f->request_len = request_len;
    f->to_all = to_all;
    if (!read_reply(f)) {
        fprintf(stderr, "floor: standard input must hold a reply of less than %d bytes\n",
                REPLIES_SIZE);
        return 1;
    }
    if (!listen_on(f, port)) {
        perror("floor");
        return 1;
    }
    for (;;) {
        struct epoll_event events[EVENTS_MAX];
        int count = epoll_wait(f->epoll, events, EVENTS_MAX, -1);
        for (int i = 0; i < count; i++) handle(f, &events[i]);
    }
}

#else

static int serve(uint16_t port, size_t request_len, bool to_all) {
    (void)port;
    (void)request_len;
    (void)to_all;
    fprintf(stderr, "floor: this system has no epoll\n");
    return 1;
}

#endif

int main(int argc, char **argv) {
    int64_t port, request_len;
    bool to_all = argc == 4 && slice_equal(slice_of_cstr(argv[3]), slice_of_cstr("all"));
    if ((argc != 3 && !to_all) || !number_parse_int64(slice_of_cstr(argv[1]), &port) || port < 1 ||
        port > UINT16_MAX || !number_parse_int64(slice_of_cstr(argv[2]), &request_len) ||
        request_len < 1) {
        fprintf(stderr, "usage: floor PORT REQUEST_BYTES [all] < REPLY\n");
        return 1;
    }
    return serve((uint16_t)port, (size_t)request_len, to_all);
}
