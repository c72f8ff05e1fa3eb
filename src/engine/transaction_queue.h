/* transaction_queue: a transaction as a struct, for what runs it. */
#ifndef PACKLIST_ENGINE_TRANSACTION_QUEUE_H
#define PACKLIST_ENGINE_TRANSACTION_QUEUE_H

#include "engine/args.h"
#include "engine/transaction.h"
#include "engine/watch.h"

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

/* The session's transaction, made if it has none. */
struct transaction *transaction_begin(struct session *session);

#endif
