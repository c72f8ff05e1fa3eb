/* dispatch: one lookup, one arity check, one question about the session, then the command runs. */
#include "server/dispatch.h"

#include "base/clock.h"
#include "base/log.h"
#include "durability/aof.h"
#include "server/blocking.h"
#include "server/evict.h"
#include "server/monitor.h"
#include "server/pause.h"
#include "server/server.h"
#include "server/server_commands.h"
#include "server/slow.h"
#include "server/transaction.h"
#include "server/unknown_commands.h"

#include <stdio.h>

enum { UNKNOWN_NAME_MAX = 128, UNKNOWN_ARGUMENTS_MAX = 128 };

/* --- What cannot run --- */

static void refuse_unknown(const struct session *session, struct reply *reply,
                           const struct slice *argv, size_t argc) {
    unknown_command_note(session, argv[0], NULL);
    sds text = sds_append_format(
        sds_new(SLICE("ERR unknown command '")), "%.*s",
        (int)(argv[0].len < UNKNOWN_NAME_MAX ? argv[0].len : UNKNOWN_NAME_MAX), argv[0].ptr);
    text = sds_append_cstr(text, "', with args beginning with: ");
    size_t begin = sds_len(text);
    for (size_t i = 1; i < argc && sds_len(text) - begin < UNKNOWN_ARGUMENTS_MAX; i++) {
        size_t room = UNKNOWN_ARGUMENTS_MAX - (sds_len(text) - begin);
        size_t shown = argv[i].len < room ? argv[i].len : room;
        text = sds_append_format(text, "'%.*s' ", (int)shown, argv[i].ptr);
    }
    reply_error(reply, text);
    sds_free(text);
}

/* Does the request begin like HTTP? A web page that makes a browser talk to this port must not
 * get commands run behind the lines of its request. */
static bool is_http(struct slice name) {
    return slice_is(name, "post") || slice_is(name, "host:");
}

static void cut_off_http(struct session *session) {
    char peer[CONN_NAME_MAX];
    log_warning("Possible security attack: %s sent a request that begins with POST or Host:, as a "
                "web page does that tries to reach this server. Connection aborted.",
                conn_peer_name(conn_of_session(session), peer));
    session_close(session);
}

/* Refuses a command that exists, with a whole error line. */
static void reject(struct session *session, struct reply *reply, const struct command *command,
                   const char *error) {
    server.stats.by_command[command_index(command)].rejected++;
    if (command->run == exec_command)
        transaction_refuse(session, reply, error);
    else
        reply_error(reply, error);
}

static void reject_arity(struct session *session, struct reply *reply,
                         const struct command *command) {
    sds error = sds_append_format(sds_new(SLICE("")),
                                  "ERR wrong number of arguments for '%s' command", command->name);
    reject(session, reply, command, error);
    sds_free(error);
}

/* The command that the arguments name; answers the error and returns NULL when they name none or do
 * not fit it. */
static const struct command *resolve(struct session *session, struct reply *reply,
                                     const struct slice *argv, size_t argc) {
    const struct command *command = command_find_cached(session->last_command, argv[0]);
    if (!command) {
        if (is_http(argv[0]))
            cut_off_http(session);
        else
            refuse_unknown(session, reply, argv, argc);
        return NULL;
    }
    if (command->flags & COMMAND_CONTAINER && argc > 1) {
        const struct command *sub = command_find_subcommand(command, argv[1]);
        if (!sub) {
            call_unknown_subcommand(&(struct call){.argv = argv,
                                                   .argc = argc,
                                                   .reply = reply,
                                                   .command = command,
                                                   .session = session});
            return NULL;
        }
        command = sub;
    }
    if (!command_accepts(command, argc)) {
        reject_arity(session, reply, command);
        return NULL;
    }
    return command;
}

/* Was an error answered, from `begin` on? If so it is counted. */
static bool count_error(const struct reply *reply, size_t begin) {
    if (reply->len <= begin || reply->data[begin] != '-') return false;
    server.stats.errors++;
    error_stats_count(&server.stats.by_error, slice_make(reply->data + begin, reply->len - begin));
    return true;
}

/* --- The rare states of a session --- */

/* The command's flags; EXEC counts as the commands that it will run. */
static uint32_t flags_of(const struct session *session, const struct command *command) {
    if (command->run != exec_command) return command->flags;
    return command->flags | transaction_flags(session);
}

/* Is it one of the few commands that a client may use while it listens to channels, in RESP2, where
 * a message and the reply to a command look alike? */
