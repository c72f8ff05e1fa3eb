/* config: the directives: their values, texts and checks, and where they come from (file, command
 * line, CONFIG SET).
 *
 * One table (config_table.c) has a row for each directive: name, kind, place in struct config,
 * limits, default, whether it can be changed at run time, and what must happen when it changes.
 * Everything else (reading files, CONFIG GET, SET and REWRITE) works from that table. A row may
 * have an alias (list-max-ziplist-size): another name of the directive, for CONFIG too. */
#ifndef PACKLIST_CONFIG_CONFIG_H
#define PACKLIST_CONFIG_CONFIG_H

#include "base/log/log.h"
#include "base/slice.h"
#include "base/text/sds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which clients may use a dangerous command. */
enum config_access { CONFIG_ACCESS_NO, CONFIG_ACCESS_LOCAL, CONFIG_ACCESS_YES };

/* How the server ends: the words of SHUTDOWN and shutdown-on-sigterm. Without any, data is saved if
 * there are save points. */
enum shutdown_option {
    SHUTDOWN_SAVE = 1 << 0,
    SHUTDOWN_NOSAVE = 1 << 1,
    SHUTDOWN_NOW = 1 << 2,
    SHUTDOWN_FORCE = 1 << 3,   /* even if saving fails */
    SHUTDOWN_ABORT = 1 << 4,   /* only for SHUTDOWN, not for the directives */
    SHUTDOWN_SAFE = 1 << 5,    /* unless that endangers the cluster: without one, no effect */
    SHUTDOWN_FAILOVER = 1 << 6 /* of a cluster: SHUTDOWN refuses it, a signal ignores it */
};

/* sanitize-dump-payload: which clients' payloads are checked. It has no effect: all payloads
 * are. */
enum sanitize_level { SANITIZE_NO, SANITIZE_YES, SANITIZE_CLIENTS };

/* appendfsync: when fsync is called on the append-only file: by the system, once a second, or
 * before any reply is sent. */
enum aof_fsync { AOF_FSYNC_NO, AOF_FSYNC_EVERYSEC, AOF_FSYNC_ALWAYS };

/* supervised: the program that supervises the server. */
enum supervision { SUPERVISED_NO, SUPERVISED_UPSTART, SUPERVISED_SYSTEMD, SUPERVISED_AUTO };

/* oom-score-adj: whether its values are added to the score at the start, or are the score. */
enum oom_adjust { OOM_ADJUST_NO, OOM_ADJUST_RELATIVE, OOM_ADJUST_ABSOLUTE };
enum { OOM_SCORES = 3 };

/* repl-diskless-load: what the primary sends is loaded from a file, or as it arrives: into an empty
 * server, beside the old data, or after that is deleted. */
enum diskless_load {
    DISKLESS_LOAD_OFF,
    DISKLESS_LOAD_EMPTY,
    DISKLESS_LOAD_SWAP,
    DISKLESS_LOAD_FLUSH,  /* Valkey's flush-before-load */
    DISKLESS_LOAD_FLUSHDB /* the same, as Redis calls it */
};

/* tls-auth-clients-user: what of a client's certificate names its user. */
enum tls_auth_clients_user { TLS_USER_OFF, TLS_USER_COMMON_NAME, TLS_USER_URI };

/* tls-auth-clients: whether clients need a certificate. As enum tls_auth of
 * net/tls/tls_context.h. */
enum tls_auth_clients { TLS_AUTH_CLIENTS_NO, TLS_AUTH_CLIENTS_YES, TLS_AUTH_CLIENTS_OPTIONAL };

/* client-output-buffer-limit, by class of client. */
enum client_class {
    CLIENT_CLASS_NORMAL,
    CLIENT_CLASS_REPLICA,
    CLIENT_CLASS_PUBSUB,
    CLIENT_CLASS_COUNT
};

struct output_limit {
    uint64_t hard_bytes; /* bytes; 0 = no limit */
    uint64_t soft_bytes;
    int64_t soft_seconds;
};

/* The values in force. The configuration owns its strings and lists. */
/* What follows when nodes.conf cannot be written. */
enum cluster_save { CLUSTER_SAVE_OR_END, CLUSTER_SAVE_OR_LOG };

/* Where a redirected client is told to go: to an address, a name, or where it came from. */
enum cluster_endpoint { CLUSTER_ENDPOINT_IP, CLUSTER_ENDPOINT_HOSTNAME, CLUSTER_ENDPOINT_UNKNOWN };

