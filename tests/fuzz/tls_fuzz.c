/* A TLS server connection and a client whose records are cut, damaged, reordered and mixed with other
 * bytes. Whatever arrives, the server gets no byte but what the client has sent, in order, and all of
 * them when nothing was damaged; the same holds for the echo.
 *
 * Both sides run in memory: OpenSSL is the client, a transport without a socket the lower one.
 * Input: a byte of settings (1: TLS 1.2, 2: the steps shake hands or do not, 4: no session is resumed), then steps, a
 * byte each: what to do (the low three bits) and how much. Most inputs resume a session, which takes half the time of a
 * whole handshake with TLS 1.3, and a quarter with TLS 1.2. */
#include "base/clock.h"
#include "base/memory/alloc.h"
#include "fuzz/rdb_digest.h"
#include "net/net.h"
#include "net/tls/tls.h"
#include "net/tls/tls_state.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RECORDS_MAX = 1 << 17, END_STEPS = 3000, CHUNK = 37 };

enum step { WRITE, DELIVER, DELIVER_ALL, FLIP, REORDER, UPDATE_KEY, ITERATE, INSERT };

/* Records on their way to one side. */
struct way {
    char bytes[RECORDS_MAX];
    size_t len;
};

static struct world {
    struct net *net;
    SSL_CTX *client_context;
    SSL_SESSION *sessions[2]; /* of TLS 1.3 and 1.2, to be resumed */
    SSL *client;
    BIO *client_in;
    BIO *client_out;
    struct way to_server;
    struct way to_client;
    struct conn *lower; /* NULL: it was freed */
    struct conn *conn;
    bool lower_reads;
    bool lower_is_closing;
    bool is_shut;
    size_t most; /* bytes that the lower transport takes at once */
    uv_buf_t written;
    size_t sent;     /* bytes that the client has encrypted */
    size_t received; /* bytes that the server got */
    size_t echoed;   /* bytes that the client got back */
    bool is_damaged;
    bool has_ended;
} * world;

static char stream_byte(size_t at) {
    return (char)((at * 2654435761u) >> 13);
}

/* --- The lower transport --- */

static size_t take(const char *bytes, size_t len) {
    struct way *way = &world->to_client;
    if (len > world->most) len = world->most;
    if (len > RECORDS_MAX - way->len) len = RECORDS_MAX - way->len;
    memcpy(way->bytes + way->len, bytes, len);
    way->len += len;
    return len;
}

static int lower_accept(struct conn *conn, void *from) {
    (void)from;
    world->lower = conn;
    return 0;
}
static void lower_start_reading(struct conn *conn) {
    (void)conn;
    world->lower_reads = true;
}
static void lower_stop_reading(struct conn *conn) {
    (void)conn;
    world->lower_reads = false;
}
static ssize_t lower_try_write(struct conn *conn, const uv_buf_t *buffers, unsigned count) {
    (void)conn, (void)count;
    require(!world->written.base, "no write is outstanding");
    return (ssize_t)take(buffers[0].base, buffers[0].len);
}
static int lower_write(struct conn *conn, void *write, const uv_buf_t *buffers, unsigned count) {
    (void)conn, (void)write;
    require(!world->written.base && count == 1, "one write of one buffer");
    world->written = buffers[0];
    return 0;
}
static size_t lower_unsent(const struct conn *conn) {
    (void)conn;
    return world->written.len;
}
static void lower_shut_down(struct conn *conn) {
    (void)conn;
    world->is_shut = true;
}
static void lower_close(struct conn *conn) {
    (void)conn;
    world->lower_reads = false;
    world->lower_is_closing = true;
}
static int lower_fd(const struct conn *conn) {
    (void)conn;
    return -1;
}

static const struct transport LOWER = {.state_size = 16,
                                       .write_size = 16,
                                       .accept = lower_accept,
                                       .start_reading = lower_start_reading,
                                       .stop_reading = lower_stop_reading,
                                       .try_write = lower_try_write,
                                       .write = lower_write,
                                       .unsent = lower_unsent,
                                       .shut_down = lower_shut_down,
                                       .close = lower_close,
                                       .fd = lower_fd};
static struct filter over_lower;
static struct transport tls;

/* Makes a table like that of TLS over TCP. */
static void make_table(void) {
    over_lower = *transport_tls.filter;
    over_lower.lower = &LOWER;
    tls = transport_tls;
    tls.filter = &over_lower;
    tls.state_size = TLS_STATE_SIZE(16);
}

static void step_write(void) {
    uv_buf_t *left = &world->written;
    if (!left->base || world->lower_is_closing) return;
    size_t len = take(left->base, left->len);
    left->base += len;
    left->len -= len;
    if (left->len > 0) return;
    left->base = NULL;
    conn_written(world->lower, 0);
}

