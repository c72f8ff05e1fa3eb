#include "net/tls/tls_context_internal.h"

#include "base/clock.h"
#include "base/memory/alloc.h"

#include <dirent.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool is_given(const char *text) {
    return text != NULL && text[0] != '\0';
}

/* Writes the line, with the reason of OpenSSL's first error, and returns false. Later errors only
 * name the layers above. */
static bool refuse(char error[TLS_ERROR_MAX], const char *what, const char *name) {
    unsigned long first = ERR_peek_error();
    const char *reason =
        ERR_SYSTEM_ERROR(first) ? strerror(ERR_GET_REASON(first)) : ERR_reason_error_string(first);
    snprintf(error, TLS_ERROR_MAX, "%s%s%s: %s", what, is_given(name) ? ": " : "",
             is_given(name) ? name : "", reason ? reason : "unknown reason");
    ERR_clear_error();
    return false;
}

/* --- Protocols and ciphers --- */

static const struct protocol {
    const char *name;
    int version;
    uint64_t off; /* the option that turns it off */
} PROTOCOLS[] = {{"TLSv1", TLS1_VERSION, SSL_OP_NO_TLSv1},
                 {"TLSv1.1", TLS1_1_VERSION, SSL_OP_NO_TLSv1_1},
                 {"TLSv1.2", TLS1_2_VERSION, SSL_OP_NO_TLSv1_2},
                 {"TLSv1.3", TLS1_3_VERSION, SSL_OP_NO_TLSv1_3}};
enum { PROTOCOL_COUNT = 4 };

/* Sets the bit of each protocol that the text names. Returns false for another word. */
static bool parse_protocols(const char *text, unsigned *set) {
    static const char SPACES[] = " \t,";
    *set = 0;
    for (text += strspn(text, SPACES); *text; text += strspn(text, SPACES)) {
        size_t len = strcspn(text, SPACES);
        unsigned i = 0;
        while (i < PROTOCOL_COUNT &&
               (strlen(PROTOCOLS[i].name) != len || strncasecmp(PROTOCOLS[i].name, text, len) != 0))
            i++;
        if (i == PROTOCOL_COUNT) return false;
        *set |= 1u << i;
        text += len;
    }
    return true;
}

static bool set_protocols(SSL_CTX *ssl, const char *text, char error[TLS_ERROR_MAX]) {
    unsigned set;
    if (!parse_protocols(is_given(text) ? text : "TLSv1.2 TLSv1.3", &set) || set == 0) {
        snprintf(error, TLS_ERROR_MAX,
                 "Invalid tls-protocols specified. Use a combination of 'TLSv1', 'TLSv1.1', "
                 "'TLSv1.2' and 'TLSv1.3'.");
        return false;
    }
    int least = 0, most = 0;
    for (unsigned i = 0; i < PROTOCOL_COUNT; i++) {
        if (!(set & 1u << i)) {
            SSL_CTX_set_options(ssl, PROTOCOLS[i].off);
            continue;
        }
        if (least == 0) least = PROTOCOLS[i].version;
        most = PROTOCOLS[i].version;
    }
    SSL_CTX_set_min_proto_version(ssl, least);
    SSL_CTX_set_max_proto_version(ssl, most);
    return true;
}

static bool set_ciphers(SSL_CTX *ssl, const struct tls_options *options,
                        char error[TLS_ERROR_MAX]) {
    if (is_given(options->ciphers) && !SSL_CTX_set_cipher_list(ssl, options->ciphers))
        return refuse(error, "Failed to configure ciphers", options->ciphers);
    if (is_given(options->ciphersuites) && !SSL_CTX_set_ciphersuites(ssl, options->ciphersuites))
        return refuse(error, "Failed to configure ciphersuites", options->ciphersuites);
    if (is_given(options->groups) && !SSL_CTX_set1_groups_list(ssl, options->groups))
        return refuse(error, "Failed to configure groups", options->groups);
    if (!is_given(options->dh_params_file)) {
        SSL_CTX_set_dh_auto(ssl, 1);
        return true;
    }
    BIO *file = BIO_new_file(options->dh_params_file, "r");
    EVP_PKEY *params = file ? PEM_read_bio_Parameters(file, NULL) : NULL;
    BIO_free(file);
    if (params && SSL_CTX_set0_tmp_dh_pkey(ssl, params)) return true;
    EVP_PKEY_free(params);
    return refuse(error, "Failed to load DH parameters", options->dh_params_file);
}

