/* blocking_serve: replies to clients that wait (engine/blocking.h), when a key is ready or when
 * their wait ends without one. */
#ifndef PACKLIST_EXECUTE_BLOCKING_SERVE_H
#define PACKLIST_EXECUTE_BLOCKING_SERVE_H

#include <stdbool.h>
#include <stdint.h>

struct blocking;
struct engine;
struct session;
struct waiter_kind;

/* Serves the waiters of all ready keys, and of the keys that become ready while it does so.
 * O(clients served), and the cost of their commands. Not inside a command. */
void blocking_serve(struct engine *engine, struct blocking *blocking);

/* What the session waits for, which is not a key, has come further: its kind's `serve` replies, or
 * goes on waiting. Not inside a command. The session must wait, and its kind have `serve`. */
void blocking_advance(struct blocking *blocking, struct session *session);

/* Ends the session's wait without a key: its work is done, its deadline has come, or the file is
 * synced. The kind's `unserved` writes the reply. The command has taken `ticks` since its
 * wait began. The session must wait. */
void blocking_finish(struct blocking *blocking, struct session *session, uint64_t ticks);

/* Ends, as blocking_finish does, the waits of all sessions that are of this kind. O(sessions). */
void blocking_finish_all(struct blocking *blocking, const struct waiter_kind *kind);

/* The timer of the session's wait has fired: ends the wait if its deadline has
 * come; otherwise it is the time at which its kind wakes, and it is served if it can be, once no
 * pause holds its command. */
void blocking_time_is_up(struct session *session);

/* CLIENT UNBLOCK: ends the session's wait as if its deadline had come, or with the error "UNBLOCKED
 * client unblocked via CLIENT UNBLOCK". Returns false when the session does not wait, or waits for
 * work of another thread. */
bool blocking_unblock(struct blocking *blocking, struct session *session, bool with_error);

/* The server becomes a replica: all waits end with the error "UNBLOCKED force unblock …", except
 * those for work, and the clients are disconnected. O(clients). */
void blocking_end_all(struct blocking *blocking);

/* Slots of a cluster have other owners, or it does not serve any more: the waits for keys that this
 * node does not serve end with the error that says so (cluster/route.h). O(clients). */
void blocking_redirect_all(struct blocking *blocking);

/* The work of a session in another thread has ended (engine/work.h), after so many ticks. */
void blocking_work_has_ended(struct session *session, uint64_t ticks);

/* WAIT, WAITAOF: ends the waits of all sessions whose kind says that they have what they wait for
 * (`is_done`), as if their deadline had come. Returns whether there were any; they are queued to
 * resume. O(1) when blocking_note_synced was not called since, otherwise O(sessions that wait so *
 * replicas). Call it once in each loop iteration. */
bool blocking_wake_synced(struct blocking *blocking);

#endif