/* Brings at most `most` bytes to the server. */
static void deliver(size_t most) {
    struct way *way = &world->to_server;
    if (!world->lower || !world->lower_reads || way->len == 0) return;
    uv_buf_t room = conn_room(world->lower);
    if (!room.base) return;
    size_t len = way->len < most ? way->len : most;
    if (len > room.len) len = room.len;
    memcpy(room.base, way->bytes, len);
    way->len -= len;
    memmove(way->bytes, way->bytes + len, way->len);
    conn_received(world->lower, len);
}

static void iterate(void) {
    if (world->lower) step_write();
    net_poll(world->net);
    if (!world->lower || !world->lower_is_closing) return;
    struct conn *lower = world->lower;
    world->lower = NULL;
    world->written.base = NULL;
    conn_closed(lower);
}

/* --- The server --- */

static void opened(struct conn *conn, void *owner) {
    (void)owner;
    world->conn = conn;
}

static size_t data(struct conn *conn, char *bytes, size_t len) {
    for (size_t i = 0; i < len; i++)
        require(bytes[i] == stream_byte(world->received + i), "the server gets what was sent");
    world->received += len;
    require(world->received <= world->sent, "and no more");
    size_t sent = conn_try_write(conn, bytes, len);
    if (sent < len) conn_queue(conn, bytes + sent, len - sent);
    return len;
}

static void ended(struct conn *conn, const char *reason) {
    (void)reason;
    world->has_ended = true;
    conn_close_after_write(conn);
}

static const struct conn_events EVENTS = {
    .session_size = 8, .opened = opened, .data = data, .ended = ended};

/* --- The client --- */

static void collect_records(void) {
    struct way *way = &world->to_server;
    int len;
    while (way->len < RECORDS_MAX && (len = BIO_read(world->client_out, way->bytes + way->len,
                                                     (int)(RECORDS_MAX - way->len))) > 0)
        way->len += (size_t)len;
}

static void client_works(void) {
    char bytes[4096];
    int len;
    if (world->to_client.len > 0)
        BIO_write(world->client_in, world->to_client.bytes, (int)world->to_client.len);
    world->to_client.len = 0;
    if (SSL_do_handshake(world->client) == 1) {
        while ((len = SSL_read(world->client, bytes, sizeof(bytes))) > 0)
            for (int i = 0; i < len; i++)
                require(bytes[i] == stream_byte(world->echoed++), "the echo is what was sent");
        require(world->echoed <= world->received, "and no more");
    }
    ERR_clear_error();
    collect_records();
}

static void client_writes(size_t len) {
    char bytes[32 * CHUNK];
    if (!SSL_is_init_finished(world->client) || world->to_server.len > RECORDS_MAX / 2) return;
    for (size_t i = 0; i < len; i++) bytes[i] = stream_byte(world->sent + i);
    if (SSL_write(world->client, bytes, (int)len) == (int)len) world->sent += len;
    ERR_clear_error();
    collect_records();
}

/* Returns the size of the record that begins there, or 0 when it is not complete. */
static size_t record_size(size_t at) {
    enum { HEADER = 5 };
    const struct way *way = &world->to_server;
    if (way->len < at + HEADER) return 0;
    const uint8_t *bytes = (const uint8_t *)way->bytes + at;
    size_t size = HEADER + ((size_t)bytes[3] << 8 | bytes[4]);
    return size <= way->len - at ? size : 0;
}

/* Moves bytes from the front behind the `until - len` that follow them. */
static void move_back(size_t len, size_t until) {
    static char first[RECORDS_MAX];
    char *bytes = world->to_server.bytes;
    memcpy(first, bytes, len);
    memmove(bytes, bytes + len, until - len);
    memcpy(bytes + until - len, first, len);
    world->is_damaged = true;
}

/* Has the first record change places with the second one. */
static void swap_records(void) {
    size_t first = record_size(0), second = first ? record_size(first) : 0;
    if (second) move_back(first, first + second);
}

static void rotate(size_t len) {
    if (len < world->to_server.len) move_back(len, world->to_server.len);
}

static void insert(const uint8_t *bytes, size_t len) {
    struct way *way = &world->to_server;
    if (len == 0 || len > RECORDS_MAX - way->len) return;
    memmove(way->bytes + len, way->bytes, way->len);
    memcpy(way->bytes, bytes, len);
    way->len += len;
    world->is_damaged = true;
}

/* Returns the bytes of the input that the step has used beside its own. */
static size_t run_step(uint8_t byte, const uint8_t *rest, size_t left) {
    size_t much = byte >> 3;
    switch ((enum step)(byte & 7)) {
    case WRITE: client_writes((much + 1) * CHUNK); break;
    case DELIVER: deliver(much + 1); break;
    case DELIVER_ALL: deliver(SIZE_MAX); break;
    case FLIP:
        if (left == 0 || world->to_server.len == 0) return 0;
        world->to_server.bytes[(much * 256 + rest[0]) % world->to_server.len] ^= 1;
        world->is_damaged = true;
        return 1;
    case REORDER:
        if (much == 0)
            swap_records();
        else
            rotate(much * CHUNK);
        break;
    case UPDATE_KEY:
        if (!SSL_is_init_finished(world->client)) return 0;
        SSL_key_update(world->client, much & 1);
        SSL_do_handshake(world->client);
        ERR_clear_error();
        collect_records();
        break;
    case ITERATE:
        world->most = much ? much * CHUNK : SIZE_MAX;
        iterate();
        client_works();
        break;
    case INSERT:
        if (much > left) much = left;
        insert(rest, much);
        return much;
    }
    return 0;
}

