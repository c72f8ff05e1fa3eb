#include "requests/session_input.h"

#include "base/checked.h"
#include "base/log/log.h"
#include "base/memory/alloc.h"
#include "base/text/secret.h"
#include "engine/args.h"
#include "engine/blocking.h"
#include "engine/engine.h"
#include "engine/slow.h"
#include "engine/transaction.h"
#include "execute/blocking_serve.h"
#include "execute/execute.h"
#include "execute/prefetch.h"
#include "replication/primary/primary.h"
#include "requests/client_commands.h"
#include "resp/parser.h"
#include "resp/reply.h"
#include "session/client_limits.h"
#include "session/client_memory.h"
#include "session/clients.h"
#include "session/invalidate.h"
#include "session/monitor.h"
#include "session/outbox.h"
#include "session/pause.h"
#include "session/publish.h"
#include "session/refusal.h"
#include "session/session.h"
#include "session/session_user.h"
#include "table/command.h"
#include "table/secret.h"

#include <string.h>

enum {
    /* The requests of a read take long if they take at least this part of a millisecond. */
    LONG_BATCHES_PER_MS = 100,
    /* An incomplete request with fewer complete arguments than this is parsed again from its
     * beginning when more bytes come. */
    REPARSE_ARGUMENTS = 16,
    /* Requests announced with this size are read straight into a buffer of their own. */
    EXPECT_AT = 32 * 1024,
    /* An argument of this size is read straight into a string of its own. */
    COLLECT_AT = 64 * 1024,
    /* Replies to this many bytes of requests are counted together for the hard output limit,
     * because Redis reads that much at once and sends nothing before it has replied to all of
     * it. */
    COUNTED_TOGETHER = 16 * 1024
};

_Static_assert((int)SLOW_LARGE_REQUEST <= (int)CLIENT_LIMITS_SMALL_REQUEST,
               "a request that the limits look at is compared with engine->large_request only");

/* --- Running a request --- */

/* CLIENT REPLY: drops the command's reply when the client does not want it. A command that waits
 * replies later; outbox_end drops that reply. `before`: the session's flags before the
 * command. EXEC itself drops replies for a CLIENT REPLY in its queue. */
static void suppress_reply(struct session *session, struct reply *reply, size_t begin,
                           uint32_t before) {
    bool unwanted = before & session->flags & (SESSION_REPLY_OFF | SESSION_REPLY_SKIP);
    if (unwanted && reply->len > begin) reply_truncate(reply, begin);
    if (session->flags & SESSION_BLOCKED) return;
    session->flags &= ~(uint32_t)SESSION_REPLY_SKIP;
    if (session->flags & SESSION_REPLY_SKIP_NEXT)
        session->flags = (session->flags & ~(uint32_t)SESSION_REPLY_SKIP_NEXT) | SESSION_REPLY_SKIP;
}

/* A replica gets nothing but the stream: a reply would be taken for a part of it. */
static void forbid_reply(struct session *session, struct reply *reply, size_t begin,
                         struct slice name) {
    if (reply->len == begin) return;
    reply_truncate(reply, begin);
    log_warning("Closing the connection of a replica: its command '%.*s' has a reply",
                slice_precision(name), name.ptr);
    session_close(session);
}

/* Keys that a script makes ready are served when it has ended, and by no server that ends. */
static bool may_serve(const struct engine *engine) {
    return !(engine->restrictions & RESTRICTED_BUSY) && !engine->shutting_down;
}

/* Ends a request of a session that has flags, or had some `before`; its replies began at `begin`.
 * CLIENT CACHING is about the next request that is not one of CLIENT. */
static __attribute__((noinline)) void end_request(struct outbox *outbox, size_t begin,
                                                  uint32_t before, struct slice name) {
    static const char client[] = "client|";
    struct session *session = outbox->owner;
    const struct command *command = session->requester.last_command;
    if (before & SESSION_REPLICA) forbid_reply(session, &outbox->reply, begin, name);
    suppress_reply(session, &outbox->reply, outbox_reply_begin(outbox, begin), before);
    outbox->early_end = 0;
    outbox_add_messages(outbox);
    if (session->tracker && strncmp(command->name, client, sizeof(client) - 1) != 0)
        invalidate_end_request(session);
}

