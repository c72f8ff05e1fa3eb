/* tls_context: what new TLS connections of one role use: certificate, key, trusted certificates,
 * protocols, ciphers and the cache of sessions. Made from directives and checked as a whole, so
 * that what is wrong shows when it is made and not at each handshake. It never changes: another
 * one takes its place (tls_use, net/tls/tls.h). */
#ifndef PACKLIST_NET_TLS_TLS_CONTEXT_H
#define PACKLIST_NET_TLS_TLS_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

enum tls_role { TLS_SERVER, TLS_CLIENT, TLS_ROLES };

/* What a server asks of its clients. */
enum tls_auth {
    TLS_AUTH_NO,      /* it does not ask for a certificate */
    TLS_AUTH_YES,     /* without one the handshake fails */
    TLS_AUTH_OPTIONAL /* they may have none, but not a wrong one */
};

/* Texts are NULL or "" for what is not given. Files are in PEM format. */
struct tls_options {
    enum tls_role role;     /* a client needs no certificate, and always verifies the server's */
    const char *directives; /* what the names of its directives begin with; for errors; static */
    const char *cert_file;  /* with its chain */
    const char *key_file;
    const char *key_password;
    const char *ca_file;
    const char *ca_dir;
    const char *dh_params_file;
    const char *protocols;    /* words TLSv1 … TLSv1.3; none: 1.2 and 1.3 */
    const char *ciphers;      /* of TLS 1.2 and older */
    const char *ciphersuites; /* of TLS 1.3 */
    const char *groups;       /* for the exchange of keys */
    enum tls_auth auth;       /* of a server */
    bool prefer_server_ciphers;
    bool session_caching; /* false: no session is resumed */
    long session_cache_size;
    long session_cache_timeout_s;
    unsigned handshake_timeout_ms; /* 0: TLS_HANDSHAKE_TIMEOUT_MS */
    unsigned new_per_turn;         /* handshakes begun in one loop iteration at most; 0: 1 */
};

/* Until a client has sent the first byte, and from then on until its handshake is done. Some open
 * all their connections first, and thousands of handshakes keep a client's processor busy. */
enum { TLS_HANDSHAKE_TIMEOUT_MS = 30 * 1000, TLS_ERROR_MAX = 512 };

struct tls_context;

/* A certificate that a context uses. */
struct tls_certificate {
    char serial[64]; /* hexadecimal digits; "": there is none */
    int64_t ends_s;  /* seconds since 1970 */
};

struct tls_certificates {
    struct tls_certificate own;     /* ends_s: when it or one of its chain expires first */
    struct tls_certificate trusted; /* of those in ca_file that are valid, which expires first */
};

/* Returns a context; the options are not needed any longer. NULL with the reason in `error`, one
 * line without secrets, when a file cannot be read, the key is not that of the certificate or needs
 * another password, the certificate or one of its chain has expired or is not yet valid, none of
 * those that are trusted is valid, ca_dir cannot be read or is the only source and has none, or a
 * value is wrong. Reads files: milliseconds. Any thread. */
struct tls_context *tls_context_new(const struct tls_options *options, char error[TLS_ERROR_MAX]);

/* Returns another one with the same content. */
struct tls_context *tls_context_copy(const struct tls_context *context);

/* NULL is allowed. Connections that use it go on: they share OpenSSL's part of it. */
void tls_context_free(struct tls_context *context);

#endif
