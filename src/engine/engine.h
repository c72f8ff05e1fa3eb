/* engine: the state that commands work on: the data, the clocks, everything that watches or follows
 * changes, and facts about the process that commands report.
 *
 * A process has one engine. main() makes it and passes it on: to callbacks of the event loop as
 * their argument, to a command as call->engine, to a function that serves a client as
 * session->requester.engine. It is never a global variable. */
#ifndef PACKLIST_ENGINE_ENGINE_H
#define PACKLIST_ENGINE_ENGINE_H

#include "base/hash/random.h"
#include "base/threads/owner.h"
#include "config/config.h"
#include "engine/upward.h"
#include "journal/command_log.h"
#include "journal/reply_gate.h"
#include "stats/stats.h"
#include "store/event.h"
#include "store/eviction.h"

/* The version of Redis that INFO, HELLO and scripts get: the newest one whose commands are here.
 * Clients refuse to send newer commands (coredis) or to keep a cache (redis-py, Jedis), and job
 * queues demand a minimum (RQ, BullMQ, Sidekiq, Huey). None is known to send a missing command
 * because of a high version. What a replica tells its primary: replication/link/handshake.c. */
#define PACKLIST_REDIS_VERSION "8.10.0"

/* The error for commands that are refused while data is loaded. */
#define LOADING_REFUSAL "LOADING Redis is loading the dataset in memory"

/* Reasons why some commands may not run at the moment. */
enum restriction {
    RESTRICTED_LOADING = 1 << 0,   /* data is being loaded: no command that needs it */
    RESTRICTED_UNSAVED = 1 << 1,   /* a snapshot has failed: no command that writes */
    RESTRICTED_UNWRITTEN = 1 << 2, /* the append-only file failed: no command that writes */
    RESTRICTED_PAUSED = 1 << 3,    /* CLIENT PAUSE and others: session/pause.h */
    RESTRICTED_BUSY = 1 << 4,      /* a script is running: only commands with COMMAND_ALLOW_BUSY */
    RESTRICTED_FEW_REPLICAS = 1 << 5, /* min-replicas-to-write is not met: no command that writes */
    RESTRICTED_READONLY = 1 << 6,     /* a replica: no command that writes, from clients */
    RESTRICTED_STALE = 1 << 7, /* a replica without its primary: no command that needs data */
    RESTRICTED_LOADING_BESIDE = 1 << 8, /* other data is being loaded (COMMAND_NO_ASYNC_LOADING) */
    RESTRICTED_CLAIMED = 1 << 9,        /* a work has claimed keys: engine/claim.h */
    RESTRICTED_CLUSTER = 1 << 10 /* keys of some slots are elsewhere: cluster/route.h; always in a
                                    cluster */
};

struct engine {
    struct owner owner;
    struct config config;
    struct config_source config_source;
    struct net *net;
    const struct upward *upward; /* engine/upward.h: what is asked of modules above */

    /* The data, and whether it may be read and changed. */
    struct keyspace **keyspaces;
    int databases; /* how many keyspaces there are: databases, or cluster-databases */
    struct value_limits *value_limits; /* from the directives: types/value_limits.h */
    struct eviction_rules eviction;    /* policy and current time, for entries' access bits */
    struct functions *functions;       /* engine/functions.h: libraries that users have loaded */
    bool is_replica;                   /* another server says what changes, and what expires */
    uint64_t dirty;                    /* changes since the server started */
    uint32_t restrictions;             /* enum restriction; 0 nearly always */
    const char *busy_refusal;          /* with RESTRICTED_BUSY: the error for other commands */

    /* The clocks: engine_update_clock. */
    int64_t now_ms;    /* wall clock when the batch of requests, or a command in it, began */
    int64_t now_us;    /* the same in microseconds */
    int64_t steady_ms; /* monotonic clock at that time: for measuring durations */
    int64_t start_ms;  /* steady_ms when the server started */
    uint64_t ticks;    /* clock_ticks at the end of the last command */
    uint64_t ticks_per_ms;
    uint64_t clock_due;   /* clock_ticks at which a long batch must read the wall clock again */
    uint64_t slow_ticks;  /* commands that take this long are noted: engine/slow.h */
    size_t large_request; /* requests of so many bytes are looked at: engine/slow.h */

