/* client_sweep: looks at all clients regularly, for what time alone changes. */
#ifndef PACKLIST_SESSION_CLIENT_SWEEP_H
#define PACKLIST_SESSION_CLIENT_SWEEP_H

struct engine;

/* Closes clients that have been idle for longer than `timeout`, whose output has been above a soft
 * limit for too long, or that have not authenticated and do not read their replies. O(clients). */
void client_sweep(struct engine *engine);

#endif
