/* client_commands: CLIENT: what clients can read and set about themselves, and what an operator can
 * do with others. */
#include "admin/admin_commands.h"
#include "admin/client_filter.h"
#include "base/number.h"
#include "engine/blocking.h"
#include "engine/engine.h"
#include "engine/transaction.h"
#include "execute/blocking_serve.h"
#include "resp/reply.h"
#include "session/client_line.h"
#include "session/client_memory.h"
#include "session/clients.h"
#include "session/pause.h"
#include "session/publish.h"
#include "session/session.h"
#include "users/users.h"

/* --- A client's identity --- */

void client_id_command(struct call *call) {
    reply_integer(call->reply, (int64_t)call_session(call)->id);
}

void client_getname_command(struct call *call) {
    if (call_session(call)->name)
        reply_bulk(call->reply, sds_slice(call_session(call)->name));
    else
        reply_null(call->reply);
}

void client_setname_command(struct call *call) {
    if (!session_check_name(call, call->argv[2], "Client names")) return;
    session_set_name(call_session(call), call->argv[2]);
    reply_ok(call->reply);
}

/* Returns where the session keeps the library text of that name; NULL when the name is unknown. */
static sds *library_text(struct session *session, struct slice name) {
    if (slice_is(name, "lib-name")) return &session->lib_name;
    return slice_is(name, "lib-ver") ? &session->lib_version : NULL;
}

void client_setinfo_command(struct call *call) {
    struct slice name = call->argv[2], value = call->argv[3];
    sds *text = library_text(call_session(call), name);
    if (!text) {
        reply_error_format(call->reply, "ERR Unrecognized option '%.*s'", slice_precision(name),
                           name.ptr);
        return;
    }
    char as_sent[sizeof("lib-name")];
    memcpy(as_sent, name.ptr, name.len);
    as_sent[name.len] = 0;
    if (!session_check_name(call, value, as_sent)) return;
    sds_free(*text);
    *text = value.len ? sds_new(value) : NULL;
    reply_ok(call->reply);
}

/* --- A client's settings --- */

void client_reply_command(struct call *call) {
    const uint32_t off = SESSION_REPLY_OFF | SESSION_REPLY_SKIP | SESSION_REPLY_SKIP_NEXT;
    struct session *session = call_session(call);
    if (slice_is(call->argv[2], "on")) {
        session->flags &= ~off;
        reply_ok(call->reply);
    } else if (slice_is(call->argv[2], "off")) {
        session->flags |= SESSION_REPLY_OFF;
    } else if (slice_is(call->argv[2], "skip")) {
        if (!(session->flags & SESSION_REPLY_OFF)) session->flags |= SESSION_REPLY_SKIP_NEXT;
    } else {
        call_syntax_error(call);
    }
}

/* Parses ON or OFF; otherwise replies the error and returns false. */
static bool parse_switch(struct call *call, bool *on) {
    *on = slice_is(call->argv[2], "on");
    if (*on || slice_is(call->argv[2], "off")) return true;
    return call_syntax_error(call);
}

void client_no_evict_command(struct call *call) {
    struct session *session = call_session(call);
    bool on;
    if (!parse_switch(call, &on)) return;
    session->marks &= (uint8_t)~SESSION_NO_EVICT;
    if (on) session->marks |= SESSION_NO_EVICT;
    reply_ok(call->reply);
}

void client_no_touch_command(struct call *call) {
    bool on;
    if (!parse_switch(call, &on)) return;
    call->requester->leaves_no_marks = on;
    reply_ok(call->reply);
}

/* --- Other clients --- */

/* Returns the client with this number, or NULL. */
static struct session *session_numbered(const struct call *call, int64_t id) {
    return id > 0 ? session_list_find(&call->engine->clients->sessions, (uint64_t)id) : NULL;
}

/* Returns the number after the last colon of an address; -1 when there is none. */
static int64_t port_of(struct slice address) {
    size_t begin = address.len;
    while (begin > 0 && address.ptr[begin - 1] != ':') begin--;
    int64_t port;
    struct slice digits = slice_make(address.ptr + begin, address.len - begin);
    return begin > 0 && number_parse_int64(digits, &port) ? port : -1;
}

static bool filter_meets(const struct client_filter *filter, struct session *session,
                         const struct session *me) {
    struct engine *engine = session->requester.engine;
    struct conn *conn = conn_of_session(session);
    char peer[CONN_NAME_MAX], local[CONN_NAME_MAX];
    struct client_facts facts = {
        .id = (int64_t)session->id,
        .age_s = (engine->steady_ms - session->created_ms) / 1000,
        .type = session_type(session),
        .is_me = session == me,
        .user = session_user_name(session),
    };
    if (filter->address.ptr) facts.address = slice_of_cstr(conn_peer_name(conn, peer));
    if (filter->local_address.ptr)
        facts.local_address = slice_of_cstr(conn_local_name(conn, local));
    return client_filter_matches(filter, &facts);
}

/* Returns whether the session has a last reply to send and then closes by itself, at the end of the
 * loop iteration. To close it now would lose the reply. Sentinel does that: one transaction makes
 * the server a replica, which blocked clients get as an error, and then kills all clients. */
