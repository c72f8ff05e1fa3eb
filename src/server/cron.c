#include "server/cron.h"

#include "aof/aof.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "engine/engine.h"
#include "engine/engine_clock.h"
#include "net/net.h"
#include "net/pool.h"
#include "reclaim/defrag.h"
#include "reclaim/evict.h"
#include "reclaim/expire.h"
#include "replication/replication.h"
#include "server/migrate.h"
#include "server/os_oom_score.h"
#include "server/shutdown.h"
#include "server/supervisor.h"
#include "server/tls_watch.h"
#include "session/client_limits.h"
#include "session/clients.h"
#include "session/pause.h"
#include "session/session.h"
#include "snapshot/save.h"
#include "tracking/tracking.h"

enum { SAMPLE_EVERY_MS = 100, DECAY_EVERY_MS = 1000 };

/* Closes clients that have neither sent nor received anything for longer than `timeout`. Exempt are
 * clients that wait for a key, which have a deadline of their own; those that listen to channels or
 * monitor, which only wait for messages; replicas, which have limits of their own; the primary; and
 * those that are paused, which cannot help it. */
static void close_idle_sessions(struct engine *engine) {
    const uint32_t waiting =
        SESSION_BLOCKED | SESSION_PAUSED | SESSION_SUBSCRIBED | SESSION_MONITOR | SESSION_PRIMARY;
    if (engine->config.timeout == 0) return;
    struct session *next;
    for (struct session *session = engine->clients->sessions.first; session; session = next) {
        next = session->next;
        if (session->flags & SESSION_REPLICA) continue;
        if (conn_output_moved(conn_of_session(session))) session->active_ms = engine->steady_ms;
        if (session->flags & waiting) continue;
        if (engine->steady_ms - session->active_ms <= engine->config.timeout * 1000) continue;
        log_verbose("Closing idle client id=%llu", (unsigned long long)session->id);
        session_close(session);
    }
}

/* A soft limit can be exceeded by time alone. Whether an unauthenticated client has read the output
 * of the last loop iteration is known only now. */
static void check_output_limits(struct engine *engine) {
    struct session *next;
    for (struct session *session = engine->clients->sessions.first; session; session = next) {
        next = session->next;
        if (session->soft_limit_ms || session->flags & SESSION_NEEDS_AUTH)
            client_limits_check_output(session);
    }
}

static void sample_rates(struct engine *engine) {
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

static void return_large(void *arg) {
    (void)arg;
    mem_return_large();
}

static void returned_large(void *arg) {
    struct cron *cron = arg;
    cron->is_returning = false;
}

/* Returns pages that were freed a while ago to the system. With jemalloc-bg-thread, the allocator's
 * thread returns all but those of large blocks, and a thread of the pool those. */
static void decay_memory(struct engine *engine) {
    struct cron *cron = engine->cron;
    if (engine->steady_ms - cron->decayed_ms < DECAY_EVERY_MS || cron->is_returning) return;
    cron->decayed_ms = engine->steady_ms;
    if (!engine->config.jemalloc_bg_thread) {
        mem_decay();
    } else if (mem_has_freed_large()) {
        cron->is_returning = true;
        net_pool_run(engine->net, return_large, returned_large, cron);
    }
}

static void tick(void *arg) {
    struct engine *engine = arg;
    engine_update_clock(engine);
    if (engine->cron->is_paused) return;
    pause_tick(engine);
    sample_rates(engine);
    stats_note_memory(&engine->stats, mem_used(), engine->now_ms / 1000);
    decay_memory(engine);
    close_idle_sessions(engine);
    check_output_limits(engine);
    migrate_tick(engine);
    replication_tick(engine);
    supervisor_tick(engine);
    oom_score_tick(engine);
    tls_watch_tick(engine);
    tracking_tick(engine->tracking);
    shutdown_try_pending(engine);
    if (engine->restrictions & RESTRICTED_LOADING) return;
    expire_tick(engine);
    evict_tick(engine);
    defrag_tick(engine);
    save_tick(engine);
    aof_tick(engine);
}

void cron_start(struct engine *engine) {
    engine->cron->timer = net_timer_new(engine->net, tick, engine);
    cron_reschedule(engine);
}

void cron_reschedule(struct engine *engine) {
    uint64_t period = 1000 / (uint64_t)engine->config.hz;
    net_timer_start(engine->cron->timer, period, period);
}
