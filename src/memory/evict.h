/* evict: keeps the memory in use below maxmemory by letting keys go. */
#ifndef PACKLIST_MEMORY_EVICT_H
#define PACKLIST_MEMORY_EVICT_H

#include <stdbool.h>
#include <stdint.h>

struct engine;

/* Before a command that may need memory, while maxmemory is set: evicts keys until the memory in
 * use is below it, for half a millisecond or so (maxmemory-eviction-tenacity); what is left is
 * done between commands. False when nothing more can be evicted: the command must be refused
 * with EVICT_REFUSAL. Some tens of nanoseconds when there is nothing to do. */
bool evict_make_room(struct engine *engine);
#define EVICT_REFUSAL "OOM command not allowed when used memory > 'maxmemory'."

/* maxmemory, or how keys are chosen, has changed. */
void evict_configure(struct engine *engine);

/* Looks whether there is something to do; cron. */
void evict_tick(struct engine *engine);

/* Goes on with what a command or a tick has begun; true while there is more to do. before_poll. */
bool evict_step(struct engine *engine);

/* Since when, and for how long in all before that, the limit has been exceeded; in ms, for INFO. */
int64_t evict_current_exceeded_ms(void);
int64_t evict_total_exceeded_ms(void);
void evict_reset_exceeded(void);

#endif
