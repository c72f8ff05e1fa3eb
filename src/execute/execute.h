/* execute: the one place where commands run, whatever their origin.
 *
 *      request of a client ───────┐                     ┌─ refused: an error is answered
 *      command of a file ─────────┴─ find ── admit ─────┼─ postponed (CLIENT PAUSE)
 *                                                       ├─ queued (MULTI)
 *      command of a script ──────── find ── admit ──────┼─ refused
 *      command of the primary ───── find ── admit ──────┼─ refused
 *      queue of a transaction ──────────────────────────┴─ run ─┐
 *      blocked client, its key is ready ── serve ───────────────┴─ propagate, count
 *      expiry, eviction ── call_of_server: the functions of call.h
 *
 * `find` and `admit` make every check before a command runs: whether it exists and gets a valid
 * number of arguments, whether this client may run it now, whether there is memory for it. After
 * `run` a change goes to the command log, and the command is counted.
 */
#ifndef PACKLIST_EXECUTE_EXECUTE_H
#define PACKLIST_EXECUTE_EXECUTE_H

#include "base/slice.h"
#include "engine/call.h"
#include "execute/admission.h"
#include "session/session.h"
#include "table/command.h"

struct engine;

enum execution {
    EXECUTION_DONE,     /* it was run (it may wait for a key now), or queued in MULTI */
    EXECUTION_REFUSED,  /* it was not run */
    EXECUTION_POSTPONED /* nothing was done: CLIENT PAUSE holds the session back; it is marked */
};

/* Finds the command that a client's arguments name (argc > 0), checks whether it may run, and runs
 * it. Writes the reply or the error to `reply`. */
enum execution execute(struct session *session, struct reply *reply, const struct slice *argv,
                       size_t argc);

/* As execute, for a command of the append-only file, which is neither propagated nor counted.
 * Writes the reply of a command that was run to `reply`. requester->error is the reason for a
 * refusal or the kind of error that the command replied; otherwise CALL_ERROR_NONE. Never
 * postponed. */
enum execution execute_from_file(struct requester *requester, struct reply *reply,
                                 const struct slice *argv, size_t argc);

/* As execute, for a command that the server's primary sends. It is counted, and what it changes is
 * propagated, as a part of a unit that execute_end_unit ends. requester->error is set as by
 * execute_from_file. Never postponed, and never refused for lack of memory. */
enum execution execute_from_primary(struct requester *requester, struct reply *reply,
                                    const struct slice *argv, size_t argc);

/* Ends the unit of the command log, if one is open. */
void execute_end_unit(struct engine *engine);

/* Runs a command of a transaction's queue, which was admitted when it was queued. It cannot block.
 * Writes its reply to `reply`. */
void execute_queued(struct session *session, struct reply *reply, const struct command *command,
                    const struct slice *argv, size_t argc);

/* Call when the queue of EXEC has run: if work was put off to that (engine/put_off.h), ends the
 * unit and does it. */
void execute_end_transaction(struct session *session);

/* Finds and runs a command for a script: `reply` has a sink (resp/reply_sink.h), which gets the
 * reply, or the error when the command was refused. The command does not block, and what it
 * propagates belongs to the unit of the command that runs the script. Counted as a client's
 * command. */
void execute_for_script(struct script_scope *scope, struct reply *reply, const struct slice *argv,
                        size_t argc);

/* What is needed to go on with the command of a blocked client. */
struct resumption {
    struct session *session;
    const struct command *command;
    const struct slice *argv;
    size_t argc;
    struct reply *reply;
    uint64_t ticks; /* clock_ticks that it has taken before */
    void *state;    /* of its wait */
};

/* Calls `serve` with the key of a database. Returns true if it replied; the command then counts as
 * executed. */
bool execute_serve(const struct resumption *resumption,
                   bool (*serve)(struct call *call, struct slice key, void *state), int database,
                   struct slice key);

/* Calls `finish` to write the reply, because the wait has ended without a key. */
void execute_finish(const struct resumption *resumption,
                    void (*finish)(struct call *call, const void *state));

/* Call it when a batch of requests begins: the duration of the first one is measured from here. */
void execute_begin_batch(struct engine *engine);

/* Reads the wall clock if a millisecond has passed between the last reading and engine->ticks, the
 * end of the last command. Otherwise one comparison. Do not call it inside EXEC, where the clock
 * does not advance. */
void execute_renew_clock(struct engine *engine);

#endif
