/* New TLS connections, and how long others wait meanwhile.
 *
 *      make benchmarks
 *      build/release/utils/bench/tls_connect PORT AUTHORITY full|resumed COUNT AT_ONCE [pings]
 *
 * Makes COUNT connections with 127.0.0.1, AT_ONCE at a time: each shakes hands, gets the reply to a
 * PING and closes. AUTHORITY is a file with certificates to trust. With "resumed" all go on with
 * one session; a connection that is not resumed ends the run with status 1, as an error does.
 *
 * With "pings" one more connection, which is open before, sends a PING as soon as it has the reply
 * to the last one. This program works on one step of a handshake at most between two looks at that
 * connection: 0.1 to 0.3 ms of the longest time may be its own.
 *
 * Prints a line of JSON: seconds, and with "pings" the longest and the 99th percentile of the times
 * to these replies in microseconds. */
#include "base/clock.h"
#include "base/memory/alloc.h"
#include "base/text/number.h"

#include <stdio.h>
#include <stdlib.h>

#if __has_include(<sys/epoll.h>)
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

static const char PING[] = "PING\r\n", PONG[] = "+PONG\r\n";

struct client {
    SSL *ssl;
    int fd;
    bool has_pinged;
    size_t len; /* bytes of the reply so far */
};

struct load {
    uint16_t port;
    SSL_CTX *context;
    SSL_SESSION *session; /* to go on with; NULL: full handshakes */
    size_t count, begun, done, at_once;
    struct client *clients;
    int epoll;
    struct client pinger;
    bool pings;
    int64_t pinged_us;
    uint32_t *waits_us; /* of the pinger, in the order of the replies */
    size_t wait_count, wait_capacity;
};

static void fail(const char *what) {
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    fprintf(stderr, "tls_connect: %s: %s\n", what, reason ? reason : strerror(errno));
    exit(1);
}

static void begin(struct load *load, struct client *client) {
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                  .sin_port = htons(load->port)};
    *client = (struct client){.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)};
    if (client->fd < 0) fail("socket");
    setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    if (connect(client->fd, (struct sockaddr *)&address, sizeof(address)) && errno != EINPROGRESS)
        fail("connect");
    client->ssl = SSL_new(load->context);
    SSL_set_fd(client->ssl, client->fd);
    SSL_set_connect_state(client->ssl);
    if (load->session) SSL_set_session(client->ssl, load->session);
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = client};
    if (epoll_ctl(load->epoll, EPOLL_CTL_ADD, client->fd, &event)) fail("epoll_ctl");
}

/* Returns whether it has the reply to its PING. */
static bool advance(struct client *client) {
    int result = SSL_do_handshake(client->ssl);
    if (result == 1 && !client->has_pinged) {
        result = SSL_write(client->ssl, PING, sizeof(PING) - 1);
        client->has_pinged = result > 0;
    }
    while (result > 0) {
        char reply[sizeof(PONG)];
        result = SSL_read(client->ssl, reply, sizeof(reply));
        if (result > 0) client->len += (size_t)result;
        if (client->len >= sizeof(PONG) - 1) return true;
    }
    int error = SSL_get_error(client->ssl, result);
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) fail("a connection");
    ERR_clear_error();
    return false;
}

static void end(struct load *load, struct client *client) {
    if (load->session && !SSL_session_reused(client->ssl)) fail("a session was not resumed");
    SSL_shutdown(client->ssl);
    SSL_free(client->ssl);
    close(client->fd);
    client->ssl = NULL;
    load->done++;
}

static void begin_next(struct load *load, struct client *client) {
    if (load->begun == load->count) return;
    load->begun++;
    begin(load, client);
}

/* --- The connection that is open before --- */

static void ping(struct load *load) {
    load->pinged_us = clock_monotonic_us();
    load->pinger.len = 0;
    if (SSL_write(load->pinger.ssl, PING, sizeof(PING) - 1) <= 0) fail("a ping");
}

static void look_at_pinger(struct load *load) {
    if (!load->pings || !advance(&load->pinger)) return;
    MEM_RESERVE(load->waits_us, load->wait_capacity, load->wait_count + 1);
    load->waits_us[load->wait_count++] = (uint32_t)(clock_monotonic_us() - load->pinged_us);
    ping(load);
}

static void open_pinger(struct load *load) {
    begin(load, &load->pinger);
    while (!advance(&load->pinger)) {
        struct epoll_event event;
        epoll_wait(load->epoll, &event, 1, -1);
    }
    if (load->pings) ping(load);
}

/* --- The run --- */

static void run(struct load *load) {
    enum { EVENTS_MAX = 64 };
    struct epoll_event events[EVENTS_MAX];
    for (size_t i = 0; i < load->at_once; i++) {
        begin_next(load, &load->clients[i]);
        look_at_pinger(load);
    }
    while (load->done < load->count) {
        int ready = epoll_wait(load->epoll, events, EVENTS_MAX, -1);
        for (int i = 0; i < ready; i++) {
            struct client *client = events[i].data.ptr;
            look_at_pinger(load);
            if (client == &load->pinger || !client->ssl || !advance(client)) continue;
            end(load, client);
            begin_next(load, client);
        }
        look_at_pinger(load);
    }
}

static int by_size(const void *a, const void *b) {
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static size_t number_of(const char *text) {
    int64_t number;
    if (!number_parse_int64(slice_make(text, strlen(text)), &number) || number < 1) fail(text);
    return (size_t)number;
}

int main(int argc, char **argv) {
    static struct load load;
    load.pings = argc == 7 && strcmp(argv[6], "pings") == 0;
    if (argc != 6 && !load.pings) fail("usage: PORT AUTHORITY full|resumed COUNT AT_ONCE [pings]");
    clock_init();
    load.port = (uint16_t)number_of(argv[1]);
    load.count = number_of(argv[4]);
    load.at_once = number_of(argv[5]);
    load.clients = mem_alloc_zeroed(load.at_once * sizeof(*load.clients));
    load.epoll = epoll_create1(0);
    load.context = SSL_CTX_new(TLS_client_method());
    if (!SSL_CTX_load_verify_file(load.context, argv[2])) fail(argv[2]);
    SSL_CTX_set_verify(load.context, SSL_VERIFY_PEER, NULL);
    open_pinger(&load);
    if (strcmp(argv[3], "resumed") == 0) load.session = SSL_get1_session(load.pinger.ssl);
    int64_t start_us = clock_monotonic_us();
    run(&load);
    double seconds = (double)(clock_monotonic_us() - start_us) / 1e6;
    printf("{\"seconds\": %.3f", seconds);
    if (load.wait_count > 0) {
        qsort(load.waits_us, load.wait_count, sizeof(*load.waits_us), by_size);
        printf(", \"longest_us\": %u, \"p99_us\": %u", load.waits_us[load.wait_count - 1],
               load.waits_us[load.wait_count * 99 / 100]);
    }
    printf("}\n");
    return 0;
}
#else
int main(void) {
    fprintf(stderr, "tls_connect: this system has no epoll\n");
    return 2;
}
#endif
