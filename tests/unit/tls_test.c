/* TLS connections over the loopback interface. */
#include "net/connections/dial.h"
#include "net/nested_poll.h"
#include "unit/in_range.h"
#include "unit/tls_fixture.h"

#include "net/tls/tls_context_internal.h"
#include "net/tls/tls_state.h"

#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

/* --- Tests --- */

static void bytes_come_back_whatever_their_number(void **state) {
    (void)state;
    const size_t sizes[] = {1, 2, 100, 16383, 16384, 16385, 100 * 1000, 3 * 1000 * 1000};
    for (int v = 0; v < 2; v++) {
        struct client client = connected(VERSIONS[v]);
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
            assert_echo(&client, sizes[i], SIZE_MAX);
        client_free(&client);
    }
}

static void records_may_be_cut_at_every_byte(void **state) {
    (void)state;
    for (int v = 0; v < 2; v++) {
        for (size_t most = 1; most < 8; most++) {
            struct client client = client_make(NULL, VERSIONS[v]);
            assert_true(shake_in_pieces(&client, most));
            assert_echo(&client, 300, most);
            client_free(&client);
        }
    }
}

static void each_cut_of_a_record_gives_the_same(void **state) {
    (void)state;
    struct client client = connected(TLS1_3_VERSION);
    char record[200], answer[3];
    for (int cut = 1;; cut++) {
        assert_int_equal(SSL_write(client.ssl, "abc", 3), 3);
        int len = BIO_read(client.out, record, sizeof(record));
        if (cut == len) break;
        client_send(client.fd, record, (size_t)cut);
        iterate();
        client_send(client.fd, record + cut, (size_t)(len - cut));
        receive(&client, answer, 3);
        assert_memory_equal(answer, "abc", 3);
    }
    client_free(&client);
}

static size_t hold_bytes(struct conn *conn, char *bytes, size_t len) {
    for (size_t i = 0; i < len; i++) conn_hold(conn, bytes + i, 1);
    return len;
}

static void replies_of_one_iteration_are_one_record(void **state) {
    (void)state;
    struct client client = connected(TLS1_3_VERSION);
    world.on_data = hold_bytes;
    assert_echo(&client, 10, SIZE_MAX); /* the session ticket is read before */
    char text[20], record[200];
    stream_fill(text, sizeof(text), 0);
    SSL_write(client.ssl, text, sizeof(text));
    push(&client, SIZE_MAX);
    ssize_t len;
    ITERATE_UNTIL((len = recv(client.fd, record, sizeof(record), 0)) > 0);
    assert_int_equal(len, sizeof(text) + 22);
    client_free(&client);
}

/* Returns whether a record has that byte. */
static bool damaged_at(size_t at) {
    struct client client = connected(TLS1_3_VERSION);
    struct session *session = session_of(world.newest);
    size_t before = session->received;
    char record[200];
    int ended_before = world.ended;
    SSL_write(client.ssl, "abcdef", 6);
    int len = BIO_read(client.out, record, sizeof(record));
    if (at >= (size_t)len) {
        client_free(&client);
        ITERATE_UNTIL(world.ended > ended_before);
        return false;
    }
    record[at] ^= 0x40;
    client_send(client.fd, record, (size_t)len);
    shutdown(client.fd, SHUT_WR); /* a changed length waits for more bytes */
    ITERATE_UNTIL(world.ended > ended_before);
    assert_int_equal(before, 0);
    await_end(&client);
    client_free(&client);
    return true;
}

static void remember_received(struct conn *conn) {
    last_words = *session_of(conn);
    conn_close(conn);
}

static void a_damaged_record_ends_the_connection(void **state) {
    (void)state;
    world.on_ended = remember_received;
    for (size_t at = 0; damaged_at(at); at++) assert_int_equal(last_words.received, 0);
}

static void reordered_and_repeated_records_end_the_connection(void **state) {
    (void)state;
    world.on_ended = remember_received;
    for (int repeated = 0; repeated < 2; repeated++) {
        for (int v = 0; v < 2; v++) {
            struct client client = connected(VERSIONS[v]);
            int ended_before = world.ended;
            char first[200], second[200];
            SSL_write(client.ssl, "abc", 3);
            int first_len = BIO_read(client.out, first, sizeof(first));
            SSL_write(client.ssl, "def", 3);
            int second_len = BIO_read(client.out, second, sizeof(second));
            if (repeated) client_send(client.fd, first, (size_t)first_len);
            if (!repeated) client_send(client.fd, second, (size_t)second_len);
            client_send(client.fd, first, (size_t)first_len);
            ITERATE_UNTIL(world.ended > ended_before);
            assert_int_equal(last_words.received, repeated ? 3 : 0);
            client_free(&client);
        }
    }
}

