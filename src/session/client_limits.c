/* The limits count what Redis counts. Output: everything that was not sent yet, except for
 * UNCOUNTED_OUTPUT, which Redis keeps in a buffer of fixed size; and all replies to the requests of
 * one read, because Redis sends none of them earlier. Input: bytes that were not parsed yet, and
 * the commands queued by MULTI. Complete arguments of an incomplete request are not counted. */
#include "session/client_limits.h"

#include "base/log/log.h"
#include "engine/engine.h"
#include "engine/transaction.h"
#include "session/client_memory.h"
#include "session/clients.h"
#include "session/session.h"

enum {
    UNCOUNTED_OUTPUT = 16 * 1024,
    UNAUTHENTICATED_OUTPUT_MAX = 1024,
    UNAUTHENTICATED_INPUT_MAX = 32 * 1024,
};

static bool is_unauthenticated(const struct session *session) {
    return (session->flags & SESSION_NEEDS_AUTH) != 0;
}

/* --- Output --- */

static const struct output_limit *limit_of_class(const struct session *session) {
    struct engine *engine = session->requester.engine;
    enum client_type type = session_type(session);
    enum client_class class = type == CLIENT_TYPE_REPLICA  ? CLIENT_CLASS_REPLICA
                              : type == CLIENT_TYPE_PUBSUB ? CLIENT_CLASS_PUBSUB
                                                           : CLIENT_CLASS_NORMAL;
    return &engine->config.output_limits[class];
}

/* 0 = no limit. */
static uint64_t hard_limit(const struct session *session) {
    uint64_t limit = limit_of_class(session)->hard_bytes;
    if (is_unauthenticated(session) && (limit == 0 || limit > UNAUTHENTICATED_OUTPUT_MAX))
        return UNAUTHENTICATED_OUTPUT_MAX;
    return limit;
}

bool client_limits_has_hard(const struct session *session) {
    struct engine *engine = session->requester.engine;
    return session->flags & (SESSION_NEEDS_AUTH | SESSION_SUBSCRIBED) ||
           engine->config.output_limits[CLIENT_CLASS_NORMAL].hard_bytes != 0;
}

size_t client_limits_output_max(const struct session *session) {
    uint64_t limit = hard_limit(session);
    return limit == 0 || limit > SIZE_MAX - UNCOUNTED_OUTPUT ? SIZE_MAX : limit + UNCOUNTED_OUTPUT;
}

bool client_limits_reaches_hard(const struct session *session, size_t bytes) {
    return bytes >= UNCOUNTED_OUTPUT && bytes >= client_limits_output_max(session);
}

/* Unauthenticated clients are not logged: anybody could fill the log with them. */
static void note_output(const struct session *session, size_t bytes) {
    struct engine *engine = session->requester.engine;
    char peer[CONN_NAME_MAX];
    if (session->flags & SESSION_DROPPED) return;
    log_write(is_unauthenticated(session) ? LOG_VERBOSE : LOG_WARNING,
              "Client id=%llu addr=%s scheduled to be closed ASAP for overcoming of output buffer "
              "limits (%zu bytes pending).",
              (unsigned long long)session->id,
              conn_peer_name(conn_of_session((struct session *)session), peer), bytes);
    engine->stats.output_buffer_limit_disconnections++;
}

bool client_limits_admit_output(struct session *session, size_t bytes) {
    if (!client_limits_reaches_hard(session, bytes)) return true;
    note_output(session, bytes);
    session_close(session);
    return false;
}

/* Returns whether the output has been over the soft limit for too long. Notes when it went over
 * it. */
static bool exceeds_soft_limit(struct session *session, size_t pending) {
    struct engine *engine = session->requester.engine;
    const struct output_limit *limit = limit_of_class(session);
    if (limit->soft_bytes == 0 || pending < limit->soft_bytes) {
        session->soft_limit_ms = 0;
        return false;
    }
    if (!session->soft_limit_ms) session->soft_limit_ms = engine->steady_ms;
    return limit->soft_seconds <= INT64_MAX / 1000 &&
           engine->steady_ms - session->soft_limit_ms > limit->soft_seconds * 1000;
}

/* Returns whether the socket of an unauthenticated client has refused too much. Output that the
 * server holds back was not offered to the socket yet. */
static bool is_unread(const struct session *session, const struct conn *conn, size_t pending) {
    return is_unauthenticated(session) && pending > UNAUTHENTICATED_OUTPUT_MAX &&
           !conn_is_holding(conn);
}

