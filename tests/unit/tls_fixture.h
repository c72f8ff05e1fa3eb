/* A TLS server of net/ that echoes, with certificates of tests/tls/make-certificates, and clients that are OpenSSL with
 * memory BIOs, whose records a test can cut, damage and reorder. Includes net_fixture.h. */
#ifndef PACKLIST_TESTS_UNIT_TLS_FIXTURE_H
#define PACKLIST_TESTS_UNIT_TLS_FIXTURE_H

#include "base/memory/alloc.h"
#include "net/tls/tls.h"
#include "unit/net_fixture.h"

#include <dirent.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <sys/wait.h>

/* --- Certificates --- */

static char folder[64];

static inline const char *file(const char *name) {
    static char paths[64][128];
    static unsigned next;
    char *path = paths[next++ % 64];
    snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
    return path;
}

static inline int make_certificates(void **state) {
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/packlist-tls.XXXXXX");
    if (!mkdtemp(folder)) return -1;
    pid_t child = fork();
    if (child == 0) {
        execl("tests/tls/make-certificates", "make-certificates", folder, (char *)NULL);
        _exit(127);
    }
    int status;
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : -1;
}

static inline int remove_certificates(void **state) {
    (void)state;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir) closedir(dir);
    return rmdir(folder);
}

/* --- The server --- */

static inline struct tls_options server_options(void) {
    return (struct tls_options){.role = TLS_SERVER,
                                .cert_file = file("server.crt"),
                                .key_file = file("server.key"),
                                .ca_file = file("ca.crt"),
                                .session_caching = true,
                                .session_cache_size = 100,
                                .session_cache_timeout_s = 300,
                                .new_per_turn = 10};
}

static inline void use(const struct tls_options *options) {
    char error[TLS_ERROR_MAX] = "";
    struct tls_context *context = tls_context_new(options, error);
    if (!context) fail_msg("%s", error);
    tls_use(world.net, options->role, context);
}

static inline int tls_setup(void **state) {
    if (setup(state) != 0) return -1;
    listener_use(world.listener, &transport_tls);
    struct tls_options options = server_options();
    use(&options);
    return 0;
}

#define TLS_TEST(name) cmocka_unit_test_setup_teardown(name, tls_setup, teardown)

/* --- Clients --- */

struct client {
    int fd;
    SSL_CTX *context;
    SSL *ssl;
    BIO *in;  /* records from the server */
    BIO *out; /* records for it */
    bool at_end;
};

static inline struct client client_make(const char *certificate, int version) {
    struct client client = {.context = SSL_CTX_new(TLS_client_method())};
    char name[32];
    SSL_CTX_load_verify_file(client.context, file("ca.crt"));
    SSL_CTX_set_verify(client.context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_min_proto_version(client.context, version);
    SSL_CTX_set_max_proto_version(client.context, version);
    if (certificate) {
        snprintf(name, sizeof(name), "%s.crt", certificate);
        assert_true(SSL_CTX_use_certificate_chain_file(client.context, file(name)));
        snprintf(name, sizeof(name), "%s.key", certificate);
        assert_true(SSL_CTX_use_PrivateKey_file(client.context, file(name), SSL_FILETYPE_PEM));
    }
    client.ssl = SSL_new(client.context);
    client.in = BIO_new(BIO_s_mem());
    client.out = BIO_new(BIO_s_mem());
    SSL_set_bio(client.ssl, client.in, client.out);
    SSL_set_connect_state(client.ssl);
    client.fd = client_new();
    return client;
}

static inline void client_free(struct client *client) {
    SSL_free(client->ssl);
    SSL_CTX_free(client->context);
    close(client->fd);
}

/* Sends all bytes, unless the server has closed. */
static inline void send_records(struct client *client, const char *bytes, size_t len) {
    while (len > 0 && !client->at_end) {
        ssize_t sent;
        ITERATE_UNTIL((sent = send(client->fd, bytes, len, MSG_NOSIGNAL)) >= 0 || errno != EAGAIN);
        if (sent < 0) {
            client->at_end = true;
            return;
        }
        bytes += sent;
        len -= (size_t)sent;
    }
}

/* Sends the records that OpenSSL has made, `most` bytes in each iteration. */
static inline void push(struct client *client, size_t most) {
    char bytes[64 * 1024];
    int len;
    while ((len = BIO_read(client->out, bytes,
                           most < sizeof(bytes) ? (int)most : (int)sizeof(bytes))) > 0) {
        send_records(client, bytes, (size_t)len);
        iterate();
    }
}

/* Gives OpenSSL what has arrived. */
static inline void pull(struct client *client) {
    char bytes[64 * 1024];
    ssize_t len;
    while ((len = recv(client->fd, bytes, sizeof(bytes), 0)) > 0)
        BIO_write(client->in, bytes, (int)len);
    if (len == 0 || errno != EAGAIN) client->at_end = true;
}

/* Returns whether the handshake has succeeded. */
static inline bool shake_in_pieces(struct client *client, size_t most) {
    int result = -1;
    ITERATE_UNTIL((pull(client), result = SSL_do_handshake(client->ssl), push(client, most),
                   result == 1 || client->at_end ||
                       SSL_get_error(client->ssl, result) != SSL_ERROR_WANT_READ));
    ERR_clear_error();
    return result == 1;
}

static inline struct client connected(int version) {
    struct client client = client_make(NULL, version);
    assert_true(shake_in_pieces(&client, SIZE_MAX));
    return client;
}

/* Makes clients that send the first record of their handshake all at once, of which an iteration begins few: then most
 * of them wait. */
static inline void begin_handshakes_at_once(struct client *clients, int count) {
    struct tls_options options = server_options();
    options.new_per_turn = 1;
    use(&options);
    for (int i = 0; i < count; i++) {
        clients[i] = client_make(NULL, TLS1_3_VERSION);
        SSL_do_handshake(clients[i].ssl);
    }
    for (int i = 0; i < count; i++) {
        char hello[4096];
        int len = BIO_read(clients[i].out, hello, sizeof(hello));
        assert_int_equal(send(clients[i].fd, hello, (size_t)len, 0), len);
    }
    iterate();
    iterate();
}

/* Receives exactly `len` bytes. */
static inline void receive(struct client *client, char *bytes, size_t len) {
    size_t have = 0;
    ITERATE_UNTIL(({
        pull(client);
        int got;
        while (have < len && (got = SSL_read(client->ssl, bytes + have, (int)(len - have))) > 0)
            have += (size_t)got;
        push(client, SIZE_MAX);
        have == len;
    }));
}

static inline void await_end(struct client *client) {
    ITERATE_UNTIL((pull(client), client->at_end));
}

static inline void assert_echo(struct client *client, size_t len, size_t most) {
    char *sent = mem_alloc(len), *received = mem_alloc(len);
    stream_fill(sent, len, 0);
    assert_int_equal(SSL_write(client->ssl, sent, (int)len), len);
    push(client, most);
    receive(client, received, len);
    assert_memory_equal(received, sent, len);
    mem_free(sent);
    mem_free(received);
}

static const int VERSIONS[] = {TLS1_2_VERSION, TLS1_3_VERSION};

#endif
