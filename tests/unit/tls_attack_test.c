/* What the other side of a TLS connection may do to cost time or memory, or to confuse. Often what counts is that
 * nothing is used after it was freed, which the sanitizers see. */
#include "unit/in_range.h"
#include "unit/tls_fixture.h"

#include "net/tls/tls_state.h"

/* --- Handshakes --- */

static void slow_handshakes_give_way_to_new_clients(void **state) {
    (void)state;
    struct client good = connected(TLS1_3_VERSION);
    int first = client_new(), second = client_new();
    tls_end_slow(world.net, TLS_HANDSHAKE_TIMEOUT_MS / 2, 100);
    assert_int_equal(world.ended, 0);
    tls_end_slow(world.net, TLS_HANDSHAKE_TIMEOUT_MS + 1, 1);
    assert_int_equal(world.ended, 1);
    ITERATE_UNTIL(client_at_end(first));
    assert_false(client_at_end(second));
    tls_end_slow(world.net, TLS_HANDSHAKE_TIMEOUT_MS + 1, 100);
    assert_int_equal(world.ended, 2);
    assert_echo(&good, 100, SIZE_MAX);
    close(first);
    close(second);
    client_free(&good);
}

/* Sends the first record of a handshake, or a part of it. */
static struct client half_shaken(size_t most) {
    struct client client = client_make(NULL, TLS1_3_VERSION);
    char hello[4096];
    SSL_do_handshake(client.ssl);
    int len = BIO_read(client.out, hello, sizeof(hello));
    client_send(client.fd, hello, most < (size_t)len ? most : (size_t)len);
    return client;
}

static void those_who_wait_for_others_do_not_time_out(void **state) {
    (void)state;
    enum { CLIENTS = 20 };
    struct client clients[CLIENTS];
    begin_handshakes_at_once(clients, CLIENTS);
    tls_end_slow(world.net, TLS_HANDSHAKE_TIMEOUT_MS + 1, CLIENTS);
    assert_uint_in_range((uint64_t)world.ended, 1, 4);
    int served = 0;
    for (int i = 0; i < CLIENTS; i++) {
        served += shake_in_pieces(&clients[i], SIZE_MAX);
        client_free(&clients[i]);
    }
    assert_uint_in_range((uint64_t)served, CLIENTS - 4, CLIENTS);
}

/* Whether the handshake of a client that has read nothing yet has gone on. */
static bool has_answer(const struct client *client) {
    char byte;
    return recv(client->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
}

static int count_answered(const struct client *clients, int count) {
    int answered = 0;
    for (int i = 0; i < count; i++) answered += has_answer(&clients[i]);
    return answered;
}

static void a_new_client_waits_for_few_of_those_before(void **state) {
    (void)state;
    enum { CLIENTS = 100 };
    struct client clients[CLIENTS];
    begin_handshakes_at_once(clients, CLIENTS);
    struct client newest = connected(TLS1_3_VERSION);
    assert_echo(&newest, 100, SIZE_MAX);
    assert_uint_in_range((uint64_t)count_answered(clients, CLIENTS), 3, CLIENTS / 2);
    assert_true(has_answer(&clients[2]));
    for (int i = 0; i < CLIENTS; i++) {
        assert_true(shake_in_pieces(&clients[i], SIZE_MAX));
        client_free(&clients[i]);
    }
    client_free(&newest);
}

static void clients_that_keep_coming_halve_the_rate_of_others(void **state) {
    (void)state;
    enum { CLIENTS = 20, LATER = 60 };
    struct client clients[CLIENTS], later[LATER];
    begin_handshakes_at_once(clients, CLIENTS);
    for (int i = 0; i < LATER; i++) later[i] = half_shaken(SIZE_MAX);
    /* How many of the later ones begin meanwhile depends on how they arrive: by newest first, hardly
     * any of the others would have. */
    assert_uint_in_range((uint64_t)count_answered(clients, CLIENTS), CLIENTS / 2, CLIENTS);
    for (int i = 0; i < CLIENTS; i++) client_free(&clients[i]);
    for (int i = 0; i < LATER; i++) client_free(&later[i]);
}

static void an_iteration_ends_few_that_have_gone(void **state) {
    (void)state;
    enum { CLIENTS = 100 };
    struct client clients[CLIENTS];
    begin_handshakes_at_once(clients, CLIENTS);
    for (int i = 0; i < CLIENTS; i++) {
        if (i % 2) client_reset(clients[i].fd), clients[i].fd = -1;
        client_free(&clients[i]);
    }
    int most = 0;
    for (int ended = world.ended; ended < CLIENTS; ended = world.ended) {
        iterate();
        if (world.ended - ended > most) most = world.ended - ended;
    }
    /* Those whose handshake had begun are more: their end is seen as an event. */
    assert_uint_in_range((uint64_t)most, 1, TLS_TURN_GONE + 16);
}

static void half_handshakes_end_in_time_and_leave_nothing(void **state) {
    (void)state;
    enum { CLIENTS = 50 };
    struct tls_options options = server_options();
    options.handshake_timeout_ms = 1500;
    use(&options);
    struct client clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) clients[i] = half_shaken(i % 2 ? SIZE_MAX : 30);
    ITERATE_UNTIL(world.ended == CLIENTS);
    for (int i = 0; i < CLIENTS; i++) {
        await_end(&clients[i]);
        client_free(&clients[i]);
    }
    struct client good = connected(TLS1_3_VERSION);
    assert_echo(&good, 100, SIZE_MAX);
    client_free(&good);
}

