/* blocking: clients that sleep until a key can serve them.
 *
 *      session ── waiter ──┬─ wait ── blocked key "a" (database 0): first wait … last wait
 *                          └─ wait ── blocked key "b" (database 0): …
 *
 * Each blocked key holds its waits in order of arrival; each wait is linked into its key's list, so
 * that a waiter leaves all of its keys without a search. A key that was written to while somebody
 * waits for it is queued as ready once, and served after the command. Deadlines stand in a timer
 * wheel. Serving a waiter costs O(1) per key that it waits for, however many others wait. */
#ifndef PACKLIST_ENGINE_BLOCKING_H
#define PACKLIST_ENGINE_BLOCKING_H

#include "base/slice.h"
#include "engine/call.h"

#include <stdbool.h>
#include <stddef.h>

struct blocking;
struct engine;
struct net;

/* The registry for `databases` databases. Its timer lives in `net`, and calls `time_is_up`
 * (blocking_time_is_up) when the deadline of a session has come. */
struct blocking *blocking_new(struct engine *engine, int databases,
                              void (*time_is_up)(struct session *session));
void blocking_free(struct blocking *blocking);

/* Puts the call's session to sleep as `request` says. */
void blocking_add(struct blocking *blocking, struct call *call,
                  const struct block_request *request);

/* The memory of what the session waits with: its arguments, and the names of its keys, which count
 * in full for each client that waits for them. 0 when it does not wait. O(1). */
size_t blocking_allocated(const struct session *session);

/* What the session's command took before it began to wait. */
void blocking_note_ticks(struct session *session, uint64_t ticks);

/* A key was written: queues it if anyone waits for it. O(1); nearly free while nobody waits. */
void blocking_signal(struct blocking *blocking, int database, struct slice key);

/* Other keys than before stand in the database: queues those that are waited for and can be served
 * now. O(keys of the database that are waited for). */
void blocking_signal_database(struct engine *engine, struct blocking *blocking, int database);

/* Serves the waiters of all ready keys, and of those that become ready meanwhile. */
void blocking_serve(struct engine *engine, struct blocking *blocking);

/* True when blocking_serve has something to do. */
bool blocking_has_ready(const struct blocking *blocking);

/* The session leaves without an answer (it closes). Does nothing when it does not wait. */
void blocking_remove(struct blocking *blocking, struct session *session);

/* The work that the session waits for (block_request.for_work) is done: what `expire` writes is its
 * reply. The command has taken `ticks` since it began to wait. */
void blocking_finish(struct blocking *blocking, struct session *session, uint64_t ticks);

/* Does the session wait for work of another thread? Then its command has changed the data already,
 * and has not been answered. */
bool blocking_is_for_work(const struct session *session);

/* The deadline of the session's wait has come: answers what the request's `expire` writes. */
void blocking_time_is_up(struct session *session);

/* CLIENT UNBLOCK: wakes the session as if its time was up, or with "UNBLOCKED client unblocked via
 * CLIENT UNBLOCK". False when it does not wait, or waits for work. */
bool blocking_unblock(struct blocking *blocking, struct session *session, bool with_error);

/* WAITAOF: answers, as if their time was up, all sessions that wait for the append-only file and
 * for which `is_done` returns true. Returns whether there were any. O(sessions that wait for
 * it). */
bool blocking_wake_synced(struct blocking *blocking, bool (*is_done)(const struct session *));

/* Sessions that wait; those of them that have a deadline; keys that are waited for. O(1). */
size_t blocking_session_count(const struct blocking *blocking);
size_t blocking_deadline_count(const struct blocking *blocking);
size_t blocking_key_count(const struct blocking *blocking);

#endif
