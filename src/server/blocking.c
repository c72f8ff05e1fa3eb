/* blocking: see the drawing in blocking.h.
 *
 * Invariants: a blocked key is in its database's table exactly while it has a wait, or until it was
 * taken off the ready queue; a waiter's waits are all linked or all unlinked; a session has
 * SESSION_BLOCKED exactly while it has a waiter. */
#include "server/blocking.h"

#include "base/alloc.h"
#include "base/chain.h"
#include "base/clock.h"
#include "ds/timer_wheel.h"
#include "net/net.h"
#include "server/args.h"
#include "server/execute.h"
#include "server/keytable.h"
#include "server/server.h"
#include "types/value.h"

struct blocked_key;

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
    bool (*serve)(struct call *call, struct slice key);
    void (*expire)(struct call *call);
    struct timer_node timer; /* in the wheel when there is a deadline */
    bool awaits_sync;        /* it is linked into the registry's chain of these */
    struct waiter *sync_prev;
    struct waiter *sync_next;
    size_t allocated; /* with the arguments and the keys that it waits for */
    bool for_work;
    uint64_t ticks; /* what the command took before it waited */
    size_t wait_count;
    struct wait waits[];
};

struct blocked_key {
    struct keytable_key key;
    struct wait *first;
    struct wait *last;
    struct wait *turn; /* whose turn comes next while the key is being served */
    struct blocked_key *ready_next;
    bool is_ready;
};

struct blocking {
    struct keytable keys; /* the blocked ones */
    size_t session_count;
    struct blocked_key *ready_first;
    struct blocked_key *ready_last;
    struct waiter *sync_first; /* those that wait for the append-only file */
    struct waiter *sync_last;
    struct timer_wheel deadlines;
    struct net_timer *timer;
};

/* --- Keys that are waited for --- */

static void free_key_if_idle(struct blocking *blocking, struct blocked_key *key) {
    if (key->first || key->is_ready) return;
    keytable_delete(&blocking->keys, key);
}

static void link_wait(struct wait *wait, struct waiter *waiter, struct blocked_key *key) {
    *wait = (struct wait){.waiter = waiter, .key = key};
    CHAIN_APPEND(key->first, key->last, wait, prev, next);
}

static void unlink_wait(struct blocking *blocking, struct wait *wait) {
    struct blocked_key *key = wait->key;
    if (key->turn == wait) key->turn = wait->next;
    CHAIN_REMOVE(key->first, key->last, wait, prev, next);
    free_key_if_idle(blocking, key);
}

/* --- Deadlines --- */

/* The wheel runs on the monotonic clock: a change of the wall clock neither hastens nor delays
 * anyone. */
static int64_t wheel_now(void) {
    return clock_monotonic_us() / 1000;
}

static void arm_timer(struct blocking *blocking) {
    int64_t next = timer_wheel_next(&blocking->deadlines);
    if (next == INT64_MAX) {
        net_timer_stop(blocking->timer);
        return;
    }
    int64_t delay = next - wheel_now();
    net_timer_start(blocking->timer, delay > 0 ? (uint64_t)delay : 0, 0);
}

static void end_wait(struct blocking *blocking, struct session *session);

/* The waiter's command goes on, having taken `ticks` since it began to wait. */
static struct resumption resume(const struct waiter *waiter, struct reply *reply, uint64_t ticks) {
    return (struct resumption){
        .session = waiter->session,
        .command = waiter->command,
        .argv = waiter->args->argv,
        .argc = waiter->args->argc,
        .reply = reply,
        .ticks = waiter->ticks + ticks,
    };
}

static void answer_null_array(struct call *call) {
    reply_null_array(call->reply);
}

static void answer_unblocked(struct call *call) {
    reply_error(call->reply, "UNBLOCKED client unblocked via CLIENT UNBLOCK");
}

/* The wait has ended without a key: `answer` writes the reply. */
static void answer_unserved(struct waiter *waiter, void (*answer)(struct call *call),
                            uint64_t ticks) {
    struct session *session = waiter->session;
    struct reply *reply = session_side_begin(session);
    struct resumption resumption = resume(waiter, reply, ticks);
    execute_finish(&resumption, answer);
    session_side_end(session);
}

static void on_deadline(struct timer_node *node, void *arg) {
    struct waiter *waiter =
        (struct waiter *)(void *)((char *)node - offsetof(struct waiter, timer));
    struct session *session = waiter->session;
    answer_unserved(waiter, waiter->expire, 0);
    end_wait(arg, session);
}

