/* invalidate: clients that track keys (CLIENT TRACKING): what is recorded for them, and messages
 * that tell them what has changed. tracking/tracking.h knows who must hear of what; this module
 * knows sessions and protocols.
 *
 *      RESP3                                    >2 invalidate [key …]
 *      RESP2, to another client (REDIRECT)      *3 message __redis__:invalidate [key …]
 *      all keys have changed                    null in place of the keys
 *      the other client is gone (RESP3)         >2 tracking-redir-broken :id
 *
 * In RESP2 only another client that has subscribed gets messages, and replicas get none; keys
 * are recorded all the same. A message that a command of the same session causes follows its
 * reply. */
#ifndef PACKLIST_SESSION_INVALIDATE_H
#define PACKLIST_SESSION_INVALIDATE_H

#include "engine/client.h"
#include "tracking/tracking.h"

#include <stdint.h>

struct call;
struct engine;

/* Makes engine->tracking ready. Call it once, after engine->random was seeded. */
void invalidate_init(struct engine *engine);

/* Call it when tracking-table-max-keys has changed: what is too much is invalidated in steps. */
void invalidate_configure(struct engine *engine);

/* Turns the session's tracking on, or changes it: `flags` (enum tracker_flag) and `redirect` (the
 * client that gets its messages; 0: itself) replace those of before, except TRACKER_BCAST, which
 * must be the same. */
void invalidate_start(struct session *session, uint32_t flags, uint64_t redirect);

/* Turns it off. Does nothing when it is off. O(1). */
void invalidate_stop(struct session *session);

/* The command of the call has run. If it only reads and its client tracks keys, the client will
 * hear of the next change of each key that it named. O(keys). */
void invalidate_note_read(const struct call *call);

/* Call it when a request of the session that is not a command of CLIENT has run, or any was
 * refused: CLIENT CACHING has no effect on what follows, unless a transaction or a wait goes on.
 * O(1). */
void invalidate_end_request(struct session *session);

/* Call it when a loop iteration ends, and before users or their rights change: tells clients that
 * track prefixes which keys have changed, if their users may read them. */
void invalidate_tell_changes(struct engine *engine);

#endif