/* --- Certificates --- */

static bool is_early(const X509 *certificate) {
    return X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0;
}

static bool is_late(const X509 *certificate) {
    return X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0;
}

static int64_t end_of(const X509 *certificate) {
    int days = 0, seconds = 0;
    ASN1_TIME_diff(&days, &seconds, NULL, X509_get0_notAfter(certificate));
    return clock_wall_ms() / 1000 + (int64_t)days * 24 * 3600 + seconds;
}

static void describe(struct tls_certificate *result, X509 *certificate) {
    BIGNUM *number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), NULL);
    char *digits = number ? BN_bn2hex(number) : NULL;
    snprintf(result->serial, sizeof(result->serial), "%s", digits ? digits : "?");
    OPENSSL_free(digits);
    BN_free(number);
    result->ends_s = end_of(certificate);
}

static bool check_times(X509 *certificate, const char *file, char error[TLS_ERROR_MAX]) {
    if (!is_early(certificate) && !is_late(certificate)) return true;
    char subject[256];
    X509_NAME_oneline(X509_get_subject_name(certificate), subject, sizeof(subject));
    snprintf(error, TLS_ERROR_MAX, "Failed to load certificate: %.200s: %.200s %s", file, subject,
             is_late(certificate) ? "has expired" : "is not yet valid");
    return false;
}

static bool check_chain(SSL_CTX *ssl, const char *file, struct tls_certificate *own,
                        char error[TLS_ERROR_MAX]) {
    STACK_OF(X509) *chain = NULL;
    X509 *certificate = SSL_CTX_get0_certificate(ssl);
    if (!check_times(certificate, file, error)) return false;
    describe(own, certificate);
    SSL_CTX_get0_chain_certs(ssl, &chain);
    for (int i = 0; i < sk_X509_num(chain); i++) {
        X509 *link = sk_X509_value(chain, i);
        if (!check_times(link, file, error)) return false;
        if (end_of(link) < own->ends_s) own->ends_s = end_of(link);
    }
    return true;
}

struct password {
    const char *text; /* NULL or "": there is none */
    bool was_asked_for;
};

/* Never asks at a terminal. OpenSSL clears its copy. */
static int give_password(char *buffer, int size, int is_writing, void *arg) {
    (void)is_writing;
    struct password *password = arg;
    size_t len = is_given(password->text) ? strlen(password->text) : 0;
    password->was_asked_for = true;
    if (len == 0 || len > (size_t)size) return -1;
    memcpy(buffer, password->text, len);
    return (int)len;
}

static bool load_key(SSL_CTX *ssl, const struct tls_options *options, char error[TLS_ERROR_MAX]) {
    struct password password = {.text = options->key_password};
    BIO *file = BIO_new_file(options->key_file, "r");
    EVP_PKEY *key = file ? PEM_read_bio_PrivateKey(file, NULL, give_password, &password) : NULL;
    BIO_free(file);
    bool fits = key && X509_check_private_key(SSL_CTX_get0_certificate(ssl), key);
    bool is_used = fits && SSL_CTX_use_PrivateKey(ssl, key);
    EVP_PKEY_free(key);
    if (is_used) return true;
    if (fits || (!key && !password.was_asked_for))
        return refuse(error, "Failed to load private key", options->key_file);
    const char *reason = "it is not the key of the certificate";
    if (!key)
        reason = is_given(password.text) ? "its password is another one"
                                         : "it needs a password, and none is configured";
    snprintf(error, TLS_ERROR_MAX, "Failed to load private key: %.300s: %s", options->key_file,
             reason);
    ERR_clear_error();
    return false;
}

