#include "execute/execute.h"

#include "base/clock.h"
#include "engine/blocking.h"
#include "engine/call_make.h"
#include "engine/checks.h"
#include "engine/engine.h"
#include "engine/engine_clock.h"
#include "engine/slow.h"
#include "engine/transaction.h"
#include "execute/admission.h"
#include "persist/newer_commands.h"
#include "resp/reply.h"
#include "resp/reply_sink.h"
#include "session/clients.h"
#include "session/monitor.h"
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
    if (CHECKS_ARE_ON && call->command->flags & COMMAND_WRITE) checks_keyspace(call->keyspace);
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

static inline __attribute__((always_inline)) void count_run(struct engine *engine,
                                                            const struct call *call,
                                                            struct command_stats *stats,
                                                            uint64_t ticks) {
    stats_count_call(stats, ticks, engine->config.latency_tracking);
    engine->stats.commands++;
    if (ticks >= engine->slow_ticks) slow_note_command(call, ticks);
}

/* Counts a command: its reply begins at `begin`, and it took `ticks`. Inlined because every command
 * needs it. */
static inline __attribute__((always_inline)) void
count(struct engine *engine, const struct call *call, size_t begin, uint64_t ticks) {
    struct command_stats *stats = &engine->stats.by_command[command_index(call->command)];
    if (is_error(call->reply, begin)) {
        if (!call->error_is_counted) count_error(engine, error_text(call->reply, begin));
        stats->failed++;
    }
    count_run(engine, call, stats, ticks);
}

static inline void feed_monitors(const struct call *call) {
    if (call->engine->clients->monitors.count && !(call->command->flags & COMMAND_SKIP_MONITOR))
        monitor_feed(call);
}

/* Runs a command of a client or of EXEC. Inlined in both places because nearly every command takes
 * one of them. */
static inline __attribute__((always_inline)) void run(enum call_origin origin,
                                                      struct session *session, struct reply *reply,
                                                      const struct command *command,
                                                      const struct slice *argv, size_t argc) {
    struct engine *engine = session->requester.engine;
    size_t begin = reply->len;
    uint64_t ticks_begin = engine->ticks;
    struct call call = call_for(origin, &session->requester, reply, command, argv, argc);
    uint64_t dirty = engine->dirty;
    command->run(&call);
    check(&call);
    /* Not call.propagates: a command in the transaction may have turned the log on. */
    if (engine->command_log.is_on) propagate(&call, engine->dirty != dirty);
    uint64_t ticks = clock_ticks();
    engine->ticks = ticks;
    if (session->waiter)
        blocking_note_ticks(session, ticks - ticks_begin); /* counted with its reply */
    else
        count(engine, &call, begin, ticks - ticks_begin);
    feed_monitors(&call);
}

/* --- Origins --- */

void execute_queued(struct session *session, struct reply *reply, const struct command *command,
                    const struct slice *argv, size_t argc) {
    struct engine *engine = session->requester.engine;
    assert(session->transaction);
    uint64_t begin_ticks = engine->ticks;
    run(ORIGIN_TRANSACTION, session, reply, command, argv, argc);
    engine->stats.queued_ticks += engine->ticks - begin_ticks;
}

void execute_end_transaction(struct session *session) {
    struct engine *engine = session->requester.engine;
    if (!put_off_end(engine) || engine->shutting_down) return;
    if (command_log_is_inside_unit(&engine->command_log)) end_unit_of(session);
    put_off_run(engine);
}

static enum execution refuse(struct session *session, const struct reply *reply, size_t begin) {
    count_error(session->requester.engine, error_text(reply, begin));
    transaction_abort(session);
    return EXECUTION_REFUSED;
}

enum execution execute(struct session *session, struct reply *reply, const struct slice *argv,
                       size_t argc) {
    size_t begin = reply->len;
    const struct command *command = admission_find(&session->requester, reply, argv, argc);
    if (!command) return refuse(session, reply, begin);
    enum admission admission = admission_check(session, reply, command, argv);
    if (admission == ADMISSION_REFUSED) return refuse(session, reply, begin);
    if (admission == ADMISSION_POSTPONED) {
        pause_hold(session);
        return EXECUTION_POSTPONED;
    }
    if (session->flags & SESSION_MULTI && !(command->flags & COMMAND_NOT_QUEUED))
        transaction_queue(session, reply, command, admission_flags(session, command, argv), argv,
                          argc);
    else
        run(ORIGIN_CLIENT, session, reply, command, argv, argc);
    return EXECUTION_DONE;
}

/* Runs a command of a file or of the primary; the contract is that of execute_from_file. */
typedef enum execution runner(struct requester *requester, struct reply *reply,
                              const struct slice *argv, size_t argc);

/* Returns whether a command that has failed, or was refused, can be run in other terms. */
static bool is_translatable(const struct requester *requester, const struct slice *argv,
                            size_t argc) {
    struct newer_translation translation;
    if (!newer_translation_begin(&translation, argv, argc, requester->database)) return false;
    newer_translation_end(&translation);
    return true;
}

/* Runs the commands that a translation consists of. They reply one after another. */
static enum execution run_translation(runner *run_command, struct requester *requester,
                                      struct reply *reply,
                                      const struct newer_translation *translation) {
    enum execution execution = EXECUTION_DONE;
    requester->error = CALL_ERROR_NONE;
    for (size_t i = 0; i < translation->count && !requester->error; i++) {
        size_t begin = reply->len, argc;
        const struct slice *argv = newer_translation_command(translation, i, &argc);
        execution = run_command(requester, reply, argv, argc);
        if (!requester->error) reply->len = begin;
    }
    return execution;
}

/* Runs a command as it is, and if that fails in terms of commands that this server has. A command
 * with options that are unknown fails before it changes anything. */
