/* config_table: every directive, one row each: first those that can be changed, then those of Redis
 * and Valkey that have one value here. Of the latter the row tells the default of Redis, unless
 * another value is what is true here, and why it cannot be another. */
#include "config/config_table.h"

#include "base/log_syslog.h"
#include "config/default_user.h"
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
    {"allkeys-lru", EVICTION_ALLKEYS_LRU}, {"allkeys-lfu", EVICTION_ALLKEYS_LFU},
    {"allkeys-random", EVICTION_ALLKEYS_RANDOM}, {"noeviction", EVICTION_NONE}, {NULL, 0},
};

/* Why a directive has but one value. */
#define ONE_THREAD "one thread serves all clients"
#define ALL_ACCEPTED "all connections that wait are accepted at once"
#define NO_DEFRAGMENTATION "memory is not defragmented"
#define REHASHING "tables are always rehashed step by step"
#define HZ_IS_CONSTANT "hz does not depend on the number of clients"
#define NO_THP "the system decides about huge pages"
#define NO_CPU_LISTS "threads run on any processor; start the server by taskset to choose them"
#define SECRET_SEED "each start draws a new seed"
#define ONE_LOG_FORMAT "the log has one format"
#define ABORTS "a failed assertion always ends the process by SIGABRT"
#define NO_WATCHDOG "no watchdog looks for slow commands"
#define NO_LARGE_LOG "there is no log of large requests and replies"
#define NO_CHECKS "the server does not look for what these warnings are about"
#define NO_MARKS \
    "Sockets cannot be marked, so a firewall would not see the mark. Remove the line to do " \
    "without."
#define ANY_SOURCE "the system chooses the address of outgoing connections"
#define NO_MPTCP "there is no Multipath TCP"
#define NO_RDMA "there is no RDMA: clients connect by TCP or a Unix socket"
#define NO_ZONE "clients are not told a zone"
#define NO_TRACKING "there is no client-side caching"
#define NAMED_REDIS "the server presents itself as Redis in any case"
#define NO_TLS_PORT "there is no TLS"
#define NO_TLS \
    "There is no TLS. Remove the line, and let a TLS proxy such as stunnel listen on that port."
#define NO_ACLS CONFIG_NO_ACLS
#define NO_ACL_USERS "there are no ACLs"
#define NO_RENAMING \
    "Commands cannot be renamed or disabled. Remove the line if every client may use the command."
#define NO_MODULES "there are no modules: their commands are unknown"
#define NO_SCRIPTS "there are no scripts"
#define NO_PRIMARY \
    "There is no replication: this server would start without the data of the other one, and " \
    "take writes. Remove the line if that is what you want."
#define NO_REPLICAS_TO_WRITE \
    "There is no replication, so no replica would get what is written. Remove the line to do " \
    "without."
#define NO_REPLICATION "there is no replication"
#define NO_CLUSTER "there are no clusters"
#define AOF_HISTORY_GOES "files that a rewrite has replaced are always deleted"
#define STRICT_VERSIONS "an RDB file of an unknown version is never loaded"
#define BYTE_ORDER "texts are ordered by their bytes"
#define LIST_NODES "list-max-listpack-size says how large the nodes of a list are"
#define EXPIRY_ONCE "there are no scripts in which it could matter"

#define ONLY(its_name, value, its_flags, reason) \
    {.name = (its_name), .kind = CONFIG_FIXED, .flags = (its_flags), .default_text = (value), \
     .detail = (reason)}
#define AT(field) offsetof(struct config, field)
#define MB (1024 * 1024)

