#include "execute/admission.h"

#include "aof/aof.h"
#include "base/log/log.h"
#include "cluster/route.h"
#include "engine/call.h"
#include "engine/claim.h"
#include "engine/engine.h"
#include "engine/transaction.h"
#include "engine/unknown_commands.h"
#include "execute/execute.h"
#include "reclaim/evict.h"
#include "resp/reply.h"
#include "session/outbox.h"
#include "session/pause.h"
#include "session/session.h"
#include "session/session_user.h"
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
        sds error = sds_format(CALL_WRONG_ARITY, command->name);
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
    } else if (origin == ORIGIN_CLIENT && is_http(argv[0])) {
        cut_off_http(requester->session);
    } else if (origin == ORIGIN_CLIENT) {
        answer_unknown(requester->session, reply, argv, argc);
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
struct check {
    const struct call *call;
    struct engine *engine;
    struct session *session;          /* NULL: a file or the primary */
    const struct script_scope *scope; /* of a script's call; else NULL */
    uint32_t own_flags;               /* of the command's row */
    uint32_t flags;                   /* with which it is admitted */
    sds text;                         /* an error that a gate has made; freed by the caller */
    bool is_redirection;              /* the error says where the client must go */
};

/* A gate returns the error, a whole line, or NULL: the command passes. It is asked where its row of
 * the table says so. This text means that the command must wait. */
typedef const char *gate_function(struct check *check);
static const char postponed[] = "";

static const char *needs_authentication(struct check *check) {
    return check->own_flags & COMMAND_NO_AUTH ? NULL : NOAUTH_REFUSAL;
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

static sds error_of_denial(const struct call *call, const struct denial *denial) {
    sds text = denial_text(denial, call->requester->user), out;
    switch (call->origin) {
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

static inline bool has_rights(const struct call *call, struct denial *denial) {
    const struct access access = {call->command, call->argv, call->argc, call->database};
    return user_may(call->requester->user, access, denial);
}

/* What the client's user may not do: users/access.h. */
static const char *lacks_rights(struct check *check) {
    const struct call *call = check->call;
    struct denial denial;
    if (has_rights(call, &denial)) return NULL;
    enum acl_context context =
        call->origin == ORIGIN_SCRIPT ? ACL_CONTEXT_LUA
        : call->origin == ORIGIN_TRANSACTION || check->session->flags & SESSION_MULTI
            ? ACL_CONTEXT_MULTI
            : ACL_CONTEXT_TOPLEVEL;
    session_note_denial(check->session, &denial, context);
    return check->text = error_of_denial(call, &denial);
}

static const char *not_in_transactions(struct check *check) {
    return check->own_flags & COMMAND_NO_MULTI ? "ERR Command not allowed inside a transaction"
                                               : NULL;
}

/* In RESP2 a message looks like a reply, so a client that listens to channels may run only a few
 * commands. */
static const char *not_for_listeners(struct check *check) {
    if (check->session->protocol != 2 || check->own_flags & COMMAND_FOR_SUBSCRIBERS) return NULL;
    return check->text =
               sds_format("ERR Can't execute '%s': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / "
                          "PING / QUIT / RESET are allowed in this context",
                          check->call->command->name);
}

static const char *replicas_do_not_wait(struct check *check) {
    return check->own_flags & COMMAND_BLOCKING ? "ERR A replica cannot wait" : NULL;
}

static const char *no_data_for_replicas(struct check *check) {
    const uint32_t data = COMMAND_WRITE | COMMAND_READONLY | COMMAND_MAY_REPLICATE;
    return check->flags & data ? "ERR Replica can't interact with the keyspace" : NULL;
}

/* Scripts may run no such command, except DEBUG where DEBUG SET-DISABLE-DENY-SCRIPTS says so.
 * Others would wait, or change what the script's own client is doing. */
static const char *not_in_scripts(struct check *check) {
    if (!(check->own_flags & COMMAND_NOSCRIPT)) return NULL;
    if (check->engine->debug_in_scripts && strcmp(check->call->command->name, "debug") == 0)
        return NULL;
    return "ERR This Redis command is not allowed from script";
}

static const char *script_on_stale_replica(struct check *check) {
    return check->flags & COMMAND_STALE ? NULL
                                        : "ERR Can not execute the command on a stale replica";
}

static const char *script_only_reads(struct check *check) {
    if (!(check->flags & (COMMAND_WRITE | COMMAND_MAY_REPLICATE))) return NULL;
    return check->scope->is_readonly ? "ERR Write commands are not allowed from read-only scripts."
                                     : NULL;
}

static const char *loading(struct check *check) {
    bool is_denied = check->engine->restrictions & RESTRICTED_LOADING
                         ? !(check->flags & COMMAND_LOADING)
                         : check->flags & COMMAND_NO_ASYNC_LOADING;
    return is_denied ? LOADING_REFUSAL : NULL;
}

/* On a replica, other reasons come first. */
static const char *loading_of_primary(struct check *check) {
    return check->engine->is_replica ? NULL : loading(check);
}

/* A script that has written is not stopped half-way. */
static bool may_write(const struct check *check) {
    const struct script_scope *scope = check->scope;
    return check->flags & COMMAND_WRITE && !(scope && scope->has_written);
}

/* A client's PING is refused together with commands that write, so that monitoring tools notice. */
static const char *disk_has_failed(struct check *check) {
    static const char unsaved[] =
        "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist "
        "to disk. Commands that may modify the data set are disabled, because this instance is "
        "configured to report errors during writes if RDB snapshotting fails "
        "(stop-writes-on-bgsave-error option). Please check the Redis logs for details about the "
        "RDB error.";
    bool tells_health = !check->scope && check->own_flags & COMMAND_TELLS_HEALTH;
    if (!may_write(check) && !tells_health) return NULL;
    if (check->engine->restrictions & RESTRICTED_UNSAVED) return unsaved;
    return check->text =
               sds_format("MISCONF Errors writing to the AOF file: %s", aof_error(check->engine));
}

static const char *too_few_replicas(struct check *check) {
    return may_write(check) ? "NOREPLICAS Not enough good replicas to write." : NULL;
}

static const char *replica_is_read_only(struct check *check) {
    return check->flags & COMMAND_WRITE ? READONLY_REFUSAL : NULL;
}

static const char *replica_is_stale(struct check *check) {
    return check->flags & COMMAND_STALE ? NULL : MASTERDOWN_REFUSAL;
}

static const char *script_is_busy(struct check *check) {
    return check->own_flags & COMMAND_ALLOW_BUSY ? NULL : check->engine->busy_refusal;
}

static const char *is_paused(struct check *check) {
    if (check->session->flags & SESSION_REPLICA) return NULL;
    return pause_holds(check->engine, check->flags) ? postponed : NULL;
}

/* Makes room for a client's command. What it hears of keys that it tracks and that are evicted
 * comes before its reply. */
static bool make_room(const struct check *check) {
    struct outbox *outbox = session_outbox(check->session);
    outbox_before_reply(outbox, true);
    bool has_room = evict_make_room(check->engine);
    outbox_before_reply(outbox, false);
    return has_room;
}

/* A script's keys are evicted before it begins. */
static const char *lacks_memory(struct check *check) {
    const struct script_scope *scope = check->scope;
    if (!(check->flags & COMMAND_DENYOOM)) return NULL;
    bool has_room = scope ? !scope->lacks_memory || scope->has_written
                          : !check->engine->config.maxmemory || make_room(check);
    return has_room ? NULL : EVICT_REFUSAL;
}

/* A file may have SELECT and commands that write. The primary also sends messages of channels. */
static const char *not_to_be_written(struct check *check) {
    const uint32_t publishes = COMMAND_PUBSUB | COMMAND_MAY_REPLICATE;
    bool is_primary = check->call->origin == ORIGIN_PRIMARY;
    if (command_may_be_in_file(check->call->command)) return NULL;
    return is_primary && (check->own_flags & publishes) == publishes ? NULL : "ERR not a change";
}

/* ASKING holds for one command, or for the transaction that this command begins. */
static void forget_asking(struct check *check) {
    bool stays = check->session->flags & SESSION_MULTI && !(check->own_flags & COMMAND_NOT_QUEUED);
    const char *name = check->call->command->name;
    if (!stays && strcmp(name, "asking") != 0 && strcmp(name, "multi") != 0)
        check->session->marks &= (uint8_t)~SESSION_ASKING;
}

static struct route route_of(const struct check *check) {
    const struct call *call = check->call;
    return route_find(call->requester, call->command, call->argv, call->argc);
}

/* Another node of the cluster serves the keys. */
static const char *belongs_elsewhere(struct check *check) {
    struct route route = route_of(check);
    if (check->session->marks & SESSION_ASKING) forget_asking(check);
    if (route.kind == ROUTE_HERE) return NULL;
    check->is_redirection = true;
    return check->text = route_error(check->session, &route);
}

/* The same for a script, whose keys must all be in one slot unless it declares otherwise. */
static const char *script_belongs_elsewhere(struct check *check) {
    const struct script_scope *scope = check->scope;
    struct route route = route_of(check);
    if (route.kind != ROUTE_HERE)
        return check->text = route_script_error(&route, check->call->command);
    bool leaves = route.slot >= 0 && scope->slot >= 0 && route.slot != scope->slot;
    return leaves ? "ERR Script attempted to access keys that do not hash to the same slot" : NULL;
}

/* Keys that a work has claimed: it ends before another command sees them. */
static const char *ends_claims(struct check *check) {
    bool is_queued =
        check->session->flags & SESSION_MULTI && !(check->own_flags & COMMAND_NOT_QUEUED);
    const struct call *call = check->call;
    if (!is_queued) claims_end_for(call->engine, call->command, call->argv, call->argc);
    return NULL;
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
 * queued, and a waiting client's when it came: only its user's rights are asked for again. */
static const struct gate {
    gate_function *refuses;
    unsigned origins;
    uint32_t session;      /* enum session_flag */
    uint32_t restrictions; /* enum restriction */
} gates[] = {
    {needs_authentication, CLIENT, .session = SESSION_NEEDS_AUTH},
    {not_in_transactions, CLIENT, .session = SESSION_MULTI},
    {lacks_rights, CLIENT | ADMITTED_BEFORE, .session = ALWAYS},
    {belongs_elsewhere, CLIENT, .restrictions = RESTRICTED_CLUSTER},
    {not_for_listeners, CLIENT, .session = SESSION_SUBSCRIBED},
    {replicas_do_not_wait, CLIENT, .session = SESSION_REPLICA},
    {no_data_for_replicas, CLIENT, .session = SESSION_MONITOR | SESSION_REPLICA},
    {not_in_scripts, SCRIPT, .restrictions = ALWAYS},
    {script_on_stale_replica, SCRIPT, .restrictions = RESTRICTED_STALE},
    {lacks_rights, SCRIPT, .restrictions = ALWAYS},
    {script_only_reads, SCRIPT, .restrictions = ALWAYS},
    {script_belongs_elsewhere, SCRIPT, .restrictions = RESTRICTED_CLUSTER},
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
    {ends_claims, CLIENT, .restrictions = RESTRICTED_CLAIMED},
    {not_to_be_written, FILE_OR_PRIMARY, .restrictions = ALWAYS},
};

static bool is_asked(const struct gate *gate, const struct check *check) {
    if (!(gate->origins >> check->call->origin & 1)) return false;
    if (!gate->session && !gate->restrictions) return true;
    return (check->session && gate->session & check->session->flags) ||
           gate->restrictions & check->engine->restrictions;
}

static const char *first_error(struct check *check) {
    const char *error = NULL;
    for (size_t i = 0; i < sizeof(gates) / sizeof(gates[0]) && !error; i++)
        if (is_asked(&gates[i], check)) error = gates[i].refuses(check);
    return error;
}

static struct check check_of(const struct call *call) {
    uint32_t flags = call->command->flags;
    struct session *session = call->requester->session;
    if (call->origin == ORIGIN_CLIENT) flags = admission_flags(session, call->command, call->argv);
    return (struct check){.call = call,
                          .engine = call->engine,
                          .session = session,
                          .scope = call->origin == ORIGIN_SCRIPT ? script_scope_of(call) : NULL,
                          .own_flags = call->command->flags,
                          .flags = flags};
}

bool admission_gates_are_open(const struct call *call) {
    struct check check = check_of(call);
    const char *error = first_error(&check);
    sds_free(check.text);
    return !error;
}

/* EXEC, of which another node must run all: the client begins anew there. */
static void redirect_transaction(const struct call *call, const char *error) {
    call->engine->stats.by_command[command_index(call->command)].rejected++;
    call->requester->error = CALL_ERROR_NOT_NOW;
    reply_error(call->reply, error);
    transaction_end(call->requester->session);
}

static __attribute__((noinline)) enum admission ask_gates(const struct call *call) {
    struct check check = check_of(call);
    const char *error = first_error(&check);
    if (error == postponed) return ADMISSION_POSTPONED;
    if (error && check.is_redirection && call->command->flags & COMMAND_RUNS_QUEUE)
        redirect_transaction(call, error);
    else if (error)
        reject(call->origin, call->requester, call->reply, call->command, error);
    sds_free(check.text);
    return error ? ADMISSION_REFUSED : ADMISSION_GRANTED;
}

/* Returns whether a client's call, in a cluster, would run at once without one. What is closed says
 * less: other reasons have the same bit. */
static bool is_open_to_client(const struct call *call) {
    const struct session *session = call->requester->session;
    return !(session->flags & ~(uint32_t)SESSION_TRACKING || call->engine->config.maxmemory ||
             session->marks & SESSION_ASKING);
}

static bool is_open_to_script(const struct call *call) {
    const struct script_scope *scope = script_scope_of(call);
    return !(scope->is_readonly || scope->lacks_memory || call->command->flags & COMMAND_NOSCRIPT);
}

/* The usual call in a cluster: nothing else is closed, and its keys are here. */
static bool is_at_home(const struct call *call) {
    if (call->engine->restrictions != RESTRICTED_CLUSTER) return false;
    if (call->origin == ORIGIN_SCRIPT)
        return is_open_to_script(call) && route_is_here(call, script_scope_of(call)->slot);
    return is_open_to_client(call) && route_is_here(call, -1);
}

enum admission admit(const struct call *call, uint64_t closed) {
    bool is_open = !closed || (closed == RESTRICTED_CLUSTER && is_at_home(call));
    if (is_open && has_rights(call, NULL)) return ADMISSION_GRANTED; /* nearly always */
    return ask_gates(call);
}
