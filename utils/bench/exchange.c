/* A load of constant requests and replies in which several connections work together, for what
 * redis-benchmark has no form for: transactions, a job that one client hands to another, a message
 * to many clients.
 *
 *      make benchmarks
 *      build/release/utils/bench/exchange PORT GROUPS ROUNDS RANGE KIND ...
 *      KIND: CONNECTIONS FIRST FIRST_REPLY_BYTES REQUEST REPLY_BYTES
 *
 * Opens GROUPS groups of connections to 127.0.0.1; each group has CONNECTIONS of each kind. Each
 * connection sends the bytes FIRST once and waits for a reply of that many bytes. In each of the
 * ROUNDS, a group sends REQUEST on all its connections in the order of the kinds, and begins the
 * next round when each of them has received REPLY_BYTES. An empty FIRST or REQUEST is not sent.
 *
 * In requests, __rand_int__ is replaced by 12 digits of a random number below RANGE, another one each
 * time, and __group_id__ by 12 digits of the number of the group. So all requests are equally long,
 * and replies must be. An error reply, or 10 seconds without any reply, ends the run with status 1. */
#include "base/hash/random.h"
#include "base/memory/alloc.h"
#include "base/text/number.h"

#include <stdio.h>
#include <stdlib.h>

#if __has_include(<sys/epoll.h>)
#include "loopback.h"

#include <err.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    ARGUMENTS_OF_KIND = 5,
    EVENTS_MAX = 256,
    READ_SIZE = 64 * 1024,
    SILENCE_MS = 10000,
    DIGITS = 12
};

static const char random_mark[] = "__rand_int__", group_mark[] = "__group_id__";

struct kind {
    uint64_t count;
    const char *first, *request; /* of the arguments */
    uint64_t first_reply_len, reply_len;
};

struct group {
    uint64_t number, rounds_left;
    size_t waiting; /* connections whose reply of this round has not arrived whole */
    struct connection *connections;
};

struct connection {
    int fd;
    const struct kind *kind;
    struct group *group;
    char *request;    /* owned */
    uint64_t missing; /* bytes of the reply */
};

struct exchange {
    int epoll;
    uint64_t range, groups_left;
    size_t kind_count, connections_per_group;
    struct kind *kinds;
    uint64_t group_count;
    struct group *groups;
    struct random random;
    char in[READ_SIZE];
};

/* --- Requests --- */

static void write_digits(char *at, uint64_t number) {
    for (int i = DIGITS - 1; i >= 0; i--, number /= 10) at[i] = (char)('0' + number % 10);
}

/* Puts digits in the place of the mark, wherever it stands. */
static void replace(struct exchange *e, char *request, const char *mark, uint64_t range,
                    uint64_t number) {
    for (char *at = request; (at = strstr(at, mark)) != NULL; at += DIGITS) {
        write_digits(at, range > 0 ? random_below(&e->random, range) : number);
    }
}

static void send_whole(int fd, const char *bytes, size_t len) {
    while (len > 0) {
        ssize_t sent = send(fd, bytes, len, MSG_NOSIGNAL);
        if (sent < 0) err(1, "send");
        bytes += sent;
        len -= (size_t)sent;
    }
}

static void send_request(struct exchange *e, struct connection *c) {
    size_t len = strlen(c->kind->request);
    memcpy(c->request, c->kind->request, len + 1);
    replace(e, c->request, group_mark, 0, c->group->number);
    replace(e, c->request, random_mark, e->range, 0);
    send_whole(c->fd, c->request, len);
}

static void begin_round(struct exchange *e, struct group *g) {
    g->waiting = 0;
    for (size_t i = 0; i < e->connections_per_group; i++) {
        g->connections[i].missing = g->connections[i].kind->reply_len;
        if (g->connections[i].missing > 0) g->waiting++;
    }
    for (size_t i = 0; i < e->connections_per_group; i++) {
        if (g->connections[i].kind->request[0] != '\0') send_request(e, &g->connections[i]);
    }
}

/* --- Replies --- */

/* Takes bytes of a reply of which `missing` bytes have not arrived; returns how many are missing then. */
static uint64_t receive(struct exchange *e, int fd, uint64_t missing, bool is_begin) {
    ssize_t len = recv(fd, e->in, sizeof(e->in), 0);
    if (len < 0) err(1, "recv");
    if (len == 0) errx(1, "the server closed a connection");
    if (is_begin && e->in[0] == '-') {
        errx(1, "%.*s", (int)strcspn(e->in, "\r\n"), e->in);
    }
    if ((uint64_t)len > missing) errx(1, "a reply is longer than it was said to be");
    return missing - (uint64_t)len;
}