static void the_input_ends_with_and_without_close_notify(void **state) {
    (void)state;
    world.on_ended = remember_received;
    for (int with = 0; with < 2; with++) {
        struct client client = connected(TLS1_3_VERSION);
        int ended_before = world.ended;
        SSL_write(client.ssl, "abc", 3);
        if (with) SSL_shutdown(client.ssl);
        push(&client, SIZE_MAX);
        if (!with) shutdown(client.fd, SHUT_WR);
        ITERATE_UNTIL(world.ended > ended_before);
        assert_int_equal(last_words.received, 3);
        assert_string_equal(last_words.reason, "the other side closed");
        client_free(&client);
    }
}

static void the_server_says_goodbye(void **state) {
    (void)state;
    struct client client = connected(TLS1_3_VERSION);
    char byte;
    assert_echo(&client, 5, SIZE_MAX);
    conn_close(world.newest);
    await_end(&client);
    int result = SSL_read(client.ssl, &byte, 1);
    assert_int_equal(SSL_get_error(client.ssl, result), SSL_ERROR_ZERO_RETURN);
    client_free(&client);
}

static void plain_text_is_closed_and_costs_no_memory(void **state) {
    (void)state;
    int ended_before = world.ended;
    int fd = client_new();
    size_t before = conn_allocated(world.newest);
    client_send(fd, "PING\r\n", 6);
    world.on_ended = remember_received;
    iterate();
    if (world.ended == ended_before) assert_int_equal(conn_allocated(world.newest), before);
    ITERATE_UNTIL(world.ended > ended_before);
    assert_int_equal(last_words.data_calls, 0);
    close(fd);
}

static void silent_clients_are_closed_in_time(void **state) {
    (void)state;
    struct tls_options options = server_options();
    options.handshake_timeout_ms = 1;
    use(&options);
    int fd = client_new(); /* the context counts from the start */
    ITERATE_UNTIL(world.ended > 0);
    close(fd);
}

static void an_iteration_begins_few_handshakes(void **state) {
    (void)state;
    enum { CLIENTS = 20 };
    struct client clients[CLIENTS];
    begin_handshakes_at_once(clients, CLIENTS);
    int answered = 0;
    for (int i = 0; i < CLIENTS; i++) {
        char byte;
        answered += recv(clients[i].fd, &byte, 1, MSG_PEEK) == 1;
    }
    assert_uint_in_range(answered, 0, 4);
    close(clients[5].fd); /* it gives up */
    clients[5].fd = -1;
    for (int i = 0; i < CLIENTS; i++) {
        if (i == 5) continue;
        assert_true(shake_in_pieces(&clients[i], SIZE_MAX));
        assert_echo(&clients[i], 3, SIZE_MAX);
    }
    for (int i = 0; i < CLIENTS; i++) client_free(&clients[i]);
}

static void floods_of_key_updates_are_closed(void **state) {
    (void)state;
    struct client client = connected(TLS1_3_VERSION);
    for (int i = 0; i < 10; i++) { /* some are good */
        SSL_key_update(client.ssl, SSL_KEY_UPDATE_REQUESTED);
        SSL_do_handshake(client.ssl);
        assert_echo(&client, 10, SIZE_MAX);
    }
    for (int i = 0; i < 1000; i++) {
        SSL_key_update(client.ssl, SSL_KEY_UPDATE_NOT_REQUESTED);
        SSL_do_handshake(client.ssl);
    }
    push(&client, SIZE_MAX);
    ITERATE_UNTIL(world.ended > 0);
    client_free(&client);
}

/* --- Records that OpenSSL would not send: of TLS 1.3 with AES-128-GCM --- */

enum { SECRET = 32, KEY = 16, IV = 12, TAG = 16, HANDSHAKE_TYPE = 22 };

static char client_secret[2 * SECRET + 1]; /* hexadecimal */

static void note_secret(const SSL *ssl, const char *line) {
    (void)ssl;
    static const char label[] = "CLIENT_TRAFFIC_SECRET_0 ";
    if (strncmp(line, label, strlen(label)) == 0)
        snprintf(client_secret, sizeof(client_secret), "%s", strrchr(line, ' ') + 1);
}

