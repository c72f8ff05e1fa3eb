/* config_table: every directive, one row each: first those that can be changed, then those of Redis
 * and Valkey that have one value here. Such a row holds the value that is true here, the default of
 * Redis where it can be, and why no other is possible. */
#include "config/config_table.h"

#include "base/log/log_syslog.h"
#include "config/node_names.h"
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

static const struct config_choice cluster_saves[] = {
    {"sync", CLUSTER_SAVE_OR_END}, {"best-effort", CLUSTER_SAVE_OR_LOG}, {NULL, 0},
};

static const struct config_choice cluster_endpoints[] = {
    {"ip", CLUSTER_ENDPOINT_IP}, {"hostname", CLUSTER_ENDPOINT_HOSTNAME},
    {"unknown-endpoint", CLUSTER_ENDPOINT_UNKNOWN}, {NULL, 0},
};

static const struct config_choice slot_statistics[] = {
    {"no", 0}, {"yes", 7}, {"cpu", 1}, {"net", 2}, {"mem", 4}, {NULL, 0},
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
#define NO_BUS "nodes of a cluster do not talk to each other yet"
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

/* The members that each row has: the directive's name, kind, field of struct config and default; of
 * a number its limits as well, and of a choice its words. */
#define ROW(its_name, its_kind, field, value) \
    .name = (its_name), .kind = (its_kind), .offset = offsetof(struct config, field), \
    .default_text = (value)
#define SWITCH(its_name, field, value) ROW(its_name, CONFIG_BOOL, field, value)
#define TEXT(its_name, field, value) ROW(its_name, CONFIG_STRING, field, value)
#define NUMBER(its_name, field, least, most, value) \
    ROW(its_name, CONFIG_INTEGER, field, value), .min = (least), .max = (most)
#define BYTES(its_name, field, least, most, value) \
    ROW(its_name, CONFIG_MEMORY, field, value), .min = (least), .max = (most)
#define NODE_NAME(its_name, field, rule) \
    ROW(its_name, CONFIG_NODE_NAME, field, ""), .detail = &(rule)
#define CHOICE(its_name, field, words, value) \
    ROW(its_name, CONFIG_ENUM, field, value), .detail = (words)

/* A directive that has one value here, and why. */
#define ONLY(its_name, value, its_flags, reason) ALIASED(its_name, NULL, value, its_flags, reason)
#define ALIASED(its_name, its_alias, value, its_flags, reason) \
    {.name = (its_name), .alias = (its_alias), .kind = CONFIG_FIXED, .flags = (its_flags), \
     .default_text = (value), .detail = (reason)}
#define FAMILY(beginning, its_flags, reason) \
    ONLY(beginning, "", CONFIG_FAMILY | CONFIG_FILE_ONLY | (its_flags), reason)
#define MB (1024 * 1024)

const struct config_directive config_table[] = {
    /* Listening. */
    {ROW("bind", CONFIG_ADDRESSES, bind, "127.0.0.1 -::1"), .effect = EFFECT_LISTENERS},
    {NUMBER("port", port, 0, 65535, "6379"), .effect = EFFECT_LISTENERS},
    {SWITCH("protected-mode", protected_mode, "yes")},
    {NUMBER("tcp-backlog", tcp_backlog, 0, INT32_MAX, "511"), .flags = CONFIG_IMMUTABLE},
    {TEXT("unixsocket", unixsocket, ""), .flags = CONFIG_IMMUTABLE},
    {ROW("unixsocketperm", CONFIG_OCTAL, unixsocketperm, "0"), .min = 0, .max = 0777,
     .flags = CONFIG_IMMUTABLE},
    {TEXT("unixsocketgroup", unixsocketgroup, ""), .flags = CONFIG_IMMUTABLE},

    /* TLS. */
    {TEXT("tls-client-cert-file", tls_client_cert_file, ""), .effect = EFFECT_TLS},
    {TEXT("tls-client-key-file", tls_client_key_file, ""), .effect = EFFECT_TLS},
    {TEXT("tls-client-key-file-pass", tls_client_key_file_pass, ""), .effect = EFFECT_TLS},
    {TEXT("tls-expected-peer-name", tls_expected_peer_name, ""), .effect = EFFECT_TLS},
    {SWITCH("tls-replication", tls_replication, "no"), .effect = EFFECT_TLS},
    {SWITCH("tls-cluster", tls_cluster, "no"), .effect = EFFECT_TLS},
    {NUMBER("tls-port", tls_port, 0, 65535, "0"), .effect = EFFECT_LISTENERS},
    {TEXT("tls-cert-file", tls_cert_file, ""), .effect = EFFECT_TLS},
    {TEXT("tls-key-file", tls_key_file, ""), .effect = EFFECT_TLS},
    {TEXT("tls-key-file-pass", tls_key_file_pass, ""), .effect = EFFECT_TLS},
    {TEXT("tls-ca-cert-file", tls_ca_cert_file, ""), .effect = EFFECT_TLS},
    {TEXT("tls-ca-cert-dir", tls_ca_cert_dir, ""), .effect = EFFECT_TLS},
    {TEXT("tls-dh-params-file", tls_dh_params_file, ""), .effect = EFFECT_TLS},
    {TEXT("tls-protocols", tls_protocols, ""), .effect = EFFECT_TLS},
    {TEXT("tls-ciphers", tls_ciphers, ""), .effect = EFFECT_TLS},
    {TEXT("tls-ciphersuites", tls_ciphersuites, ""), .effect = EFFECT_TLS},
    {CHOICE("tls-auth-clients", tls_auth_clients, tls_auth_choices, "yes"), .effect = EFFECT_TLS},
    {CHOICE("tls-auth-clients-user", tls_auth_clients_user, tls_user_choices, "off"),
     .effect = EFFECT_TLS},
    {SWITCH("tls-prefer-server-ciphers", tls_prefer_server_ciphers, "no"), .effect = EFFECT_TLS},
    {SWITCH("tls-session-caching", tls_session_caching, "yes"), .effect = EFFECT_TLS},
    {NUMBER("tls-session-cache-size", tls_session_cache_size, 0, INT32_MAX, "20480"),
     .effect = EFFECT_TLS},
    {NUMBER("tls-session-cache-timeout", tls_session_cache_timeout, 0, INT32_MAX, "300"),
     .effect = EFFECT_TLS},
    {NUMBER("tls-auto-reload-interval", tls_auto_reload_interval, 0, INT32_MAX, "0")},
    {NUMBER("max-new-tls-connections-per-cycle", max_new_tls_connections_per_cycle, 1, 1000, "1"),
     .effect = EFFECT_TLS},

    /* Clients. */
    {NUMBER("timeout", timeout, 0, INT32_MAX, "0")},
    {NUMBER("tcp-keepalive", tcp_keepalive, 0, INT32_MAX, "300")},
    {NUMBER("maxclients", maxclients, 1, UINT32_MAX, "10000"), .effect = EFFECT_MAXCLIENTS},
    {TEXT("requirepass", requirepass, ""), .effect = EFFECT_PASSWORD},
    {BYTES("proto-max-bulk-len", proto_max_bulk_len, MB, (int64_t)TEXT_LENGTH_MAX, "512mb")},
    {BYTES("client-query-buffer-limit", client_query_buffer_limit, MB, INT64_MAX, "1gb")},
    {ROW("client-output-buffer-limit", CONFIG_OUTPUT_LIMITS, output_limits,
         "normal 0 0 0 slave 256mb 64mb 60 pubsub 32mb 8mb 60")},
    {NUMBER("tracking-table-max-keys", tracking_table_max_keys, 0, INT64_MAX, "1000000"),
     .effect = EFFECT_TRACKING},

    /* The process. */
    {SWITCH("daemonize", daemonize, "no"), .flags = CONFIG_IMMUTABLE},
    {TEXT("pidfile", pidfile, ""), .flags = CONFIG_IMMUTABLE},
    {CHOICE("loglevel", loglevel, log_levels, "notice"), .effect = EFFECT_LOG},
    {CHOICE("log-format", log_format, log_formats, "legacy"), .effect = EFFECT_LOG},
    {CHOICE("log-timestamp-format", log_timestamp_format, log_timestamps, "legacy"),
     .effect = EFFECT_LOG},
    {TEXT("logfile", logfile, ""), .flags = CONFIG_IMMUTABLE},
    {SWITCH("syslog-enabled", syslog_enabled, "no"), .flags = CONFIG_IMMUTABLE},
    {TEXT("syslog-ident", syslog_ident, "packlist"), .flags = CONFIG_IMMUTABLE},
    {CHOICE("syslog-facility", syslog_facility, syslog_facilities, "local0"),
     .flags = CONFIG_IMMUTABLE},
    {CHOICE("supervised", supervised, supervisors, "no"), .flags = CONFIG_IMMUTABLE},
    {SWITCH("hide-user-data-from-log", hide_user_data_from_log, "no")},
    {SWITCH("crash-log-enabled", crash_log_enabled, "yes"), .effect = EFFECT_CRASH_LOG},
    {SWITCH("crash-memcheck-enabled", crash_memcheck_enabled, "yes")},
    {CHOICE("oom-score-adj", oom_score_adj, oom_adjustments, "no"), .effect = EFFECT_OOM_SCORE},
    {ROW("oom-score-adj-values", CONFIG_OOM_SCORES, oom_score_adj_values, "0 200 800"),
     .effect = EFFECT_OOM_SCORE},
    {SWITCH("set-proc-title", set_proc_title, "yes"), .flags = CONFIG_IMMUTABLE},
    {ROW("proc-title-template", CONFIG_TITLE, proc_title_template,
         "{title} {listen-addr} {server-mode}"), .effect = EFFECT_TITLE},
    {NUMBER("databases", databases, 1, INT32_MAX, "16"), .flags = CONFIG_IMMUTABLE},
    {NUMBER("hz", hz, 1, 500, "10"), .flags = CONFIG_CLAMPED, .effect = EFFECT_TIMER},
    {NUMBER("io-threads", io_threads, 1, 128, "1"), .effect = EFFECT_IO_THREADS},
    {SWITCH("io-threads-do-reads", io_threads_do_reads, "no")},
    {SWITCH("io-threads-always-active", io_threads_always_active, "no"), .flags = CONFIG_HIDDEN,
     .effect = EFFECT_IO_THREADS},
    {ROW("server-cpulist", CONFIG_CPU_LIST, server_cpulist, ""), .alias = "server_cpulist",
     .flags = CONFIG_IMMUTABLE},
    {ROW("bio-cpulist", CONFIG_CPU_LIST, bio_cpulist, ""), .alias = "bio_cpulist",
     .flags = CONFIG_IMMUTABLE},
    {CHOICE("enable-debug-command", enable_debug_command, accesses, "no"),
     .flags = CONFIG_IMMUTABLE},
    {CHOICE("enable-protected-configs", enable_protected_configs, accesses, "no"),
     .flags = CONFIG_IMMUTABLE},
    {ROW("shutdown-on-sigint", CONFIG_SHUTDOWN, shutdown_on_sigint, "default"),
     .detail = shutdown_options},
    {ROW("shutdown-on-sigterm", CONFIG_SHUTDOWN, shutdown_on_sigterm, "default"),
     .detail = shutdown_options},
    {NUMBER("shutdown-timeout", shutdown_timeout, 0, INT32_MAX, "10")},

    /* Lists. */
    {NUMBER("list-max-listpack-size", list_max_listpack_size, INT32_MIN, INT32_MAX, "-2"),
     .alias = "list-max-ziplist-size", .effect = EFFECT_VALUE_LIMITS},
    {NUMBER("list-compress-depth", list_compress_depth, 0, INT32_MAX, "0"),
     .effect = EFFECT_VALUE_LIMITS},

    /* Limits of compact encodings. */
    {NUMBER("hash-max-listpack-entries", hash_max_listpack_entries, 0, INT64_MAX, "512"),
     .alias = "hash-max-ziplist-entries", .effect = EFFECT_VALUE_LIMITS},
    {BYTES("hash-max-listpack-value", hash_max_listpack_value, 0, INT64_MAX, "64"),
     .alias = "hash-max-ziplist-value", .effect = EFFECT_VALUE_LIMITS},
    {NUMBER("set-max-intset-entries", set_max_intset_entries, 0, INT64_MAX, "512"),
     .effect = EFFECT_VALUE_LIMITS},
    {NUMBER("set-max-listpack-entries", set_max_listpack_entries, 0, INT64_MAX, "128"),
     .effect = EFFECT_VALUE_LIMITS},
    {NUMBER("set-max-listpack-value", set_max_listpack_value, 0, INT64_MAX, "64"),
     .effect = EFFECT_VALUE_LIMITS},
    {NUMBER("zset-max-listpack-entries", zset_max_listpack_entries, 0, INT64_MAX, "128"),
     .alias = "zset-max-ziplist-entries", .effect = EFFECT_VALUE_LIMITS},
    {BYTES("zset-max-listpack-value", zset_max_listpack_value, 0, INT64_MAX, "64"),
     .alias = "zset-max-ziplist-value", .effect = EFFECT_VALUE_LIMITS},
    {BYTES("hll-sparse-max-bytes", hll_sparse_max_bytes, 0, INT64_MAX, "3000"),
     .effect = EFFECT_VALUE_LIMITS},
    {BYTES("stream-node-max-bytes", stream_node_max_bytes, 0, INT64_MAX, "4096"),
     .effect = EFFECT_VALUE_LIMITS},
    {NUMBER("stream-node-max-entries", stream_node_max_entries, 0, INT64_MAX, "100"),
     .effect = EFFECT_VALUE_LIMITS},
    {NUMBER("stream-idmp-duration", stream_idmp_duration, 1, 86400, "100"),
     .effect = EFFECT_VALUE_LIMITS},
    {NUMBER("stream-idmp-maxsize", stream_idmp_maxsize, 1, 10000, "100"),
     .effect = EFFECT_VALUE_LIMITS},

    /* Payloads. */
    {CHOICE("sanitize-dump-payload", sanitize_dump_payload, sanitize_levels, "yes")},

    /* Memory and expiry. */
    {ROW("notify-keyspace-events", CONFIG_EVENTS, notify_keyspace_events, "")},
    {ROW("maxmemory", CONFIG_MEMORY, maxmemory, "0"), .flags = CONFIG_UNSIGNED,
     .effect = EFFECT_MAXMEMORY},
    {SWITCH("maxmemory-rss", maxmemory_rss, "no"), .effect = EFFECT_MAXMEMORY_RSS},
    {BYTES("lua-memory-limit", lua_memory_limit, MB, INT64_MAX, "256mb"),
     .effect = EFFECT_LUA_MEMORY},
    {SWITCH("lua-enable-deprecated-api", lua_enable_deprecated_api, "no"),
     .alias = "lua-enable-insecure-api", .flags = CONFIG_IMMUTABLE | CONFIG_HIDDEN},
    {NUMBER("busy-reply-threshold", busy_reply_threshold, 0, INT64_MAX, "5000"),
     .alias = "lua-time-limit"},
    {BYTES("maxmemory-clients", maxmemory_clients, -100, INT64_MAX, "0"), .flags = CONFIG_PERCENT,
     .effect = EFFECT_MAXMEMORY_CLIENTS},
    {NUMBER("maxmemory-eviction-tenacity", eviction_tenacity, 0, 100, "10")},
    {CHOICE("maxmemory-policy", maxmemory_policy, eviction_policies, "noeviction"),
     .effect = EFFECT_EVICTION},
    {NUMBER("maxmemory-samples", maxmemory_samples, 1, 64, "5"), .effect = EFFECT_EVICTION},
    {NUMBER("lfu-decay-time", lfu_decay_time, 0, INT32_MAX, "1"), .effect = EFFECT_EVICTION},
    {NUMBER("lfu-log-factor", lfu_log_factor, 0, INT32_MAX, "10"), .effect = EFFECT_EVICTION},
    {NUMBER("active-expire-effort", active_expire_effort, 1, 10, "1")},
    {SWITCH("import-mode", import_mode, "no")},
    {SWITCH("lazyfree-lazy-eviction", lazyfree_eviction, "no")},
    {SWITCH("lazyfree-lazy-expire", lazyfree_expire, "no")},
    {SWITCH("lazyfree-lazy-server-del", lazyfree_server_del, "no")},
    {SWITCH("lazyfree-lazy-user-del", lazyfree_user_del, "no")},
    {SWITCH("lazyfree-lazy-user-flush", lazyfree_user_flush, "no")},
    {SWITCH("activedefrag", activedefrag, "yes"), .effect = EFFECT_DEFRAG},
    {NUMBER("active-defrag-cycle-max", defrag_cycle_max, 1, 99, "25")},
    {NUMBER("active-defrag-cycle-min", defrag_cycle_min, 1, 99, "1")},
    {NUMBER("active-defrag-cycle-us", defrag_cycle_us, 0, 100000, "100")},
    {BYTES("active-defrag-ignore-bytes", defrag_ignore_bytes, 1, INT64_MAX, "10mb")},
    {NUMBER("active-defrag-max-scan-fields", defrag_max_scan_fields, 1, INT64_MAX, "1000")},
    {NUMBER("active-defrag-threshold-lower", defrag_threshold_lower, 0, 1000, "10")},
    {NUMBER("active-defrag-threshold-upper", defrag_threshold_upper, 0, 1000, "100")},
    {SWITCH("jemalloc-bg-thread", jemalloc_bg_thread, "yes"), .effect = EFFECT_MEMORY_THREAD},

    /* Monitoring. */
    {NUMBER("slowlog-log-slower-than", slowlog_log_slower_than, -1, INT64_MAX, "10000"),
     .alias = "commandlog-execution-slower-than", .effect = EFFECT_SLOW},
    {NUMBER("slowlog-max-len", slowlog_max_len, 0, INT64_MAX, "128"),
     .alias = "commandlog-slow-execution-max-len"},
    {NUMBER("slowlog-max-argc", slowlog_max_argc, 1, INT32_MAX, "32"),
     .alias = "slowlog-entry-max-argc"},
    {NUMBER("slowlog-entry-max-string-len", slowlog_entry_max_string_len, 1, INT32_MAX, "128")},
    {SWITCH("slowlog-show-argc", slowlog_show_argc, "no")},
    {NUMBER("commandlog-request-larger-than", large_request_bytes, -1, INT64_MAX, "1048576"),
     .effect = EFFECT_SLOW},
    {NUMBER("commandlog-large-request-max-len", large_request_max_len, 0, INT64_MAX, "128")},
    {NUMBER("commandlog-reply-larger-than", large_reply_bytes, -1, INT64_MAX, "1048576"),
     .effect = EFFECT_SLOW},
    {NUMBER("commandlog-large-reply-max-len", large_reply_max_len, 0, INT64_MAX, "128")},
    {NUMBER("latency-monitor-threshold", latency_monitor_threshold, 0, INT64_MAX, "0"),
     .effect = EFFECT_SLOW},
    {SWITCH("latency-tracking", latency_tracking, "yes")},
    {ROW("latency-tracking-info-percentiles", CONFIG_PERCENTILES, latency_percentiles,
         "50 99 99.9")},

    /* Saving and loading. */
    {TEXT("dir", dir, "./"), .flags = CONFIG_PROTECTED | CONFIG_NOT_LOADING, .effect = EFFECT_DIR},
    {ROW("dbfilename", CONFIG_FILENAME, dbfilename, "dump.rdb"), .flags = CONFIG_PROTECTED},
    {ROW("save", CONFIG_SAVE_POINTS, save, "3600 1 300 100 60 10000"), .effect = EFFECT_SAVE},
    {SWITCH("stop-writes-on-bgsave-error", stop_writes_on_bgsave_error, "yes"),
     .effect = EFFECT_SAVE},
    {SWITCH("rdbcompression", rdbcompression, "yes")},
    {SWITCH("rdbchecksum", rdbchecksum, "yes"), .flags = CONFIG_IMMUTABLE},
    {SWITCH("rdb-save-incremental-fsync", rdb_save_incremental_fsync, "yes")},
    {NUMBER("rdb-save-slice-us", rdb_save_slice_us, 8, 1000000, "300"), .flags = CONFIG_HIDDEN},
    {SWITCH("rdb-skip-unknown-types", rdb_skip_unknown_types, "no")},
    {SWITCH("rdb-del-sync-files", rdb_del_sync_files, "no")},
    {NUMBER("rdb-key-save-delay", rdb_key_save_delay, INT32_MIN, INT32_MAX, "0"),
     .flags = CONFIG_HIDDEN},
    {NUMBER("key-load-delay", key_load_delay, INT32_MIN, INT32_MAX, "0"), .flags = CONFIG_HIDDEN},
    {NUMBER("loading-process-events-interval-bytes", loading_process_events_interval_bytes, 1024,
            INT32_MAX, "2097152"), .flags = CONFIG_HIDDEN},

    /* The append-only file. */
    {SWITCH("appendonly", appendonly, "no"), .effect = EFFECT_APPENDONLY},
    {ROW("appenddirname", CONFIG_FILENAME, appenddirname, "appendonlydir"),
     .flags = CONFIG_IMMUTABLE},
    {ROW("appendfilename", CONFIG_FILENAME, appendfilename, "appendonly.aof"),
     .flags = CONFIG_IMMUTABLE},
    {CHOICE("appendfsync", appendfsync, aof_fsyncs, "everysec")},
    {SWITCH("no-appendfsync-on-rewrite", no_appendfsync_on_rewrite, "no")},
    {NUMBER("auto-aof-rewrite-percentage", aof_rewrite_percentage, 0, INT32_MAX, "100")},
    {BYTES("auto-aof-rewrite-min-size", aof_rewrite_min_size, 0, INT64_MAX, "64mb")},
    {SWITCH("aof-load-truncated", aof_load_truncated, "yes")},
    {NUMBER("aof-load-corrupt-tail-max-size", aof_load_corrupt_tail_max_size, 0, INT64_MAX, "0")},
    {SWITCH("aof-use-rdb-preamble", aof_rdb_preamble, "yes")},
    {SWITCH("aof-timestamp-enabled", aof_timestamps, "no")},
    {SWITCH("aof-rewrite-incremental-fsync", aof_incremental_fsync, "yes")},

    /* Replicas of this server. */
    {NUMBER("min-replicas-to-write", min_replicas_to_write, 0, INT32_MAX, "0"),
     .alias = "min-slaves-to-write", .effect = EFFECT_REPLICATION},
    {NUMBER("min-replicas-max-lag", min_replicas_max_lag, 0, INT32_MAX, "10"),
     .alias = "min-slaves-max-lag", .effect = EFFECT_REPLICATION},
    {BYTES("repl-backlog-size", repl_backlog_size, 1, INT64_MAX, "1mb"),
     .effect = EFFECT_REPLICATION},
    {NUMBER("repl-backlog-ttl", repl_backlog_ttl, 0, INT32_MAX, "3600")},
    {SWITCH("repl-disable-tcp-nodelay", repl_disable_tcp_nodelay, "no")},
    {SWITCH("repl-diskless-sync", repl_diskless_sync, "yes")},
    {NUMBER("repl-diskless-sync-delay", repl_diskless_sync_delay, 0, INT32_MAX, "5")},
    {NUMBER("repl-diskless-sync-max-replicas", repl_diskless_sync_max_replicas, 0, INT32_MAX, "0")},
    {NUMBER("repl-diskless-sync-period", repl_diskless_sync_period, 0, INT32_MAX, "0"),
     .flags = CONFIG_HIDDEN},
    {NUMBER("repl-ping-replica-period", repl_ping_replica_period, 1, INT32_MAX, "10"),
     .alias = "repl-ping-slave-period"},
    {NUMBER("repl-timeout", repl_timeout, 1, INT32_MAX, "60")},

    /* This server as a replica. */
    {ROW("replicaof", CONFIG_HOST_PORT, replicaof, ""), .alias = "slaveof",
     .flags = CONFIG_IMMUTABLE},
    {TEXT("masterauth", masterauth, ""), .alias = "primaryauth"},
    {TEXT("masteruser", masteruser, ""), .alias = "primaryuser"},
    {TEXT("replica-announce-ip", replica_announce_ip, ""), .alias = "slave-announce-ip"},
    {NUMBER("replica-announce-port", replica_announce_port, 0, 65535, "0"),
     .alias = "slave-announce-port"},
    {SWITCH("replica-announced", replica_announced, "yes")},
    {SWITCH("replica-ignore-maxmemory", replica_ignore_maxmemory, "yes"),
     .alias = "slave-ignore-maxmemory", .effect = EFFECT_EVICTION},
    {SWITCH("replica-lazy-flush", replica_lazy_flush, "no"), .alias = "slave-lazy-flush"},
    {NUMBER("replica-priority", replica_priority, 0, INT32_MAX, "100"), .alias = "slave-priority"},
    {SWITCH("replica-read-only", replica_read_only, "yes"), .alias = "slave-read-only",
     .effect = EFFECT_REPLICA},
    {SWITCH("replica-serve-stale-data", replica_serve_stale_data, "yes"),
     .alias = "slave-serve-stale-data", .effect = EFFECT_REPLICA},
    {CHOICE("repl-diskless-load", repl_diskless_load, diskless_loads, "disabled")},

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
    {TEXT("bind-source-addr", bind_source_addr, "")},
    ONLY("mptcp", "no", CONFIG_IMMUTABLE, NO_MPTCP),
    ONLY("repl-mptcp", "no", CONFIG_IMMUTABLE, NO_MPTCP),
    ONLY("rdma-port", "0", CONFIG_MISSED, NO_RDMA),
    ONLY("rdma-bind", "", 0, NO_RDMA),
    ONLY("rdma-completion-vector", "-1", CONFIG_IMMUTABLE, NO_RDMA),
    ONLY("rdma-rx-size", "1048576", CONFIG_IMMUTABLE, NO_RDMA),
    ONLY("availability-zone", "", 0, NO_ZONE),
    ONLY("extended-redis-compatibility", "no", 0, NAMED_REDIS),

    /* Users and the names of commands. */
    {TEXT("aclfile", aclfile, ""), .flags = CONFIG_IMMUTABLE},
    {.name = "user", .kind = CONFIG_USER, .default_text = "", .flags = CONFIG_FILE_ONLY},
    {CHOICE("acl-pubsub-default", acl_pubsub_default, pubsub_defaults, "resetchannels"),
     .effect = EFFECT_PUBSUB_DEFAULT},
    {NUMBER("acllog-max-len", acllog_max_len, 0, INT64_MAX, "128")},
    {SWITCH("acl-filter-keys", acl_filter_keys, "no")},
    {ROW("rename-command", CONFIG_RENAMES, renamed_commands, ""), .flags = CONFIG_FILE_ONLY},

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

    /* Clusters: what has an effect comes first. */
    {SWITCH("cluster-enabled", cluster_enabled, "no"), .flags = CONFIG_IMMUTABLE},
    {TEXT("cluster-config-file", cluster_config_file, "nodes.conf"), .flags = CONFIG_IMMUTABLE},
    {CHOICE("cluster-config-save-behavior", cluster_save, cluster_saves, "sync")},
    {NUMBER("cluster-databases", cluster_databases, 1, INT32_MAX, "1"), .flags = CONFIG_IMMUTABLE},
    {NODE_NAME("cluster-announce-ip", cluster_announce_ip, node_ip_rule),
     .effect = EFFECT_CLUSTER},
    {NODE_NAME("cluster-announce-hostname", cluster_announce_hostname, node_hostname_rule),
     .effect = EFFECT_CLUSTER},
    {NODE_NAME("cluster-announce-human-nodename", cluster_announce_human_name,
               node_human_name_rule),
     .effect = EFFECT_CLUSTER},
    {NUMBER("cluster-announce-port", cluster_announce_port, 0, 65535, "0"),
     .effect = EFFECT_CLUSTER},
    {NUMBER("cluster-announce-tls-port", cluster_announce_tls_port, 0, 65535, "0"),
     .effect = EFFECT_CLUSTER},
    {NUMBER("cluster-announce-bus-port", cluster_announce_bus_port, 0, 65535, "0"),
     .effect = EFFECT_CLUSTER},
    {NUMBER("cluster-port", cluster_port, 0, 65535, "0"), .flags = CONFIG_IMMUTABLE},
    {CHOICE("cluster-preferred-endpoint-type", cluster_endpoint, cluster_endpoints, "ip")},
    {SWITCH("cluster-require-full-coverage", cluster_require_full_coverage, "yes"),
     .effect = EFFECT_CLUSTER},
    {SWITCH("cluster-allow-reads-when-down", cluster_allow_reads_when_down, "no")},
    {SWITCH("cluster-allow-pubsubshard-when-down", cluster_allow_pubsubshard_when_down, "yes")},
    {SWITCH("cluster-replica-no-failover", cluster_replica_no_failover, "no"),
     .alias = "cluster-slave-no-failover", .effect = EFFECT_CLUSTER},
    {SWITCH("cluster-allow-replica-migration", cluster_allow_replica_migration, "yes")},
    {NODE_NAME("cluster-announce-client-ipv4", cluster_announce_client_ipv4, node_ipv4_rule)},
    {NODE_NAME("cluster-announce-client-ipv6", cluster_announce_client_ipv6, node_ipv6_rule)},
    {NUMBER("cluster-announce-client-port", cluster_announce_client_port, 0, 65535, "0")},
    {NUMBER("cluster-announce-client-tls-port", cluster_announce_client_tls_port, 0, 65535, "0")},
    {NUMBER("cluster-blacklist-ttl", cluster_blacklist_ttl, 0, INT64_MAX, "60")},
    {NUMBER("cluster-compatibility-sample-ratio", cluster_compatibility_sample_ratio, 0, 100,
            "0")},
    {ROW("cluster-link-sendbuf-limit", CONFIG_MEMORY, cluster_link_sendbuf_limit, "0"),
     .flags = CONFIG_UNSIGNED},
    {NUMBER("cluster-manual-failover-timeout", cluster_manual_failover_timeout, 1, INT32_MAX,
            "5000")},
    {NUMBER("cluster-migration-barrier", cluster_migration_barrier, 0, INT32_MAX, "1")},
    {NUMBER("cluster-message-gossip-perc", cluster_message_gossip_perc, 1, 100, "10"),
     .flags = CONFIG_HIDDEN},
    {NUMBER("cluster-node-timeout", cluster_node_timeout, 0, INT64_MAX, "15000")},
    {NUMBER("cluster-ping-interval", cluster_ping_interval, 0, INT64_MAX, "0"),
     .flags = CONFIG_HIDDEN},
    {NUMBER("cluster-replica-validity-factor", cluster_replica_validity_factor, 0, INT32_MAX,
            "10"),
     .alias = "cluster-slave-validity-factor"},
    {BYTES("cluster-slot-migration-handoff-max-lag-bytes", cluster_migration_max_lag, 0, INT64_MAX,
           "1048576")},
    {NUMBER("cluster-slot-migration-log-max-len", cluster_migration_log_max_len, 0, INT64_MAX,
            "1000")},
    {NUMBER("cluster-slot-migration-max-archived-tasks", cluster_migration_max_archived, 1,
            INT32_MAX, "32"),
     .flags = CONFIG_HIDDEN},
    {NUMBER("cluster-slot-migration-sync-buffer-drain-timeout", cluster_migration_drain_timeout, 0,
            INT64_MAX, "60000"),
     .flags = CONFIG_HIDDEN},
    {NUMBER("cluster-slot-migration-write-pause-timeout", cluster_migration_pause_timeout, 0,
            INT64_MAX, "10000")},
    {ROW("cluster-slot-stats-enabled", CONFIG_OPTIONS, cluster_slot_stats, "no"),
     .detail = slot_statistics},
    {BYTES("slot-migration-max-failover-repl-bytes", slot_migration_max_failover_bytes, -1,
           INT64_MAX, "0")},
    FAMILY("cluster-*", 0, NO_BUS),

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