/* --- A certificate --- */

static void make_certificate(const char *cert_path, const char *key_path) {
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -1000);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 1000L * 1000);
    X509_set_pubkey(certificate, key);
    require(X509_sign(certificate, key, EVP_sha256()) > 0, "a certificate");
    FILE *cert_file = fopen(cert_path, "w"), *key_file = fopen(key_path, "w");
    require(cert_file && PEM_write_X509(cert_file, certificate), "a file");
    require(key_file && PEM_write_PrivateKey(key_file, key, NULL, NULL, 0, NULL, NULL), "a file");
    fclose(cert_file);
    fclose(key_file);
    X509_free(certificate);
    EVP_PKEY_free(key);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    char folder[] = "/tmp/packlist-fuzz.XXXXXX", cert[64], key[64], error[TLS_ERROR_MAX] = "";
    const char *reason;
    clock_init();
    make_table();
    world = mem_alloc_zeroed(sizeof(*world));
    world->net = net_new(&reason);
    require(mkdtemp(folder) != NULL, "a folder");
    snprintf(cert, sizeof(cert), "%s/cert", folder);
    snprintf(key, sizeof(key), "%s/key", folder);
    make_certificate(cert, key);
    struct tls_options options = {.role = TLS_SERVER,
                                  .cert_file = cert,
                                  .key_file = key,
                                  .session_caching = true,
                                  .session_cache_timeout_s = 365L * 24 * 3600};
    struct tls_context *context = tls_context_new(&options, error);
    require(context != NULL, error);
    tls_use(world->net, TLS_SERVER, context);
    unlink(cert);
    unlink(key);
    rmdir(folder);
    world->client_context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_timeout(world->client_context, 365L * 24 * 3600);
    return 0;
}

/* --- One input --- */

static void shake_hands(void) {
    for (int i = 0; i < END_STEPS; i++) {
        if (SSL_is_init_finished(world->client) && world->to_server.len == 0) break;
        client_works();
        deliver(SIZE_MAX);
        iterate();
    }
    require(SSL_is_init_finished(world->client), "the handshake succeeds");
}

static void begin(uint8_t settings) {
    const struct world kept = {.net = world->net,
                               .client_context = world->client_context,
                               .sessions = {world->sessions[0], world->sessions[1]},
                               .most = SIZE_MAX};
    *world = kept;
    SSL_SESSION *known = settings & 4 ? NULL : world->sessions[settings & 1];
    SSL_SESSION *session = known ? SSL_SESSION_dup(known) : NULL; /* an error spoils it */
    world->client = SSL_new(world->client_context);
    world->client_in = BIO_new(BIO_s_mem());
    world->client_out = BIO_new(BIO_s_mem());
    SSL_set_bio(world->client, world->client_in, world->client_out);
    SSL_set_max_proto_version(world->client, settings & 1 ? TLS1_2_VERSION : TLS1_3_VERSION);
    if (session) SSL_set_session(world->client, session);
    SSL_SESSION_free(session);
    SSL_set_connect_state(world->client);
    conn_accept(world->net, &tls, world, &EVENTS, NULL);
    if (settings & 2) return;
    shake_hands();
    require(!known || SSL_session_reused(world->client), "the session is resumed");
}

static void end(void) {
    if (world->lower && !conn_is_closing(world->conn)) conn_close(world->conn);
    while (world->lower) iterate();
    SSL_free(world->client);
}

/* Makes the session that later inputs resume. */
static void make_session(int is_old) {
    begin((uint8_t)(is_old | 4));
    client_writes(1);
    for (int i = 0; i < 10; i++) {
        deliver(SIZE_MAX);
        iterate();
        client_works();
    }
    require(world->echoed == 1, "the first handshake");
    world->sessions[is_old] = SSL_get1_session(world->client);
    SSL_shutdown(world->client);
    end();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    for (int is_old = 0; is_old < 2; is_old++)
        if (!world->sessions[is_old]) make_session(is_old);
    begin(data[0]);
    for (size_t at = 1; at < size;) {
        uint8_t step = data[at++];
        at += run_step(step, data + at, size - at);
    }
    world->most = SIZE_MAX;
    for (int i = 0; i < END_STEPS && (i < 10 || world->to_server.len > 0) && world->lower; i++) {
        client_works();
        deliver(SIZE_MAX);
        iterate();
    }
    for (int i = 0; i < END_STEPS && world->echoed < world->received && world->lower; i++) {
        iterate();
        client_works();
    }
    if (!world->is_damaged && !world->has_ended) {
        require(world->received == world->sent, "all arrives");
        require(world->echoed == world->sent, "all comes back");
    }
    end();
    return 0;
}
