#include "execute/admission.h"

#include "aof/aof.h"
#include "base/log.h"
#include "engine/call.h"
#include "engine/engine.h"
#include "engine/transaction.h"
#include "engine/unknown_commands.h"
#include "execute/execute.h"
#include "reclaim/evict.h"
#include "resp/reply.h"
#include "session/denials.h"
#include "session/pause.h"
#include "session/session.h"
#include "table/command.h"
#include "table/secret.h"
#include "users/access.h"

#include <string.h>

#define NOAUTH_REFUSAL "NOAUTH Authentication required."

enum { UNKNOWN_NAME_MAX = 128, UNKNOWN_ARGUMENTS_MAX = 128 };

/* --- Finding the command --- */

static void answer_unknown(const struct session *session, struct reply *reply,
                           const struct slice *argv, size_t argc) {
    bool is_secret = secret_may_follow(argv[0]);
    struct slice name = secret_shown_name(argv[0]);
    unknown_command_note(session, argv[0], NULL);
    sds text = sds_append_format(sds_new(SLICE("ERR unknown command '")), "%.*s",
                                 (int)(name.len < UNKNOWN_NAME_MAX ? name.len : UNKNOWN_NAME_MAX),
                                 name.ptr);
    text = sds_append_cstr(text, "', with args beginning with: ");
    size_t begin = sds_len(text);
    for (size_t i = 1; i < argc && sds_len(text) - begin < UNKNOWN_ARGUMENTS_MAX; i++) {
        struct slice argument = is_secret ? SLICE(SECRET_SHOWN) : argv[i];
        size_t room = UNKNOWN_ARGUMENTS_MAX - (sds_len(text) - begin);
        size_t shown = argument.len < room ? argument.len : room;
        text = sds_append_format(text, "'%.*s' ", (int)shown, argument.ptr);
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

/* Refuses a command that exists, with a whole error line, which files and the primary do not
 * read. */
static void reject(enum call_origin origin, struct requester *requester, struct reply *reply,
                   const struct command *command, const char *error) {
    if (origin_is_repeated(origin)) {
        requester->error = CALL_ERROR_NOT_FOR_FILE;
        return;
    }
    if (origin != ORIGIN_TRANSACTION)
        requester->engine->stats.by_command[command_index(command)].rejected++;
    requester->error = CALL_ERROR_NOT_NOW;
    if (origin == ORIGIN_CLIENT && command->flags & COMMAND_RUNS_QUEUE)
        transaction_refuse(requester->session, reply, error);
    else
        reply_error(reply, error);
}

static void reject_arity(enum call_origin origin, struct requester *requester, struct reply *reply,
                         const struct command *command) {
    if (origin == ORIGIN_SCRIPT) {
        reject(origin, requester, reply, command,
               "ERR Wrong number of args calling Redis command from script");
    } else if (origin == ORIGIN_CLIENT) {
        sds error = sds_append_format(sds_new(SLICE("")), CALL_WRONG_ARITY, command->name);
        reject(origin, requester, reply, command, error);
        sds_free(error);
    }
    requester->error = CALL_ERROR_ARITY;
}

static void answer_no_such_subcommand(struct requester *requester, struct reply *reply,
                                      const struct command *container, const struct slice *argv,
                                      size_t argc) {
    call_unknown_subcommand(&(struct call){.engine = requester->engine,
                                           .argv = argv,
                                           .argc = argc,
                                           .reply = reply,
                                           .command = container,
                                           .requester = requester});
}

/* Replies that there is no such command, or no such subcommand of `container`. */
static void reject_unknown(enum call_origin origin, struct requester *requester,
                           struct reply *reply, const struct command *container,
                           const struct slice *argv, size_t argc) {
    if (origin == ORIGIN_SCRIPT) {
        unknown_command_note(requester->session, argv[0], NULL);
        reply_error(reply, "ERR Unknown Redis command called from script");
    } else if (origin == ORIGIN_CLIENT && container) {
        answer_no_such_subcommand(requester, reply, container, argv, argc);
    } else if (origin == ORIGIN_CLIENT) {
        answer_no_such_command(requester->session, reply, argv, argc);
    }
    requester->error = CALL_ERROR_UNKNOWN;
}

/* Refuses what names no command, or not a complete one, of a client that must authenticate first
 * (`command`: as in admission_find_other). Such a client cannot learn which commands the server
 * has. */
static bool is_unauthenticated(enum call_origin origin, struct requester *requester,
                               struct reply *reply, const struct command *command,
                               struct slice name) {
    if (origin != ORIGIN_CLIENT || !(requester->session->flags & SESSION_NEEDS_AUTH)) return false;
    if (command ? command->flags & COMMAND_NO_AUTH : is_http(name)) return false;
    if (command)
        reject(origin, requester, reply, command, NOAUTH_REFUSAL);
    else
        reply_error(reply, NOAUTH_REFUSAL);
    requester->error = CALL_ERROR_UNKNOWN;
    return true;
}

/* The client's request may hold a secret: its connection overwrites it when it has run. */
static void clear_request(enum call_origin origin, const struct requester *requester) {
    if (origin == ORIGIN_CLIENT) conn_clear_input(conn_of_session(requester->session), false);
}

const struct command *admission_find_other(enum call_origin origin, struct requester *requester,
                                           struct reply *reply, const struct command *command,
                                           const struct slice *argv, size_t argc) {
    const struct command *container = NULL;
    if (is_unauthenticated(origin, requester, reply, command, argv[0])) {
        clear_request(origin, requester);
        return NULL;
    }
    if (command && command->flags & COMMAND_CONTAINER && argc > 1) {
        container = command;
        command = command_find_subcommand(container, argv[1]);
    }
    if (command ? command->secrets != SECRETS_NONE : secret_may_follow(argv[0]))
        clear_request(origin, requester);
    if (command && command_accepts(command, argc)) return requester->last_command = command;
    if (command)
        reject_arity(origin, requester, reply, command);
    else
        reject_unknown(origin, requester, reply, container, argv, argc);
    return NULL;
}

/* --- Gates --- */

uint32_t admission_flags(const struct session *session, const struct command *command,
                         const struct slice *argv) {
    const struct engine *engine = session->requester.engine;
    uint32_t flags = command->flags;
    if (!(flags & (COMMAND_RUNS_QUEUE | COMMAND_RUNS_SCRIPT))) return flags;
    if (flags & COMMAND_RUNS_QUEUE) return transaction_flags(session, flags);
    return engine->upward->script_flags(engine, command, argv);
}

/* What gates look at. */
struct visit {
    const struct applicant *applicant;
    struct engine *engine;
    struct session *session; /* NULL: a file or the primary */
    uint32_t own_flags;      /* of the command's row */
    uint32_t flags;          /* with which it is admitted */
    sds text;                /* an error that a gate has made; freed by the caller */
};

/* A gate returns the error, a whole line, or NULL: the command passes. It is asked where its row of
 * the table says so. This text means that the command must wait. */
typedef const char *gate_function(struct visit *visit);
static const char postponed[] = "";

static const char *needs_authentication(struct visit *visit) {
    return visit->own_flags & COMMAND_NO_AUTH ? NULL : NOAUTH_REFUSAL;
}

/* Why a command of EXEC, which was allowed when it was queued, is not allowed any more. */
static const char *lost_right(enum denied what) {
    switch (what) {
    case DENIED_COMMAND: return "no permission to execute the command or subcommand";
    case DENIED_KEY: return "no permission to touch the specified keys";
    case DENIED_CHANNEL: return "no permission to access one of the channels used as arguments";
    case DENIED_DATABASE:
    case DENIED_NOTHING: break;
    }
    return "no permission";
}

static sds refusal_of_rights(const struct visit *visit, const struct denial *denial) {
    sds text = denial_text(denial, visit->applicant->requester->user), out;
    switch (visit->applicant->origin) {
    case ORIGIN_SCRIPT:
        out = sds_append_cstr(sds_new(SLICE("ERR ACL failure in script: ")),
                              text + strlen("NOPERM "));
        break;
    case ORIGIN_TRANSACTION:
        out = sds_append_cstr(
            sds_new(SLICE("NOPERM ACLs rules changed between the moment the transaction was "
                          "accumulated and the EXEC call. This command is no longer allowed for "
                          "the following reason: ")),
            lost_right(denial->what));
        break;
    default: return text;
    }
    sds_free(text);
    return out;
}

bool admission_has_rights(const struct applicant *applicant, struct denial *denial) {
    const struct requester *requester = applicant->requester;
    const struct access access = {applicant->command, applicant->argv, applicant->argc,
                                  requester->database};
    return user_may_run(requester->user, &access, denial);
}

/* What the client's user may not do: users/access.h. */
static const char *lacks_rights(struct visit *visit) {
    const struct applicant *applicant = visit->applicant;
    const struct requester *requester = applicant->requester;
    struct denial denial;
    if (admission_has_rights(applicant, &denial)) return NULL;
    enum acl_context context =
        applicant->origin == ORIGIN_SCRIPT ? ACL_CONTEXT_LUA
        : applicant->origin == ORIGIN_TRANSACTION || requester->session->flags & SESSION_MULTI
            ? ACL_CONTEXT_MULTI
            : ACL_CONTEXT_TOPLEVEL;
    denial_note(requester->session, denial_reason(denial.what), context, denial.object,
                sds_slice(requester->user->name));
    return visit->text = refusal_of_rights(visit, &denial);
}

static const char *not_in_transactions(struct visit *visit) {
    return visit->own_flags & COMMAND_NO_MULTI ? "ERR Command not allowed inside a transaction"
                                               : NULL;
}

/* In RESP2 a message looks like a reply, so a client that listens to channels may run only a few
 * commands. */
static const char *not_for_listeners(struct visit *visit) {
    if (visit->session->protocol != 2 || visit->own_flags & COMMAND_FOR_SUBSCRIBERS) return NULL;
    return visit->text =
               sds_append_format(sds_new(SLICE("")),
                                 "ERR Can't execute '%s': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / "
                                 "PING / QUIT / RESET are allowed in this context",
                                 visit->applicant->command->name);
}

static const char *replicas_do_not_wait(struct visit *visit) {
    return visit->own_flags & COMMAND_BLOCKING ? "ERR A replica cannot wait" : NULL;
}

static const char *no_data_for_replicas(struct visit *visit) {
    const uint32_t data = COMMAND_WRITE | COMMAND_READONLY | COMMAND_MAY_REPLICATE;
    return visit->flags & data ? "ERR Replica can't interact with the keyspace" : NULL;
}

/* Scripts may run no such command, except DEBUG where DEBUG SET-DISABLE-DENY-SCRIPTS says so.
 * Others would wait, or change what the script's own client is doing. */
static const char *not_in_scripts(struct visit *visit) {
    if (!(visit->own_flags & COMMAND_NOSCRIPT)) return NULL;
    if (visit->engine->debug_in_scripts && strcmp(visit->applicant->command->name, "debug") == 0)
        return NULL;
    return "ERR This Redis command is not allowed from script";
}

static const char *script_on_stale_replica(struct visit *visit) {
    return visit->flags & COMMAND_STALE ? NULL
                                        : "ERR Can not execute the command on a stale replica";
}

static const char *script_only_reads(struct visit *visit) {
    if (!(visit->flags & (COMMAND_WRITE | COMMAND_MAY_REPLICATE))) return NULL;
    return visit->applicant->scope->is_readonly
               ? "ERR Write commands are not allowed from read-only scripts."
               : NULL;
}

static const char *loading(struct visit *visit) {
    bool is_denied = visit->engine->restrictions & RESTRICTED_LOADING
                         ? !(visit->flags & COMMAND_LOADING)
                         : visit->flags & COMMAND_NO_ASYNC_LOADING;
    return is_denied ? LOADING_REFUSAL : NULL;
}

/* On a replica, other reasons come first. */
static const char *loading_of_primary(struct visit *visit) {
    return visit->engine->is_replica ? NULL : loading(visit);
}

/* A script that has written is not stopped half-way. */
static bool may_write(const struct visit *visit) {
    const struct script_scope *scope = visit->applicant->scope;
    return visit->flags & COMMAND_WRITE && !(scope && scope->has_written);
}

/* A client's PING is refused together with commands that write, so that monitoring tools notice. */
static const char *disk_has_failed(struct visit *visit) {
    static const char unsaved[] =
        "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist "
        "to disk. Commands that may modify the data set are disabled, because this instance is "
        "configured to report errors during writes if RDB snapshotting fails "
        "(stop-writes-on-bgsave-error option). Please check the Redis logs for details about the "
        "RDB error.";
    bool tells_health = !visit->applicant->scope && visit->own_flags & COMMAND_TELLS_HEALTH;
    if (!may_write(visit) && !tells_health) return NULL;
    if (visit->engine->restrictions & RESTRICTED_UNSAVED) return unsaved;
    return visit->text =
               sds_append_format(sds_new(SLICE("")), "MISCONF Errors writing to the AOF file: %s",
                                 aof_error(visit->engine));
}

static const char *too_few_replicas(struct visit *visit) {
    return may_write(visit) ? "NOREPLICAS Not enough good replicas to write." : NULL;
}

static const char *replica_is_read_only(struct visit *visit) {
    return visit->flags & COMMAND_WRITE ? READONLY_REFUSAL : NULL;
}

static const char *replica_is_stale(struct visit *visit) {
    return visit->flags & COMMAND_STALE ? NULL : MASTERDOWN_REFUSAL;
}

static const char *script_is_busy(struct visit *visit) {
    return visit->own_flags & COMMAND_ALLOW_BUSY ? NULL : visit->engine->busy_refusal;
}

static const char *is_paused(struct visit *visit) {
    if (visit->session->flags & SESSION_REPLICA) return NULL;
    return pause_holds(visit->engine, visit->flags) ? postponed : NULL;
}

/* A script's keys are evicted before it begins. */
static const char *lacks_memory(struct visit *visit) {
    const struct script_scope *scope = visit->applicant->scope;
    if (!(visit->flags & COMMAND_DENYOOM)) return NULL;
    bool has_room = scope ? !scope->lacks_memory || scope->has_written
                          : !visit->engine->config.maxmemory || evict_make_room(visit->engine);
    return has_room ? NULL : EVICT_REFUSAL;
}

/* A file may have SELECT and commands that write. The primary also sends messages of channels. */
static const char *not_to_be_written(struct visit *visit) {
    const uint32_t publishes = COMMAND_PUBSUB | COMMAND_MAY_REPLICATE;
    bool is_primary = visit->applicant->origin == ORIGIN_PRIMARY;
    if (command_may_be_in_file(visit->applicant->command)) return NULL;
    return is_primary && (visit->own_flags & publishes) == publishes ? NULL : "ERR not a change";
}

/* --- Which gates are passed, in this order --- */

enum {
    CLIENT = 1 << ORIGIN_CLIENT,
    SCRIPT = 1 << ORIGIN_SCRIPT,
    ADMITTED_BEFORE = 1 << ORIGIN_TRANSACTION | 1 << ORIGIN_BLOCKED,
    FILE_OR_PRIMARY = 1 << ORIGIN_FILE | 1 << ORIGIN_PRIMARY,
    DISK_FAILURES = RESTRICTED_UNSAVED | RESTRICTED_UNWRITTEN,
    ALL_LOADING = RESTRICTED_LOADING | RESTRICTED_LOADING_BESIDE,
    ALWAYS = 0
};

/* A gate is asked for the origins named, if the session has one of these flags, or one of these
 * restrictions is in force, or always. A transaction's commands were admitted when they were
 * queued, and a waiting client's when it came: only its user's rights are asked for again, a
 * transaction's only if they may have changed. Where nothing is closed, admission_is_open sees that
 * without the table. */
static const struct gate {
    gate_function *refuses;
    unsigned origins;
    uint32_t session;      /* enum session_flag */
    uint32_t restrictions; /* enum restriction */
} gates[] = {
    {needs_authentication, CLIENT, .session = SESSION_NEEDS_AUTH},
    {not_in_transactions, CLIENT, .session = SESSION_MULTI},
    {lacks_rights, CLIENT | ADMITTED_BEFORE, .session = ALWAYS},
    {not_for_listeners, CLIENT, .session = SESSION_SUBSCRIBED},
    {replicas_do_not_wait, CLIENT, .session = SESSION_REPLICA},
    {no_data_for_replicas, CLIENT, .session = SESSION_MONITOR | SESSION_REPLICA},
    {not_in_scripts, SCRIPT, .restrictions = ALWAYS},
    {script_on_stale_replica, SCRIPT, .restrictions = RESTRICTED_STALE},
    {lacks_rights, SCRIPT, .restrictions = ALWAYS},
    {script_only_reads, SCRIPT, .restrictions = ALWAYS},
    {replica_is_read_only, SCRIPT, .restrictions = RESTRICTED_READONLY},
    {loading_of_primary, CLIENT, .restrictions = ALL_LOADING},
    {disk_has_failed, CLIENT | SCRIPT, .restrictions = DISK_FAILURES},
    {too_few_replicas, CLIENT | SCRIPT, .restrictions = RESTRICTED_FEW_REPLICAS},
    {replica_is_read_only, CLIENT, .restrictions = RESTRICTED_READONLY},
    {replica_is_stale, CLIENT, .restrictions = RESTRICTED_STALE},
    {loading, CLIENT, .restrictions = ALL_LOADING},
    {script_is_busy, CLIENT, .restrictions = RESTRICTED_BUSY},
    {is_paused, CLIENT, .restrictions = RESTRICTED_PAUSED},
    {lacks_memory, CLIENT | SCRIPT, .restrictions = ALWAYS},
    {not_to_be_written, FILE_OR_PRIMARY, .restrictions = ALWAYS},
};

static bool is_asked(const struct gate *gate, const struct visit *visit) {
    if (!(gate->origins >> visit->applicant->origin & 1)) return false;
    if (!gate->session && !gate->restrictions) return true;
    return (visit->session && gate->session & visit->session->flags) ||
           gate->restrictions & visit->engine->restrictions;
}

static const char *first_refusal(struct visit *visit) {
    const char *error = NULL;
    for (size_t i = 0; i < sizeof(gates) / sizeof(gates[0]) && !error; i++)
        if (is_asked(&gates[i], visit)) error = gates[i].refuses(visit);
    return error;
}

/* Returns whether only the user's rights are asked for, and it has them: nearly always, if the user
 * is restricted. */
static bool is_granted(const struct applicant *applicant) {
    struct denial denial;
    return admission_asks_rights_only(applicant->origin, applicant->requester, applicant->scope,
                                      applicant->command) &&
           admission_has_rights(applicant, &denial);
}

enum admission admit(const struct applicant *applicant, struct reply *reply) {
    struct requester *requester = applicant->requester;
    const struct command *command = applicant->command;
    if (is_granted(applicant)) return ADMISSION_GRANTED;
    struct visit visit = {.applicant = applicant,
                          .engine = requester->engine,
                          .session = requester->session,
                          .own_flags = command->flags,
                          .flags = command->flags};
    if (applicant->origin == ORIGIN_CLIENT)
        visit.flags = admission_flags(visit.session, command, applicant->argv);
    const char *error = first_refusal(&visit);
    if (error == postponed) return ADMISSION_POSTPONED;
    if (error) reject(applicant->origin, requester, reply, command, error);
    sds_free(visit.text);
    return error ? ADMISSION_REFUSED : ADMISSION_GRANTED;
}
