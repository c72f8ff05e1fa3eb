#include "server/tls_configure.h"

#include "engine/engine.h"
#include "net/tls.h"

#include <assert.h>

static_assert((int)TLS_AUTH_NO == (int)TLS_AUTH_CLIENTS_NO &&
                  (int)TLS_AUTH_YES == (int)TLS_AUTH_CLIENTS_YES &&
                  (int)TLS_AUTH_OPTIONAL == (int)TLS_AUTH_CLIENTS_OPTIONAL,
              "tls-auth-clients is an enum tls_auth");

bool tls_configure(struct engine *engine, sds *error) {
    const struct config *config = &engine->config;
    char reason[TLS_ERROR_MAX] = "";
    if (config->tls_port == 0) return true;
    const struct tls_options options = {
        .role = TLS_SERVER,
        .cert_file = config->tls_cert_file,
        .key_file = config->tls_key_file,
        .key_password = config->tls_key_file_pass,
        .ca_file = config->tls_ca_cert_file,
        .ca_dir = config->tls_ca_cert_dir,
        .dh_params_file = config->tls_dh_params_file,
        .protocols = config->tls_protocols,
        .ciphers = config->tls_ciphers,
        .ciphersuites = config->tls_ciphersuites,
        .auth = (enum tls_auth)config->tls_auth_clients,
        .prefer_server_ciphers = config->tls_prefer_server_ciphers,
        .session_caching = config->tls_session_caching,
        .session_cache_size = (long)config->tls_session_cache_size,
        .session_cache_timeout_s = (long)config->tls_session_cache_timeout,
        .new_per_turn = (unsigned)config->max_new_tls_connections_per_cycle};
    struct tls_context *context = tls_context_new(&options, reason);
    if (context) {
        tls_use(engine->net, TLS_SERVER, context);
        return true;
    }
    *error = sds_append_format(sds_new(SLICE("")), "%s", reason);
    return false;
}
