/* listeners: the sockets that the configuration asks for. */
#ifndef PACKLIST_SERVER_LISTENERS_H
#define PACKLIST_SERVER_LISTENERS_H

#include <stdbool.h>

struct engine;

/* Opens what port, bind, unixsocket say. False with *error (owned by this module until the next
 * call) when an address that is not optional cannot be had; then nothing stays open. */
bool listeners_open(struct engine *engine, const char **error);

/* Opens the TCP sockets that a changed port or bind names and that are not open yet, then closes
 * those that it does not name. The others stay as they are. False with *error as above when one
 * cannot be had: the caller puts the old values back and calls again. Then the old sockets have
 * stayed open, unless they had to make way because * and an address on the same port cannot be open
 * at once. */
bool listeners_reopen(struct engine *engine, const char **error);

/* Closes all and removes the unix socket. */
void listeners_close(void);

/* Logs where the server listens, and how to connect. */
void listeners_announce(struct engine *engine);

#endif
