/* What the certificate of the other side says: times and names only. Whether to trust it was
 * decided by OpenSSL in the handshake. */
#include "net/tls/tls.h"
#include "net/tls/tls_state.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>

/* Strings have several encodings and a length of their own, so that a NUL is a byte as others. */
static bool give(const ASN1_STRING *string, bool (*each)(struct slice name, void *arg), void *arg) {
    unsigned char *text = NULL;
    int len = ASN1_STRING_to_UTF8(&text, string);
    bool is_taken = len >= 0 && each(slice_make((const char *)text, (size_t)len), arg);
    OPENSSL_free(text);
    return is_taken;
}

static bool give_common_name(const X509 *certificate, bool (*each)(struct slice name, void *arg),
                             void *arg) {
    const X509_NAME *subject = X509_get_subject_name(certificate);
    int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
    return at >= 0 && give(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)), each, arg);
}

static bool give_uris(const X509 *certificate, bool (*each)(struct slice name, void *arg),
                      void *arg) {
    GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    bool is_taken = false;
    for (int i = 0; i < sk_GENERAL_NAME_num(names) && !is_taken; i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
        is_taken = name->type == GEN_URI && give(name->d.uniformResourceIdentifier, each, arg);
    }
    GENERAL_NAMES_free(names);
    return is_taken;
}

bool tls_peer_names(struct conn *conn, enum tls_name which,
                    bool (*each)(struct slice name, void *arg), void *arg) {
    if (!tls_is(conn)) return false;
    const struct tls *tls = tls_of(conn);
    if (!tls_has_peer(&tls->codec)) return false;
    const X509 *certificate = SSL_get0_peer_certificate(tls->codec.ssl);
    bool is_taken = which == TLS_NAME_COMMON ? give_common_name(certificate, each, arg)
                                             : give_uris(certificate, each, arg);
    ERR_clear_error();
    return is_taken;
}