/* Executes one request (argc > 0) of the session that owns the outbox, then serves clients that
 * waited for keys that it changed. Adds the reply and messages to the outbox; CLIENT REPLY may
 * remove the reply again. Returns false when the command must wait (CLIENT PAUSE): nothing was
 * done, and the session is marked as paused. */
static bool dispatch(struct outbox *outbox, const struct slice *argv, size_t argc) {
    struct session *session = outbox->owner;
    struct reply *reply = &outbox->reply;
    CHECKED_ASSERT(argc > 0 && !(session->flags & (SESSION_BLOCKED | SESSION_CLOSING)));
    struct engine *engine = session->requester.engine;
    execute_renew_clock(engine);
    size_t begin = reply->len;
    uint32_t before = session->flags;
    if (execute(session, reply, argv, argc) == EXECUTION_POSTPONED) return false;
    if (before | session->flags) end_request(outbox, begin, before, argv[0]);
    if (blocking_has_ready(engine->blocking) && may_serve(engine)) {
        blocking_serve(engine, engine->blocking);
        outbox_add_messages(outbox);
    }
    return true;
}

/* --- Input --- */

static struct resp_limits input_limits(const struct engine *engine, const struct session *session) {
    return (struct resp_limits){
        .bulk_max = engine->config.proto_max_bulk_len,
        .authenticated = !(session->flags & SESSION_NEEDS_AUTH),
    };
}

static void drop_own_parser(struct session *session) {
    if (!session->parser) return;
    resp_parser_free(session->parser);
    mem_free(session->parser);
    session->parser = NULL;
}

/* The session keeps the parser and its state. */
static void own_parser(struct session *session) {
    struct engine *engine = session->requester.engine;
    session->parser = mem_alloc(sizeof(*session->parser));
    *session->parser = engine->clients->parser;
    resp_parser_init(&engine->clients->parser);
}

/* The request in the bytes is incomplete and ends inside an argument. The connection reads the rest
 * of a large argument, other than the command's name, straight into a string; one for each
 * request. */
static bool collect_large(struct session *session, struct resp_parser *parser, const char *bytes,
                          size_t len) {
    struct engine *engine = session->requester.engine;
    size_t have = len - parser->position;
    if (parser->bulk_length < COLLECT_AT || have >= (size_t)parser->bulk_length) return false;
    if (session->collected || parser->argc == 0) return false;
    if (!conn_collect(conn_of_session(session), bytes + parser->position, have,
                      (size_t)parser->bulk_length))
        return false;
    session->collected = (uint32_t)resp_parser_take_out(parser);
    if (parser == &engine->clients->parser) own_parser(session);
    return true;
}

/* The bytes end inside a request. Returns whether it may hold a secret. */
static bool may_hold_secret(const struct session *session, const struct resp_parser *parser,
                            const char *bytes) {
    struct slice first[2];
    size_t count = parser->argc < 2 ? parser->argc : 2;
    uintptr_t moved = (uintptr_t)bytes - (uintptr_t)parser->base;
    if (session->flags & SESSION_NEEDS_AUTH) return true;
    if (count == 0) return bytes[0] != '*'; /* a line of text; no argument is there yet */
    for (size_t i = 0; i < count; i++)
        first[i] =
            slice_make((const char *)((uintptr_t)parser->argv[i].ptr + moved), parser->argv[i].len);
    return secret_may_come(first, count);
}

/* The bytes end inside a request. A parser that has parsed many arguments stays with the session.
 * Otherwise the request is short or has few arguments, and parsing them again is cheaper than
 * keeping the state. */
static void keep_partial(struct session *session, struct resp_parser *parser) {
    struct engine *engine = session->requester.engine;
    size_t needs = resp_parser_needs(parser);
    if (needs >= EXPECT_AT) conn_expect(conn_of_session(session), needs);
    if (parser != &engine->clients->parser) return;
    if (parser->argc >= REPARSE_ARGUMENTS)
        own_parser(session);
    else
        resp_parser_reset(&engine->clients->parser);
}

/* The request is complete, with its collected argument, which the command may take over. Returns
 * false when the session may not run it. */
