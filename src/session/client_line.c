#include "session/client_line.h"

#include "engine/blocking.h"
#include "engine/engine.h"
#include "engine/transaction.h"
#include "net/threads/io_threads.h"
#include "session/client_memory.h"
#include "session/publish.h"
#include "session/session.h"
#include "tracking/tracking.h"

void client_line_flags(const struct session *session, char out[CLIENT_FLAGS_MAX]) {
    const uint32_t waiting = SESSION_BLOCKED | SESSION_PAUSED;
    char *at = out;
    if (session->flags & SESSION_REPLICA) *at++ = 'S';
    if (session->flags & SESSION_MONITOR) *at++ = 'O';
    if (session->flags & SESSION_PRIMARY) *at++ = 'M';
    if (session->flags & SESSION_SUBSCRIBED) *at++ = 'P';
    if (session->flags & SESSION_MULTI) *at++ = 'x';
    if (session->flags & waiting) *at++ = 'b';
    if (session->tracker) *at++ = 't';
    if (session->tracker && session->tracker->flags & TRACKER_BROKEN) *at++ = 'R';
    if (session->tracker && session->tracker->flags & TRACKER_BCAST) *at++ = 'B';
    if (session->transaction && session->transaction->watcher.is_touched) *at++ = 'd';
    if (session->flags & SESSION_DROPPED)
        *at++ = 'A';
    else if (session->flags & SESSION_CLOSING)
        *at++ = 'c';
    if (session->marks & SESSION_UNIX) *at++ = 'U';
    if (session->marks & SESSION_READONLY) *at++ = 'r';
    if (session->marks & SESSION_NO_EVICT) *at++ = 'e';
    if (session->requester.leaves_no_marks) *at++ = 'T';
    if (session->requester.imports) *at++ = 'I';
    if (at == out) *at++ = 'N';
    *at = 0;
}

static const char *text_or_empty(const char *text) {
    return text ? text : "";
}

static sds append_identity(sds out, struct session *session) {
    struct engine *engine = session->requester.engine;
    struct conn *conn = conn_of_session(session);
    char peer[CONN_NAME_MAX], local[CONN_NAME_MAX], flags[CLIENT_FLAGS_MAX];
    client_line_flags(session, flags);
    return sds_append_format(
        out, "id=%llu addr=%s laddr=%s fd=%d name=%s age=%lld idle=%lld flags=%s db=%d",
        (unsigned long long)session->id, conn_peer_name(conn, peer), conn_local_name(conn, local),
        conn_fd(conn), text_or_empty(session->name),
        (long long)((engine->steady_ms - session->created_ms) / 1000),
        (long long)((engine->steady_ms - session->active_ms) / 1000), flags,
        session->requester.database);
}

/* Appends the sizes of buffers. A client has input only while a request is incomplete, and a queue
 * of output only while its socket is full. It has no reply buffer of its own, which rbs, rbp and
 * obl describe. */
static sds append_memory(sds out, struct session *session) {
    struct conn *conn = conn_of_session(session);
    size_t input = conn_pending_input(conn) + conn_waiting_input(conn);
    size_t input_allocated = conn_input_allocated(conn);
    size_t output = conn_pending_output(conn);
    const struct transaction *transaction = session->transaction;
    long queued = session->flags & SESSION_MULTI ? (long)transaction->count : -1;
    size_t watched = transaction ? transaction->watcher.count : 0;
    size_t argv = session->postponed ? session->postponed->allocated : blocking_allocated(session);
    return sds_append_format(out,
                             " sub=%zu psub=%zu ssub=%zu multi=%ld watch=%zu qbuf=%zu qbuf-free=%zu"
                             " argv-mem=%zu multi-mem=%zu rbs=0 rbp=0 obl=0 oll=%d omem=%zu"
                             " tot-mem=%zu events=%s",
                             publish_count(session, PUBSUB_CHANNEL),
                             publish_count(session, PUBSUB_PATTERN),
                             publish_count(session, PUBSUB_SHARD), queued, watched, input,
                             input_allocated > input ? input_allocated - input : 0, argv,
                             transaction_queue_allocated(session), output > 0, output,
                             client_memory_of(session), output ? "rw" : "r");
}

sds client_line(sds out, struct session *session) {
    out = append_identity(out, session);
    out = append_memory(out, session);
    struct conn_totals traffic = conn_traffic(conn_of_session(session));
    return sds_append_format(
        out,
        " cmd=%s user=%s redir=%lld resp=%d lib-name=%s lib-ver=%s"
        " io-thread=%u tot-net-in=%llu tot-net-out=%llu tot-cmds=%llu\n",
        session->requester.last_command ? session->requester.last_command->name : "NULL",
        session_user_name(session).ptr,
        session->tracker ? (long long)session->tracker->redirect : -1LL, session->protocol,
        text_or_empty(session->lib_name), text_or_empty(session->lib_version),
        conn_io_thread(conn_of_session(session)), traffic.input_bytes, traffic.output_bytes,
        (unsigned long long)session->requester.commands);
}
