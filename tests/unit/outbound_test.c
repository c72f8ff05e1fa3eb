/* outbound against sockets of this process: the other side listens, and behaves as each test
 * needs. */
#include "net/outbound.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { TIMEOUT_MS = 100, LONG_MS = 20000 };

struct peer {
    int listener;
    int port;
    int fd; /* of the accepted connection */
    struct outbound *outbound;
};

static int listen_on(int *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

static int setup(void **state) {
    struct peer *peer = mem_alloc(sizeof(*peer));
    peer->listener = listen_on(&peer->port);
    peer->outbound = outbound_open("127.0.0.1", peer->port, LONG_MS);
    assert_non_null(peer->outbound);
    peer->fd = accept(peer->listener, NULL, NULL);
    assert_true(peer->fd >= 0);
    *state = peer;
    return 0;
}

static int teardown(void **state) {
    struct peer *peer = *state;
    outbound_close(peer->outbound);
    if (peer->fd >= 0) close(peer->fd);
    close(peer->listener);
    mem_free(peer);
    return 0;
}

static void say(struct peer *peer, const char *text) {
    assert_int_equal(write(peer->fd, text, strlen(text)), (ssize_t)strlen(text));
}

static void assert_line(struct peer *peer, const char *text) {
    struct slice line;
    assert_true(outbound_read_line(peer->outbound, &line, LONG_MS));
    assert_true(slice_equal(line, slice_of_cstr(text)));
}

static void assert_no_line(struct peer *peer, int error) {
    struct slice line;
    errno = 0;
    assert_false(outbound_read_line(peer->outbound, &line, TIMEOUT_MS));
    assert_int_equal(errno, error);
}

static void what_is_written_arrives(void **state) {
    struct peer *peer = *state;
    char bytes[8];
    assert_true(outbound_write(peer->outbound, "PING\r\n", 6, LONG_MS));
    assert_true(outbound_write(peer->outbound, "", 0, LONG_MS));
    assert_int_equal(read(peer->fd, bytes, sizeof(bytes)), 6);
    assert_memory_equal(bytes, "PING\r\n", 6);
}

static void lines_come_one_by_one_however_they_were_sent(void **state) {
    struct peer *peer = *state;
    say(peer, "+one\r\n\r\n+th");
    assert_line(peer, "+one");
    assert_line(peer, "");
    assert_no_line(peer, ETIMEDOUT);
    say(peer, "r\ree\r");
    assert_no_line(peer, ETIMEDOUT);
    say(peer, "\n");
    assert_line(peer, "+thr\ree");
}

static void a_line_may_be_as_long_as_the_limit_and_not_longer(void **state) {
    struct peer *peer = *state;
    char text[OUTBOUND_LINE_MAX + 1];
    memset(text, 'x', sizeof(text));
    memcpy(text + OUTBOUND_LINE_MAX - 2, "\r\n", 3);
    for (int i = 0; i < 3; i++) {
        say(peer, text);
        text[OUTBOUND_LINE_MAX - 2] = '\0';
        assert_line(peer, text);
        text[OUTBOUND_LINE_MAX - 2] = '\r';
    }
    memcpy(text + OUTBOUND_LINE_MAX - 2, "xx", 3);
    say(peer, text);
    assert_no_line(peer, EPROTO);
}

static void silence_ends_with_the_timeout_and_not_before(void **state) {
    struct peer *peer = *state;
    int64_t begin_us = clock_monotonic_us();
    assert_no_line(peer, ETIMEDOUT);
    assert_true(clock_monotonic_us() - begin_us >= (TIMEOUT_MS - 1) * 1000);
}

static void the_other_sides_end_is_an_error(void **state) {
    struct peer *peer = *state;
    say(peer, "+last\r\n+half");
    close(peer->fd);
    peer->fd = -1;
    assert_line(peer, "+last");
    assert_no_line(peer, ECONNRESET);
}

static void writing_to_a_closed_peer_fails_without_a_signal(void **state) {
    struct peer *peer = *state;
    close(peer->fd);
    peer->fd = -1;
    bool written = true;
    for (int i = 0; i < LONG_MS && written; i++) {
        written = outbound_write(peer->outbound, "x", 1, TIMEOUT_MS);
        usleep(1000);
    }
    assert_false(written);
    assert_true(errno == EPIPE || errno == ECONNRESET);
}

static void writing_to_a_peer_that_does_not_read_ends_with_the_timeout(void **state) {
    struct peer *peer = *state;
    enum { MORE_THAN_BUFFERS = 64 * 1024 * 1024 };
    char *bytes = mem_alloc_zeroed(MORE_THAN_BUFFERS);
    assert_false(outbound_write(peer->outbound, bytes, MORE_THAN_BUFFERS, TIMEOUT_MS));
    assert_int_equal(errno, ETIMEDOUT);
    mem_free(bytes);
}

static void a_closed_port_refuses(void **state) {
    (void)state;
    int port;
    close(listen_on(&port));
    assert_null(outbound_open("127.0.0.1", port, LONG_MS));
    assert_int_equal(errno, ECONNREFUSED);
}

static void names_are_looked_up(void **state) {
    (void)state;
    int port, listener = listen_on(&port);
    struct outbound *outbound = outbound_open("localhost", port, LONG_MS);
    assert_non_null(outbound);
    outbound_close(outbound);
    outbound_close(NULL);
    close(listener);
    assert_null(outbound_open("no..such", port, LONG_MS));
    assert_int_equal(errno, EHOSTUNREACH);
    assert_null(outbound_open("", 1, LONG_MS));
}

#define WITH_PEER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_PEER(what_is_written_arrives),
        WITH_PEER(lines_come_one_by_one_however_they_were_sent),
        WITH_PEER(a_line_may_be_as_long_as_the_limit_and_not_longer),
        WITH_PEER(silence_ends_with_the_timeout_and_not_before),
        WITH_PEER(the_other_sides_end_is_an_error),
        WITH_PEER(writing_to_a_closed_peer_fails_without_a_signal),
        WITH_PEER(writing_to_a_peer_that_does_not_read_ends_with_the_timeout),
        cmocka_unit_test(a_closed_port_refuses),
        cmocka_unit_test(names_are_looked_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
