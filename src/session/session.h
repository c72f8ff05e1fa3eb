/* session: one client as the server sees it: who it is, what protocol it speaks, what state it is
 * in.
 *
 * A session is the owner's memory inside its connection (net/conn.h). `flags` is zero in the common
 * case, so that dispatch asks one question before it runs a command. */
#ifndef PACKLIST_SESSION_SESSION_H
#define PACKLIST_SESSION_SESSION_H

#include "base/sds.h"
#include "engine/requester.h"
#include "net/conn.h"
#include "resp/parser.h"
#include "resp/reply.h"

#include <stdbool.h>
#include <stdint.h>

struct args;
struct call;
struct command;
struct subscriber;
struct transaction;
struct waiter;

enum session_flag {
    SESSION_NEEDS_AUTH = 1 << 0,      /* requirepass is set and it has not authenticated */
    SESSION_BLOCKED = 1 << 1,         /* waits for a key: input is kept, not run */
    SESSION_PAUSED = 1 << 2,          /* CLIENT PAUSE holds its next command back */
    SESSION_REPLY_OFF = 1 << 3,       /* CLIENT REPLY OFF */
    SESSION_REPLY_SKIP = 1 << 4,      /* the next reply is dropped */
    SESSION_REPLY_SKIP_NEXT = 1 << 5, /* CLIENT REPLY SKIP was just run */
    SESSION_CLOSING = 1 << 6,    /* closed, or closes after its output is sent: runs nothing more */
    SESSION_RESUME = 1 << 7,     /* stands in the queue to resume: session/session_list.h */
    SESSION_DROPPED = 1 << 8,    /* closing without sending what is left */
    SESSION_MULTI = 1 << 9,      /* its commands are queued: engine/transaction.h */
    SESSION_MONITOR = 1 << 10,   /* it is shown all commands: session/monitor.h */
    SESSION_SUBSCRIBED = 1 << 11 /* it listens to channels: session/publish.h */
};

/* Facts that dispatch need not look at. */
enum session_mark {
    SESSION_NO_EVICT = 1 << 0,
    SESSION_UNIX = 1 << 1,
    SESSION_LOCAL = 1 << 2,
    SESSION_LIMITED = 1 << 3,   /* `accounted` is a part of engine->clients_memory */
    SESSION_DISCOUNTED = 1 << 4 /* … and of engine->unauthenticated_memory */
};

/* There are normal clients and those that listen to channels; the other types are known by name and
 * match nobody. */
enum client_type {
    CLIENT_TYPE_ANY,
    CLIENT_TYPE_NORMAL,
    CLIENT_TYPE_REPLICA,
    CLIENT_TYPE_PUBSUB,
    CLIENT_TYPE_MASTER
};

struct session {
    uint32_t flags; /* enum session_flag */
    uint8_t marks;  /* enum session_mark */
    uint8_t protocol;
    uint16_t peer_port; /* 0 for a unix socket */
    struct requester requester;
    uint32_t collected; /* index of the argument that its connection collects; 0 = none */
    uint64_t id;
    struct resp_parser *parser; /* while inside a request of many arguments, or with one that is
                                        collected; else NULL */
    struct waiter *waiter;      /* while blocked */
    struct args *postponed;     /* a command that CLIENT PAUSE held back */
    struct transaction *transaction; /* while it watches keys or is in MULTI */
    struct subscriber *subscriber;   /* while it listens to channels */
    uint64_t log_offset;             /* of the command log, behind its last change: WAITAOF */
    int64_t created_ms;              /* engine->steady_ms, as the next */
    int64_t active_ms;               /* last time something was read or sent */
    size_t accounted;                /* what memory/evict.h noted */
    int64_t soft_limit_ms; /* since when the output is over the soft limit; 0 = it is not */
    sds name;              /* CLIENT SETNAME; NULL = none */
    sds lib_name;
    sds lib_version;
    struct session *prev; /* session/session_list.c uses these four */
    struct session *next;
    struct session *resume_prev;
    struct session *resume_next;
};

/* Ends the session: leaves every queue, frees what it owns, closes the connection: at once, or
 * after its output is sent; until then it runs nothing more but counts as a client, is listed, and
 * can be closed at once. The session being served is closed when its read has been served. The
 * struct stays readable until the turn of the loop in which the connection closes ends. */
void session_close(struct session *session);
void session_close_after_reply(struct session *session);

/* The session may run commands again (was unblocked, pause is over): its kept input is looked at
 * before the loop sleeps. */
void session_resume_later(struct session *session);

/* Which type of client it is: of CLIENT LIST and CLIENT KILL, and of the output limits. */
enum client_type session_type(const struct session *session);

/* Sets the name (an empty one takes it away). The text was checked. */
void session_set_name(struct session *session, struct slice name);

/* May a name or library text be stored? It must be printable ASCII without blanks; else answers
 * "ERR <what> cannot contain spaces, newlines or special characters." and returns false. */
bool session_check_name(struct call *call, struct slice name, const char *what);

/* Is it among those to whom a directive gives access (enum config_access)? */
bool session_has_access(const struct session *session, int64_t access);

#endif
