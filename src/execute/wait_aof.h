/* wait_aof: clients that wait until their changes are on the disk (WAITAOF). */
#ifndef PACKLIST_EXECUTE_WAIT_AOF_H
#define PACKLIST_EXECUTE_WAIT_AOF_H

#include <stdbool.h>

struct engine;

/* Replies to the clients whose changes have reached the disk since the last call, or whose wait
 * ends because the append-only file was turned off. Returns whether there were any; they are queued
 * to resume. O(1) when no fsync has ended meanwhile, otherwise O(clients that wait). Call it once
 * in each loop iteration. */
bool wait_aof_wake(struct engine *engine);

#endif
