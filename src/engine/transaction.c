#include "engine/transaction.h"

#include "base/memory/alloc.h"
#include "engine/client.h"
#include "engine/engine.h"
#include "resp/reply.h"
#include "table/command.h"

#include <assert.h>
#include <string.h>

/* --- Life --- */

struct transaction *transaction_begin(struct session *session) {
    if (!session->transaction)
        session->transaction = mem_alloc_zeroed(sizeof(*session->transaction));
    return session->transaction;
}

void transaction_open(struct session *session) {
    transaction_begin(session);
    session->flags |= SESSION_MULTI;
}

void transaction_end(struct session *session) {
    struct engine *engine = session->requester.engine;
    struct transaction *transaction = session->transaction;
    if (!transaction) return;
    watch_clear(engine->watches, &transaction->watcher);
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

static void append(struct transaction *transaction, const struct command *command, uint32_t flags,
                   const struct slice *argv, size_t argc) {
    MEM_RESERVE(transaction->queue, transaction->capacity, transaction->count + 1);
    struct args *args = args_copy(argv, argc);
    args->is_secret = command->secrets != SECRETS_NONE;
    transaction->queue[transaction->count++] = (struct queued_command){command, args};
    transaction->counted_bytes += argc * sizeof(char *);
    for (size_t i = 0; i < argc; i++) transaction->counted_bytes += argv[i].len;
    transaction->args_allocated += args->allocated;
    transaction->command_flags |= flags;
    transaction->missing_flags |= ~flags;
}

/* EXEC will refuse an aborted transaction, so its further commands need not be kept. A client that
 * pipelines does not know this yet and still gets QUEUED. */
void transaction_queue(struct session *session, struct reply *reply, const struct command *command,
                       uint32_t flags, const struct slice *argv, size_t argc) {
    struct transaction *transaction = session->transaction;
    assert(session->flags & SESSION_MULTI);
    if (!transaction->is_aborted && !transaction->watcher.is_touched)
        append(transaction, command, flags, argv, argc);
    reply_status(reply, SLICE("QUEUED"));
}

/* --- Stats --- */

uint32_t transaction_flags(const struct session *session, uint32_t flags) {
    const uint32_t permissions = COMMAND_LOADING | COMMAND_STALE;
    const struct transaction *transaction = session->transaction;
    if (!transaction) return flags;
    return (flags | transaction->command_flags) & ~(transaction->missing_flags & permissions);
}

size_t transaction_counted_bytes(const struct session *session) {
    return session->transaction ? session->transaction->counted_bytes : 0;
}

size_t transaction_queue_allocated(const struct session *session) {
    const struct transaction *transaction = session->transaction;
    if (!transaction) return 0;
    return transaction->args_allocated + transaction->capacity * sizeof(struct queued_command);
}

size_t transaction_allocated(const struct session *session) {
    const struct transaction *transaction = session->transaction;
    if (!transaction) return 0;
    return sizeof(*transaction) + transaction->watcher.allocated +
           transaction_queue_allocated(session);
}
