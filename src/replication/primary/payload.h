/* payload: the bytes of one full synchronization, of which each of its replicas takes a copy at its
 * own pace (outflow.h).
 *
 *      $EOF:<mark> | snapshot … | <mark>        streamed: written by the snapshot's thread
 *      $<length>   | snapshot …                 from a file: read by threads of the pool
 *
 *      thread   block, block … ── lock ──┐
 *      loop                              └─ collect ── backlog ── outflows
 *
 * At most PAYLOAD_AHEAD_MAX bytes are ahead of the slowest replica; then the writer of the payload
 * waits. So memory stays bounded, however slow the replicas are. */
#ifndef PACKLIST_REPLICATION_PRIMARY_PAYLOAD_H
#define PACKLIST_REPLICATION_PRIMARY_PAYLOAD_H

#include "replication/history/backlog.h"
#include "snapshot/snapshot_thread.h"

#include <stdbool.h>
#include <stdint.h>

struct net;
struct net_wake;
struct payload;

/* Returns an empty payload; payload_give_up frees it. `wake` wakes the loop when there is something
 * to collect. */
struct payload *payload_new(struct net *net, struct net_wake *wake);

/* Begins a streamed payload. Returns the stream for a snapshot, which may write to it until it
 * calls `released`. */
struct snapshot_stream payload_begin_stream(struct payload *payload);

/* No snapshot has begun: nothing writes to the stream. */
void payload_cancel_stream(struct payload *payload);

/* The snapshot has succeeded: the streamed payload is whole once everything is collected. */
void payload_end_stream(struct payload *payload);

/* Makes the file the payload, and removes its name. Returns false with errno set. */
bool payload_begin_file(struct payload *payload, const char *path);

/* Makes the bytes the payload. */
void payload_put(struct payload *payload, struct slice bytes);

/* Collects what was written, and frees what all replicas have. Returns whether more can be freed at
 * once. O(blocks). */
bool payload_step(struct payload *payload);

/* Returns the bytes, for outflows. */
struct backlog *payload_bytes(struct payload *payload);

bool payload_is_streamed(const struct payload *payload);

/* Returns whether all bytes are there. */
bool payload_is_whole(const struct payload *payload);

/* Returns whether it could not be read. */
bool payload_has_failed(const struct payload *payload);

/* Frees the payload, later if a thread uses it: what that writes is dropped. No outflow may be
 * left. */
void payload_give_up(struct payload *payload);

/* Returns the bytes of memory that it takes. */
size_t payload_allocated(const struct payload *payload);

#endif