struct config {
    int64_t port; /* 0 = no TCP */
    sds *bind;    /* addresses; a leading '-' makes one optional */
    size_t bind_count;
    sds unixsocket; /* "" = none */
    int64_t unixsocketperm;
    sds unixsocketgroup; /* "" = the process's */
    int64_t tls_port;    /* 0 = no TLS */
    sds tls_cert_file;   /* this and the next ones: "" = none, or OpenSSL's default */
    sds tls_key_file;
    sds tls_key_file_pass;
    sds tls_client_cert_file; /* for connections to other servers; "": the server's */
    sds tls_client_key_file;
    sds tls_client_key_file_pass;
    sds tls_expected_peer_name; /* of other servers; "": the host, if it is a name */
    bool tls_replication;
    bool tls_cluster; /* MIGRATE */
    sds tls_ca_cert_file;
    sds tls_ca_cert_dir;
    sds tls_dh_params_file;
    sds tls_protocols;
    sds tls_ciphers;
    sds tls_ciphersuites;
    int64_t tls_auth_clients;      /* enum tls_auth_clients */
    int64_t tls_auth_clients_user; /* enum tls_auth_clients_user */
    bool tls_prefer_server_ciphers;
    bool tls_session_caching;
    int64_t tls_session_cache_size;
    int64_t tls_session_cache_timeout; /* seconds */
    int64_t tls_auto_reload_interval;  /* seconds; 0 = never */
    int64_t max_new_tls_connections_per_cycle;
    int64_t tcp_backlog;
    int64_t tcp_keepalive; /* seconds */
    int64_t timeout;       /* seconds that a client may idle; 0 = no limit */
    int64_t maxclients;
    int64_t databases;
    sds requirepass;            /* "" = none */
    sds aclfile;                /* "" = none */
    int64_t acl_pubsub_default; /* bool: a new user may use all channels */
    bool protected_mode;
    bool daemonize;
    sds pidfile;
    sds logfile;
    int64_t supervised; /* enum supervision */
    bool syslog_enabled;
    sds syslog_ident;
    int64_t syslog_facility;      /* base/log/log.h */
    int64_t loglevel;             /* enum log_level */
    int64_t log_format;           /* enum log_format */
    int64_t log_timestamp_format; /* enum log_timestamp */
    bool hide_user_data_from_log;
    bool crash_log_enabled;
    bool crash_memcheck_enabled;              /* has no effect: memory is not tested */
    int64_t oom_score_adj;                    /* enum oom_adjust */
    int64_t oom_score_adj_values[OOM_SCORES]; /* primary, replica; not used */
    bool set_proc_title;
    sds proc_title_template; /* config/title_template.h */
    int64_t hz;
    int64_t io_threads;       /* with the event loop's */
    bool io_threads_do_reads; /* nothing: they always do */
    bool io_threads_always_active;
    sds server_cpulist, bio_cpulist; /* base/text/cpu_list.h; "": any processor */
    int64_t proto_max_bulk_len;
    int64_t lua_memory_limit;
    bool lua_enable_deprecated_api; /* scripts have getfenv, setfenv and newproxy */
    int64_t busy_reply_threshold;   /* milliseconds; 0: a script is never busy */
    int64_t client_query_buffer_limit;
    struct output_limit output_limits[CLIENT_CLASS_COUNT];
    int64_t enable_debug_command;     /* enum config_access */
    int64_t enable_protected_configs; /* enum config_access */
    int64_t shutdown_on_sigint;       /* enum shutdown_option */
    int64_t shutdown_on_sigterm;
    int64_t shutdown_timeout; /* seconds */
    int64_t list_max_listpack_size;
    int64_t list_compress_depth;
    int64_t sanitize_dump_payload; /* enum sanitize_level */

    /* Limits of compact encodings. */
    int64_t hash_max_listpack_entries;
    int64_t hash_max_listpack_value;
    int64_t set_max_intset_entries;
    int64_t set_max_listpack_entries;
    int64_t set_max_listpack_value;
    int64_t zset_max_listpack_entries;
    int64_t zset_max_listpack_value;
    int64_t hll_sparse_max_bytes;
    int64_t stream_node_max_bytes;
    int64_t stream_node_max_entries;
    int64_t stream_idmp_duration;
    int64_t stream_idmp_maxsize;

