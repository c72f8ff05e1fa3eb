/* transaction_commands: MULTI, EXEC, DISCARD, WATCH, UNWATCH. */
#include "engine/call.h"
#include "engine/engine.h"
#include "engine/slow.h"
#include "engine/transaction.h"
#include "execute/execute.h"
#include "execute/execute_commands.h"
#include "resp/reply.h"
#include "session/outbox.h"
#include "session/session.h"
#include "session/session_user.h"
#include "types/string.h"
#include "users/access.h"

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

/* --- EXEC: the queue --- */

/* Looks at the sizes of a command that is large, or whose reply comes behind many others and so
 * need not make the buffer grow. */
static inline void look_at_large(struct engine *engine, const struct queued_command *queued,
                                 const struct reply *reply) {
    if (queued->args->allocated >= engine->large_request || reply->len >= OUTBOX_FLUSH_AT)
        slow_look(engine);
}

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
        look_at_large(call->engine, queued, call->reply);
        execute_queued(session, call->reply, queued->command, queued->args->argv,
                       queued->args->argc);
        if (session->flags & unwanted && call->reply->len > begin)
            reply_truncate(call->reply, begin);
        unwanted |= session->flags & SESSION_CLOSING;
    }
}

/* --- EXEC [IFEQ key value | IFNE key value | NX key | XX key] … (of Valkey) --- */

/* Returns how many words a condition has, which begins at argv[index]; 0 when it is none, or
 * incomplete. */
static size_t condition_length(const struct call *call, size_t index) {
    struct slice word = call->argv[index];
    size_t length = 0;
    if (slice_is(word, "ifeq") || slice_is(word, "ifne")) length = 3;
    if (slice_is(word, "nx") || slice_is(word, "xx")) length = 2;
    return index + length <= call->argc ? length : 0;
}

static bool is_read_condition(struct slice word) {
    return slice_is(word, "ifeq") || slice_is(word, "ifne");
}

/* Refuses EXEC, because the user may not read a key of a condition. */
static void refuse_key(struct call *call, size_t index) {
    struct session *session = call_session(call);
    struct denial denial = {DENIED_KEY, index, call->argv[index]};
    sds text = denial_text(&denial, call->requester->user);
    session_note_denial(session, &denial, ACL_CONTEXT_TOPLEVEL);
    transaction_refuse(session, call->reply, text);
    sds_free(text);
}

/* Returns whether the conditions are valid and the user may ask for their keys; otherwise replies
 * the error, and the transaction has ended. */
static bool check_conditions(struct call *call) {
    const struct user *user = call->requester->user;
    size_t length;
    for (size_t i = 1; i < call->argc; i += length) {
        length = condition_length(call, i);
        if (length == 0) {
            transaction_refuse(call_session(call), call->reply, "ERR syntax error");
            return false;
        }
        if (!user_may_read_key(user, call->argv[i + 1], call->database)) {
            refuse_key(call, i + 1);
            return false;
        }
    }
    return true;
}

/* The key as the queue will find it; NULL: it is missing, or has expired. */
static const struct entry *living(const struct call *call, struct slice key) {
    const struct entry *entry = keyspace_find(call->keyspace, key).entry;
    return entry && !call_is_expired(call, entry) ? entry : NULL;
}

/* `entry`: that of the condition's key. */
static bool condition_holds(const struct call *call, size_t index, const struct entry *entry) {
    char buffer[INT64_TEXT_MAX];
    struct slice word = call->argv[index];
    if (!is_read_condition(word)) return slice_is(word, "xx") == (entry != NULL);
    bool is_equal = entry && slice_equal(string_text(entry, buffer), call->argv[index + 2]);
    return is_equal == slice_is(word, "ifeq");
}

enum verdict { RUN_QUEUE, DISCARD_QUEUE, REFUSE_QUEUE };

/* Asks all conditions. A key of another type is an error, as for SET with IFEQ. */
static enum verdict judge(struct call *call) {
    enum verdict verdict = RUN_QUEUE;
    for (size_t i = 1; i < call->argc; i += condition_length(call, i)) {
        const struct entry *entry = living(call, call->argv[i + 1]);
        if (is_read_condition(call->argv[i]) && entry &&
            !call_check_type(call, entry, VALUE_STRING))
            return REFUSE_QUEUE;
        if (!condition_holds(call, i, entry)) verdict = DISCARD_QUEUE;
    }
    return verdict;
}

static void run_if_met(struct call *call, struct transaction *transaction) {
    struct engine *engine = call->engine;
    enum verdict verdict = judge(call);
    if (verdict == DISCARD_QUEUE) reply_null_array(call->reply);
    if (verdict != RUN_QUEUE) return;
    watch_clear(engine->watches, &transaction->watcher);
    engine->put_off.is_possible = true;
    run_queue(call, transaction);
    execute_end_transaction(call_session(call));
}

void exec_command(struct call *call) {
    struct engine *engine = call->engine;
    struct session *session = call_session(call);
    struct transaction *transaction = session->transaction;
    if (!(session->flags & SESSION_MULTI)) {
        reply_error(call->reply, "ERR EXEC without MULTI");
        return;
    }
    if (!check_conditions(call)) return;
    if (transaction->is_aborted) {
        reply_error(call->reply, "EXECABORT Transaction discarded because of previous errors.");
    } else if (transaction->watcher.is_touched ||
               watch_has_expired(&transaction->watcher, engine->keyspaces, call->now_ms)) {
        reply_null_array(call->reply);
    } else {
        run_if_met(call, transaction);
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
