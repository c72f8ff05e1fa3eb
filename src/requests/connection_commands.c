/* connection_commands: PING, ECHO, AUTH, HELLO and the other commands that concern the client's
 * connection. */
#include "base/version.h"
#include "ds/hashtable.h"
#include "engine/engine.h"
#include "engine/transaction.h"
#include "requests/client_commands.h"
#include "resp/reply.h"
#include "session/invalidate.h"
#include "session/monitor.h"
#include "session/publish.h"
#include "session/session.h"
#include "session/session_user.h"
#include "table/secret.h"
#include "users/failed_logins.h"
#include "users/users.h"

/* As a message, for a client that listens to channels in RESP2. */
static void ping_listener(struct call *call) {
    reply_array(call->reply, 2);
    reply_bulk_cstr(call->reply, "pong");
    reply_bulk(call->reply, call->argc == 2 ? call->argv[1] : SLICE(""));
}

void ping_command(struct call *call) {
    if (call->argc > 2)
        call_wrong_arity(call);
    else if (call_session(call)->flags & SESSION_SUBSCRIBED && call_session(call)->protocol == 2)
        ping_listener(call);
    else if (call->argc == 2)
        reply_bulk(call->reply, call->argv[1]);
    else
        reply_status(call->reply, SLICE("PONG"));
}

void echo_command(struct call *call) {
    reply_bulk(call->reply, call->argv[1]);
}

/* A cluster of one database has no others to select, which is what clients ask when they want to
 * know whether this is a cluster. */
static bool is_of_cluster(struct call *call) {
    int64_t number;
    if (!call->engine->cluster || call->engine->databases > 1) return true;
    if (!call_integer_in(call, 1, INT32_MIN, INT32_MAX, &number, NULL)) return false;
    return number == 0 || reply_error(call->reply, "ERR SELECT is not allowed in cluster mode");
}

void select_command(struct call *call) {
    int database;
    if (!is_of_cluster(call) || !call_database(call, 1, &database)) return;
    call->requester->database = database;
    reply_ok(call->reply);
}

void quit_command(struct call *call) {
    reply_ok(call->reply);
    session_close_after_reply(call_session(call));
}

void reset_command(struct call *call) {
    struct session *session = call_session(call);
    const uint32_t replies = SESSION_REPLY_OFF | SESSION_REPLY_SKIP | SESSION_REPLY_SKIP_NEXT;
    transaction_end(session);
    client_import_end(session);
    monitor_leave(session);
    publish_leave(session);
    invalidate_stop(session);
    session->flags &= ~replies;
    session_log_out(session);
    session->marks &= (uint8_t) ~(SESSION_NO_EVICT | SESSION_READONLY | SESSION_ASKING);
    session->requester.leaves_no_marks = false;
    session->requester.imports = false;
    session->requester.database = 0;
    session->protocol = 2;
    call->reply->protocol = 2;
    session_set_name(session, SLICE(""));
    reply_status(call->reply, SLICE("RESET"));
}

/* --- Authentication --- */

/* Returns the hash of where the client is. */
static uint64_t place_of(const struct call *call) {
    unsigned char network[CONN_NETWORK_MAX];
    size_t len = conn_peer_network(conn_of_session(call_session(call)), network);
    return hashtable_hash(slice_make((const char *)network, len));
}

static void answer_wrong(struct call *call, const void *state) {
    (void)state;
    reply_error(call->reply, "WRONGPASS invalid username-password pair or user is disabled.");
}

/* Replies that the login has failed: at once, or later where many have failed, so that the client
 * tries fewer passwords. The waiter keeps no argument that may be a password. */
static void refuse_login(struct call *call, struct slice name) {
    static const struct waiter_kind kind = {.unserved = answer_wrong, .for_work = true};
    struct engine *engine = call->engine;
    session_note_failed_login(call_session(call), ACL_REASON_AUTH,
                              call->origin == ORIGIN_TRANSACTION ? ACL_CONTEXT_MULTI
                                                                 : ACL_CONTEXT_TOPLEVEL,
                              call->argv[0], name);
    uint64_t place = place_of(call);
    int64_t delay_ms = failed_logins_delay(engine->failed_logins, place, engine->steady_ms);
    failed_logins_add(engine->failed_logins, place, engine->steady_ms);
    if (delay_ms == 0) {
        answer_wrong(call, NULL);
        return;
    }
    struct call without_arguments = *call;
    without_arguments.argc = 1;
    call_block(&without_arguments,
               &(struct block_request){.kind = &kind, .deadline_ms = call->now_ms + delay_ms});
}

