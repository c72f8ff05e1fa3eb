/* execute: the one place where commands are run, whoever asks for it.
 *
 *      request of a client ───────┐                     ┌─ refused: an error is answered
 *      command of a file ─────────┴─ find ── admit ─────┼─ postponed (CLIENT PAUSE)
 *                                                       ├─ queued (MULTI)
 *      queue of a transaction ──────────────────────────┴─ run ─┐
 *      blocked client, its key is ready ── serve ───────────────┴─ propagate, count
 *      expiry, eviction ── call_of_server: the functions of call.h
 *
 * `find` and `admit` ask everything that must be asked before a command runs: does it exist, does
 * it get the right number of arguments, may this client run it now, is there memory for it. Behind
 * `run` a change goes to the command log, and the command is counted. */
#ifndef PACKLIST_EXECUTE_EXECUTE_H
#define PACKLIST_EXECUTE_EXECUTE_H

#include "base/slice.h"
#include "engine/call.h"
#include "session/session.h"
#include "table/command.h"

struct engine;

enum execution {
    EXECUTION_DONE,     /* it was run (perhaps it waits for a key now), or queued in MULTI */
    EXECUTION_REFUSED,  /* it was not run */
    EXECUTION_POSTPONED /* nothing was done: CLIENT PAUSE holds the session, which was marked */
};

/* Finds the command that the arguments of a client name (argc > 0), asks whether it may be run, and
 * runs it. The answer goes to `reply`. */
enum execution execute(struct session *session, struct reply *reply, const struct slice *argv,
                       size_t argc);

/* The same for a command of the append-only file, which is neither propagated nor counted. The
 * answer of one that was run goes to `reply`. who->error says why it was refused, or which kind of
 * error it has answered; CALL_ERROR_NONE if it has not. Never postponed. */
enum execution execute_from_file(struct requester *who, struct reply *reply,
                                 const struct slice *argv, size_t argc);

/* Runs a command that a transaction has queued: it was admitted then. It cannot block. The reply
 * goes to `reply`. */
void execute_queued(struct session *session, struct reply *reply, const struct command *command,
                    const struct slice *argv, size_t argc);

/* A command of a client that was blocked, which goes on. */
struct resumption {
    struct session *session;
    const struct command *command;
    const struct slice *argv;
    size_t argc;
    struct reply *reply;
    uint64_t ticks; /* that it has taken before */
};

/* Lets `serve` answer from the key of a database. True if it did: then the command counts as
 * executed. */
bool execute_serve(const struct resumption *resumption,
                   bool (*serve)(struct call *call, struct slice key), int database,
                   struct slice key);

/* Lets `finish` answer, as the wait has ended without a key. */
void execute_finish(const struct resumption *resumption, void (*finish)(struct call *call));

/* A batch of requests begins: the time of the first one is counted from here. */
void execute_begin_batch(struct engine *engine);

/* Reads the wall clock again if a millisecond has passed since it was read last, as far as
 * engine->ticks (the end of the last command) tells. One comparison otherwise. Not to be called
 * inside EXEC, where time stands still. */
void execute_renew_clock(struct engine *engine);

#endif
