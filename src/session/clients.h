/* clients: all sessions, and what is needed to serve the current one.
 *
 * Requests are served one at a time, so all sessions share one parser and one outbox. */
#ifndef PACKLIST_SESSION_CLIENTS_H
#define PACKLIST_SESSION_CLIENTS_H

#include "base/log.h"
#include "engine/engine.h"
#include "resp/parser.h"
#include "session/monitor.h"
#include "session/outbox.h"
#include "session/pause.h"
#include "session/pubsub.h"
#include "session/refusal.h"
#include "session/session.h"
#include "session/session_list.h"

/* What the requests of one read were. */
enum batch_mark { BATCH_RAN_SCRIPT = 1 << 0, BATCH_REPLIED_SECRET = 1 << 1 };

struct clients {
    struct engine *engine;
    struct session_list sessions;
    uint64_t next_session_id;
    struct monitors monitors;
    size_t observers; /* monitors, and clients that track keys: they look at each command */
    struct pubsub pubsub;
    struct reply frames[2]; /* of the message that is being published: RESP2, RESP3 */
    struct pause pause;
    struct refusals refusals;
    size_t limited_memory;     /* session/client_memory.h */
    struct session *primary;   /* the link to the server's primary while it is listed, or NULL */
    struct resp_parser parser; /* for all sessions that are not inside a request */
    /* Of the session whose requests are read and run: `reading`, or that of script/script_busy.h
     * while it serves others. Its owner is NULL between two reads. */
    struct outbox *outbox;
    struct outbox reading;
    struct outbox brief;                   /* for outbox_begin */
    struct outbox *outboxes;               /* those that are open, the last one first */
    int64_t next_tls_note_ms;              /* steady_ms: no line about TLS in the log before */
    struct log_limit nobodys_certificates; /* session/certificate_user.h */
    uint64_t begin_ticks;                  /* when the requests of the current read began */
    uint8_t batch_marks;                   /* enum batch_mark: what they were */
    bool replies_wait;                     /* some may be held: outbox_close_late */
};

#endif
