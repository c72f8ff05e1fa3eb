#include "server/cron.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "server/evict.h"
#include "server/expire.h"
#include "server/pause.h"
#include "server/server.h"
#include "server/server_clock.h"
#include "server/session_output.h"
#include "server/supervisor.h"
#include "server/targets.h"

enum { SAMPLE_EVERY_MS = 100, DECAY_EVERY_MS = 1000 };

static struct net_timer *timer;

/* Closes clients that have been silent for longer than `timeout`: those who neither send anything
 * nor read what is sent to them. Those that wait for a key have their own deadline, those that
 * listen to channels or monitor only wait for what comes, and those that are paused are not silent
 * by their own will. */
static void close_idle_sessions(void) {
    const uint32_t waiting =
        SESSION_BLOCKED | SESSION_PAUSED | SESSION_SUBSCRIBED | SESSION_MONITOR;
    if (server.config.timeout == 0) return;
    struct session *next;
    for (struct session *session = server.sessions.first; session; session = next) {
        next = session->next;
        if (conn_output_moved(conn_of_session(session))) session->active_ms = server.steady_ms;
        if (session->flags & waiting) continue;
        if (server.steady_ms - session->active_ms <= server.config.timeout * 1000) continue;
        log_verbose("Closing idle client id=%llu", (unsigned long long)session->id);
        session_close(session);
    }
}

/* A soft limit can be exceeded by time alone; what an unauthenticated client was sent at the end of
 * a loop iteration is only now known to be unread. */
static void check_output_limits(void) {
    struct session *next;
    for (struct session *session = server.sessions.first; session; session = next) {
        next = session->next;
        if (session->soft_limit_ms || session->flags & SESSION_NEEDS_AUTH)
            session_check_output(session);
    }
}

static void sample_rates(void) {
    struct stats *stats = &server.stats;
    if (server.steady_ms - stats->commands_rate.last_ms < SAMPLE_EVERY_MS) return;
    struct conn_totals totals = conn_totals(server.net);
    rate_sample(&stats->commands_rate, stats->commands, server.steady_ms);
    rate_sample(&stats->input_rate, totals.input_bytes, server.steady_ms);
    rate_sample(&stats->output_rate, totals.output_bytes, server.steady_ms);
    struct net_totals loop = net_totals(server.net);
    rate_sample(&stats->iterations_rate, loop.iterations, server.steady_ms);
    rate_sample(&stats->active_rate, clock_ticks_to_us(loop.active_ticks), server.steady_ms);
}

/* Gives pages that were freed a while ago back to the system, where no thread does. */
static void decay_memory(void) {
    static int64_t last_ms;
    if (server.config.jemalloc_bg_thread || server.steady_ms - last_ms < DECAY_EVERY_MS) return;
    last_ms = server.steady_ms;
    mem_decay();
}

static void tick(void *arg) {
    (void)arg;
    server_update_clock();
    if (server.pause_cron) return;
    pause_tick();
    sample_rates();
    size_t used = mem_used();
    if (used > server.stats.peak_memory) server.stats.peak_memory = used;
    decay_memory();
    close_idle_sessions();
    check_output_limits();
    targets_tick();
    supervisor_tick();
    if (server.refusing & REFUSING_LOADING) return;
    expire_tick();
    evict_tick();
    child_tick();
    save_tick();
    aof_tick();
}

void cron_start(void) {
    timer = net_timer_new(server.net, tick, NULL);
    cron_reschedule();
}

void cron_stop(void) {
    net_timer_free(timer);
    timer = NULL;
}

void cron_reschedule(void) {
    uint64_t period = 1000 / (uint64_t)server.config.hz;
    net_timer_start(timer, period, period);
}
