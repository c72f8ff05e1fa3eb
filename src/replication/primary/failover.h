/* failover: FAILOVER: the primary and one of its replicas change their roles, and nothing that was
 * confirmed is lost.
 *
 *      none ── waits: clients may not write ── a replica has all data ── in progress ──┬─ none
 *               │                                                                      │
 *               └── ABORT, or too late: none                     the server is now a replica of
 *                                                                that one: PSYNC … FAILOVER
 *
 * When the target refuses to take over, the server becomes a primary again. A target that does not
 * answer is asked until FAILOVER ABORT. The caller changes the role as is decided here. */
#ifndef PACKLIST_REPLICATION_PRIMARY_FAILOVER_H
#define PACKLIST_REPLICATION_PRIMARY_FAILOVER_H

#include "base/slice.h"
#include "base/text/sds.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;

enum failover_state { FAILOVER_NONE, FAILOVER_WAITS, FAILOVER_IN_PROGRESS };

/* What the server is to become. */
enum failover_role {
    FAILOVER_ROLE_STAYS,
    FAILOVER_ROLE_REPLICA, /* of failover->host and port */
    FAILOVER_ROLE_PRIMARY
};

struct failover {
    enum failover_state state;
    bool is_forced;      /* at the deadline the target takes over, whatever it lacks */
    bool is_refused;     /* the target has refused: failover_step ends it */
    int64_t deadline_ms; /* steady_ms; 0 = none */
    sds host;            /* of the target; NULL: the first replica that has all data */
    int port;
};

/* What FAILOVER asks for. */
struct failover_order {
    struct slice host; /* empty: any replica */
    int64_t port;
    int64_t timeout_ms; /* 0: none */
    bool is_forced;
};

/* Begins: holds back commands that write. There must be replicas, and no failover. */
void failover_begin(struct engine *engine, const struct failover_order *order);

/* Ends it without effect, and logs why (a whole sentence). There must be one. Outside of a callback
 * of the link. */
enum failover_role failover_abort(struct engine *engine, const char *why);

/* Call in each loop iteration, and regularly, outside of units: goes on when a replica has all
 * data, or time is over, but not while a script is busy. O(replicas) while there is a failover. */
enum failover_role failover_step(struct engine *engine);

/* Returns whether there is one: then nothing may be added to the stream, which a replica must have
 * all of. */
bool failover_is_running(const struct engine *engine);

/* Returns whether this server asks its new primary to take over. */
bool failover_asks(const struct engine *engine);

/* The new primary, which was asked, has accepted or refused. */
void failover_note_answer(struct engine *engine, bool accepted);

/* The name of the state for INFO. */
const char *failover_state_name(const struct failover *failover);

#endif
