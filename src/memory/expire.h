/* expire: deletes keys whose time has come before anybody looks for them (who does look deletes
 * them on his own: engine/call.c). */
#ifndef PACKLIST_MEMORY_EXPIRE_H
#define PACKLIST_MEMORY_EXPIRE_H

#include "store/keyspace.h"

struct engine;

void expire_start(struct engine *engine, int databases);
void expire_stop(void);

/* Begins a round; cron. */
void expire_tick(struct engine *engine);

/* One stretch of the round, far below a millisecond; true while there is more to do.
 * before_poll. */
bool expire_step(struct engine *engine);

/* For how long the keys that expire still live on average, in ms; 0 when there are none. A sample;
 * O(1). */
int64_t expire_average_ttl(struct engine *engine, struct keyspace *keyspace);

#endif
