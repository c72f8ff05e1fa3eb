#include "server/execute.h"

#include "base/clock.h"
#include "server/admission.h"
#include "server/blocking.h"
#include "server/checks.h"
#include "server/monitor.h"
#include "server/pause.h"
#include "server/server.h"
#include "server/server_clock.h"
#include "server/slow.h"
#include "server/transaction.h"

/* --- Time --- */

void execute_begin_batch(void) {
    server.ticks = clock_ticks();
    server.clock_due = server.ticks + server.ticks_per_ms;
}

/* A batch has lasted so long that time has passed since it began. */
static __attribute__((noinline)) void renew_clock(void) {
    server_update_clock();
    server.clock_due = server.ticks + server.ticks_per_ms;
}

inline void execute_renew_clock(void) {
    if (server.ticks >= server.clock_due) renew_clock();
}

/* --- Before a command and behind it --- */

static inline __attribute__((always_inline)) struct call
call_for(enum call_origin origin, struct requester *who, struct reply *reply,
         const struct command *command, const struct slice *argv, size_t argc) {
    return (struct call){
        .argv = argv,
        .argc = argc,
        .reply = reply,
        .keyspace = server.keyspaces[who->database],
        .database = who->database,
        .requester = who,
        .command = command,
        .limits = &server.value_limits,
        .now_ms = server.now_ms,
        .origin = (uint8_t)origin,
        .propagates = server.command_log.is_on,
    };
}

/* A change goes to the command log, as the command came or as it has said. */
static void propagate(const struct call *call, bool changed) {
    struct command_log *log = &server.command_log;
    if (changed && call->command->flags & COMMAND_WRITE && !call->has_propagated)
        command_log_append(log, call->database, call->argv, call->argc);
    if (call->origin == ORIGIN_TRANSACTION || !command_log_is_inside_unit(log)) return;
    command_log_end_unit(log);
    call_session(call)->log_offset = command_log_end(log);
}

static inline void check(const struct call *call) {
    if (CHECKS_ARE_ON && call->command->flags & COMMAND_WRITE) checks_keyspace(call->keyspace);
}

static bool is_error(const struct reply *reply, size_t begin) {
    return reply->len > begin && reply->data[begin] == '-';
}

/* Counts an error that was answered. */
static bool count_error(const struct reply *reply, size_t begin) {
    if (!is_error(reply, begin)) return false;
    server.stats.errors++;
    error_stats_count(&server.stats.by_error, slice_make(reply->data + begin, reply->len - begin));
    return true;
}

/* The command was answered, from `begin` of the reply on, after so many ticks of its own. Inlined
 * as it is on every command's way. */
static inline __attribute__((always_inline)) void count(const struct call *call, size_t begin,
                                                        uint64_t ticks) {
    struct command_stats *stats = &server.stats.by_command[command_index(call->command)];
    if (count_error(call->reply, begin)) stats->failed++;
    stats_count_call(stats, ticks, server.config.latency_tracking);
    server.stats.commands++;
    if (ticks >= server.slow_ticks)
        slow_note_command(call_session(call), call->command, call->argv, call->argc, ticks);
}

/* At once or in EXEC. Inlined in both places, one of which is on every command's way. */
static inline __attribute__((always_inline)) void run(enum call_origin origin,
                                                      struct session *session,
                                                      const struct command *command,
                                                      const struct slice *argv, size_t argc) {
    size_t begin = server.reply.len;
    uint64_t ticks_begin = server.ticks;
    struct call call = call_for(origin, &session->requester, &server.reply, command, argv, argc);
    uint64_t dirty = server.dirty;
    command->run(&call);
    check(&call);
    /* Not call.propagates: the log may have got a reader inside a transaction. */
    if (server.command_log.is_on) propagate(&call, server.dirty != dirty);
    uint64_t ticks = clock_ticks();
    server.ticks = ticks;
    if (session->waiter)
        blocking_note_ticks(session, ticks - ticks_begin); /* counted when it is answered */
    else
        count(&call, begin, ticks - ticks_begin);
    if (server.monitors.count) monitor_feed(session, command, argv, argc);
}

/* --- Origins --- */

void execute_queued(struct session *session, const struct command *command,
                    const struct slice *argv, size_t argc) {
    uint64_t begin_ticks = server.ticks;
    run(ORIGIN_TRANSACTION, session, command, argv, argc);
    server.stats.queued_ticks += server.ticks - begin_ticks;
}

static enum execution refuse(struct session *session, size_t reply_begin) {
    count_error(&server.reply, reply_begin);
    transaction_abort(session);
    return EXECUTION_REFUSED;
}

enum execution execute(struct session *session, const struct slice *argv, size_t argc) {
    struct reply *reply = &server.reply;
    size_t begin = reply->len;
    const struct command *command = admission_find(&session->requester, reply, argv, argc);
    if (!command) return refuse(session, begin);
    enum admission admission = admission_check(session, reply, command);
    if (admission == ADMISSION_REFUSED) return refuse(session, begin);
    if (admission == ADMISSION_POSTPONED) {
        pause_hold(session);
        return EXECUTION_POSTPONED;
    }
    if (session->flags & SESSION_MULTI && !(command->flags & COMMAND_NOT_QUEUED))
        transaction_queue(session, reply, command, argv, argc);
    else
        run(ORIGIN_CLIENT, session, command, argv, argc);
    return EXECUTION_DONE;
}

enum execution execute_from_file(struct requester *who, struct reply *reply,
                                 const struct slice *argv, size_t argc) {
    const struct command *command = admission_find(who, reply, argv, argc);
    if (!command || admission_check_file(who, command) == ADMISSION_REFUSED)
        return EXECUTION_REFUSED;
    size_t begin = reply->len;
    struct call call = call_for(ORIGIN_FILE, who, reply, command, argv, argc);
    who->error = CALL_ERROR_NONE;
    command->run(&call);
    check(&call);
    if (!who->error && is_error(reply, begin)) who->error = CALL_ERROR_OTHER;
    return EXECUTION_DONE;
}

/* --- Blocked clients --- */

static struct call resumed_call(const struct resumption *resumption) {
    struct session *session = resumption->session;
    return call_for(ORIGIN_BLOCKED, &session->requester, resumption->reply, resumption->command,
                    resumption->argv, resumption->argc);
}

bool execute_serve(const struct resumption *resumption,
                   bool (*serve)(struct call *call, struct slice key), int database,
                   struct slice key) {
    size_t begin = resumption->reply->len;
    uint64_t ticks_begin = clock_ticks();
    struct call call = resumed_call(resumption);
    call.database = database;
    call.keyspace = server.keyspaces[database];
    uint64_t dirty = server.dirty;
    bool is_served = serve(&call, key);
    check(&call);
    if (server.command_log.is_on) propagate(&call, server.dirty != dirty);
    if (!is_served) return false;
    server.ticks = clock_ticks(); /* not the next command's time */
    count(&call, begin, resumption->ticks + server.ticks - ticks_begin);
    return true;
}

void execute_finish(const struct resumption *resumption, void (*finish)(struct call *call)) {
    size_t begin = resumption->reply->len;
    struct call call = resumed_call(resumption);
    finish(&call);
    count(&call, begin, resumption->ticks);
}
