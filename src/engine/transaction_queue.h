/* transaction_queue: a transaction as a struct, for the commands that run it. */
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
    size_t counted_bytes; /* bytes that client-query-buffer-limit counts */
    size_t args_allocated;
    uint32_t command_flags; /* flags that any queued command has */
    uint32_t missing_flags; /* … and those that any of them does not have */
    bool is_aborted;        /* a command could not be queued */
};

/* Returns the session's transaction; makes one if it has none. The session owns it. */
struct transaction *transaction_begin(struct session *session);

#endif
