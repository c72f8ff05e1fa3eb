/* Listeners of the module net, its loop, timers and signals. */
#include "base/log/log.h"
#include "base/memory/alloc.h"
#include "net/connections/conn_state.h"
#include "unit/net_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* --- Listeners --- */

static void many_clients_that_come_at_once_are_all_served(void **state) {
    (void)state;
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    enum { MANY = 2000 };
    static int fds[MANY];
    int count = 0;
    while (count < MANY && count + 100 < (int)limit.rlim_cur / 2) {
        fds[count] = client_try();
        assert_true(fds[count] >= 0);
        client_send(fds[count], "x", 1);
        if (++count % 500 == 0) ITERATE_UNTIL(world.opened == count); /* the backlog is 511 */
    }
    ITERATE_UNTIL(world.opened == count);
    char answer;
    for (int i = 0; i < count; i++) client_receive(fds[i], &answer, 1);
    for (int i = 0; i < count; i++) close(fds[i]);
    ITERATE_UNTIL(world.ended == count);
}

static void running_out_of_descriptors_costs_clients_but_not_the_server(void **state) {
    (void)state;
    struct rlimit limit, tight;
    getrlimit(RLIMIT_NOFILE, &limit);
    int fds[20];
    for (int i = 0; i < 20; i++) fds[i] = client_try();
    tight = limit;
    tight.rlim_cur = (rlim_t)fds[19] + 5;
    log_set_level(LOG_NOTHING);
    setrlimit(RLIMIT_NOFILE, &tight);
    ITERATE_UNTIL(world.opened > 0);
    for (int i = 0; i < 50; i++) iterate();
    setrlimit(RLIMIT_NOFILE, &limit);
    log_set_level(LOG_NOTICE);
    assert_true(world.opened < 20);
    for (int i = 0; i < 20; i++) close(fds[i]);
    ITERATE_UNTIL(world.ended == world.opened);
    int fd = client_new();
    char answer;
    client_send(fd, "x", 1);
    client_receive(fd, &answer, 1);
    close(fd);
}

static void a_closed_listener_leaves_its_connections_alone(void **state) {
    (void)state;
    int fd = client_new();
    int port = listener_port(world.listener);
    assert_true(port > 0);
    listener_close(world.listener);
    iterate();
    char answer;
    client_send(fd, "x", 1);
    client_receive(fd, &answer, 1);
    close(fd);
    ITERATE_UNTIL(world.ended == 1);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), -1);
    close(fd);
}

static enum listen_status open_at(const char *address, int port, char text[128]) {
    struct listener *listener;
    text[0] = '\0';
    enum listen_status status =
        listener_open_tcp(world.net, address, port, 10, &EVENTS, &world, &listener, text, 128);
    if (status == LISTEN_OK) listener_close(listener);
    return status;
}

static void an_address_that_cannot_be_had_gives_a_reason(void **state) {
    (void)state;
    char text[128];
    assert_int_equal(open_at("127.0.0.1", listener_port(world.listener), text), LISTEN_IN_USE);
    assert_string_equal(text, strerror(EADDRINUSE));
    assert_int_equal(open_at("192.0.2.77", 0, text), LISTEN_UNAVAILABLE);
    assert_string_equal(text, strerror(EADDRNOTAVAIL));
    assert_int_equal(open_at("no..such", 0, text), LISTEN_FAILED);
    assert_true(strlen(text) > 0);
    assert_int_equal(open_at("*", 0, text), LISTEN_OK);
    assert_int_equal(open_at("localhost", 0, text), LISTEN_OK);
    struct listener *any;
    assert_int_equal(listener_open_tcp(world.net, "*", 0, 10, &EVENTS, &world, &any, text, 128),
                     LISTEN_OK);
    enum listen_status side_by_side = open_at("::*", listener_port(any), text);
    assert_true(side_by_side == LISTEN_OK || side_by_side == LISTEN_UNAVAILABLE);
    iterate();
}

