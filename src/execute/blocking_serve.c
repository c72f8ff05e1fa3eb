/* blocking_serve: see the head of blocking_serve.h. */
#include "execute/blocking_serve.h"

#include "base/checked.h"
#include "cluster/route.h"
#include "engine/blocking.h"
#include "engine/claim.h"
#include "engine/engine.h"
#include "execute/execute.h"
#include "resp/reply.h"
#include "session/clients.h"
#include "session/invalidate.h"
#include "session/outbox.h"
#include "session/pause.h"
#include "session/session.h"
#include "types/value.h"

#include <assert.h>

/* --- Replies without a key --- */

/* Returns what the executor needs to go on with the waiter's command, which has taken `ticks` since
 * its wait began. */
static struct resumption resume(const struct waiter *waiter, struct reply *reply, uint64_t ticks) {
    return (struct resumption){
        .session = waiter->session,
        .command = waiter->command,
        .argv = waiter->args->argv,
        .argc = waiter->args->argc,
        .reply = reply,
        .ticks = waiter->ticks + ticks,
        .state = waiter->state,
    };
}

static void answer_unblocked(struct call *call, const void *state) {
    (void)state;
    reply_error(call->reply, "UNBLOCKED client unblocked via CLIENT UNBLOCK");
}

/* The session has its reply and may run commands again. */
static void end_wait(struct blocking *blocking, struct session *session) {
    blocking_remove(blocking, session);
    invalidate_end_request(session);
    session_resume_later(session);
}

static void answer_unserved(struct call *call, const void *state) {
    blocking_answer_unserved(call, call_session(call)->waiter->kind, state);
}

/* Ends the wait without a key: `answer` writes the reply. `ticks` have passed since the wait
 * began. */
static void end_unserved(struct blocking *blocking, struct session *session,
                         void (*answer)(struct call *call, const void *state), uint64_t ticks) {
    struct reply *reply = outbox_begin(session);
    struct resumption resumption = resume(session->waiter, reply, ticks);
    execute_finish(&resumption, answer);
    outbox_end(session);
    end_wait(blocking, session);
}

bool blocking_unblock(struct blocking *blocking, struct session *session, bool with_error) {
    const struct waiter *waiter = session->waiter;
    if (!waiter || waiter->kind->for_work) return false;
    end_unserved(blocking, session, with_error ? answer_unblocked : answer_unserved, 0);
    return true;
}

static void answer_forced(struct call *call, const void *state) {
    (void)state;
    reply_error(call->reply, "UNBLOCKED force unblock from blocking operation, instance state "
                             "changed (master -> replica?)");
}

void blocking_end_all(struct blocking *blocking) {
    struct session *next;
    for (struct session *session = blocking->engine->clients->sessions.first; session;
         session = next) {
        next = session->next;
        if (!session->waiter || session->waiter->kind->for_work) continue;
        end_unserved(blocking, session, answer_forced, 0);
        session_close_after_reply(session);
    }
}

static void answer_redirected(struct call *call, const void *state) {
    struct session *session = call_session(call);
    struct route route = route_find(&session->requester, call->command, call->argv, call->argc);
    sds error = route_error(session, &route);
    (void)state;
    reply_error(call->reply, error);
    sds_free(error);
}

void blocking_redirect_all(struct blocking *blocking) {
    struct session *next;
    for (struct session *session = blocking->engine->clients->sessions.first; session;
         session = next) {
        const struct waiter *waiter = session->waiter;
        next = session->next;
        if (!waiter || waiter->wait_count == 0) continue;
        const struct args *args = waiter->args;
        struct route route =
            route_find(&session->requester, waiter->command, args->argv, args->argc);
        if (route.kind != ROUTE_HERE) end_unserved(blocking, session, answer_redirected, 0);
    }
}

void blocking_finish(struct blocking *blocking, struct session *session, uint64_t ticks) {
    assert(session->waiter && session->flags & SESSION_BLOCKED);
    end_unserved(blocking, session, answer_unserved, ticks);
}

void blocking_work_has_ended(struct session *session, uint64_t ticks) {
    struct engine *engine = session->requester.engine;
    engine_update_clock(engine);
    blocking_finish(engine->blocking, session, ticks);
}

void blocking_finish_all(struct blocking *blocking, const struct waiter_kind *kind) {
    struct session *next;
    for (struct session *session = blocking->engine->clients->sessions.first; session;
         session = next) {
        next = session->next;
        if (blocking_is(session, kind)) blocking_finish(blocking, session, 0);
    }
}

