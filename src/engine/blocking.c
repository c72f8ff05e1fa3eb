/* blocking: see the drawing in blocking.h.
 *
 * Invariants: a blocked key is in its database's table while it has a wait or stands in the ready
 * queue, and only then; a waiter's waits are all linked or all unlinked; a session has
 * SESSION_BLOCKED exactly while it has a waiter. */
#include "engine/blocking.h"

#include "base/chain.h"
#include "base/clock.h"
#include "base/memory/alloc.h"
#include "engine/engine.h"
#include "net/net.h"
#include "resp/reply.h"
#include "store/keyspace.h"
#include "table/command.h"
#include "types/value.h"

#include <assert.h>

/* --- Blocked keys --- */

void blocking_free_key_if_idle(struct blocking *blocking, struct blocked_key *key) {
    if (key->first || key->is_ready) return;
    keytable_delete(&blocking->keys, key);
}

static void link_wait(struct blocking *blocking, struct wait *wait, struct waiter *waiter,
                      struct blocked_key *key) {
    *wait = (struct wait){.waiter = waiter, .key = key};
    CHAIN_APPEND(key->first, key->last, wait, prev, next);
    if (waiter->kind->on_deleted) blocking->nokey_count += key->deletion_count++ == 0;
}

static void unlink_wait(struct blocking *blocking, struct wait *wait) {
    struct blocked_key *key = wait->key;
    if (key->next_served == wait) key->next_served = wait->next;
    CHAIN_REMOVE(key->first, key->last, wait, prev, next);
    if (wait->waiter->kind->on_deleted) blocking->nokey_count -= --key->deletion_count == 0;
    blocking_free_key_if_idle(blocking, key);
}

/* --- Deadlines --- */

/* The wheel runs on the monotonic clock, so a change of the wall clock does not move a deadline. */
static int64_t wheel_now(void) {
    return clock_monotonic_us() / 1000;
}

/* The time of the wheel that corresponds to a time of the wall clock. The current millisecond has
 * already begun, so add one: no wait ends early. */