static bool load_certificate(SSL_CTX *ssl, const struct tls_options *options,
                             struct tls_certificate *own, char error[TLS_ERROR_MAX]) {
    bool has_files = is_given(options->cert_file) || is_given(options->key_file);
    if (!has_files && options->role == TLS_CLIENT) return true;
    if (!is_given(options->cert_file) || !is_given(options->key_file)) {
        snprintf(error, TLS_ERROR_MAX, "No %s-%s-file configured!",
                 is_given(options->directives) ? options->directives : "tls",
                 is_given(options->cert_file) ? "key" : "cert");
        return false;
    }
    if (!SSL_CTX_use_certificate_chain_file(ssl, options->cert_file))
        return refuse(error, "Failed to load certificate", options->cert_file);
    return load_key(ssl, options, error) && check_chain(ssl, options->cert_file, own, error);
}

/* --- Trusted certificates --- */

/* Finds the valid one that expires first. Returns whether there is a valid one. */
static bool describe_trusted(SSL_CTX *ssl, struct tls_certificate *result) {
    STACK_OF(X509_OBJECT) *objects = X509_STORE_get0_objects(SSL_CTX_get_cert_store(ssl));
    X509 *first = NULL;
    for (int i = 0; i < sk_X509_OBJECT_num(objects); i++) {
        X509 *certificate = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(objects, i));
        if (!certificate || is_early(certificate) || is_late(certificate)) continue;
        if (!first || end_of(certificate) < end_of(first)) first = certificate;
    }
    if (first) describe(result, first);
    return first != NULL;
}

/* Returns whether OpenSSL looks for a certificate under such a name: HHHHHHHH.N, as openssl rehash
 * gives. */
static bool is_hash_name(const char *name) {
    if (strspn(name, "0123456789abcdef") != 8 || name[8] != '.') return false;
    const char *number = name + 9;
    return number[0] != '\0' && number[strspn(number, "0123456789")] == '\0';
}

/* OpenSSL does not look into the folder before a handshake. */
static bool check_folder(const char *path, bool must_have_one, char error[TLS_ERROR_MAX]) {
    static const char WHAT[] = "Failed to configure CA certificate(s) directory";
    DIR *folder = opendir(path);
    if (!folder) {
        snprintf(error, TLS_ERROR_MAX, "%s: %.300s: %s", WHAT, path, strerror(errno));
        return false;
    }
    const struct dirent *entry;
    bool has_one = false;
    while (!has_one && (entry = readdir(folder))) has_one = is_hash_name(entry->d_name);
    closedir(folder);
    if (has_one || !must_have_one) return true;
    snprintf(error, TLS_ERROR_MAX, "%s: %.300s: no file in it has a name that openssl rehash gives",
             WHAT, path);
    return false;
}