static void clients_that_vanish_in_their_handshake_leave_nothing(void **state) {
    (void)state;
    enum { CLIENTS = 50 };
    for (int i = 0; i < CLIENTS; i++) {
        struct client client = half_shaken(i % 3 ? SIZE_MAX : 100);
        if (i % 2) iterate();
        if (i % 5 == 0) client_reset(client.fd), client.fd = -1;
        client_free(&client);
    }
    ITERATE_UNTIL(world.ended == CLIENTS);
}

static void other_protocols_are_closed(void **state) {
    (void)state;
    static const char *const texts[] = {"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
                                        "*1\r\n$4\r\nPING\r\n",
                                        "SSH-2.0-OpenSSH_9.2\r\n",
                                        "\x80\x2e\x01\x03\x01",
                                        "\x16\x03\x01\xff\xff garbage",
                                        "\x16",
                                        "\x16\x03\x01\x00\x00",
                                        "\x15\x03\x01\x00\x02\x02\x28",
                                        "\x17\x03\x03\x00\x01x"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        int ended_before = world.ended;
        int fd = client_new();
        client_send(fd, texts[i], strlen(texts[i]) ? strlen(texts[i]) : 1);
        shutdown(fd, SHUT_WR);
        ITERATE_UNTIL(world.ended > ended_before);
        close(fd);
    }
}

/* --- Records --- */

static void renegotiation_is_refused(void **state) {
    (void)state;
    struct client client = connected(TLS1_2_VERSION);
    assert_echo(&client, 10, SIZE_MAX);
    SSL_SESSION *before = SSL_get1_session(client.ssl);
    SSL_renegotiate(client.ssl);
    SSL_do_handshake(client.ssl);
    push(&client, SIZE_MAX);
    ITERATE_UNTIL((pull(&client), SSL_do_handshake(client.ssl),
                   BIO_pending(client.in) == 0 &&
                       (client.at_end || SSL_get_error(client.ssl, -1) == SSL_ERROR_SSL)));
    assert_ptr_equal(SSL_get0_session(client.ssl), before);
    ERR_clear_error();
    SSL_SESSION_free(before);
    client_free(&client);
    ITERATE_UNTIL(world.ended == 1);
}

static void there_is_no_compression(void **state) {
    (void)state;
    struct client client = client_make(NULL, TLS1_2_VERSION);
    SSL_clear_options(client.ssl, SSL_OP_NO_COMPRESSION);
    assert_true(shake_in_pieces(&client, SIZE_MAX));
    assert_null(SSL_get_current_compression(client.ssl));
    client_free(&client);
}

/* --- Closing in the middle --- */

/* What each of these connections sends is more than one iteration reads, so that all of them wait
 * for their turn. */
enum { WALKERS = 6, MUCH = 700 * 1000 };
static struct conn *walkers[WALKERS];
static int walker_count;
static int closes_at; /* which connection closes the others, at which call */

static void note_walker(struct conn *conn) {
    walkers[walker_count++ % WALKERS] = conn;
}

