/* What a client's certificate says about it: which names, when they are told, and when no longer. */
#include "unit/tls_fixture.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

/* --- Certificates with any names --- */

struct part {
    int kind; /* NID_commonName, or a type of GENERAL_NAME */
    int encoding;
    const char *text;
    int len;
};

#define CN(encoding, text)                                                                         \
    { NID_commonName, encoding, text, sizeof(text) - 1 }
#define ALT(kind, text)                                                                            \
    { kind, V_ASN1_IA5STRING, text, sizeof(text) - 1 }

static X509 *read_certificate(const char *name) {
    FILE *stream = fopen(file(name), "r");
    X509 *certificate = PEM_read_X509(stream, NULL, NULL, NULL);
    fclose(stream);
    return certificate;
}

static EVP_PKEY *read_key(const char *name) {
    FILE *stream = fopen(file(name), "r");
    EVP_PKEY *key = PEM_read_PrivateKey(stream, NULL, NULL, NULL);
    fclose(stream);
    return key;
}

static void add_alternatives(X509 *certificate, const struct part *parts, size_t count) {
    GENERAL_NAMES *names = GENERAL_NAMES_new();
    for (size_t i = 0; i < count; i++) {
        if (parts[i].kind == NID_commonName) continue;
        ASN1_STRING *text = ASN1_STRING_type_new(parts[i].encoding);
        ASN1_STRING_set(text, parts[i].text, parts[i].len);
        GENERAL_NAME *name = GENERAL_NAME_new();
        GENERAL_NAME_set0_value(name, parts[i].kind, text);
        sk_GENERAL_NAME_push(names, name);
    }
    if (sk_GENERAL_NAME_num(names) > 0)
        X509_add1_ext_i2d(certificate, NID_subject_alt_name, names, 0, 0);
    GENERAL_NAMES_free(names);
}

/* Writes named.crt and named.key, signed by the authority that the server trusts, valid for so many
 * seconds. */
static void make_named(const struct part *parts, size_t count, long seconds) {
    X509 *authority = read_certificate("ca.crt"), *certificate = X509_new();
    EVP_PKEY *authority_key = read_key("ca.key"), *key = EVP_EC_gen("P-256");
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 7);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -1000);
    X509_gmtime_adj(X509_getm_notAfter(certificate), seconds);
    X509_set_pubkey(certificate, key);
    X509_set_issuer_name(certificate, X509_get_subject_name(authority));
    X509_NAME *subject = X509_get_subject_name(certificate);
    for (size_t i = 0; i < count; i++)
        if (parts[i].kind == NID_commonName)
            assert_true(X509_NAME_add_entry_by_NID(subject, NID_commonName, parts[i].encoding,
                                                   (const unsigned char *)parts[i].text,
                                                   parts[i].len, -1, 0));
    add_alternatives(certificate, parts, count);
    assert_true(X509_sign(certificate, authority_key, EVP_sha256()) > 0);
    FILE *stream = fopen(file("named.crt"), "w");
    PEM_write_X509(stream, certificate);
    fclose(stream);
    stream = fopen(file("named.key"), "w");
    PEM_write_PrivateKey(stream, key, NULL, NULL, 0, NULL, NULL);
    fclose(stream);
    X509_free(authority);
    X509_free(certificate);
    EVP_PKEY_free(authority_key);
    EVP_PKEY_free(key);
}

/* --- What the server hears --- */

static int verified_calls;
static enum tls_name which;
static const char *wanted; /* the name that is taken; NULL: none */
static char told[256];     /* names, each in brackets, with # for NUL */
static bool is_taken;

static bool tell(struct slice name, void *arg) {
    assert_ptr_equal(arg, &told);
    size_t end = strlen(told);
    told[end++] = '[';
    for (size_t i = 0; i < name.len; i++) told[end++] = name.ptr[i] ? name.ptr[i] : '#';
    told[end++] = ']';
    told[end] = 0;
    return wanted && slice_equal(name, slice_of_cstr(wanted));
}

