#include "replication/primary/primary.h"

#include "base/log/log.h"
#include "engine/engine.h"
#include "net/connections/conn.h"
#include "net/loop/wake.h"
#include "replication/history/history.h"
#include "replication/primary/failover.h"
#include "replication/primary/full_sync.h"
#include "replication/primary/replicas.h"
#include "session/client_limits.h"
#include "session/clients.h"
#include "session/outbox.h"
#include "session/session.h"

enum { TICK_EVERY_MS = 1000 };

void primary_end_session(struct session *session) {
    if (!session->replica) return;
    full_sync_release(session->requester.engine, session->replica);
    replica_leave(session);
}

/* --- Sending --- */

/* A replica that only wants the payload is done when all of it is sent. */
static void end_payload(struct engine *engine, struct replica *replica, bool marked) {
    struct session *session = replica->session;
    char name[REPLICA_NAME_MAX];
    if (!replica->only_payload) {
        full_sync_release(engine, replica);
        replica_go_online(replica, marked);
        replica_name(replica, name);
        if (marked)
            log_notice("Streamed RDB transfer with replica %s succeeded (socket). Waiting for "
                       "REPLCONF ACK from replica to enable streaming",
                       name);
        else
            log_notice("Synchronization with replica %s succeeded", name);
    } else if (conn_pending_output(conn_of_session(session)) == 0) {
        session_close_when_sent(session);
    }
}

static void send_payload(struct engine *engine, struct replica *replica) {
    bool marked;
    uint64_t given = replica->bulk.given;
    if (outflow_move(&replica->bulk, conn_of_session(replica->session)))
        replica->progress_ms = engine->steady_ms;
    /* The socket may take all of it at the end of this iteration, and then no event follows. */
    if (replica->bulk.given != given) net_wake(engine->full_sync->wake);
    if (full_sync_is_sent(replica, &marked)) end_payload(engine, replica, marked);
}

static void send_all(struct engine *engine) {
    struct replica *next;
    for (struct replica *replica = engine->replicas->first; replica; replica = next) {
        next = replica->next;
        struct session *session = replica->session;
        if (session->flags & SESSION_CLOSING) continue;
        if (replica->state == REPLICA_LOADS) send_payload(engine, replica);
        if (!session->replica) continue; /* it has left */
        if (replica->state == REPLICA_ONLINE && !replica->awaits_ack)
            outflow_move(&replica->stream, conn_of_session(session));
        if (!client_limits_check_replica(session, outflow_left(&replica->stream)))
            session_close(session);
    }
}

void primary_send_rest(struct engine *engine) {
    if (!engine->history->backlog) return;
    history_feed(engine);
    send_all(engine);
}

/* --- Each loop iteration --- */

size_t primary_memory(const struct engine *engine) {
    const struct backlog *backlog = engine->history->backlog;
    return backlog ? backlog_allocated(backlog) + full_sync_allocated(engine) : 0;
}

/* What replicas that are behind need does not count for maxmemory, or each evicted key would lead
 * to the next. While there are replicas, nothing beyond the configured size of the backlog counts,
 * although it consists of whole blocks. */
static void note_memory(struct engine *engine) {
    const struct replica *replica = engine->replicas->first;
    size_t keep = (size_t)engine->config.repl_backlog_size;
    if (!replica) keep += 2 * sizeof(struct backlog_block);
    size_t backlog = backlog_allocated(engine->history->backlog);
    engine->uncounted.replicas =
        (backlog > keep ? backlog - keep : 0) + full_sync_allocated(engine);
    for (; replica; replica = replica->next) /* what I/O threads have of it */
        engine->uncounted.replicas += conn_transport_allocated(conn_of_session(replica->session));
}

static void send_getack(struct engine *engine) {
    engine->replicas->wants_acks = false;
    const struct slice words[] = {SLICE("REPLCONF"), SLICE("GETACK"), SLICE("*")};
    history_append(engine, words, 3);
}

bool primary_step(struct engine *engine) {
    bool more = false;
    history_feed(engine);
    /* A replica that may take over has all of the stream: nothing may be added to it. */
    if (engine->replicas->wants_acks && !failover_is_running(engine)) send_getack(engine);
    if (engine->replicas->first) {
        more = full_sync_step(engine);
        send_all(engine);
    }
    more |= backlog_trim(engine->history->backlog);
    note_memory(engine);
    return more;
}

