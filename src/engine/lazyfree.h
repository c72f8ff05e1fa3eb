/* lazyfree: values and whole keyspaces are freed in another thread, so that the loop need not wait
 * for it.
 *
 *      loop:   lazyfree_entry → [ filling: item, item, … ]
 *                                     │ handed over when the running one is done
 *      pool:                    [ running: item, item, … ] → freed
 *
 * One batch is on its way at a time: more threads would only fight for the allocator's locks. What
 * waits here is nobody's any more: no key leads to it. */
#ifndef PACKLIST_ENGINE_LAZYFREE_H
#define PACKLIST_ENGINE_LAZYFREE_H

#include "store/keyspace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct net;

/* Works in `net`'s pool from now on, whose threads it starts. The loop calls `freed` when a
 * keyspace with a number is free; never inside another function of this module. `keeps` (NULL
 * allowed) is asked before an entry is freed: true when it has taken the entry over, as a snapshot
 * still reads it. */
void lazyfree_start(struct net *net, void (*freed)(void *arg, uint64_t number),
                    bool (*keeps)(void *arg, struct entry *entry), void *arg);

/* Before net_free: the thread stops where it is, be it in the middle of a keyspace. What is left is
 * the process's to take with it. */
void lazyfree_stop(void);

/* After net_free: frees what was left, for leak checkers. */
void lazyfree_finish(void);

/* Does freeing the entry with its value take longer than handing it to the pool? O(1). */
bool lazyfree_is_much(const struct entry *entry);

/* Frees an entry with its value: in the pool if that is wanted and it is much work, else at once;
 * but not one that `keeps` takes over. */
void lazyfree_entry(struct entry *entry, bool in_pool);

/* Frees a keyspace with all of its entries, in the pool unless it is empty. `number`: what `freed`
 * is called with afterwards; 0: it is not called, nor for an empty keyspace. Keyspaces become free
 * in the order of these calls. */
void lazyfree_keyspace(struct keyspace *keyspace, uint64_t number);

/* Does freeing all entries of the keyspace take less time than handing it to the pool? O(1). */
bool lazyfree_is_little(const struct keyspace *keyspace);

/* Values that still wait to be freed, and that were freed, by the pool. */
uint64_t lazyfree_pending_objects(void);
uint64_t lazyfree_freed_objects(void);
void lazyfree_reset_freed(void);

/* Bytes in use that are as good as free: of entries that wait, by their size; SIZE_MAX / 2 while a
 * keyspace waits, whose size nobody knows. O(1). */
size_t lazyfree_pending_bytes(void);

#endif
