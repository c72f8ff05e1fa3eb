/* waiter: blocked clients as structs, for the code that serves them: see the drawing in
 * blocking.h. */
#ifndef PACKLIST_ENGINE_WAITER_H
#define PACKLIST_ENGINE_WAITER_H

#include "ds/timer_wheel.h"
#include "engine/args.h"
#include "engine/blocking.h"
#include "engine/client.h"
#include "engine/keytable.h"

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

/* Has the waiter's timer fire at its deadline, or when it wakes before. It must not be set. */
void blocking_set_timer(struct blocking *blocking, struct waiter *waiter);

/* The same, to ask again soon what the waiter wakes for, which cannot be done now. */
void blocking_set_timer_again(struct blocking *blocking, struct waiter *waiter);

bool blocking_deadline_has_come(const struct waiter *waiter);

/* Frees a key that has no waits and is not ready. */
void blocking_free_key_if_idle(struct blocking *blocking, struct blocked_key *key);

#endif
