/* targets: connections to other servers, kept for some time after use, because clients often move
 * keys one by one. */
#ifndef PACKLIST_SERVER_TARGETS_H
#define PACKLIST_SERVER_TARGETS_H

#include "base/sds.h"
#include "net/conn.h"

#include <stdint.h>

struct engine;
struct migration;

/* The session of such a connection. */
struct target {
    sds host;
    int port;
    uint64_t identity;      /* a number for the credentials with which it was opened; 0: none */
    int64_t database;       /* selected there; -1: unknown. Set by the user of the connection */
    int64_t used_ms;        /* when it was last kept */
    struct migration *user; /* its owner; NULL while it is kept */
};

/* Takes a kept connection to that address; NULL when there is none. Only one of the same identity,
 * so that a client cannot use another one's password. The caller owns it. O(kept). */
struct target *target_take(struct slice host, int port, uint64_t identity);

/* Keeps the connection for later use, and closes the oldest one when there are too many. */
void target_keep(struct engine *engine, struct target *target);

/* Closes the connection, kept or not. O(kept). */
void target_close(struct target *target);

/* Closes connections that were not used for ten seconds; called by cron. */
void targets_tick(struct engine *engine);

/* Returns the number of kept connections. */
size_t targets_count(void);

/* Closes all kept connections. */
void targets_stop(void);

#endif
