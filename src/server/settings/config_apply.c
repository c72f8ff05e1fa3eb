#include "server/settings/config_apply.h"

#include "aof/aof.h"
#include "base/memory/alloc.h"
#include "cluster/cluster_life.h"
#include "engine/engine.h"
#include "net/threads/io_threads.h"
#include "reclaim/defrag.h"
#include "reclaim/evict.h"
#include "server/process/oom_score.h"
#include "server/process/process_title.h"
#include "server/settings/listeners.h"
#include "server/settings/tls_watch.h"
#include "session/clients.h"
#include "session/session.h"
#include "session/session_user.h"
#include "snapshot/data_lock.h"
#include "snapshot/save.h"
#include "types/value_limits.h"
#include "users/users.h"

#include <errno.h>
#include <limits.h>
#include <sys/resource.h>
#include <unistd.h>

/* The range of the fields of struct quicklist_limits; larger values of the directives have the same
 * effect. */
enum { FILL_MIN = -5, FILL_MAX = INT16_MAX, DEPTH_MAX = UINT16_MAX };

static int64_t clamp(int64_t value, int64_t min, int64_t max) {
    return value < min ? min : value > max ? max : value;
}

void config_apply_value_limits(struct engine *engine) {
    const struct config *config = &engine->config;
    struct value_limits *limits = engine->value_limits;
    limits->set = (struct set_limits){.intset_entries = (size_t)config->set_max_intset_entries,
                                      .listpack_entries = (size_t)config->set_max_listpack_entries,
                                      .listpack_value = (size_t)config->set_max_listpack_value};
    limits->hash =
        (struct listpack_limits){.listpack_entries = (size_t)config->hash_max_listpack_entries,
                                 .listpack_value = (size_t)config->hash_max_listpack_value};
    limits->zset =
        (struct listpack_limits){.listpack_entries = (size_t)config->zset_max_listpack_entries,
                                 .listpack_value = (size_t)config->zset_max_listpack_value};
    limits->stream =
        (struct stream_limits){.node_bytes = (size_t)config->stream_node_max_bytes,
                               .node_entries = (size_t)config->stream_node_max_entries};
    limits->producers =
        (struct producers_limits){.duration_s = (uint32_t)config->stream_idmp_duration,
                                  .iids = (uint32_t)config->stream_idmp_maxsize};
    limits->hyperloglog.sparse_bytes = (size_t)config->hll_sparse_max_bytes;
    limits->list.fill = (int16_t)clamp(config->list_max_listpack_size, FILL_MIN, FILL_MAX);
    limits->list.compress_depth = (uint16_t)clamp(config->list_compress_depth, 0, DEPTH_MAX);
}

/* Files of the server's own: listening sockets, log, pid file, event loop, files being written. */
enum { OWN_FILES = 32 };

/* Raises the limit of open files to fit *clients connections and the server's own files. Returns
 * false when the system allows fewer: the limit is then as high as possible, *clients is the number
 * that fits (at least 1), and *why says so in one line (the caller frees it). Never lowers the
 * limit. */
static bool raise_files(int64_t *clients, sds *why) {
    rlim_t wanted = (rlim_t)*clients + OWN_FILES;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return true; /* the limit is unknown */
    if (limit.rlim_cur >= wanted) return true;
    rlim_t hard = limit.rlim_max > wanted ? limit.rlim_max : wanted;
    if (setrlimit(RLIMIT_NOFILE, &(struct rlimit){wanted, hard}) == 0) return true;
    if (setrlimit(RLIMIT_NOFILE, &(struct rlimit){limit.rlim_max, limit.rlim_max}) == 0)
        limit.rlim_cur = limit.rlim_max;
    *why = sds_format(
        "maxclients %lld needs %llu open files, but the system allows %llu: only %lld clients can "
        "be served. Raise the limit ('ulimit -n') to serve more.",
        (long long)*clients, (unsigned long long)wanted, (unsigned long long)limit.rlim_cur,
        (long long)(limit.rlim_cur > OWN_FILES ? limit.rlim_cur - OWN_FILES : 1));
    *clients = limit.rlim_cur > OWN_FILES ? (int64_t)(limit.rlim_cur - OWN_FILES) : 1;
    return false;
}

bool config_apply_maxclients(struct engine *engine, sds *error) {
    int64_t clients = engine->config.maxclients;
    sds why = NULL;
    if (raise_files(&clients, &why)) return true;
    sds_free(why);
    *error = sds_format("The operating system is not able to handle the specified number "
                        "of clients, try with %lld",
                        (long long)clients);
    return false;
}

bool config_apply_tls(struct engine *engine, sds *error) {
    sds reason = NULL;
    if (tls_watch_configure(engine, &reason)) {
        cluster_configure(engine);
        return true;
    }
    log_warning("%s", reason);
    sds_free(reason);
    *error = sds_new(SLICE("Unable to update TLS configuration. Check server logs."));
    return false;
}

bool config_apply_listeners(struct engine *engine, sds *error) {
    sds reason = NULL;
    bool is_port_new = engine->tls_watch->port != engine->config.tls_port;
    if (!cluster_check_ports(&engine->config, error)) return false;
    if (is_port_new && !config_apply_tls(engine, error)) return false;
    if (listeners_reopen(engine, &reason)) {
        process_title_set(engine);
        cluster_configure(engine);
        return true;
    }
    log_warning("%s", reason);
    sds_free(reason);
    return false;
}

