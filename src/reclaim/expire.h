/* expire: deletes keys and fields of hashes that have expired and that no command accesses. (A
 * command that accesses them deletes them: engine/call.c, engine/field_expiry.c.) */
#ifndef PACKLIST_RECLAIM_EXPIRE_H
#define PACKLIST_RECLAIM_EXPIRE_H

#include "reclaim/expire_search.h"
#include "store/keyspace.h"

#include <stdbool.h>

struct engine;

/* The places that a round searches. */
struct expire_places {
    struct expire_search *list;
    int count;
    int at; /* in the list: the current one */
};

struct expire_cycle {
    bool is_active;                    /* DEBUG SET-ACTIVE-EXPIRE */
    struct net_timer *timer;           /* starts a round before the next tick */
    struct expire_places of_databases; /* two for each database */
    struct expire_places of_replica;   /* one */
    struct expire_places *places;      /* of this round */
    int remaining;                     /* places that the round has not finished */
    bool running;
    int64_t begun_us;                        /* begin of the last round, monotonic */
    int64_t budget_us;                       /* time left for this round */
    struct expire_tally batch;               /* since end_batch */
    struct expire_tally found[EXPIRE_KINDS]; /* of this round, by the kind of place */
};

void expire_start(struct engine *engine);
void expire_stop(struct engine *engine);

/* Begins a round, unless one is running. Called by cron. */
void expire_tick(struct engine *engine);

/* Continues the round for one stretch, far below a millisecond. Returns true while there is more to
 * do. Call once per loop iteration. */
bool expire_step(struct engine *engine);

/* Returns the average time to live of the keys with an expiry in milliseconds, from a sample; 0
 * when there are none. O(1). */
int64_t expire_average_ttl(struct engine *engine, struct keyspace *keyspace);

#endif