static bool put_collected(struct session *session, struct resp_parser *parser) {
    struct engine *engine = session->requester.engine;
    if (session->collected == 0) return true;
    engine->argument = conn_take_collected(conn_of_session(session));
    parser->argv[session->collected] = sds_slice(engine->argument);
    session->collected = 0;
    slow_look(engine);
    return client_limits_admit_request(session, parser->argv, parser->argc);
}

/* A request of the session's own parser has run; the session uses the shared one again. */
static void end_own(struct session *session) {
    struct engine *engine = session->requester.engine;
    if (conn_clears_input(conn_of_session(session)))
        secret_free(engine->argument);
    else
        sds_free(engine->argument);
    engine->argument = NULL;
    drop_own_parser(session);
}

/* A request of many bytes begins. Returns false when the session may not run it. */
static __attribute__((noinline)) bool begin_large(struct session *session,
                                                  struct resp_parser *parser) {
    slow_look(session->requester.engine);
    return parser->consumed <= CLIENT_LIMITS_SMALL_REQUEST ||
           client_limits_admit_request(session, parser->argv, parser->argc);
}

static void protocol_error(struct session *session, const char *text) {
    struct engine *engine = session->requester.engine;
    char peer[CONN_NAME_MAX];
    log_verbose("Protocol error (%s) from client: id=%llu addr=%s", text,
                (unsigned long long)session->id, conn_peer_name(conn_of_session(session), peer));
    if (!(session->flags & (SESSION_REPLY_OFF | SESSION_REPLY_SKIP)))
        reply_error_format(&engine->clients->outbox->reply, "ERR Protocol error: %s", text);
    conn_clear_input(conn_of_session(session), false);
    session->flags |= SESSION_CLOSING;
}

/* Returns whether the bytes, with which a request should begin, are a ClientHello of TLS: a record
 * of the type 22 (handshake) of version 3.x (RFC 8446, 5.1). */
static inline bool is_tls(const struct session *session, const char *bytes, size_t len) {
    enum { HANDSHAKE = 22, MAJOR = 3, MINOR_MAX = 4 };
    return __builtin_expect(bytes[0] == HANDSHAKE, 0) && len >= 3 && bytes[1] == MAJOR &&
           bytes[2] >= 0 && bytes[2] <= MINOR_MAX && !session->parser;
}

/* A client that tries again for ever must not fill the log. */
static __attribute__((noinline)) void cut_off_tls(struct session *session) {
    enum { NOTE_EVERY_MS = 60 * 1000 };
    struct engine *engine = session->requester.engine;
    char peer[CONN_NAME_MAX];
    session_close(session);
    if (engine->steady_ms < engine->clients->next_tls_note_ms) return;
    engine->clients->next_tls_note_ms = engine->steady_ms + NOTE_EVERY_MS;
    log_notice("%s began a TLS handshake, but this port does not speak TLS. Connection closed. Let "
               "clients connect without TLS (redis://, not rediss://), or through a TLS proxy.",
               conn_peer_name(conn_of_session(session), peer));
}

/* CLIENT PAUSE holds the request back. */
static void postpone(struct session *session, const struct resp_parser *parser) {
    session->postponed = args_copy(parser->argv, parser->argc);
    session->postponed->is_secret = secret_may_come(parser->argv, parser->argc);
}

/* Runs the requests in the bytes while the session may run commands. Returns the number of bytes
 * consumed; the first *parsed of the others are complete arguments. */
