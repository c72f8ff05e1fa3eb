#include "server/config_apply.h"

#include "aof/aof.h"
#include "base/alloc.h"
#include "config/config_table.h"
#include "engine/engine.h"
#include "engine/slow.h"
#include "net/io_threads.h"
#include "reclaim/defrag.h"
#include "reclaim/evict.h"
#include "replication/link.h"
#include "replication/replication.h"
#include "script/script.h"
#include "server/crash_report.h"
#include "server/cron.h"
#include "server/endpoints.h"
#include "server/os_limits.h"
#include "server/os_oom_score.h"
#include "server/os_title.h"
#include "server/tls_configure.h"
#include "server/tls_watch.h"
#include "session/client_memory.h"
#include "session/clients.h"
#include "session/denials.h"
#include "session/invalidate.h"
#include "session/session.h"
#include "snapshot/data_lock.h"
#include "snapshot/save.h"
#include "types/value_limits.h"
#include "users/users.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

/* The range of the fields of struct quicklist_limits; larger values of the directives have the same
 * effect. */
enum { FILL_MIN = -5, FILL_MAX = INT16_MAX, DEPTH_MAX = UINT16_MAX };

struct changing {
    struct engine *engine;
    struct tls_setup tls; /* what TLS used before */
};

static int64_t clamp(int64_t value, int64_t min, int64_t max) {
    return value < min ? min : value > max ? max : value;
}

static void apply_value_limits(struct engine *engine) {
    const struct config *config = &engine->config;
    engine->value_limits->set =
        (struct set_limits){.intset_entries = (size_t)config->set_max_intset_entries,
                            .listpack_entries = (size_t)config->set_max_listpack_entries,
                            .listpack_value = (size_t)config->set_max_listpack_value};
    engine->value_limits->hash =
        (struct listpack_limits){.listpack_entries = (size_t)config->hash_max_listpack_entries,
                                 .listpack_value = (size_t)config->hash_max_listpack_value};
    engine->value_limits->zset =
        (struct listpack_limits){.listpack_entries = (size_t)config->zset_max_listpack_entries,
                                 .listpack_value = (size_t)config->zset_max_listpack_value};
    engine->value_limits->stream =
        (struct stream_limits){.node_bytes = (size_t)config->stream_node_max_bytes,
                               .node_entries = (size_t)config->stream_node_max_entries};
    engine->value_limits->producers =
        (struct producers_limits){.duration_s = (uint32_t)config->stream_idmp_duration,
                                  .iids = (uint32_t)config->stream_idmp_maxsize};
    engine->value_limits->hyperloglog.sparse_bytes = (size_t)config->hll_sparse_max_bytes;
    engine->value_limits->list.fill =
        (int16_t)clamp(config->list_max_listpack_size, FILL_MIN, FILL_MAX);
    engine->value_limits->list.compress_depth =
        (uint16_t)clamp(config->list_compress_depth, 0, DEPTH_MAX);
}

static bool apply_maxclients(struct engine *engine, sds *error) {
    int64_t clients = engine->config.maxclients;
    sds why = NULL;
    if (limits_raise_files(&clients, &why)) return true;
    sds_free(why);
    *error = sds_append_format(sds_new(SLICE("")),
                               "The operating system is not able to handle the specified number "
                               "of clients, try with %lld",
                               (long long)clients);
    return false;
}

static bool apply_tls(struct engine *engine, sds *error) {
    sds reason = NULL;
    if (tls_configure(engine, &reason)) return true;
    log_warning("%s", reason);
    sds_free(reason);
    *error = sds_new(SLICE("Unable to update TLS configuration. Check server logs."));
    return false;
}

/* `directive` may be another one than the tls-port that has changed as well. */
static bool apply_listeners(struct engine *engine, const struct config_directive *directive,
                            sds *error) {
    sds reason = NULL;
    bool is_port_new = engine->tls_watch->port != engine->config.tls_port;
    if (is_port_new && !apply_tls(engine, error)) return false;
    if (listeners_reopen(engine, &reason)) {
        process_title_set(engine);
        return true;
    }
    log_warning("%s", reason);
    sds_free(reason);
    bool port = !slice_is(SLICE("bind"), directive->name);
    *error = sds_append_cstr(sds_new(SLICE("")),
                             port ? "Unable to listen on this port. Check server logs."
                                  : "Failed to bind to specified addresses.");
    return false;
}

