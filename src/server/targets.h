/* targets: connections to other servers, kept for a while after their use, as who moves keys there
 * often does so one by one. */
#ifndef PACKLIST_SERVER_TARGETS_H
#define PACKLIST_SERVER_TARGETS_H

#include "base/sds.h"
#include "net/outbound.h"

#include <stdint.h>

struct engine;

struct target {
    struct outbound *connection;
    sds host;
    int port;
    uint64_t identity; /* a number for the credentials it was opened with; 0: without any */
    int64_t database;  /* that is selected there; -1: unknown. The user's to set */
    int64_t used_ms;   /* when it was kept */
};

/* Takes a connection to that address that was kept; NULL when there is none. Only of the same
 * identity: nobody profits from another's password. The caller owns it. O(kept). */
struct target *target_take(struct slice host, int port, uint64_t identity);

/* Opens one, as outbound_open does. */
struct target *target_open(struct slice host, int port, uint64_t identity, int timeout_ms);

/* Keeps it for who wants it next; the one that was kept first is closed when there are many. */
void target_keep(struct engine *engine, struct target *target);

/* Closes and frees it. */
void target_close(struct target *target);

/* Closes those that nobody wanted for ten seconds; cron. */
void targets_tick(struct engine *engine);

/* How many are kept. */
size_t targets_count(void);

/* Closes all that are kept. */
void targets_stop(void);

#endif
