#include "execute/admission.h"

#include "aof/aof.h"
#include "base/log.h"
#include "engine/call.h"
#include "engine/engine.h"
#include "engine/transaction.h"
#include "engine/unknown_commands.h"
#include "execute/execute.h"
#include "memory/evict.h"
#include "resp/reply.h"
#include "session/pause.h"
#include "session/session.h"
#include "table/command.h"

#include <string.h>

#define NOAUTH_REFUSAL "NOAUTH Authentication required."

enum { UNKNOWN_NAME_MAX = 128, UNKNOWN_ARGUMENTS_MAX = 128 };

/* --- Finding the command --- */

static void answer_unknown(const struct session *session, struct reply *reply,
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

/* Returns whether the request begins like HTTP. A web page can make a browser send requests to this
 * port, with commands in the lines of the body; these must not run. */
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

static void answer_no_such_command(struct session *session, struct reply *reply,
                                   const struct slice *argv, size_t argc) {
    if (is_http(argv[0]))
        cut_off_http(session);
    else
        answer_unknown(session, reply, argv, argc);
}

/* Refuses a command that exists, with a whole error line. */
static void reject(struct session *session, struct reply *reply, const struct command *command,
                   const char *error) {
    struct engine *engine = session->requester.engine;
    session->requester.error = CALL_ERROR_NOT_NOW;
    engine->stats.by_command[command_index(command)].rejected++;
    if (command->flags & COMMAND_RUNS_QUEUE)
        transaction_refuse(session, reply, error);
    else
        reply_error(reply, error);
}

static void reject_arity(struct session *session, struct reply *reply,
                         const struct command *command) {
    sds error = sds_append_format(sds_new(SLICE("")), CALL_WRONG_ARITY, command->name);
    reject(session, reply, command, error);
    sds_free(error);
}

/* Finds a subcommand. If there is none, replies the error, but not to a file. */
static const struct command *find_subcommand(struct requester *requester, struct reply *reply,
                                             const struct command *container,
                                             const struct slice *argv, size_t argc) {
    const struct command *command = command_find_subcommand(container, argv[1]);
    if (!command && requester->session)
        call_unknown_subcommand(&(struct call){.engine = requester->engine,
                                               .argv = argv,
                                               .argc = argc,
                                               .reply = reply,
                                               .command = container,
                                               .requester = requester});
    return command;
}

/* Refuses what names no command, or is no complete one, of a client that must authenticate first
 * (`command`: as in admission_find_other). Such a client cannot learn which commands the server
 * has. */
static bool is_unauthenticated(struct requester *requester, struct reply *reply,
                               const struct command *command, struct slice name) {
    struct session *session = requester->session;
    if (!session || !(session->flags & SESSION_NEEDS_AUTH)) return false;
    if (command ? command->flags & COMMAND_NO_AUTH : is_http(name)) return false;
    requester->error = CALL_ERROR_UNKNOWN;
    if (command)
        reject(session, reply, command, NOAUTH_REFUSAL);
    else
        reply_error(reply, NOAUTH_REFUSAL);
    return true;
}

const struct command *admission_find_other(struct requester *requester, struct reply *reply,
                                           const struct command *command, const struct slice *argv,
                                           size_t argc) {
    if (is_unauthenticated(requester, reply, command, argv[0])) return NULL;
    if (!command && requester->session)
        answer_no_such_command(requester->session, reply, argv, argc);
    if (command && command->flags & COMMAND_CONTAINER && argc > 1)
        command = find_subcommand(requester, reply, command, argv, argc);
    if (!command) {
        requester->error = CALL_ERROR_UNKNOWN;
        return NULL;
    }
    if (command_accepts(command, argc)) return requester->last_command = command;
    if (requester->session) reject_arity(requester->session, reply, command);
    requester->error = CALL_ERROR_ARITY;
    return NULL;
}

/* --- State of the session --- */

uint32_t admission_flags(const struct session *session, const struct command *command,
                         const struct slice *argv) {
    const struct engine *engine = session->requester.engine;
    uint32_t flags = command->flags;
    if (!(flags & (COMMAND_RUNS_QUEUE | COMMAND_RUNS_SCRIPT))) return flags;
    if (flags & COMMAND_RUNS_QUEUE) return transaction_flags(session, flags);
    return engine->script_flags ? engine->script_flags(engine, command, argv) : flags;
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

/* In RESP2 a message looks like a reply, so a client that listens to channels may run only a few
 * commands. */
static bool session_admits(struct session *session, struct reply *reply,
                           const struct command *command, const struct slice *argv) {
    uint32_t flags = command->flags;
    const uint32_t data = COMMAND_WRITE | COMMAND_READONLY | COMMAND_MAY_REPLICATE;
    if (session->flags & SESSION_NEEDS_AUTH && !(flags & COMMAND_NO_AUTH)) {
        reject(session, reply, command, NOAUTH_REFUSAL);
    } else if (session->flags & SESSION_MULTI && flags & COMMAND_NO_MULTI) {
        reject(session, reply, command, "ERR Command not allowed inside a transaction");
    } else if (session->flags & SESSION_SUBSCRIBED && session->protocol == 2 &&
               !(flags & COMMAND_FOR_SUBSCRIBERS)) {
        reject_of_listener(session, reply, command);
    } else if (session->flags & SESSION_REPLICA && flags & COMMAND_BLOCKING) {
        reject(session, reply, command, "ERR A replica cannot wait");
    } else if (session->flags & (SESSION_MONITOR | SESSION_REPLICA) &&
               admission_flags(session, command, argv) & data) {
        reject(session, reply, command, "ERR Replica can't interact with the keyspace");
    } else {
        return true;
    }
    return false;
}

/* --- State of the server --- */

/* Returns the error for commands that write, because the disk has failed; NULL: it has not. The
 * caller frees it. */
static sds disk_refusal(struct engine *engine) {
    static const char unsaved[] =
        "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist "
        "to disk. Commands that may modify the data set are disabled, because this instance is "
        "configured to report errors during writes if RDB snapshotting fails "
        "(stop-writes-on-bgsave-error option). Please check the Redis logs for details about the "
        "RDB error.";
    if (engine->restrictions & RESTRICTED_UNSAVED) return sds_new(slice_of_cstr(unsaved));
    if (!(engine->restrictions & RESTRICTED_UNWRITTEN)) return NULL;
    return sds_append_format(sds_new(SLICE("")), "MISCONF Errors writing to the AOF file: %s",
                             aof_error(engine));
}

/* As disk_refusal; also when too few replicas would get the change. */
static sds write_refusal(struct engine *engine) {
    sds error = disk_refusal(engine);
    if (!error && engine->restrictions & RESTRICTED_FEW_REPLICAS)
        return sds_new(SLICE("NOREPLICAS Not enough good replicas to write."));
    return error;
}

/* Returns the error for commands with these flags, because the server is a replica; NULL: it may
 * run. */
static const char *replica_refusal(const struct engine *engine, uint32_t flags) {
    if (engine->restrictions & RESTRICTED_READONLY && flags & COMMAND_WRITE)
        return READONLY_REFUSAL;
    if (engine->restrictions & RESTRICTED_STALE && !(flags & COMMAND_STALE))
        return MASTERDOWN_REFUSAL;
    return NULL;
}

/* Returns whether the command must wait until data is loaded. */
static bool is_denied_loading(const struct engine *engine, uint32_t flags) {
    if (engine->restrictions & RESTRICTED_LOADING) return !(flags & COMMAND_LOADING);
    return engine->restrictions & RESTRICTED_LOADING_BESIDE && flags & COMMAND_NO_ASYNC_LOADING;
}

/* Replies the error and returns true if the server refuses such commands at the moment. PING is
 * refused together with commands that write, so that monitoring tools notice. */
static bool is_refused(struct session *session, struct reply *reply, const struct command *command,
                       const struct slice *argv) {
    struct engine *engine = session->requester.engine;
    uint32_t flags = admission_flags(session, command, argv);
    sds failure = NULL;
    if (flags & COMMAND_WRITE)
        failure = write_refusal(engine);
    else if (command->flags & COMMAND_TELLS_HEALTH)
        failure = disk_refusal(engine);
    const char *error = failure;
    if (!error) error = replica_refusal(engine, flags);
    if (is_denied_loading(engine, flags) && !(engine->is_replica && error)) error = LOADING_REFUSAL;
    if (!error && engine->restrictions & RESTRICTED_BUSY && !(command->flags & COMMAND_ALLOW_BUSY))
        error = engine->busy_refusal;
    if (error) reject(session, reply, command, error);
    sds_free(failure);
    return error;
}

/* Replies the error and returns true if the command needs memory and none can be freed. */
static bool is_out_of_memory(struct session *session, struct reply *reply,
                             const struct command *command, const struct slice *argv) {
    struct engine *engine = session->requester.engine;
    if (!(admission_flags(session, command, argv) & COMMAND_DENYOOM) || evict_make_room(engine))
        return false;
    reject(session, reply, command, EVICT_REFUSAL);
    return true;
}

inline enum admission admission_check(struct session *session, struct reply *reply,
                                      const struct command *command, const struct slice *argv) {
    struct engine *engine = session->requester.engine;
    if (session->flags && !session_admits(session, reply, command, argv)) return ADMISSION_REFUSED;
    if (engine->restrictions) {
        if (is_refused(session, reply, command, argv)) return ADMISSION_REFUSED;
        if (pause_holds(engine, admission_flags(session, command, argv)) &&
            !(session->flags & SESSION_REPLICA))
            return ADMISSION_POSTPONED;
    }
    if (engine->config.maxmemory && is_out_of_memory(session, reply, command, argv))
        return ADMISSION_REFUSED;
    return ADMISSION_GRANTED;
}

/* --- Scripts --- */

const struct command *admission_find_for_script(struct script_scope *scope, struct reply *reply,
                                                const struct slice *argv, size_t argc) {
    struct requester *requester = &scope->requester;
    const struct command *command = command_find_cached(requester->last_command, argv[0]);
    if (command && !(command->flags & COMMAND_CONTAINER) && command_accepts(command, argc))
        return requester->last_command = command;
    if (command && command->flags & COMMAND_CONTAINER && argc > 1)
        command = command_find_subcommand(command, argv[1]);
    if (command && command_accepts(command, argc)) return requester->last_command = command;
    if (command) {
        requester->engine->stats.by_command[command_index(command)].rejected++;
        reply_error(reply, "ERR Wrong number of args calling Redis command from script");
    } else {
        unknown_command_note(requester->session, argv[0], NULL);
        reply_error(reply, "ERR Unknown Redis command called from script");
    }
    return NULL;
}

/* Returns the error for a command that writes or propagates; NULL: it may run. The caller frees
 * it. */
static sds refuse_write(struct script_scope *scope, const struct command *command) {
    struct engine *engine = scope->requester.engine;
    if (scope->is_readonly)
        return sds_new(SLICE("ERR Write commands are not allowed from read-only scripts."));
    if (!(command->flags & COMMAND_WRITE)) return NULL;
    if (engine->restrictions & RESTRICTED_READONLY) return sds_new(SLICE(READONLY_REFUSAL));
    /* A script that has written is not stopped half-way. */
    sds error = engine->restrictions && !scope->has_written ? write_refusal(engine) : NULL;
    scope->has_written = scope->has_written || !error;
    return error;
}

/* Scripts may run no such command, except DEBUG where DEBUG SET-DISABLE-DENY-SCRIPTS says so.
 * Others would wait, or change what the script's own client is doing. */
static bool is_denied_to_scripts(const struct engine *engine, const struct command *command) {
    if (!(command->flags & COMMAND_NOSCRIPT)) return false;
    return !engine->debug_in_scripts || strcmp(command->name, "debug") != 0;
}

bool admission_check_script(struct script_scope *scope, struct reply *reply,
                            const struct command *command) {
    uint32_t flags = command->flags;
    bool had_written = scope->has_written;
    sds error = NULL;
    if (is_denied_to_scripts(scope->requester.engine, command))
        error = sds_new(SLICE("ERR This Redis command is not allowed from script"));
    else if (scope->requester.engine->restrictions & RESTRICTED_STALE && !(flags & COMMAND_STALE))
        error = sds_new(SLICE("ERR Can not execute the command on a stale replica"));
    else if (flags & (COMMAND_WRITE | COMMAND_MAY_REPLICATE))
        error = refuse_write(scope, command);
    if (!error && flags & COMMAND_DENYOOM && scope->lacks_memory && !had_written)
        error = sds_new(SLICE(EVICT_REFUSAL));
    if (!error) return true;
    scope->requester.engine->stats.by_command[command_index(command)].rejected++;
    reply_error_text(reply, sds_slice(error));
    sds_free(error);
    return false;
}

enum admission admission_check_primary(struct requester *requester, const struct command *command) {
    const uint32_t publishes = COMMAND_PUBSUB | COMMAND_MAY_REPLICATE;
    if ((command->flags & publishes) == publishes) return ADMISSION_GRANTED;
    return admission_check_file(requester, command);
}

enum admission admission_check_file(struct requester *requester, const struct command *command) {
    if (command_may_be_in_file(command)) return ADMISSION_GRANTED;
    requester->error = CALL_ERROR_NOT_FOR_FILE;
    return ADMISSION_REFUSED;
}
