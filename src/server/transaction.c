#include "server/transaction.h"

#include "base/alloc.h"
#include "server/args.h"
#include "server/execute.h"
#include "server/server.h"
#include "server/server_commands.h"

#include <string.h>

struct queued {
    const struct command *command;
    struct args *args;
};

struct transaction {
    struct watcher watcher;
    struct queued *queue;
    size_t count;
    size_t capacity;
    size_t counted_bytes; /* by client-query-buffer-limit */
    size_t args_allocated;
    uint32_t command_flags; /* of all queued commands together */
    bool is_aborted;        /* a command could not be queued */
};

/* --- Life --- */

static struct transaction *begin(struct session *session) {
    if (!session->transaction)
        session->transaction = mem_alloc_zeroed(sizeof(*session->transaction));
    return session->transaction;
}

void transaction_end(struct session *session) {
    struct transaction *transaction = session->transaction;
    if (!transaction) return;
    watch_clear(&server.watches, &transaction->watcher);
    for (size_t i = 0; i < transaction->count; i++) args_free(transaction->queue[i].args);
    mem_free(transaction->queue);
    mem_free(transaction);
    session->transaction = NULL;
    session->flags &= ~(uint32_t)SESSION_MULTI;
}

void transaction_abort(struct session *session) {
    if (session->flags & SESSION_MULTI) session->transaction->is_aborted = true;
}

void transaction_refuse(struct session *session, struct reply *reply, const char *error) {
    static const char common[] = "ERR ";
    if (strncmp(error, common, strlen(common)) == 0) error += strlen(common);
    reply_error_format(reply, "EXECABORT Transaction discarded because of: %s", error);
    transaction_end(session);
}

/* --- The queue --- */

static void append(struct transaction *transaction, const struct command *command,
                   const struct slice *argv, size_t argc) {
    if (transaction->count == transaction->capacity)
        transaction->queue =
            mem_grow(transaction->queue, &transaction->capacity, sizeof(struct queued));
    struct args *args = args_copy(argv, argc);
    transaction->queue[transaction->count++] = (struct queued){command, args};
    transaction->counted_bytes += argc * sizeof(char *);
    for (size_t i = 0; i < argc; i++) transaction->counted_bytes += argv[i].len;
    transaction->args_allocated += args->allocated;
    transaction->command_flags |= command->flags;
}

/* What EXEC will not run need not be kept: a client in a pipeline has not seen yet that it is
 * so. */
void transaction_queue(struct session *session, struct reply *reply, const struct command *command,
                       const struct slice *argv, size_t argc) {
    struct transaction *transaction = session->transaction;
    if (!transaction->is_aborted && !transaction->watcher.is_touched)
        append(transaction, command, argv, argc);
    reply_status(reply, SLICE("QUEUED"));
}

/* --- Figures --- */

uint32_t transaction_flags(const struct session *session) {
    return session->transaction ? session->transaction->command_flags : 0;
}

long transaction_count(const struct session *session) {
    return session->flags & SESSION_MULTI ? (long)session->transaction->count : -1;
}

size_t transaction_watch_count(const struct session *session) {
    return session->transaction ? session->transaction->watcher.count : 0;
}

bool transaction_is_touched(const struct session *session) {
    return session->transaction && session->transaction->watcher.is_touched;
}

size_t transaction_counted_bytes(const struct session *session) {
    return session->transaction ? session->transaction->counted_bytes : 0;
}

size_t transaction_queue_allocated(const struct session *session) {
    const struct transaction *transaction = session->transaction;
    if (!transaction) return 0;
    return transaction->args_allocated + transaction->capacity * sizeof(struct queued);
}

size_t transaction_allocated(const struct session *session) {
    const struct transaction *transaction = session->transaction;
    if (!transaction) return 0;
    return sizeof(*transaction) + transaction->watcher.allocated +
           transaction_queue_allocated(session);
}

/* --- MULTI, DISCARD --- */

void multi_command(struct call *call) {
    if (call_session(call)->flags & SESSION_MULTI) {
        reply_error(call->reply, "ERR MULTI calls can not be nested");
        return;
    }
    begin(call_session(call));
    call_session(call)->flags |= SESSION_MULTI;
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

/* Runs the queue. CLIENT REPLY among the commands changes what of the answer is sent: each reply is
 * taken back by the state that its command leaves. Who kills itself hears nothing more. */
static void run_queue(struct call *call, const struct transaction *transaction) {
    uint32_t unwanted = SESSION_REPLY_OFF | SESSION_REPLY_SKIP;
    struct session *session = call_session(call);
    size_t begin = call->reply->len;
    reply_array(call->reply, transaction->count);
    if (session->flags & unwanted) call->reply->len = begin;
    for (size_t i = 0; i < transaction->count; i++) {
        const struct queued *queued = &transaction->queue[i];
        begin = call->reply->len;
        execute_queued(session, queued->command, queued->args->argv, queued->args->argc);
        if (session->flags & unwanted) call->reply->len = begin;
        unwanted |= session->flags & SESSION_CLOSING;
    }
}

void exec_command(struct call *call) {
    struct session *session = call_session(call);
    struct transaction *transaction = session->transaction;
    if (!(session->flags & SESSION_MULTI)) {
        reply_error(call->reply, "ERR EXEC without MULTI");
        return;
    }
    if (transaction->is_aborted) {
        reply_error(call->reply, "EXECABORT Transaction discarded because of previous errors.");
    } else if (transaction->watcher.is_touched ||
               watch_has_expired(&transaction->watcher, server.keyspaces, call->now_ms)) {
        reply_null_array(call->reply);
    } else {
        watch_clear(&server.watches, &transaction->watcher);
        run_queue(call, transaction);
    }
    transaction_end(session);
}

/* --- WATCH, UNWATCH --- */

void watch_command(struct call *call) {
    if (call_session(call)->flags & SESSION_MULTI) {
        reply_error(call->reply, "ERR WATCH inside MULTI is not allowed");
        return;
    }
    struct transaction *transaction = begin(call_session(call));
    for (size_t i = 1; i < call->argc; i++) {
        struct keyref ref = keyspace_find(call->keyspace, call->argv[i]);
        int64_t expiry_ms = ref.entry ? entry_expiry(ref.entry) : -1;
        bool is_expired = expiry_ms >= 0 && call->now_ms > expiry_ms;
        watch_add(&server.watches, &transaction->watcher, call->database, call->argv[i],
                  is_expired);
    }
    reply_ok(call->reply);
}

void unwatch_command(struct call *call) {
    struct session *session = call_session(call);
    if (session->flags & SESSION_MULTI)
        watch_clear(&server.watches, &session->transaction->watcher);
    else
        transaction_end(session);
    reply_ok(call->reply);
}
