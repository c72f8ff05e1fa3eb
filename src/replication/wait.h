/* wait: clients that wait until their changes are on the disk or at replicas (WAIT, WAITAOF). */
#ifndef PACKLIST_REPLICATION_WAIT_H
#define PACKLIST_REPLICATION_WAIT_H

#include <stdbool.h>

struct engine;

/* Replies to the clients whose changes have arrived since the last call, or whose wait ends because
 * the append-only file was turned off. Returns whether there were any; they are queued to resume.
 * O(1) when nothing has arrived since, otherwise O(clients that wait * replicas). Call it once in
 * each loop iteration. */
bool wait_wake(struct engine *engine);

#endif
