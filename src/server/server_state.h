/* server_state: the engine and the parts that it points to, in one struct. The program, or a test
 * that runs a server, owns one and hands out the engine in it. */
#ifndef PACKLIST_SERVER_SERVER_STATE_H
#define PACKLIST_SERVER_SERVER_STATE_H

#include "aof/aof.h"
#include "engine/engine.h"
#include "engine/functions.h"
#include "engine/steps.h"
#include "engine/unknown_commands.h"
#include "engine/watch.h"
#include "engine/work.h"
#include "execute/flush.h"
#include "reclaim/defrag.h"
#include "reclaim/evict.h"
#include "reclaim/expire.h"
#include "replication/history/history.h"
#include "replication/primary/failover.h"
#include "replication/primary/full_sync.h"
#include "replication/primary/replicas.h"
#include "server/migrate/migrate.h"
#include "server/parts.h"
#include "server/process/memory_return.h"
#include "server/process/oom_score.h"
#include "server/process/process_title.h"
#include "server/process/supervisor.h"
#include "server/settings/tls_watch.h"
#include "server/shutdown.h"
#include "session/clients.h"
#include "snapshot/data_lock.h"
#include "snapshot/incremental.h"
#include "snapshot/load.h"
#include "snapshot/save.h"
#include "stats/hotkeys.h"
#include "stats/latency.h"
#include "stats/slowlog.h"
#include "tracking/tracking.h"
#include "types/value_limits.h"
#include "users/acl_log.h"
#include "users/failed_logins.h"
#include "users/users.h"

/* Each with the name that it has here, and that the pointer to it has in the engine. */
#define SERVER_STATE_STRUCTS(STRUCT)                                                               \
    STRUCT(clients, clients)                                                                       \
    STRUCT(save, save)                                                                             \
    STRUCT(incremental, incremental)                                                               \
    STRUCT(load, load)                                                                             \
    STRUCT(aof, aof)                                                                               \
    STRUCT(functions, functions)                                                                   \
    STRUCT(users, users)                                                                           \
    STRUCT(acl_log, acl_log)                                                                       \
    STRUCT(failed_logins, failed_logins)                                                           \
    STRUCT(history, history)                                                                       \
    STRUCT(replicas, replicas)                                                                     \
    STRUCT(full_sync, full_sync)                                                                   \
    STRUCT(failover, failover)                                                                     \
    STRUCT(value_limits, value_limits)                                                             \
    STRUCT(watches, watches)                                                                       \
    STRUCT(tracking, tracking)                                                                     \
    STRUCT(hotkeys, hotkeys)                                                                       \
    STRUCT(latency_monitor, latency)                                                               \
    STRUCT(unknown_commands, unknown_commands)                                                     \
    STRUCT(flushes, flushes)                                                                       \
    STRUCT(works, works)                                                                           \
    STRUCT(steps, steps)                                                                           \
    STRUCT(expire_cycle, expire)                                                                   \
    STRUCT(evict, evict)                                                                           \
    STRUCT(defrag, defrag)                                                                         \
    STRUCT(data_lock, data_lock)                                                                   \
    STRUCT(process_title, title)                                                                   \
    STRUCT(oom_score, oom_score)                                                                   \
    STRUCT(supervisor, supervisor)                                                                 \
    STRUCT(cron, cron)                                                                             \
    STRUCT(memory_return, memory_return)                                                           \
    STRUCT(migrate_kept, migrate_kept)                                                             \
    STRUCT(tls_watch, tls_watch)                                                                   \
    STRUCT(shutdown_state, shutdown)

struct server_state {
    struct engine engine;
    struct slowlog slowlogs[SLOWLOG_KINDS];
#define MEMBER(type, name) struct type name;
    SERVER_STATE_STRUCTS(MEMBER)
#undef MEMBER
};

/* Makes the engine of a zeroed state point to its parts, and returns it, valid as long as the state
 * stays in its place. The configuration and the start of the server are the caller's. O(1). */
static inline struct engine *server_state_init(struct server_state *state) {
    struct engine *engine = &state->engine;
#define POINT_TO(type, name) engine->name = &state->name;
    SERVER_STATE_STRUCTS(POINT_TO)
#undef POINT_TO
    engine->slowlogs = state->slowlogs;
    state->data_lock = DATA_LOCK_NONE;
    return engine;
}

#endif
