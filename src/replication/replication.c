#include "replication/replication.h"

#include "base/log.h"
#include "engine/engine.h"
#include "net/conn.h"
#include "net/wake.h"
#include "replication/link.h"
#include "session/clients.h"

enum { TICK_EVERY_MS = 1000 };

/* --- Memory --- */

size_t replication_memory(const struct engine *engine) {
    const struct backlog *backlog = engine->replication->backlog;
    return backlog ? backlog_allocated(backlog) + full_sync_allocated(engine) : 0;
}

size_t replication_payload_memory(const struct engine *engine) {
    const struct link *link = engine->replication->link;
    return link ? link_payload_memory(&link->payload) : 0;
}

/* What replicas that are behind need does not count for maxmemory, or each evicted key would lead
 * to the next. While there are replicas, nothing beyond the configured size of the backlog counts,
 * although it consists of whole blocks. */
static void note_memory(struct engine *engine) {
    const struct replica *replica = engine->replication->replicas.first;
    size_t keep = (size_t)engine->config.repl_backlog_size;
    if (!engine->replication->replicas.first) keep += 2 * sizeof(struct backlog_block);
    size_t backlog = backlog_allocated(engine->replication->backlog);
    engine->uncounted.replicas =
        (backlog > keep ? backlog - keep : 0) + full_sync_allocated(engine);
    for (; replica; replica = replica->next) /* what I/O threads have of it */
        engine->uncounted.replicas += conn_transport_allocated(conn_of_session(replica->session));
}

/* --- Each loop iteration --- */

static void send_getack(struct engine *engine) {
    engine->replication->replicas.wants_acks = false;
    const struct slice words[] = {SLICE("REPLCONF"), SLICE("GETACK"), SLICE("*")};
    replication_send(engine, words, 3);
}

static bool step(struct engine *engine) {
    struct replication *replication = engine->replication;
    bool more = false;
    replication_feed(engine);
    /* A replica that may take over has all of the stream: nothing may be added to it. */
    if (replication->replicas.wants_acks && !failover_is_running(&replication->failover))
        send_getack(engine);
    if (replication->replicas.first) {
        more = full_sync_step(engine);
        replicas_send(engine);
    }
    more |= backlog_trim(replication->backlog);
    note_memory(engine);
    return more;
}

bool replication_step(struct engine *engine) {
    if (engine->replication->failover.state != FAILOVER_NONE) failover_step(engine);
    return engine->replication->backlog && step(engine);
}

void replication_send_rest(struct engine *engine) {
    if (!engine->replication->backlog) return;
    replication_feed(engine);
    replicas_send(engine);
}

/* --- Each second --- */

/* Without replicas for that long, nobody is expected to continue; and the next history must not be
 * mistaken for this one, of which changes are then missing. */
static void close_unused_stream(struct engine *engine) {
    struct replication *replication = engine->replication;
    int64_t lifetime_ms = engine->config.repl_backlog_ttl * 1000;
    if (replication->replicas.first || replication->is_replica || lifetime_ms == 0) return;
    if (command_log_is_inside_unit(&engine->command_log)) return;
    if (engine->steady_ms - replication->replicas_left_ms <= lifetime_ms) return;
    replication_close_stream(engine);
    replication_draw_id(engine);
    log_notice("Replication backlog freed after %lld seconds without connected replicas.",
               (long long)engine->config.repl_backlog_ttl);
}

/* Returns whether the loop has polled all sockets since the last tick, so that a replica that was
 * not heard of is silent. While a script is busy, some connections are not served; and after a
 * callback that took long, timers fire before the sockets are polled. */
static bool sockets_were_polled(struct engine *engine) {
    struct replication *replication = engine->replication;
    if (engine->restrictions & RESTRICTED_BUSY) return false;
    int64_t since_ms = engine->steady_ms - replication->polled_ms;
    replication->polled_ms = engine->steady_ms;
    return since_ms <= 2 * TICK_EVERY_MS;
}

void replication_tick(struct engine *engine) {
    struct replication *replication = engine->replication;
    if (replication->failover.state != FAILOVER_NONE) failover_step(engine);
    if (!replication->backlog) return;
    if (engine->steady_ms - replication->second_ms < TICK_EVERY_MS) return;
    replication->second_ms = engine->steady_ms;
    int64_t ping_every_ms = engine->config.repl_ping_replica_period * 1000;
    if (replication->replicas.first && !engine->clients->pause.of_writes &&
        engine->steady_ms - replication->ping_ms >= ping_every_ms)
        replication_send_ping(engine);
    replicas_keep_alive(engine);
    if (sockets_were_polled(engine)) replicas_check_time(engine);
    close_unused_stream(engine);
}

void replication_configure(struct engine *engine) {
    struct replication *replication = engine->replication;
    if (replication->backlog) replication->backlog->keep = (size_t)engine->config.repl_backlog_size;
    replicas_count_good(engine);
}

/* --- Life --- */

/* Only makes the loop run: replication_step then looks for what has happened. */
static void on_wake(void *arg) {
    (void)arg;
}

void replication_start(struct engine *engine) {
    struct replication *replication = engine->replication;
    replication->engine = engine;
    replication->reader.kind = COMMAND_LOG_REPLICAS;
    engine->describe_history = replication_describe;
    reply_init(&replication->messages, 0);
    replication->sync.wake = net_wake_new(engine->net, on_wake, NULL);
    replication_draw_id(engine);
    replicas_count_good(engine);
}

void replication_stop(struct engine *engine) {
    sds_free(engine->replication->failover.host);
    replication_close_stream(engine);
}