static inline __attribute__((always_inline)) enum execution
run_or_translate(runner *run_command, struct requester *requester, struct reply *reply,
                 const struct slice *argv, size_t argc) {
    assert(!requester->session && argc > 0);
    struct newer_translation translation;
    size_t begin = reply->len;
    enum execution execution = run_command(requester, reply, argv, argc);
    if (execution == EXECUTION_DONE && !requester->error) return execution;
    if (!newer_translation_begin(&translation, argv, argc, requester->database)) return execution;
    reply->len = begin;
    execution = run_translation(run_command, requester, reply, &translation);
    newer_translation_end(&translation);
    return execution;
}

static enum execution run_from_file(struct requester *requester, struct reply *reply,
                                    const struct slice *argv, size_t argc) {
    const struct command *command = admission_find_written(requester, reply, argv, argc);
    if (!command || admission_check_file(requester, command) == ADMISSION_REFUSED)
        return EXECUTION_REFUSED;
    size_t begin = reply->len;
    struct call call = call_for(ORIGIN_FILE, requester, reply, command, argv, argc);
    requester->error = CALL_ERROR_NONE;
    command->run(&call);
    check(&call);
    if (!requester->error && is_error(reply, begin)) requester->error = CALL_ERROR_OTHER;
    return EXECUTION_DONE;
}

enum execution execute_from_file(struct requester *requester, struct reply *reply,
                                 const struct slice *argv, size_t argc) {
    return run_or_translate(run_from_file, requester, reply, argv, argc);
}

static enum execution run_from_primary(struct requester *requester, struct reply *reply,
                                       const struct slice *argv, size_t argc) {
    struct engine *engine = requester->engine;
    const struct command *command = admission_find_written(requester, reply, argv, argc);
    if (!command || admission_check_primary(requester, command) == ADMISSION_REFUSED)
        return EXECUTION_REFUSED;
    size_t begin = reply->len;
    uint64_t ticks_begin = engine->ticks, dirty = engine->dirty;
    struct call call = call_for(ORIGIN_PRIMARY, requester, reply, command, argv, argc);
    requester->error = CALL_ERROR_NONE;
    command->run(&call);
    check(&call);
    if (engine->command_log.is_on) propagate(&call, engine->dirty != dirty);
    if (!requester->error && is_error(reply, begin)) requester->error = CALL_ERROR_OTHER;
    engine->ticks = clock_ticks();
    if (requester->error && is_translatable(requester, argv, argc)) return EXECUTION_DONE;
    count(engine, &call, begin, engine->ticks - ticks_begin);
    feed_monitors(&call);
    return EXECUTION_DONE;
}

enum execution execute_from_primary(struct requester *requester, struct reply *reply,
                                    const struct slice *argv, size_t argc) {
    return run_or_translate(run_from_primary, requester, reply, argv, argc);
}

void execute_end_unit(struct engine *engine) {
    command_log_end_unit(&engine->command_log);
}

/* --- Scripts --- */

/* Runs a command that was admitted. */
static void run_for_script(struct script_scope *scope, struct reply *reply,
                           const struct command *command, const struct slice *argv, size_t argc) {
    struct engine *engine = scope->requester.engine;
    struct command_stats *stats = &engine->stats.by_command[command_index(command)];
    struct call call = call_for(ORIGIN_SCRIPT, &scope->requester, reply, command, argv, argc);
    uint64_t begin = clock_ticks(), dirty = engine->dirty;
    command_log_address(&engine->command_log, scope->audience);
    command->run(&call);
    check(&call);
    if (call.propagates) propagate(&call, engine->dirty != dirty);
    command_log_address(&engine->command_log, COMMAND_LOG_ALL);
    scope->ticks = clock_ticks();
    uint64_t ticks = scope->ticks - begin;
    if (__builtin_expect(reply->sink->error.ptr != NULL, 0)) {
        count_error(engine, reply->sink->error);
        stats->failed++;
    }
    count_run(engine, &call, stats, ticks);
    feed_monitors(&call);
}

void execute_for_script(struct script_scope *scope, struct reply *reply, const struct slice *argv,
                        size_t argc) {
    const struct command *command = admission_find_for_script(scope, reply, argv, argc);
    if (command && admission_check_script(scope, reply, command))
        run_for_script(scope, reply, command, argv, argc);
    else
        count_error(scope->requester.engine, reply->sink->error);
}

/* --- Blocked clients --- */

static struct call resumed_call(const struct resumption *resumption) {
    struct session *session = resumption->session;
    return call_for(ORIGIN_BLOCKED, &session->requester, resumption->reply, resumption->command,
                    resumption->argv, resumption->argc);
}

bool execute_serve(const struct resumption *resumption,
                   bool (*serve)(struct call *call, struct slice key, const void *state),
                   int database, struct slice key) {
    struct engine *engine = resumption->session->requester.engine;
    size_t begin = resumption->reply->len;
    uint64_t ticks_begin = clock_ticks();
    struct call call = resumed_call(resumption);
    call.database = database;
    call.keyspace = engine->keyspaces[database];
    uint64_t dirty = engine->dirty;
    bool is_served = serve(&call, key, resumption->state);
    check(&call);
    if (engine->command_log.is_on) propagate(&call, engine->dirty != dirty);
    if (!is_served) return false;
    engine->ticks = clock_ticks(); /* the next command does not count this time as its own */
    count(engine, &call, begin, resumption->ticks + engine->ticks - ticks_begin);
    return true;
}

void execute_finish(const struct resumption *resumption,
                    void (*finish)(struct call *call, const void *state)) {
    size_t begin = resumption->reply->len;
    struct call call = resumed_call(resumption);
    finish(&call, resumption->state);
    count(call.engine, &call, begin, resumption->ticks);
}
