#include "replication/replication.h"

#include "engine/engine.h"
#include "persist/rdb_file.h"
#include "replication/history/history.h"
#include "replication/link.h"
#include "replication/primary/failover.h"
#include "replication/primary/primary.h"

static void step_failover(struct engine *engine) {
    const struct failover *failover = engine->failover;
    if (!failover_is_running(engine)) return;
    enum failover_role role = failover_step(engine);
    if (role == FAILOVER_ROLE_REPLICA)
        link_follow(engine, sds_slice(failover->host), failover->port);
    else if (role == FAILOVER_ROLE_PRIMARY)
        link_unfollow(engine);
}

bool replication_step(struct engine *engine) {
    step_failover(engine);
    return engine->history->backlog && primary_step(engine);
}

void replication_tick(struct engine *engine) {
    step_failover(engine);
    primary_tick(engine);
}

/* Says where the data stands in its history, for a snapshot that begins now. Returns false when no
 * replica can continue from there: in the middle of a unit, or while other data is being loaded,
 * the data is that of no offset. */
static bool describe(const struct engine *engine, struct rdb_history *description) {
    const struct link *link = engine->link;
    int database = engine->command_log.database;
    if (command_log_is_inside_unit(&engine->command_log)) return false;
    if (link)
        database = link->state == LINK_STREAMS ? link->stream.requester.database : link->database;
    if (link ? !link->has_position : !engine->history->backlog) return false;
    *description = (struct rdb_history){.id = slice_of_cstr(engine->history->id),
                                        .offset = history_offset(engine),
                                        .database = database > 0 ? (uint64_t)database : 0};
    return true;
}

void replication_start(struct engine *engine) {
    engine->describe_history = describe;
    primary_start(engine);
}
