#include "server/parts.h"

#include "aof/aof.h"
#include "base/clock.h"
#include "base/memory/alloc.h"
#include "cluster/cluster_life.h"
#include "engine/blocking.h"
#include "engine/engine.h"
#include "engine/lazyfree.h"
#include "engine/own_expiry.h"
#include "engine/slow.h"
#include "engine/watch.h"
#include "engine/work.h"
#include "execute/blocking_serve.h"
#include "execute/flush.h"
#include "net/connections/conn.h"
#include "net/net.h"
#include "reclaim/defrag.h"
#include "reclaim/evict.h"
#include "reclaim/expire.h"
#include "replication/link/link.h"
#include "replication/primary/primary.h"
#include "replication/replication.h"
#include "requests/session_input.h"
#include "script/function_language.h"
#include "script/script_machine.h"
#include "script/script_run.h"
#include "server/migrate/migrate.h"
#include "server/process/affinity.h"
#include "server/process/crash_report.h"
#include "server/process/memory_return.h"
#include "server/process/oom_score.h"
#include "server/process/process_title.h"
#include "server/process/supervisor.h"
#include "server/server_run.h"
#include "server/settings/config_apply.h"
#include "server/settings/listeners.h"
#include "server/settings/tls_watch.h"
#include "server/settings/user_files.h"
#include "server/shutdown.h"
#include "session/client_limits.h"
#include "session/client_memory.h"
#include "session/clients.h"
#include "session/invalidate.h"
#include "session/monitor.h"
#include "session/outbox.h"
#include "session/pause.h"
#include "session/publish.h"
#include "snapshot/data_lock.h"
#include "snapshot/incremental.h"
#include "snapshot/save.h"
#include "stats/hotkeys.h"
#include "stats/latency.h"
#include "stats/slowlog.h"
#include "table/command.h"
#include "tracking/tracking.h"
#include "types/value.h"
#include "users/acl_log.h"
#include "users/users.h"

#include <assert.h>

enum { BRIEF_CAPACITY = 4 * 1024 };

/* What can fail has the name with try_; a part has one of start and try_start, and with an effect
 * one of configure and try_configure. */
struct part {
    void (*start)(struct engine *engine);
    bool (*try_start)(struct engine *engine, sds *error);
    void (*tick)(struct engine *engine);
    void (*tick_with_data)(struct engine *engine); /* not while data is loaded */
    enum config_effect effect;
    void (*configure)(struct engine *engine);
    bool (*try_configure)(struct engine *engine, sds *error);
    void (*stop)(struct engine *engine);
    void (*free)(struct engine *engine);
};

/* --- What the engine asks of modules above it --- */

static const struct upward upward = {
    .publish_event = publish_keyspace_event,
    .publish_fields = publish_field_event,
    .empty_keyspace = incremental_flush_keyspace,
    .keyspace_freed = flush_freed,
    .work_has_ended = blocking_work_has_ended,
    .redirect_waiters = blocking_redirect_all,
    .time_is_up = blocking_time_is_up,
    .output_max = client_limits_output_max,
    .apply_appendonly = aof_configure_late,
    .apply_role = replication_follow_directive,
    .script_flags = script_command_flags,
    .describe_history = replication_describe,
    .session_ends = session_retire,
    .primary_closed = link_session_closed,
};

static void start_upward(struct engine *engine) {
    engine->upward = &upward;
}

/* --- Parts whose functions know no engine, or that take several calls --- */

static void start_clock(struct engine *engine) {
    engine_update_clock(engine);
    engine->start_ms = engine->steady_ms;
    engine->ticks_per_ms = clock_us_to_ticks(1000);
}

static void start_random(struct engine *engine) {
    random_entropy(&engine->random, sizeof(engine->random));
    random_hex(engine->run_id, sizeof(engine->run_id) - 1);
}

static void free_configuration(struct engine *engine) {
    config_forget_users(&engine->config_source);
    sds_free(engine->config_source.path);
    sds_free(engine->config_source.acl_path);
    config_free(&engine->config);
}

static void start_stats(struct engine *engine) {
    size_t commands;
    command_all(&commands);
    engine->stats.by_command = mem_alloc_zeroed(commands * sizeof(*engine->stats.by_command));
}

