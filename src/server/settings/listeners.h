/* listeners: the listening sockets that the configuration names. */
#ifndef PACKLIST_SERVER_SETTINGS_LISTENERS_H
#define PACKLIST_SERVER_SETTINGS_LISTENERS_H

#include "base/text/sds.h"

#include <stdbool.h>

struct engine;

/* Opens the sockets that port, bind and unixsocket name. Returns false with *error (the caller's)
 * when an address that is not optional cannot be opened; then none stays open. */
bool listeners_open(struct engine *engine, sds *error);

/* Applies a changed port or bind: opens the TCP sockets that are missing, then closes those that
 * are no longer named. Returns false with *error as above when one cannot be opened: the caller
 * restores the old values and calls again. The old sockets are still open then, unless they had to
 * be closed first because * and an address on the same port cannot be open at once. */
bool listeners_reopen(struct engine *engine, sds *error);

/* Closes all sockets and removes the Unix socket. */
void listeners_close(struct engine *engine);

/* Logs on which addresses the server listens. */
void listeners_announce(struct engine *engine);

#endif
