/* clients: all sessions, and what serves the one that is being served.
 *
 * Requests are served one at a time, so that one parser, one buffer of replies and one of messages
 * are enough for all sessions. */
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
    void (*retire_session)(struct session *session); /* it ends: client/session_input.h */
    struct session *current;                         /* it is being served, or NULL */
    struct resp_parser parser; /* shared by all sessions that are not inside a request */
    struct reply reply;        /* replies of the read being served */
    size_t counted_output;     /* what the output limits count of the client being served */
    size_t dropped_output;     /* bytes of its reply over its hard limit that were not kept */
    struct reply pushes;       /* messages to the client being served, behind its reply */
    struct session *side;      /* another session that is being answered, or NULL */
    struct reply side_reply;   /* that answer */
    struct reply side_pushes;  /* messages that follow it */
};

#endif
