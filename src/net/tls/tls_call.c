/* TLS connections to servers: they are connected when the handshake is done.
 *
 *      connects (lower transport) ──→ handshake ──→ done(request, 0)
 *          └─ done(request, status)       └─ done(request, status), with a reason (tls_failure) */
#include "base/memory/alloc.h"
#include "base/text/sds.h"
#include "net/tls/tls_state.h"

#include <openssl/x509v3.h>

/* What the caller of tls_connect has given. It lives until the connection is connected, or is
 * closed. */
struct tls_call {
    uv_connect_t *request;
    uv_connect_cb done; /* NULL: it was called */
    sds host;
    sds expected_name;
    sds failure; /* NULL: none */
};

void tls_begin_call(struct tls *tls, uv_connect_t *request, const struct destination *to,
                    uv_connect_cb done) {
    tls->call = mem_alloc(sizeof(*tls->call));
    *tls->call = (struct tls_call){
        .request = request,
        .done = done,
        .host = sds_new(slice_of_cstr(to->host)),
        .expected_name = sds_new(slice_of_cstr(to->expected_name ? to->expected_name : ""))};
}

void tls_free_call(struct tls *tls) {
    struct tls_call *call = tls->call;
    if (!call) return;
    tls->call = NULL;
    sds_free(call->host);
    sds_free(call->expected_name);
    sds_free(call->failure);
    mem_free(call);
}

void tls_connected(struct tls *tls, int status) {
    struct tls_call *call = tls->call;
    uv_connect_t *request = call->request;
    uv_connect_cb done = call->done;
    call->done = NULL;
    if (status == 0) tls_free_call(tls);
    if (done) done(request, status);
}

void tls_note_failure(struct tls *tls, const char *reason) {
    char name[CONN_NAME_MAX];
    if (tls->call->failure) return;
    tls->call->failure =
        sds_format("TLS with %s failed: %s", conn_peer_name(tls_conn(tls), name), reason);
}

const char *tls_failure(const struct conn *conn) {
    const struct tls *tls = tls_of(conn);
    return tls->call ? tls->call->failure : NULL;
}

static bool is_numeric(const char *host) {
    struct sockaddr_in6 address;
    return uv_ip4_addr(host, 0, (struct sockaddr_in *)&address) == 0 ||
           uv_ip6_addr(host, 0, &address) == 0;
}

/* OpenSSL itself tells names from numeric addresses when it compares them with a certificate. */
bool tls_set_names(const struct tls_call *call, SSL *ssl) {
    bool has_name = !is_numeric(call->host);
    const char *expected = has_name ? call->host : "";
    if (sds_len(call->expected_name) > 0) expected = call->expected_name;
    if (has_name && !SSL_set_tlsext_host_name(ssl, call->host)) return false;
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return !*expected || SSL_set1_host(ssl, expected);
}
