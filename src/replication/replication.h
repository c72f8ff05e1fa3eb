/* replication: which role the server has, and when its two sides do their work.
 *
 *      history/   the stream of changes with its offset, ids and bytes: knows no other server
 *      primary/   replicas, and what they are sent               uses history/
 *      link/      on a replica: the link to its primary          uses history/, primary/
 *      here       roles, and the commands                        uses all
 *
 * primary/primary.h and link/link.h draw the ways of messages. Every change of the role goes
 * through here: by REPLICAOF, a failover, PSYNC … FAILOVER, the directive at the start. */
#ifndef PACKLIST_REPLICATION_REPLICATION_H
#define PACKLIST_REPLICATION_REPLICATION_H

#include "base/slice.h"

#include <stdbool.h>

struct engine;
struct rdb_history;

/* --- Life --- */

/* Call once at the start, when there are clients: makes the server a replica if the directive
 * replicaof says so, and removes abandoned temporary files. */
void replication_take_role(struct engine *engine);

/* Call when the data is loaded: the link connects, if there is one; and what the snapshot says of
 * its place in a history counts. */
void replication_note_loaded(struct engine *engine);

/* Call at the end, before net_free: closes the link. */
void replication_stop(struct engine *engine);

/* Call in each loop iteration, outside of units, after the append-only file was written. Returns
 * whether the loop must not sleep. Two tests while there is neither a failover nor a backlog. */
bool replication_step(struct engine *engine);

/* Called by cron, and while a script is busy. */
void replication_tick(struct engine *engine);

/* --- The role --- */

/* Sets the directive replicaof, and makes the server a replica of host:port, whatever it was. In a
 * transaction the role changes when EXEC has ended (engine/put_off.h): what the transaction changes
 * belongs to the history that the new primary is asked to continue. Only clients that wait for a
 * key are told at once, as the transaction may close them. */
void replication_follow(struct engine *engine, struct slice host, int port);

/* Sets the directive replicaof, and ends being a replica, if the server is one: the data stays, and
 * its history goes on under a new id. Put off as above in a transaction that has changed data. */
void replication_unfollow(struct engine *engine);

/* Returns whether the server is a replica, and whether it is that of host:port, or will be when the
 * transaction that runs has ended: as the directive says. */
bool replication_is_wanted(const struct engine *engine);
bool replication_is_wanted_to(const struct engine *engine, struct slice host, int port);

/* What was put off: makes the server a primary, or a replica of the one that the directive
 * names. */
void replication_follow_directive(struct engine *engine);

/* Says where the data stands in its history, for a snapshot that begins now. Returns false when no
 * replica can continue from there: in the middle of a unit, or while other data is being loaded,
 * the data is that of no offset. */
bool replication_describe(const struct engine *engine, struct rdb_history *description);

#endif
