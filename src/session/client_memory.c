#include "session/client_memory.h"

#include "engine/args.h"
#include "engine/blocking.h"
#include "engine/engine.h"
#include "engine/transaction.h"
#include "net/connections/conn.h"
#include "resp/parser.h"
#include "session/clients.h"
#include "session/pubsub.h"
#include "tracking/tracking.h"

size_t client_memory_of(const struct session *session) {
    struct conn *conn = conn_of_session((struct session *)session);
    size_t bytes = conn_allocated(conn) + conn_input_allocated(conn) + conn_output_allocated(conn) +
                   conn_output_referred(conn);
    bytes += session->sources.capture_bytes;
    if (session->parser) bytes += sizeof(*session->parser) + resp_parser_allocated(session->parser);
    if (session->name) bytes += sds_allocated(session->name);
    if (session->lib_name) bytes += sds_allocated(session->lib_name);
    if (session->lib_version) bytes += sds_allocated(session->lib_version);
    bytes += session->prepared_bytes;
    if (session->postponed) bytes += session->postponed->allocated;
    return bytes + blocking_allocated(session) + transaction_allocated(session) +
           pubsub_allocated(session->subscriber) +
           (session->tracker ? tracker_allocated(session->tracker) : 0);
}

void client_memory_forget(struct session *session) {
    struct engine *engine = session->requester.engine;
    if (session->marks & SESSION_LIMITED) engine->clients->limited_memory -= session->accounted;
    if (session->marks & SESSION_DISCOUNTED)
        engine->uncounted.unauthenticated -= session->accounted;
    session->marks &= (uint8_t) ~(SESSION_LIMITED | SESSION_DISCOUNTED);
    session->accounted = 0;
}

static __attribute__((noinline)) void note(struct session *session) {
    struct engine *engine = session->requester.engine;
    if (session->id == 0) return; /* closed already; only its connection is left */
    client_memory_forget(session);
    bool is_exempt =
        session->marks & SESSION_NO_EVICT || session->flags & (SESSION_REPLICA | SESSION_PRIMARY);
    if (engine->config.maxmemory_clients && !is_exempt) session->marks |= SESSION_LIMITED;
    if (session->flags & SESSION_NEEDS_AUTH) session->marks |= SESSION_DISCOUNTED;
    if (!(session->marks & (SESSION_LIMITED | SESSION_DISCOUNTED))) return;
    session->accounted = client_memory_of(session);
    if (session->marks & SESSION_LIMITED) engine->clients->limited_memory += session->accounted;
    if (session->marks & SESSION_DISCOUNTED)
        engine->uncounted.unauthenticated += session->accounted;
}

void client_memory_note(struct session *session) {
    const struct engine *engine = session->requester.engine;
    if (engine->config.maxmemory_clients || session->accounted ||
        session->flags & SESSION_NEEDS_AUTH)
        note(session);
}

void client_memory_note_all(struct engine *engine) {
    for (struct session *session = engine->clients->sessions.first; session;
         session = session->next)
        client_memory_note(session);
}
