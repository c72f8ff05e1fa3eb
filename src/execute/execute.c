#include "execute/execute.h"

#include "base/checked.h"
#include "base/clock.h"
#include "cluster/route.h"
#include "engine/blocking.h"
#include "engine/call_make.h"
#include "engine/checks.h"
#include "engine/engine.h"
#include "engine/put_off.h"
#include "engine/slow.h"
#include "engine/transaction.h"
#include "execute/admission.h"
#include "resp/reply.h"
#include "resp/reply_sink.h"
#include "session/clients.h"
#include "session/invalidate.h"
#include "session/monitor.h"
#include "session/outbox.h"
#include "session/pause.h"
#include "session/session.h"
#include "table/command.h"

#include <assert.h>

/* --- Time --- */

void execute_begin_batch(struct engine *engine) {
    engine->ticks = clock_ticks();
    engine->clock_due = engine->ticks + engine->ticks_per_ms;
}

/* The batch has lasted so long that the clock must be read again. */
static __attribute__((noinline)) void renew_clock(struct engine *engine) {
    engine_update_clock(engine);
    engine->clock_due = engine->ticks + engine->ticks_per_ms;
}

inline void execute_renew_clock(struct engine *engine) {
    if (engine->ticks >= engine->clock_due) renew_clock(engine);
}

/* --- Before and after a command --- */

static inline __attribute__((always_inline)) struct call
call_for(enum call_origin origin, struct requester *requester, struct reply *reply,
         const struct command *command, const struct slice *argv, size_t argc) {
    return call_make(requester->engine, origin, requester, requester->database, reply,
                     (struct command_line){command, argv, argc});
}

/* Ends the unit of a client: its reply waits until the unit is safe. */
static inline __attribute__((always_inline)) void end_unit_of(struct session *session) {
    struct command_log *log = &session->requester.engine->command_log;
    command_log_end_unit(log);
    session->log_offset = command_log_end(log);
    session->stream_log_offset = command_log_end_for_replicas(log);
}

/* Propagates a change: the command as the client sent it, or what it has propagated itself. */
static void propagate(const struct call *call, bool changed) {
    struct command_log *log = &call->engine->command_log;
    if (changed && call->command->flags & COMMAND_WRITE && !call->has_propagated)
        call_log(call, call->argv, call->argc);
    if (call->origin == ORIGIN_TRANSACTION || call->origin == ORIGIN_SCRIPT ||
        call->origin == ORIGIN_PRIMARY)
        return;
    if (!command_log_is_inside_unit(log)) return;
    if (call->engine->restrictions & RESTRICTED_BUSY) return; /* it is a script's, which goes on */
    end_unit_of(call_session(call));
}

static inline void check(const struct call *call) {
    if (CHECKS_ARE_ON && call->command->flags & COMMAND_WRITE)
        checks_keyspace(&call->engine->checks, call->keyspace);
}

static inline __attribute__((always_inline)) bool is_error(const struct reply *reply,
                                                           size_t begin) {
    return reply->len > begin && reply->data[begin] == '-';
}

/* Counts the error that was replied. */
static __attribute__((noinline)) void count_error(struct engine *engine, struct slice text) {
    engine->stats.errors++;
    error_stats_count(&engine->stats.by_error, text);
}

/* Returns the error that was replied from `begin` on, without the '-'. */
static struct slice error_text(const struct reply *reply, size_t begin) {
    return slice_make(reply->data + begin + 1, reply->len - begin - 1);
}

/* Shows the command, which has run, to those who look at each of them. */
static __attribute__((noinline)) void show_to_observers(const struct call *call) {
    if (!(call->command->flags & COMMAND_SKIP_MONITOR)) monitor_feed(call);
    invalidate_note_read(call);
}

static inline void show(const struct call *call) {
    if (call->engine->clients->observers) show_to_observers(call);
}

/* --- A run --- */

/* One run of a command, whatever its origin: begin_run, then the command's function, or what serves
 * a client that waits, then end_run. They are inlined where the origin is known. */
struct run {
    enum call_origin origin;
    struct requester *requester;
    struct reply *reply;
    size_t begin;         /* of what it replies */
    uint64_t dirty;       /* engine->dirty before */
    uint64_t ticks_begin; /* clock_ticks */
};

static inline __attribute__((always_inline)) struct run
begin_run(enum call_origin origin, struct requester *requester, struct reply *reply) {
    const struct engine *engine = requester->engine;
    /* Other commands follow one another. Between these, others may have run. */
    bool is_alone = origin == ORIGIN_SCRIPT || origin == ORIGIN_BLOCKED;
    if (origin_is_repeated(origin)) requester->error = CALL_ERROR_NONE;
    return (struct run){.origin = origin,
                        .requester = requester,
                        .reply = reply,
                        .begin = reply->len,
                        .dirty = engine->dirty,
                        .ticks_begin = is_alone ? clock_ticks() : engine->ticks};
}