/* For the rates in INFO. */
static void sample_counters(struct engine *engine) {
    enum { SAMPLE_EVERY_MS = 100 };
    struct stats *stats = &engine->stats;
    if (engine->steady_ms - stats->commands_rate.last_ms < SAMPLE_EVERY_MS) return;
    struct conn_totals totals = conn_totals(engine->net);
    rate_sample(&stats->commands_rate, stats->commands, engine->steady_ms);
    rate_sample(&stats->input_rate, totals.input_bytes, engine->steady_ms);
    rate_sample(&stats->output_rate, totals.output_bytes, engine->steady_ms);
    rate_sample(&stats->primary_input_rate, conn_totals_of(engine->net, CONN_PRIMARY).input_bytes,
                engine->steady_ms);
    rate_sample(&stats->replica_output_rate, conn_totals_of(engine->net, CONN_REPLICA).output_bytes,
                engine->steady_ms);
    struct net_totals loop = net_totals(engine->net);
    rate_sample(&stats->iterations_rate, loop.iterations, engine->steady_ms);
    rate_sample(&stats->active_rate, clock_ticks_to_us(loop.active_ticks), engine->steady_ms);
}

static void tick_stats(struct engine *engine) {
    sample_counters(engine);
    stats_note_memory(&engine->stats, mem_used(), engine->now_ms / 1000);
}

static void free_stats(struct engine *engine) {
    stats_free(&engine->stats);
    hotkeys_reset(engine->hotkeys);
    for (int kind = 0; kind < SLOWLOG_KINDS; kind++) slowlog_reset(&engine->slowlogs[kind]);
    latency_forget_all(engine->latency);
}

static void start_command_log(struct engine *engine) {
    command_log_init(&engine->command_log);
    engine->reply_gate =
        (struct reply_gate){.log = &engine->command_log, .released = REPLY_GATE_OPEN};
}

static void free_command_log(struct engine *engine) {
    command_log_free(&engine->command_log);
}

static bool start_net(struct engine *engine, sds *error) {
    const char *reason;
    assert(!engine->net);
    engine->net = net_new(&reason);
    if (!engine->net) *error = sds_new(slice_of_cstr(reason));
    return engine->net;
}

static void stop_net(struct engine *engine) {
    net_free(engine->net);
}

static void start_keyspaces(struct engine *engine) {
    const struct config *config = &engine->config;
    engine->databases =
        (int)(config->cluster_enabled ? config->cluster_databases : config->databases);
    size_t count = (size_t)engine->databases;
    engine->keyspaces = mem_alloc(count * sizeof(*engine->keyspaces));
    for (size_t i = 0; i < count; i++)
        engine->keyspaces[i] = config->cluster_enabled
                                   ? keyspace_new_by_slot(value_free, value_length)
                                   : keyspace_new(value_free, value_length);
}

static void free_keyspaces(struct engine *engine) {
    flush_forget_all(engine);
    for (int i = 0; i < engine->databases; i++) keyspace_free(engine->keyspaces[i]);
    mem_free(engine->keyspaces);
}

static void configure_channels(struct engine *engine) {
    engine->users->all_channels = engine->config.acl_pubsub_default;
}

static void free_users(struct engine *engine) {
    acl_log_reset(engine->acl_log);
    users_free(engine->users);
}

static void tick_tracking(struct engine *engine) {
    tracking_tick(engine->tracking);
}

static void stop_tracking(struct engine *engine) {
    tracking_free(engine->tracking);
}

static void start_watches(struct engine *engine) {
    watch_init(engine->watches, engine->databases);
}

static void stop_watches(struct engine *engine) {
    watch_free(engine->watches);
}

static void start_clients(struct engine *engine) {
    struct clients *clients = engine->clients;
    clients->engine = engine;
    resp_parser_init(&clients->parser);
    outbox_init(&clients->reading, OUTBOX_FIRST_CAPACITY, clients);
    outbox_init(&clients->brief, BRIEF_CAPACITY, clients);
    reply_init(&clients->values, 0);
    clients->replies.end_capture = outbox_end_capture;
    clients->outbox = &clients->reading;
    session_list_init(&clients->sessions);
    pubsub_init(&clients->pubsub);
}

static void tick_clients(struct engine *engine) {
    pause_tick(engine);
    client_limits_sweep(engine);
}

