/* evict_clients: keeps the memory of clients below maxmemory-clients by closing the largest of
 * them. */
#ifndef PACKLIST_RECLAIM_EVICT_CLIENTS_H
#define PACKLIST_RECLAIM_EVICT_CLIENTS_H

#include <stdbool.h>

struct engine;

/* Closes the largest clients until the others fit the limit, a few per call. Returns true while
 * there is more to do. Called before the loop sleeps. */
bool evict_clients(struct engine *engine);

#endif
