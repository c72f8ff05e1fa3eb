/* transaction: MULTI, EXEC, DISCARD, WATCH, UNWATCH: commands that are queued and then run in one
 * piece.
 *
 *      session ── transaction ──┬─ watcher: the keys it watches (engine/watch.h)
 *                               └─ queue: | command, args | command, args | …
 *
 * The struct exists from MULTI or WATCH on until EXEC, DISCARD, RESET or the end; SESSION_MULTI is
 * set from MULTI on. Queued commands own copies of their arguments. EXEC runs them one after the
 * other: time stands still, blocking commands do not block, and clients that wait for keys are
 * served after the last one. */
#ifndef PACKLIST_ENGINE_TRANSACTION_H
#define PACKLIST_ENGINE_TRANSACTION_H

#include "base/slice.h"
#include "resp/reply.h"
#include "table/command.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct session;

/* Queues a command of a session in MULTI and answers QUEUED. O(bytes of the arguments). */
void transaction_queue(struct session *session, struct reply *reply, const struct command *command,
                       const struct slice *argv, size_t argc);

/* A command could not be queued: EXEC will refuse. Nothing outside MULTI. */
void transaction_abort(struct session *session);

/* EXEC itself was refused (its arity, memory, authentication …) with `error`, a whole error
 * line: the transaction is over, and the answer says why. */
void transaction_refuse(struct session *session, struct reply *reply, const char *error);

/* Leaves MULTI, frees the queue, forgets watched keys. Nothing when there is no transaction. */
void transaction_end(struct session *session);

/* Command flags that any of the queued commands has: what EXEC counts as. O(1). */
uint32_t transaction_flags(const struct session *session);

/* For CLIENT LIST: queued commands, -1 outside MULTI; watched keys. What
 * client-query-buffer-limit counts of the queue, as Redis does: bytes of the arguments, and a
 * pointer to each. Memory of the queue, and of all with watched keys. O(1). */
long transaction_count(const struct session *session);
size_t transaction_watch_count(const struct session *session);
bool transaction_is_touched(const struct session *session); /* a key changed that it watched */
size_t transaction_counted_bytes(const struct session *session);
size_t transaction_queue_allocated(const struct session *session);
size_t transaction_allocated(const struct session *session);

#endif