static bool is_for_listeners(const struct command *command) {
    static void (*const commands[])(struct call *) = {
        subscribe_command,   psubscribe_command,   ssubscribe_command,
        unsubscribe_command, punsubscribe_command, sunsubscribe_command,
        ping_command,        quit_command,         reset_command};
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (command->run == commands[i]) return true;
    return false;
}

static void reject_of_listener(struct session *session, struct reply *reply,
                               const struct command *command) {
    sds error =
        sds_append_format(sds_new(SLICE("")),
                          "ERR Can't execute '%s': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / "
                          "QUIT / RESET are allowed in this context",
                          command->name);
    reject(session, reply, command, error);
    sds_free(error);
}

/* May the session, whose flags are not 0, run this command? If not, the error is answered. */
static bool is_allowed(struct session *session, struct reply *reply,
                       const struct command *command) {
    const char *error;
    if (session->flags & SESSION_NEEDS_AUTH && !(command->flags & COMMAND_NO_AUTH)) {
        error = "NOAUTH Authentication required.";
    } else if (session->flags & SESSION_MULTI && command->flags & COMMAND_NO_MULTI) {
        error = "ERR Command not allowed inside a transaction";
    } else if (session->flags & SESSION_SUBSCRIBED && session->protocol == 2 &&
               !is_for_listeners(command)) {
        reject_of_listener(session, reply, command);
        return false;
    } else if (session->flags & SESSION_MONITOR &&
               flags_of(session, command) &
                   (COMMAND_WRITE | COMMAND_READONLY | COMMAND_MAY_REPLICATE)) {
        error = "ERR Replica can't interact with the keyspace";
    } else {
        return true;
    }
    reject(session, reply, command, error);
    return false;
}

/* Does the command need memory that cannot be had? If so the error is answered. */
static bool is_out_of_memory(struct session *session, const struct command *command) {
    if (!(flags_of(session, command) & COMMAND_DENYOOM) || evict_make_room()) return false;
    reject(session, &server.reply, command, EVICT_REFUSAL);
    return true;
}

/* Are such commands refused at the moment? If so the error is answered. PING is refused with
 * those that write, so that who watches the server learns of it. */
static bool is_refused(struct session *session, const struct command *command) {
    static const char unsaved[] =
        "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist "
        "to disk. Commands that may modify the data set are disabled, because this instance is "
        "configured to report errors during writes if RDB snapshotting fails "
        "(stop-writes-on-bgsave-error option). Please check the Redis logs for details about the "
        "RDB error.";
    uint32_t flags = flags_of(session, command);
    const char *error = NULL;
    sds unwritten = NULL;
    if (flags & COMMAND_WRITE || command->run == ping_command) {
        if (server.refusing & REFUSING_UNWRITTEN)
            error = unwritten = sds_append_format(
                sds_new(SLICE("")), "MISCONF Errors writing to the AOF file: %s", aof_error());
        if (server.refusing & REFUSING_UNSAVED) error = unsaved;
    }
    if (server.refusing & REFUSING_LOADING && !(flags & COMMAND_LOADING)) error = LOADING_REFUSAL;
    if (error) reject(session, &server.reply, command, error);
    sds_free(unwritten);
    return error;
}

/* CLIENT REPLY: takes back what the command has answered when the client does not want it. The
 * reply to a command that waits is still to come: session_tell drops it. `before`: the session's
 * flags when the command came; EXEC takes back by itself what CLIENT REPLY in its queue asks
 * for. */
static void suppress_reply(struct session *session, struct reply *reply, size_t begin,
                           uint32_t before) {
    bool unwanted = before & session->flags & (SESSION_REPLY_OFF | SESSION_REPLY_SKIP);
    if (unwanted && reply->len > begin) reply->len = begin;
    if (session->flags & SESSION_BLOCKED) return;
    session->flags &= ~(uint32_t)SESSION_REPLY_SKIP;
    if (session->flags & SESSION_REPLY_SKIP_NEXT)
        session->flags = (session->flags & ~(uint32_t)SESSION_REPLY_SKIP_NEXT) | SESSION_REPLY_SKIP;
}

/* The messages that came up meanwhile follow the reply. */
static void append_pushes(struct reply *reply) {
    enum { KEEP_MAX = 64 * 1024 };
    struct reply *pushes = &server.pushes;
    if (pushes->len == 0) return;
    reply_raw(reply, slice_make(pushes->data, pushes->len));
    pushes->len = 0;
    if (pushes->capacity > KEEP_MAX) reply_free(pushes);
}

/* --- Running --- */