/* Writes what the secret expands to with this label. */
static void expand(const char *label, unsigned char *to, size_t len) {
    long secret_len;
    unsigned char *secret = OPENSSL_hexstr2buf(client_secret, &secret_len);
    unsigned char info[64];
    int info_len = snprintf((char *)info, sizeof(info), "...tls13 %s", label);
    info[0] = 0;
    info[1] = (unsigned char)len;
    info[2] = (unsigned char)(info_len - 3);
    info[info_len++] = 0; /* no context */
    EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
    EVP_KDF_CTX *context = EVP_KDF_CTX_new(kdf);
    int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
    OSSL_PARAM params[] = {OSSL_PARAM_utf8_string("digest", "SHA256", 6),
                           OSSL_PARAM_int("mode", &mode),
                           OSSL_PARAM_octet_string("key", secret, (size_t)secret_len),
                           OSSL_PARAM_octet_string("info", info, (size_t)info_len), OSSL_PARAM_END};
    assert_int_equal(EVP_KDF_derive(context, to, len, params), 1);
    EVP_KDF_CTX_free(context);
    EVP_KDF_free(kdf);
    OPENSSL_free(secret);
}

/* Sends a record of the handshake with these bytes, the client's record of that number. */
static void send_handshake_record(struct client *client, const char *bytes, size_t len,
                                  unsigned char number) {
    unsigned char key[KEY], iv[IV], plain[16], record[64] = {23, 3, 3, 0};
    expand("key", key, KEY);
    expand("iv", iv, IV);
    iv[IV - 1] ^= number;
    memcpy(plain, bytes, len);
    plain[len] = HANDSHAKE_TYPE;
    record[4] = (unsigned char)(len + 1 + TAG);
    int written;
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    EVP_EncryptInit_ex(cipher, EVP_aes_128_gcm(), NULL, key, iv);
    EVP_EncryptUpdate(cipher, NULL, &written, record, TLS_HEADER);
    EVP_EncryptUpdate(cipher, record + TLS_HEADER, &written, plain, (int)len + 1);
    EVP_EncryptFinal_ex(cipher, record + TLS_HEADER + written, &written);
    EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, TAG, record + TLS_HEADER + len + 1);
    EVP_CIPHER_CTX_free(cipher);
    client_send(client->fd, (char *)record, TLS_HEADER + len + 1 + TAG);
}

static void output_waits_for_the_rest_of_a_key_update(void **state) {
    (void)state;
    static const char update[] = {24, 0, 0, 1, 0};
    struct client client = client_make(NULL, TLS1_3_VERSION);
    SSL_CTX_set_keylog_callback(client.context, note_secret);
    SSL_set_ciphersuites(client.ssl, "TLS_AES_128_GCM_SHA256");
    assert_true(shake_in_pieces(&client, SIZE_MAX));
    char received[16];
    assert_echo(&client, 5, SIZE_MAX); /* the client's record 0 */
    conn_queue(world.newest, "before", 6);
    receive(&client, received, 6);
    send_handshake_record(&client, update, 4, 1); /* the header of the message */
    for (int i = 0; i < 20; i++) iterate();
    conn_queue(world.newest, "01234567", 8);
    for (int i = 0; i < 20; i++) iterate();
    assert_int_equal(world.ended, 0);
    assert_int_equal(conn_pending_output(world.newest), 8);
    send_handshake_record(&client, update + 4, 1, 2);
    receive(&client, received, 8);
    assert_memory_equal(received, "01234567", 8);
    assert_int_equal(conn_pending_output(world.newest), 0);
    client_free(&client);
}

static void one_byte_records_are_all_read(void **state) {
    (void)state;
    enum { COUNT = 3000 };
    struct client client = connected(TLS1_3_VERSION);
    char received[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        char byte = stream_byte(i);
        SSL_write(client.ssl, &byte, 1);
    }
    push(&client, SIZE_MAX);
    receive(&client, received, COUNT);
    assert_stream(received, COUNT, 0);
    client_free(&client);
}

static void paused_input_comes_later(void **state) {
    (void)state;
    struct client client = connected(TLS1_3_VERSION);
    char received[10];
    conn_pause_input(world.newest);
    SSL_write(client.ssl, "0123456789", 10);
    push(&client, SIZE_MAX);
    for (int i = 0; i < 5; i++) iterate();
    assert_int_equal(session_of(world.newest)->received, 0);
    conn_resume_input(world.newest);
    receive(&client, received, 10);
    assert_memory_equal(received, "0123456789", 10);
    client_free(&client);
}

static size_t answer_much(struct conn *conn, char *bytes, size_t len) {
    enum { MUCH = 8 * 1000 * 1000 };
    (void)bytes;
    char *answer = mem_alloc(MUCH);
    stream_fill(answer, MUCH, 0);
    conn_queue_owned(conn, answer, 0, MUCH);
    return len;
}