static inline __attribute__((always_inline)) bool has_failed(struct run run) {
    if (run.origin == ORIGIN_SCRIPT) return __builtin_expect(run.reply->sink->error.ptr != NULL, 0);
    return is_error(run.reply, run.begin);
}

static struct slice error_of(struct run run) {
    return run.origin == ORIGIN_SCRIPT ? run.reply->sink->error : error_text(run.reply, run.begin);
}

/* Counts the run, which has taken so long. */
static inline __attribute__((always_inline)) void count(struct run run, const struct call *call,
                                                        uint64_t ticks) {
    struct engine *engine = run.requester->engine;
    struct command_stats *stats = &engine->stats.by_command[command_index(call->command)];
    if (has_failed(run)) {
        if (!call->error_is_counted) count_error(engine, error_of(run));
        stats->failed++;
    }
    stats_count_call(stats, ticks, engine->config.latency_tracking);
    engine->stats.commands++;
    run.requester->commands++;
    /* Nothing else announces a script's large reply, which needs no buffer. */
    if (ticks >= engine->slow_ticks ||
        (run.origin == ORIGIN_SCRIPT && run.reply->len >= SLOW_LARGE_REPLY))
        slow_note_command(call, session_of_sender(call), ticks, run.begin);
}

/* Checks and propagates what was changed. */
static inline __attribute__((always_inline)) void end_changes(struct run run,
                                                              const struct call *call) {
    const struct engine *engine = run.requester->engine;
    check(call);
    /* Not call->propagates: a command in the transaction may have turned the log on. */
    if (engine->command_log.is_on) propagate(call, engine->dirty != run.dirty);
}

/* Ends the run of a command that has replied, or now makes its client wait; then it is counted when
 * it replies. A command of a file is not counted. */
static inline __attribute__((always_inline)) void end_run(struct run run, const struct call *call) {
    struct session *session = run.requester->session;
    end_changes(run, call);
    if (run.origin == ORIGIN_FILE) return;
    uint64_t now = clock_ticks();
    run.requester->engine->ticks = now;
    if (run.origin == ORIGIN_CLIENT && session->waiter)
        session->waiter->ticks = now - run.ticks_begin;
    else
        count(run, call, now - run.ticks_begin);
    show(call);
}

/* Of the call it is given what its caller has in registers: the gates may have seen the call. */
static inline __attribute__((always_inline)) void
run_command(enum call_origin origin, struct requester *requester, struct reply *reply,
            const struct command *command, struct call *call) {
    struct run run = begin_run(origin, requester, reply);
    command->run(call);
    end_run(run, call);
}

/* --- Origins --- */

/* As admit, which is asked only where something is closed. */
static inline __attribute__((always_inline)) enum admission ask(const struct call *call) {
    uint64_t closed = admission_closed(call);
    if (closed | admission_is_restricted(call)) return admit(call, closed);
    CHECKED_ASSERT(admission_gates_are_open(call));
    return ADMISSION_GRANTED;
}

void execute_queued(struct session *session, struct reply *reply, const struct command *command,
                    const struct slice *argv, size_t argc) {
    struct engine *engine = session->requester.engine;
    assert(session->transaction);
    uint64_t begin_ticks = engine->ticks;
    size_t begin = reply->len;
    struct call call =
        call_for(ORIGIN_TRANSACTION, &session->requester, reply, command, argv, argc);
    if (ask(&call) == ADMISSION_REFUSED) {
        count_error(engine, error_text(reply, begin));
        return;
    }
    run_command(ORIGIN_TRANSACTION, &session->requester, reply, command, &call);
    engine->stats.queued_ticks += engine->ticks - begin_ticks;
}

void execute_end_transaction(struct session *session) {
    struct engine *engine = session->requester.engine;
    if (!put_off_end(engine) || engine->shutting_down) return;
    if (command_log_is_inside_unit(&engine->command_log)) end_unit_of(session);
    put_off_run(engine);
}

static enum execution refuse(struct session *session, const struct reply *reply, size_t begin) {
    begin = outbox_reply_begin(session_outbox(session), begin);
    count_error(session->requester.engine, error_text(reply, begin));
    transaction_abort(session);
    invalidate_end_request(session);
    return EXECUTION_REFUSED;
}

enum execution execute(struct session *session, struct reply *reply, const struct slice *argv,
                       size_t argc) {
    size_t begin = reply->len;
    struct requester *requester = &session->requester;
    const struct command *command = admission_find(ORIGIN_CLIENT, requester, reply, argv, argc);
    if (!command) return refuse(session, reply, begin);
    struct call call = call_for(ORIGIN_CLIENT, requester, reply, command, argv, argc);
    enum admission admission = ask(&call);
    if (admission == ADMISSION_REFUSED) return refuse(session, reply, begin);
    if (admission == ADMISSION_POSTPONED) {
        pause_hold(session);
        return EXECUTION_POSTPONED;
    }
    if (session->flags & SESSION_MULTI && !(command->flags & COMMAND_NOT_QUEUED))
        transaction_queue(session, reply, command, admission_flags(session, command, argv), argv,
                          argc);
    else
        run_command(ORIGIN_CLIENT, requester, reply, command, &call);
    return EXECUTION_DONE;
}