bool config_apply_io_threads(struct engine *engine, sds *error) {
    const struct config *config = &engine->config;
    enum io_when when = config->io_threads_always_active ? IO_ALWAYS : IO_WHEN_BUSY;
    const char *reason;
    if (io_threads_set(engine->net, (unsigned)config->io_threads - 1, when, &reason)) return true;
    *error = sds_append_format(sds_new(SLICE("")), "Can't start an I/O thread: %s", reason);
    return false;
}

static bool apply_oom_score(struct engine *engine, sds *error) {
    if (oom_score_apply(engine)) return true;
    *error = sds_new(SLICE("Failed to set current oom_score_adj. Check server logs."));
    return false;
}

/* Clients that connected while no password was needed stay logged in; when the password is removed,
 * all are. */
static void apply_password(struct engine *engine) {
    users_set_default_password(engine->users, sds_slice(engine->config.requirepass));
    sessions_follow_users(engine, engine->users->generation);
}

static void apply_maxmemory(struct engine *engine) {
    size_t used = mem_used(), limit = (size_t)engine->config.maxmemory;
    if (limit && used > limit)
        log_warning("maxmemory is now %zu bytes, but %zu are in use: keys are evicted, or commands "
                    "that need memory are refused, as maxmemory-policy says.",
                    limit, used);
    evict_configure(engine);
}

bool config_apply_maxmemory_rss(struct engine *engine, sds *error) {
    if (!engine->config.maxmemory_rss || mem_counts_pages()) return true;
    *error =
        sds_new(SLICE("maxmemory-rss cannot be enabled: this memory allocator does not tell how "
                      "many pages it uses"));
    return false;
}

static bool apply_maxmemory_rss(struct engine *engine, sds *error) {
    if (!config_apply_maxmemory_rss(engine, error)) return false;
    evict_configure(engine);
    return true;
}

static bool apply_defrag(struct engine *engine, sds *error) {
    if (defrag_configure(engine)) return true;
    *error = sds_new(SLICE("Active defragmentation cannot be enabled: this memory allocator does "
                           "not tell how full its pages are"));
    return false;
}

void config_apply_memory_thread(struct engine *engine) {
    bool on = engine->config.jemalloc_bg_thread;
    if (mem_decay_in_background(on)) return;
    log_warning("There is no thread that gives freed memory back: the event loop does.");
    engine->config.jemalloc_bg_thread = false;
}

/* Changes the directory and keeps its absolute path. Returns false with errno set. */
static bool enter_dir(struct engine *engine) {
    char path[PATH_MAX];
    if (chdir(engine->config.dir) != 0 || !getcwd(path, sizeof(path))) return false;
    sds_free(engine->config.dir);
    engine->config.dir = sds_new(slice_of_cstr(path));
    return true;
}

