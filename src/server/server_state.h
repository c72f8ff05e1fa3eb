/* server_state: the engine and the parts that it points to, in one struct. The program, or a test
 * that runs a server, owns one and hands out the engine in it. */
#ifndef PACKLIST_SERVER_SERVER_STATE_H
#define PACKLIST_SERVER_SERVER_STATE_H

#include "aof/aof.h"
#include "engine/engine.h"
#include "engine/functions.h"
#include "engine/unknown_commands.h"
#include "engine/watch.h"
#include "execute/flush.h"
#include "reclaim/defrag.h"
#include "reclaim/evict.h"
#include "reclaim/expire.h"
#include "replication/replication.h"
#include "server/cron.h"
#include "server/migrate.h"
#include "server/os_oom_score.h"
#include "server/os_title.h"
#include "server/shutdown.h"
#include "server/supervisor.h"
#include "server/tls_watch.h"
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

struct server_state {
    struct engine engine;
    struct clients clients;
    struct save save;
    struct incremental incremental;
    struct load load;
    struct aof aof;
    struct functions functions;
    struct users users;
    struct acl_log acl_log;
    struct failed_logins failed_logins;
    struct replication replication;
    struct value_limits value_limits;
    struct watches watches;
    struct tracking tracking;
    struct hotkeys hotkeys;
    struct slowlog slowlogs[SLOWLOG_KINDS];
    struct latency_monitor latency;
    struct unknown_commands unknown_commands;
    struct flushes flushes;
    struct expire_cycle expire;
    struct evict evict;
    struct defrag defrag;
    struct data_lock data_lock;
    struct process_title title;
    struct oom_score oom_score;
    struct supervisor supervisor;
    struct cron cron;
    struct migrate_kept migrate_kept;
    struct tls_watch tls_watch;
    struct shutdown_state shutdown;
};

/* Makes the engine of a zeroed state point to its parts, and returns it, valid as long as the state
 * stays in its place. The configuration and the start of the server are the caller's. O(1). */
static inline struct engine *server_state_init(struct server_state *state) {
    state->engine.clients = &state->clients;
    state->engine.save = &state->save;
    state->engine.incremental = &state->incremental;
    state->engine.load = &state->load;
    state->engine.aof = &state->aof;
    state->engine.functions = &state->functions;
    state->engine.users = &state->users;
    state->engine.acl_log = &state->acl_log;
    state->engine.failed_logins = &state->failed_logins;
    state->engine.replication = &state->replication;
    state->engine.value_limits = &state->value_limits;
    state->engine.watches = &state->watches;
    state->engine.tracking = &state->tracking;
    state->engine.hotkeys = &state->hotkeys;
    state->engine.slowlogs = state->slowlogs;
    state->engine.latency = &state->latency;
    state->engine.unknown_commands = &state->unknown_commands;
    state->engine.flushes = &state->flushes;
    state->engine.expire = &state->expire;
    state->engine.evict = &state->evict;
    state->engine.defrag = &state->defrag;
    state->data_lock = DATA_LOCK_NONE;
    state->engine.data_lock = &state->data_lock;
    state->engine.title = &state->title;
    state->engine.oom_score = &state->oom_score;
    state->engine.supervisor = &state->supervisor;
    state->engine.cron = &state->cron;
    state->engine.migrate_kept = &state->migrate_kept;
    state->engine.tls_watch = &state->tls_watch;
    state->engine.shutdown = &state->shutdown;
    return &state->engine;
}

#endif
