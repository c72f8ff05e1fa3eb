/* refusal: clients that are not served, and how they hear why. */
#ifndef PACKLIST_SESSION_REFUSAL_H
#define PACKLIST_SESSION_REFUSAL_H

#include <stdbool.h>

struct conn;
struct engine;

/* Returns whether the new connection may not be served: there are too many clients, or protected
 * mode keeps it out. Then it is counted, told, and closed or about to be. When there are too many,
 * those whose TLS handshake takes long are closed instead. */
bool refusal_decide(struct engine *engine, struct conn *conn);

/* The connection of a refused client has sent the error, or cannot send it. */
void refusal_ended(struct engine *engine);

#endif