void client_limits_check_output(struct session *session) {
    const struct conn *conn = conn_of_session(session);
    if (session->flags & SESSION_REPLICA) return; /* client_limits_check_replica */
    size_t pending = conn_pending_output(conn);
    if (pending == 0) {
        session->soft_limit_ms = 0;
        return;
    }
    bool is_over =
        client_limits_reaches_hard(session, pending) || is_unread(session, conn, pending);
    if (!exceeds_soft_limit(session, pending) && !is_over) return;
    note_output(session, pending);
    session_close(session);
}

bool client_limits_check_replica(struct session *session, uint64_t bytes) {
    const struct engine *engine = session->requester.engine;
    uint64_t hard = limit_of_class(session)->hard_bytes,
             backlog = (uint64_t)engine->config.repl_backlog_size;
    bool is_over = hard != 0 && bytes >= (hard > backlog ? hard : backlog);
    if (!exceeds_soft_limit(session, (size_t)bytes) && !is_over) return true;
    note_output(session, (size_t)bytes);
    return false;
}

/* --- Input --- */

static void close_for_input(struct session *session, size_t unparsed, size_t queued) {
    struct engine *engine = session->requester.engine;
    char peer[CONN_NAME_MAX];
    log_write(is_unauthenticated(session) ? LOG_VERBOSE : LOG_WARNING,
              "Closing client that reached max query buffer length: id=%llu addr=%s qbuf=%zu "
              "multi=%zu",
              (unsigned long long)session->id, conn_peer_name(conn_of_session(session), peer),
              unparsed, queued);
    engine->stats.query_buffer_limit_disconnections++;
    session->flags |= SESSION_CLOSING;
}

static size_t query_limit(struct engine *engine) {
    return (size_t)engine->config.client_query_buffer_limit;
}

bool client_limits_admit_waiting(const struct session *session, size_t bytes) {
    struct engine *engine = session->requester.engine;
    if (is_unauthenticated(session) && bytes > UNAUTHENTICATED_INPUT_MAX) return false;
    return bytes <= query_limit(engine);
}

bool client_limits_admit_request(struct session *session, const struct slice *argv, size_t argc) {
    struct engine *engine = session->requester.engine;
    enum { LINE_BREAK = 2 };
    size_t queued = transaction_counted_bytes(session), largest = 0;
    for (size_t i = 0; i < argc; i++)
        if (argv[i].len > largest) largest = argv[i].len;
    largest += LINE_BREAK;
    if (largest <= CLIENT_LIMITS_SMALL_REQUEST || largest + queued <= query_limit(engine))
        return true;
    close_for_input(session, largest, queued);
    return false;
}

void client_limits_check_input(struct session *session, size_t kept, size_t unparsed) {
    struct engine *engine = session->requester.engine;
    size_t queued = transaction_counted_bytes(session);
    bool is_over = unparsed + queued > query_limit(engine);
    if (is_unauthenticated(session)) is_over |= kept > UNAUTHENTICATED_INPUT_MAX;
    if (is_over && !(session->flags & SESSION_CLOSING)) close_for_input(session, unparsed, queued);
}

/* --- What time alone changes --- */

/* Notes output that has moved. Returns whether the client has neither sent nor received anything
 * for longer than `timeout`. Exempt are clients that wait for a key, which have a deadline of their
 * own; those that listen to channels or monitor, which only wait for messages; replicas, which have
 * limits of their own; the primary; and those that are paused, which cannot help it. */
static bool is_idle(const struct engine *engine, struct session *session) {
    const uint32_t waiting =
        SESSION_BLOCKED | SESSION_PAUSED | SESSION_SUBSCRIBED | SESSION_MONITOR | SESSION_PRIMARY;
    if (engine->config.timeout == 0 || session->flags & SESSION_REPLICA) return false;
    if (conn_output_moved(conn_of_session(session))) session->active_ms = engine->steady_ms;
    if (session->flags & waiting) return false;
    return engine->steady_ms - session->active_ms > engine->config.timeout * 1000;
}

void client_limits_sweep(struct engine *engine) {
    struct session *next;
    for (struct session *session = engine->clients->sessions.first; session; session = next) {
        next = session->next;
        if (is_idle(engine, session)) {
            log_verbose("Closing idle client id=%llu", (unsigned long long)session->id);
            session_close(session);
        } else if (session->soft_limit_ms || session->flags & SESSION_NEEDS_AUTH) {
            /* Whether an unauthenticated client has read the output of the last loop iteration is
             * known only now. */
            client_limits_check_output(session);
        }
        /* What others change is left to the captures of its replies; and a command that runs in
         * steps collects its reply. */
        if (session->sources.count > 0 || session->flags & SESSION_BLOCKED)
            client_memory_note(session);
    }
}
