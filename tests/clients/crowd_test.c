/* Ten thousand connections at once are served, and thousands that come and go leave nothing behind.
 *
 * Plain sockets, as no client library has to open that many. They are closed by a reset, so that the
 * system reserves none of their ports for a while. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { CROWD = 10000, SPARE_FILES = 64, TEXT_MAX = 128 };

static int connect_to_server(void) {
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port =
                                      htons((uint16_t)strtol(getenv("PACKLIST_PORT"), NULL, 10)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    struct linger reset = {.l_onoff = 1, .l_linger = 0};
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)), 0);
    struct timeval patience = {.tv_sec = 60};
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

static void send_text(int fd, const char *text) {
    size_t len = strlen(text);
    assert_int_equal(send(fd, text, len, MSG_NOSIGNAL), len);
}

static void expect_text(int fd, const char *expected) {
    char got[TEXT_MAX] = {0};
    size_t len = strlen(expected);
    assert_true(len < sizeof(got));
    assert_int_equal(recv(fd, got, len, MSG_WAITALL), len);
    assert_string_equal(got, expected);
}

/* The number that stands behind `name` in the answer to INFO `section`; all of that is read. */
static long ask_number(int fd, const char *section, const char *name) {
    char text[TEXT_MAX], answer[16384];
    size_t len = 0, end = sizeof(answer);
    snprintf(text, sizeof(text), "INFO %s\r\n", section);
    send_text(fd, text);
    while (len < end) {
        ssize_t n = recv(fd, answer + len, sizeof(answer) - 1 - len, 0);
        assert_true(n > 0);
        len += (size_t)n;
        answer[len] = '\0';
        const char *line_end = strchr(answer, '\n'); /* behind the length, of a bulk string */
        assert_int_equal(answer[0], '$');
        if (line_end) end = (size_t)(line_end + 1 - answer) + strtoul(answer + 1, NULL, 10) + 2;
    }
    const char *found = strstr(answer, name);
    assert_non_null(found);
    return strtol(found + strlen(name), NULL, 10);
}

static long info_number(const char *section, const char *name) {
    int fd = connect_to_server();
    long number = ask_number(fd, section, name);
    close(fd);
    return number;
}

/* The only connection that is left, as soon as the server has closed the others. */
static int connect_alone(void) {
    int fd = connect_to_server();
    for (int i = 0; i < 3000; i++) {
        if (ask_number(fd, "clients", "connected_clients:") == 1) return fd;
        usleep(10000);
    }
    fail_msg("the server still counts connections that were closed");
    return -1;
}

static void wait_until_all_are_gone(void) {
    close(connect_alone());
}

/* How many connections we can open and the server can have. */
static size_t crowd_size(void) {
    struct rlimit files;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = files.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
    size_t allowed = (size_t)info_number("clients", "maxclients:");
    if (files.rlim_cur != RLIM_INFINITY && allowed > files.rlim_cur - SPARE_FILES)
        allowed = files.rlim_cur - SPARE_FILES;
    return allowed < CROWD ? allowed : CROWD;
}

static void ten_thousand_connections_at_once_are_served(void **state) {
    (void)state;
    size_t count = crowd_size();
    int *fds = malloc(count * sizeof(*fds));
    char text[TEXT_MAX];
    fds[0] = connect_alone(); /* with one that is still closing they would be too many */
    for (size_t i = 1; i < count; i++) fds[i] = connect_to_server();
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < count; i++) {
            snprintf(text, sizeof(text), "ECHO %08zu\r\nPING\r\n", i);
            send_text(fds[i], text);
        }
        for (size_t i = 0; i < count; i++) {
            snprintf(text, sizeof(text), "$8\r\n%08zu\r\n+PONG\r\n", i);
            expect_text(fds[i], text);
        }
    }
    assert_int_equal(ask_number(fds[0], "clients", "connected_clients:"), count);
    for (size_t i = 0; i < count; i++) close(fds[i]);
    free(fds);
    wait_until_all_are_gone();
}

static void a_crowd_that_waits_is_served_in_the_order_in_which_it_came(void **state) {
    (void)state;
    enum { WAITING = 900 };
    int fds[WAITING];
    char text[TEXT_MAX];
    for (size_t i = 0; i < WAITING; i++) {
        fds[i] = connect_to_server();
        send_text(fds[i], "PING\r\nBLPOP other queue 0\r\n");
        expect_text(fds[i], "+PONG\r\n");
    }
    int pusher = connect_to_server();
    while (ask_number(pusher, "clients", "blocked_clients:") < WAITING) usleep(1000);
    for (size_t i = 0; i < WAITING; i++) {
        snprintf(text, sizeof(text), "RPUSH queue %08zu\r\n", i);
        send_text(pusher, text);
        expect_text(pusher, ":1\r\n");
    }
    for (size_t i = 0; i < WAITING; i++) {
        snprintf(text, sizeof(text), "*2\r\n$5\r\nqueue\r\n$8\r\n%08zu\r\n", i);
        expect_text(fds[i], text);
        close(fds[i]);
    }
    close(pusher);
    wait_until_all_are_gone();
}

static void connections_that_come_and_go_leave_nothing_behind(void **state) {
    (void)state;
    static const char *const last_words[] = {
        NULL, "PING\r\n", "*2\r\n$4\r\nECHO\r\n$100000\r\nhalf of it", "BLPOP nosuch 0\r\n"};
    long used[4];
    for (size_t round = 0; round < 4; round++) {
        for (size_t i = 0; i < 2000; i++) {
            int fd = connect_to_server();
            const char *words = last_words[i % 4];
            if (words) send_text(fd, words);
            if (i % 4 == 1) expect_text(fd, "+PONG\r\n");
            close(fd);
        }
        wait_until_all_are_gone();
        used[round] = info_number("memory", "used_memory:");
    }
    assert_true(used[3] - used[1] < 100000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_thousand_connections_at_once_are_served),
        cmocka_unit_test(a_crowd_that_waits_is_served_in_the_order_in_which_it_came),
        cmocka_unit_test(connections_that_come_and_go_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
