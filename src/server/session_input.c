#include "server/session_input.h"

#include "base/alloc.h"
#include "base/log.h"
#include "server/args.h"
#include "server/blocking.h"
#include "server/client_limits.h"
#include "server/client_memory.h"
#include "server/dispatch.h"
#include "server/execute.h"
#include "server/monitor.h"
#include "server/pause.h"
#include "server/prefetch.h"
#include "server/publish.h"
#include "server/server.h"
#include "server/server_clock.h"
#include "server/session_output.h"
#include "server/transaction.h"

enum {
    /* A request that has fewer arguments complete than this is parsed again from its beginning when
       more bytes come. */
    REPARSE_ARGUMENTS = 16,
    /* Announced requests of this size are read straight into a buffer of their own. */
    EXPECT_AT = 32 * 1024,
    /* An argument of this size is read straight into a string of its own. */
    COLLECT_AT = 64 * 1024,
    /* Replies to so many bytes of requests are counted together by the hard output limit, as Redis
       reads so much at once and sends nothing until it has answered all of it. */
    COUNTED_TOGETHER = 16 * 1024
};

/* --- Input --- */

int64_t session_argument_max(void) {
    int64_t configured = server.config.proto_max_bulk_len;
    return configured < (int64_t)LISTPACK_TEXT_MAX ? configured : (int64_t)LISTPACK_TEXT_MAX;
}

static struct resp_limits input_limits(const struct session *session) {
    return (struct resp_limits){
        .bulk_max = session_argument_max(),
        .authenticated = !(session->flags & SESSION_NEEDS_AUTH),
    };
}

static void drop_own_parser(struct session *session) {
    if (!session->parser) return;
    resp_parser_free(session->parser);
    mem_free(session->parser);
    session->parser = NULL;
}

/* The parser stays with the session. */
static void own_parser(struct session *session) {
    session->parser = mem_alloc(sizeof(*session->parser));
    *session->parser = server.parser;
    resp_parser_init(&server.parser);
}

/* The bytes at `bytes`, the beginning of a request, end inside an argument: lets it be collected if
 * it is large, and not the command's name. One for each request. */
static bool collect_large(struct session *session, struct resp_parser *parser, const char *bytes,
                          size_t len) {
    size_t have = len - parser->position;
    if (parser->bulk_length < COLLECT_AT || have >= (size_t)parser->bulk_length) return false;
    if (session->collected || parser->argc == 0) return false;
    if (!conn_collect(conn_of_session(session), bytes + parser->position, have,
                      (size_t)parser->bulk_length))
        return false;
    session->collected = (uint32_t)resp_parser_take_out(parser);
    if (parser == &server.parser) own_parser(session);
    return true;
}

/* The bytes end inside a request. A parser that has seen many arguments stays with the session;
 * else the request is short or its arguments are few, and parsing them again is cheaper than
 * keeping the state. */
static void keep_partial(struct session *session, struct resp_parser *parser) {
    size_t needs = resp_parser_needs(parser);
    if (needs >= EXPECT_AT) conn_expect(conn_of_session(session), needs);
    if (parser != &server.parser) return;
    if (parser->argc >= REPARSE_ARGUMENTS)
        own_parser(session);
    else
        resp_parser_reset(&server.parser);
}

/* The request is complete, with the argument that was collected for it: commands may take that
 * over. False when the session may not run it. */
static bool put_collected(struct session *session, struct resp_parser *parser) {
    if (session->collected == 0) return true;
    server.argument = conn_take_collected(conn_of_session(session));
    parser->argv[session->collected] = sds_slice(server.argument);
    session->collected = 0;
    return client_limits_admit_request(session, parser->argv, parser->argc);
}

/* A request of the session's own parser has run. */
static void end_own(struct session *session) {
    sds_free(server.argument);
    server.argument = NULL;
    drop_own_parser(session);
}

static void protocol_error(struct session *session, const char *text) {
    char peer[CONN_NAME_MAX];
    log_verbose("Protocol error (%s) from client: id=%llu addr=%s", text,
                (unsigned long long)session->id, conn_peer_name(conn_of_session(session), peer));
    if (!(session->flags & (SESSION_REPLY_OFF | SESSION_REPLY_SKIP)))
        reply_error_format(&server.reply, "ERR Protocol error: %s", text);
    session->flags |= SESSION_CLOSING;
}

