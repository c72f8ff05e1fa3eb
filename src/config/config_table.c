/* config_table: every directive, one row each; and the names of Redis's other ones. */
#include "config/config_table.h"

#include "store/eviction.h"

#include <assert.h>

/* clang-format off */

static const struct config_choice log_levels[] = {
    {"debug", LOG_DEBUG}, {"verbose", LOG_VERBOSE}, {"notice", LOG_NOTICE},
    {"warning", LOG_WARNING}, {"nothing", LOG_NOTHING}, {NULL, 0},
};

static const struct config_choice accesses[] = {
    {"no", CONFIG_ACCESS_NO}, {"yes", CONFIG_ACCESS_YES}, {"local", CONFIG_ACCESS_LOCAL}, {NULL, 0},
};

static const struct config_choice shutdown_options[] = {
    {"default", 0}, {"save", SHUTDOWN_SAVE}, {"nosave", SHUTDOWN_NOSAVE}, {"now", SHUTDOWN_NOW},
    {"force", SHUTDOWN_FORCE}, {NULL, 0},
};

static const struct config_choice sanitize_levels[] = {
    {"no", SANITIZE_NO}, {"yes", SANITIZE_YES}, {"clients", SANITIZE_CLIENTS}, {NULL, 0},
};

static const struct config_choice aof_fsyncs[] = {
    {"everysec", AOF_FSYNC_EVERYSEC}, {"always", AOF_FSYNC_ALWAYS}, {"no", AOF_FSYNC_NO}, {NULL, 0},
};

static const struct config_choice eviction_policies[] = {
    {"volatile-lru", EVICTION_VOLATILE_LRU}, {"volatile-lfu", EVICTION_VOLATILE_LFU},
    {"volatile-random", EVICTION_VOLATILE_RANDOM}, {"volatile-ttl", EVICTION_VOLATILE_TTL},
    {"allkeys-lru", EVICTION_ALLKEYS_LRU}, {"allkeys-lfu", EVICTION_ALLKEYS_LFU},
    {"allkeys-random", EVICTION_ALLKEYS_RANDOM}, {"noeviction", EVICTION_NONE}, {NULL, 0},
};

#define AT(field) offsetof(struct config, field)
#define MB (1024 * 1024)