    int64_t notify_keyspace_events; /* enum event_class and enum notify_flag */
    uint64_t maxmemory;             /* bytes; 0 = no limit */
    bool maxmemory_rss;             /* it bounds the pages */
    int64_t maxmemory_clients;      /* bytes, or a percentage of maxmemory, negated; 0 = no limit */
    int64_t maxmemory_policy;       /* enum eviction_policy */
    int64_t maxmemory_samples;      /* keys compared to evict one */
    int64_t eviction_tenacity;      /* 0 … 100 */
    int64_t lfu_log_factor;
    int64_t lfu_decay_time;       /* minutes */
    int64_t active_expire_effort; /* 1 … 10 */
    bool import_mode; /* keys neither expire by themselves nor are evicted: engine_is_importing */
    bool activedefrag;
    int64_t defrag_cycle_min; /* percent of the time */
    int64_t defrag_cycle_max;
    int64_t defrag_cycle_us; /* of a step */
    int64_t defrag_ignore_bytes;
    int64_t defrag_max_scan_fields;
    int64_t defrag_threshold_lower; /* percent of the memory in use */
    int64_t defrag_threshold_upper;
    int64_t slowlog_log_slower_than; /* microseconds; -1 = no slow log */
    int64_t slowlog_max_len;
    int64_t slowlog_max_argc;
    int64_t slowlog_entry_max_string_len; /* bytes of an argument that an entry keeps */
    bool slowlog_show_argc;               /* entries have a seventh element */
    int64_t large_request_bytes;          /* such requests are noted; -1 = none */
    int64_t large_request_max_len;
    int64_t large_reply_bytes;
    int64_t large_reply_max_len;
    int64_t latency_monitor_threshold; /* milliseconds; 0 = off */
    bool latency_tracking;
    sds latency_percentiles; /* numbers separated by blanks, for INFO */

    /* When large values are freed in another thread. */
    bool lazyfree_eviction;
    bool lazyfree_expire;
    bool lazyfree_server_del; /* a value is overwritten */
    bool lazyfree_user_del;   /* DEL */
    bool lazyfree_user_flush; /* FLUSHDB and FLUSHALL without SYNC or ASYNC */
    bool jemalloc_bg_thread;  /* a background thread returns freed pages to the system */

    /* Saving and loading. */
    sds dir;        /* the working directory; absolute once it is in effect */
    sds dbfilename; /* a file in it */
    sds save;       /* save points: pairs of seconds and changes, "" = none */
    bool stop_writes_on_bgsave_error;
    bool rdbcompression;
    bool rdbchecksum;
    bool rdb_save_incremental_fsync;
    int64_t rdb_save_slice_us;
    bool rdb_skip_unknown_types;
    bool rdb_del_sync_files;
    int64_t rdb_key_save_delay; /* microseconds per key; negative: keys per microsecond */
    int64_t key_load_delay;     /* as rdb_key_save_delay */
    int64_t loading_process_events_interval_bytes;

    /* The append-only file. */
    bool appendonly;
    sds appenddirname;   /* the directory of its files */
    sds appendfilename;  /* the prefix of their names */
    int64_t appendfsync; /* enum aof_fsync */
    bool no_appendfsync_on_rewrite;
    int64_t aof_rewrite_percentage; /* the growth that triggers a rewrite; 0: never */
    int64_t aof_rewrite_min_size;   /* bytes */
    bool aof_load_truncated;
    int64_t aof_load_corrupt_tail_max_size; /* bytes; fewer are cut off; 0: none */
    bool aof_rdb_preamble;
    bool aof_timestamps;
    bool aof_incremental_fsync;

    /* Replicas of this server. Times in seconds. */
    int64_t min_replicas_to_write;
    int64_t min_replicas_max_lag;
    int64_t repl_backlog_size; /* bytes */
    int64_t repl_backlog_ttl;
    bool repl_disable_tcp_nodelay;
    bool repl_diskless_sync;
    int64_t repl_diskless_sync_delay;
    int64_t repl_diskless_sync_max_replicas;
    int64_t repl_diskless_sync_period;
    int64_t repl_ping_replica_period;
    int64_t repl_timeout;

    /* What a replica does. */
    sds bind_source_addr; /* address from which it connects to its primary; "" = any */
    sds renamed_commands; /* words in quotes: a command's name, then what clients call it, … */
    sds replicaof;        /* "host port" of the primary; "" = the server is none's replica */
    int64_t acllog_max_len;
    bool acl_filter_keys;
    int64_t tracking_table_max_keys;
    sds masteruser;                /* "" = AUTH with the password alone */
    sds masterauth;                /* "" = no AUTH */
    sds replica_announce_ip;       /* "" = the address of its connection */
    int64_t replica_announce_port; /* 0 = `port` */
    bool replica_announced;
    bool replica_ignore_maxmemory;
    bool replica_lazy_flush;
    int64_t replica_priority;
    bool replica_read_only;
    bool replica_serve_stale_data;
    int64_t repl_diskless_load; /* enum diskless_load */

