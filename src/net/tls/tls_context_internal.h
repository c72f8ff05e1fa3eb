#ifndef PACKLIST_NET_TLS_TLS_CONTEXT_INTERNAL_H
#define PACKLIST_NET_TLS_TLS_CONTEXT_INTERNAL_H

#include "net/tls/tls_context.h"

#include <openssl/ssl.h>

struct tls_context {
    SSL_CTX *ssl;
    struct tls_certificates certificates;
    unsigned handshake_timeout_ms;
    unsigned new_per_turn;
};

#endif