static void stop_clients(struct engine *engine) {
    struct clients *clients = engine->clients;
    while (clients->sessions.first) session_close(clients->sessions.first);
    session_list_free(&clients->sessions);
    monitor_free(&clients->monitors);
}

static void free_clients(struct engine *engine) {
    struct clients *clients = engine->clients;
    resp_parser_free(&clients->parser);
    outbox_free(&clients->reading);
    outbox_free(&clients->brief);
    reply_free(&clients->values);
    pubsub_free(&clients->pubsub);
    for (int i = 0; i < 2; i++) reply_free(&clients->frames[i]);
}

/* While data is loaded, only those parts tick that do not need it; none after one has ended the
 * server. */
static void tick_all(struct engine *engine);

static void tick(void *arg) {
    struct engine *engine = arg;
    engine_update_clock(engine);
    if (!engine->cron->is_paused) tick_all(engine);
}

static void configure_cron(struct engine *engine) {
    uint64_t period = 1000 / (uint64_t)engine->config.hz;
    net_timer_start(engine->cron->timer, period, period);
}

static void start_cron(struct engine *engine) {
    engine->cron->timer = net_timer_new(engine->net, tick, engine);
    configure_cron(engine);
}

static void stop_cron(struct engine *engine) {
    net_timer_free(engine->cron->timer);
}

static void note_startup_memory(struct engine *engine) {
    engine->startup_memory = mem_used();
}

/* --- The table --- */

static const struct part parts[] = {
    {.start = start_upward},
    {.start = start_clock},
    {.start = start_random},
    {.free = free_configuration},
    {.effect = EFFECT_LOG, .configure = config_apply_log},
    {.effect = EFFECT_DIR, .try_configure = config_apply_dir},
    {.effect = EFFECT_TITLE, .configure = process_title_set},
    {.effect = EFFECT_CRASH_LOG, .configure = crash_report_configure},
    {.effect = EFFECT_MAXCLIENTS, .try_configure = config_apply_maxclients},
    {.tick = oom_score_tick, .effect = EFFECT_OOM_SCORE, .try_configure = config_apply_oom_score},
    {.start = start_stats, .tick = tick_stats, .free = free_stats},
    {.start = slow_configure, .effect = EFFECT_SLOW, .configure = slow_configure},
    {.start = start_command_log, .free = free_command_log},
    {.try_start = start_net, .stop = stop_net},
    {.start = affinity_start},
    {.start = memory_return_configure,
     .tick = memory_return_tick,
     .effect = EFFECT_MEMORY_THREAD,
     .configure = memory_return_configure},

    /* The data, and what works on it. */
    {.effect = EFFECT_VALUE_LIMITS, .configure = config_apply_value_limits},
    {.start = start_keyspaces, .free = free_keyspaces},
    {.start = works_start, .free = works_free},
    {.start = lazyfree_start, .stop = lazyfree_stop, .free = lazyfree_free},
    {.start = script_machine_start,
     .effect = EFFECT_LUA_MEMORY,
     .configure = script_machine_apply_limit,
     .stop = script_machine_stop},
    {.start = function_language_start, .stop = function_language_stop},
    {.try_start = user_files_start,
     .effect = EFFECT_PASSWORD,
     .configure = config_apply_password,
     .free = free_users},
    {.effect = EFFECT_PUBSUB_DEFAULT, .configure = configure_channels},
    {.stop = own_expiry_forget_all},
    {.tick = migrate_tick, .stop = migrate_close_kept},
    {.start = invalidate_init,
     .tick = tick_tracking,
     .effect = EFFECT_TRACKING,
     .configure = invalidate_configure,
     .stop = stop_tracking},
    {.start = start_watches, .stop = stop_watches},
    {.start = blocking_start, .stop = blocking_stop, .free = blocking_free},

    /* What leaves the process. The tick of an end that waits comes first: that of the append-only
     * file would begin another attempt of the rewrite whose failure the end has waited for. */
    {.tick = shutdown_try_pending},
    {.try_start = data_lock_at_start},
    {.try_start = cluster_start,
     .effect = EFFECT_CLUSTER,
     .configure = cluster_configure,
     .free = cluster_end},
    {.stop = incremental_end_all},
    {.start = primary_start,
     .tick = replication_tick,
     .effect = EFFECT_REPLICATION,
     .configure = primary_configure,
     .stop = primary_stop},
    {.start = save_start,
     .tick_with_data = save_tick,
     .effect = EFFECT_SAVE,
     .try_configure = config_apply_save,
     .free = save_stop},
    {.start = aof_init,
     .tick_with_data = aof_tick,
     .effect = EFFECT_APPENDONLY,
     .try_configure = config_apply_appendonly,
     .stop = aof_stop,
     .free = aof_free},

    /* Clients, and the primary as one of them. */
    {.start = start_clients, .tick = tick_clients, .stop = stop_clients, .free = free_clients},
    {.effect = EFFECT_MAXMEMORY_CLIENTS, .configure = client_memory_note_all},
    {.start = replication_take_role,
     .effect = EFFECT_REPLICA,
     .configure = link_restrict,
     .stop = replication_stop},

    /* What deletes and moves data by itself. */
    {.start = expire_start, .tick_with_data = expire_tick, .stop = expire_stop},
    {.try_start = config_apply_maxmemory_rss,
     .tick_with_data = evict_tick,
     .effect = EFFECT_MAXMEMORY_RSS,
     .try_configure = config_apply_maxmemory_rss},
    {.effect = EFFECT_MAXMEMORY, .configure = config_apply_maxmemory},
    {.effect = EFFECT_EVICTION, .configure = evict_configure},
    {.start = defrag_start,
     .tick_with_data = defrag_tick,
     .effect = EFFECT_DEFRAG,
     .try_configure = config_apply_defrag,
     .stop = defrag_stop},

    /* From here on the server can be reached. */
    {.try_start = server_enter_loop},
    {.tick = tls_watch_tick,
     .effect = EFFECT_TLS,
     .try_configure = config_apply_tls,
     .stop = tls_watch_stop},
    {.try_start = listeners_open,
     .effect = EFFECT_LISTENERS,
     .try_configure = config_apply_listeners,
     .stop = listeners_close},
    {.try_start = config_apply_io_threads,
     .effect = EFFECT_IO_THREADS,
     .try_configure = config_apply_io_threads},
    {.start = supervisor_watchdog_start, .tick = supervisor_tick},
    {.start = start_cron, .effect = EFFECT_TIMER, .configure = configure_cron, .stop = stop_cron},
    {.start = note_startup_memory},
};