/* Runs the requests in the bytes, as far as the session may; returns the bytes consumed. Of the
 * others, the first *parsed are complete arguments. */
static size_t run_requests(struct session *session, char *bytes, size_t len, size_t *parsed) {
    const uint32_t stopped = SESSION_BLOCKED | SESSION_PAUSED | SESSION_CLOSING;
    const size_t stretch = session_has_hard_limit(session) ? COUNTED_TOGETHER : SIZE_MAX / 2;
    size_t done = 0, looked_ahead = 0, stretch_end = stretch;
    *parsed = 0;
    while (done < len && !(session->flags & stopped)) {
        struct resp_parser *parser = session->parser ? session->parser : &server.parser;
        struct resp_limits limits = input_limits(session);
        enum resp_status status = resp_parse(parser, bytes + done, len - done, &limits);
        if (status == RESP_MORE) {
            *parsed = parser->position;
            if (!collect_large(session, parser, bytes + done, len - done))
                keep_partial(session, parser);
            break;
        }
        if (status == RESP_ERROR) {
            protocol_error(session, parser->error);
            resp_parser_reset(parser);
            break;
        }
        done += parser->consumed;
        if (__builtin_expect(parser != &server.parser, 0) && !put_collected(session, parser)) {
            end_own(session);
            break;
        }
        if (parser->consumed > CLIENT_LIMITS_SMALL_REQUEST &&
            !client_limits_admit_request(session, parser->argv, parser->argc))
            break;
        if (looked_ahead > 0)
            looked_ahead--;
        else if (done < len && parser->argc > 1)
            looked_ahead = prefetch_keys(server.keyspaces[session->requester.database],
                                         parser->argv[1], bytes + done, len - done);
        if (parser->argc > 0 && !dispatch(session, parser->argv, parser->argc))
            session->postponed = args_copy(parser->argv, parser->argc);
        if (__builtin_expect(parser != &server.parser, 0)) end_own(session);
        if (server.reply.len < SESSION_FLUSH_AT && done < stretch_end) continue;
        session_flush(session, &server.reply);
        if (done < stretch_end) continue;
        stretch_end = done + stretch;
        server.counted_output = 0;
    }
    return done;
}

/* A command that CLIENT PAUSE held back. Until then the session stays paused: what comes in behind
 * the command must not overtake it. */
static void run_postponed(struct session *session) {
    struct args *args = session->postponed;
    session->postponed = NULL;
    pause_release(session);
    if (dispatch(session, args->argv, args->argc))
        args_free(args);
    else
        session->postponed = args;
}

static void serve_begin(struct session *session) {
    server_update_clock();
    execute_begin_batch();
    server.current = session;
    server.counted_output = 0;
    server.dropped_output = 0;
    server.reply.protocol = session->protocol;
}

static void serve_end(struct session *session) {
    if (!(session->flags & SESSION_DROPPED)) session_flush(session, &server.reply);
    session_reset_reply(&server.reply);
    server.current = NULL;
    session_note_memory(session);
    if (session->flags & SESSION_DROPPED)
        session_close(session);
    else if (session->flags & SESSION_CLOSING)
        session_close_after_reply(session);
}

static size_t session_data(struct conn *conn, char *bytes, size_t len) {
    struct session *session = conn_session(conn);
    if (server.shutting_down) return 0; /* what comes now would be told, but not written */
    if (session->flags & (SESSION_BLOCKED | SESSION_PAUSED) &&
        client_limits_admit_waiting(session, len))
        return 0;
    serve_begin(session);
    session->active_ms = server.steady_ms;
    server.stats.reads++;
    size_t parsed;
    size_t done = run_requests(session, bytes, len, &parsed);
    if (done < len || session->transaction)
        client_limits_check_input(session, len - done, len - done - parsed);
    serve_end(session);
    return done;
}

/* More of a large argument has come: it counts as input that was not parsed yet. */
static void session_collecting(struct conn *conn) {
    struct session *session = conn_session(conn);
    serve_begin(session);
    session->active_ms = server.steady_ms;
    server.stats.reads++;
    client_limits_check_input(session, conn_pending_input(conn), conn_collected_input(conn));
    serve_end(session);
}

