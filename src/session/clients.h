/* clients: all sessions, and what serving them needs: the head of this module.
 *
 *      struct clients ──┬─ sessions: each lies in its connection's memory (engine/client.h)
 *                       ├─ pubsub: topics and their subscriptions; the subscriber is the session's
 *                       ├─ monitors, pause, refusals
 *                       └─ outboxes: replies and messages of the session that is being served
 *
 * The way of a message to the client that reads it:
 *
 *      reply of     PUBLISH,      each command    a tracked key
 *      a command    events        that runs       has changed
 *          │        publish       monitor         invalidate
 *          │        (pubsub)         │                │
 *          └───────────┴── outbox ───┴────────────────┘
 *                            │        client_limits closes a session that has too much unread
 *                            ▼        client_memory notes what it takes
 *                        connection   at once, or when the loop iteration ends
 *
 * A file calls only those below it:
 *
 *      session_user   whose a session is        refusal      clients that are not served
 *      client_line    a session as text
 *      publish        invalidate                monitor      pause
 *      outbox
 *      client_limits  buffers, idle clients
 *      session        ends, types, names
 *      client_memory
 *      clients.h, and on their own session_list and pubsub
 *
 * Requests are served one at a time, so all sessions share one parser and one outbox. */
#ifndef PACKLIST_SESSION_CLIENTS_H
#define PACKLIST_SESSION_CLIENTS_H

#include "base/log/log.h"
#include "base/text/sds.h"
#include "engine/client.h"
#include "engine/engine.h"
#include "resp/parser.h"
#include "resp/reply.h"
#include "session/pubsub.h"
#include "session/session_list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* See outbox.h. */
struct outbox {
    struct session *owner; /* NULL: not open */
    struct outbox *below;  /* the outbox that was opened last before this one, and is still open */
    struct reply reply;    /* to the owner's commands since the last flush */
    struct reply messages; /* to the owner: they follow the reply to the command that runs */
    size_t early_end;      /* where messages end in `reply` that precede the reply to a command */
    bool is_before_reply;  /* messages precede it now: outbox_before_reply */
    size_t counted;        /* bytes that the output limits count together with `reply` */
    size_t dropped;        /* bytes of `reply` that were dropped: over the hard limit */
};

/* See monitor.h: the sessions that have SESSION_MONITOR. */
struct monitors {
    struct session **sessions;
    size_t count;
    size_t capacity;
    sds line; /* the line being built; its memory is used again */

    /* The last client shown, and its name: a client often sends many commands in a row, and the
     * name costs a system call. */
    uint64_t origin_id;
    sds origin;
};

/* See pause.h. All zero: nothing is paused. With `until_ms` or `of_writes`, RESTRICTED_PAUSED is
 * set. */
struct pause {
    int64_t until_ms; /* CLIENT PAUSE: until this steady_ms; 0 = none */
    bool writes_only;
    uint8_t of_writes;    /* enum pause_reason: commands that write wait until these have ended */
    size_t session_count; /* sessions with a command that is held back */
};

/* See refusal.h: refused clients to whom the error could not be sent at once, because their TLS
 * handshake comes first. Their number, and that of those who begin in a second, are bounded: others
 * are closed without the handshake, which costs the server half a millisecond. So are those that
 * come during nested polling. */
struct refusals {
    unsigned waiting;
    unsigned begun; /* in this second */
    int64_t second;
};

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
    struct reply_common replies;
    struct reply values; /* that a source has just written */
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
    struct log_limit nobodys_certificates; /* session/session_user.h */
    uint64_t begin_ticks;                  /* when the requests of the current read began */
    uint8_t batch_marks;                   /* enum batch_mark: what they were */
    bool replies_wait;                     /* some may be held: outbox_close_late */
};

#endif
