/* lazyfree: frees large values and whole keyspaces in another thread, so that the event loop does
 * not wait for it.
 *
 *      loop:   lazyfree_entry → [ filling: item, item, … ]
 *                                     │ handed over when the running one is done
 *      pool:                    [ running: item, item, … ] → freed
 *                                     │ captured values, when it is done
 *      loop:                    freed: they go over to their captures
 *
 * One batch is in flight at a time: more threads would only contend for the allocator's locks. No
 * key leads to a value that is here. Only the loop frees captured values (ds/capture.h), O(1) for
 * each; when their last capture ends, they may come here again with it. */
#ifndef PACKLIST_ENGINE_LAZYFREE_H
#define PACKLIST_ENGINE_LAZYFREE_H

#include "store/keyspace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture;
struct engine;
struct lazyfree;

/* Makes engine->lazyfree; starts the threads of the pool of engine->net and uses them from now
 * on. */
void lazyfree_start(struct engine *engine);

/* Call it before net_free: the thread stops at the next step, also in the middle of a keyspace. */
void lazyfree_stop(struct engine *engine);

/* Call it after net_free: frees what was left in the queue, and `lazyfree` itself. */
void lazyfree_free(struct engine *engine);

/* Returns whether freeing the entry with its value takes longer than handing it to the pool.
 * O(1). */
bool lazyfree_is_much(const struct entry *entry);

/* Frees an entry with its value: in the pool if `in_pool` is true and it is much work, otherwise at
 * once. */
void lazyfree_entry(struct lazyfree *lazyfree, struct entry *entry, bool in_pool);

/* Ends a capture (capture_end). Frees in the pool what only it still needed, if that is much. */
void lazyfree_capture(struct lazyfree *lazyfree, struct capture *capture);

/* Frees a keyspace with all of its entries, in the pool unless it is empty; captured values go over
 * to their captures. The loop calls keyspace_freed (engine/upward.h) with `number` afterwards,
 * never from inside another function of this module, but not with 0 nor for an empty keyspace.
 * Keyspaces are freed in the order of these calls. */
void lazyfree_keyspace(struct lazyfree *lazyfree, struct keyspace *keyspace, uint64_t number);

/* Returns whether freeing all entries of the keyspace takes less time than handing it to the pool.
 * O(1). */
bool lazyfree_is_little(const struct keyspace *keyspace);

/* Return the number of values that wait to be freed, and that the pool has freed since the last
 * reset. */
uint64_t lazyfree_pending_objects(const struct lazyfree *lazyfree);
uint64_t lazyfree_freed_objects(const struct lazyfree *lazyfree);
void lazyfree_reset_freed(struct lazyfree *lazyfree);

/* Returns the bytes of entries and captures that wait to be freed. SIZE_MAX / 2 while a keyspace
 * waits, because its size is not known. O(1). */
size_t lazyfree_pending_bytes(const struct lazyfree *lazyfree);

#endif
