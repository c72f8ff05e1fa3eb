#include "replication/primary/failover.h"

#include "base/log/log.h"
#include "engine/engine.h"
#include "replication/history/history.h"
#include "replication/primary/replicas.h"
#include "session/pause.h"

#include <assert.h>

/* Clients may go on: with their writes, or with -READONLY. */
static void end(struct engine *engine) {
    struct failover *failover = engine->failover;
    sds_free(failover->host);
    *failover = (struct failover){.state = FAILOVER_NONE};
    pause_end_writes(engine, PAUSE_FAILOVER);
}

void failover_begin(struct engine *engine, const struct failover_order *order) {
    struct failover *failover = engine->failover;
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

enum failover_role failover_abort(struct engine *engine, const char *why) {
    assert(failover_is_running(engine));
    bool was_waiting = engine->failover->state == FAILOVER_WAITS;
    log_warning("Failover aborted while %s. %s", failover_state_name(engine->failover), why);
    end(engine);
    return was_waiting ? FAILOVER_ROLE_STAYS : FAILOVER_ROLE_PRIMARY;
}

/* --- Each step --- */

static bool is_target(const struct failover *failover, const struct replica *replica) {
    return !failover->host || replica_is_at(replica, sds_slice(failover->host), failover->port);
}

/* Returns a replica that may take over and has all data; or NULL. */
static const struct replica *find_ready(const struct engine *engine) {
    const struct failover *failover = engine->failover;
    uint64_t offset = history_offset(engine);
    for (const struct replica *replica = engine->replicas->first; replica; replica = replica->next)
        if (replica->state == REPLICA_ONLINE && replica->has_acked && replica->ack == offset &&
            is_target(failover, replica))
            return replica;
    return NULL;
}

static enum failover_role hand_over(struct failover *failover) {
    failover->state = FAILOVER_IN_PROGRESS;
    return FAILOVER_ROLE_REPLICA;
}

static enum failover_role end_in_time(struct engine *engine) {
    struct failover *failover = engine->failover;
    if (!failover->is_forced)
        return failover_abort(engine, "Replica never caught up before timeout");
    log_notice("Failover to %s:%d time out exceeded, failing over.", failover->host,
               failover->port);
    return hand_over(failover);
}

static enum failover_role wait_for_replica(struct engine *engine) {
    struct failover *failover = engine->failover;
    const struct replica *replica = find_ready(engine);
    if (!replica) {
        bool is_late = failover->deadline_ms && engine->steady_ms >= failover->deadline_ms;
        return is_late ? end_in_time(engine) : FAILOVER_ROLE_STAYS;
    }
    if (!failover->host) {
        failover->host = sds_new(slice_of_cstr(replica_ip(replica)));
        failover->port = replica->listening_port;
    }
    log_notice("Failover target %s:%d is synced, failing over.", failover->host, failover->port);
    return hand_over(failover);
}

enum failover_role failover_step(struct engine *engine) {
    const struct failover *failover = engine->failover;
    if (engine->restrictions & RESTRICTED_BUSY) return FAILOVER_ROLE_STAYS; /* inside a script */
    if (failover->state == FAILOVER_WAITS) return wait_for_replica(engine);
    if (failover->is_refused)
        return failover_abort(engine, "Failover target rejected psync request");
    return FAILOVER_ROLE_STAYS;
}

bool failover_is_running(const struct engine *engine) {
    return engine->failover->state != FAILOVER_NONE;
}

bool failover_asks(const struct engine *engine) {
    return engine->failover->state == FAILOVER_IN_PROGRESS;
}

void failover_note_answer(struct engine *engine, bool accepted) {
    struct failover *failover = engine->failover;
    if (accepted)
        end(engine);
    else
        failover->is_refused = true;
}

const char *failover_state_name(const struct failover *failover) {
    static const char *const names[] = {"no-failover", "waiting-for-sync", "failover-in-progress"};
    return names[failover->state];
}