    /* Clients: who they are, and which of them must hear of changes. */
    struct clients *clients; /* session/clients.h */
    sds argument; /* the current request's large argument, which a command may take over; or NULL */
    struct users *users;     /* users/users.h: who may do what */
    struct acl_log *acl_log; /* users/acl_log.h: what was denied */
    struct failed_logins *failed_logins;
    struct unknown_commands *unknown_commands; /* engine/unknown_commands.h */
    struct blocking *blocking;                 /* engine/blocking.h */
    struct watches *watches;                   /* engine/watch.h */
    struct tracking *tracking;                 /* tracking/tracking.h */
    struct own_expiries *own_expiries;         /* engine/own_expiry.h; NULL nearly always */

    /* Where changes go, and where the data comes from. */
    struct command_log command_log;
    struct reply_gate reply_gate;
    struct {
        bool is_possible; /* EXEC runs its queue: it sets it */
        uint8_t due;      /* enum put_off_work */
    } put_off;            /* engine/put_off.h */
    struct save *save;    /* snapshot/save.h: when snapshots are written */
    struct incremental
        *incremental;            /* snapshot/incremental.h: snapshots written by the event loop */
    struct load *load;           /* snapshot/load.h: reading them */
    struct data_lock *data_lock; /* snapshot/data_lock.h */
    struct aof *aof;             /* aof/aof.h */
    struct history *history;     /* replication/history/history.h: the stream of changes */
    struct replicas *replicas;   /* replication/primary/replicas.h */
    struct full_sync *full_sync; /* replication/primary/full_sync.h: what brings them all data */
    struct failover *failover;   /* replication/primary/failover.h */
    struct link *link;           /* replication/link/link.h: to the primary; NULL: it has none */
    struct cluster *cluster;     /* cluster/cluster.h; NULL: this server is no node of one */

    /* What deletes, moves and frees by itself. */
    struct expire_cycle *expire; /* reclaim/expire.h */
    struct evict *evict;         /* reclaim/evict.h */
    struct defrag *defrag;       /* reclaim/defrag.h */
    struct lazyfree *lazyfree;   /* engine/lazyfree.h */
    struct flushes *flushes;     /* execute/flush.h */
    struct works *works;         /* engine/work.h: commands that run in other threads */
    struct steps *steps;         /* engine/steps.h: commands that run in steps */

    /* Scripts, and what is counted. */
    struct scripts *scripts; /* script/script.h */
    struct stats stats;
    struct hotkeys *hotkeys;         /* stats/hotkeys.h */
    struct slowlog *slowlogs;        /* stats/slowlog.h: one of each kind */
    struct latency_monitor *latency; /* stats/latency.h */
    struct {
        size_t unauthenticated; /* of clients: session/client_memory.h */
        size_t replicas;        /* what only replicas need that are behind: stream and payloads */
    } uncounted;                /* bytes that do not count for maxmemory */
    size_t startup_memory;      /* mem_used() when the server was ready to serve */
    struct checks {
        size_t value_credit;
        size_t keyspace_credit;
    } checks; /* engine/checks.h: what writes have paid, minus what checks have spent of it */

    /* The process: what server/ keeps for itself in the files of these names, and facts of it. */
    struct process_title *title;
    struct oom_score *oom_score;
    struct supervisor *supervisor;
    struct listeners *listeners; /* server/settings/listeners.h */
    struct migrate_kept *migrate_kept;
    struct cron *cron;
    struct memory_return *memory_return;
    struct tls_watch *tls_watch;
    struct shutdown_state *shutdown;
    struct random random; /* for choices that need not be secret */
    char run_id[41];
    bool shutting_down;
    bool skip_checksums;   /* DEBUG SET-SKIP-CHECKSUM-VALIDATION */
    bool debug_in_scripts; /* DEBUG SET-DISABLE-DENY-SCRIPTS */
};

/* Returns whether import-mode has an effect: a replica leaves all to its primary anyway. */
static inline bool engine_is_importing(const struct engine *engine) {
    return engine->config.import_mode && !engine->is_replica;
}

/* Reads the clocks into now_us, now_ms, steady_ms and the time in `eviction`. Within the same
 * millisecond only the wall clock is read. O(1). */
void engine_update_clock(struct engine *engine);

#endif
