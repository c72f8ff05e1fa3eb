/* transaction_commands: MULTI, EXEC, DISCARD, WATCH, UNWATCH. */
#include "engine/call.h"
#include "engine/engine.h"
#include "engine/transaction.h"
#include "execute/execute.h"
#include "execute/execute_commands.h"
#include "resp/reply.h"
#include "session/session.h"

/* --- MULTI, DISCARD --- */

void multi_command(struct call *call) {
    if (call_session(call)->flags & SESSION_MULTI) {
        reply_error(call->reply, "ERR MULTI calls can not be nested");
        return;
    }
    transaction_open(call_session(call));
    reply_ok(call->reply);
}

void discard_command(struct call *call) {
    if (!(call_session(call)->flags & SESSION_MULTI)) {
        reply_error(call->reply, "ERR DISCARD without MULTI");
        return;
    }
    transaction_end(call_session(call));
    reply_ok(call->reply);
}

/* --- EXEC --- */

/* Runs the queue. A CLIENT REPLY in it decides whether its own reply and later ones are sent: each
 * reply is dropped if the state after its command says so. A client that killed itself gets no
 * further replies. When another client shuts the server down during a script, the queue ends
 * there. */
static void run_queue(struct call *call, const struct transaction *transaction) {
    uint32_t unwanted = SESSION_REPLY_OFF | SESSION_REPLY_SKIP;
    struct session *session = call_session(call);
    size_t begin = call->reply->len;
    reply_array(call->reply, transaction->count);
    if (session->flags & unwanted) reply_truncate(call->reply, begin);
    for (size_t i = 0; i < transaction->count && !call->engine->shutting_down; i++) {
        const struct queued_command *queued = &transaction->queue[i];
        begin = call->reply->len;
        execute_queued(session, call->reply, queued->command, queued->args->argv,
                       queued->args->argc);
        if (session->flags & unwanted && call->reply->len > begin)
            reply_truncate(call->reply, begin);
        unwanted |= session->flags & SESSION_CLOSING;
    }
}

void exec_command(struct call *call) {
    struct engine *engine = call->engine;
    struct session *session = call_session(call);
    struct transaction *transaction = session->transaction;
    if (!(session->flags & SESSION_MULTI)) {
        reply_error(call->reply, "ERR EXEC without MULTI");
        return;
    }
    if (transaction->is_aborted) {
        reply_error(call->reply, "EXECABORT Transaction discarded because of previous errors.");
    } else if (transaction->watcher.is_touched ||
               watch_has_expired(&transaction->watcher, engine->keyspaces, call->now_ms)) {
        reply_null_array(call->reply);
    } else {
        watch_clear(engine->watches, &transaction->watcher);
        engine->put_off.is_possible = true;
        run_queue(call, transaction);
        execute_end_transaction(session);
    }
    transaction_end(session);
}

/* --- WATCH, UNWATCH --- */

void watch_command(struct call *call) {
    if (call_session(call)->flags & SESSION_MULTI) {
        reply_error(call->reply, "ERR WATCH inside MULTI is not allowed");
        return;
    }
    struct transaction *transaction = transaction_begin(call_session(call));
    for (size_t i = 1; i < call->argc; i++) {
        struct keyref ref = keyspace_find(call->keyspace, call->argv[i]);
        int64_t expiry_ms = ref.entry ? entry_expiry(ref.entry) : -1;
        bool is_expired = expiry_ms >= 0 && call->now_ms > expiry_ms;
        watch_add(call->engine->watches, &transaction->watcher, call->database, call->argv[i],
                  is_expired);
    }
    reply_ok(call->reply);
}

void unwatch_command(struct call *call) {
    struct session *session = call_session(call);
    if (session->flags & SESSION_MULTI)
        watch_clear(call->engine->watches, &session->transaction->watcher);
    else
        transaction_end(session);
    reply_ok(call->reply);
}
