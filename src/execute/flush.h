/* flush: clients whose FLUSHDB or FLUSHALL is to be answered when the memory is free again.
 *
 *      command     keyspaces ──→ lazyfree, each with the number of the flush; the client is blocked
 *      thread      frees them
 *      loop        flush_freed(number), once for each keyspace; after the last one: +OK
 *
 * A client that closes its connection meanwhile is not looked for: its flush ends unanswered. */
#ifndef PACKLIST_EXECUTE_FLUSH_H
#define PACKLIST_EXECUTE_FLUSH_H

#include <stddef.h>
#include <stdint.h>

struct call;
struct engine;

/* The number of a new flush, never 0. */
uint64_t flush_number(void);

/* Blocks the call's client, and answers +OK after `keyspaces` (1 or more) calls of
 * flush_freed(number). The command counts as running until then. */
void flush_wait(struct call *call, uint64_t number, size_t keyspaces);

/* One keyspace of the flush is free. As a callback of the loop only. O(flushes that wait). */
void flush_freed(struct engine *engine, uint64_t number);

/* The server has ended: forgets the flushes that were not finished. */
void flush_forget_all(void);

#endif