static void a_slow_reader_gets_everything_in_order(void **state) {
    (void)state;
    enum { MUCH = 8 * 1000 * 1000 };
    struct client client = connected(TLS1_3_VERSION);
    world.on_data = answer_much;
    SSL_write(client.ssl, "x", 1);
    push(&client, SIZE_MAX);
    for (int i = 0; i < 50; i++) iterate();
    assert_true(conn_pending_output(world.newest) > 0);
    world.on_data = echo; /* its input goes on meanwhile */
    SSL_write(client.ssl, "yz", 2);
    push(&client, SIZE_MAX);
    char *received = mem_alloc(MUCH + 2);
    receive(&client, received, MUCH + 2);
    assert_stream(received, MUCH, 0);
    assert_memory_equal(received + MUCH, "yz", 2);
    assert_int_equal(conn_pending_output(world.newest), 0);
    mem_free(received);
    client_free(&client);
}

static void closing_while_much_is_unsent(void **state) {
    (void)state;
    struct client client = connected(TLS1_3_VERSION);
    world.on_data = answer_much;
    SSL_write(client.ssl, "x", 1);
    push(&client, SIZE_MAX);
    for (int i = 0; i < 20; i++) iterate();
    conn_close(world.newest);
    await_end(&client);
    client_free(&client);
}

static size_t last_answer(struct conn *conn, char *bytes, size_t len) {
    size_t consumed = answer_much(conn, bytes, len);
    conn_close_after_write(conn);
    return consumed;
}

static void the_last_answer_arrives_before_the_end(void **state) {
    (void)state;
    enum { MUCH = 8 * 1000 * 1000 };
    struct client client = connected(TLS1_3_VERSION);
    world.on_data = last_answer;
    SSL_write(client.ssl, "x", 1);
    push(&client, SIZE_MAX);
    char *received = mem_alloc(MUCH);
    receive(&client, received, MUCH);
    assert_stream(received, MUCH, 0);
    await_end(&client);
    assert_int_equal(world.drained, 1);
    mem_free(received);
    client_free(&client);
}

static void say_and_close(struct conn *conn) {
    conn_queue(conn, "no\r\n", 4);
    conn_close_after_write(conn);
}

static void output_waits_for_the_handshake(void **state) {
    (void)state;
    world.on_opened = say_and_close;
    struct client client = connected(TLS1_3_VERSION);
    char received[4];
    receive(&client, received, 4);
    assert_memory_equal(received, "no\r\n", 4);
    await_end(&client);
    client_free(&client);
}

/* Returns whether a client with that certificate, or none, gets an echo. */
static bool is_let_in(const char *certificate, int version) {
    struct client client = client_make(certificate, version);
    int ended_before = world.ended;
    bool is_good = shake_in_pieces(&client, SIZE_MAX);
    if (is_good) {
        SSL_write(client.ssl, "abc", 3);
        push(&client, SIZE_MAX);
        char bytes[3];
        int got = -1;
        ITERATE_UNTIL((pull(&client), got = SSL_read(client.ssl, bytes, 3),
                       got == 3 || client.at_end || world.ended > ended_before));
        is_good = got == 3;
    }
    ERR_clear_error();
    client_free(&client);
    ITERATE_UNTIL(world.ended > ended_before); /* else it would be taken for the next one's end */
    return is_good;
}

static void certificates_of_clients_are_asked_for(void **state) {
    (void)state;
    static const bool GOOD[3][3] = {{true, true, true},   /* no: none, client, stranger */
                                    {false, true, false}, /* yes */
                                    {true, true, false}}; /* optional */
    const char *names[] = {NULL, "client", "stranger"};
    for (int auth = 0; auth < 3; auth++) {
        struct tls_options options = server_options();
        options.auth = (enum tls_auth)auth;
        use(&options);
        for (int v = 0; v < 2; v++)
            for (int i = 0; i < 3; i++)
                assert_int_equal(is_let_in(names[i], VERSIONS[v]), GOOD[auth][i]);
    }
}

static void sessions_are_resumed_unless_the_context_is_new(void **state) {
    (void)state;
    for (int v = 0; v < 2; v++) {
        struct client first = connected(VERSIONS[v]);
        assert_echo(&first, 3, SIZE_MAX);
        SSL_SESSION *session = SSL_get1_session(first.ssl);
        for (int is_new = 0; is_new < 2; is_new++) {
            struct tls_options options = server_options();
            if (is_new) use(&options);
            struct client again = client_make(NULL, VERSIONS[v]);
            SSL_set_session(again.ssl, session);
            assert_true(shake_in_pieces(&again, SIZE_MAX));
            assert_int_equal(SSL_session_reused(again.ssl), !is_new);
            assert_echo(&again, 3, SIZE_MAX);
            client_free(&again);
        }
        SSL_SESSION_free(session);
        assert_echo(&first, 3, SIZE_MAX); /* old connections go on */
        client_free(&first);
    }
}

enum { IDLE_CLIENTS = 10 };

static size_t average_allocated(struct conn *const conns[IDLE_CLIENTS]) {
    size_t sum = 0;
    for (int i = 0; i < IDLE_CLIENTS; i++) sum += conn_allocated(conns[i]);
    return sum / IDLE_CLIENTS;
}

