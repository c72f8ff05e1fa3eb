/* evict: keeps the memory in use below maxmemory by deleting keys. With maxmemory-rss, the pages of
 * memory (reclaim/rss_limit.h). */
#ifndef PACKLIST_RECLAIM_EVICT_H
#define PACKLIST_RECLAIM_EVICT_H

#include "reclaim/rss_limit.h"
#include "store/eviction.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;

struct evict {
    struct eviction_pool pool;
    struct rss_limit rss; /* what is allowed: maxmemory, or less */
    bool running;         /* evict_step continues the work */
    int64_t exceeded_us;  /* since when the limit is exceeded, monotonic; 0: it is not */
    int64_t total_us;     /* exceeded before that */
};

/* Call before a command that may need memory, while maxmemory is set. Evicts keys until the memory
 * in use is below the limit, for half a millisecond or so (maxmemory-eviction-tenacity); evict_step
 * does the rest between commands. Returns false when no more keys can be evicted: the command must
 * be refused with EVICT_REFUSAL. Costs some tens of nanoseconds when there is nothing to do. */
bool evict_make_room(struct engine *engine);
#define EVICT_REFUSAL "OOM command not allowed when used memory > 'maxmemory'."

/* Call when maxmemory, maxmemory-rss or a directive of the eviction policy has changed. */
void evict_configure(struct engine *engine);

/* Begins an eviction when the limit is exceeded, after a look at the pages. Called by cron. */
void evict_tick(struct engine *engine);

/* Continues what a command or a tick has begun, for up to the same time. Returns true while there
 * is more to do. Call once per loop iteration. */
bool evict_step(struct engine *engine);

/* Returns the bytes of output for the append-only file and for replicas, which do not count toward
 * maxmemory: each evicted key adds to it. O(1). */
size_t evict_uncounted_output(const struct engine *engine);

/* For INFO: milliseconds since the limit is exceeded (0: it is not), and in total. */
int64_t evict_current_exceeded_ms(const struct engine *engine);
int64_t evict_total_exceeded_ms(const struct engine *engine);

#endif