/* Columns: name, kind, flags, place; least, most; default, effect, choices. */
const struct config_directive config_table[] = {
    /* Where it listens. */
    {"bind", CONFIG_ADDRESSES, 0, AT(bind), 0, 0, "127.0.0.1 -::1", EFFECT_LISTENERS, NULL},
    {"port", CONFIG_INTEGER, 0, AT(port), 0, 65535, "6379", EFFECT_LISTENERS, NULL},
    {"protected-mode", CONFIG_BOOL, 0, AT(protected_mode), 0, 0, "yes", EFFECT_NONE, NULL},
    {"tcp-backlog", CONFIG_INTEGER, CONFIG_IMMUTABLE, AT(tcp_backlog), 0, INT32_MAX, "511",
     EFFECT_NONE, NULL},
    {"unixsocket", CONFIG_STRING, CONFIG_IMMUTABLE, AT(unixsocket), 0, 0, "", EFFECT_NONE, NULL},
    {"unixsocketperm", CONFIG_OCTAL, CONFIG_IMMUTABLE, AT(unixsocketperm), 0, 0777, "0",
     EFFECT_NONE, NULL},

    /* Its clients. */
    {"timeout", CONFIG_INTEGER, 0, AT(timeout), 0, INT32_MAX, "0", EFFECT_NONE, NULL},
    {"tcp-keepalive", CONFIG_INTEGER, 0, AT(tcp_keepalive), 0, INT32_MAX, "300", EFFECT_NONE, NULL},
    {"maxclients", CONFIG_INTEGER, 0, AT(maxclients), 1, UINT32_MAX, "10000", EFFECT_MAXCLIENTS,
     NULL},
    {"requirepass", CONFIG_STRING, 0, AT(requirepass), 0, 0, "", EFFECT_PASSWORD, NULL},
    {"proto-max-bulk-len", CONFIG_MEMORY, 0, AT(proto_max_bulk_len), MB, INT64_MAX, "512mb",
     EFFECT_NONE, NULL},
    {"client-query-buffer-limit", CONFIG_MEMORY, 0, AT(client_query_buffer_limit), MB, INT64_MAX,
     "1gb", EFFECT_NONE, NULL},
    {"client-output-buffer-limit", CONFIG_OUTPUT_LIMITS, 0, AT(output_limits), 0, 0,
     "normal 0 0 0 slave 256mb 64mb 60 pubsub 32mb 8mb 60", EFFECT_NONE, NULL},

    /* The process. */
    {"daemonize", CONFIG_BOOL, CONFIG_IMMUTABLE, AT(daemonize), 0, 0, "no", EFFECT_NONE, NULL},
    {"pidfile", CONFIG_STRING, CONFIG_IMMUTABLE, AT(pidfile), 0, 0, "", EFFECT_NONE, NULL},
    {"loglevel", CONFIG_ENUM, 0, AT(loglevel), 0, 0, "notice", EFFECT_LOG_LEVEL, log_levels},
    {"logfile", CONFIG_STRING, CONFIG_IMMUTABLE, AT(logfile), 0, 0, "", EFFECT_NONE, NULL},
    {"databases", CONFIG_INTEGER, CONFIG_IMMUTABLE, AT(databases), 1, INT32_MAX, "16", EFFECT_NONE,
     NULL},
    {"hz", CONFIG_INTEGER, CONFIG_CLAMPED, AT(hz), 1, 500, "10", EFFECT_TIMER, NULL},
    {"enable-debug-command", CONFIG_ENUM, CONFIG_IMMUTABLE, AT(enable_debug_command), 0, 0, "no",
     EFFECT_NONE, accesses},
    {"enable-protected-configs", CONFIG_ENUM, CONFIG_IMMUTABLE, AT(enable_protected_configs), 0, 0,
     "no", EFFECT_NONE, accesses},
    {"shutdown-on-sigint", CONFIG_SHUTDOWN, 0, AT(shutdown_on_sigint), 0, 0, "default", EFFECT_NONE,
     shutdown_options},
    {"shutdown-on-sigterm", CONFIG_SHUTDOWN, 0, AT(shutdown_on_sigterm), 0, 0, "default",
     EFFECT_NONE, shutdown_options},

    /* Lists. */
    {"list-max-listpack-size", CONFIG_INTEGER, 0, AT(list_max_listpack_size), INT32_MIN, INT32_MAX,
     "-2", EFFECT_LIST_LIMITS, NULL},
    {"list-max-ziplist-size", CONFIG_INTEGER, CONFIG_ALIAS, AT(list_max_listpack_size), INT32_MIN,
     INT32_MAX, "-2", EFFECT_LIST_LIMITS, NULL},
    {"list-compress-depth", CONFIG_INTEGER, 0, AT(list_compress_depth), 0, INT32_MAX, "0",
     EFFECT_LIST_LIMITS, NULL},

    /* Payloads. */
    {"sanitize-dump-payload", CONFIG_ENUM, 0, AT(sanitize_dump_payload), 0, 0, "yes", EFFECT_NONE,
     sanitize_levels},

    /* Memory and keys that end. */
    {"notify-keyspace-events", CONFIG_EVENTS, 0, AT(notify_keyspace_events), 0, 0, "", EFFECT_NONE,
     NULL},
    {"maxmemory", CONFIG_MEMORY, CONFIG_UNSIGNED, AT(maxmemory), 0, 0, "0", EFFECT_MAXMEMORY, NULL},
    {"maxmemory-clients", CONFIG_MEMORY, CONFIG_PERCENT, AT(maxmemory_clients), -100, INT64_MAX,
     "0", EFFECT_MAXMEMORY_CLIENTS, NULL},
    {"maxmemory-eviction-tenacity", CONFIG_INTEGER, 0, AT(eviction_tenacity), 0, 100, "10",
     EFFECT_NONE, NULL},
    {"maxmemory-policy", CONFIG_ENUM, 0, AT(maxmemory_policy), 0, 0, "noeviction",
     EFFECT_EVICTION, eviction_policies},
    {"maxmemory-samples", CONFIG_INTEGER, 0, AT(maxmemory_samples), 1, 64, "5",
     EFFECT_EVICTION, NULL},
    {"lfu-decay-time", CONFIG_INTEGER, 0, AT(lfu_decay_time), 0, INT32_MAX, "1", EFFECT_EVICTION,
     NULL},
    {"lfu-log-factor", CONFIG_INTEGER, 0, AT(lfu_log_factor), 0, INT32_MAX, "10", EFFECT_EVICTION,
     NULL},
    {"active-expire-effort", CONFIG_INTEGER, 0, AT(active_expire_effort), 1, 10, "1", EFFECT_NONE,
     NULL},
    {"lazyfree-lazy-eviction", CONFIG_BOOL, 0, AT(lazyfree_eviction), 0, 0, "no", EFFECT_NONE,
     NULL},
    {"lazyfree-lazy-expire", CONFIG_BOOL, 0, AT(lazyfree_expire), 0, 0, "no", EFFECT_NONE, NULL},
    {"lazyfree-lazy-server-del", CONFIG_BOOL, 0, AT(lazyfree_server_del), 0, 0, "no", EFFECT_NONE,
     NULL},
    {"lazyfree-lazy-user-del", CONFIG_BOOL, 0, AT(lazyfree_user_del), 0, 0, "no", EFFECT_NONE,
     NULL},
    {"lazyfree-lazy-user-flush", CONFIG_BOOL, 0, AT(lazyfree_user_flush), 0, 0, "no", EFFECT_NONE,
     NULL},
    {"jemalloc-bg-thread", CONFIG_BOOL, 0, AT(jemalloc_bg_thread), 0, 0, "yes",
     EFFECT_MEMORY_THREAD, NULL},

    /* What operators look at. */
    {"slowlog-log-slower-than", CONFIG_INTEGER, 0, AT(slowlog_log_slower_than), -1, INT64_MAX,
     "10000", EFFECT_SLOW, NULL},
    {"slowlog-max-len", CONFIG_INTEGER, 0, AT(slowlog_max_len), 0, INT64_MAX, "128", EFFECT_NONE,
     NULL},
    {"latency-monitor-threshold", CONFIG_INTEGER, 0, AT(latency_monitor_threshold), 0, INT64_MAX,
     "0", EFFECT_SLOW, NULL},
    {"latency-tracking", CONFIG_BOOL, 0, AT(latency_tracking), 0, 0, "yes", EFFECT_NONE, NULL},
    {"latency-tracking-info-percentiles", CONFIG_PERCENTILES, 0, AT(latency_percentiles), 0, 0,
     "50 99 99.9", EFFECT_NONE, NULL},

    /* Saving and loading. */
    {"dir", CONFIG_STRING, CONFIG_PROTECTED | CONFIG_NOT_LOADING, AT(dir), 0, 0, "./", EFFECT_DIR,
     NULL},
    {"dbfilename", CONFIG_FILENAME, CONFIG_PROTECTED, AT(dbfilename), 0, 0, "dump.rdb", EFFECT_NONE,
     NULL},
    {"save", CONFIG_SAVE_POINTS, 0, AT(save), 0, 0, "3600 1 300 100 60 10000", EFFECT_SAVE, NULL},
    {"stop-writes-on-bgsave-error", CONFIG_BOOL, 0, AT(stop_writes_on_bgsave_error), 0, 0, "yes",
     EFFECT_SAVE, NULL},
    {"rdbcompression", CONFIG_BOOL, 0, AT(rdbcompression), 0, 0, "yes", EFFECT_NONE, NULL},
    {"rdbchecksum", CONFIG_BOOL, CONFIG_IMMUTABLE, AT(rdbchecksum), 0, 0, "yes", EFFECT_NONE, NULL},
    {"rdb-save-incremental-fsync", CONFIG_BOOL, 0, AT(rdb_save_incremental_fsync), 0, 0, "yes",
     EFFECT_NONE, NULL},
    {"rdb-save-in-slices", CONFIG_BOOL, 0, AT(rdb_save_in_slices), 0, 0, "yes", EFFECT_NONE, NULL},
    {"rdb-save-slice-us", CONFIG_INTEGER, CONFIG_HIDDEN, AT(rdb_save_slice_us), 8, 1000000, "300",
     EFFECT_NONE, NULL},
    {"rdb-skip-unknown-types", CONFIG_BOOL, 0, AT(rdb_skip_unknown_types), 0, 0, "no", EFFECT_NONE,
     NULL},
    {"rdb-del-sync-files", CONFIG_BOOL, 0, AT(rdb_del_sync_files), 0, 0, "no", EFFECT_NONE, NULL},
    {"rdb-key-save-delay", CONFIG_INTEGER, CONFIG_HIDDEN, AT(rdb_key_save_delay), INT32_MIN,
     INT32_MAX, "0", EFFECT_NONE, NULL},
    {"key-load-delay", CONFIG_INTEGER, CONFIG_HIDDEN, AT(key_load_delay), INT32_MIN, INT32_MAX, "0",
     EFFECT_NONE, NULL},
    {"loading-process-events-interval-bytes", CONFIG_INTEGER, CONFIG_HIDDEN,
     AT(loading_process_events_interval_bytes), 1024, INT32_MAX, "2097152", EFFECT_NONE, NULL},

    /* The append-only file. */
    {"appendonly", CONFIG_BOOL, 0, AT(appendonly), 0, 0, "no", EFFECT_APPENDONLY, NULL},
    {"appenddirname", CONFIG_FILENAME, CONFIG_IMMUTABLE, AT(appenddirname), 0, 0, "appendonlydir",
     EFFECT_NONE, NULL},
    {"appendfilename", CONFIG_FILENAME, CONFIG_IMMUTABLE, AT(appendfilename), 0, 0,
     "appendonly.aof", EFFECT_NONE, NULL},
    {"appendfsync", CONFIG_ENUM, 0, AT(appendfsync), 0, 0, "everysec", EFFECT_NONE, aof_fsyncs},
    {"no-appendfsync-on-rewrite", CONFIG_BOOL, 0, AT(no_appendfsync_on_rewrite), 0, 0, "no",
     EFFECT_NONE, NULL},
    {"auto-aof-rewrite-percentage", CONFIG_INTEGER, 0, AT(aof_rewrite_percentage), 0, INT32_MAX,
     "100", EFFECT_NONE, NULL},
    {"auto-aof-rewrite-min-size", CONFIG_MEMORY, 0, AT(aof_rewrite_min_size), 0, INT64_MAX, "64mb",
     EFFECT_NONE, NULL},
    {"aof-load-truncated", CONFIG_BOOL, 0, AT(aof_load_truncated), 0, 0, "yes", EFFECT_NONE, NULL},
    {"aof-use-rdb-preamble", CONFIG_BOOL, 0, AT(aof_rdb_preamble), 0, 0, "yes", EFFECT_NONE, NULL},
    {"aof-timestamp-enabled", CONFIG_BOOL, 0, AT(aof_timestamps), 0, 0, "no", EFFECT_NONE, NULL},
    {"aof-rewrite-incremental-fsync", CONFIG_BOOL, 0, AT(aof_incremental_fsync), 0, 0, "yes",
     EFFECT_NONE, NULL},
};