static void an_idle_connection_is_small_and_counted(void **state) {
    (void)state;
    struct client clients[IDLE_CLIENTS];
    struct conn *conns[IDLE_CLIENTS];
    for (int i = 0; i < IDLE_CLIENTS; i++) {
        clients[i] = connected(TLS1_3_VERSION);
        assert_echo(&clients[i], 1000, SIZE_MAX);
        conns[i] = world.newest;
        assert_true(conn_allocated(conns[i]) >= TLS_BUFFERS);
    }
    ITERATE_UNTIL(average_allocated(conns) <= 20 * 1024);
#ifndef PACKLIST_LIBC_MALLOC /* what libraries take is counted */
    assert_true(average_allocated(conns) >= 5000);
#endif
    for (int i = 0; i < IDLE_CLIENTS; i++) {
        assert_echo(&clients[i], 1000, SIZE_MAX);
        client_free(&clients[i]);
    }
}

/* For longer than an idle connection keeps its buffers. */
static void iterate_until_idle(void) {
    int64_t start = now_ms();
    ITERATE_UNTIL(now_ms() - start > 1300);
}

static void buffers_with_a_part_of_a_record_are_kept(void **state) {
    (void)state;
    struct client client = connected(TLS1_3_VERSION);
    char record[200], answer[3];
    const int cuts[] = {TLS_HEADER - 1, TLS_HEADER, TLS_HEADER + 1};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(SSL_write(client.ssl, "abc", 3), 3);
        int len = BIO_read(client.out, record, sizeof(record));
        client_send(client.fd, record, (size_t)cuts[i]);
        iterate_until_idle();
        assert_true(conn_allocated(world.newest) >= TLS_BUFFERS);
        client_send(client.fd, record + cuts[i], (size_t)(len - cuts[i]));
        receive(&client, answer, 3);
        assert_memory_equal(answer, "abc", 3);
    }
    iterate_until_idle();
    assert_true(conn_allocated(world.newest) < TLS_BUFFERS);
    client_free(&client);
}

static void assert_refused(struct tls_options options, const char *what) {
    char error[TLS_ERROR_MAX] = "";
    assert_null(tls_context_new(&options, error));
    if (!strstr(error, what)) fail_msg("\"%s\" lacks \"%s\"", error, what);
}

static void wrong_options_are_refused(void **state) {
    (void)state;
    struct tls_options good = server_options(), bad = good;
    bad.cert_file = "";
    assert_refused(bad, "No tls-cert-file configured!");
    bad = good, bad.key_file = NULL;
    assert_refused(bad, "No tls-key-file configured!");
    bad = good, bad.cert_file = file("none.crt");
    assert_refused(bad, "none.crt: No such file or directory");
    bad.cert_file = file("server.key");
    assert_refused(bad, "server.key: no start line");
    bad = good, bad.key_file = file("none.key");
    assert_refused(bad, "Failed to load private key: ");
    bad = good, bad.key_file = file("server.crt");
    assert_refused(bad, "Failed to load private key: ");
    bad = good, bad.key_file = file("rsa.key");
    assert_refused(bad, "rsa.key: it is not the key of the certificate");
    bad = good, bad.key_file = file("client.key");
    assert_refused(bad, "client.key: it is not the key of the certificate");
    bad = good, bad.cert_file = file("expired.crt");
    assert_refused(bad, "has expired");
    bad = good, bad.cert_file = file("early.crt");
    assert_refused(bad, "is not yet valid");
    bad = good, bad.key_file = file("locked.key");
    assert_refused(bad, "locked.key: it needs a password, and none is configured");
    bad.key_password = "wrong";
    assert_refused(bad, "locked.key: its password is another one");
    bad = good, bad.ca_file = file("none.crt");
    assert_refused(bad, "Failed to configure CA certificate(s) file: ");
    bad = good, bad.ca_file = file("server.key");
    assert_refused(bad, "Failed to configure CA certificate(s) file: ");
    bad = good, bad.ca_file = file("empty"), bad.auth = TLS_AUTH_YES;
    fclose(fopen(bad.ca_file, "w"));
    assert_refused(bad, "Failed to configure CA certificate(s) file: ");
    bad.ca_file = file("expired.crt");
    assert_refused(bad, "expired.crt: no certificate in it is valid now");
    bad = good, bad.ca_file = NULL, bad.auth = TLS_AUTH_YES;
    assert_refused(bad, "Either tls-ca-cert-file or tls-ca-cert-dir must be specified");
    bad = good, bad.protocols = "TLSv1.2 SSLv3";
    assert_refused(bad, "Invalid tls-protocols specified.");
    bad = good, bad.ciphers = "nothing";
    assert_refused(bad, "Failed to configure ciphers: ");
    bad = good, bad.ciphersuites = "nothing";
    assert_refused(bad, "Failed to configure ciphersuites: ");
    bad = good, bad.dh_params_file = file("server.key");
    assert_refused(bad, "Failed to load DH parameters: ");
}