static size_t run_requests(struct session *session, char *bytes, size_t len, size_t *parsed) {
    struct engine *const engine = session->requester.engine;
    struct clients *const clients = engine->clients;
    struct outbox *const outbox = clients->outbox;
    const uint32_t stopped = SESSION_BLOCKED | SESSION_PAUSED | SESSION_CLOSING;
    const size_t stretch = client_limits_has_hard(session) ? COUNTED_TOGETHER : SIZE_MAX / 2;
    size_t done = 0, looked_ahead = 0, stretch_end = stretch;
    *parsed = 0;
    while (done < len && !(session->flags & stopped)) {
        struct resp_parser *parser = session->parser ? session->parser : &clients->parser;
        struct resp_limits limits = input_limits(engine, session);
        enum resp_status status = resp_parse(parser, bytes + done, len - done, &limits);
        if (status == RESP_MORE) {
            *parsed = parser->position;
            if (may_hold_secret(session, parser, bytes + done))
                conn_clear_input(conn_of_session(session), true);
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
        bool is_own = parser != &clients->parser;
        if (__builtin_expect(is_own, 0) && !put_collected(session, parser)) {
            end_own(session);
            break;
        }
        if (parser->consumed >= engine->large_request && !begin_large(session, parser)) break;
        prefetch_next(&looked_ahead, engine->keyspaces[session->requester.database], parser->argv,
                      parser->argc, bytes + done, len - done, &engine->stats.prefetched);
        if (parser->argc > 0 && !dispatch(outbox, parser->argv, parser->argc))
            postpone(session, parser);
        if (__builtin_expect(is_own, 0)) end_own(session);
        if (reply_size(&outbox->reply) < OUTBOX_FLUSH_AT && done < stretch_end) continue;
        outbox_flush(outbox);
        if (done < stretch_end) continue;
        stretch_end = done + stretch;
        outbox->counted = 0;
    }
    return done;
}

/* Runs a command that CLIENT PAUSE held back. The session stays paused until then, so that later
 * requests do not overtake the command. */
static void run_postponed(struct session *session) {
    struct args *args = session->postponed;
    session->postponed = NULL;
    pause_release(session);
    if (dispatch(session->requester.engine->clients->outbox, args->argv, args->argc))
        args_free(args);
    else
        session->postponed = args;
}

static void serve_begin(struct clients *clients, struct session *session) {
    engine_update_clock(clients->engine);
    execute_begin_batch(clients->engine);
    clients->begin_ticks = clients->engine->ticks;
    clients->batch_marks = 0;
    outbox_open(clients->outbox, session);
}

/* Returns whether the requests of the session being served took so long that holding their replies
 * costs next to nothing. */
static bool has_taken_long(const struct clients *clients) {
    const struct engine *engine = clients->engine;
    return (engine->ticks - clients->begin_ticks) * LONG_BATCHES_PER_MS >= engine->ticks_per_ms;
}

/* Only replies to scripts may be held: other requests mostly do not take long enough for a client
 * to fall asleep. */
static __attribute__((noinline)) void serve_end_marked(struct clients *clients) {
    struct outbox *outbox = clients->outbox;
    struct session *session = outbox->owner;
    if (clients->batch_marks & BATCH_RAN_SCRIPT && has_taken_long(clients))
        outbox_close_late(outbox);
    else
        outbox_close(outbox);
    if (!(clients->batch_marks & BATCH_REPLIED_SECRET)) return;
    secret_clear(outbox->reply.data, outbox->reply.capacity);
    conn_clear_output(conn_of_session(session), false);
}

static inline __attribute__((always_inline)) void serve_end(struct clients *clients) {
    if (__builtin_expect(clients->batch_marks, 0))
        serve_end_marked(clients);
    else
        outbox_close(clients->outbox);
    if (clients->replies_wait) outbox_release_late(clients->engine, clients->engine->ticks);
}

static size_t session_data(struct conn *conn, char *bytes, size_t len) {
    struct session *session = conn_session(conn);
    struct engine *engine = session->requester.engine;
    if (engine->shutting_down) return 0; /* a change would be propagated but no longer written */
    if (session->flags & (SESSION_BLOCKED | SESSION_PAUSED) &&
        client_limits_admit_waiting(session, len))
        return 0;
    serve_begin(engine->clients, session);
    session->active_ms = engine->steady_ms;
    engine->stats.reads++;
    size_t parsed = 0, done = len;
    if (is_tls(session, bytes, len))
        cut_off_tls(session);
    else
        done = run_requests(session, bytes, len, &parsed);
    if (done < len || session->transaction)
        client_limits_check_input(session, len - done, len - done - parsed);
    serve_end(engine->clients);
    return done;
}

/* More of a large argument has arrived: it counts as input that was not parsed yet. */
static void session_collecting(struct conn *conn) {
    struct session *session = conn_session(conn);
    struct engine *engine = session->requester.engine;
    serve_begin(engine->clients, session);
    session->active_ms = engine->steady_ms;
    engine->stats.reads++;
    client_limits_check_input(session, conn_pending_input(conn), conn_collected_input(conn));
    serve_end(engine->clients);
}

/* The amount of input that the connection keeps has changed. */
static void session_input_kept(struct conn *conn) {
    client_memory_note(conn_session(conn));
}

/* --- Resuming --- */

void session_resume_all(struct engine *engine) {
    struct session *session;
    while ((session = engine->clients->sessions.resume_first)) {
        session_list_unqueue(&engine->clients->sessions, session);
        if (session->postponed) {
            serve_begin(engine->clients, session);
            run_postponed(session);
            serve_end(engine->clients);
        }
        /* The link to the primary holds its own input back: it sees whether it may go on. */
        if (session->flags & SESSION_PRIMARY) pause_release(session);
        if (!(session->flags & (SESSION_BLOCKED | SESSION_PAUSED | SESSION_CLOSING)))
            conn_replay(conn_of_session(session));
    }
}

/* --- Beginning and end --- */

static void session_opened(struct conn *conn, void *owner) {
    struct engine *engine = owner;
    struct session *session = conn_session(conn);
    session->requester = (struct requester){.engine = engine, .session = session};
    engine->stats.connections_received++;
    engine_update_clock(engine);
    if (refusal_decide(engine, conn)) return;
    session->id = ++engine->clients->next_session_id;
    session->protocol = 2;
    session->created_ms = session->active_ms = engine->steady_ms;
    session_log_out(session);
    if (conn_is_unix(conn)) session->marks |= SESSION_UNIX;
    if (conn_is_local(conn)) session->marks |= SESSION_LOCAL;
    session->peer_port = conn_peer_port(conn);
    if (engine->config.tcp_keepalive)
        conn_set_keepalive(conn, (unsigned)engine->config.tcp_keepalive);
    session_list_add(&engine->clients->sessions, session);
    client_memory_note(session);
}

static void session_verified(struct conn *conn) {
    struct session *session = conn_session(conn);
    engine_update_clock(session->requester.engine);
    session_log_in_by_certificate(session);
}

static void session_ended(struct conn *conn, const char *reason) {
    struct session *session = conn_session(conn);
    log_verbose("Client id=%llu closed connection: %s", (unsigned long long)session->id, reason);
    /* The client may have shut down only its sending side: it still gets its output. */
    session_close_after_reply(session);
}

/* A session without a number is that of a client who was refused. */
static void session_drained(struct conn *conn) {
    struct session *session = conn_session(conn);
    if (session->id == 0)
        refusal_ended(session->requester.engine);
    else
        session_close(session);
}

void session_retire(struct session *session) {
    struct engine *engine = session->requester.engine;
    session->flags |= SESSION_CLOSING;
    blocking_remove(engine->blocking, session);
    transaction_end(session);
    client_import_end(session);
    monitor_leave(session);
    publish_leave(session);
    invalidate_stop(session);
    primary_end_session(session);
    session_list_unqueue(&engine->clients->sessions, session);
    drop_own_parser(session);
    args_free(session->postponed);
    session->postponed = NULL;
    pause_release(session);
}

static void close_denied(struct engine *engine) {
    struct session *next;
    size_t count = 0;
    engine->reply_gate.denies = false;
    for (struct session *session = engine->clients->sessions.first; session; session = next) {
        next = session->next;
        if (!conn_is_holding(conn_of_session(session)) && !blocking_is_for_work(session)) continue;
        if (session->flags & SESSION_PRIMARY) continue;
        session_close(session);
        count++;
    }
    if (count > 0)
        log_warning("Closed %zu clients whose changes could not be brought to the disk.", count);
}

void session_release_replies(struct engine *engine) {
    struct reply_gate *gate = &engine->reply_gate;
    gate->flush(gate->arg);
    if (gate->denies) close_denied(engine);
}

const struct conn_events session_events = {
    .session_size = sizeof(struct session),
    .opened = session_opened,
    .verified = session_verified,
    .data = session_data,
    .input_kept = session_input_kept,
    .collecting = session_collecting,
    .ended = session_ended,
    .drained = session_drained,
};
