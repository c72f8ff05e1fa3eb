/* wait_aof: clients that wait until their changes are on the disk (WAITAOF). */
#ifndef PACKLIST_EXECUTE_WAIT_AOF_H
#define PACKLIST_EXECUTE_WAIT_AOF_H

#include <stdbool.h>

struct engine;

/* Answers the clients for whom the append-only file has reached the disk, or was turned off, since
 * the last call. Returns whether any was answered: they are to be resumed. O(1) when no fsync has
 * ended meanwhile, else O(clients that wait). Once in each iteration of the loop. */
bool wait_aof_wake(struct engine *engine);

#endif
