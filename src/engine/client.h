/* client: one client as a struct: its identity, its protocol and its state, for commands, waits and
 * transactions. What is done with it: session/session.h.
 *
 * A session is the owner's memory inside its connection (net/connections/conn.h). `flags` is zero
 * in the common case, so the executor needs one test before it runs a command. */
#ifndef PACKLIST_ENGINE_CLIENT_H
#define PACKLIST_ENGINE_CLIENT_H

#include "base/text/sds.h"
#include "engine/requester.h"
#include "resp/reply_source.h"

#include <stddef.h>
#include <stdint.h>

enum session_flag {
    SESSION_NEEDS_AUTH = 1 << 0, /* the default user needs a password, and it has not logged in */
    SESSION_BLOCKED = 1 << 1,    /* waits for a key or for work: input is kept, not run */
    SESSION_PAUSED = 1 << 2,     /* CLIENT PAUSE holds its next command back */
    SESSION_REPLY_OFF = 1 << 3,  /* CLIENT REPLY OFF */
    SESSION_REPLY_SKIP = 1 << 4, /* the next reply is dropped */
    SESSION_REPLY_SKIP_NEXT = 1 << 5, /* CLIENT REPLY SKIP was just run */
    SESSION_CLOSING = 1 << 6,  /* closed, or closes after its output is sent: runs nothing more */
    SESSION_RESUME = 1 << 7,   /* in the queue to resume: session/session_list.h */
    SESSION_DROPPED = 1 << 8,  /* closing without sending the remaining output */
    SESSION_MULTI = 1 << 9,    /* its commands are queued: engine/transaction.h */
    SESSION_MONITOR = 1 << 10, /* gets all commands: session/monitor.h */
    SESSION_SUBSCRIBED = 1 << 11, /* it has subscribed to channels: session/publish.h */
    SESSION_REPLICA = 1 << 12, /* it gets the stream of changes: replication/primary/replicas.h */
    SESSION_PRIMARY = 1 << 13, /* the link to the server's primary: listed, and can be closed */
    SESSION_TRACKING = 1 << 14 /* it tracks keys, or gets, or got, messages of a client that does:
                                  session/invalidate.h */
};

/* Facts that the executor does not test. */
enum session_mark {
    SESSION_NO_EVICT = 1 << 0,
    SESSION_UNIX = 1 << 1,
    SESSION_LOCAL = 1 << 2,
    SESSION_LIMITED = 1 << 3,      /* `accounted` is part of clients->limited_memory */
    SESSION_DISCOUNTED = 1 << 4,   /* `accounted` is part of engine->uncounted */
    SESSION_CAN_REDIRECT = 1 << 5, /* CLIENT CAPA REDIRECT */
    SESSION_READONLY = 1 << 6,     /* READONLY: a replica of the slot's owner may answer it */
    SESSION_ASKING = 1 << 7        /* ASKING came just before */
};

struct session {
    uint32_t flags; /* enum session_flag */
    uint8_t marks;  /* enum session_mark */
    uint8_t protocol;
    uint16_t peer_port; /* 0 for a Unix socket */
    struct requester requester;
    uint32_t collected; /* index of the argument that its connection collects; 0 = none */
    uint64_t id;
    struct resp_parser *parser; /* while inside a request that it has begun to parse; else NULL */
    struct waiter *waiter;      /* while blocked */
    struct args *postponed;     /* a command that CLIENT PAUSE held back */
    struct transaction *transaction; /* while it watches keys or is in MULTI */
    struct subscriber *subscriber;   /* while it has subscribed to channels */
    struct tracker *tracker;         /* while it tracks keys */
    struct replica *replica;         /* since its first REPLCONF, or PSYNC; else NULL */
    uint64_t log_offset;             /* end of the command log at its last change: for WAITAOF */
    uint64_t stream_log_offset;      /* the end for replicas: for WAIT */
    int64_t created_ms;              /* engine->steady_ms when it connected */
    int64_t active_ms;               /* engine->steady_ms of the last read or write */
    size_t accounted;                /* bytes that client_memory_note has noted */
    struct reply_sources sources;    /* of its replies that are being sent */
    int64_t soft_limit_ms; /* steady_ms when the output went over the soft limit; 0 = it is below */
    sds name;              /* CLIENT SETNAME; NULL = none */
    sds lib_name;
    sds lib_version;
    struct prepared *prepared; /* fields that HIMPORT PREPARE has named: import_commands.c; NULL */
    size_t prepared_bytes;
    struct session *prev; /* the next four: session/session_list.c */
    struct session *next;
    struct session *resume_prev;
    struct session *resume_next;
};

#endif
