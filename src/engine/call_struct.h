/* call_struct: one running command as a struct, and what its client may wait for, for the modules
 * that engine/call.h stands on. Commands include that. */
#ifndef PACKLIST_ENGINE_CALL_STRUCT_H
#define PACKLIST_ENGINE_CALL_STRUCT_H

#include "base/slice.h"
#include "engine/requester.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command;
struct engine;
struct keyspace;
struct reply;
struct session;
struct value_limits;

/* On whose behalf the command runs. */
enum call_origin {
    ORIGIN_CLIENT,
    ORIGIN_TRANSACTION, /* EXEC runs what a client has queued */
    ORIGIN_BLOCKED,     /* a client's wait for a key has ended and its command goes on */
    ORIGIN_SCRIPT,      /* a script runs it, on behalf of the client that runs the script */
    ORIGIN_FILE,        /* the append-only file is being loaded */
    ORIGIN_PRIMARY,     /* the server's primary sends what it has changed */
    ORIGIN_SERVER       /* the server itself, which deletes expired and evicted keys */
};

struct call {
    struct engine *engine;    /* engine/engine.h; opaque to commands/ */
    const struct slice *argv; /* argv[0] is the command's name as sent */
    size_t argc;
    struct reply *reply;
    struct keyspace *keyspace; /* the selected database */
    int database;              /* its number */
    const struct command *command;
    const struct value_limits *limits;
    int64_t now_ms;              /* wall clock; the same for all commands of an EXEC */
    struct requester *requester; /* the client or file; NULL: the server itself */
    uint8_t origin;              /* enum call_origin */
    bool propagates;             /* changes go to the command log: call_propagate_as */
    bool has_propagated;         /* call_propagate_as was called */
    bool frees_in_pool;          /* large values, whatever the directives say: engine/work.h */
    bool error_is_counted;       /* its error is one of a command that it has run: a script's */
    bool refills;                /* it fills a hash again that it finds empty: no "del" then */
};

/* Returns the client that sent the command, or NULL when it came from a file or the server. Opaque
 * to commands/. */
static inline struct session *call_session(const struct call *call) {
    return call->requester ? call->requester->session : NULL;
}

/* Returns whether the command may wait for a key. If not, blocking commands reply at once. */
static inline bool call_may_block(const struct call *call) {
    return call->origin == ORIGIN_CLIENT;
}

/* Returns whether data is being loaded. */
static inline bool call_is_loading(const struct call *call) {
    return call->origin == ORIGIN_FILE;
}

/* Returns whether commands of this origin repeat changes that were made before. */
static inline bool origin_is_repeated(enum call_origin origin) {
    return origin == ORIGIN_FILE || origin == ORIGIN_PRIMARY;
}

/* Returns whether the command repeats a change that was made before, and comes from a file or from
 * the primary. No key expires for it: its source says which keys have expired. */
static inline bool call_is_repeated(const struct call *call) {
    return origin_is_repeated(call->origin);
}

/* --- Waiting --- */

/* What a client waits for, and how its wait ends: one constant for each kind of command that waits.
 * The functions are called with a copy of the original call and the state of its request; those
 * that return bool write nothing when they return false, and the client goes on waiting. */
struct waiter_kind {
    /* A key is ready; or `key` is empty and what else the client waits for has come further
     * (blocking_advance, wakes_at). NULL: it waits for none of these. May change the state. */
    bool (*serve)(struct call *call, struct slice key, void *state);
    /* Writes the reply when the wait ends without a key. NULL: a null array. */
    void (*unserved)(struct call *call, const void *state);
    /* Returns whether the client has what it waits for: then `unserved` replies. Asked when
     * replicas or the disk have come further (blocking_wake_synced). NULL: it does not wait for
     * these. */
    bool (*is_done)(const struct session *session, const void *state);
    /* A key was deleted, or has a value that no client waits for. NULL: the client goes on
     * waiting. */
    bool (*on_deleted)(struct call *call, struct slice key, void *state);
    /* Returns when (wall clock, in ms) `serve` is to be asked although no key is ready; INT64_MAX:
     * never. Asked when the wait begins, and when serve was asked for this reason. NULL: never. */
    int64_t (*wakes_at)(const void *state);
    /* The wait has ended, whatever the reason: frees what the state refers to. May be NULL. */
    void (*left)(const void *state);
    bool for_work; /* of another thread or in steps, or for the deadline alone: until
                      blocking_finish or the deadline, whatever CLIENT UNBLOCK asks for */
};

/* What call_block gets. */
struct block_request {
    const struct waiter_kind *kind;
    const void *state;
    size_t state_size;
    const struct slice *keys; /* a part of the call's argv */
    size_t key_count;
    int64_t deadline_ms;
};

#endif
