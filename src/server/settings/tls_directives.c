#include "server/settings/tls_directives.h"

#include "config/config.h"

#include <assert.h>

static_assert((int)TLS_AUTH_NO == (int)TLS_AUTH_CLIENTS_NO &&
                  (int)TLS_AUTH_YES == (int)TLS_AUTH_CLIENTS_YES &&
                  (int)TLS_AUTH_OPTIONAL == (int)TLS_AUTH_CLIENTS_OPTIONAL,
              "tls-auth-clients is an enum tls_auth");

static void describe_server(const struct config *config, struct tls_options *options) {
    options->auth = (enum tls_auth)config->tls_auth_clients;
    options->prefer_server_ciphers = config->tls_prefer_server_ciphers;
    options->session_caching = config->tls_session_caching;
    options->session_cache_size = (long)config->tls_session_cache_size;
    options->session_cache_timeout_s = (long)config->tls_session_cache_timeout;
    options->new_per_turn = (unsigned)config->max_new_tls_connections_per_cycle;
}

static void describe_client(const struct config *config, struct tls_options *options) {
    if (sds_len(config->tls_client_cert_file) == 0 && sds_len(config->tls_client_key_file) == 0)
        return;
    options->directives = "tls-client";
    options->cert_file = config->tls_client_cert_file;
    options->key_file = config->tls_client_key_file;
    options->key_password = config->tls_client_key_file_pass;
}

bool tls_directives_read(const struct config *config, enum tls_role role,
                         struct tls_options *options) {
    bool is_wanted =
        role == TLS_SERVER ? config->tls_port != 0 : config->tls_replication || config->tls_cluster;
    if (!is_wanted) return false;
    *options = (struct tls_options){.role = role,
                                    .directives = "tls",
                                    .cert_file = config->tls_cert_file,
                                    .key_file = config->tls_key_file,
                                    .key_password = config->tls_key_file_pass,
                                    .ca_file = config->tls_ca_cert_file,
                                    .ca_dir = config->tls_ca_cert_dir,
                                    .dh_params_file = config->tls_dh_params_file,
                                    .protocols = config->tls_protocols,
                                    .ciphers = config->tls_ciphers,
                                    .ciphersuites = config->tls_ciphersuites};
    if (role == TLS_SERVER)
        describe_server(config, options);
    else
        describe_client(config, options);
    return true;
}
