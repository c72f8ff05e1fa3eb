/* server: makes, runs and frees the state of the process. */
#include "engine/engine.h"
#include "engine/watch.h"
#include "net/nested_poll.h"
#include "net/net.h"
#include "resp/parser.h"
#include "resp/reply.h"
#include "server/user_files.h"
#include "session/clients.h"
#include "session/invalidate.h"
#include "stats/hotkeys.h"
#include "stats/latency.h"
#include "stats/slowlog.h"
#include "table/command.h"

#include "aof/aof.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "engine/blocking.h"
#include "engine/call.h"
#include "engine/engine_clock.h"
#include "engine/functions.h"
#include "engine/lazyfree.h"
#include "engine/own_expiry.h"
#include "engine/slow.h"
#include "execute/blocking_serve.h"
#include "execute/flush.h"
#include "reclaim/defrag.h"
#include "reclaim/evict.h"
#include "reclaim/evict_clients.h"
#include "reclaim/expire.h"
#include "replication/link.h"
#include "replication/replication.h"
#include "requests/session_input.h"
#include "script/script.h"
#include "server/config_apply.h"
#include "server/cron.h"
#include "server/endpoints.h"
#include "server/migrate.h"
#include "server/os_affinity.h"
#include "server/server_run.h"
#include "server/shutdown.h"
#include "server/supervisor.h"
#include "server/tls_watch.h"
#include "session/outbox.h"
#include "session/publish.h"
#include "snapshot/data_lock.h"
#include "snapshot/incremental.h"
#include "snapshot/save.h"
#include "tracking/tracking.h"
#include "types/value.h"
#include "users/acl_log.h"
#include "users/users.h"

#include <assert.h>
#include <signal.h>

enum { BRIEF_CAPACITY = 4 * 1024 };

void server_release_replies(struct engine *engine) {
    aof_flush(engine);
    if (engine->reply_gate.denies) session_cut_off_denied(engine);
}

/* For clients that track keys: does a step of the work that is left, and tells them what has
 * changed. Returns whether it is to be called again soon. */
static __attribute__((noinline)) bool serve_trackers(struct engine *engine) {
    bool more = tracking_step(engine->tracking);
    invalidate_tell_changes(engine);
    return more;
}

/* Keys that clients wait for have expired, or were evicted, without a command. */
static __attribute__((noinline)) void serve_waiting(struct engine *engine) {
    engine_update_clock(engine);
    blocking_serve(engine, engine->blocking);
}

/* Continues background work that a timer has begun, one step per loop iteration, and resumes
 * sessions until none is left. Returns whether the loop may sleep: true when all work is done. */
static bool end_iteration(void *arg) {
    struct engine *engine = arg;
    bool more = expire_step(engine);
    more |= evict_step(engine);
    more |= incremental_step(engine);
    more |= watch_step(engine->watches);
    if (blocking_has_ready(engine->blocking) && !engine->shutting_down) serve_waiting(engine);
    session_resume_all(engine);
    if (engine->config.maxmemory_clients) more |= evict_clients(engine);
    if (!tracking_is_idle(engine->tracking)) more |= serve_trackers(engine);
    server_release_replies(engine);
    more |= replication_step(engine);
    more |= blocking_wake_synced(engine->blocking);
    shutdown_step(engine);
    return more;
}

/* A script is busy: replicas get what was changed before it, and PINGs. */
static void keep_replicas_alive(void *arg) {
    struct engine *engine = arg;
    engine_update_clock(engine);
    replication_tick(engine);
    replication_send_rest(engine);
}

static void on_signal(int signum, void *arg) {
    shutdown_by_signal(arg, signum);
}

static void make_keyspaces(struct engine *engine) {
    size_t count = (size_t)engine->config.databases;
    engine->keyspaces = mem_alloc(count * sizeof(*engine->keyspaces));
    for (size_t i = 0; i < count; i++)
        engine->keyspaces[i] = keyspace_new(value_free, value_length);
}

static bool fail(sds *error, const char *text) {
    *error = sds_new(slice_of_cstr(text));
    return false;
}

