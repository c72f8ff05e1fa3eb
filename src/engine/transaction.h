/* transaction: MULTI, EXEC, DISCARD, WATCH, UNWATCH: commands that are queued and then run as one
 * unit.
 *
 *      session ── transaction ──┬─ watcher: the keys it watches (engine/watch.h)
 *                               └─ queue: | command, args | command, args | …
 *
 * The struct exists from MULTI or WATCH until EXEC, DISCARD, RESET or the end of the session;
 * SESSION_MULTI is set from MULTI on. Queued commands own copies of their arguments. EXEC runs them
 * one after the other: the clock does not advance, blocking commands do not block, and clients that
 * wait for keys are served after the last command. */
#ifndef PACKLIST_ENGINE_TRANSACTION_H
#define PACKLIST_ENGINE_TRANSACTION_H

#include "base/slice.h"
#include "engine/args.h"
#include "engine/watch.h"
#include "resp/reply.h"
#include "table/command.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct session;

struct queued_command {
    const struct command *command;
    struct args *args;
};

struct transaction {
    struct watcher watcher;
    struct queued_command *queue;
    size_t count;
    size_t capacity;
    size_t counted_bytes; /* bytes that client-query-buffer-limit counts */
    size_t args_allocated;
    uint32_t command_flags; /* flags that any queued command has */
    uint32_t missing_flags; /* … and those that any of them does not have */
    bool is_aborted;        /* a command could not be queued */
};

/* Returns the session's transaction; makes one if it has none. The session owns it. */
struct transaction *transaction_begin(struct session *session);

/* Begins MULTI: the session's next commands are queued. */
void transaction_open(struct session *session);

/* Queues a command of a session in MULTI and replies QUEUED. `flags`: those with which EXEC is
 * checked. O(bytes of the arguments). */
void transaction_queue(struct session *session, struct reply *reply, const struct command *command,
                       uint32_t flags, const struct slice *argv, size_t argc);

/* Marks the transaction as aborted because a command could not be queued: EXEC will refuse it. Does
 * nothing outside MULTI. */
void transaction_abort(struct session *session);

/* EXEC itself was refused (its arity, memory, authentication …): ends the transaction and replies
 * EXECABORT with `error`, a whole error line. */
void transaction_refuse(struct session *session, struct reply *reply, const char *error);

/* Leaves MULTI, frees the queue and forgets watched keys. Does nothing when there is no
 * transaction. O(queued commands). */
void transaction_end(struct session *session);

/* Returns the command flags with which EXEC is checked, which has `flags` itself: those that any of
 * the queued commands has; but what gives permission (COMMAND_LOADING, COMMAND_STALE) only if all
 * of them have it. O(1). */
uint32_t transaction_flags(const struct session *session, uint32_t flags);

/* Returns the bytes that client-query-buffer-limit counts for the queue, as Redis does: the
 * arguments, and a pointer to each. O(1). */
size_t transaction_counted_bytes(const struct session *session);

/* Return the bytes of memory of the queue, and of queue and watched keys. O(1). */
size_t transaction_queue_allocated(const struct session *session);
size_t transaction_allocated(const struct session *session);

#endif