static size_t close_others(struct conn *conn, char *bytes, size_t len) {
    (void)bytes;
    if (session_of(conn)->data_calls == 2 && conn == walkers[closes_at])
        for (int i = 0; i < WALKERS; i++)
            if (i != closes_at || closes_at == 1) conn_close(walkers[i]);
    return len;
}

static void a_connection_with_input_may_be_closed_by_another(void **state) {
    (void)state;
    char *text = mem_alloc(MUCH);
    stream_fill(text, MUCH, 0);
    for (closes_at = 0; closes_at < WALKERS; closes_at++) {
        struct client clients[WALKERS];
        walker_count = 0;
        memset(walkers, 0, sizeof(walkers)); /* with I/O threads some may still be read from */
        world.on_opened = note_walker;
        world.on_data = close_others;
        for (int i = 0; i < WALKERS; i++) clients[i] = connected(TLS1_3_VERSION);
        for (int i = 0; i < WALKERS; i++) SSL_write(clients[i].ssl, text, MUCH);
        bool is_left = true;
        char bytes[64 * 1024];
        while (is_left) {
            is_left = false;
            for (int i = 0; i < WALKERS; i++) {
                if (clients[i].at_end) continue;
                int len = BIO_read(clients[i].out, bytes, sizeof(bytes));
                if (len <= 0) continue;
                is_left = true;
                ssize_t sent = send(clients[i].fd, bytes, (size_t)len, MSG_NOSIGNAL);
                if (sent < 0 && errno != EAGAIN) clients[i].at_end = true;
            }
            iterate();
        }
        for (int i = 0; i < 20; i++) iterate();
        for (int i = 0; i < WALKERS; i++) client_free(&clients[i]);
        for (int i = 0; i < 20; i++) iterate();
    }
    mem_free(text);
}

static size_t close_at_once(struct conn *conn, char *bytes, size_t len) {
    (void)bytes;
    conn_close(conn);
    return len;
}

static void one_may_close_itself_with_more_input_waiting(void **state) {
    (void)state;
    world.on_data = close_at_once;
    struct client client = connected(TLS1_3_VERSION);
    char text[16384];
    stream_fill(text, sizeof(text), 0);
    for (int i = 0; i < 10; i++) SSL_write(client.ssl, text, sizeof(text));
    char bytes[64 * 1024];
    int len = BIO_read(client.out, bytes, sizeof(bytes));
    assert_int_equal(send(client.fd, bytes, (size_t)len, 0), len);
    await_end(&client);
    client_free(&client);
}

/* --- Changes under load --- */

static void contexts_may_change_while_handshakes_go_on(void **state) {
    (void)state;
    enum { CLIENTS = 40 };
    struct tls_options options = server_options();
    struct client clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = half_shaken(i % 4 ? SIZE_MAX : 50);
        if (i % 5) iterate();
        options.cert_file = file(i % 2 ? "rsa.crt" : "server.crt");
        options.key_file = file(i % 2 ? "rsa.key" : "server.key");
        options.new_per_turn = (unsigned)(i % 3 + 1);
        use(&options);
    }
    for (int i = 0; i < CLIENTS; i++) {
        if (i % 4) {
            assert_true(shake_in_pieces(&clients[i], SIZE_MAX));
            assert_echo(&clients[i], 1000, SIZE_MAX);
        }
        client_free(&clients[i]);
    }
}

int main(void) {
    clock_init();
    const struct CMUnitTest tests[] = {
        TLS_TEST(slow_handshakes_give_way_to_new_clients),
        TLS_TEST(those_who_wait_for_others_do_not_time_out),
        TLS_TEST(a_new_client_waits_for_few_of_those_before),
        TLS_TEST(clients_that_keep_coming_halve_the_rate_of_others),
        TLS_TEST(an_iteration_ends_few_that_have_gone),
        TLS_TEST(half_handshakes_end_in_time_and_leave_nothing),
        TLS_TEST(clients_that_vanish_in_their_handshake_leave_nothing),
        TLS_TEST(other_protocols_are_closed),
        TLS_TEST(renegotiation_is_refused),
        TLS_TEST(there_is_no_compression),
        TLS_TEST(a_connection_with_input_may_be_closed_by_another),
        TLS_TEST(one_may_close_itself_with_more_input_waiting),
        TLS_TEST(contexts_may_change_while_handshakes_go_on),
    };
    return cmocka_run_group_tests(tests, make_certificates, remove_certificates);
}
