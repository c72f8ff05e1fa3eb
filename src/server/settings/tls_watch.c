#include "server/settings/tls_watch.h"

#include "base/log/log.h"
#include "base/memory/alloc.h"
#include "engine/engine.h"
#include "net/loop/pool.h"
#include "net/tls/tls.h"
#include "net/tls/tls_files.h"
#include "server/migrate/migrate.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { DAY_S = 24 * 3600, WARN_DAYS = 14 };

/* --- Directives --- */

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

/* Sets *options to what the directives say for this role; its texts are the configuration's.
 * Returns false when no connection of that role is asked for. */
static bool read_directives(const struct config *config, enum tls_role role,
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

/* --- Dates --- */

static void warn_of(struct engine *engine, const char *what,
                    const struct tls_certificate *certificate) {
    int64_t left_s = certificate->ends_s - engine->now_ms / 1000;
    if (!certificate->serial[0] || left_s > (int64_t)WARN_DAYS * DAY_S) return;
    if (left_s <= 0)
        log_warning("The TLS certificate of %s, serial number %s, has expired.", what,
                    certificate->serial);
    else
        log_warning("The TLS certificate of %s, serial number %s, or one of its chain expires in "
                    "%lld days and %lld hours.",
                    what, certificate->serial, (long long)(left_s / DAY_S),
                    (long long)(left_s % DAY_S / 3600));
}

/* A server may use one certificate in both roles. */
static void warn_of_all(struct engine *engine) {
    struct tls_certificates server = tls_certificates(engine->net, TLS_SERVER);
    struct tls_certificates client = tls_certificates(engine->net, TLS_CLIENT);
    engine->tls_watch->warned_ms = engine->steady_ms;
    warn_of(engine, "this server", &server.own);
    warn_of(engine, "an authority that is trusted", &server.trusted);
    if (strcmp(client.own.serial, server.own.serial) != 0)
        warn_of(engine, "this server as a client of others", &client.own);
    if (strcmp(client.trusted.serial, server.trusted.serial) != 0)
        warn_of(engine, "an authority that is trusted by this server as a client", &client.trusted);
}

/* --- What is in use --- */

/* Returns the state of all files that the options of the roles name; a role without is NULL.
 * Blocks. */
static uint64_t state_of_files(const struct tls_options *const options[TLS_ROLES]) {
    uint64_t files = 0;
    for (int role = 0; role < TLS_ROLES; role++)
        if (options[role]) files += tls_files_state(options[role]);
    return files;
}

/* Reads the files into contexts of the setup, which the caller frees. Returns false, and says why,
 * when one cannot be used. Blocks. */
static bool read_files(const struct tls_options *const options[TLS_ROLES], struct tls_setup *setup,
                       char error[TLS_ERROR_MAX]) {
    for (int role = 0; role < TLS_ROLES; role++)
        if (options[role] && !(setup->contexts[role] = tls_context_new(options[role], error)))
            return false;
    return true;
}

/* New connections use this setup from now on; those that MIGRATE keeps end. Takes its contexts. */
static void use(struct engine *engine, const struct tls_setup *setup) {
    struct tls_watch *watch = engine->tls_watch;
    watch->generation++;
    watch->files = setup->files;
    watch->port = setup->port;
    watch->refusal[0] = '\0';
    watch->looked_ms = engine->steady_ms;
    watch->is_used = false;
    for (int role = 0; role < TLS_ROLES; role++) {
        tls_use(engine->net, (enum tls_role)role, setup->contexts[role]);
        if (setup->contexts[role]) watch->is_used = true;
    }
    migrate_close_kept(engine);
    warn_of_all(engine);
}

struct tls_setup tls_watch_save(const struct engine *engine) {
    const struct tls_watch *watch = engine->tls_watch;
    struct tls_setup setup = {
        .files = watch->files, .port = watch->port, .generation = watch->generation};
    for (int role = 0; role < TLS_ROLES; role++)
        setup.contexts[role] = tls_copy_of_used(engine->net, (enum tls_role)role);
    return setup;
}

void tls_watch_restore(struct engine *engine, struct tls_setup *saved) {
    if (saved->generation == engine->tls_watch->generation) return;
    use(engine, saved);
    for (int role = 0; role < TLS_ROLES; role++) saved->contexts[role] = NULL;
    saved->generation = engine->tls_watch->generation;
}

void tls_setup_free(struct tls_setup *setup) {
    for (int role = 0; role < TLS_ROLES; role++) tls_context_free(setup->contexts[role]);
}

/* --- Changed directives --- */

static void warn_of_no_effect(const struct config *config) {
    bool names_users = config->tls_auth_clients_user != TLS_USER_OFF;
    if (names_users && config->tls_port && config->tls_auth_clients == TLS_AUTH_CLIENTS_NO)
        log_warning("tls-auth-clients-user has no effect while tls-auth-clients is no: clients are "
                    "not asked for certificates, so none names a user. Set tls-auth-clients to yes "
                    "or optional.");
}

/* The state of the files is taken before they are read, so that no later change is missed. */
bool tls_watch_configure(struct engine *engine, sds *error) {
    struct tls_options texts[TLS_ROLES];
    const struct tls_options *options[TLS_ROLES] = {NULL};
    struct tls_setup setup = {.port = engine->config.tls_port};
    char reason[TLS_ERROR_MAX] = "";
    for (int role = 0; role < TLS_ROLES; role++)
        if (read_directives(&engine->config, (enum tls_role)role, &texts[role]))
            options[role] = &texts[role];
    setup.files = state_of_files(options);
    if (!read_files(options, &setup, reason)) {
        tls_setup_free(&setup);
        *error = sds_format("%s", reason);
        return false;
    }
    use(engine, &setup);
    warn_of_no_effect(&engine->config);
    return true;
}

/* --- Changed files --- */

/* Read in a thread of the pool, since a disk may be slow. Files that cannot be used are read again
 * each time: a certificate may become valid without a change. */
struct look {
    struct engine *engine; /* not for the thread */
    uint64_t generation;
    struct tls_options texts[TLS_ROLES];
    const struct tls_options *options[TLS_ROLES]; /* NULL: the role is not used */
    uint64_t known;                               /* state of the files */
    struct tls_setup setup;                       /* its contexts: NULL while nothing was read */
    bool is_good;
    char error[TLS_ERROR_MAX];
};

static void read_changed(void *arg) {
    struct look *look = arg;
    look->setup.files = state_of_files(look->options);
    if (look->setup.files != look->known)
        look->is_good = read_files(look->options, &look->setup, look->error);
}

/* Logs why the files cannot be used, unless it has said so of these. */
static void note_refusal(struct tls_watch *watch, const struct look *look) {
    if (watch->refused_files == look->setup.files && strcmp(watch->refusal, look->error) == 0)
        return;
    watch->refused_files = look->setup.files;
    snprintf(watch->refusal, sizeof(watch->refusal), "%s", look->error);
    log_warning("The files of TLS have changed, but cannot be used: %s. New connections "
                "use what was read before.",
                look->error);
}

/* The configuration may have changed meanwhile; then what was read is for nobody. */
static void use_changed(void *arg) {
    struct look *look = arg;
    struct engine *engine = look->engine;
    struct tls_watch *watch = engine->tls_watch;
    bool is_current = look->generation == watch->generation;
    watch->is_looking = false;
    if (is_current && look->is_good) {
        use(engine, &look->setup);
        log_notice("The files of TLS have changed. New connections use them.");
    } else {
        if (is_current && look->setup.files != look->known) note_refusal(watch, look);
        tls_setup_free(&look->setup);
    }
    for (int role = 0; role < TLS_ROLES; role++) tls_options_free(&look->texts[role]);
    mem_free(look);
}

static void look_for_changes(struct engine *engine) {
    struct tls_watch *watch = engine->tls_watch;
    watch->looked_ms = engine->steady_ms;
    watch->is_looking = true;
    struct look *look = mem_alloc_zeroed(sizeof(*look));
    look->engine = engine;
    look->generation = watch->generation;
    look->known = watch->files;
    look->setup.port = watch->port;
    for (int role = 0; role < TLS_ROLES; role++) {
        struct tls_options options;
        if (!read_directives(&engine->config, (enum tls_role)role, &options)) continue;
        look->texts[role] = tls_options_copy(&options);
        look->options[role] = &look->texts[role];
    }
    net_pool_run(engine->net, read_changed, use_changed, look);
}

void tls_watch_tick(struct engine *engine) {
    const struct tls_watch *watch = engine->tls_watch;
    int64_t interval_s = engine->config.tls_auto_reload_interval;
    if (!watch->is_used) return;
    if (engine->steady_ms - watch->warned_ms >= (int64_t)DAY_S * 1000) warn_of_all(engine);
    if (interval_s == 0 || watch->is_looking) return;
    if (engine->steady_ms - watch->looked_ms >= interval_s * 1000) look_for_changes(engine);
}

void tls_watch_stop(struct engine *engine) {
    engine->tls_watch->generation++;
}