static bool apply_dir(struct engine *engine, sds *error) {
    if (!data_lock_move(engine, engine->config.dir, error)) return false;
    if (!enter_dir(engine)) {
        *error = sds_append_cstr(sds_new(SLICE("")), strerror(errno));
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
static bool apply_save(struct engine *engine, sds *error) {
    if (sds_len(engine->config.save) > 0 && !data_lock_take(engine, error)) return false;
    save_configure(engine);
    return true;
}

static bool apply_appendonly(struct engine *engine, sds *error) {
    if (engine->config.appendonly && !data_lock_take(engine, error)) return false;
    return aof_configure(engine, error);
}

static void apply_log(const struct config *config) {
    log_set_level((enum log_level)config->loglevel);
    log_set_format((enum log_format)config->log_format,
                   (enum log_timestamp)config->log_timestamp_format);
}

static bool apply(const struct config_directive *directive, struct engine *engine, sds *error) {
    switch (directive->effect) {
    case EFFECT_NONE:
    case EFFECT_COUNT: break;
    case EFFECT_DIR: return apply_dir(engine, error);
    case EFFECT_MAXCLIENTS: return apply_maxclients(engine, error);
    case EFFECT_TLS: return apply_tls(engine, error);
    case EFFECT_LISTENERS: return apply_listeners(engine, directive, error);
    case EFFECT_OOM_SCORE: return apply_oom_score(engine, error);
    case EFFECT_SAVE: return apply_save(engine, error);
    case EFFECT_APPENDONLY: return apply_appendonly(engine, error);
    case EFFECT_TITLE: process_title_set(engine); break;
    case EFFECT_LOG: apply_log(&engine->config); break;
    case EFFECT_PASSWORD: apply_password(engine); break;
    case EFFECT_PUBSUB_DEFAULT:
        engine->users->all_channels = engine->config.acl_pubsub_default;
        break;
    case EFFECT_DEFRAG: return apply_defrag(engine, error);
    case EFFECT_TIMER: cron_reschedule(engine); break;
    case EFFECT_MEMORY_THREAD: config_apply_memory_thread(engine); break;
    case EFFECT_VALUE_LIMITS: apply_value_limits(engine); break;
    case EFFECT_MAXMEMORY: apply_maxmemory(engine); break;
    case EFFECT_MAXMEMORY_RSS: return apply_maxmemory_rss(engine, error);
    case EFFECT_LUA_MEMORY: scripts_apply_limit(engine->scripts); break;
    case EFFECT_MAXMEMORY_CLIENTS: client_memory_note_all(engine); break;
    case EFFECT_EVICTION: evict_configure(engine); break;
    case EFFECT_REPLICA: link_restrict(engine); break;
    case EFFECT_SLOW: slow_configure(engine); break;
    case EFFECT_CRASH_LOG: crash_report_configure(engine); break;
    case EFFECT_REPLICATION: replication_configure(engine); break;
    case EFFECT_TRACKING: invalidate_configure(engine); break;
    case EFFECT_IO_THREADS: return config_apply_io_threads(engine, error);
    }
    return true;
}

/* The config_apply_function: undoing what TLS uses must not fail. */
static bool apply_change(const struct config_directive *directive, bool is_undo, void *arg,
                         sds *error) {
    struct changing *changing = arg;
    bool is_for_tls = directive->effect == EFFECT_TLS || directive->effect == EFFECT_LISTENERS;
    if (is_undo && is_for_tls) tls_watch_restore(changing->engine, &changing->tls);
    if (is_undo && directive->effect == EFFECT_TLS) return true;
    return apply(directive, changing->engine, error);
}

bool config_apply_changes(struct engine *engine, const struct config_change *changes, size_t count,
                          size_t *culprit, sds *error) {
    struct changing changing = {.engine = engine, .tls = tls_watch_save(engine)};
    bool is_done =
        config_change_all(&engine->config, changes, count, apply_change, &changing, culprit, error);
    tls_setup_free(&changing.tls);
    return is_done;
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
            *error = sds_append_format(sds_new(SLICE("")), "rename-command %.*s %.*s: %s",
                                       (int)from.len, from.ptr, (int)to.len, to.ptr, reason);
    }
    sds_free(text);
    return !reason;
}

bool config_apply_at_start(struct engine *engine, sds *error) {
    if (!rename_commands(engine, error)) return false;
    apply_log(&engine->config);
    if (!enter_dir(engine)) {
        *error = sds_append_format(sds_new(SLICE("")), "Can't chdir to '%s': %s",
                                   engine->config.dir, strerror(errno));
        return false;
    }
    if (!log_set_file(engine->config.logfile)) {
        *error = sds_append_format(sds_new(SLICE("")), "Can't open the log file %s: %s",
                                   engine->config.logfile, strerror(errno));
        return false;
    }
    if (engine->config.syslog_enabled)
        log_set_syslog(engine->config.syslog_ident, (int)engine->config.syslog_facility);
    sds why = NULL;
    if (!limits_raise_files(&engine->config.maxclients, &why)) log_warning("%s", why);
    sds_free(why);
    apply_value_limits(engine);
    oom_score_apply(engine); /* a refusal is logged there */
    process_title_set(engine);
    config_log_notes(&engine->config_source);
    return true;
}
