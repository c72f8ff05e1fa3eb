/* flush: a FLUSHDB or FLUSHALL gets its reply when the memory is free again.
 *
 *      command     keyspaces ──→ lazyfree, each with the number of the flush; the client is blocked
 *      thread      frees them
 *      loop        flush_freed(number), once for each keyspace; after the last one: +OK
 *
 * When a client closes its connection before that, its flush ends without a reply. */
#ifndef PACKLIST_EXECUTE_FLUSH_H
#define PACKLIST_EXECUTE_FLUSH_H

#include <stddef.h>
#include <stdint.h>

struct call;
struct engine;

struct flush;

/* The flushes for which clients wait. All zero at first. */
struct flushes {
    struct flush *first;
    struct flush *last;
    uint64_t last_number;
};

/* Returns the number of a new flush, never 0. */
uint64_t flush_number(struct engine *engine);

/* Blocks the call's client, and replies +OK after `keyspaces` (1 or more) calls of
 * flush_freed(number). The command counts as running until then. */
void flush_wait(struct call *call, uint64_t number, size_t keyspaces);

/* One keyspace of the flush is free. Call it only from a callback of the event loop. O(flushes that
 * wait). */
void flush_freed(struct engine *engine, uint64_t number);

/* Frees all flushes that were not finished, at the end of the server. */
void flush_forget_all(struct engine *engine);

#endif