    /* A node of a cluster (cluster/cluster.h). */
    bool cluster_enabled;
    sds cluster_config_file;           /* in the working directory */
    int64_t cluster_save;              /* enum cluster_save */
    int64_t cluster_databases;         /* in place of `databases` */
    sds cluster_announce_ip;           /* "" = the address that a client has connected to */
    sds cluster_announce_hostname;     /* "" = none */
    sds cluster_announce_human_name;   /* "" = none */
    int64_t cluster_announce_port;     /* 0 = `port`; */
    int64_t cluster_announce_tls_port; /* `tls_port`; */
    int64_t cluster_announce_bus_port; /* cluster_port, and if that is 0, the client's + 10000 */
    int64_t cluster_port;
    int64_t cluster_endpoint; /* enum cluster_endpoint: where clients are told to go */
    bool cluster_require_full_coverage;
    bool cluster_allow_reads_when_down;
    bool cluster_allow_pubsubshard_when_down;
    /* Of what nodes say to each other, which they do not yet: kept for CONFIG GET. */
    bool cluster_allow_replica_migration;
    bool cluster_replica_no_failover;
    sds cluster_announce_client_ipv4;
    sds cluster_announce_client_ipv6;
    int64_t cluster_announce_client_port;
    int64_t cluster_announce_client_tls_port;
    int64_t cluster_blacklist_ttl;
    int64_t cluster_link_sendbuf_limit;
    int64_t cluster_manual_failover_timeout;
    int64_t cluster_message_gossip_perc;
    int64_t cluster_migration_barrier;
    int64_t cluster_node_timeout;
    int64_t cluster_ping_interval;
    int64_t cluster_replica_validity_factor;
    int64_t cluster_migration_max_lag; /* cluster-slot-migration-…, and this one -handoff-… */
    int64_t cluster_migration_log_max_len;
    int64_t cluster_migration_max_archived;
    int64_t cluster_migration_drain_timeout;
    int64_t cluster_migration_pause_timeout;
    int64_t slot_migration_max_failover_bytes;
    /* Kept as well: there are no such statistics. */
    int64_t cluster_compatibility_sample_ratio;
    int64_t cluster_slot_stats;
};

/* Sets every directive to its default; freed with config_free. */
void config_init(struct config *config);

/* Makes a deep copy in uninitialised memory; freed with config_free. */
void config_copy(struct config *copy, const struct config *config);

/* Frees the memory of the values. */
void config_free(struct config *config);

/* --- Reading: config_load.c --- */

/* A set of directives; all zero is the empty set. */
enum { CONFIG_DIRECTIVES_MAX = 320 };
struct config_directive_set {
    uint64_t words[CONFIG_DIRECTIVES_MAX / 64];
};

/* A set of names: a directive's name and its alias are two. All zero is the empty set. */
struct config_name_set {
    struct config_directive_set names, aliases;
};

/* A line that was ignored. It is logged later, when the log is open. */
struct config_note {
    sds text;
    enum log_level level;
};

/* A line `user`: what it says is for the start to find out. */
struct config_user {
    sds place; /* "file:line", for messages */
    sds words; /* all after `user`, in quotes where they need them, as resp_split_next reads them */
    bool is_elsewhere;   /* not in the file that CONFIG REWRITE writes */
    uint64_t generation; /* for the start: of the user when the line was applied */
};

/* Where the configuration comes from. All zero before config_load. */
struct config_source {
    /* absolute path of the file; "" when there is none (CONFIG REWRITE is then refused) */
    sds path;
    sds acl_path; /* absolute path of aclfile, once the server has started; NULL: none */
    struct config_note *notes;
    size_t note_count;
    struct config_name_set noted; /* names with a note that they are ignored */
    struct config_user *users;
    size_t user_count;
};