static bool load_trusted(SSL_CTX *ssl, const struct tls_options *options,
                         struct tls_certificate *trusted, char error[TLS_ERROR_MAX]) {
    const char *file = is_given(options->ca_file) ? options->ca_file : NULL;
    const char *dir = is_given(options->ca_dir) ? options->ca_dir : NULL;
    bool is_needed = options->role == TLS_CLIENT || options->auth != TLS_AUTH_NO;
    if (!file && !dir && is_needed) {
        snprintf(error, TLS_ERROR_MAX,
                 "Either tls-ca-cert-file or tls-ca-cert-dir must be specified when tls-cluster, "
                 "tls-replication or tls-auth-clients are enabled!");
        return false;
    }
    if (file && !SSL_CTX_load_verify_file(ssl, file))
        return refuse(error, "Failed to configure CA certificate(s) file", file);
    if (file && !describe_trusted(ssl, trusted) && is_needed && !dir) {
        snprintf(
            error, TLS_ERROR_MAX,
            "Failed to configure CA certificate(s) file: %.300s: no certificate in it is valid "
            "now",
            file);
        return false;
    }
    if (dir && !check_folder(dir, is_needed && !file, error)) return false;
    if (dir && !SSL_CTX_load_verify_dir(ssl, dir))
        return refuse(error, "Failed to configure CA certificate(s) directory", dir);
    if (options->role == TLS_SERVER && file && is_needed) /* which ones clients may choose from */
        SSL_CTX_set_client_CA_list(ssl, SSL_load_client_CA_file(file));
    int mode = SSL_VERIFY_NONE;
    if (is_needed) mode = SSL_VERIFY_PEER;
    if (is_needed && options->auth == TLS_AUTH_YES) mode |= SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
    SSL_CTX_set_verify(ssl, mode, NULL);
    return true;
}

/* --- The context --- */

static void set_sessions(SSL_CTX *ssl, const struct tls_options *options) {
    static const unsigned char ID[] = "packlist"; /* without one no session is resumed */
    SSL_CTX_set_session_id_context(ssl, ID, sizeof(ID) - 1);
    if (options->role == TLS_CLIENT || !options->session_caching) {
        SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_OFF);
        SSL_CTX_set_options(ssl, SSL_OP_NO_TICKET);
        SSL_CTX_set_num_tickets(ssl, 0);
        return;
    }
    SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_SERVER);
    SSL_CTX_sess_set_cache_size(ssl, options->session_cache_size);
    SSL_CTX_set_timeout(ssl, options->session_cache_timeout_s);
    SSL_CTX_set_num_tickets(ssl, 1);
}

static bool configure(SSL_CTX *ssl, const struct tls_options *options,
                      struct tls_certificates *certificates, char error[TLS_ERROR_MAX]) {
    /* OpenSSL overwrites what it has decrypted, once it is read: it may be a password. */
    SSL_CTX_set_options(ssl,
                        SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CLEANSE_PLAINTEXT);
    if (options->prefer_server_ciphers) SSL_CTX_set_options(ssl, SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(ssl, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    set_sessions(ssl, options);
    return set_protocols(ssl, options->protocols, error) && set_ciphers(ssl, options, error) &&
           load_certificate(ssl, options, &certificates->own, error) &&
           load_trusted(ssl, options, &certificates->trusted, error);
}

struct tls_context *tls_context_new(const struct tls_options *options, char error[TLS_ERROR_MAX]) {
    ERR_clear_error();
    SSL_CTX *ssl =
        SSL_CTX_new(options->role == TLS_CLIENT ? TLS_client_method() : TLS_server_method());
    if (!ssl) {
        refuse(error, "Failed to configure TLS", NULL);
        return NULL;
    }
    struct tls_certificates certificates = {0};
    if (!configure(ssl, options, &certificates, error)) {
        SSL_CTX_free(ssl);
        return NULL;
    }
    ERR_clear_error();
    struct tls_context *context = mem_alloc(sizeof(*context));
    *context = (struct tls_context){
        .ssl = ssl,
        .certificates = certificates,
        .handshake_timeout_ms = options->handshake_timeout_ms ? options->handshake_timeout_ms
                                                              : TLS_HANDSHAKE_TIMEOUT_MS,
        .new_per_turn = options->new_per_turn ? options->new_per_turn : 1};
    return context;
}

struct tls_context *tls_context_copy(const struct tls_context *context) {
    struct tls_context *copy = mem_alloc(sizeof(*copy));
    *copy = *context;
    SSL_CTX_up_ref(copy->ssl);
    return copy;
}

void tls_context_free(struct tls_context *context) {
    if (!context) return;
    SSL_CTX_free(context->ssl);
    mem_free(context);
}