/* --- Files and the primary --- */

/* Runs a command of a file or of the primary. */
static enum execution run_written(enum call_origin origin, struct requester *requester,
                                  struct reply *reply, const struct slice *argv, size_t argc) {
    assert(!requester->session && argc > 0);
    const struct command *command = admission_find(origin, requester, reply, argv, argc);
    if (!command) return EXECUTION_REFUSED;
    struct call call = call_for(origin, requester, reply, command, argv, argc);
    if (ask(&call) == ADMISSION_REFUSED) return EXECUTION_REFUSED;
    struct run run = begin_run(origin, requester, reply);
    command->run(&call);
    if (!requester->error && has_failed(run)) requester->error = CALL_ERROR_OTHER;
    end_run(run, &call);
    return EXECUTION_DONE;
}

enum execution execute_from_file(struct requester *requester, struct reply *reply,
                                 const struct slice *argv, size_t argc) {
    return run_written(ORIGIN_FILE, requester, reply, argv, argc);
}

enum execution execute_from_primary(struct requester *requester, struct reply *reply,
                                    const struct slice *argv, size_t argc) {
    return run_written(ORIGIN_PRIMARY, requester, reply, argv, argc);
}

void execute_end_unit(struct engine *engine) {
    command_log_end_unit(&engine->command_log);
}

/* --- Scripts --- */

void execute_for_script(struct script_scope *scope, struct reply *reply, const struct slice *argv,
                        size_t argc) {
    struct requester *requester = &scope->requester;
    struct engine *engine = requester->engine;
    const struct command *command = admission_find(ORIGIN_SCRIPT, requester, reply, argv, argc);
    if (!command) {
        count_error(engine, reply->sink->error);
        return;
    }
    struct call call = call_for(ORIGIN_SCRIPT, requester, reply, command, argv, argc);
    if (ask(&call) == ADMISSION_REFUSED) {
        count_error(engine, reply->sink->error);
        return;
    }
    scope->has_written = scope->has_written || command->flags & COMMAND_WRITE;
    if (engine->cluster && scope->slot < 0 && !scope->may_cross_slots)
        scope->slot = route_first_slot(&call);
    command_log_address(&engine->command_log, scope->audience);
    run_command(ORIGIN_SCRIPT, requester, reply, command, &call);
    command_log_address(&engine->command_log, COMMAND_LOG_ALL);
    scope->ticks = engine->ticks;
}

/* --- Blocked clients --- */

static struct call resumed_call(const struct resumption *resumption) {
    return call_for(ORIGIN_BLOCKED, &resumption->session->requester, resumption->reply,
                    resumption->command, resumption->argv, resumption->argc);
}

/* Asks whether the client, whose user may have lost rights while it waited for a key, may still run
 * its command. If not, replies the error and returns true. */
static bool is_refused_now(const struct resumption *resumption) {
    size_t begin = resumption->reply->len;
    struct call call = resumed_call(resumption);
    if (resumption->session->waiter->kind->for_work || ask(&call) == ADMISSION_GRANTED)
        return false;
    count_error(call.engine, error_text(resumption->reply, begin));
    return true;
}

bool execute_serve(const struct resumption *resumption,
                   bool (*serve)(struct call *call, struct slice key, void *state), int database,
                   struct slice key) {
    struct requester *requester = &resumption->session->requester;
    struct engine *engine = requester->engine;
    if (is_refused_now(resumption)) return true;
    struct run run = begin_run(ORIGIN_BLOCKED, requester, resumption->reply);
    struct call call = resumed_call(resumption);
    call.database = database;
    call.keyspace = engine->keyspaces[database];
    bool is_served = serve(&call, key, resumption->state);
    end_changes(run, &call);
    if (!is_served) return false;
    engine->ticks = clock_ticks(); /* the next command does not count this time as its own */
    count(run, &call, resumption->ticks + engine->ticks - run.ticks_begin);
    if (engine->clients->observers) invalidate_note_read(&call);
    return true;
}

void execute_finish(const struct resumption *resumption,
                    void (*finish)(struct call *call, const void *state)) {
    struct requester *requester = &resumption->session->requester;
    struct run run = begin_run(ORIGIN_BLOCKED, requester, resumption->reply);
    struct call call = resumed_call(resumption);
    finish(&call, resumption->state);
    end_changes(run, &call);
    count(run, &call, resumption->ticks);
}