const size_t config_table_count = sizeof(config_table) / sizeof(config_table[0]);
static_assert(sizeof(config_table) / sizeof(config_table[0]) <= CONFIG_DIRECTIVES_MAX,
              "a set of directives must fit one word");

/* Directives of Redis 7.2, and the older names that it still accepts, whose absence a user may
 * notice. */
static const char *const serious_names[] = {
    "aclfile", "bind-source-addr", "cluster-enabled", "loadmodule", "masterauth", "masteruser",
    "min-replicas-to-write", "min-slaves-to-write", "rename-command", "replicaof", "slaveof",
    "syslog-enabled", "tls-cluster", "tls-port", "tls-replication", "user",
};

static const char *const harmless_names[] = {
    "acl-pubsub-default", "acllog-max-len", "active-defrag-cycle-max", "active-defrag-cycle-min",
    "active-defrag-ignore-bytes", "active-defrag-max-scan-fields", "active-defrag-threshold-lower",
    "active-defrag-threshold-upper", "activedefrag", "activerehashing", "always-show-logo",
    "aof-disable-auto-gc", "aof-rewrite-cpulist", "aof_rewrite_cpulist", "availability-zone",
    "bgsave-cpulist", "bgsave_cpulist", "bio-cpulist", "bio_cpulist", "busy-reply-threshold",
    "cluster-allow-pubsubshard-when-down", "cluster-allow-reads-when-down",
    "cluster-allow-replica-migration", "cluster-announce-bus-port", "cluster-announce-hostname",
    "cluster-announce-human-nodename", "cluster-announce-ip", "cluster-announce-port",
    "cluster-announce-tls-port", "cluster-config-file", "cluster-link-sendbuf-limit",
    "cluster-migration-barrier", "cluster-node-timeout", "cluster-port",
    "cluster-preferred-endpoint-type", "cluster-replica-no-failover",
    "cluster-replica-validity-factor", "cluster-require-full-coverage", "cluster-slave-no-failover",
    "cluster-slave-validity-factor", "crash-log-enabled", "crash-memcheck-enabled", "disable-thp",
    "dynamic-hz", "enable-module-command", "hash-max-listpack-entries", "hash-max-listpack-value",
    "hash-max-ziplist-entries", "hash-max-ziplist-value", "hll-sparse-max-bytes", "ignore-warnings",
    "io-threads", "io-threads-do-reads", "lazyexpire-nested-arbitrary-keys",
    "list-max-ziplist-entries", "list-max-ziplist-value", "locale-collate",
    "lua-enable-deprecated-api", "lua-replicate-commands", "lua-time-limit",
    "max-new-connections-per-cycle", "max-new-tls-connections-per-cycle", "min-replicas-max-lag",
    "min-slaves-max-lag", "oom-score-adj", "oom-score-adj-values", "proc-title-template",
    "propagation-error-behavior", "repl-backlog-size", "repl-backlog-ttl",
    "repl-disable-tcp-nodelay", "repl-diskless-load", "repl-diskless-sync",
    "repl-diskless-sync-delay", "repl-diskless-sync-max-replicas", "repl-diskless-sync-period",
    "repl-ping-replica-period", "repl-ping-slave-period", "repl-timeout", "replica-announce-ip",
    "replica-announce-port", "replica-announced", "replica-ignore-disk-write-errors",
    "replica-ignore-maxmemory", "replica-lazy-flush", "replica-priority", "replica-read-only",
    "replica-serve-stale-data", "server-cpulist", "server_cpulist", "set-max-intset-entries",
    "set-max-listpack-entries", "set-max-listpack-value", "set-proc-title", "shutdown-timeout",
    "slave-announce-ip", "slave-announce-port", "slave-ignore-maxmemory", "slave-lazy-flush",
    "slave-priority", "slave-read-only", "slave-serve-stale-data", "socket-mark-id",
    "stream-node-max-bytes", "stream-node-max-entries", "supervised", "syslog-facility",
    "syslog-ident", "tls-auth-clients", "tls-ca-cert-dir", "tls-ca-cert-file", "tls-cert-file",
    "tls-ciphers", "tls-ciphersuites", "tls-client-cert-file", "tls-client-key-file",
    "tls-client-key-file-pass", "tls-dh-params-file", "tls-key-file", "tls-key-file-pass",
    "tls-prefer-server-ciphers", "tls-protocols", "tls-session-cache-size",
    "tls-session-cache-timeout", "tls-session-caching", "tracking-table-max-keys",
    "use-exit-on-panic", "watchdog-period", "zset-max-listpack-entries", "zset-max-listpack-value",
    "zset-max-ziplist-entries", "zset-max-ziplist-value",
};

/* clang-format on */

static bool is_among(struct slice name, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (slice_is(name, names[i])) return true;
    return false;
}

enum config_foreign config_foreign_directive(struct slice name) {
    if (is_among(name, serious_names, sizeof(serious_names) / sizeof(serious_names[0])))
        return CONFIG_SERIOUS;
    if (is_among(name, harmless_names, sizeof(harmless_names) / sizeof(harmless_names[0])))
        return CONFIG_HARMLESS;
    return CONFIG_UNKNOWN;
}