static bool is_about_to_close(struct session *session) {
    const struct conn *conn = conn_of_session(session);
    return conn_is_closing(conn) && conn_is_holding(conn);
}

/* Closes a session if it matches the filter, the calling client's after its reply. Returns whether
 * it matched. */
static bool kill_if_met(const struct client_filter *filter, struct session *session,
                        struct session *me) {
    if (!filter_meets(filter, session, me)) return false;
    if (session == me)
        session_close_after_reply(session);
    else if (!is_about_to_close(session))
        session_close(session);
    return true;
}

/* Closes all sessions that match; returns their number. A client's number is looked up in a
 * table. */
static int64_t kill_matching(const struct client_filter *filter, struct session *me) {
    struct engine *engine = me->requester.engine;
    if (filter->id) {
        struct session *named = session_list_find(&engine->clients->sessions, (uint64_t)filter->id);
        return named && kill_if_met(filter, named, me);
    }
    int64_t killed = 0;
    /* Compare the port first: reading the address of every client from the system would take
     * longest. */
    int64_t port = filter->address.ptr ? port_of(filter->address) : -1;
    struct session *next;
    for (struct session *session = engine->clients->sessions.first; session; session = next) {
        next = session->next;
        if (filter->address.ptr && session->peer_port != port) continue;
        killed += kill_if_met(filter, session, me);
    }
    return killed;
}

void client_kill_command(struct call *call) {
    if (call->argc == 3) { /* the old form: an address, which may be the client's own */
        struct client_filter filter = {.address = call->argv[2]};
        if (kill_matching(&filter, call_session(call)))
            reply_ok(call->reply);
        else
            reply_error(call->reply, "ERR No such client");
        return;
    }
    struct client_filter filter;
    sds error = client_filter_parse(&filter, call->argv + 2, call->argc - 2);
    if (error) {
        reply_error(call->reply, error);
        sds_free(error);
        return;
    }
    if (filter.user.ptr && !users_find(call->engine->users, filter.user)) {
        reply_error_format(call->reply, "ERR No such user '%.*s'", slice_precision(filter.user),
                           filter.user.ptr);
        return;
    }
    reply_integer(call->reply, kill_matching(&filter, call_session(call)));
}

void client_unblock_command(struct call *call) {
    struct engine *engine = call->engine;
    if (call->argc > 4) {
        call_bad_subcommand(call);
        return;
    }
    bool with_error = call->argc == 4 && slice_is(call->argv[3], "error");
    if (call->argc == 4 && !with_error && !slice_is(call->argv[3], "timeout")) {
        reply_error(call->reply, "ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR");
        return;
    }
    int64_t id;
    if (!call_integer(call, 2, &id)) return;
    struct session *session = session_numbered(call, id);
    bool woken = session && blocking_unblock(engine->blocking, session, with_error);
    reply_integer(call->reply, woken);
}

/* Reads argv[index] as a duration in milliseconds; otherwise replies the error and returns false.
 * As in Redis it must end at a time that the wall clock can show. */
static bool parse_duration(struct call *call, size_t index, int64_t *duration_ms) {
    if (!number_parse_int64(call->argv[index], duration_ms))
        reply_error(call->reply, "ERR timeout is not an integer or out of range");
    else if (*duration_ms < 0)
        reply_error(call->reply, "ERR timeout is negative");
    else if (*duration_ms > INT64_MAX - call->now_ms)
        reply_error(call->reply, "ERR timeout is out of range");
    else
        return true;
    return false;
}

void client_pause_command(struct call *call) {
    if (call->argc > 4) {
        call_bad_subcommand(call);
        return;
    }
    bool writes_only = call->argc == 4 && slice_is(call->argv[3], "write");
    if (call->argc == 4 && !writes_only && !slice_is(call->argv[3], "all")) {
        reply_error(call->reply, "ERR CLIENT PAUSE mode must be WRITE or ALL");
        return;
    }
    int64_t duration_ms;
    if (!parse_duration(call, 2, &duration_ms)) return;
    pause_start(call->engine, duration_ms, writes_only);
    reply_ok(call->reply);
}

void client_unpause_command(struct call *call) {
    pause_end(call->engine);
    reply_ok(call->reply);
}

/* --- CLIENT INFO, CLIENT LIST --- */

void client_info_command(struct call *call) {
    call_answer_text(call, client_line(sds_new(SLICE("")), call_session(call)));
}

static void list_all(struct call *call, enum client_type type) {
    sds out = sds_new(SLICE(""));
    for (struct session *session = call->engine->clients->sessions.first; session;
         session = session->next)
        if (type == CLIENT_TYPE_ANY || session_type(session) == type)
            out = client_line(out, session);
    call_answer_text(call, out);
}

static void list_type(struct call *call, struct slice name) {
    enum client_type type = client_type_named(name);
    if (type == CLIENT_TYPE_ANY)
        reply_error_format(call->reply, "ERR Unknown client type '%.*s'", slice_precision(name),
                           name.ptr);
    else
        list_all(call, type);
}