/* A transaction, in which nothing waits, tries no password once failures are answered late. */
static bool tries_too_many(const struct call *call) {
    const struct engine *engine = call->engine;
    return call->origin == ORIGIN_TRANSACTION && engine->failed_logins->is_used &&
           failed_logins_delay(engine->failed_logins, place_of(call), engine->steady_ms) > 0;
}

/* Makes the session the user's. Returns false if not: then it has replied the error, or will. */
static bool log_in(struct call *call, struct slice name, struct slice password) {
    struct session *session = call_session(call);
    struct engine *engine = call->engine;
    if (tries_too_many(call))
        return reply_error(call->reply, "ERR Too many logins from this address have failed to log "
                                        "in within a transaction");
    struct user *user = users_log_in(engine->users, name, password);
    if (!user) {
        refuse_login(call, name);
        return false;
    }
    session_set_user(session, user);
    session_set_needs_auth(session, false);
    return true;
}

void auth_command(struct call *call) {
    const struct user *default_user = call->engine->users->default_user;
    if (call->argc > 3) {
        call_syntax_error(call);
        return;
    }
    if (call->argc == 2 && default_user->rights->no_password) {
        reply_error(call->reply, "ERR AUTH <password> called without any password configured for "
                                 "the default user. Are you sure your configuration is correct?");
        return;
    }
    struct slice name = call->argc == 3 ? call->argv[1] : SLICE(DEFAULT_USER);
    if (log_in(call, name, call->argv[call->argc - 1])) reply_ok(call->reply);
}

/* --- HELLO --- */

static void answer_hello(struct call *call) {
    struct reply *reply = call->reply;
    reply_map(reply, 9);
    reply_named_text(reply, "server", SLICE("redis"));
    reply_named_text(reply, "version", SLICE(PACKLIST_REDIS_VERSION));
    reply_named_integer(reply, "proto", reply->protocol);
    reply_named_integer(reply, "id", (int64_t)call_session(call)->id);
    reply_named_text(reply, "mode", call->engine->cluster ? SLICE("cluster") : SLICE("standalone"));
    reply_named_text(reply, "role", slice_of_cstr(call->engine->is_replica ? "replica" : "master"));
    reply_bulk_cstr(reply, "modules");
    reply_array(reply, 0);
    reply_named_text(reply, "server_name", SLICE("packlist"));
    reply_named_text(reply, "packlist_version", SLICE(PACKLIST_VERSION));
}

/* HELLO's options. All are checked before any takes effect. */
struct hello {
    struct slice user;
    struct slice password;
    struct slice name;
    bool has_auth;
    bool has_name;
};

static bool parse_hello(struct call *call, struct hello *hello) {
    for (size_t i = 2; i < call->argc; i++) {
        size_t more = call->argc - i - 1;
        if (slice_is(call->argv[i], "auth") && more >= 2) {
            hello->has_auth = true;
            hello->user = call->argv[i + 1];
            hello->password = call->argv[i + 2];
            i += 2;
        } else if (slice_is(call->argv[i], "setname") && more >= 1) {
            hello->has_name = true;
            hello->name = call->argv[++i];
            if (session_check_name(call, hello->name, "Client names")) continue;
            return false;
        } else {
            struct slice option = secret_shown(call->command, call->argv, call->argc, i);
            reply_error_format(call->reply, "ERR Syntax error in HELLO option '%.*s'",
                               slice_precision(option), option.ptr);
            return false;
        }
    }
    return true;
}

void hello_command(struct call *call) {
    int64_t protocol = call_session(call)->protocol;
    if (call->argc > 1 &&
        !call_integer_in(call, 1, INT64_MIN, INT64_MAX, &protocol,
                         "ERR Protocol version is not an integer or out of range"))
        return;
    if (protocol < 2 || protocol > 3) {
        reply_error(call->reply, "NOPROTO unsupported protocol version");
        return;
    }
    struct hello hello = {0};
    if (!parse_hello(call, &hello)) return;
    if (hello.has_auth && !log_in(call, hello.user, hello.password)) return;
    if (call_session(call)->flags & SESSION_NEEDS_AUTH) {
        reply_error(call->reply,
                    "NOAUTH HELLO must be called with the client already authenticated, otherwise "
                    "the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the "
                    "client and select the RESP protocol version at the same time");
        return;
    }
    if (hello.has_name) session_set_name(call_session(call), hello.name);
    call_session(call)->protocol = (uint8_t)protocol;
    call->reply->protocol = (int)protocol;
    answer_hello(call);
}
