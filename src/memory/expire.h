/* expire: deletes keys and fields of hashes that have expired and that no command accesses. (A
 * command that accesses them deletes them: engine/call.c, engine/field_expiry.c.) */
#ifndef PACKLIST_MEMORY_EXPIRE_H
#define PACKLIST_MEMORY_EXPIRE_H

#include "store/keyspace.h"

struct engine;

void expire_start(struct engine *engine, int databases);
void expire_stop(void);

/* Begins a round, unless one is running. Called by cron. */
void expire_tick(struct engine *engine);

/* Continues the round for one stretch, far below a millisecond. Returns true while there is more to
 * do. Call once per loop iteration. */
bool expire_step(struct engine *engine);

/* Returns the average time to live of the keys with an expiry in milliseconds, from a sample; 0
 * when there are none. O(1). */
int64_t expire_average_ttl(struct engine *engine, struct keyspace *keyspace);

#endif