static void ask(struct conn *conn) {
    verified_calls++;
    told[0] = 0;
    is_taken = tls_peer_names(conn, which, tell, told);
}

static int peer_setup(void **state) {
    if (tls_setup(state) != 0) return -1;
    struct tls_options options = server_options();
    options.auth = TLS_AUTH_OPTIONAL;
    use(&options);
    world.on_verified = ask;
    verified_calls = 0;
    which = TLS_NAME_COMMON;
    wanted = NULL;
    told[0] = 0;
    is_taken = false;
    return 0;
}

#define PEER_TEST(name) cmocka_unit_test_setup_teardown(name, peer_setup, teardown)

/* A client with that certificate connects and gets an echo. Returns its session, which the caller
 * frees. */
static SSL_SESSION *visit(const char *certificate, int version, SSL_SESSION *resumed) {
    struct client client = client_make(certificate, version);
    if (resumed) SSL_set_session(client.ssl, resumed);
    assert_true(shake_in_pieces(&client, SIZE_MAX));
    assert_int_equal(SSL_session_reused(client.ssl), resumed != NULL);
    assert_echo(&client, 3, SIZE_MAX);
    SSL_SESSION *session = SSL_get1_session(client.ssl);
    SSL_shutdown(client.ssl); /* otherwise the session is thought to be broken */
    client_free(&client);
    return session;
}

#define ASSERT_NAMES(expected, ...)                                                                \
    do {                                                                                           \
        const struct part parts_[] = {__VA_ARGS__};                                                \
        make_named(parts_, sizeof(parts_) / sizeof(parts_[0]), 1000);                              \
        int before_ = verified_calls;                                                              \
        SSL_SESSION_free(visit("named", TLS1_3_VERSION, NULL));                                    \
        assert_int_equal(verified_calls, before_ + 1);                                             \
        assert_string_equal(told, expected);                                                       \
    } while (0)

static void the_common_name_is_told_in_any_encoding(void **state) {
    (void)state;
    wanted = "alice";
    ASSERT_NAMES("[alice]", CN(V_ASN1_UTF8STRING, "alice"));
    assert_true(is_taken);
    ASSERT_NAMES("[alice]", CN(V_ASN1_PRINTABLESTRING, "alice"));
    assert_true(is_taken);
    ASSERT_NAMES("[alice]", CN(V_ASN1_BMPSTRING, "\0a\0l\0i\0c\0e"));
    assert_true(is_taken);
    ASSERT_NAMES("[bob]", CN(V_ASN1_UTF8STRING, "bob"));
    assert_false(is_taken);
}

static void a_name_does_not_end_at_its_nul(void **state) {
    (void)state;
    wanted = "alice";
    ASSERT_NAMES("[alice# and more]", CN(V_ASN1_UTF8STRING, "alice\0 and more"));
    assert_false(is_taken);
    ASSERT_NAMES("[alice#]", CN(V_ASN1_UTF8STRING, "alice\0"));
    assert_false(is_taken);
    which = TLS_NAME_URI;
    ASSERT_NAMES("[alice#x]", ALT(GEN_URI, "alice\0x"));
    assert_false(is_taken);
}

static void of_two_common_names_the_first_is_told(void **state) {
    (void)state;
    wanted = "alice";
    ASSERT_NAMES("[bob]", CN(V_ASN1_UTF8STRING, "bob"), CN(V_ASN1_UTF8STRING, "alice"));
    assert_false(is_taken);
}

static void a_certificate_may_have_no_name(void **state) {
    (void)state;
    ASSERT_NAMES("", ALT(GEN_DNS, "alice"));
    assert_false(is_taken);
    which = TLS_NAME_URI;
    ASSERT_NAMES("", CN(V_ASN1_UTF8STRING, "alice"), ALT(GEN_DNS, "alice"));
    assert_false(is_taken);
}