/* Reads the whole command line as Redis does: an optional config file first, then directives as
 * --name value…, last an optional "-" (which may also be first) for standard input, whose lines
 * apply before the options. An argument that begins with "--" is a name, unless the option before
 * it has no value yet: then it is that value (but --save may be without one). Lines are split as by
 * resp_split_next; # begins a comment line; `include path` reads another file, or every file of a
 * pattern. Some directives have only one value here: a line with another value becomes a note, or
 * an error if the directive protects something.
 *
 * Returns false when anything cannot be read, with a text to print in `*error` (owned by the
 * caller, ends with a newline: file, line and what is wrong). main handles --version and --help,
 * which must not be among `args`. `config` must be initialised by config_init. */
bool config_load(struct config *config, struct config_source *source, int argc, char **argv,
                 sds *error);

/* As config_load, for a text in memory, which may not include files. `name` is its name in errors
 * and notes. */
bool config_load_text(struct config *config, struct config_source *source, const char *name,
                      struct slice text, sds *error);

/* Logs the notes and frees them. */
void config_log_notes(struct config_source *source);

/* Frees the lines of users, after it has overwritten them: they may have passwords. */
void config_forget_users(struct config_source *source);

/* --- Directives: config_values.c --- */

struct config_directive; /* a row of the table: config/config_table.h */

/* Adds a directive to a set. Returns false when it is already in it. */
bool config_directive_set_add(struct config_directive_set *set,
                              const struct config_directive *directive);
bool config_directive_set_has(const struct config_directive_set *set,
                              const struct config_directive *directive);

/* Adds a directive's name, in any case, to a set. Returns false when it is already in it. */
bool config_name_set_add(struct config_name_set *set, const struct config_directive *directive,
                         struct slice name);

/* Finds a directive by name or alias, in any case, else the family to which the name belongs; NULL
 * when unknown. O(directives). */
const struct config_directive *config_find(struct slice name);

/* Returns which of its two names `name` is, in any case, as the table writes it; NULL when
 * neither. For a family: its name with the star, or NULL. */
const char *config_name_matched(const struct config_directive *directive, struct slice name);

/* Appends the value's text as CONFIG GET shows it. Returns `out`. */
sds config_append_value(const struct config *config, const struct config_directive *directive,
                        sds out);

/* Parses and sets one value: one word for most directives; lists of words may also be one argument,
 * separated by blanks. Returns false with *error (owned by the caller) when the values are not
 * valid; the configuration is then unchanged. */
bool config_set(struct config *config, const struct config_directive *directive,
                const struct slice *values, size_t count, sds *error);

/* As config_set, for a line of a configuration. `again`: there was a line of this directive before.
 * Save points are then added to those before, unless this line has none. */
bool config_set_line(struct config *config, const struct config_directive *directive,
                     const struct slice *values, size_t count, bool again, sds *error);

/* Returns why CONFIG SET takes this value though it has no effect; NULL when it has one, is the
 * value in force, or is refused. */
const char *config_why_ignored(const struct config_directive *directive, struct slice value);

struct config_change {
    const struct config_directive *directive;
    struct slice value;
};

/* Puts a directive's value into effect; `arg` is the caller's. is_undo: it is the old value again,
 * after an effect has failed, and the result counts for nothing. */
typedef bool config_apply_function(const struct config_directive *directive, bool is_undo,
                                   void *arg, sds *error);

/* Makes all changes or none, and passes over those without effect: sets them all, then calls
 * `apply` once for each effect (several directives may share one) whose value has changed, in the
 * order of enum config_effect and not in that of the changes. When anything fails, it restores the
 * old values, and applies them where the new ones were applied. *culprit is then the index of the
 * failed change and *error (owned by the caller) says why. `apply` finds the new values in
 * *config. */
bool config_change_all(struct config *config, const struct config_change *changes, size_t count,
                       config_apply_function *apply, void *arg, size_t *culprit, sds *error);

/* --- Writing: config_rewrite.c --- */

/* Returns the text `old` of the configuration file with the values in force; the caller owns it.
 * Comments, order, and lines whose value is still in force stay byte for byte; other lines are
 * replaced in place. Values that differ from the default and have no line are appended after the
 * line "# Generated by CONFIG REWRITE"; with `all`, default values too. The same holds for the
 * lines `users`: "user NAME RULE RULE …" with single blanks, each with a line feed, in the order of
 * the names; lines of other users go. O(text + lines × log users). Pure. */
sds config_rewrite_text(const struct config *config, struct slice users, struct slice old,
                        bool all);

/* Rewrites the file at `path` with config_rewrite_text and replaces it atomically (a link is
 * followed). Returns false with errno set. */
bool config_rewrite_file(const struct config *config, struct slice users, const char *path,
                         bool all);

#endif
