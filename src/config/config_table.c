/* config_table: every directive, one row each: first those that can be changed, then those of Redis
 * and Valkey that have one value here. Such a row holds the value that is true here, the default of
 * Redis where it can be, and why no other is possible. */
#include "config/config_table.h"

#include "base/log/log_syslog.h"
#include "store/eviction.h"

#include <assert.h>

/* clang-format off */

static const struct config_choice log_levels[] = {
    {"debug", LOG_DEBUG}, {"verbose", LOG_VERBOSE}, {"notice", LOG_NOTICE},
    {"warning", LOG_WARNING}, {"nothing", LOG_NOTHING}, {NULL, 0},
};

static const struct config_choice log_formats[] = {
    {"legacy", LOG_FORMAT_LEGACY}, {"logfmt", LOG_FORMAT_LOGFMT}, {"json", LOG_FORMAT_JSON},
    {NULL, 0},
};

static const struct config_choice log_timestamps[] = {
    {"legacy", LOG_TIMESTAMP_LEGACY}, {"iso8601", LOG_TIMESTAMP_ISO8601},
    {"milliseconds", LOG_TIMESTAMP_MILLISECONDS}, {NULL, 0},
};

static const struct config_choice accesses[] = {
    {"no", CONFIG_ACCESS_NO}, {"yes", CONFIG_ACCESS_YES}, {"local", CONFIG_ACCESS_LOCAL}, {NULL, 0},
};

static const struct config_choice shutdown_options[] = {
    {"default", 0}, {"save", SHUTDOWN_SAVE}, {"nosave", SHUTDOWN_NOSAVE}, {"now", SHUTDOWN_NOW},
    {"force", SHUTDOWN_FORCE}, {"safe", SHUTDOWN_SAFE}, {"failover", SHUTDOWN_FAILOVER}, {NULL, 0},
};

static const struct config_choice sanitize_levels[] = {
    {"no", SANITIZE_NO}, {"yes", SANITIZE_YES}, {"clients", SANITIZE_CLIENTS}, {NULL, 0},
};

static const struct config_choice oom_adjustments[] = {
    {"no", OOM_ADJUST_NO}, {"yes", OOM_ADJUST_RELATIVE}, {"relative", OOM_ADJUST_RELATIVE},
    {"absolute", OOM_ADJUST_ABSOLUTE}, {NULL, 0},
};

static const struct config_choice supervisors[] = {
    {"upstart", SUPERVISED_UPSTART}, {"systemd", SUPERVISED_SYSTEMD}, {"auto", SUPERVISED_AUTO},
    {"no", SUPERVISED_NO}, {NULL, 0},
};

static const struct config_choice syslog_facilities[] = {
    {"user", LOG_FACILITY_USER}, {"local0", 0}, {"local1", 1}, {"local2", 2}, {"local3", 3},
    {"local4", 4}, {"local5", 5}, {"local6", 6}, {"local7", 7}, {NULL, 0},
};

static const struct config_choice aof_fsyncs[] = {
    {"everysec", AOF_FSYNC_EVERYSEC}, {"always", AOF_FSYNC_ALWAYS}, {"no", AOF_FSYNC_NO}, {NULL, 0},
};

static const struct config_choice eviction_policies[] = {
    {"volatile-lru", EVICTION_VOLATILE_LRU}, {"volatile-lfu", EVICTION_VOLATILE_LFU},
    {"volatile-random", EVICTION_VOLATILE_RANDOM}, {"volatile-ttl", EVICTION_VOLATILE_TTL},
    {"volatile-lrm", EVICTION_VOLATILE_LRM}, {"allkeys-lru", EVICTION_ALLKEYS_LRU},
    {"allkeys-lfu", EVICTION_ALLKEYS_LFU}, {"allkeys-random", EVICTION_ALLKEYS_RANDOM},
    {"allkeys-lrm", EVICTION_ALLKEYS_LRM}, {"noeviction", EVICTION_NONE}, {NULL, 0},
};

static const struct config_choice tls_user_choices[] = {
    {"CN", TLS_USER_COMMON_NAME}, {"URI", TLS_USER_URI}, {"off", TLS_USER_OFF}, {NULL, 0},
};
static const struct config_choice tls_auth_choices[] = {
    {"no", TLS_AUTH_CLIENTS_NO}, {"yes", TLS_AUTH_CLIENTS_YES},
    {"optional", TLS_AUTH_CLIENTS_OPTIONAL}, {NULL, 0},
};

/* Whether a new user may use all channels. */
static const struct config_choice pubsub_defaults[] = {
    {"allchannels", true}, {"resetchannels", false}, {NULL, 0}};

static const struct config_choice diskless_loads[] = {
    {"disabled", DISKLESS_LOAD_OFF}, {"on-empty-db", DISKLESS_LOAD_EMPTY},
    {"swapdb", DISKLESS_LOAD_SWAP}, {"flush-before-load", DISKLESS_LOAD_FLUSH},
    {"flushdb", DISKLESS_LOAD_FLUSHDB}, {NULL, 0},
};

/* Reasons why a directive has only one value. */
#define PREFETCH "the server chooses how many keys are loaded ahead"
#define LARGE_REPLIES "the server chooses which strings are sent from where they are stored"
#define ALL_ACCEPTED "all connections that wait are accepted at once"
#define REHASHING "tables are always rehashed step by step"
#define HZ_IS_CONSTANT "hz does not depend on the number of clients"
#define NO_THP "the system decides about huge pages"
#define NO_CPU_LISTS "no process is started for this, but a thread that runs where others do"
#define SECRET_SEED "each start draws a new seed"
#define NO_LOGO "there is no logo"
#define ABORTS "a failed assertion always ends the process by SIGABRT"
#define NO_WATCHDOG "no watchdog looks for slow commands"
#define NO_CHECKS "the server does not look for what these warnings are about"
#define NO_MARKS \
    "Sockets cannot be marked, so a firewall would not see the mark. Remove the line to do " \
    "without."
#define NO_MPTCP "there is no Multipath TCP"
#define NO_RDMA "there is no RDMA: clients connect by TCP or a Unix socket"
#define NO_ZONE "the server has no zone to report"
#define NAMED_REDIS "the server presents itself as Redis in any case"
#define NO_MODULES "there are no modules: their commands are unknown"
#define ONE_LINK "a replica has one connection to its primary"
#define NO_CLUSTER "there are no clusters"
#define AOF_HISTORY_GOES "files that a rewrite has replaced are always deleted"
#define STRICT_VERSIONS "an RDB file of an unknown version is never loaded"
#define NO_FORK \
    "The event loop always writes snapshots in slices: no process is forked. Remove the line."
