/* route: whether this node serves a call, by the slots of its keys, or where its client must go.
 *
 *      keys ── all in one slot ── served here ───────────────┬─ ROUTE_HERE
 *         │                                └─ but migrating: ├─ ROUTE_ASK, ROUTE_TRY_AGAIN
 *         │                    └─ elsewhere ─────────────────┼─ ROUTE_MOVED
 *         │                                └─ but importing, └─ ROUTE_HERE, after ASKING
 *         └─ in several: ROUTE_CROSS_SLOT
 *
 * The rules are those of the Redis cluster specification. Keys are those of table/command_keys.h;
 * the channels of SPUBLISH and SSUBSCRIBE count as keys. */
#ifndef PACKLIST_CLUSTER_ROUTE_H
#define PACKLIST_CLUSTER_ROUTE_H

#include "base/text/sds.h"
#include "cluster/cluster.h"
#include "engine/call_struct.h"

#include <stdbool.h>
#include <stddef.h>

enum route_kind {
    ROUTE_HERE,
    ROUTE_CROSS_SLOT,
    ROUTE_UNSERVED,        /* no node serves the slot */
    ROUTE_DOWN,            /* the cluster does not serve, */
    ROUTE_DOWN_FOR_WRITES, /* … or only reads */
    ROUTE_TRY_AGAIN,       /* the slot is moving, and only some of the keys are here */
    ROUTE_ASK,             /* this once */
    ROUTE_MOVED            /* from now on */
};

struct route {
    enum route_kind kind;
    int slot;                        /* of the keys; -1: there are none */
    const struct cluster_node *node; /* for ROUTE_ASK and ROUTE_MOVED */
};

/* Returns the route of one command; of EXEC that of all commands that the session will run. ASKING
 * and READONLY count if the requester's session has sent them. Looks keys up only in a slot that is
 * moving. O(keys). */
struct route route_find(const struct requester *requester, const struct command *command,
                        const struct slice *argv, size_t argc);

/* Returns whether the call is served here, and its keys, if any, are in this slot (-1: in any one),
 * by its own keys alone: then route_find says the same. false where only that can tell. O(keys):
 * some 10 ns for one. */
bool route_is_here(const struct call *call, int slot);

/* Returns the slot of the call's first key; -1: it has none. O(1). */
int route_first_slot(const struct call *call);

/* Returns the error line for a client: "MOVED 12182 127.0.0.1:6380", "CROSSSLOT …"; one that came
 * over TLS is told the TLS port. Not for ROUTE_HERE. The caller frees it. */
sds route_error(struct session *session, const struct route *route);

/* Returns the error line for a script's command. Not for ROUTE_HERE. The caller frees it. */
sds route_script_error(const struct route *route, const struct command *command);

#endif