static void on_timer(void *arg) {
    struct blocking *blocking = arg;
    server_update_clock();
    timer_wheel_advance(&blocking->deadlines, wheel_now(), on_deadline, blocking);
    arm_timer(blocking);
}

/* --- Waiting --- */

/* Puts the waiter in the lists of its keys. Their names stand in the table, and the copied
 * arguments from `names` on refer to them there. */
static void link_waits(struct blocking *blocking, struct waiter *waiter, int database,
                       const struct block_request *request, struct slice *names) {
    for (size_t i = 0; i < request->key_count; i++) {
        struct blocked_key *key =
            keytable_find_or_add(&blocking->keys, database, request->keys[i], sizeof(*key));
        names[i] = key->key.name;
        if (key->last && key->last->waiter == waiter) continue; /* the same key twice */
        link_wait(&waiter->waits[waiter->wait_count++], waiter, key);
        waiter->allocated += sizeof(*key) + key->key.name.len;
    }
}

void blocking_add(struct blocking *blocking, struct call *call,
                  const struct block_request *request) {
    size_t size = sizeof(struct waiter) + request->key_count * sizeof(struct wait);
    size_t first_key = request->key_count > 0 ? (size_t)(request->keys - call->argv) : 0;
    struct waiter *waiter = mem_alloc(size);
    *waiter = (struct waiter){
        .session = call_session(call),
        .command = call->command,
        .args = args_copy_others(call->argv, call->argc, first_key, request->key_count),
        .serve = request->serve,
        .expire = request->expire ? request->expire : answer_null_array,
        .for_work = request->for_work,
        .awaits_sync = request->awaits_sync,
    };
    waiter->allocated = size + waiter->args->allocated;
    link_waits(blocking, waiter, call->database, request, waiter->args->argv + first_key);
    if (waiter->awaits_sync)
        CHAIN_APPEND(blocking->sync_first, blocking->sync_last, waiter, sync_prev, sync_next);
    call_session(call)->waiter = waiter;
    call_session(call)->flags |= SESSION_BLOCKED;
    blocking->session_count++;
    if (request->deadline_ms == 0) return;
    int64_t wait_ms = request->deadline_ms - call->now_ms;
    /* The millisecond that has begun does not count: nobody's time is up early. */
    timer_wheel_add(&blocking->deadlines, &waiter->timer, wheel_now() + wait_ms + 1);
    arm_timer(blocking);
}

size_t blocking_allocated(const struct session *session) {
    return session->waiter ? session->waiter->allocated : 0;
}

void blocking_note_ticks(struct session *session, uint64_t ticks) {
    session->waiter->ticks = ticks;
}

void blocking_remove(struct blocking *blocking, struct session *session) {
    struct waiter *waiter = session->waiter;
    if (!waiter) return;
    for (size_t i = 0; i < waiter->wait_count; i++) unlink_wait(blocking, &waiter->waits[i]);
    if (waiter->awaits_sync)
        CHAIN_REMOVE(blocking->sync_first, blocking->sync_last, waiter, sync_prev, sync_next);
    timer_wheel_remove(&waiter->timer);
    session->waiter = NULL;
    session->flags &= ~(uint32_t)SESSION_BLOCKED;
    blocking->session_count--;
    args_free(waiter->args);
    mem_free(waiter);
}

/* The session has its answer and may go on. */
static void end_wait(struct blocking *blocking, struct session *session) {
    blocking_remove(blocking, session);
    session_resume_later(session);
}

bool blocking_unblock(struct blocking *blocking, struct session *session, bool with_error) {
    if (!session->waiter || session->waiter->for_work) return false;
    struct waiter *waiter = session->waiter;
    answer_unserved(waiter, with_error ? answer_unblocked : waiter->expire, 0);
    end_wait(blocking, session);
    return true;
}

void blocking_finish(struct blocking *blocking, struct session *session, uint64_t ticks) {
    answer_unserved(session->waiter, session->waiter->expire, ticks);
    end_wait(blocking, session);
}

bool blocking_is_for_work(const struct session *session) {
    return session->waiter && session->waiter->for_work;
}

bool blocking_wake_synced(struct blocking *blocking, bool (*is_done)(const struct session *)) {
    bool woken = false;
    struct waiter *next;
    for (struct waiter *waiter = blocking->sync_first; waiter; waiter = next) {
        next = waiter->sync_next;
        struct session *session = waiter->session;
        if (!is_done(session)) continue;
        answer_unserved(waiter, waiter->expire, 0);
        end_wait(blocking, session);
        woken = true;
    }
    return woken;
}