static void good_options_are_taken(void **state) {
    (void)state;
    struct tls_options options = server_options();
    options.key_file = file("locked.key");
    options.key_password = "secret";
    options.protocols = "TLSv1.2";
    use(&options);
    assert_false(is_let_in(NULL, TLS1_3_VERSION));
    assert_true(is_let_in(NULL, TLS1_2_VERSION));
    options = server_options();
    options.cert_file = file("rsa.crt");
    options.key_file = file("rsa.key");
    options.ciphersuites = "TLS_CHACHA20_POLY1305_SHA256";
    options.ciphers = "ECDHE-RSA-AES128-GCM-SHA256";
    options.prefer_server_ciphers = true;
    use(&options);
    assert_true(is_let_in(NULL, TLS1_3_VERSION));
    assert_true(is_let_in(NULL, TLS1_2_VERSION));
}

static void a_client_may_have_no_certificate_but_no_wrong_one(void **state) {
    (void)state;
    char error[TLS_ERROR_MAX] = "";
    struct tls_options good = {.role = TLS_CLIENT, .ca_file = file("ca.crt")}, bad = good;
    tls_context_free(tls_context_new(&good, error));
    assert_string_equal(error, "");
    bad.cert_file = file("expired.crt"), bad.key_file = file("server.key");
    assert_refused(bad, "has expired");
    bad.cert_file = file("client.crt");
    assert_refused(bad, "it is not the key of the certificate");
}

static void the_context_names_its_certificates(void **state) {
    (void)state;
    struct tls_certificates all = tls_certificates(world.net, TLS_SERVER);
    const int64_t end = 2461449600; /* 2048-01-01 */
    assert_in_range(strlen(all.own.serial), 30, 40);
    assert_uint_in_range((uint64_t)all.own.ends_s, end - 2, end + 2);
    assert_in_range(strlen(all.trusted.serial), 30, 40);
    assert_true(all.trusted.ends_s < end);
    all = tls_certificates(world.net, TLS_CLIENT);
    assert_string_equal(all.own.serial, "");
    tls_use(world.net, TLS_SERVER, NULL);
    all = tls_certificates(world.net, TLS_SERVER);
    assert_string_equal(all.own.serial, "");
}

/* --- Dialled connections --- */

static struct conn *dialled;
static char heard[16];
static size_t heard_len;

static void dialled_opened(struct conn *conn, void *owner) {
    (void)owner;
    dialled = conn;
    conn_queue(conn, "hello", 5);
}

static size_t dialled_data(struct conn *conn, char *bytes, size_t len) {
    (void)conn;
    memcpy(heard + heard_len, bytes, len);
    heard_len += len;
    return len;
}

static int dialled_ended_calls;

static void dialled_ended(struct conn *conn, const char *reason) {
    (void)reason;
    dialled_ended_calls++;
    conn_close(conn);
}

static char dial_failure[300]; /* "": it did not fail */
static bool dial_is_refused;

static void dial_failed(void *owner, bool is_refused, const char *reason) {
    (void)owner;
    dial_is_refused = is_refused;
    snprintf(dial_failure, sizeof(dial_failure), "%s", reason);
}

static const struct conn_events DIALLED = {
    .session_size = 8, .opened = dialled_opened, .data = dialled_data, .ended = dialled_ended};

static struct dial *dial_to(const char *trusted, const char *host, const char *expected_name) {
    struct tls_options options = {.role = TLS_CLIENT, .ca_file = file(trusted)};
    use(&options);
    struct dial_order order = {.host = host,
                               .port = listener_port(world.listener),
                               .transport = &transport_tls,
                               .expected_name = expected_name,
                               .events = &DIALLED,
                               .failed = dial_failed};
    dialled = NULL;
    dial_failure[0] = '\0';
    heard_len = 0;
    dialled_ended_calls = 0;
    return dial_start(world.net, &order);
}

/* Returns whether the connection was opened and the server's echo came. */
static bool talks_with(const char *trusted, const char *host, const char *expected_name) {
    dial_to(trusted, host, expected_name);
    ITERATE_UNTIL(heard_len == 5 || dial_failure[0]);
    assert_true((dialled != NULL) == (heard_len == 5));
    if (heard_len != 5) return false;
    assert_memory_equal(heard, "hello", 5);
    return true;
}

/* What the client has named the server, in the last handshake. */
static char named[64];