bool config_apply_io_threads(struct engine *engine, sds *error) {
    const struct config *config = &engine->config;
    enum io_when when = config->io_threads_always_active ? IO_ALWAYS : IO_WHEN_BUSY;
    const char *reason;
    if (io_threads_set(engine->net, (unsigned)config->io_threads - 1, when, &reason)) return true;
    *error = sds_format("Can't start an I/O thread: %s", reason);
    return false;
}

bool config_apply_oom_score(struct engine *engine, sds *error) {
    if (oom_score_apply(engine)) return true;
    *error = sds_new(SLICE("Failed to set current oom_score_adj. Check server logs."));
    return false;
}

/* Clients that connected while no password was needed stay logged in; when the password is removed,
 * all are. */
void config_apply_password(struct engine *engine) {
    users_set_default_password(engine->users, sds_slice(engine->config.requirepass));
    sessions_follow_users(engine, engine->users->generation);
}

void config_apply_maxmemory(struct engine *engine) {
    size_t used = mem_used(), limit = (size_t)engine->config.maxmemory;
    if (limit && used > limit)
        log_warning("maxmemory is now %zu bytes, but %zu are in use: keys are evicted, or commands "
                    "that need memory are refused, as maxmemory-policy says.",
                    limit, used);
    evict_configure(engine);
}

bool config_apply_maxmemory_rss(struct engine *engine, sds *error) {
    if (engine->config.maxmemory_rss && !mem_counts_pages()) {
        *error = sds_new(SLICE("maxmemory-rss cannot be enabled: this memory allocator does not "
                               "tell how many pages it uses"));
        return false;
    }
    evict_configure(engine);
    return true;
}

bool config_apply_defrag(struct engine *engine, sds *error) {
    if (defrag_configure(engine)) return true;
    *error = sds_new(SLICE("Active defragmentation cannot be enabled: this memory allocator does "
                           "not tell how full its pages are"));
    return false;
}

/* Changes the directory and keeps its absolute path. Returns false with errno set. */
static bool enter_dir(struct engine *engine) {
    char path[PATH_MAX];
    if (chdir(engine->config.dir) != 0 || !getcwd(path, sizeof(path))) return false;
    sds_free(engine->config.dir);
    engine->config.dir = sds_new(slice_of_cstr(path));
    return true;
}

bool config_apply_dir(struct engine *engine, sds *error) {
    if (!data_lock_move(engine, engine->config.dir, error)) return false;
    if (!enter_dir(engine)) {
        *error = sds_new(slice_of_cstr(strerror(errno)));
        return false;
    }
    const struct aof *aof = engine->aof;
    if (aof->state != AOF_OFF && strcmp(aof->dir, engine->config.dir) != 0)
        log_warning("The append-only file stays in %s; a server that starts with dir %s does not "
                    "look for it there.",
                    aof->dir, engine->config.dir);
    return true;
}

/* A server that starts to write files must hold the lock of their directory. */
bool config_apply_save(struct engine *engine, sds *error) {
    if (sds_len(engine->config.save) > 0 && !data_lock_take(engine, error)) return false;
    save_configure(engine);
    return true;
}

bool config_apply_appendonly(struct engine *engine, sds *error) {
    if (engine->config.appendonly && !data_lock_take(engine, error)) return false;
    return aof_configure(engine, error);
}

void config_apply_log(struct engine *engine) {
    const struct config *config = &engine->config;
    log_set_level((enum log_level)config->loglevel);
    log_set_format((enum log_format)config->log_format,
                   (enum log_timestamp)config->log_timestamp_format);
}

/* The lines of rename-command, in their order. */
static bool rename_commands(struct engine *engine, sds *error) {
    sds text = sds_new(sds_slice(engine->config.renamed_commands));
    char *at = text, *end = text + sds_len(text);
    struct slice from, to;
    const char *reason = NULL;
    while (!reason && resp_split_next(&at, end, &from) == RESP_SPLIT_ARGUMENT &&
           resp_split_next(&at, end, &to) == RESP_SPLIT_ARGUMENT) {
        reason = command_rename(from, to);
        if (reason)
            *error = sds_format("rename-command %.*s %.*s: %s", (int)from.len, from.ptr,
                                (int)to.len, to.ptr, reason);
    }
    sds_free(text);
    return !reason;
}

bool config_apply_at_start(struct engine *engine, sds *error) {
    if (!rename_commands(engine, error)) return false;
    config_apply_log(engine);
    if (!enter_dir(engine)) {
        *error = sds_format("Can't chdir to '%s': %s", engine->config.dir, strerror(errno));
        return false;
    }
    if (!log_set_file(engine->config.logfile)) {
        *error =
            sds_format("Can't open the log file %s: %s", engine->config.logfile, strerror(errno));
        return false;
    }
    if (engine->config.syslog_enabled)
        log_set_syslog(engine->config.syslog_ident, (int)engine->config.syslog_facility);
    sds why = NULL;
    if (!raise_files(&engine->config.maxclients, &why)) log_warning("%s", why);
    sds_free(why);
    config_apply_value_limits(engine);
    oom_score_apply(engine); /* a refusal is logged there */
    process_title_set(engine);
    config_log_notes(&engine->config_source);
    return true;
}