static void ipv6_names_stand_in_brackets(void **state) {
    (void)state;
    struct listener *listener;
    char text[128], want[CONN_NAME_MAX];
    enum listen_status status =
        listener_open_tcp(world.net, "::1", 0, 10, &EVENTS, &world, &listener, text, sizeof(text));
    if (status == LISTEN_UNAVAILABLE) skip();
    assert_int_equal(status, LISTEN_OK);
    struct sockaddr_in6 address = {.sin6_family = AF_INET6,
                                   .sin6_port = htons((uint16_t)listener_port(listener)),
                                   .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    ITERATE_UNTIL(world.opened == 1);
    snprintf(want, sizeof(want), "[::1]:%d", listener_port(listener));
    assert_string_equal(conn_local_name(world.newest, text), want);
    assert_true(conn_is_local(world.newest));
    close(fd);
}

static enum listen_status open_path(const char *path, unsigned permissions,
                                    struct listener **listener, char text[128]) {
    struct unix_place place = {.path = path, .permissions = permissions, .group = ""};
    return listener_open_unix(world.net, &place, 10, &EVENTS, &world, listener, text, 128);
}

static int connect_path(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

static void a_unix_socket_serves_and_removes_its_file(void **state) {
    (void)state;
    struct listener *listener;
    char path[64], text[128], name[CONN_NAME_MAX];
    snprintf(path, sizeof(path), "/tmp/packlist-net-test-%d.sock", (int)getpid());
    assert_int_equal(open_path(path, 0700, &listener, text), LISTEN_OK);
    assert_int_equal(listener_port(listener), 0);
    struct stat file;
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_mode & 0777, 0700);

    int fd = connect_path(path);
    ITERATE_UNTIL(world.opened == 1);
    char answer[5];
    client_send(fd, "hello", 5);
    client_receive(fd, answer, 5);
    assert_memory_equal(answer, "hello", 5);
    assert_true(conn_is_unix(world.newest));
    assert_true(conn_is_local(world.newest));
    snprintf(text, sizeof(text), "%s:0", path);
    assert_string_equal(conn_peer_name(world.newest, name), text);
    assert_string_equal(conn_local_name(world.newest, name), text);
    conn_set_keepalive(world.newest, 10);
    close(fd);
    ITERATE_UNTIL(world.ended == 1);
    listener_close(listener);
    iterate();
    assert_int_equal(stat(path, &file), -1);
}

static void a_unix_socket_replaces_a_socket_but_no_other_file(void **state) {
    (void)state;
    struct listener *listener;
    char path[64], text[128];
    snprintf(path, sizeof(path), "/tmp/packlist-net-test-%d.sock", (int)getpid());
    struct sockaddr_un stale = {.sun_family = AF_UNIX};
    snprintf(stale.sun_path, sizeof(stale.sun_path), "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&stale, sizeof(stale)), 0);
    close(fd);
    assert_int_equal(open_path(path, 0, &listener, text), LISTEN_OK);
    fd = connect_path(path);
    ITERATE_UNTIL(world.opened == 1);
    close(fd);
    listener_close(listener);
    iterate();

    fd = open(path, O_CREAT | O_RDWR, 0600);
    close(fd);
    assert_int_equal(open_path(path, 0, &listener, text), LISTEN_FAILED);
    assert_string_equal(text, strerror(EEXIST));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(open_path("/no/such/folder/s", 0, &listener, text), LISTEN_FAILED);
    assert_string_equal(text, strerror(ENOENT));
    char long_path[200];
    memset(long_path, 'a', sizeof(long_path));
    long_path[0] = '/';
    long_path[199] = '\0';
    assert_int_equal(open_path(long_path, 0, &listener, text), LISTEN_FAILED);
    assert_string_equal(text, strerror(ENAMETOOLONG));
}

static void a_client_that_takes_no_answers_any_more_is_reported_as_an_end(void **state) {
    (void)state;
    world.on_ended = remember;
    struct listener *listener;
    char path[64], text[128];
    snprintf(path, sizeof(path), "/tmp/packlist-net-test-%d.sock", (int)getpid());
    assert_int_equal(open_path(path, 0, &listener, text), LISTEN_OK);
    int fd = connect_path(path);
    ITERATE_UNTIL(world.opened == 1);
    shutdown(fd, SHUT_RD); /* only the write fails, and raises no signal */
    assert_int_equal(conn_try_write(world.newest, "x", 1), 0);
    assert_int_equal(world.ended, 0);
    ITERATE_UNTIL(world.ended == 1);
    assert_string_equal(last_words.reason, "broken pipe");
    close(fd);
}

/* --- The loop, timers, signals --- */

struct beat {
    struct net_timer *timer;
    int count;
    int stop_after;
    bool free;
};

static void on_beat(void *arg) {
    struct beat *beat = arg;
    beat->count++;
    if (beat->count != beat->stop_after) return;
    if (beat->free) net_timer_free(beat->timer);
    net_stop(world.net);
}

static void run_freely(void) {
    static const struct net_upward NOTHING;
    net_set_upward(world.net, &NOTHING, NULL);
    net_run(world.net);
}

static void timers_fire_once_or_again_and_not_early(void **state) {
    (void)state;
    struct beat once = {.stop_after = 1}, often = {.stop_after = 3, .free = true};
    once.timer = net_timer_new(world.net, on_beat, &once);
    often.timer = net_timer_new(world.net, on_beat, &often);
    int64_t start = now_ms();
    net_timer_start(once.timer, 20, 0);
    run_freely();
    assert_true(now_ms() - start >= 19);
    assert_int_equal(once.count, 1);

    usleep(20 * 1000); /* the loop's clock is behind now */
    start = now_ms();
    net_timer_start(often.timer, 10, 5);
    run_freely();
    assert_true(now_ms() - start >= 19);
    assert_int_equal(often.count, 3);
    assert_int_equal(once.count, 1);
    net_timer_free(once.timer);
}

static void a_timer_can_be_stopped_and_reset(void **state) {
    (void)state;
    struct beat stopped = {.stop_after = 1}, reset = {.stop_after = 1}, end = {.stop_after = 1};
    stopped.timer = net_timer_new(world.net, on_beat, &stopped);
    reset.timer = net_timer_new(world.net, on_beat, &reset);
    end.timer = net_timer_new(world.net, on_beat, &end);
    net_timer_start(stopped.timer, 1, 0);
    net_timer_stop(stopped.timer);
    net_timer_start(reset.timer, 1, 0);
    net_timer_start(reset.timer, 60 * 1000, 0);
    net_timer_start(end.timer, 10, 0);
    run_freely();
    assert_int_equal(end.count, 1);
    assert_int_equal(stopped.count, 0);
    assert_int_equal(reset.count, 0);
    net_timer_free(stopped.timer); /* the others are freed with the loop */
}

static int polls;

/* Then the timer starts: ten iterations may take this long. */
static bool stay_awake_ten_times(void *arg) {
    struct beat *end = arg;
    if (++polls == 10) net_timer_start(end->timer, 50, 0);
    return polls < 10;
}

static void the_loop_sleeps_only_when_before_poll_says_so(void **state) {
    (void)state;
    static const struct net_upward STAY_AWAKE = {.before_poll = stay_awake_ten_times};
    struct beat end = {.stop_after = 1};
    end.timer = net_timer_new(world.net, on_beat, &end);
    polls = 0;
    net_set_upward(world.net, &STAY_AWAKE, &end);
    int64_t start = now_ms();
    net_run(world.net);
    assert_true(now_ms() - start >= 49);
    assert_true(polls >= 10 && polls <= 12); /* ten iterations at once, and then the loop slept */
}

static void a_poll_is_one_iteration_without_sleep(void **state) {
    (void)state;
    struct beat beat = {.stop_after = 1};
    beat.timer = net_timer_new(world.net, on_beat, &beat);
    net_timer_start(beat.timer, 2 * PATIENCE_MS, 0);
    int64_t start = now_ms();
    net_poll(world.net);
    assert_true(now_ms() - start < PATIENCE_MS);
    assert_int_equal(beat.count, 0);
    for (int beats = 1; beats <= 2; beats++) { /* net_stop in one ends only its iteration */
        start = now_ms();
        net_timer_start(beat.timer, 5, 0);
        while (beat.count < beats && now_ms() - start < PATIENCE_MS) net_poll(world.net);
        assert_int_equal(beat.count, beats);
        assert_true(now_ms() - start >= 4);
    }
}

static void on_usr1(int signum, void *arg) {
    *(int *)arg = signum;
    net_stop(world.net);
}

static void a_signal_arrives_as_a_callback(void **state) {
    (void)state;
    int seen = 0;
    assert_true(net_on_signal(world.net, SIGUSR1, on_usr1, &seen));
    assert_false(net_on_signal(world.net, SIGKILL, on_usr1, &seen));
    raise(SIGUSR1);
    assert_int_equal(seen, 0);
    run_freely();
    assert_int_equal(seen, SIGUSR1);
}

int main(void) {
    clock_init();
    const struct CMUnitTest tests[] = {
        NET_TEST(many_clients_that_come_at_once_are_all_served),
        NET_TEST(running_out_of_descriptors_costs_clients_but_not_the_server),
        NET_TEST(a_closed_listener_leaves_its_connections_alone),
        NET_TEST(an_address_that_cannot_be_had_gives_a_reason),
        NET_TEST(ipv6_names_stand_in_brackets),
        NET_TEST(a_unix_socket_serves_and_removes_its_file),
        NET_TEST(a_unix_socket_replaces_a_socket_but_no_other_file),
        NET_TEST(a_client_that_takes_no_answers_any_more_is_reported_as_an_end),
        NET_TEST(timers_fire_once_or_again_and_not_early),
        NET_TEST(a_timer_can_be_stopped_and_reset),
        NET_TEST(the_loop_sleeps_only_when_before_poll_says_so),
        NET_TEST(a_poll_is_one_iteration_without_sleep),
        NET_TEST(a_signal_arrives_as_a_callback),
    };
    return cmocka_run_group_tests_name("net_loop", tests, NULL, NULL);
}