#define SNAPSHOTS "the event loop always writes snapshots in slices: no process is forked"
#define PLAIN_HASHES "hashes with templates are not loaded"
#define NO_MEMORY_HISTOGRAMS "there are histograms of the lengths of values, not of their memory"
#define NO_VECTOR_SETS "there are no vector sets"
#define BYTE_ORDER "texts are ordered by their bytes"
#define LIST_NODES "list-max-listpack-size says how large the nodes of a list are"
#define EXPIRY_ONCE "the clock stands still while a script runs"

#define ONLY(its_name, value, its_flags, reason) ALIASED(its_name, NULL, value, its_flags, reason)
#define ALIASED(its_name, its_alias, value, its_flags, reason) \
    {.name = (its_name), .alias = (its_alias), .kind = CONFIG_FIXED, .flags = (its_flags), \
     .default_text = (value), .detail = (reason)}
#define FAMILY(beginning, its_flags, reason) \
    ONLY(beginning, "", CONFIG_FAMILY | CONFIG_FILE_ONLY | (its_flags), reason)
#define AT(field) offsetof(struct config, field)
#define MB (1024 * 1024)

const struct config_directive config_table[] = {
    /* Listening. */
    {.name = "bind", .kind = CONFIG_ADDRESSES, .offset = AT(bind), .default_text = "127.0.0.1 -::1",
     .effect = EFFECT_LISTENERS},
    {.name = "port", .kind = CONFIG_INTEGER, .offset = AT(port), .min = 0, .max = 65535,
     .default_text = "6379", .effect = EFFECT_LISTENERS},
    {.name = "protected-mode", .kind = CONFIG_BOOL, .offset = AT(protected_mode),
     .default_text = "yes"},
    {.name = "tcp-backlog", .kind = CONFIG_INTEGER, .flags = CONFIG_IMMUTABLE,
     .offset = AT(tcp_backlog), .min = 0, .max = INT32_MAX, .default_text = "511"},
    {.name = "unixsocket", .kind = CONFIG_STRING, .flags = CONFIG_IMMUTABLE,
     .offset = AT(unixsocket), .default_text = ""},
    {.name = "unixsocketperm", .kind = CONFIG_OCTAL, .flags = CONFIG_IMMUTABLE,
     .offset = AT(unixsocketperm), .min = 0, .max = 0777, .default_text = "0"},
    {.name = "unixsocketgroup", .kind = CONFIG_STRING, .flags = CONFIG_IMMUTABLE,
     .offset = AT(unixsocketgroup), .default_text = ""},

    /* TLS. */
    {.name = "tls-client-cert-file", .kind = CONFIG_STRING, .offset = AT(tls_client_cert_file),
     .default_text = "", .effect = EFFECT_TLS},
    {.name = "tls-client-key-file", .kind = CONFIG_STRING, .offset = AT(tls_client_key_file),
     .default_text = "", .effect = EFFECT_TLS},
    {.name = "tls-client-key-file-pass", .kind = CONFIG_STRING,
     .offset = AT(tls_client_key_file_pass), .default_text = "", .effect = EFFECT_TLS},
    {.name = "tls-expected-peer-name", .kind = CONFIG_STRING, .offset = AT(tls_expected_peer_name),
     .default_text = "", .effect = EFFECT_TLS},
    {.name = "tls-replication", .kind = CONFIG_BOOL, .offset = AT(tls_replication),
     .default_text = "no", .effect = EFFECT_TLS},
    {.name = "tls-cluster", .kind = CONFIG_BOOL, .offset = AT(tls_cluster), .default_text = "no",
     .effect = EFFECT_TLS},
    {.name = "tls-port", .kind = CONFIG_INTEGER, .offset = AT(tls_port), .min = 0, .max = 65535,
     .default_text = "0", .effect = EFFECT_LISTENERS},
    {.name = "tls-cert-file", .kind = CONFIG_STRING, .offset = AT(tls_cert_file),
     .default_text = "", .effect = EFFECT_TLS},
    {.name = "tls-key-file", .kind = CONFIG_STRING, .offset = AT(tls_key_file),
     .default_text = "", .effect = EFFECT_TLS},
    {.name = "tls-key-file-pass", .kind = CONFIG_STRING, .offset = AT(tls_key_file_pass),
     .default_text = "", .effect = EFFECT_TLS},
    {.name = "tls-ca-cert-file", .kind = CONFIG_STRING, .offset = AT(tls_ca_cert_file),
     .default_text = "", .effect = EFFECT_TLS},
    {.name = "tls-ca-cert-dir", .kind = CONFIG_STRING, .offset = AT(tls_ca_cert_dir),
     .default_text = "", .effect = EFFECT_TLS},
    {.name = "tls-dh-params-file", .kind = CONFIG_STRING, .offset = AT(tls_dh_params_file),
     .default_text = "", .effect = EFFECT_TLS},
    {.name = "tls-protocols", .kind = CONFIG_STRING, .offset = AT(tls_protocols),
     .default_text = "", .effect = EFFECT_TLS},
    {.name = "tls-ciphers", .kind = CONFIG_STRING, .offset = AT(tls_ciphers),
     .default_text = "", .effect = EFFECT_TLS},
    {.name = "tls-ciphersuites", .kind = CONFIG_STRING, .offset = AT(tls_ciphersuites),
     .default_text = "", .effect = EFFECT_TLS},
    {.name = "tls-auth-clients", .kind = CONFIG_ENUM, .offset = AT(tls_auth_clients),
     .default_text = "yes", .effect = EFFECT_TLS, .detail = tls_auth_choices},
    {.name = "tls-auth-clients-user", .kind = CONFIG_ENUM, .offset = AT(tls_auth_clients_user),
     .default_text = "off", .effect = EFFECT_TLS, .detail = tls_user_choices},
    {.name = "tls-prefer-server-ciphers", .kind = CONFIG_BOOL,
     .offset = AT(tls_prefer_server_ciphers), .default_text = "no", .effect = EFFECT_TLS},
    {.name = "tls-session-caching", .kind = CONFIG_BOOL, .offset = AT(tls_session_caching),
     .default_text = "yes", .effect = EFFECT_TLS},
    {.name = "tls-session-cache-size", .kind = CONFIG_INTEGER, .offset = AT(tls_session_cache_size),
     .min = 0, .max = INT32_MAX, .default_text = "20480", .effect = EFFECT_TLS},
    {.name = "tls-session-cache-timeout", .kind = CONFIG_INTEGER,
     .offset = AT(tls_session_cache_timeout), .min = 0, .max = INT32_MAX, .default_text = "300",
     .effect = EFFECT_TLS},
    {.name = "tls-auto-reload-interval", .kind = CONFIG_INTEGER,
     .offset = AT(tls_auto_reload_interval), .min = 0, .max = INT32_MAX, .default_text = "0"},
    {.name = "max-new-tls-connections-per-cycle", .kind = CONFIG_INTEGER,
     .offset = AT(max_new_tls_connections_per_cycle), .min = 1, .max = 1000, .default_text = "1",
     .effect = EFFECT_TLS},

    /* Clients. */
    {.name = "timeout", .kind = CONFIG_INTEGER, .offset = AT(timeout), .min = 0, .max = INT32_MAX,
     .default_text = "0"},
    {.name = "tcp-keepalive", .kind = CONFIG_INTEGER, .offset = AT(tcp_keepalive), .min = 0,
     .max = INT32_MAX, .default_text = "300"},
    {.name = "maxclients", .kind = CONFIG_INTEGER, .offset = AT(maxclients), .min = 1,
     .max = UINT32_MAX, .default_text = "10000", .effect = EFFECT_MAXCLIENTS},
    {.name = "requirepass", .kind = CONFIG_STRING, .offset = AT(requirepass),
     .default_text = "", .effect = EFFECT_PASSWORD},
    {.name = "proto-max-bulk-len", .kind = CONFIG_MEMORY, .offset = AT(proto_max_bulk_len),
     .min = MB, .max = (int64_t)TEXT_LENGTH_MAX, .default_text = "512mb"},
    {.name = "client-query-buffer-limit", .kind = CONFIG_MEMORY,
     .offset = AT(client_query_buffer_limit), .min = MB, .max = INT64_MAX, .default_text = "1gb"},
    {.name = "client-output-buffer-limit", .kind = CONFIG_OUTPUT_LIMITS,
     .offset = AT(output_limits),
     .default_text = "normal 0 0 0 slave 256mb 64mb 60 pubsub 32mb 8mb 60"},
    {.name = "tracking-table-max-keys", .kind = CONFIG_INTEGER,
     .offset = AT(tracking_table_max_keys), .min = 0, .max = INT64_MAX, .default_text = "1000000",
     .effect = EFFECT_TRACKING},

    /* The process. */
    {.name = "daemonize", .kind = CONFIG_BOOL, .flags = CONFIG_IMMUTABLE, .offset = AT(daemonize),
     .default_text = "no"},
    {.name = "pidfile", .kind = CONFIG_STRING, .flags = CONFIG_IMMUTABLE, .offset = AT(pidfile),
     .default_text = ""},
    {.name = "loglevel", .kind = CONFIG_ENUM, .offset = AT(loglevel), .default_text = "notice",
     .effect = EFFECT_LOG, .detail = log_levels},
    {.name = "log-format", .kind = CONFIG_ENUM, .offset = AT(log_format), .default_text = "legacy",
     .effect = EFFECT_LOG, .detail = log_formats},
    {.name = "log-timestamp-format", .kind = CONFIG_ENUM, .offset = AT(log_timestamp_format),
     .default_text = "legacy", .effect = EFFECT_LOG, .detail = log_timestamps},
    {.name = "logfile", .kind = CONFIG_STRING, .flags = CONFIG_IMMUTABLE, .offset = AT(logfile),
     .default_text = ""},
    {.name = "syslog-enabled", .kind = CONFIG_BOOL, .flags = CONFIG_IMMUTABLE,
     .offset = AT(syslog_enabled), .default_text = "no"},
    {.name = "syslog-ident", .kind = CONFIG_STRING, .flags = CONFIG_IMMUTABLE,
     .offset = AT(syslog_ident), .default_text = "packlist"},
    {.name = "syslog-facility", .kind = CONFIG_ENUM, .flags = CONFIG_IMMUTABLE,
     .offset = AT(syslog_facility), .default_text = "local0", .detail = syslog_facilities},
    {.name = "supervised", .kind = CONFIG_ENUM, .flags = CONFIG_IMMUTABLE, .offset = AT(supervised),
     .default_text = "no", .detail = supervisors},
    {.name = "hide-user-data-from-log", .kind = CONFIG_BOOL, .offset = AT(hide_user_data_from_log),
     .default_text = "no"},
    {.name = "crash-log-enabled", .kind = CONFIG_BOOL, .offset = AT(crash_log_enabled),
     .default_text = "yes", .effect = EFFECT_CRASH_LOG},
    {.name = "crash-memcheck-enabled", .kind = CONFIG_BOOL, .offset = AT(crash_memcheck_enabled),
     .default_text = "yes"},
    {.name = "oom-score-adj", .kind = CONFIG_ENUM, .offset = AT(oom_score_adj),
     .default_text = "no", .effect = EFFECT_OOM_SCORE, .detail = oom_adjustments},
    {.name = "oom-score-adj-values", .kind = CONFIG_OOM_SCORES, .offset = AT(oom_score_adj_values),
     .default_text = "0 200 800", .effect = EFFECT_OOM_SCORE},
    {.name = "set-proc-title", .kind = CONFIG_BOOL, .flags = CONFIG_IMMUTABLE,
     .offset = AT(set_proc_title), .default_text = "yes"},
    {.name = "proc-title-template", .kind = CONFIG_TITLE, .offset = AT(proc_title_template),
     .default_text = "{title} {listen-addr} {server-mode}", .effect = EFFECT_TITLE},
    {.name = "databases", .kind = CONFIG_INTEGER, .flags = CONFIG_IMMUTABLE,
     .offset = AT(databases), .min = 1, .max = INT32_MAX, .default_text = "16"},
    {.name = "hz", .kind = CONFIG_INTEGER, .flags = CONFIG_CLAMPED, .offset = AT(hz), .min = 1,
     .max = 500, .default_text = "10", .effect = EFFECT_TIMER},
    {.name = "io-threads", .kind = CONFIG_INTEGER, .offset = AT(io_threads), .min = 1, .max = 128,
     .default_text = "1", .effect = EFFECT_IO_THREADS},
    {.name = "io-threads-do-reads", .kind = CONFIG_BOOL, .offset = AT(io_threads_do_reads),
     .default_text = "no"},
    {.name = "io-threads-always-active", .kind = CONFIG_BOOL, .flags = CONFIG_HIDDEN,
     .offset = AT(io_threads_always_active), .default_text = "no", .effect = EFFECT_IO_THREADS},
    {.name = "server-cpulist", .alias = "server_cpulist", .kind = CONFIG_CPU_LIST,
     .flags = CONFIG_IMMUTABLE, .offset = AT(server_cpulist), .default_text = ""},
    {.name = "bio-cpulist", .alias = "bio_cpulist", .kind = CONFIG_CPU_LIST,
     .flags = CONFIG_IMMUTABLE, .offset = AT(bio_cpulist), .default_text = ""},
    {.name = "enable-debug-command", .kind = CONFIG_ENUM, .flags = CONFIG_IMMUTABLE,
     .offset = AT(enable_debug_command), .default_text = "no", .detail = accesses},
    {.name = "enable-protected-configs", .kind = CONFIG_ENUM, .flags = CONFIG_IMMUTABLE,
     .offset = AT(enable_protected_configs), .default_text = "no", .detail = accesses},
    {.name = "shutdown-on-sigint", .kind = CONFIG_SHUTDOWN, .offset = AT(shutdown_on_sigint),
     .default_text = "default", .detail = shutdown_options},
    {.name = "shutdown-on-sigterm", .kind = CONFIG_SHUTDOWN, .offset = AT(shutdown_on_sigterm),
     .default_text = "default", .detail = shutdown_options},
    {.name = "shutdown-timeout", .kind = CONFIG_INTEGER, .offset = AT(shutdown_timeout), .min = 0,
     .max = INT32_MAX, .default_text = "10"},

    /* Lists. */
    {.name = "list-max-listpack-size", .alias = "list-max-ziplist-size", .kind = CONFIG_INTEGER,
     .offset = AT(list_max_listpack_size), .min = INT32_MIN, .max = INT32_MAX, .default_text = "-2",
     .effect = EFFECT_VALUE_LIMITS},
    {.name = "list-compress-depth", .kind = CONFIG_INTEGER, .offset = AT(list_compress_depth),
     .min = 0, .max = INT32_MAX, .default_text = "0", .effect = EFFECT_VALUE_LIMITS},

    /* Limits of compact encodings. */
    {.name = "hash-max-listpack-entries", .alias = "hash-max-ziplist-entries",
     .kind = CONFIG_INTEGER, .offset = AT(hash_max_listpack_entries), .min = 0, .max = INT64_MAX,
     .default_text = "512", .effect = EFFECT_VALUE_LIMITS},
    {.name = "hash-max-listpack-value", .alias = "hash-max-ziplist-value", .kind = CONFIG_MEMORY,
     .offset = AT(hash_max_listpack_value), .min = 0, .max = INT64_MAX, .default_text = "64",
     .effect = EFFECT_VALUE_LIMITS},
    {.name = "set-max-intset-entries", .kind = CONFIG_INTEGER, .offset = AT(set_max_intset_entries),
     .min = 0, .max = INT64_MAX, .default_text = "512", .effect = EFFECT_VALUE_LIMITS},
    {.name = "set-max-listpack-entries", .kind = CONFIG_INTEGER,
     .offset = AT(set_max_listpack_entries), .min = 0, .max = INT64_MAX, .default_text = "128",
     .effect = EFFECT_VALUE_LIMITS},
    {.name = "set-max-listpack-value", .kind = CONFIG_INTEGER, .offset = AT(set_max_listpack_value),
     .min = 0, .max = INT64_MAX, .default_text = "64",
     .effect = EFFECT_VALUE_LIMITS},
    {.name = "zset-max-listpack-entries", .alias = "zset-max-ziplist-entries",
     .kind = CONFIG_INTEGER, .offset = AT(zset_max_listpack_entries), .min = 0, .max = INT64_MAX,
     .default_text = "128", .effect = EFFECT_VALUE_LIMITS},
    {.name = "zset-max-listpack-value", .alias = "zset-max-ziplist-value", .kind = CONFIG_MEMORY,
     .offset = AT(zset_max_listpack_value), .min = 0, .max = INT64_MAX, .default_text = "64",
     .effect = EFFECT_VALUE_LIMITS},
    {.name = "hll-sparse-max-bytes", .kind = CONFIG_MEMORY, .offset = AT(hll_sparse_max_bytes),
     .min = 0, .max = INT64_MAX, .default_text = "3000", .effect = EFFECT_VALUE_LIMITS},
    {.name = "stream-node-max-bytes", .kind = CONFIG_MEMORY, .offset = AT(stream_node_max_bytes),
     .min = 0, .max = INT64_MAX, .default_text = "4096",
     .effect = EFFECT_VALUE_LIMITS},
    {.name = "stream-node-max-entries", .kind = CONFIG_INTEGER,
     .offset = AT(stream_node_max_entries), .min = 0, .max = INT64_MAX, .default_text = "100",
     .effect = EFFECT_VALUE_LIMITS},
    {.name = "stream-idmp-duration", .kind = CONFIG_INTEGER, .offset = AT(stream_idmp_duration),
     .min = 1, .max = 86400, .default_text = "100", .effect = EFFECT_VALUE_LIMITS},
    {.name = "stream-idmp-maxsize", .kind = CONFIG_INTEGER, .offset = AT(stream_idmp_maxsize),
     .min = 1, .max = 10000, .default_text = "100", .effect = EFFECT_VALUE_LIMITS},

    /* Payloads. */
    {.name = "sanitize-dump-payload", .kind = CONFIG_ENUM, .offset = AT(sanitize_dump_payload),
     .default_text = "yes", .detail = sanitize_levels},

    /* Memory and expiry. */
    {.name = "notify-keyspace-events", .kind = CONFIG_EVENTS, .offset = AT(notify_keyspace_events),
     .default_text = ""},
    {.name = "maxmemory", .kind = CONFIG_MEMORY, .flags = CONFIG_UNSIGNED, .offset = AT(maxmemory),
     .default_text = "0", .effect = EFFECT_MAXMEMORY},
    {.name = "maxmemory-rss", .kind = CONFIG_BOOL, .offset = AT(maxmemory_rss),
     .default_text = "no", .effect = EFFECT_MAXMEMORY_RSS},
    {.name = "lua-memory-limit", .kind = CONFIG_MEMORY, .offset = AT(lua_memory_limit),
     .min = MB, .max = INT64_MAX, .default_text = "256mb", .effect = EFFECT_LUA_MEMORY},
    {.name = "lua-enable-deprecated-api", .alias = "lua-enable-insecure-api", .kind = CONFIG_BOOL,
     .flags = CONFIG_IMMUTABLE | CONFIG_HIDDEN, .offset = AT(lua_enable_deprecated_api),
     .default_text = "no"},
    {.name = "busy-reply-threshold", .alias = "lua-time-limit", .kind = CONFIG_INTEGER,
     .offset = AT(busy_reply_threshold), .min = 0, .max = INT64_MAX, .default_text = "5000"},
    {.name = "maxmemory-clients", .kind = CONFIG_MEMORY, .flags = CONFIG_PERCENT,
     .offset = AT(maxmemory_clients), .min = -100, .max = INT64_MAX, .default_text = "0",
     .effect = EFFECT_MAXMEMORY_CLIENTS},
    {.name = "maxmemory-eviction-tenacity", .kind = CONFIG_INTEGER, .offset = AT(eviction_tenacity),
     .min = 0, .max = 100, .default_text = "10"},
    {.name = "maxmemory-policy", .kind = CONFIG_ENUM, .offset = AT(maxmemory_policy),
     .default_text = "noeviction", .effect = EFFECT_EVICTION, .detail = eviction_policies},
    {.name = "maxmemory-samples", .kind = CONFIG_INTEGER, .offset = AT(maxmemory_samples), .min = 1,
     .max = 64, .default_text = "5", .effect = EFFECT_EVICTION},
    {.name = "lfu-decay-time", .kind = CONFIG_INTEGER, .offset = AT(lfu_decay_time), .min = 0,
     .max = INT32_MAX, .default_text = "1", .effect = EFFECT_EVICTION},
    {.name = "lfu-log-factor", .kind = CONFIG_INTEGER, .offset = AT(lfu_log_factor), .min = 0,
     .max = INT32_MAX, .default_text = "10", .effect = EFFECT_EVICTION},
    {.name = "active-expire-effort", .kind = CONFIG_INTEGER, .offset = AT(active_expire_effort),
     .min = 1, .max = 10, .default_text = "1"},
    {.name = "import-mode", .kind = CONFIG_BOOL, .offset = AT(import_mode), .default_text = "no"},
    {.name = "lazyfree-lazy-eviction", .kind = CONFIG_BOOL, .offset = AT(lazyfree_eviction),
     .default_text = "no"},
    {.name = "lazyfree-lazy-expire", .kind = CONFIG_BOOL, .offset = AT(lazyfree_expire),
     .default_text = "no"},
    {.name = "lazyfree-lazy-server-del", .kind = CONFIG_BOOL, .offset = AT(lazyfree_server_del),
     .default_text = "no"},
    {.name = "lazyfree-lazy-user-del", .kind = CONFIG_BOOL, .offset = AT(lazyfree_user_del),
     .default_text = "no"},
    {.name = "lazyfree-lazy-user-flush", .kind = CONFIG_BOOL, .offset = AT(lazyfree_user_flush),
     .default_text = "no"},
    {.name = "activedefrag", .kind = CONFIG_BOOL, .offset = AT(activedefrag),
     .default_text = "yes", .effect = EFFECT_DEFRAG},
    {.name = "active-defrag-cycle-max", .kind = CONFIG_INTEGER, .offset = AT(defrag_cycle_max),
     .min = 1, .max = 99, .default_text = "25"},
    {.name = "active-defrag-cycle-min", .kind = CONFIG_INTEGER, .offset = AT(defrag_cycle_min),
     .min = 1, .max = 99, .default_text = "1"},
    {.name = "active-defrag-cycle-us", .kind = CONFIG_INTEGER, .offset = AT(defrag_cycle_us),
     .min = 0, .max = 100000, .default_text = "100"},
    {.name = "active-defrag-ignore-bytes", .kind = CONFIG_MEMORY,
     .offset = AT(defrag_ignore_bytes), .min = 1, .max = INT64_MAX, .default_text = "10mb"},
    {.name = "active-defrag-max-scan-fields", .kind = CONFIG_INTEGER,
     .offset = AT(defrag_max_scan_fields), .min = 1, .max = INT64_MAX, .default_text = "1000"},
    {.name = "active-defrag-threshold-lower", .kind = CONFIG_INTEGER,
     .offset = AT(defrag_threshold_lower), .min = 0, .max = 1000, .default_text = "10"},
    {.name = "active-defrag-threshold-upper", .kind = CONFIG_INTEGER,
     .offset = AT(defrag_threshold_upper), .min = 0, .max = 1000, .default_text = "100"},
    {.name = "jemalloc-bg-thread", .kind = CONFIG_BOOL, .offset = AT(jemalloc_bg_thread),
     .default_text = "yes", .effect = EFFECT_MEMORY_THREAD},

    /* Monitoring. */
    {.name = "slowlog-log-slower-than", .alias = "commandlog-execution-slower-than",
     .kind = CONFIG_INTEGER, .offset = AT(slowlog_log_slower_than), .min = -1, .max = INT64_MAX,
     .default_text = "10000", .effect = EFFECT_SLOW},
    {.name = "slowlog-max-len", .alias = "commandlog-slow-execution-max-len",
     .kind = CONFIG_INTEGER, .offset = AT(slowlog_max_len), .min = 0, .max = INT64_MAX,
     .default_text = "128"},
    {.name = "slowlog-max-argc", .alias = "slowlog-entry-max-argc", .kind = CONFIG_INTEGER,
     .offset = AT(slowlog_max_argc), .min = 1, .max = INT32_MAX, .default_text = "32"},
    {.name = "slowlog-entry-max-string-len", .kind = CONFIG_INTEGER,
     .offset = AT(slowlog_entry_max_string_len), .min = 1, .max = INT32_MAX,
     .default_text = "128"},
    {.name = "slowlog-show-argc", .kind = CONFIG_BOOL, .offset = AT(slowlog_show_argc),
     .default_text = "no"},
    {.name = "commandlog-request-larger-than", .kind = CONFIG_INTEGER,
     .offset = AT(large_request_bytes), .min = -1, .max = INT64_MAX, .default_text = "1048576",
     .effect = EFFECT_SLOW},
    {.name = "commandlog-large-request-max-len", .kind = CONFIG_INTEGER,
     .offset = AT(large_request_max_len), .min = 0, .max = INT64_MAX, .default_text = "128"},
    {.name = "commandlog-reply-larger-than", .kind = CONFIG_INTEGER,
     .offset = AT(large_reply_bytes), .min = -1, .max = INT64_MAX, .default_text = "1048576",
     .effect = EFFECT_SLOW},
    {.name = "commandlog-large-reply-max-len", .kind = CONFIG_INTEGER,
     .offset = AT(large_reply_max_len), .min = 0, .max = INT64_MAX, .default_text = "128"},
    {.name = "latency-monitor-threshold", .kind = CONFIG_INTEGER,
     .offset = AT(latency_monitor_threshold), .min = 0, .max = INT64_MAX, .default_text = "0",
     .effect = EFFECT_SLOW},
    {.name = "latency-tracking", .kind = CONFIG_BOOL, .offset = AT(latency_tracking),
     .default_text = "yes"},
    {.name = "latency-tracking-info-percentiles", .kind = CONFIG_PERCENTILES,
     .offset = AT(latency_percentiles), .default_text = "50 99 99.9"},

    /* Saving and loading. */
    {.name = "dir", .kind = CONFIG_STRING, .flags = CONFIG_PROTECTED | CONFIG_NOT_LOADING,
     .offset = AT(dir), .default_text = "./", .effect = EFFECT_DIR},
    {.name = "dbfilename", .kind = CONFIG_FILENAME, .flags = CONFIG_PROTECTED,
     .offset = AT(dbfilename), .default_text = "dump.rdb"},
    {.name = "save", .kind = CONFIG_SAVE_POINTS, .offset = AT(save),
     .default_text = "3600 1 300 100 60 10000", .effect = EFFECT_SAVE},
    {.name = "stop-writes-on-bgsave-error", .kind = CONFIG_BOOL,
     .offset = AT(stop_writes_on_bgsave_error), .default_text = "yes", .effect = EFFECT_SAVE},
    {.name = "rdbcompression", .kind = CONFIG_BOOL, .offset = AT(rdbcompression),
     .default_text = "yes"},
    {.name = "rdbchecksum", .kind = CONFIG_BOOL, .flags = CONFIG_IMMUTABLE,
     .offset = AT(rdbchecksum), .default_text = "yes"},
    {.name = "rdb-save-incremental-fsync", .kind = CONFIG_BOOL,
     .offset = AT(rdb_save_incremental_fsync), .default_text = "yes"},
    {.name = "rdb-save-slice-us", .kind = CONFIG_INTEGER, .flags = CONFIG_HIDDEN,
     .offset = AT(rdb_save_slice_us), .min = 8, .max = 1000000, .default_text = "300"},
    {.name = "rdb-skip-unknown-types", .kind = CONFIG_BOOL, .offset = AT(rdb_skip_unknown_types),
     .default_text = "no"},
    {.name = "rdb-del-sync-files", .kind = CONFIG_BOOL, .offset = AT(rdb_del_sync_files),
     .default_text = "no"},
    {.name = "rdb-key-save-delay", .kind = CONFIG_INTEGER, .flags = CONFIG_HIDDEN,
     .offset = AT(rdb_key_save_delay), .min = INT32_MIN, .max = INT32_MAX, .default_text = "0"},
    {.name = "key-load-delay", .kind = CONFIG_INTEGER, .flags = CONFIG_HIDDEN,
     .offset = AT(key_load_delay), .min = INT32_MIN, .max = INT32_MAX, .default_text = "0"},
    {.name = "loading-process-events-interval-bytes", .kind = CONFIG_INTEGER,
     .flags = CONFIG_HIDDEN, .offset = AT(loading_process_events_interval_bytes), .min = 1024,
     .max = INT32_MAX, .default_text = "2097152"},

    /* The append-only file. */
    {.name = "appendonly", .kind = CONFIG_BOOL, .offset = AT(appendonly), .default_text = "no",
     .effect = EFFECT_APPENDONLY},
    {.name = "appenddirname", .kind = CONFIG_FILENAME, .flags = CONFIG_IMMUTABLE,
     .offset = AT(appenddirname), .default_text = "appendonlydir"},
    {.name = "appendfilename", .kind = CONFIG_FILENAME, .flags = CONFIG_IMMUTABLE,
     .offset = AT(appendfilename), .default_text = "appendonly.aof"},
    {.name = "appendfsync", .kind = CONFIG_ENUM, .offset = AT(appendfsync),
     .default_text = "everysec", .detail = aof_fsyncs},
    {.name = "no-appendfsync-on-rewrite", .kind = CONFIG_BOOL,
     .offset = AT(no_appendfsync_on_rewrite), .default_text = "no"},
    {.name = "auto-aof-rewrite-percentage", .kind = CONFIG_INTEGER,
     .offset = AT(aof_rewrite_percentage), .min = 0, .max = INT32_MAX, .default_text = "100"},
    {.name = "auto-aof-rewrite-min-size", .kind = CONFIG_MEMORY, .offset = AT(aof_rewrite_min_size),
     .min = 0, .max = INT64_MAX, .default_text = "64mb"},
    {.name = "aof-load-truncated", .kind = CONFIG_BOOL, .offset = AT(aof_load_truncated),
     .default_text = "yes"},
    {.name = "aof-load-corrupt-tail-max-size", .kind = CONFIG_INTEGER,
     .offset = AT(aof_load_corrupt_tail_max_size), .min = 0, .max = INT64_MAX,
     .default_text = "0"},
    {.name = "aof-use-rdb-preamble", .kind = CONFIG_BOOL, .offset = AT(aof_rdb_preamble),
     .default_text = "yes"},
    {.name = "aof-timestamp-enabled", .kind = CONFIG_BOOL, .offset = AT(aof_timestamps),
     .default_text = "no"},
    {.name = "aof-rewrite-incremental-fsync", .kind = CONFIG_BOOL,
     .offset = AT(aof_incremental_fsync), .default_text = "yes"},

    /* Replicas of this server. */
    {.name = "min-replicas-to-write", .alias = "min-slaves-to-write", .kind = CONFIG_INTEGER,
     .offset = AT(min_replicas_to_write), .min = 0, .max = INT32_MAX, .default_text = "0",
     .effect = EFFECT_REPLICATION},
    {.name = "min-replicas-max-lag", .alias = "min-slaves-max-lag", .kind = CONFIG_INTEGER,
     .offset = AT(min_replicas_max_lag), .min = 0, .max = INT32_MAX, .default_text = "10",
     .effect = EFFECT_REPLICATION},
    {.name = "repl-backlog-size", .kind = CONFIG_MEMORY, .offset = AT(repl_backlog_size), .min = 1,
     .max = INT64_MAX, .default_text = "1mb", .effect = EFFECT_REPLICATION},
    {.name = "repl-backlog-ttl", .kind = CONFIG_INTEGER, .offset = AT(repl_backlog_ttl), .min = 0,
     .max = INT32_MAX, .default_text = "3600"},
    {.name = "repl-disable-tcp-nodelay", .kind = CONFIG_BOOL,
     .offset = AT(repl_disable_tcp_nodelay), .default_text = "no"},
    {.name = "repl-diskless-sync", .kind = CONFIG_BOOL, .offset = AT(repl_diskless_sync),
     .default_text = "yes"},
    {.name = "repl-diskless-sync-delay", .kind = CONFIG_INTEGER,
     .offset = AT(repl_diskless_sync_delay), .min = 0, .max = INT32_MAX, .default_text = "5"},
    {.name = "repl-diskless-sync-max-replicas", .kind = CONFIG_INTEGER,
     .offset = AT(repl_diskless_sync_max_replicas), .min = 0, .max = INT32_MAX,
     .default_text = "0"},
    {.name = "repl-diskless-sync-period", .kind = CONFIG_INTEGER, .flags = CONFIG_HIDDEN,
     .offset = AT(repl_diskless_sync_period), .min = 0, .max = INT32_MAX, .default_text = "0"},
    {.name = "repl-ping-replica-period", .alias = "repl-ping-slave-period", .kind = CONFIG_INTEGER,
     .offset = AT(repl_ping_replica_period), .min = 1, .max = INT32_MAX, .default_text = "10"},
    {.name = "repl-timeout", .kind = CONFIG_INTEGER, .offset = AT(repl_timeout), .min = 1,
     .max = INT32_MAX, .default_text = "60"},

    /* This server as a replica. */
    {.name = "replicaof", .alias = "slaveof", .kind = CONFIG_HOST_PORT, .flags = CONFIG_IMMUTABLE,
     .offset = AT(replicaof), .default_text = ""},
    {.name = "masterauth", .alias = "primaryauth", .kind = CONFIG_STRING,
     .offset = AT(masterauth), .default_text = ""},
    {.name = "masteruser", .alias = "primaryuser", .kind = CONFIG_STRING,
     .offset = AT(masteruser), .default_text = ""},
    {.name = "replica-announce-ip", .alias = "slave-announce-ip", .kind = CONFIG_STRING,
     .offset = AT(replica_announce_ip), .default_text = ""},
    {.name = "replica-announce-port", .alias = "slave-announce-port", .kind = CONFIG_INTEGER,
     .offset = AT(replica_announce_port), .min = 0, .max = 65535, .default_text = "0"},
    {.name = "replica-announced", .kind = CONFIG_BOOL, .offset = AT(replica_announced),
     .default_text = "yes"},
    {.name = "replica-ignore-maxmemory", .alias = "slave-ignore-maxmemory", .kind = CONFIG_BOOL,
     .offset = AT(replica_ignore_maxmemory), .default_text = "yes", .effect = EFFECT_EVICTION},
    {.name = "replica-lazy-flush", .alias = "slave-lazy-flush", .kind = CONFIG_BOOL,
     .offset = AT(replica_lazy_flush), .default_text = "no"},
    {.name = "replica-priority", .alias = "slave-priority", .kind = CONFIG_INTEGER,
     .offset = AT(replica_priority), .min = 0, .max = INT32_MAX, .default_text = "100"},
    {.name = "replica-read-only", .alias = "slave-read-only", .kind = CONFIG_BOOL,
     .offset = AT(replica_read_only), .default_text = "yes", .effect = EFFECT_REPLICA},
    {.name = "replica-serve-stale-data", .alias = "slave-serve-stale-data", .kind = CONFIG_BOOL,
     .offset = AT(replica_serve_stale_data), .default_text = "yes", .effect = EFFECT_REPLICA},
    {.name = "repl-diskless-load", .kind = CONFIG_ENUM, .offset = AT(repl_diskless_load),
     .default_text = "disabled", .detail = diskless_loads},

    /* The other directives of Redis 7.0 to 8 and Valkey 8 and 9. */
    /* The event loop, its threads and its memory. */
    ONLY("prefetch-batch-max-size", "16", 0, PREFETCH),
    ONLY("lookahead", "16", 0, PREFETCH),
    ONLY("min-io-threads-avoid-copy-reply", "7", CONFIG_HIDDEN, LARGE_REPLIES),
    ONLY("min-string-size-avoid-copy-reply", "16384", CONFIG_HIDDEN, LARGE_REPLIES),
    ONLY("min-string-size-avoid-copy-reply-threaded", "65536", CONFIG_HIDDEN, LARGE_REPLIES),
    ONLY("max-new-connections-per-cycle", "10", 0, ALL_ACCEPTED),
    ONLY("activerehashing", "yes", 0, REHASHING),
    ONLY("dynamic-hz", "no", 0, HZ_IS_CONSTANT),
    ONLY("disable-thp", "no", CONFIG_IMMUTABLE, NO_THP),
    ALIASED("aof-rewrite-cpulist", "aof_rewrite_cpulist", "", CONFIG_IMMUTABLE, NO_CPU_LISTS),
    ALIASED("bgsave-cpulist", "bgsave_cpulist", "", CONFIG_IMMUTABLE, NO_CPU_LISTS),
    ONLY("hash-seed", "", CONFIG_IMMUTABLE, SECRET_SEED),

    /* Logs. */
    ONLY("always-show-logo", "no", CONFIG_IMMUTABLE, NO_LOGO),
    ONLY("use-exit-on-panic", "no", CONFIG_HIDDEN, ABORTS),
    ONLY("enable-debug-assert", "no", CONFIG_HIDDEN | CONFIG_IMMUTABLE,
         "a build with CHECKED=1 checks more"),
    ONLY("debug-context", "", CONFIG_HIDDEN, "a crash report names no context"),
    ONLY("watchdog-period", "0", CONFIG_HIDDEN, NO_WATCHDOG),
    ONLY("ignore-warnings", "", 0, NO_CHECKS),

    /* Network. */
    ONLY("socket-mark-id", "0", CONFIG_PROTECTS | CONFIG_IMMUTABLE, NO_MARKS),
    {.name = "bind-source-addr", .kind = CONFIG_STRING, .offset = AT(bind_source_addr),
     .default_text = ""},
    ONLY("mptcp", "no", CONFIG_IMMUTABLE, NO_MPTCP),
    ONLY("repl-mptcp", "no", CONFIG_IMMUTABLE, NO_MPTCP),
    ONLY("rdma-port", "0", CONFIG_MISSED, NO_RDMA),
    ONLY("rdma-bind", "", 0, NO_RDMA),
    ONLY("rdma-completion-vector", "-1", CONFIG_IMMUTABLE, NO_RDMA),
    ONLY("rdma-rx-size", "1048576", CONFIG_IMMUTABLE, NO_RDMA),
    ONLY("availability-zone", "", 0, NO_ZONE),
    ONLY("extended-redis-compatibility", "no", 0, NAMED_REDIS),

    /* Users and the names of commands. */
    {.name = "aclfile", .kind = CONFIG_STRING, .flags = CONFIG_IMMUTABLE, .offset = AT(aclfile),
     .default_text = ""},
    {.name = "user", .kind = CONFIG_USER, .flags = CONFIG_FILE_ONLY,
     .default_text = ""},
    {.name = "acl-pubsub-default", .kind = CONFIG_ENUM, .offset = AT(acl_pubsub_default),
     .default_text = "resetchannels", .effect = EFFECT_PUBSUB_DEFAULT, .detail = pubsub_defaults},
    {.name = "acllog-max-len", .kind = CONFIG_INTEGER, .offset = AT(acllog_max_len), .min = 0,
     .max = INT64_MAX, .default_text = "128"},
    {.name = "acl-filter-keys", .kind = CONFIG_BOOL, .offset = AT(acl_filter_keys),
     .default_text = "no"},
    {.name = "rename-command", .kind = CONFIG_RENAMES, .flags = CONFIG_FILE_ONLY,
     .offset = AT(renamed_commands), .default_text = ""},

    /* Modules and scripts. */
    ONLY("loadmodule", "", CONFIG_MISSED | CONFIG_FILE_ONLY, NO_MODULES),
    FAMILY("search-*", CONFIG_MISSED, NO_MODULES),
    FAMILY("ts-*", CONFIG_MISSED, NO_MODULES),
    FAMILY("bf-*", CONFIG_MISSED, NO_MODULES),
    FAMILY("cf-*", CONFIG_MISSED, NO_MODULES),
    ONLY("enable-module-command", "no", CONFIG_IMMUTABLE, NO_MODULES),
    ONLY("lua-replicate-commands", "yes", CONFIG_FILE_ONLY,
         "scripts are propagated as the commands that they run"),

    /* Replication. */
    ONLY("replica-full-sync-buffer-limit", "0", 0, ONE_LINK),
    ONLY("repl-rdb-channel", "no", CONFIG_HIDDEN, ONE_LINK),
    ONLY("replica-ignore-disk-write-errors", "yes", 0,
         "a replica that cannot write its files logs that and goes on"),
    ONLY("dual-channel-replication-enabled", "no", 0, ONE_LINK),
    ONLY("propagation-error-behavior", "ignore", 0,
         "a replica where a command of the primary fails asks for all data"),

    /* Clusters. */
    ONLY("cluster-enabled", "no", CONFIG_MISSED | CONFIG_IMMUTABLE, NO_CLUSTER),
    ONLY("cluster-allow-pubsubshard-when-down", "yes", 0, NO_CLUSTER),
    ONLY("cluster-allow-reads-when-down", "no", 0, NO_CLUSTER),
    ONLY("cluster-allow-replica-migration", "yes", 0, NO_CLUSTER),
    ONLY("cluster-announce-bus-port", "0", 0, NO_CLUSTER),
    ONLY("cluster-announce-client-ipv4", "", 0, NO_CLUSTER),
    ONLY("cluster-announce-client-ipv6", "", 0, NO_CLUSTER),
    ONLY("cluster-announce-client-port", "0", 0, NO_CLUSTER),
    ONLY("cluster-announce-client-tls-port", "0", 0, NO_CLUSTER),
    ONLY("cluster-announce-hostname", "", 0, NO_CLUSTER),
    ONLY("cluster-announce-human-nodename", "", 0, NO_CLUSTER),
    ONLY("cluster-announce-ip", "", 0, NO_CLUSTER),
    ONLY("cluster-announce-port", "0", 0, NO_CLUSTER),
    ONLY("cluster-announce-tls-port", "0", 0, NO_CLUSTER),
    ONLY("cluster-blacklist-ttl", "60", 0, NO_CLUSTER),
    ONLY("cluster-compatibility-sample-ratio", "0", 0, NO_CLUSTER),
    ONLY("cluster-config-file", "nodes.conf", CONFIG_IMMUTABLE, NO_CLUSTER),
    ONLY("cluster-config-save-behavior", "sync", 0, NO_CLUSTER),
    ONLY("cluster-databases", "1", CONFIG_IMMUTABLE, NO_CLUSTER),
    ONLY("cluster-link-sendbuf-limit", "0", 0, NO_CLUSTER),
    ONLY("cluster-manual-failover-timeout", "5000", 0, NO_CLUSTER),
    ONLY("cluster-migration-barrier", "1", 0, NO_CLUSTER),
    ONLY("cluster-message-gossip-perc", "10", CONFIG_HIDDEN, NO_CLUSTER),
    ONLY("cluster-node-timeout", "15000", 0, NO_CLUSTER),
    ONLY("cluster-ping-interval", "0", CONFIG_HIDDEN, NO_CLUSTER),
    ONLY("cluster-port", "0", CONFIG_IMMUTABLE, NO_CLUSTER),
    ONLY("cluster-preferred-endpoint-type", "ip", 0, NO_CLUSTER),
    ALIASED("cluster-replica-no-failover", "cluster-slave-no-failover", "no", 0, NO_CLUSTER),
    ALIASED("cluster-replica-validity-factor", "cluster-slave-validity-factor",
            "10", 0, NO_CLUSTER),
    ONLY("cluster-require-full-coverage", "yes", 0, NO_CLUSTER),
    ONLY("cluster-slot-migration-handoff-max-lag-bytes", "1048576", 0, NO_CLUSTER),
    ONLY("cluster-slot-migration-log-max-len", "1000", 0, NO_CLUSTER),
    ONLY("cluster-slot-migration-max-archived-tasks", "32", CONFIG_HIDDEN, NO_CLUSTER),
    ONLY("cluster-slot-migration-sync-buffer-drain-timeout", "60000", CONFIG_HIDDEN, NO_CLUSTER),
    ONLY("cluster-slot-migration-write-pause-timeout", "10000", 0, NO_CLUSTER),
    ONLY("cluster-slot-stats-enabled", "no", 0, NO_CLUSTER),
    ONLY("slot-migration-max-failover-repl-bytes", "0", 0, NO_CLUSTER),
    FAMILY("cluster-*", 0, NO_CLUSTER),

    /* Data. */
    ONLY("aof-disable-auto-gc", "no", 0, AOF_HISTORY_GOES),
    ONLY("rdb-version-check", "strict", 0, STRICT_VERSIONS),
    ONLY("rdb-save-in-slices", "yes", CONFIG_PROTECTS, NO_FORK),
    ONLY("bgsave-default-method", "fork", 0, SNAPSHOTS),
    ONLY("forkless-infrastructure-enabled", "no", 0, SNAPSHOTS),
    FAMILY("hash-rdb-load-*", 0, PLAIN_HASHES),
    ONLY("key-memory-histograms", "no", 0, NO_MEMORY_HISTOGRAMS),
    ONLY("vset-force-single-threaded-execution", "no", 0, NO_VECTOR_SETS),
    ONLY("locale-collate", "", 0, BYTE_ORDER),
    ONLY("list-max-ziplist-entries", "512", CONFIG_FILE_ONLY, LIST_NODES),
    ONLY("list-max-ziplist-value", "64", CONFIG_FILE_ONLY, LIST_NODES),
    ONLY("lazyexpire-nested-arbitrary-keys", "yes", CONFIG_HIDDEN, EXPIRY_ONCE),
};

/* clang-format on */

const size_t config_table_count = sizeof(config_table) / sizeof(config_table[0]);
static_assert(sizeof(config_table) / sizeof(config_table[0]) <= CONFIG_DIRECTIVES_MAX,
              "a set has a bit for every directive");