struct call dispatch_call(struct session *session, struct reply *reply,
                          const struct command *command, const struct slice *argv, size_t argc) {
    return (struct call){
        .argv = argv,
        .argc = argc,
        .reply = reply,
        .keyspace = server.keyspaces[session->database],
        .database = session->database,
        .command = command,
        .list_limits = &server.list_limits,
        .now_ms = server.now_ms,
        .may_block = true,
        .propagates = server.propagation.is_on,
        .session = session,
    };
}

void dispatch_begin(void) {
    server.ticks = clock_ticks();
    server.clock_due = server.ticks + server.ticks_per_ms;
}

/* A batch has lasted so long that time has passed since it began. */
static __attribute__((noinline)) void renew_clock(void) {
    server_update_clock();
    server.clock_due = server.ticks + server.ticks_per_ms;
}

inline void dispatch_renew_clock(void) {
    if (server.ticks >= server.clock_due) renew_clock();
}

/* A command was answered, from `begin` of the reply on, after so many ticks of its own. */
static inline void count_call(const struct session *session, const struct reply *reply,
                              size_t begin, const struct command *command, const struct slice *argv,
                              size_t argc, uint64_t ticks) {
    struct command_stats *stats = &server.stats.by_command[command_index(command)];
    if (count_error(reply, begin)) stats->failed++;
    stats_count_call(stats, ticks, server.config.latency_tracking);
    server.stats.commands++;
    if (ticks >= server.slow_ticks) slow_note_command(session, command, argv, argc, ticks);
}

void dispatch_count_served(const struct session *session, const struct reply *reply, size_t begin,
                           const struct command *command, const struct slice *argv, size_t argc,
                           uint64_t ticks) {
    count_call(session, reply, begin, command, argv, argc, ticks);
}

/* In both places where it is called, of which one is on every command's way. */
static inline __attribute__((always_inline)) void run(struct session *session,
                                                      const struct command *command,
                                                      const struct slice *argv, size_t argc,
                                                      bool may_block) {
    size_t begin = server.reply.len;
    uint64_t begin_ticks = server.ticks;
    struct call call = dispatch_call(session, &server.reply, command, argv, argc);
    call.may_block = may_block;
    uint64_t dirty = server.dirty;
    command->run(&call);
    /* Not call.propagates: who listens may have begun inside a transaction, whose end is told. */
    if (server.propagation.is_on) propagate_ran(&call, server.dirty != dirty, may_block);
    uint64_t ticks = clock_ticks();
    server.ticks = ticks;
    if (session->waiter)
        blocking_note_ticks(session, ticks - begin_ticks); /* counted when it is answered */
    else
        count_call(session, &server.reply, begin, command, argv, argc, ticks - begin_ticks);
    if (server.monitors.count) monitor_feed(session, command, argv, argc);
}

void dispatch_queued(struct session *session, const struct command *command,
                     const struct slice *argv, size_t argc) {
    uint64_t begin_ticks = server.ticks;
    run(session, command, argv, argc, false);
    server.stats.queued_ticks += server.ticks - begin_ticks;
}

/* Runs an allowed command, or queues it in MULTI. */
static void run_or_queue(struct session *session, const struct command *command,
                         const struct slice *argv, size_t argc) {
    if (session->flags & SESSION_MULTI && transaction_queues(command))
        transaction_queue(session, &server.reply, command, argv, argc);
    else
        run(session, command, argv, argc, true);
}

bool dispatch(struct session *session, const struct slice *argv, size_t argc) {
    dispatch_renew_clock();
    size_t begin = server.reply.len;
    uint32_t before = session->flags;
    const struct command *command = resolve(session, &server.reply, argv, argc);
    if (command) session->last_command = command;
    if (!command || (before && !is_allowed(session, &server.reply, command))) {
        count_error(&server.reply, begin);
        transaction_abort(session);
    } else if (server.refusing && is_refused(session, command)) {
        count_error(&server.reply, begin);
        transaction_abort(session);
    } else if (server.pause_until_ms && pause_holds(flags_of(session, command))) {
        pause_hold(session);
        return false;
    } else if (server.config.maxmemory && is_out_of_memory(session, command)) {
        count_error(&server.reply, begin);
        transaction_abort(session);
    } else {
        run_or_queue(session, command, argv, argc);
    }
    if (before | session->flags) {
        suppress_reply(session, &server.reply, begin, before);
        append_pushes(&server.reply);
    }
    if (blocking_has_ready(server.blocking)) {
        blocking_serve(server.blocking);
        append_pushes(&server.reply);
    }
    return true;
}