bool blocking_wake_synced(struct blocking *blocking) {
    bool woken = false;
    struct waiter *next;
    if (!blocking->sync_is_due) return false;
    blocking->sync_is_due = false;
    for (struct waiter *waiter = blocking->sync_first; waiter; waiter = next) {
        next = waiter->sync_next;
        struct session *session = waiter->session;
        if (!waiter->kind->is_done(session, waiter->state)) continue;
        blocking_finish(blocking, session, 0);
        woken = true;
    }
    return woken;
}

/* --- Serving --- */

/* Returns whether the key holds a value that a blocked command may take from. The waiter's own
 * `serve` checks its type. Reads the clock first, because the transaction that pushed to the key
 * may have lasted until the key expired. */
static bool key_can_serve(struct engine *engine, struct blocked_key *key) {
    execute_renew_clock(engine);
    struct call call = call_of_server(engine, key->key.space);
    const struct entry *entry = call_find(&call, key->key.name, 0, NULL);
    return entry && value_wakes_clients(entry);
}

/* Calls `serve`, a function of the waiter's kind or NULL, for a key. The waiter may be freed by
 * it. */
static void serve_one(struct blocking *blocking, struct waiter *waiter,
                      bool (*serve)(struct call *call, struct slice key, void *state), int database,
                      struct slice key) {
    if (!serve) return;
    struct session *session = waiter->session;
    struct reply *reply = outbox_begin(session);
    struct resumption resumption = resume(waiter, reply, 0);
    bool is_served = execute_serve(&resumption, serve, database, key);
    outbox_end(session);
    if (is_served && session->waiter) end_wait(blocking, session);
}

/* Ends works that have claimed a key of the waiter's command. Returns whether there were any, and
 * so the waiter may have gone. */
static bool ends_claims(struct engine *engine, const struct waiter *waiter) {
    const struct args *args = waiter->args;
    return engine->restrictions & RESTRICTED_CLAIMED && waiter->command &&
           claims_end_for(engine, waiter->command, args->argv, args->argc);
}

void blocking_advance(struct blocking *blocking, struct session *session) {
    struct waiter *waiter = session->waiter;
    CHECKED_ASSERT(waiter && waiter->kind->serve);
    engine_update_clock(blocking->engine);
    if (ends_claims(blocking->engine, waiter) && session->waiter != waiter) return;
    serve_one(blocking, waiter, waiter->kind->serve, session->requester.database, SLICE(""));
    if (blocking_has_ready(blocking)) blocking_serve(blocking->engine, blocking);
}

void blocking_time_is_up(struct session *session) {
    struct blocking *blocking = session->requester.engine->blocking;
    struct waiter *waiter = session->waiter;
    if (blocking_deadline_has_come(waiter)) {
        blocking_finish(blocking, session, 0);
    } else if (pause_holds(session->requester.engine, waiter->command->flags)) {
        blocking_set_timer_again(blocking, waiter);
    } else {
        blocking_advance(blocking, session);
        if (session->waiter == waiter) blocking_set_timer(blocking, waiter);
    }
}

/* Serving one client sends messages to others. Those that exceed their output limit are closed, and
 * may be waiters of this key. */
static void serve_key(struct engine *engine, struct blocking *blocking, struct blocked_key *key) {
    key->next_served = key->first;
    while (key->next_served) {
        struct waiter *waiter = key->next_served->waiter;
        if (ends_claims(engine, waiter)) continue;
        bool is_deleted = !key_can_serve(engine, key);
        if (is_deleted && key->deletion_count == 0) break;
        key->next_served = key->next_served->next;
        const struct waiter_kind *kind = waiter->kind;
        serve_one(blocking, waiter, is_deleted ? kind->on_deleted : kind->serve, key->key.space,
                  key->key.name);
    }
    key->next_served = NULL;
}

void blocking_serve(struct engine *engine, struct blocking *blocking) {
    struct blocked_key *key;
    while ((key = blocking->ready_first)) {
        blocking->ready_first = key->ready_next;
        if (!blocking->ready_first) blocking->ready_last = NULL;
        serve_key(engine, blocking, key); /* which does not free a key that is_ready */
        key->is_ready = false;
        blocking_free_key_if_idle(blocking, key);
    }
}
