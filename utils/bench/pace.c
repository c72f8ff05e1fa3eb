/* A load that measures pauses in full: requests come due at a steady pace, whatever the server does,
 * and the latency of each begins when it is due. A client that waits for a reply before it
 * sends the next request would meet a pause only once, however long it is.
 *
 *      make benchmarks
 *      build/release/utils/bench/pace PORT CONNECTIONS RATE WORD ... [/ WORD ...] < LINES
 *
 * Sends requests of these words to 127.0.0.1, on each connection one after the other's reply; "/"
 * parts requests that take turns. {N} in a word is a random number below N, the same ones in every
 * run. RATE requests come due every second, evenly, and wait for a connection where none is free.
 * With RATE 0 each connection sends its next one as soon as it has a reply.
 *
 * A line that arrives on standard input, a pipe, begins another phase; its end ends the run, once
 * all is answered that was due by then. Prints a line of JSON for each phase: its length in
 * seconds, how many requests came due in it, and percentiles of their latency in microseconds. An
 * error reply ends the run with status 1. */
#include "base/clock.h"
#include "base/hash/random.h"
#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "resp/reply.h"

#include <stdio.h>
#include <stdlib.h>

#if __has_include(<sys/timerfd.h>)
#include "loopback.h"

#include <err.h>
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { CONNECTIONS_MAX = 1024, EVENTS_MAX = 256, PHASES_MAX = 16, REPLY_MAX = 4096 };

/* Text with a random number in its middle where `range` is not 0. The text is of the arguments. */
struct word {
    struct slice before, after;
    uint64_t range;
};

struct request {
    struct word *words;
    size_t count, capacity;
};

struct connection {
    int fd;
    int64_t due_us; /* of the request that is on the way */
    size_t len;     /* bytes of its reply so far */
    char reply[REPLY_MAX];
};

struct phase {
    int64_t start_us;
    uint32_t *latencies_us; /* of the requests that came due in it, in the order of the replies */
    size_t count, capacity;
};

struct pace {
    int epoll, timer;
    uint64_t rate; /* per second; 0 for as many as get answered */
    int64_t start_us, end_us;
    uint64_t sent;
    struct request *requests;
    size_t request_count, request_capacity;
    size_t connection_count, idle_count;
    struct connection *connections;
    struct connection *idle[CONNECTIONS_MAX];
    struct phase phases[PHASES_MAX];
    size_t phase_count;
    struct random random;
    struct reply out;  /* a request is written as a reply is */
    struct reply text; /* a word with its number */
};

static void watch(struct pace *p, int fd, uint32_t events, void *what) {
    struct epoll_event event = {.events = events, .data.ptr = what};
    if (epoll_ctl(p->epoll, EPOLL_CTL_ADD, fd, &event) != 0) err(1, "epoll_ctl");
}

/* --- Requests --- */

static struct word parse_word(struct slice text) {
    for (size_t open = 0; open < text.len; open++) {
        if (text.ptr[open] != '{') continue;
        const char *digits = text.ptr + open + 1;
        const char *close = memchr(digits, '}', text.len - open - 1);
        uint64_t range;
        if (close == NULL) break;
        if (number_parse_uint64(slice_make(digits, (size_t)(close - digits)), &range) &&
            range > 0) {
            struct slice after = slice_make(close + 1, (size_t)(slice_end(text) - close - 1));
            return (struct word){slice_make(text.ptr, open), after, range};
        }
    }
    return (struct word){.before = text};
}

static void parse_requests(struct pace *p, char **words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        bool parts = strcmp(words[i], "/") == 0;
        if (i == 0 || parts) {
            MEM_RESERVE(p->requests, p->request_capacity, p->request_count + 1);
            p->requests[p->request_count++] = (struct request){0};
        }
        if (parts) continue;
        struct request *request = &p->requests[p->request_count - 1];
        MEM_RESERVE(request->words, request->capacity, request->count + 1);
        request->words[request->count++] = parse_word(slice_of_cstr(words[i]));
    }
    for (size_t i = 0; i < p->request_count; i++) {
        if (p->requests[i].count == 0) errx(1, "a request without words");
    }
}