static int note_name(SSL *ssl, int *alert, void *arg) {
    (void)alert, (void)arg;
    const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    snprintf(named, sizeof(named), "%s", name ? name : "");
    return SSL_TLSEXT_ERR_OK;
}

static void a_dialled_connection_talks(void **state) {
    (void)state;
    SSL_CTX_set_tlsext_servername_callback(world.net->tls->contexts[TLS_SERVER]->ssl, note_name);
    snprintf(named, sizeof(named), "not called");
    assert_true(talks_with("ca.crt", "127.0.0.1", NULL));
    assert_string_equal(named, "");
    assert_true(talks_with("ca.crt", "localhost", ""));
    assert_string_equal(named, "localhost");
}

static void assert_fails(const char *reason) {
    char *at = strstr(dial_failure, "TLS with 127.0.0.1:");
    if (at != dial_failure || !strstr(dial_failure, reason)) fail_msg("%s", dial_failure);
    assert_false(dial_is_refused);
}

static void a_dialled_server_must_be_trusted(void **state) {
    (void)state;
    assert_false(talks_with("other-ca.crt", "127.0.0.1", NULL));
    assert_fails(" failed: self-signed certificate in certificate chain");
    ITERATE_UNTIL(world.ended == 1);
}

static void a_dialled_server_must_be_the_expected_one(void **state) {
    (void)state;
    assert_true(talks_with("ca.crt", "127.0.0.1", "localhost"));
    assert_true(talks_with("ca.crt", "127.0.0.1", "127.0.0.1"));
    assert_false(talks_with("ca.crt", "127.0.0.1", "primary.localhost"));
    assert_fails(" failed: hostname mismatch");
    assert_false(talks_with("ca.crt", "localhost", "primary.localhost"));
    assert_fails(" failed: hostname mismatch");
    assert_false(talks_with("ca.crt", "127.0.0.1", "127.0.0.9"));
    assert_fails(" failed: IP address mismatch");
    assert_false(talks_with("ca.crt", "127.0.0.1", "*.localhost"));
}

/* The certificate of another server, which is given by a name. */
static void a_dialled_name_is_checked(void **state) {
    (void)state;
    struct tls_options options = server_options();
    options.cert_file = file("other-name.crt");
    use(&options);
    assert_false(talks_with("ca.crt", "localhost", NULL));
    assert_fails(" failed: hostname mismatch");
    assert_true(talks_with("ca.crt", "127.0.0.1", NULL));
    assert_true(talks_with("ca.crt", "localhost", "other.localhost"));
}

static size_t listen_only(struct conn *conn, char *bytes, size_t len) {
    (void)conn, (void)bytes;
    return len;
}

/* What the server is does not matter when it speaks no TLS. */
static void a_dial_to_plain_text_fails(void **state) {
    (void)state;
    listener_use(world.listener, &transport_tcp);
    assert_false(talks_with("ca.crt", "127.0.0.1", NULL));
    assert_fails(" failed: ");
}

/* Cancels a dial after so many iterations. Nothing is called then. */
static void a_dial_ends_early(void **state) {
    (void)state;
    for (int iterations = 0; iterations < 12; iterations++) {
        struct dial *dial = dial_to("ca.crt", "127.0.0.1", NULL);
        for (int i = 0; i < iterations && !dialled; i++) iterate();
        if (dialled)
            conn_close(dialled);
        else
            dial_cancel(dial);
        bool was_opened = dialled != NULL;
        for (int i = 0; i < 10; i++) iterate();
        assert_true((dialled != NULL) == was_opened);
        assert_string_equal(dial_failure, "");
    }
}

/* The net is freed during the lookup of a name, and during a handshake. */
static void a_dial_ends_with_its_net(void **state) {
    (void)state;
    listener_use(world.listener, &transport_tcp);
    world.on_data = listen_only;
    dial_to("ca.crt", "127.0.0.1", NULL);
    for (int i = 0; i < 10; i++) iterate();
    dial_to("ca.crt", "localhost", NULL);
    assert_null(dialled);
    assert_string_equal(dial_failure, "");
}

/* A server that accepts, and says nothing. */
static void a_dialled_handshake_has_a_time_limit(void **state) {
    (void)state;
    listener_use(world.listener, &transport_tcp);
    world.on_data = listen_only;
    struct tls_options options = {
        .role = TLS_CLIENT, .ca_file = file("ca.crt"), .handshake_timeout_ms = 200};
    dial_to("ca.crt", "127.0.0.1", NULL);
    use(&options);
    ITERATE_UNTIL(dial_failure[0]);
    assert_fails(" failed: the handshake took too long");
}

/* --- Nested polling --- */

static struct conn *runner;
static bool (*until)(void);

