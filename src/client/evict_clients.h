/* evict_clients: keeps the memory of clients below maxmemory-clients by closing the largest of
 * them. */
#ifndef PACKLIST_CLIENT_EVICT_CLIENTS_H
#define PACKLIST_CLIENT_EVICT_CLIENTS_H

#include <stdbool.h>

struct engine;

/* Closes the largest clients until the others fit the limit, a few at a time; true while there is
 * more to do. before_poll. */
bool evict_clients(struct engine *engine);

#endif