/* The connection keeps another amount of input than before. */
static void session_input_kept(struct conn *conn) {
    session_note_memory(conn_session(conn));
}

/* --- Resuming --- */

void session_resume_all(void) {
    struct session *session;
    while ((session = server.sessions.resume_first)) {
        session_list_unqueue(&server.sessions, session);
        if (session->postponed) {
            serve_begin(session);
            run_postponed(session);
            serve_end(session);
        }
        if (!(session->flags & (SESSION_BLOCKED | SESSION_PAUSED | SESSION_CLOSING)))
            conn_replay(conn_of_session(session));
    }
}

/* --- Beginning and end --- */

/* Says why to a client that may not stay, and drops it. */
static void refuse(struct conn *conn, struct slice error) {
    server.stats.connections_rejected++;
    conn_try_write(conn, error.ptr, error.len);
    conn_close(conn);
}

static bool is_refused(struct conn *conn) {
    if (server.sessions.count >= (size_t)server.config.maxclients) {
        refuse(conn, SLICE("-ERR max number of clients reached\r\n"));
        return true;
    }
    if (server.config.protected_mode && sds_len(server.config.requirepass) == 0 &&
        !conn_is_local(conn)) {
        refuse(conn,
               SLICE("-DENIED Packlist is running in protected mode because protected mode is "
                     "enabled and no password is set. In this mode connections are only accepted "
                     "from the loopback interface and unix sockets. To connect from elsewhere "
                     "set a password with the requirepass directive, or, where nobody else can "
                     "reach the port, disable protected mode with 'CONFIG SET protected-mode "
                     "no' sent from this host.\r\n"));
        return true;
    }
    return false;
}

static void session_opened(struct conn *conn, void *owner) {
    (void)owner;
    server.stats.connections_received++;
    if (is_refused(conn)) return;
    server_update_clock();
    struct session *session = conn_session(conn);
    session->id = ++server.next_session_id;
    session->protocol = 2;
    session->requester.session = session;
    session->created_ms = session->active_ms = server.steady_ms;
    if (sds_len(server.config.requirepass) > 0) session->flags |= SESSION_NEEDS_AUTH;
    if (conn_is_unix(conn)) session->marks |= SESSION_UNIX;
    if (conn_is_local(conn)) session->marks |= SESSION_LOCAL;
    session->peer_port = conn_peer_port(conn);
    if (server.config.tcp_keepalive)
        conn_set_keepalive(conn, (unsigned)server.config.tcp_keepalive);
    session_list_add(&server.sessions, session);
    client_memory_note(session);
}

static void session_ended(struct conn *conn, const char *reason) {
    struct session *session = conn_session(conn);
    log_verbose("Client id=%llu closed connection: %s", (unsigned long long)session->id, reason);
    /* It may have shut down only its sending side: what waits for it is still sent. */
    session_close_after_reply(session);
}

static void session_drained(struct conn *conn) {
    session_close(conn_session(conn));
}

void session_retire(struct session *session) {
    session->flags |= SESSION_CLOSING;
    blocking_remove(server.blocking, session);
    transaction_end(session);
    monitor_leave(session);
    publish_leave(session);
    session_list_unqueue(&server.sessions, session);
    drop_own_parser(session);
    args_free(session->postponed);
    session->postponed = NULL;
    pause_release(session);
}

void session_cut_off_denied(void) {
    struct session *next;
    size_t count = 0;
    server.reply_gate.denies = false;
    for (struct session *session = server.sessions.first; session; session = next) {
        next = session->next;
        if (!conn_is_holding(conn_of_session(session)) && !blocking_is_for_work(session)) continue;
        session_close(session);
        count++;
    }
    if (count > 0)
        log_warning("Closed %zu clients whose changes could not be brought to the disk.", count);
}

const struct conn_events session_events = {
    .session_size = sizeof(struct session),
    .opened = session_opened,
    .data = session_data,
    .input_kept = session_input_kept,
    .collecting = session_collecting,
    .ended = session_ended,
    .drained = session_drained,
};