static void uris_are_told_in_order_until_one_is_taken(void **state) {
    (void)state;
    which = TLS_NAME_URI;
    wanted = "spiffe://b";
    ASSERT_NAMES("[spiffe://a][spiffe://b]", CN(V_ASN1_UTF8STRING, "spiffe://b"),
                 ALT(GEN_DNS, "spiffe://b"), ALT(GEN_URI, "spiffe://a"), ALT(GEN_EMAIL, "b@b"),
                 ALT(GEN_URI, "spiffe://b"), ALT(GEN_URI, "spiffe://c"));
    assert_true(is_taken);
}

static void without_a_certificate_there_are_no_names(void **state) {
    (void)state;
    struct client client = connected(TLS1_3_VERSION);
    ask(world.newest);
    assert_false(is_taken);
    client_free(&client);
    listener_use(world.listener, &transport_tcp);
    int fd = client_new();
    ask(world.newest);
    assert_false(is_taken);
    assert_string_equal(told, "");
    assert_int_equal(verified_calls, 2); /* both are the test's own */
    close(fd);
}

static void a_resumed_session_brings_its_certificate(void **state) {
    (void)state;
    for (int v = 0; v < 2; v++) {
        verified_calls = 0;
        SSL_SESSION *session = visit("client", VERSIONS[v], NULL);
        assert_string_equal(told, "[client]");
        told[0] = 0;
        SSL_SESSION_free(visit(NULL, VERSIONS[v], session));
        assert_string_equal(told, "[client]");
        assert_int_equal(verified_calls, 2);
        SSL_SESSION_free(session);
    }
}

static void a_session_is_not_resumed_when_its_certificate_has_expired(void **state) {
    (void)state;
    const struct part parts[] = {CN(V_ASN1_UTF8STRING, "alice")};
    make_named(parts, 1, 2);
    SSL_SESSION *sessions[2];
    for (int v = 0; v < 2; v++) sessions[v] = visit("named", VERSIONS[v], NULL);
    sleep(3);
    verified_calls = 0;
    for (int v = 0; v < 2; v++) {
        struct client client = client_make(NULL, VERSIONS[v]);
        SSL_set_session(client.ssl, sessions[v]);
        shake_in_pieces(&client, SIZE_MAX);
        await_end(&client);
        client_free(&client);
        SSL_SESSION_free(sessions[v]);
    }
    assert_int_equal(verified_calls, 0);
}

static void close_it(struct conn *conn) {
    verified_calls++;
    conn_close(conn);
}

static void the_callback_may_close(void **state) {
    (void)state;
    world.on_verified = close_it;
    for (int v = 0; v < 2; v++) {
        struct client client = client_make("client", VERSIONS[v]);
        SSL_do_handshake(client.ssl);
        push(&client, SIZE_MAX);
        shake_in_pieces(&client, SIZE_MAX);
        SSL_write(client.ssl, "abc", 3);
        push(&client, SIZE_MAX);
        await_end(&client);
        client_free(&client);
    }
    assert_int_equal(verified_calls, 2);
    assert_int_equal(world.ended, 0);
}

int main(void) {
    clock_init();
    const struct CMUnitTest tests[] = {
        PEER_TEST(the_common_name_is_told_in_any_encoding),
        PEER_TEST(a_name_does_not_end_at_its_nul),
        PEER_TEST(of_two_common_names_the_first_is_told),
        PEER_TEST(a_certificate_may_have_no_name),
        PEER_TEST(uris_are_told_in_order_until_one_is_taken),
        PEER_TEST(without_a_certificate_there_are_no_names),
        PEER_TEST(a_resumed_session_brings_its_certificate),
        PEER_TEST(a_session_is_not_resumed_when_its_certificate_has_expired),
        PEER_TEST(the_callback_may_close),
    };
    return cmocka_run_group_tests(tests, make_certificates, remove_certificates);
}
