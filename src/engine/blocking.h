/* blocking: clients that wait until a key can serve them.
 *
 *      session ── waiter ──┬─ wait ── blocked key "a" (database 0): first wait … last wait
 *                          └─ wait ── blocked key "b" (database 0): …
 *
 * Each blocked key holds its waits in order of arrival. Each wait is linked into its key's list, so
 * a waiter leaves all of its keys without a search. A write to a key that a client waits for queues
 * the key as ready, once; it is served after the command. Deadlines are in a timer wheel. Serving a
 * waiter costs O(1) per key that it waits for, however many others wait.
 *
 * The replies are written by execute/blocking_serve.h. */
#ifndef PACKLIST_ENGINE_BLOCKING_H
#define PACKLIST_ENGINE_BLOCKING_H

#include "base/slice.h"
#include "ds/timer_wheel.h"
#include "engine/args.h"
#include "engine/call_struct.h"
#include "engine/client.h"
#include "engine/keytable.h"

#include <stdbool.h>
#include <stddef.h>

struct engine;

/* --- Structs, for execute/blocking_serve.c --- */

/* One waiter in one key's list. */
struct wait {
    struct waiter *waiter;
    struct blocked_key *key;
    struct wait *prev;
    struct wait *next;
};

struct waiter {
    struct session *session;
    const struct command *command;
    struct args *args;
    const struct waiter_kind *kind;
    void *state;              /* after the waits, in the same allocation */
    struct timer_node timer;  /* in the wheel while there is a deadline, or a time to wake */
    int64_t deadline;         /* on the wheel's clock; INT64_MAX: none */
    struct waiter *sync_prev; /* in the chain from blocking->sync_first, if the kind has is_done */
    struct waiter *sync_next;
    size_t allocated; /* bytes, with the arguments and the keys that it waits for */
    uint64_t ticks;   /* of the command before the wait */
    size_t wait_count;
    struct wait waits[];
};

struct blocked_key {
    struct keytable_key key;
    struct wait *first;
    struct wait *last;
    struct wait *next_served; /* the next to be tried while the key is being served */
    struct blocked_key *ready_next;
    size_t deletion_count; /* waits whose kind has on_deleted */
    bool is_ready;
};

struct blocking {
    struct engine *engine;
    struct keytable keys; /* of struct blocked_key */
    size_t session_count;
    size_t nokey_count; /* keys with a deletion_count */
    struct blocked_key *ready_first;
    struct blocked_key *ready_last;
    struct waiter *sync_first; /* waiters for the append-only file and for replicas */
    struct waiter *sync_last;
    bool sync_is_due; /* some of them may be done */
    struct timer_wheel deadlines;
    struct net_timer *timer;
};

/* Makes engine->blocking, with a timer in engine->net that calls time_is_up (engine/upward.h). */
void blocking_start(struct engine *engine);

/* Frees the timer and all keys, once no session is left and before net_free. Until blocking_free
 * only blocking_note_synced may be called: a thread may still end that writes to the disk. */
void blocking_stop(struct engine *engine);
void blocking_free(struct engine *engine);

/* Makes the call's session wait as `request` says. O(keys and bytes of the arguments). */
void blocking_add(struct blocking *blocking, struct call *call,
                  const struct block_request *request);

/* Returns the bytes of memory that the session's wait takes: its arguments and the names of its
 * keys. Each client that waits for a key is charged for the whole name. 0 when the session does not
 * wait. O(1). */
size_t blocking_allocated(const struct session *session);

/* A key was written: queues it as ready if a client waits for it. O(1); one test while no client
 * waits. */
void blocking_signal(struct blocking *blocking, int database, struct slice key);

/* A key was deleted: queues it as ready if a client that waits for it must know that. As above. */
void blocking_signal_deleted(struct blocking *blocking, int database, struct slice key);

/* The keys of the database were replaced: queues as ready those that clients wait for and that can
 * be served now, or must know of a deletion. O(keys of the database that clients wait for). */
void blocking_signal_database(struct engine *engine, struct blocking *blocking, int database);

/* Returns whether blocking_serve has something to do. O(1). */
bool blocking_has_ready(const struct blocking *blocking);

/* More is on the disk in the append-only file, or confirmed by a replica, or the file was turned
 * off: the kinds with `is_done` may be. blocking_wake_synced looks. O(1). */
void blocking_note_synced(struct blocking *blocking);

/* Ends the session's wait without a reply, because it closes or was served. Does nothing when it
 * does not wait. O(keys that it waits for). */
void blocking_remove(struct blocking *blocking, struct session *session);

/* Writes the reply of a client whose wait ends without a key, or that may not wait: what the kind
 * says, or a null array. */
void blocking_answer_unserved(struct call *call, const struct waiter_kind *kind, const void *state);

/* Returns whether the session waits, and in this way. O(1). */
bool blocking_is(const struct session *session, const struct waiter_kind *kind);

/* Returns whether the session waits for work of another thread. Such a command has changed the data
 * already but has no reply yet. O(1). */
bool blocking_is_for_work(const struct session *session);

/* --- For execute/blocking_serve.c --- */

/* Has the waiter's timer fire at its deadline, or when it wakes before. It must not be set. */
void blocking_set_timer(struct blocking *blocking, struct waiter *waiter);

/* The same, to ask again soon what the waiter wakes for, which cannot be done now. */
void blocking_set_timer_again(struct blocking *blocking, struct waiter *waiter);

bool blocking_deadline_has_come(const struct waiter *waiter);

/* Frees a key that has no waits and is not ready. */
void blocking_free_key_if_idle(struct blocking *blocking, struct blocked_key *key);

#endif
