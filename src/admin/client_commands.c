/* client_commands: CLIENT: what clients can read and set about themselves, and what an operator can
 * do with others. */
#include "admin/admin_commands.h"
#include "admin/client_filter.h"
#include "base/text/number.h"
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

/* CLIENT CAPA capability … (of Valkey): what the client can do. Unknown capabilities are ignored.
 * This server redirects no clients: only the filters of CLIENT LIST and KILL ask for `redirect`. */
void client_capa_command(struct call *call) {
    for (size_t i = 2; i < call->argc; i++)
        if (slice_is(call->argv[i], "redirect")) call_session(call)->marks |= SESSION_CAN_REDIRECT;
    reply_ok(call->reply);
}

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

void client_import_source_command(struct call *call) {
    bool is_off = slice_is(call->argv[2], "off"), on;
    if (!call->engine->config.import_mode && !is_off) {
        reply_error(call->reply, "ERR Server is not in import mode");
    } else if (parse_switch(call, &on)) {
        call->requester->imports = on;
        reply_ok(call->reply);
    }
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

static struct slice text_of(sds text) {
    return text ? sds_slice(text) : (struct slice){0};
}

/* Addresses cost a system call: they are read only for filters that name one. */
static bool filter_meets(const struct client_filter *filter, struct session *session,
                         const struct session *me) {
    const struct client_conditions *wanted = &filter->wanted, *unwanted = &filter->unwanted;
    struct engine *engine = session->requester.engine;
    struct conn *conn = conn_of_session(session);
    char peer[CONN_NAME_MAX], local[CONN_NAME_MAX], flags[CLIENT_FLAGS_MAX];
    client_line_flags(session, flags);
    struct client_facts facts = {
        .id = (int64_t)session->id,
        .user = session_user_name(session),
        .name = text_of(session->name),
        .lib_name = text_of(session->lib_name),
        .lib_version = text_of(session->lib_version),
        .flags = slice_of_cstr(flags),
        .capabilities = session->marks & SESSION_CAN_REDIRECT ? SLICE("r") : SLICE(""),
        .database = session->requester.database,
        .age_s = (engine->steady_ms - session->created_ms) / 1000,
        .idle_s = (engine->steady_ms - session->active_ms) / 1000,
        .type = session_type(session),
        .is_me = session == me,
    };
    if (wanted->address.ptr || unwanted->address.ptr || wanted->ip.ptr || unwanted->ip.ptr)
        facts.address = slice_of_cstr(conn_peer_name(conn, peer));
    if (wanted->local_address.ptr || unwanted->local_address.ptr)
        facts.local_address = slice_of_cstr(conn_local_name(conn, local));
    return client_filter_matches(filter, &facts);
}

/* Calls `visit` for each session that the filter may match, oldest first. Clients that are named by
 * number are looked up in a table. `visit` may close the session. */
static int64_t visit_matching(const struct client_filter *filter, struct session *me,
                              bool (*visit)(void *arg, struct session *session), void *arg) {
    struct clients *clients = me->requester.engine->clients;
    const struct client_ids *ids = &filter->wanted.ids;
    int64_t found = 0;
    for (size_t i = 0; i < ids->count; i++) {
        struct session *named = session_list_find(&clients->sessions, (uint64_t)ids->ids[i]);
        if (named && filter_meets(filter, named, me)) found += visit(arg, named);
    }
    if (ids->count) return found;
    /* Compare the port first: reading the address of every client from the system would take
     * longest. */
    struct slice address = filter->wanted.address;
    int64_t port = address.ptr ? port_of(address) : -1;
    struct session *next;
    for (struct session *session = clients->sessions.first; session; session = next) {
        next = session->next;
        if (address.ptr && session->peer_port != port) continue;
        if (filter_meets(filter, session, me)) found += visit(arg, session);
    }
    return found;
}

/* Parses the options from argv[2] on; otherwise replies the error and returns false. The caller
 * ends the filter in both cases. */
static bool parse_filter(struct call *call, struct client_filter *filter, bool skip_me) {
    struct users *users = call->engine->users;
    sds error = client_filter_parse(filter, call->argv + 2, call->argc - 2, skip_me,
                                    call->engine->databases);
    if (error) {
        reply_error(call->reply, error);
        sds_free(error);
        return false;
    }
    struct slice names[] = {filter->wanted.user, filter->unwanted.user};
    for (size_t i = 0; i < 2; i++)
        if (names[i].ptr && !users_find(users, names[i]))
            return reply_error_format(call->reply, "ERR No such user '%.*s'",
                                      slice_precision(names[i]), names[i].ptr);
    return true;
}

/* Returns whether the session has a last reply to send and then closes by itself, at the end of the
 * loop iteration. To close it now would lose the reply. Sentinel does that: one transaction makes
 * the server a replica, which blocked clients get as an error, and then kills all clients. */
static bool is_about_to_close(struct session *session) {
    const struct conn *conn = conn_of_session(session);
    return conn_is_closing(conn) && conn_is_holding(conn);
}

/* Closes a session; the calling client's, `me`, after its reply. */
static bool kill(void *me, struct session *session) {
    if (session == me)
        session_close_after_reply(session);
    else if (!is_about_to_close(session))
        session_close(session);
    return true;
}

void client_kill_command(struct call *call) {
    struct session *me = call_session(call);
    if (call->argc == 3) { /* the old form: an address, which may be the client's own */
        struct client_filter filter = {.wanted.address = call->argv[2]};
        if (visit_matching(&filter, me, kill, me))
            reply_ok(call->reply);
        else
            reply_error(call->reply, "ERR No such client");
        return;
    }
    struct client_filter filter;
    if (parse_filter(call, &filter, true))
        reply_integer(call->reply, visit_matching(&filter, me, kill, me));
    client_filter_end(&filter);
}

void client_unblock_command(struct call *call) {
    struct engine *engine = call->engine;
    if (!call_has_at_most(call, 4)) return;
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
    if (!call_has_at_most(call, 4)) return;
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

/* Only numbers: in their order. */
static void list_ids(struct call *call) {
    sds out = sds_new(SLICE(""));
    for (size_t i = 3; i < call->argc; i++) {
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

static bool asks_for_ids_only(const struct call *call) {
    if (call->argc < 4 || !slice_is(call->argv[2], "id")) return false;
    for (size_t i = 3; i < call->argc; i++)
        if (client_filter_is_option(call->argv[i])) return false;
    return true;
}

static bool append_line(void *out, struct session *session) {
    *(sds *)out = client_line(*(sds *)out, session);
    return true;
}

void client_list_command(struct call *call) {
    struct client_filter filter;
    if (asks_for_ids_only(call)) {
        list_ids(call);
        return;
    }
    if (parse_filter(call, &filter, false)) {
        sds out = sds_new(SLICE(""));
        visit_matching(&filter, call_session(call), append_line, &out);
        call_answer_text(call, out);
    }
    client_filter_end(&filter);
}

/* --- Help --- */

COMMAND_FORM(client_help_command, call_help,
             "CACHING YES|NO\n"
             "    Track the keys of the next command (OPTIN), or do not (OPTOUT).\n"
             "CAPA <capability> [<capability> ...]\n"
             "    Tell what this client can do: REDIRECT.\n"
             "GETNAME\n"
             "    The name of this connection.\n"
             "GETREDIR\n"
             "    The client that gets invalidation messages: 0 this one, -1 tracking is off.\n"
             "ID\n"
             "    The number of this connection.\n"
             "INFO\n"
             "    The line that CLIENT LIST has for this connection.\n"
             "KILL <ip:port>\n"
             "    Close the connection from that address.\n"
             "KILL <option> <value> [<option> <value> ...]\n"
             "    Close all connections that meet every option, and count them:\n"
             "    * ID <client-id> [<client-id> ...]\n"
             "    * ADDR <ip:port>     the client's address, or <socket path>:0\n"
             "    * LADDR <ip:port>    the server's side of the connection\n"
             "    * IP <ip>            the client's address without the port\n"
             "    * TYPE NORMAL|REPLICA|PUBSUB|MASTER\n"
             "    * USER <name>, NAME <name>, LIB-NAME <name>, LIB-VER <version>, DB <number>\n"
             "    * FLAGS <letters>    all of them, as LIST shows them\n"
             "    * CAPA <letters>     r: REDIRECT\n"
             "    * NOT-<option>       of those above: all others\n"
             "    * IDLE <seconds>     silent for at least so long\n"
             "    * MAXAGE <seconds>   connected for at least so long\n"
             "    * SKIPME YES|NO      spare this connection (default: yes)\n"
             "LIST [<option> <value> ...]\n"
             "    A line for each connection that meets every option (those of KILL).\n"
             "IMPORT-SOURCE ON|OFF\n"
             "    Find and change keys that have expired, while import-mode is on.\n"
             "NO-EVICT ON|OFF\n"
             "    Exempt this connection from being closed for the memory it takes.\n"
             "NO-TOUCH ON|OFF\n"
             "    Read keys without marking them as used.\n"
             "PAUSE <milliseconds> [WRITE|ALL]\n"
             "    Hold back commands, or those that write, for a time.\n"
             "REPLY ON|OFF|SKIP\n"
             "    Answer commands, none of them, or all but the next.\n"
             "SETINFO LIB-NAME|LIB-VER <text>\n"
             "    Tell which client library this is.\n"
             "SETNAME <name>\n"
             "    Name this connection.\n"
             "TRACKING ON|OFF [<option> ...]\n"
             "    Tell this connection when keys change that it has read:\n"
             "    * REDIRECT <client-id> tell another connection instead\n"
             "    * BCAST                tell it of all keys\n"
             "    * PREFIX <prefix>      ... or, with BCAST, of those that begin so\n"
             "    * OPTIN, OPTOUT        CLIENT CACHING decides which keys are tracked\n"
             "    * NOLOOP               not of what this connection changes itself\n"
             "TRACKINGINFO\n"
             "    How keys are tracked for this connection.\n"
             "UNBLOCK <client-id> [TIMEOUT|ERROR]\n"
             "    Wake a client that waits for a key.\n"
             "UNPAUSE\n"
             "    End a pause.\n")