static size_t run_nested(struct conn *conn, char *bytes, size_t len) {
    if (conn != runner) return echo(conn, bytes, len);
    assert_true(nested_poll_begin(world.net, false));
    int64_t start = now_ms();
    while (!until()) {
        assert_true(now_ms() - start < PATIENCE_MS);
        nested_poll_step(world.net);
    }
    nested_poll_end(world.net);
    return len;
}

static struct client *nested_client;
static char nested_heard[100 * 1000];
static size_t nested_len;

/* A client that comes during nested polling, shakes hands, and gets an echo. */
static bool nested_progress(void) {
    struct client *client = nested_client;
    char bytes[64 * 1024];
    int got;
    if (client->fd < 0) client->fd = client_try();
    pull(client);
    if (SSL_do_handshake(client->ssl) == 1 && nested_len == 0 && SSL_pending(client->ssl) == 0) {
        static bool is_sent;
        if (!is_sent) {
            char *text = mem_alloc(sizeof(nested_heard));
            stream_fill(text, sizeof(nested_heard), 0);
            SSL_write(client->ssl, text, sizeof(nested_heard));
            mem_free(text);
        }
        is_sent = true;
    }
    while ((got = BIO_read(client->out, bytes, sizeof(bytes))) > 0)
        assert_int_equal(send(client->fd, bytes, (size_t)got, 0), got);
    while (nested_len < sizeof(nested_heard) &&
           (got = SSL_read(client->ssl, nested_heard + nested_len,
                           (int)(sizeof(nested_heard) - nested_len))) > 0)
        nested_len += (size_t)got;
    return nested_len == sizeof(nested_heard);
}

static void clients_are_served_inside_a_callback(void **state) {
    (void)state;
    struct client first = connected(TLS1_3_VERSION);
    runner = world.newest;
    world.on_data = run_nested;
    until = nested_progress;
    struct client client = client_make(NULL, TLS1_3_VERSION);
    close(client.fd);
    client.fd = -1;
    nested_client = &client;
    SSL_write(first.ssl, "x", 1);
    push(&first, SIZE_MAX);
    ITERATE_UNTIL(nested_len == sizeof(nested_heard));
    assert_stream(nested_heard, sizeof(nested_heard), 0);
    client.at_end = false;
    assert_echo(&client, 1000, SIZE_MAX); /* it goes on when the loop runs again */
    client_free(&client);
    client_free(&first);
}

int main(void) {
    clock_init();
    const struct CMUnitTest tests[] = {
        TLS_TEST(bytes_come_back_whatever_their_number),
        TLS_TEST(records_may_be_cut_at_every_byte),
        TLS_TEST(each_cut_of_a_record_gives_the_same),
        TLS_TEST(replies_of_one_iteration_are_one_record),
        TLS_TEST(a_damaged_record_ends_the_connection),
        TLS_TEST(reordered_and_repeated_records_end_the_connection),
        TLS_TEST(the_input_ends_with_and_without_close_notify),
        TLS_TEST(the_server_says_goodbye),
        TLS_TEST(plain_text_is_closed_and_costs_no_memory),
        TLS_TEST(silent_clients_are_closed_in_time),
        TLS_TEST(an_iteration_begins_few_handshakes),
        TLS_TEST(floods_of_key_updates_are_closed),
        TLS_TEST(output_waits_for_the_rest_of_a_key_update),
        TLS_TEST(one_byte_records_are_all_read),
        TLS_TEST(paused_input_comes_later),
        TLS_TEST(a_slow_reader_gets_everything_in_order),
        TLS_TEST(closing_while_much_is_unsent),
        TLS_TEST(the_last_answer_arrives_before_the_end),
        TLS_TEST(output_waits_for_the_handshake),
        TLS_TEST(certificates_of_clients_are_asked_for),
        TLS_TEST(sessions_are_resumed_unless_the_context_is_new),
        TLS_TEST(an_idle_connection_is_small_and_counted),
        TLS_TEST(buffers_with_a_part_of_a_record_are_kept),
        TLS_TEST(wrong_options_are_refused),
        TLS_TEST(good_options_are_taken),
        TLS_TEST(a_client_may_have_no_certificate_but_no_wrong_one),
        TLS_TEST(the_context_names_its_certificates),
        TLS_TEST(a_dialled_connection_talks),
        TLS_TEST(a_dialled_server_must_be_trusted),
        TLS_TEST(a_dialled_server_must_be_the_expected_one),
        TLS_TEST(a_dialled_name_is_checked),
        TLS_TEST(a_dial_to_plain_text_fails),
        TLS_TEST(a_dial_ends_early),
        TLS_TEST(a_dial_ends_with_its_net),
        TLS_TEST(a_dialled_handshake_has_a_time_limit),
        TLS_TEST(clients_are_served_inside_a_callback),
    };
    return cmocka_run_group_tests(tests, make_certificates, remove_certificates);
}