/* --- Each second --- */

static void cut_off(struct replica *replica, const char *when) {
    char name[REPLICA_NAME_MAX];
    log_warning("Disconnecting timedout replica (%s): %s", when, replica_name(replica, name));
    session_close(replica->session);
}

/* Returns whether a replica that is sent a payload has stopped taking it. */
static bool is_stalled(const struct engine *engine, const struct replica *replica) {
    return conn_output_referred(conn_of_session(replica->session)) > 0 &&
           engine->steady_ms - replica->progress_ms > engine->config.repl_timeout * 1000;
}

static void check_time(struct engine *engine, struct replica *replica) {
    int64_t silent_ms = engine->steady_ms - replica_heard_ms(replica);
    if (replica->state == REPLICA_LOADS && is_stalled(engine, replica))
        cut_off(replica, "full sync");
    else if (replica->state == REPLICA_ONLINE && !replica->is_silent &&
             silent_ms > engine->config.repl_timeout * 1000)
        cut_off(replica, "streaming sync");
}

/* Shows replicas that wait that this server lives, and cuts off those that do not, if
 * `were_polled`. */
static void look_after_replicas(struct engine *engine, bool were_polled) {
    struct replica *next;
    for (struct replica *replica = engine->replicas->first; replica; replica = next) {
        next = replica->next; /* sending may close the session */
        if (replica->state == REPLICA_WAITS || replica->state == REPLICA_WAITS_FILE)
            outbox_send(replica->session, SLICE("\n"));
        else if (were_polled)
            check_time(engine, replica);
    }
    if (were_polled) replicas_count_good(engine);
}

/* Without replicas for that long, nobody is expected to continue; and the next history must not be
 * mistaken for this one, of which changes are then missing. */
static void close_unused_stream(struct engine *engine) {
    int64_t lifetime_ms = engine->config.repl_backlog_ttl * 1000;
    if (engine->replicas->first || engine->is_replica || lifetime_ms == 0) return;
    if (command_log_is_inside_unit(&engine->command_log)) return;
    if (engine->steady_ms - engine->history->unused_ms <= lifetime_ms) return;
    history_close_stream(engine);
    history_draw_id(engine);
    log_notice("Replication backlog freed after %lld seconds without connected replicas.",
               (long long)engine->config.repl_backlog_ttl);
}

/* Returns whether the loop has polled all sockets since the last tick, so that a replica that was
 * not heard of is silent. While a script is busy, some connections are not served; and after a
 * callback that took long, timers fire before the sockets are polled. */
static bool sockets_were_polled(struct engine *engine) {
    struct replicas *replicas = engine->replicas;
    if (engine->restrictions & RESTRICTED_BUSY) return false;
    int64_t since_ms = engine->steady_ms - replicas->polled_ms;
    replicas->polled_ms = engine->steady_ms;
    return since_ms <= 2 * TICK_EVERY_MS;
}

void primary_tick(struct engine *engine) {
    struct replicas *replicas = engine->replicas;
    if (!engine->history->backlog) return;
    if (engine->steady_ms - replicas->second_ms < TICK_EVERY_MS) return;
    replicas->second_ms = engine->steady_ms;
    int64_t ping_every_ms = engine->config.repl_ping_replica_period * 1000;
    if (replicas->first && !engine->clients->pause.of_writes &&
        engine->steady_ms - engine->history->ping_ms >= ping_every_ms)
        history_append_ping(engine);
    look_after_replicas(engine, sockets_were_polled(engine));
    close_unused_stream(engine);
}

/* --- Life --- */

void primary_configure(struct engine *engine) {
    struct backlog *backlog = engine->history->backlog;
    if (backlog) backlog->keep = (size_t)engine->config.repl_backlog_size;
    replicas_count_good(engine);
}

/* Only makes the loop run: primary_step then looks for what has happened. */
static void on_wake(void *arg) {
    (void)arg;
}

void primary_start(struct engine *engine) {
    engine->full_sync->wake = net_wake_new(engine->net, on_wake, NULL);
    history_start(engine);
    replicas_count_good(engine);
}

void primary_stop(struct engine *engine) {
    sds_free(engine->failover->host);
    history_close_stream(engine);
}