static void receive_reply(struct exchange *e, struct connection *c) {
    bool is_begin = c->missing == c->kind->reply_len;
    c->missing = receive(e, c->fd, c->missing, is_begin);
    struct group *g = c->group;
    if (c->missing > 0 || --g->waiting > 0) return;
    if (--g->rounds_left > 0) {
        begin_round(e, g);
    } else {
        e->groups_left--;
    }
}

/* --- The run --- */

static void open_connection(struct exchange *e, struct connection *c, uint16_t port) {
    c->fd = connect_loopback(port);
    c->request = mem_alloc(strlen(c->kind->request) + 1);
    send_whole(c->fd, c->kind->first, strlen(c->kind->first));
    for (uint64_t missing = c->kind->first_reply_len; missing > 0;) {
        missing = receive(e, c->fd, missing, missing == c->kind->first_reply_len);
    }
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    if (epoll_ctl(e->epoll, EPOLL_CTL_ADD, c->fd, &event) != 0) err(1, "epoll_ctl");
}

static void open_group(struct exchange *e, struct group *g, uint16_t port) {
    g->connections = mem_alloc_zeroed(e->connections_per_group * sizeof(*g->connections));
    struct connection *c = g->connections;
    for (size_t i = 0; i < e->kind_count; i++) {
        for (uint64_t n = 0; n < e->kinds[i].count; n++, c++) {
            c->kind = &e->kinds[i];
            c->group = g;
            open_connection(e, c, port);
        }
    }
}

static void close_group(struct exchange *e, struct group *g) {
    for (size_t i = 0; i < e->connections_per_group; i++) {
        close(g->connections[i].fd);
        mem_free(g->connections[i].request);
    }
    mem_free(g->connections);
}

static void run(struct exchange *e) {
    e->groups_left = e->group_count;
    for (uint64_t i = 0; i < e->group_count; i++) begin_round(e, &e->groups[i]);
    while (e->groups_left > 0) {
        struct epoll_event events[EVENTS_MAX];
        int count = epoll_wait(e->epoll, events, EVENTS_MAX, SILENCE_MS);
        if (count < 0) err(1, "epoll_wait");
        if (count == 0) errx(1, "no reply, or one that is shorter than it was said to be");
        for (int i = 0; i < count; i++) receive_reply(e, events[i].data.ptr);
    }
}

static int load(uint16_t port, struct exchange *e, uint64_t rounds) {
    e->epoll = epoll_create1(0);
    random_seed(&e->random, 1);
    e->groups = mem_alloc_zeroed(e->group_count * sizeof(*e->groups));
    for (uint64_t i = 0; i < e->group_count; i++) {
        e->groups[i].number = i;
        e->groups[i].rounds_left = rounds;
        open_group(e, &e->groups[i], port);
    }
    run(e);
    for (uint64_t i = 0; i < e->group_count; i++) close_group(e, &e->groups[i]);
    mem_free(e->groups);
    close(e->epoll);
    return 0;
}

static uint64_t number_of(const char *text) {
    uint64_t number;
    if (!number_parse_uint64(slice_of_cstr(text), &number)) errx(1, "a number is expected");
    return number;
}

int main(int argc, char **argv) {
    if (argc < 5 + ARGUMENTS_OF_KIND || (argc - 5) % ARGUMENTS_OF_KIND != 0) {
        fprintf(stderr,
                "usage: exchange PORT GROUPS ROUNDS RANGE (CONNECTIONS FIRST FIRST_REPLY_BYTES "
                "REQUEST REPLY_BYTES) ...\n");
        return 1;
    }
    struct exchange *e = mem_alloc_zeroed(sizeof(*e));
    e->kind_count = (size_t)(argc - 5) / ARGUMENTS_OF_KIND;
    e->kinds = mem_alloc_zeroed(e->kind_count * sizeof(*e->kinds));
    size_t replies = 0;
    for (size_t i = 0; i < e->kind_count; i++) {
        char **of = argv + 5 + i * ARGUMENTS_OF_KIND;
        e->kinds[i] =
            (struct kind){number_of(of[0]), of[1], of[3], number_of(of[2]), number_of(of[4])};
        e->connections_per_group += e->kinds[i].count;
        if (e->kinds[i].reply_len > 0) replies += e->kinds[i].count;
    }
    uint64_t port = number_of(argv[1]), rounds = number_of(argv[3]);
    e->group_count = number_of(argv[2]);
    e->range = number_of(argv[4]);
    if (port > UINT16_MAX || rounds == 0 || replies == 0) errx(1, "nothing to do");
    int status = load((uint16_t)port, e, rounds);
    mem_free(e->kinds);
    mem_free(e);
    return status;
}

#else

int main(void) {
    fprintf(stderr, "exchange: this system has no epoll\n");
    return 1;
}

#endif