enum { PARTS = sizeof(parts) / sizeof(*parts) };

/* --- Their life --- */

static bool each_effect_has_one_part(void) {
    unsigned found[EFFECT_COUNT] = {0};
    for (size_t i = 0; i < PARTS; i++)
        found[parts[i].effect] += !!parts[i].configure + !!parts[i].try_configure;
    for (size_t effect = EFFECT_NONE + 1; effect < EFFECT_COUNT; effect++)
        if (found[effect] != 1) return false;
    return true;
}

bool parts_start(struct engine *engine, sds *error) {
    assert(each_effect_has_one_part());
    for (size_t i = 0; i < PARTS; i++) {
        if (parts[i].start) parts[i].start(engine);
        if (parts[i].try_start && !parts[i].try_start(engine, error)) return false;
    }
    return true;
}

static void tick_all(struct engine *engine) {
    bool has_data = !(engine->restrictions & RESTRICTED_LOADING);
    for (size_t i = 0; i < PARTS && !engine->shutting_down; i++) {
        if (parts[i].tick) parts[i].tick(engine);
        if (parts[i].tick_with_data && has_data) parts[i].tick_with_data(engine);
    }
}

bool parts_configure(struct engine *engine, enum config_effect effect, sds *error) {
    for (size_t i = 0; i < PARTS; i++) {
        if (parts[i].effect != effect) continue;
        if (parts[i].configure) parts[i].configure(engine);
        return !parts[i].try_configure || parts[i].try_configure(engine, error);
    }
    return true;
}

void parts_stop(struct engine *engine) {
    for (size_t i = PARTS; i-- > 0;)
        if (parts[i].stop) parts[i].stop(engine);
}

void parts_free(struct engine *engine) {
    for (size_t i = PARTS; i-- > 0;)
        if (parts[i].free) parts[i].free(engine);
}