bool server_start(struct engine *engine, sds *error) {
    const char *reason;
    assert(!engine->net);
    engine_update_clock(engine);
    engine->start_ms = engine->steady_ms;
    engine->ticks_per_ms = clock_us_to_ticks(1000);
    random_entropy(&engine->random, sizeof(engine->random));
    random_hex(engine->run_id, sizeof(engine->run_id) - 1);
    size_t commands;
    command_all(&commands);
    engine->stats.by_command = mem_alloc_zeroed(commands * sizeof(*engine->stats.by_command));
    engine->clients->engine = engine;
    resp_parser_init(&engine->clients->parser);
    outbox_init(&engine->clients->reading, OUTBOX_FIRST_CAPACITY, true);
    outbox_init(&engine->clients->brief, BRIEF_CAPACITY, false);
    engine->clients->outbox = &engine->clients->reading;
    command_log_init(&engine->command_log);
    engine->reply_gate =
        (struct reply_gate){.log = &engine->command_log, .released = REPLY_GATE_OPEN};
    engine->net = net_new(&reason);
    if (!engine->net) return fail(error, reason);
    affinity_start(engine);
    replication_start(engine);
    link_prepare(engine);
    make_keyspaces(engine);
    functions_init(engine->functions);
    if (!user_files_start(engine, error)) return false;
    engine->publish_event = publish_keyspace_event;
    engine->publish_fields = publish_field_event;
    engine->lazyfree = lazyfree_new(engine->net, engine, flush_freed);
    engine->empty_keyspace = incremental_flush_keyspace;
    session_list_init(&engine->clients->sessions);
    engine->clients->retire_session = session_retire;
    expire_start(engine, (int)engine->config.databases);
    defrag_start(engine);
    if (!config_apply_maxmemory_rss(engine, error)) return false;
    evict_configure(engine);
    slow_configure(engine);
    engine->blocking = blocking_new(engine, (int)engine->config.databases, blocking_time_is_up);
    engine->scripts = scripts_new(engine);
    watches_init(engine->watches, (int)engine->config.databases);
    invalidate_init(engine);
    pubsub_init(&engine->clients->pubsub);
    if (!data_lock_at_start(engine, error)) return false;
    save_start(engine);
    aof_init(engine);
    net_on_before_poll(engine->net, end_iteration, engine);
    nested_poll_on_step(engine->net, keep_replicas_alive, engine);
    if (!net_on_signal(engine->net, SIGTERM, on_signal, engine) ||
        !net_on_signal(engine->net, SIGINT, on_signal, engine))
        return fail(error, "cannot watch for signals");
    sigaction(SIGHUP, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    sigaction(SIGUSR2, &(struct sigaction){.sa_handler = SIG_IGN}, NULL); /* it would end us */
    /* Writing beyond the limit of a file's size returns an error then. */
    sigaction(SIGXFSZ, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    if (!listeners_open(engine, error) || !config_apply_io_threads(engine, error)) return false;
    config_apply_memory_thread(engine);
    cron_start(engine);
    supervisor_watchdog_start(engine);
    engine->startup_memory = mem_used();
    return true;
}

/* The loop also ends when data from the primary must be loaded, which no callback can do. */
void server_run(struct engine *engine) {
    net_run(engine->net);
    while (!engine->shutting_down) {
        link_work(engine);
        if (!engine->shutting_down) net_run(engine->net);
    }
}

void server_stop(struct engine *engine) {
    listeners_close(engine);
    tls_watch_stop(engine);
    net_timer_free(engine->cron->timer);
    expire_stop(engine);
    defrag_stop(engine);
    link_stop(engine);
    while (engine->clients->sessions.first) session_close(engine->clients->sessions.first);
    aof_stop(engine);
    replication_stop(engine);
    incremental_end_all(engine);
    session_list_free(&engine->clients->sessions);
    blocking_stop(engine->blocking);
    watches_free(engine->watches);
    tracking_free(engine->tracking);
    monitors_free(&engine->clients->monitors);
    migrate_close_kept(engine->migrate_kept);
    own_expiry_forget_all(engine);
    functions_free(engine->functions);
    scripts_free(engine->scripts);
    lazyfree_stop(engine->lazyfree);
    net_free(engine->net);
}

void server_free(struct engine *engine) {
    lazyfree_free(engine->lazyfree);
    mem_free(engine->blocking);
    flush_forget_all(engine);
    for (int64_t i = 0; i < engine->config.databases; i++) keyspace_free(engine->keyspaces[i]);
    mem_free(engine->keyspaces);
    save_stop(engine);
    acl_log_reset(engine->acl_log);
    users_free(engine->users);
    aof_free(engine);
    stats_free(&engine->stats);
    hotkeys_reset(engine->hotkeys);
    for (int kind = 0; kind < SLOWLOG_KINDS; kind++) slowlog_reset(&engine->slowlogs[kind]);
    latency_forget_all(engine->latency);
    resp_parser_free(&engine->clients->parser);
    outbox_free(&engine->clients->reading);
    outbox_free(&engine->clients->brief);
    for (int i = 0; i < 2; i++) reply_free(&engine->clients->frames[i]);
    command_log_free(&engine->command_log);
    config_forget_users(&engine->config_source);
    sds_free(engine->config_source.path);
    sds_free(engine->config_source.acl_path);
    config_free(&engine->config);
}
