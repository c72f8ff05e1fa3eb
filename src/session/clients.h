/* clients: all sessions, and what is needed to serve the current one.
 *
 * Requests are served one at a time, so all sessions share one parser, one buffer of replies and
 * one of messages. */
#ifndef PACKLIST_SESSION_CLIENTS_H
#define PACKLIST_SESSION_CLIENTS_H

#include "engine/engine.h"
#include "resp/parser.h"
#include "resp/reply.h"
#include "session/monitor.h"
#include "session/pubsub.h"
#include "session/session.h"
#include "session/session_list.h"

struct clients {
    struct engine *engine;
    struct session_list sessions;
    uint64_t next_session_id;
    struct monitors monitors;
    struct pubsub pubsub;
    void (*retire_session)(struct session *session); /* at its end: client/session_input.h */
    void (*primary_closed)(struct session *session); /* SESSION_PRIMARY, likewise */
    struct session *primary;     /* the link to the server's primary while it is listed, or NULL */
    struct session *current;     /* the session being served, or NULL */
    struct session *interrupted; /* its script is running while others are served, or NULL */
    struct resp_parser parser;   /* for all sessions that are not inside a request */
    struct reply reply;          /* replies to the requests of the current read */
    int64_t next_tls_note_ms;    /* steady_ms: no line about TLS in the log before */
    uint64_t begin_ticks;        /* when these requests began */
    bool has_run_script;         /* one of them was a script */
    bool replies_wait;           /* some may be held: session_flush_later */
    size_t counted_output;       /* bytes of the current session that the output limits count */
    size_t dropped_output;       /* bytes of its reply that were dropped: over its hard limit */
    struct reply pushes;         /* messages to the current session, sent after its reply */
    struct session *other;       /* another session that gets a reply, or NULL */
    struct reply other_reply;    /* its reply */
    struct reply other_pushes;   /* messages to it, sent after that reply */
};

#endif
