#include "server/tls_configure.h"

#include "engine/engine.h"
#include "net/tls.h"
#include "server/migrate.h"

#include <assert.h>
#include <stdio.h>

static_assert((int)TLS_AUTH_NO == (int)TLS_AUTH_CLIENTS_NO &&
                  (int)TLS_AUTH_YES == (int)TLS_AUTH_CLIENTS_YES &&
                  (int)TLS_AUTH_OPTIONAL == (int)TLS_AUTH_CLIENTS_OPTIONAL,
              "tls-auth-clients is an enum tls_auth");

/* What connections of both roles have in common. */
static struct tls_options common_options(const struct config *config) {
    return (struct tls_options){
        .cert_file = config->tls_cert_file,
        .key_file = config->tls_key_file,
        .key_password = config->tls_key_file_pass,
        .ca_file = config->tls_ca_cert_file,
        .ca_dir = config->tls_ca_cert_dir,
        .dh_params_file = config->tls_dh_params_file,
        .protocols = config->tls_protocols,
        .ciphers = config->tls_ciphers,
        .ciphersuites = config->tls_ciphersuites,
    };
}

static struct tls_context *make_server(const struct config *config, char reason[TLS_ERROR_MAX]) {
    struct tls_options options = common_options(config);
    options.role = TLS_SERVER;
    options.auth = (enum tls_auth)config->tls_auth_clients;
    options.prefer_server_ciphers = config->tls_prefer_server_ciphers;
    options.session_caching = config->tls_session_caching;
    options.session_cache_size = (long)config->tls_session_cache_size;
    options.session_cache_timeout_s = (long)config->tls_session_cache_timeout;
    options.new_per_turn = (unsigned)config->max_new_tls_connections_per_cycle;
    return tls_context_new(&options, reason);
}

static struct tls_context *make_client(const struct config *config, char reason[TLS_ERROR_MAX]) {
    struct tls_options options = common_options(config);
    options.role = TLS_CLIENT;
    bool has_certificate = sds_len(config->tls_client_cert_file) > 0;
    bool has_key = sds_len(config->tls_client_key_file) > 0;
    if (has_certificate != has_key) {
        snprintf(reason, TLS_ERROR_MAX, "No tls-client-%s-file configured!",
                 has_key ? "cert" : "key");
        return NULL;
    }
    if (has_certificate) {
        options.cert_file = config->tls_client_cert_file;
        options.key_file = config->tls_client_key_file;
        options.key_password = config->tls_client_key_file_pass;
    }
    return tls_context_new(&options, reason);
}

bool tls_configure(struct engine *engine, sds *error) {
    const struct config *config = &engine->config;
    const bool is_wanted[TLS_ROLES] = {
        [TLS_SERVER] = config->tls_port != 0,
        [TLS_CLIENT] = config->tls_replication || config->tls_cluster,
    };
    struct tls_context *contexts[TLS_ROLES] = {NULL};
    char reason[TLS_ERROR_MAX] = "";
    for (int role = 0; role < TLS_ROLES; role++) {
        if (!is_wanted[role]) continue;
        contexts[role] =
            role == TLS_SERVER ? make_server(config, reason) : make_client(config, reason);
        if (contexts[role]) continue;
        while (role-- > 0) tls_context_free(contexts[role]);
        *error = sds_append_format(sds_new(SLICE("")), "%s", reason);
        return false;
    }
    for (int role = 0; role < TLS_ROLES; role++)
        if (contexts[role]) tls_use(engine->net, (enum tls_role)role, contexts[role]);
    migrate_close_kept(engine->migrate_kept);
    return true;
}
