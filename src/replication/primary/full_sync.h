/* full_sync: brings all data to replicas that cannot continue from the backlog.
 *
 *      replicas wait ── a snapshot begins: a group ─┬─ streamed to all of them at once
 *                                               └─ written to a file, then sent from there
 *
 * The snapshot is the incremental one (snapshot/incremental.h). A group consists of the replicas
 * that share a payload; the stream of each goes on from the offset at which the snapshot began. The
 * length of a streamed payload is not known, so the replica must take one that ends with a mark
 * (REPLCONF capa eof). */
#ifndef PACKLIST_REPLICATION_PRIMARY_FULL_SYNC_H
#define PACKLIST_REPLICATION_PRIMARY_FULL_SYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct net_wake;
struct replica;
struct sync_group;

struct full_sync {
    struct sync_group *writing; /* the group whose snapshot is being written; or NULL */
    struct sync_group *first;   /* all groups */
    struct sync_group *last;
    struct net_wake *wake; /* wakes the loop when a payload has grown */
    int64_t begun_ms;      /* steady_ms when the last snapshot began; 0: there was none */
    int64_t retry_ms;      /* steady_ms before which no snapshot begins, after a failure */
};

/* The replica waits for a full synchronization. A snapshot that is being written to a file serves
 * it, too; otherwise one begins as soon as the directives and other snapshots allow. */
void full_sync_ask(struct engine *engine, struct replica *replica);

/* The replica needs its payload no longer: it was sent, or the replica leaves. The payload goes
 * with its last replica. Does nothing without a payload. */
void full_sync_release(struct engine *engine, struct replica *replica);

/* Returns whether the replica was sent all of its payload; *marked gets whether that ends with a
 * mark. */
bool full_sync_is_sent(const struct replica *replica, bool *marked);

/* Begins a synchronization if one is due, and moves payloads on. Call it once per loop iteration
 * while there are replicas, outside of units. Returns whether the loop must not sleep.
 * O(replicas). */
bool full_sync_step(struct engine *engine);

/* Returns the bytes of memory that payloads take. O(groups). */
size_t full_sync_allocated(const struct engine *engine);

#endif
