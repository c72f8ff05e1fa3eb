/* primary: what a server does for its replicas, and when.
 *
 *  write ── command log ── history_feed ── backlog ─┬─ replica->stream ── socket ── replica
 *  GETACK, PING, PUBLISH ── history_append ─┘       └─ the next one …
 *
 *  PSYNC ─┬─ the backlog has the offset ─────────────────────────────── its stream begins there
 *         └─ full_sync_ask ── snapshot ── payload ── replica->bulk ── socket; then its stream
 *
 *  replica ── REPLCONF ACK ── replica_note_ack ── clients that WAIT, good replicas, failover
 *
 * A session owns its replica (replicas.h), which has two positions, in the backlog and in a payload
 * (outflow.h); a group of replicas owns its payload (full_sync.h). Connections refer to blocks of a
 * backlog: nothing is copied for one replica. On a replica, all of this serves its own replicas,
 * with its primary's bytes. This file calls the others, once per loop iteration and second. */
#ifndef PACKLIST_REPLICATION_PRIMARY_PRIMARY_H
#define PACKLIST_REPLICATION_PRIMARY_PRIMARY_H

#include <stdbool.h>
#include <stddef.h>

struct engine;
struct session;

/* Call once at the start, when engine->net exists. */
void primary_start(struct engine *engine);

/* Call at the end, when all sessions are closed and before net_free. */
void primary_stop(struct engine *engine);

/* A session ends: forgets the replica that it is, if it is one. */
void primary_end_session(struct session *session);

/* Call in each loop iteration, outside of units, after the append-only file was written, if there
 * is a backlog: brings what was changed to the replicas. Returns whether the loop must not sleep.
 * O(bytes + replicas). */
bool primary_step(struct engine *engine);

/* Brings the units that have ended to the replicas, and nothing else: while a script is busy, and
 * when the server ends. O(bytes + replicas). */
void primary_send_rest(struct engine *engine);

/* Called by cron, and while a script is busy: pings, timeouts, the lifetime of the backlog. */
void primary_tick(struct engine *engine);

/* Call when a directive of replication has changed. */
void primary_configure(struct engine *engine);

/* Returns the memory that the stream and payloads take. O(payloads). */
size_t primary_memory(const struct engine *engine);

#endif