/* Columns: name, kind, flags, place; least, most; default, effect, detail. */
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
    {"unixsocketgroup", CONFIG_STRING, CONFIG_IMMUTABLE, AT(unixsocketgroup), 0, 0, "", EFFECT_NONE,
     NULL},

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
    {"syslog-enabled", CONFIG_BOOL, CONFIG_IMMUTABLE, AT(syslog_enabled), 0, 0, "no", EFFECT_NONE,
     NULL},
    {"syslog-ident", CONFIG_STRING, CONFIG_IMMUTABLE, AT(syslog_ident), 0, 0, "packlist",
     EFFECT_NONE, NULL},
    {"syslog-facility", CONFIG_ENUM, CONFIG_IMMUTABLE, AT(syslog_facility), 0, 0, "local0",
     EFFECT_NONE, syslog_facilities},
    {"supervised", CONFIG_ENUM, CONFIG_IMMUTABLE, AT(supervised), 0, 0, "no", EFFECT_NONE,
     supervisors},
    {"hide-user-data-from-log", CONFIG_BOOL, 0, AT(hide_user_data_from_log), 0, 0, "no",
     EFFECT_NONE, NULL},
    {"crash-log-enabled", CONFIG_BOOL, 0, AT(crash_log_enabled), 0, 0, "yes", EFFECT_CRASH_LOG,
     NULL},
    {"crash-memcheck-enabled", CONFIG_BOOL, 0, AT(crash_memcheck_enabled), 0, 0, "yes", EFFECT_NONE,
     NULL},
    {"oom-score-adj", CONFIG_ENUM, 0, AT(oom_score_adj), 0, 0, "no", EFFECT_OOM_SCORE,
     oom_adjustments},
    {"oom-score-adj-values", CONFIG_OOM_SCORES, 0, AT(oom_score_adj_values), 0, 0, "0 200 800",
     EFFECT_OOM_SCORE, NULL},
    {"set-proc-title", CONFIG_BOOL, CONFIG_IMMUTABLE, AT(set_proc_title), 0, 0, "yes", EFFECT_NONE,
     NULL},
    {"proc-title-template", CONFIG_TITLE, 0, AT(proc_title_template), 0, 0,
     "{title} {listen-addr} {server-mode}", EFFECT_TITLE, NULL},
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

    /* Types to come: the limits of their encodings. */
    {"hash-max-listpack-entries", CONFIG_INTEGER, 0,
     AT(hash_max_listpack_entries), 0, INT64_MAX, "512", EFFECT_NONE, NULL},
    {"hash-max-ziplist-entries", CONFIG_INTEGER, CONFIG_ALIAS,
     AT(hash_max_listpack_entries), 0, INT64_MAX, "512", EFFECT_NONE, NULL},
    {"hash-max-listpack-value", CONFIG_MEMORY, 0, AT(hash_max_listpack_value), 0, INT64_MAX, "64",
     EFFECT_NONE, NULL},
    {"hash-max-ziplist-value", CONFIG_MEMORY, CONFIG_ALIAS,
     AT(hash_max_listpack_value), 0, INT64_MAX, "64", EFFECT_NONE, NULL},
    {"set-max-intset-entries", CONFIG_INTEGER, 0, AT(set_max_intset_entries), 0, INT64_MAX, "512",
     EFFECT_NONE, NULL},
    {"set-max-listpack-entries", CONFIG_INTEGER, 0,
     AT(set_max_listpack_entries), 0, INT64_MAX, "128", EFFECT_NONE, NULL},
    {"set-max-listpack-value", CONFIG_INTEGER, 0, AT(set_max_listpack_value), 0, INT64_MAX, "64",
     EFFECT_NONE, NULL},
    {"zset-max-listpack-entries", CONFIG_INTEGER, 0,
     AT(zset_max_listpack_entries), 0, INT64_MAX, "128", EFFECT_NONE, NULL},
    {"zset-max-ziplist-entries", CONFIG_INTEGER, CONFIG_ALIAS,
     AT(zset_max_listpack_entries), 0, INT64_MAX, "128", EFFECT_NONE, NULL},
    {"zset-max-listpack-value", CONFIG_MEMORY, 0, AT(zset_max_listpack_value), 0, INT64_MAX, "64",
     EFFECT_NONE, NULL},
    {"zset-max-ziplist-value", CONFIG_MEMORY, CONFIG_ALIAS,
     AT(zset_max_listpack_value), 0, INT64_MAX, "64", EFFECT_NONE, NULL},
    {"hll-sparse-max-bytes", CONFIG_MEMORY, 0, AT(hll_sparse_max_bytes), 0, INT64_MAX, "3000",
     EFFECT_NONE, NULL},
    {"stream-node-max-bytes", CONFIG_MEMORY, 0, AT(stream_node_max_bytes), 0, INT64_MAX, "4096",
     EFFECT_NONE, NULL},
    {"stream-node-max-entries", CONFIG_INTEGER, 0, AT(stream_node_max_entries), 0, INT64_MAX, "100",
     EFFECT_NONE, NULL},

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
    {"commandlog-execution-slower-than", CONFIG_INTEGER, CONFIG_ALIAS, AT(slowlog_log_slower_than),
     -1, INT64_MAX, "10000", EFFECT_SLOW, NULL},
    {"slowlog-max-len", CONFIG_INTEGER, 0, AT(slowlog_max_len), 0, INT64_MAX, "128", EFFECT_NONE,
     NULL},
    {"commandlog-slow-execution-max-len", CONFIG_INTEGER, CONFIG_ALIAS, AT(slowlog_max_len), 0,
     INT64_MAX, "128", EFFECT_NONE, NULL},
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

    /* The rest of the directives of Redis 7.0 to 8 and Valkey 8 and 9. */
    {"user", CONFIG_USER, CONFIG_FILE_ONLY, AT(default_user_hash), 0, 0, "", EFFECT_NONE, NULL},

    /* The event loop, its threads and its memory. */
    ONLY("io-threads", "1", 0, ONE_THREAD),
    ONLY("io-threads-do-reads", "no", 0, ONE_THREAD),
    ONLY("prefetch-batch-max-size", "16", 0, ONE_THREAD),
    ONLY("max-new-connections-per-cycle", "10", 0, ALL_ACCEPTED),
    ONLY("max-new-tls-connections-per-cycle", "1", 0, ALL_ACCEPTED),
    ONLY("activedefrag", "no", 0, NO_DEFRAGMENTATION),
    ONLY("active-defrag-cycle-max", "25", 0, NO_DEFRAGMENTATION),
    ONLY("active-defrag-cycle-min", "1", 0, NO_DEFRAGMENTATION),
    ONLY("active-defrag-cycle-us", "500", 0, NO_DEFRAGMENTATION),
    ONLY("active-defrag-ignore-bytes", "104857600", 0, NO_DEFRAGMENTATION),
    ONLY("active-defrag-max-scan-fields", "1000", 0, NO_DEFRAGMENTATION),
    ONLY("active-defrag-threshold-lower", "10", 0, NO_DEFRAGMENTATION),
    ONLY("active-defrag-threshold-upper", "100", 0, NO_DEFRAGMENTATION),
    ONLY("activerehashing", "yes", 0, REHASHING),
    ONLY("dynamic-hz", "no", 0, HZ_IS_CONSTANT),
    ONLY("disable-thp", "no", 0, NO_THP),
    ONLY("server-cpulist", "", 0, NO_CPU_LISTS),
    ONLY("server_cpulist", "", 0, NO_CPU_LISTS),
    ONLY("bio-cpulist", "", 0, NO_CPU_LISTS),
    ONLY("bio_cpulist", "", 0, NO_CPU_LISTS),
    ONLY("aof-rewrite-cpulist", "", 0, NO_CPU_LISTS),
    ONLY("aof_rewrite_cpulist", "", 0, NO_CPU_LISTS),
    ONLY("bgsave-cpulist", "", 0, NO_CPU_LISTS),
    ONLY("bgsave_cpulist", "", 0, NO_CPU_LISTS),
    ONLY("hash-seed", "", 0, SECRET_SEED),

    /* Logs. */
    ONLY("log-format", "legacy", 0, ONE_LOG_FORMAT),
    ONLY("log-timestamp-format", "legacy", 0, ONE_LOG_FORMAT),
    ONLY("always-show-logo", "no", 0, ONE_LOG_FORMAT),
    ONLY("use-exit-on-panic", "no", CONFIG_HIDDEN, ABORTS),
    ONLY("watchdog-period", "0", CONFIG_HIDDEN, NO_WATCHDOG),
    ONLY("commandlog-request-larger-than", "-1", 0, NO_LARGE_LOG),
    ONLY("commandlog-reply-larger-than", "-1", 0, NO_LARGE_LOG),
    ONLY("commandlog-large-request-max-len", "128", 0, NO_LARGE_LOG),
    ONLY("commandlog-large-reply-max-len", "128", 0, NO_LARGE_LOG),
    ONLY("ignore-warnings", "", 0, NO_CHECKS),

    /* Network. */
    ONLY("socket-mark-id", "0", CONFIG_PROTECTS, NO_MARKS),
    ONLY("bind-source-addr", "", 0, ANY_SOURCE),
    ONLY("mptcp", "no", 0, NO_MPTCP),
    ONLY("repl-mptcp", "no", 0, NO_MPTCP),
    ONLY("rdma-port", "0", CONFIG_MISSED, NO_RDMA),
    ONLY("rdma-bind", "", 0, NO_RDMA),
    ONLY("rdma-completion-vector", "-1", 0, NO_RDMA),
    ONLY("rdma-rx-size", "1048576", 0, NO_RDMA),
    ONLY("availability-zone", "", 0, NO_ZONE),
    ONLY("tracking-table-max-keys", "1000000", 0, NO_TRACKING),
    ONLY("extended-redis-compatibility", "no", 0, NAMED_REDIS),

    /* TLS. */
    ONLY("tls-port", "0", CONFIG_PROTECTS, NO_TLS),
    ONLY("tls-auth-clients", "yes", 0, NO_TLS_PORT),
    ONLY("tls-auth-clients-user", "off", 0, NO_TLS_PORT),
    ONLY("tls-auto-reload-interval", "0", 0, NO_TLS_PORT),
    ONLY("tls-ca-cert-dir", "", 0, NO_TLS_PORT),
    ONLY("tls-ca-cert-file", "", 0, NO_TLS_PORT),
    ONLY("tls-cert-file", "", 0, NO_TLS_PORT),
    ONLY("tls-ciphers", "", 0, NO_TLS_PORT),
    ONLY("tls-ciphersuites", "", 0, NO_TLS_PORT),
    ONLY("tls-client-cert-file", "", 0, NO_TLS_PORT),
    ONLY("tls-client-key-file", "", 0, NO_TLS_PORT),
    ONLY("tls-client-key-file-pass", "", 0, NO_TLS_PORT),
    ONLY("tls-cluster", "no", 0, NO_TLS_PORT),
    ONLY("tls-dh-params-file", "", 0, NO_TLS_PORT),
    ONLY("tls-key-file", "", 0, NO_TLS_PORT),
    ONLY("tls-key-file-pass", "", 0, NO_TLS_PORT),
    ONLY("tls-prefer-server-ciphers", "no", 0, NO_TLS_PORT),
    ONLY("tls-protocols", "", 0, NO_TLS_PORT),
    ONLY("tls-replication", "no", 0, NO_TLS_PORT),
    ONLY("tls-session-cache-size", "20480", 0, NO_TLS_PORT),
    ONLY("tls-session-cache-timeout", "300", 0, NO_TLS_PORT),
    ONLY("tls-session-caching", "yes", 0, NO_TLS_PORT),

    /* Access. */
    ONLY("aclfile", "", CONFIG_PROTECTS, NO_ACLS),
    ONLY("acl-pubsub-default", "resetchannels", 0, NO_ACL_USERS),
    ONLY("acllog-max-len", "128", 0, NO_ACL_USERS),
    ONLY("rename-command", "", CONFIG_PROTECTS | CONFIG_FILE_ONLY, NO_RENAMING),

    /* Modules and scripts. */
    ONLY("loadmodule", "", CONFIG_MISSED | CONFIG_FILE_ONLY, NO_MODULES),
    ONLY("enable-module-command", "no", 0, NO_MODULES),
    ONLY("busy-reply-threshold", "5000", 0, NO_SCRIPTS),
    ONLY("lua-time-limit", "5000", 0, NO_SCRIPTS),
    ONLY("lua-enable-deprecated-api", "no", CONFIG_HIDDEN, NO_SCRIPTS),
    ONLY("lua-replicate-commands", "yes", CONFIG_FILE_ONLY, NO_SCRIPTS),

    /* Replication. */
    ONLY("replicaof", "", CONFIG_PROTECTS, NO_PRIMARY),
    ONLY("slaveof", "", CONFIG_PROTECTS, NO_PRIMARY),
    ONLY("min-replicas-to-write", "0", CONFIG_PROTECTS, NO_REPLICAS_TO_WRITE),
    ONLY("min-slaves-to-write", "0", CONFIG_PROTECTS, NO_REPLICAS_TO_WRITE),
    ONLY("min-replicas-max-lag", "10", 0, NO_REPLICATION),
    ONLY("min-slaves-max-lag", "10", 0, NO_REPLICATION),
    ONLY("masterauth", "", 0, NO_REPLICATION),
    ONLY("masteruser", "", 0, NO_REPLICATION),
    ONLY("primaryauth", "", 0, NO_REPLICATION),
    ONLY("primaryuser", "", 0, NO_REPLICATION),
    ONLY("replica-announce-ip", "", 0, NO_REPLICATION),
    ONLY("slave-announce-ip", "", 0, NO_REPLICATION),
    ONLY("replica-announce-port", "0", 0, NO_REPLICATION),
    ONLY("slave-announce-port", "0", 0, NO_REPLICATION),
    ONLY("replica-announced", "yes", 0, NO_REPLICATION),
    ONLY("replica-full-sync-buffer-limit", "0", 0, NO_REPLICATION),
    ONLY("replica-ignore-disk-write-errors", "no", 0, NO_REPLICATION),
    ONLY("replica-ignore-maxmemory", "yes", 0, NO_REPLICATION),
    ONLY("slave-ignore-maxmemory", "yes", 0, NO_REPLICATION),
    ONLY("replica-lazy-flush", "no", 0, NO_REPLICATION),
    ONLY("slave-lazy-flush", "no", 0, NO_REPLICATION),
    ONLY("replica-priority", "100", 0, NO_REPLICATION),
    ONLY("slave-priority", "100", 0, NO_REPLICATION),
    ONLY("replica-read-only", "yes", 0, NO_REPLICATION),
    ONLY("slave-read-only", "yes", 0, NO_REPLICATION),
    ONLY("replica-serve-stale-data", "yes", 0, NO_REPLICATION),
    ONLY("slave-serve-stale-data", "yes", 0, NO_REPLICATION),
    ONLY("repl-backlog-size", "1048576", 0, NO_REPLICATION),
    ONLY("repl-backlog-ttl", "3600", 0, NO_REPLICATION),
    ONLY("repl-disable-tcp-nodelay", "no", 0, NO_REPLICATION),
    ONLY("repl-diskless-load", "disabled", 0, NO_REPLICATION),
    ONLY("repl-diskless-sync", "yes", 0, NO_REPLICATION),
    ONLY("repl-diskless-sync-delay", "5", 0, NO_REPLICATION),
    ONLY("repl-diskless-sync-max-replicas", "0", 0, NO_REPLICATION),
    ONLY("repl-diskless-sync-period", "0", CONFIG_HIDDEN, NO_REPLICATION),
    ONLY("repl-ping-replica-period", "10", 0, NO_REPLICATION),
    ONLY("repl-ping-slave-period", "10", 0, NO_REPLICATION),
    ONLY("repl-timeout", "60", 0, NO_REPLICATION),
    ONLY("dual-channel-replication-enabled", "no", 0, NO_REPLICATION),
    ONLY("import-mode", "no", 0, NO_REPLICATION),
    ONLY("propagation-error-behavior", "ignore", 0, NO_REPLICATION),
    ONLY("shutdown-timeout", "10", 0, NO_REPLICATION),

    /* Clusters. */
    ONLY("cluster-enabled", "no", CONFIG_MISSED, NO_CLUSTER),
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
    ONLY("cluster-config-file", "nodes.conf", 0, NO_CLUSTER),
    ONLY("cluster-config-save-behavior", "sync", 0, NO_CLUSTER),
    ONLY("cluster-databases", "1", 0, NO_CLUSTER),
    ONLY("cluster-link-sendbuf-limit", "0", 0, NO_CLUSTER),
    ONLY("cluster-manual-failover-timeout", "5000", 0, NO_CLUSTER),
    ONLY("cluster-migration-barrier", "1", 0, NO_CLUSTER),
    ONLY("cluster-node-timeout", "15000", 0, NO_CLUSTER),
    ONLY("cluster-port", "0", 0, NO_CLUSTER),
    ONLY("cluster-preferred-endpoint-type", "ip", 0, NO_CLUSTER),
    ONLY("cluster-replica-no-failover", "no", 0, NO_CLUSTER),
    ONLY("cluster-slave-no-failover", "no", 0, NO_CLUSTER),
    ONLY("cluster-replica-validity-factor", "10", 0, NO_CLUSTER),
    ONLY("cluster-slave-validity-factor", "10", 0, NO_CLUSTER),
    ONLY("cluster-require-full-coverage", "yes", 0, NO_CLUSTER),
    ONLY("cluster-slot-migration-log-max-len", "1000", 0, NO_CLUSTER),
    ONLY("cluster-slot-stats-enabled", "no", 0, NO_CLUSTER),
    ONLY("slot-migration-max-failover-repl-bytes", "0", 0, NO_CLUSTER),

    /* Data. */
    ONLY("aof-disable-auto-gc", "no", 0, AOF_HISTORY_GOES),
    ONLY("rdb-version-check", "strict", 0, STRICT_VERSIONS),
    ONLY("locale-collate", "", 0, BYTE_ORDER),
    ONLY("list-max-ziplist-entries", "512", CONFIG_FILE_ONLY, LIST_NODES),
    ONLY("list-max-ziplist-value", "64", CONFIG_FILE_ONLY, LIST_NODES),
    ONLY("lazyexpire-nested-arbitrary-keys", "yes", CONFIG_HIDDEN, EXPIRY_ONCE),
};

/* clang-format on */

const size_t config_table_count = sizeof(config_table) / sizeof(config_table[0]);
static_assert(sizeof(config_table) / sizeof(config_table[0]) <= CONFIG_DIRECTIVES_MAX,
              "a set has a bit for every directive");
