#include "replication/failover.h"

#include "base/log.h"
#include "engine/engine.h"
#include "replication/link.h"
#include "replication/replication.h"
#include "session/pause.h"

static struct failover *failover_of(const struct engine *engine) {
    return &engine->replication->failover;
}

/* Clients may go on: with their writes, or with -READONLY. */
static void end(struct engine *engine) {
    struct failover *failover = failover_of(engine);
    sds_free(failover->host);
    *failover = (struct failover){.state = FAILOVER_NONE};
    pause_end_writes(engine, PAUSE_FAILOVER);
}

void failover_begin(struct engine *engine, const struct failover_order *order) {
    struct failover *failover = failover_of(engine);
    *failover = (struct failover){.state = FAILOVER_WAITS,
                                  .is_forced = order->is_forced,
                                  .host = order->host.len ? sds_new(order->host) : NULL,
                                  .port = (int)order->port};
    if (order->timeout_ms &&
        __builtin_add_overflow(engine->steady_ms, order->timeout_ms, &failover->deadline_ms))
        failover->deadline_ms = 0;
    pause_start_writes(engine, PAUSE_FAILOVER);
    if (failover->host)
        log_notice("FAILOVER requested to %s:%d.", failover->host, failover->port);
    else
        log_notice("FAILOVER requested.");
}

void failover_abort(struct engine *engine, const char *why) {
    struct failover *failover = failover_of(engine);
    if (failover->state == FAILOVER_NONE) return;
    log_warning("Failover aborted while %s. %s", failover_state_name(failover), why);
    if (failover->state == FAILOVER_IN_PROGRESS) link_unfollow(engine);
    end(engine);
}

/* --- Each step --- */

static bool is_target(const struct failover *failover, const struct replica *replica) {
    return !failover->host || replica_is_at(replica, sds_slice(failover->host), failover->port);
}

/* Returns a replica that may take over and has all data; or NULL. */
static const struct replica *find_ready(const struct engine *engine) {
    const struct failover *failover = failover_of(engine);
    uint64_t offset = replication_offset(engine);
    for (const struct replica *replica = engine->replication->replicas.first; replica;
         replica = replica->next)
        if (replica->state == REPLICA_ONLINE && replica->has_acked && replica->ack == offset &&
            is_target(failover, replica))
            return replica;
    return NULL;
}

/* The server becomes a replica of the target. */
static void hand_over(struct engine *engine) {
    struct failover *failover = failover_of(engine);
    failover->state = FAILOVER_IN_PROGRESS;
    link_follow(engine, sds_slice(failover->host), failover->port);
}

static void end_in_time(struct engine *engine) {
    const struct failover *failover = failover_of(engine);
    if (!failover->is_forced) {
        failover_abort(engine, "Replica never caught up before timeout");
        return;
    }
    log_notice("Failover to %s:%d time out exceeded, failing over.", failover->host,
               failover->port);
    hand_over(engine);
}

static void wait_for_replica(struct engine *engine) {
    struct failover *failover = failover_of(engine);
    const struct replica *replica = find_ready(engine);
    if (replica) {
        if (!failover->host) {
            failover->host = sds_new(slice_of_cstr(replica_ip(replica)));
            failover->port = replica->listening_port;
        }
        log_notice("Failover target %s:%d is synced, failing over.", failover->host,
                   failover->port);
        hand_over(engine);
    } else if (failover->deadline_ms && engine->steady_ms >= failover->deadline_ms) {
        end_in_time(engine);
    }
}

void failover_step(struct engine *engine) {
    const struct failover *failover = failover_of(engine);
    if (engine->restrictions & RESTRICTED_BUSY) return; /* in the middle of a script */
    if (failover->state == FAILOVER_WAITS)
        wait_for_replica(engine);
    else if (failover->is_refused)
        failover_abort(engine, "Failover target rejected psync request");
}

void failover_note_answer(struct engine *engine, bool accepted) {
    struct failover *failover = failover_of(engine);
    if (accepted)
        end(engine);
    else
        failover->is_refused = true;
}

const char *failover_state_name(const struct failover *failover) {
    switch (failover->state) {
    case FAILOVER_NONE: return "no-failover";
    case FAILOVER_WAITS: return "waiting-for-sync";
    case FAILOVER_IN_PROGRESS: return "failover-in-progress";
    }
    return "";
}