/* --- Serving --- */

/* Does the key exist as something that a blocked command may take from? Whether it is of the type
 * that a waiter wants is looked at by the waiter's own `serve`. */
static bool key_can_serve(struct blocked_key *key) {
    struct call call = execute_server_call(key->key.space);
    struct keyref ref = call_find_quiet(&call, key->key.name);
    return ref.entry && value_wakes_clients(ref.entry);
}

/* The same, except that an expired key is not deleted: that may end clients that wait, and with
 * them other blocked keys. */
static bool holds_value(const struct blocked_key *key) {
    struct keyspace *keyspace = server.keyspaces[key->key.space];
    const struct entry *entry = keyspace_find(keyspace, key->key.name).entry;
    return entry && value_wakes_clients(entry);
}

static void signal_key(struct blocking *blocking, struct blocked_key *key) {
    if (key->is_ready) return;
    key->is_ready = true;
    key->ready_next = NULL;
    if (blocking->ready_last)
        blocking->ready_last->ready_next = key;
    else
        blocking->ready_first = key;
    blocking->ready_last = key;
}

void blocking_signal(struct blocking *blocking, int database, struct slice name) {
    if (blocking->keys.count == 0) return;
    struct blocked_key *key = keytable_find(&blocking->keys, database, name);
    if (key) signal_key(blocking, key);
}

void blocking_signal_database(struct blocking *blocking, int database) {
    struct hashtable_iter iter;
    hashtable_iter_start(&iter, blocking->keys.spaces[database]);
    for (struct blocked_key *key; (key = hashtable_iter_next(&iter));)
        if (holds_value(key)) signal_key(blocking, key);
}

bool blocking_has_ready(const struct blocking *blocking) {
    return blocking->ready_first != NULL;
}

/* Lets one waiter have its turn at a key. The waiter may be gone after it. */
static void serve_one(struct blocking *blocking, struct waiter *waiter, struct blocked_key *key) {
    struct session *session = waiter->session;
    struct reply *reply = session_side_begin(session);
    struct resumption resumption = resume(waiter, reply, 0);
    bool is_served = execute_serve(&resumption, waiter->serve, key->key.space, key->key.name);
    session_side_end(session);
    if (is_served && session->waiter) end_wait(blocking, session);
}

/* May the waiters of the key be served now? The clock is read again first: a transaction that
 * pushed to the key may have lasted longer than the key was to live. */
static bool can_serve_now(struct blocked_key *key) {
    execute_renew_clock();
    return key_can_serve(key);
}

/* Serving one client may close other clients that wait for the key: those that are sent a message
 * about it and exceed their output limit. */
static void serve_key(struct blocking *blocking, struct blocked_key *key) {
    key->turn = key->first;
    while (key->turn && can_serve_now(key)) {
        struct waiter *waiter = key->turn->waiter;
        key->turn = key->turn->next;
        serve_one(blocking, waiter, key);
    }
    key->turn = NULL;
}

void blocking_serve(struct blocking *blocking) {
    struct blocked_key *key;
    while ((key = blocking->ready_first)) {
        blocking->ready_first = key->ready_next;
        if (!blocking->ready_first) blocking->ready_last = NULL;
        serve_key(blocking, key); /* still marked as ready, so that it is not freed meanwhile */
        key->is_ready = false;
        free_key_if_idle(blocking, key);
    }
}

/* --- Life --- */

struct blocking *blocking_new(struct net *net, int databases) {
    struct blocking *blocking = mem_alloc_zeroed(sizeof(*blocking));
    keytable_init(&blocking->keys, databases);
    timer_wheel_init(&blocking->deadlines, wheel_now());
    blocking->timer = net_timer_new(net, on_timer, blocking);
    return blocking;
}

void blocking_free(struct blocking *blocking) {
    keytable_free(&blocking->keys);
    net_timer_free(blocking->timer);
    mem_free(blocking);
}

size_t blocking_session_count(const struct blocking *blocking) {
    return blocking->session_count;
}

size_t blocking_deadline_count(const struct blocking *blocking) {
    return timer_wheel_count(&blocking->deadlines);
}

size_t blocking_key_count(const struct blocking *blocking) {
    return blocking->keys.count;
}