static int64_t wheel_time(int64_t wall_ms, int64_t now_ms) {
    return wheel_now() + (wall_ms - now_ms) + 1;
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

static void on_deadline(struct timer_node *node, void *arg) {
    struct blocking *blocking = arg;
    struct waiter *waiter =
        (struct waiter *)(void *)((char *)node - offsetof(struct waiter, timer));
    blocking->engine->upward->time_is_up(waiter->session);
}

static void on_timer(void *arg) {
    struct blocking *blocking = arg;
    engine_update_clock(blocking->engine);
    timer_wheel_advance(&blocking->deadlines, wheel_now(), on_deadline, blocking);
    arm_timer(blocking);
}

/* --- Waiting --- */

/* Puts the waiter in the lists of its keys. The copied arguments from `names` on are pointed to the
 * names that the table holds. */
static void link_waits(struct blocking *blocking, struct waiter *waiter, int database,
                       const struct block_request *request, struct slice *names) {
    for (size_t i = 0; i < request->key_count; i++) {
        struct blocked_key *key =
            keytable_find_or_add(&blocking->keys, database, request->keys[i], sizeof(*key));
        names[i] = key->key.name;
        if (key->last && key->last->waiter == waiter) continue; /* the same key twice */
        link_wait(blocking, &waiter->waits[waiter->wait_count++], waiter, key);
        waiter->allocated += sizeof(*key) + key->key.name.len;
    }
}

void blocking_add(struct blocking *blocking, struct call *call,
                  const struct block_request *request) {
    size_t state_at = sizeof(struct waiter) + request->key_count * sizeof(struct wait);
    size_t size = state_at + request->state_size;
    size_t first_key = request->key_count > 0 ? (size_t)(request->keys - call->argv) : 0;
    assert(call_may_block(call) && !call_session(call)->waiter);
    struct waiter *waiter = mem_alloc(size);
    *waiter = (struct waiter){
        .session = call_session(call),
        .command = call->command,
        .args = args_copy_others(call->argv, call->argc, first_key, request->key_count),
        .kind = request->kind,
        .state = (char *)waiter + state_at,
    };
    waiter->args->is_secret = call->command && call->command->secrets != SECRETS_NONE;
    if (request->state_size > 0) memcpy(waiter->state, request->state, request->state_size);
    waiter->allocated = size + waiter->args->allocated;
    link_waits(blocking, waiter, call->database, request, waiter->args->argv + first_key);
    if (waiter->kind->is_done)
        CHAIN_APPEND(blocking->sync_first, blocking->sync_last, waiter, sync_prev, sync_next);
    call_session(call)->waiter = waiter;
    call_session(call)->flags |= SESSION_BLOCKED;
    blocking->session_count++;
    waiter->deadline =
        request->deadline_ms == 0 ? INT64_MAX : wheel_time(request->deadline_ms, call->now_ms);
    blocking_set_timer(blocking, waiter);
}

/* Has it fire at this time, on the wheel's clock, or at its deadline. */
static void set_timer(struct blocking *blocking, struct waiter *waiter, int64_t time) {
    if (waiter->deadline < time) time = waiter->deadline;
    if (time == INT64_MAX) return;
    timer_wheel_add(&blocking->deadlines, &waiter->timer, time);
    arm_timer(blocking);
}

void blocking_set_timer(struct blocking *blocking, struct waiter *waiter) {
    const struct waiter_kind *kind = waiter->kind;
    int64_t wakes_ms = kind->wakes_at ? kind->wakes_at(waiter->state) : INT64_MAX;
    bool wakes = wakes_ms != INT64_MAX;
    set_timer(blocking, waiter, wakes ? wheel_time(wakes_ms, blocking->engine->now_ms) : INT64_MAX);
}

void blocking_set_timer_again(struct blocking *blocking, struct waiter *waiter) {
    enum { AGAIN_MS = 10 };
    set_timer(blocking, waiter, wheel_now() + AGAIN_MS);
}

bool blocking_deadline_has_come(const struct waiter *waiter) {
    return waiter->deadline <= wheel_now();
}

size_t blocking_allocated(const struct session *session) {
    return session->waiter ? session->waiter->allocated : 0;
}

void blocking_remove(struct blocking *blocking, struct session *session) {
    struct waiter *waiter = session->waiter;
    if (!waiter) return;
    for (size_t i = 0; i < waiter->wait_count; i++) unlink_wait(blocking, &waiter->waits[i]);
    if (waiter->kind->is_done)
        CHAIN_REMOVE(blocking->sync_first, blocking->sync_last, waiter, sync_prev, sync_next);
    timer_wheel_remove(&waiter->timer);
    session->waiter = NULL;
    session->flags &= ~(uint32_t)SESSION_BLOCKED;
    blocking->session_count--;
    if (waiter->kind->left) waiter->kind->left(waiter->state);
    args_free(waiter->args);
    mem_free(waiter);
}

/* --- Ready keys --- */

/* Returns whether the key holds a value that a blocked command may take from. As in Redis, one that
 * has expired is left to the next command that looks at it. */
static bool holds_value(struct engine *engine, const struct blocked_key *key) {
    struct keyspace *keyspace = engine->keyspaces[key->key.space];
    const struct entry *entry = keyspace_find(keyspace, key->key.name).entry;
    return entry && !entry_has_expired(entry, engine->now_ms) && value_wakes_clients(entry);
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

void blocking_signal_deleted(struct blocking *blocking, int database, struct slice name) {
    if (blocking->keys.count == 0) return;
    struct blocked_key *key = keytable_find(&blocking->keys, database, name);
    if (key && key->deletion_count > 0) signal_key(blocking, key);
}

void blocking_signal_database(struct engine *engine, struct blocking *blocking, int database) {
    struct hashtable_iter iter;
    hashtable_iter_start(&iter, blocking->keys.spaces[database]);
    for (struct blocked_key *key; (key = hashtable_iter_next(&iter));)
        if (key->deletion_count > 0 || holds_value(engine, key)) signal_key(blocking, key);
}

void blocking_note_synced(struct blocking *blocking) {
    blocking->sync_is_due = true;
}

void blocking_answer_unserved(struct call *call, const struct waiter_kind *kind,
                              const void *state) {
    if (kind->unserved)
        kind->unserved(call, state);
    else
        reply_null_array(call->reply);
}

bool blocking_is(const struct session *session, const struct waiter_kind *kind) {
    return session->waiter && session->waiter->kind == kind;
}

bool blocking_is_for_work(const struct session *session) {
    return session->waiter && session->waiter->kind->for_work;
}

bool blocking_has_ready(const struct blocking *blocking) {
    return blocking->ready_first != NULL;
}

/* --- Life --- */

void blocking_start(struct engine *engine) {
    struct blocking *blocking = mem_alloc_zeroed(sizeof(*blocking));
    blocking->engine = engine;
    keytable_init(&blocking->keys, engine->databases);
    timer_wheel_init(&blocking->deadlines, wheel_now());
    blocking->timer = net_timer_new(engine->net, on_timer, blocking);
    engine->blocking = blocking;
}

/* Keys may be ready that were not served: the server has ended in the middle of a script. */
void blocking_stop(struct engine *engine) {
    struct blocking *blocking = engine->blocking;
    struct blocked_key *next;
    for (struct blocked_key *key = blocking->ready_first; key; key = next) {
        next = key->ready_next;
        keytable_delete(&blocking->keys, key);
    }
    keytable_free(&blocking->keys);
    net_timer_free(blocking->timer);
}

void blocking_free(struct engine *engine) {
    mem_free(engine->blocking);
}
