/* replication: which role the server has, and when its two sides do their work.
 *
 *      history/    the stream of changes with its offset, ids and bytes: knows no other server
 *      primary/    replicas, and what they are sent               → history
 *      link_*.c    on a replica: the link to its primary          → history, primary
 *      here        roles and commands                             → all
 *
 * A change of the role goes through here, whoever wants it: REPLICAOF, a failover, PSYNC FAILOVER,
 * the directive at the start. */
#ifndef PACKLIST_REPLICATION_REPLICATION_H
#define PACKLIST_REPLICATION_REPLICATION_H

#include <stdbool.h>

struct engine;

/* Call once at the start, when engine->net exists. */
void replication_start(struct engine *engine);

/* Call in each loop iteration, outside of units, after the append-only file was written. Returns
 * whether the loop must not sleep. Two tests while there is neither a failover nor a backlog. */
bool replication_step(struct engine *engine);

/* Called by cron, and while a script is busy. */
void replication_tick(struct engine *engine);

#endif