static void write_word(struct pace *p, const struct word *word) {
    if (word->range == 0) {
        reply_bulk(&p->out, word->before);
        return;
    }
    char digits[INT64_TEXT_MAX];
    size_t digit_count = number_format_uint64(digits, random_below(&p->random, word->range));
    p->text.len = 0;
    reply_raw(&p->text, word->before);
    reply_raw(&p->text, slice_make(digits, digit_count));
    reply_raw(&p->text, word->after);
    reply_bulk(&p->out, slice_make(p->text.data, p->text.len));
}

static void send_request(struct pace *p, struct connection *c, int64_t due_us) {
    const struct request *request = &p->requests[p->sent++ % p->request_count];
    p->out.len = 0;
    reply_array(&p->out, request->count);
    for (size_t i = 0; i < request->count; i++) write_word(p, &request->words[i]);
    c->due_us = due_us;
    c->len = 0;
    ssize_t len = send(c->fd, p->out.data, p->out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (len != (ssize_t)p->out.len) errx(1, "a connection is broken, or does not hold a request");
}

/* Sends all that is due and has a connection. */
static void send_due(struct pace *p) {
    while (p->idle_count > 0) {
        int64_t now_us = clock_monotonic_us(), due_us = now_us;
        if (p->rate > 0) due_us = p->start_us + (int64_t)(p->sent * 1000000 / p->rate);
        if (due_us >= p->end_us) return;
        if (due_us > now_us) {
            struct itimerspec at = {.it_value = {due_us / 1000000, due_us % 1000000 * 1000}};
            timerfd_settime(p->timer, TFD_TIMER_ABSTIME, &at, NULL);
            return;
        }
        send_request(p, p->idle[--p->idle_count], due_us);
    }
}

/* --- Replies --- */

/* Length of the reply, a line or a bulk string, that begins the bytes; 0 when more must come. */
static size_t reply_length(struct slice bytes) {
    const char *line_end = memchr(bytes.ptr, '\n', bytes.len);
    if (line_end == NULL) return 0;
    size_t line = (size_t)(line_end - bytes.ptr) + 1;
    int64_t len;
    if (bytes.ptr[0] != '$' || line < 4 ||
        !number_parse_int64(slice_make(bytes.ptr + 1, line - 3), &len) || len < 0) {
        return line;
    }
    return bytes.len >= line + (size_t)len + 2 ? line + (size_t)len + 2 : 0;
}

static void note_latency(struct pace *p, int64_t due_us) {
    int64_t latency_us = clock_monotonic_us() - due_us;
    struct phase *phase = &p->phases[p->phase_count - 1];
    while (phase > p->phases && due_us < phase->start_us) phase--;
    MEM_RESERVE(phase->latencies_us, phase->capacity, phase->count + 1);
    phase->latencies_us[phase->count++] =
        latency_us < UINT32_MAX ? (uint32_t)latency_us : UINT32_MAX;
}

static void receive(struct pace *p, struct connection *c) {
    ssize_t len = recv(c->fd, c->reply + c->len, REPLY_MAX - c->len, MSG_DONTWAIT);
    if (len < 0 && errno == EAGAIN) return;
    if (len <= 0) errx(1, "the server closed a connection, or sends more than a short reply");
    c->len += (size_t)len;
    if (reply_length(slice_make(c->reply, c->len)) == 0) return;
    if (c->reply[0] == '-') {
        errx(1, "%.*s", (int)strcspn(c->reply, "\r\n"), c->reply);
    }
    note_latency(p, c->due_us);
    p->idle[p->idle_count++] = c;
}

/* --- Phases --- */

static void begin_phase(struct pace *p) {
    if (p->phase_count == PHASES_MAX) errx(1, "too many phases");
    p->phases[p->phase_count++].start_us = clock_monotonic_us();
}

static void read_lines(struct pace *p) {
    char in[64];
    ssize_t len = read(STDIN_FILENO, in, sizeof(in));
    for (ssize_t i = 0; i < len; i++) {
        if (in[i] == '\n') begin_phase(p);
    }
    if (len <= 0) {
        p->end_us = clock_monotonic_us();
        epoll_ctl(p->epoll, EPOLL_CTL_DEL, STDIN_FILENO, NULL);
    }
}

static int compare(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static uint32_t percentile(const struct phase *phase, double percent) {
    if (phase->count == 0) return 0;
    size_t at = (size_t)((double)phase->count * percent / 100);
    return phase->latencies_us[at < phase->count ? at : phase->count - 1];
}

static void print_phase(const struct phase *phase, int64_t end_us) {
    if (phase->count > 0) qsort(phase->latencies_us, phase->count, sizeof(uint32_t), compare);
    printf("{\"seconds\": %.6f, \"requests\": %zu, \"p50\": %u, \"p99\": %u, \"p99.9\": %u, "
           "\"longest\": %u}\n",
           (double)(end_us - phase->start_us) / 1e6, phase->count, percentile(phase, 50),
           percentile(phase, 99), percentile(phase, 99.9), percentile(phase, 100));
}

/* --- The run --- */

static void open_connection(struct pace *p, struct connection *c, uint16_t port) {
    c->fd = connect_loopback(port);
    watch(p, c->fd, EPOLLIN, c);
    p->idle[p->idle_count++] = c;
}

static void run(struct pace *p) {
    for (;;) {
        send_due(p);
        if (p->end_us < INT64_MAX && p->idle_count == p->connection_count) return;
        struct epoll_event events[EVENTS_MAX];
        int count = epoll_wait(p->epoll, events, EVENTS_MAX, -1);
        for (int i = 0; i < count; i++) {
            void *what = events[i].data.ptr;
            if (what == p) {
                read_lines(p);
            } else if (what != &p->timer) {
                receive(p, what);
            }
        }
    }
}

static struct pace *start(uint16_t port, size_t connections) {
    if (connections > CONNECTIONS_MAX) errx(1, "too many connections");
    struct pace *p = mem_alloc_zeroed(sizeof(*p));
    p->end_us = INT64_MAX;
    p->connection_count = connections;
    p->connections = mem_alloc_zeroed(connections * sizeof(*p->connections));
    reply_init(&p->out, REPLY_MAX);
    reply_init(&p->text, REPLY_MAX);
    random_seed(&p->random, 1);
    p->epoll = epoll_create1(0);
    p->timer = timerfd_create(CLOCK_MONOTONIC, 0); /* the clock of clock_monotonic_us */
    watch(p, STDIN_FILENO, EPOLLIN, p);
    watch(p, p->timer, EPOLLIN | EPOLLET, &p->timer); /* never read */
    for (size_t i = 0; i < connections; i++) open_connection(p, &p->connections[i], port);
    return p;
}

static void stop(struct pace *p) {
    for (size_t i = 0; i < p->phase_count; i++) mem_free(p->phases[i].latencies_us);
    for (size_t i = 0; i < p->request_count; i++) mem_free(p->requests[i].words);
    for (size_t i = 0; i < p->connection_count; i++) close(p->connections[i].fd);
    close(p->timer);
    close(p->epoll);
    reply_free(&p->out);
    reply_free(&p->text);
    mem_free(p->requests);
    mem_free(p->connections);
    mem_free(p);
}

static int load(uint16_t port, size_t connections, uint64_t rate, char **words, size_t count) {
    struct pace *p = start(port, connections);
    p->rate = rate;
    parse_requests(p, words, count);
    begin_phase(p);
    p->start_us = p->phases[0].start_us;
    run(p);
    for (size_t i = 0; i < p->phase_count; i++) {
        bool last = i + 1 == p->phase_count;
        print_phase(&p->phases[i], last ? p->end_us : p->phases[i + 1].start_us);
    }
    stop(p);
    return 0;
}

#else

static int load(uint16_t port, size_t connections, uint64_t rate, char **words, size_t count) {
    (void)port, (void)connections, (void)rate, (void)words, (void)count;
    fprintf(stderr, "pace: this system has no epoll and timerfd\n");
    return 1;
}

#endif

int main(int argc, char **argv) {
    uint64_t port, connections, rate;
    if (argc < 5 || !number_parse_uint64(slice_of_cstr(argv[1]), &port) || port > UINT16_MAX ||
        !number_parse_uint64(slice_of_cstr(argv[2]), &connections) || connections == 0 ||
        !number_parse_uint64(slice_of_cstr(argv[3]), &rate)) {
        fprintf(stderr, "usage: pace PORT CONNECTIONS RATE WORD ... [/ WORD ...] < LINES\n");
        return 1;
    }
    return load((uint16_t)port, connections, rate, argv + 4, (size_t)argc - 4);
}