static void list_ids(struct call *call, size_t first) {
    sds out = sds_new(SLICE(""));
    for (size_t i = first; i < call->argc; i++) {
        int64_t id;
        if (!number_parse_int64(call->argv[i], &id)) {
            reply_error(call->reply, "ERR Invalid client ID");
            sds_free(out);
            return;
        }
        struct session *session = session_numbered(call, id);
        if (session) out = client_line(out, session);
    }
    call_answer_text(call, out);
}

void client_list_command(struct call *call) {
    if (call->argc == 2)
        list_all(call, CLIENT_TYPE_ANY);
    else if (call->argc == 4 && slice_is(call->argv[2], "type"))
        list_type(call, call->argv[3]);
    else if (call->argc > 3 && slice_is(call->argv[2], "id"))
        list_ids(call, 3);
    else
        call_syntax_error(call);
}

/* --- CLIENT TRACKING and related commands ---
 *
 * The server does not report changed keys to clients, so tracking is always off. */

void client_trackinginfo_command(struct call *call) {
    struct reply *reply = call->reply;
    reply_map(reply, 3);
    reply_bulk_cstr(reply, "flags");
    reply_set(reply, 1);
    reply_bulk_cstr(reply, "off");
    reply_bulk_cstr(reply, "redirect");
    reply_integer(reply, -1);
    reply_bulk_cstr(reply, "prefixes");
    reply_array(reply, 0);
}

void client_getredir_command(struct call *call) {
    reply_integer(call->reply, -1);
}

/* The argument of REDIRECT must be the number of a client. */
static bool check_redirection(struct call *call, size_t index) {
    int64_t id;
    if (!call_integer(call, index, &id)) return false;
    if (session_numbered(call, id)) return true;
    return reply_error(call->reply, "ERR The client ID you want redirect to does not exist");
}

static bool check_tracking_options(struct call *call) {
    for (size_t i = 3; i < call->argc; i++) {
        struct slice option = call->argv[i];
        bool has_value = i + 1 < call->argc;
        if (slice_is(option, "redirect") && has_value) {
            if (!check_redirection(call, ++i)) return false;
        } else if (slice_is(option, "prefix") && has_value) {
            i++;
        } else if (!slice_is(option, "bcast") && !slice_is(option, "optin") &&
                   !slice_is(option, "optout") && !slice_is(option, "noloop")) {
            return call_syntax_error(call);
        }
    }
    return true;
}

void client_tracking_command(struct call *call) {
    if (!check_tracking_options(call)) return;
    if (slice_is(call->argv[2], "off"))
        reply_ok(call->reply);
    else if (slice_is(call->argv[2], "on"))
        reply_error(call->reply, "ERR Client-side caching is not supported: this server tracks no "
                                 "keys and sends no invalidation messages");
    else
        call_syntax_error(call);
}

void client_caching_command(struct call *call) {
    reply_error(call->reply, "ERR CLIENT CACHING can be called only when the client is in tracking "
                             "mode with OPTIN or OPTOUT mode enabled");
}

/* --- Help --- */

void client_help_command(struct call *call) {
    static const char *const lines[] = {
        "CACHING YES|NO",
        "    Track the keys of the next command: an error, tracking is never on.",
        "GETNAME",
        "    The name of this connection.",
        "GETREDIR",
        "    Where invalidation messages go: -1, tracking is never on.",
        "ID",
        "    The number of this connection.",
        "INFO",
        "    The line that CLIENT LIST has for this connection.",
        "KILL <ip:port>",
        "    Close the connection from that address.",
        "KILL <option> <value> [<option> <value> ...]",
        "    Close all connections that meet every option, and count them:",
        "    * ID <client-id>",
        "    * ADDR <ip:port>     the client's address, or <socket path>:0",
        "    * LADDR <ip:port>    the server's side of the connection",
        "    * TYPE NORMAL|REPLICA|PUBSUB|MASTER",
        "    * USER <name>",
        "    * MAXAGE <seconds>   connected for at least so long",
        "    * SKIPME YES|NO      spare this connection (default: yes)",
        "LIST [TYPE <type> | ID <client-id> ...]",
        "    A line for each connection.",
        "NO-EVICT ON|OFF",
        "    Exempt this connection from being closed for the memory it takes.",
        "NO-TOUCH ON|OFF",
        "    Read keys without marking them as used.",
        "PAUSE <milliseconds> [WRITE|ALL]",
        "    Hold back commands, or those that write, for a time.",
        "REPLY ON|OFF|SKIP",
        "    Answer commands, none of them, or all but the next.",
        "SETINFO LIB-NAME|LIB-VER <text>",
        "    Tell which client library this is.",
        "SETNAME <name>",
        "    Name this connection.",
        "TRACKING OFF [<option> ...]",
        "    Stop the tracking of keys, which is never on.",
        "TRACKINGINFO",
        "    How keys are tracked for this connection.",
        "UNBLOCK <client-id> [TIMEOUT|ERROR]",
        "    Wake a client that waits for a key.",
        "UNPAUSE",
        "    End a pause.",
        NULL,
    };
    call_help(call, lines);
}
