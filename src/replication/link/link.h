/* link: the connection of a replica to its primary.
 *
 *      waits ── connects ── pings ── configures ── asks ─┬─ continues ───────────────────┬─ streams
 *        ^                                               └─ header ── receives ── loads ─┘
 *        └───────────── anything goes wrong: closed, and again a second later ────────────┘
 *
 *  socket ── connect.c ─┬─ handshake.c ── what is said until the stream or a payload comes
 *                       ├─ load.c ── payload.c ── the data is replaced
 *                       └─ stream.c ── execute ── history's backlog ── own replicas
 *  primary ── socket ── REPLCONF ACK ── link.c
 *
 * connect.c (connections, times) calls the other three by the state, these call link.c (closing,
 * sending, pausing), and nobody the other way. Nothing here changes the role: replication.h.
 *
 * Nothing that the primary sends is trusted: what makes no sense closes the link. The data is
 * always that of the primary at one moment, between two units of its stream, or empty while a
 * payload is loaded in its place. */
#ifndef PACKLIST_REPLICATION_LINK_LINK_H
#define PACKLIST_REPLICATION_LINK_LINK_H

#include "base/log/log.h"
#include "base/text/sds.h"
#include "engine/engine.h"
#include "net/connections/conn.h"
#include "replication/history/history.h"
#include "replication/link/payload.h"
#include "resp/parser.h"
#include "session/session.h"

#include <stdbool.h>
#include <stdint.h>

enum link_state {
    LINK_WAITS,
    LINK_CONNECTS,
    LINK_PINGS,
    LINK_CONFIGURES, /* AUTH and REPLCONF were sent */
    LINK_ASKS,       /* PSYNC was sent */
    LINK_HEADER,     /* a payload is announced */
    LINK_RECEIVES,
    LINK_LOADS,
    LINK_STREAMS
};

/* Commands of the primary that this server could not run: each makes it ask for all data. */
enum { LINK_REFUSED_NAMES = 8, LINK_REFUSED_NAME_MAX = 64 };
struct link_refusal {
    char name[LINK_REFUSED_NAME_MAX + 1]; /* without bytes that INFO cannot show; "": unused */
    int64_t retry_ms; /* steady_ms at which all data was asked for because of it, or will be */
};

struct link_refusals {
    uint64_t count;
    struct link_refusal recent[LINK_REFUSED_NAMES]; /* each name once; the last one first */
};

/* The stream that is being run: link/stream.c. */
struct link_stream {
    bool is_running;
    struct requester requester;
    struct resp_parser parser;
    struct reply reply; /* of the command that runs; nobody gets it */
    struct reply unit;  /* the bytes since MULTI; empty outside of a transaction */
    struct slice done;  /* bytes of this batch that were executed, but are not in the backlog yet */
    int64_t begun_ms;   /* steady_ms */
};

struct link {
    struct engine *engine;
    sds host; /* of the primary */
    int port;
    enum link_state state;
    struct net_timer *timer; /* once a second */
    struct dial *dial;       /* while it connects */
    struct conn *conn;       /* NULL: not connected */
    bool has_position;       /* the data is that of engine->history: its id at its offset */
    bool has_id;             /* the primary has named its history; not after SYNC */
    bool is_paused;    /* input is not read: the disk is slow, data is being loaded, CLIENT PAUSE */
    bool is_held_back; /* the stream waits for the end of a pause, or did when it was lost */
    bool after_pause;  /* no connection is tried before the pause has ended */
    bool auth_awaited; /* the first reply to what was sent is that to AUTH */
    unsigned awaited;  /* replies to what was sent that have not come */
    char next_id[HISTORY_ID_LEN + 1]; /* of the history that the payload belongs to */
    uint64_t next_offset;
    int database;                 /* selected in the stream when it goes on from has_position */
    int64_t io_ms;                /* steady_ms when something was sent or received last */
    int64_t second_ms;            /* steady_ms of the last call of the timer */
    int64_t down_ms;              /* steady_ms when the stream ended; -1: there never was one */
    int64_t retry_ms;             /* steady_ms before which no connection is tried */
    uint64_t synced_offset;       /* of the stream: on the disk, with the append-only file */
    bool awaits_disk;             /* the next ones are set: */
    uint64_t unsynced_offset;     /* will be on the disk … */
    uint64_t unsynced_log_offset; /* … as soon as the command log is, up to here */
    unsigned mishaps;             /* payloads or commands in a row that could not be used */
    struct link_refusals refusals;
    struct link_payload payload;
    struct link_stream stream;
};

/* The memory of its connection. The session makes it a client, which CLIENT LIST shows and CLIENT
 * KILL closes, while it streams. */
struct link_session {
    struct session session;
    struct link *link;
};

/* Returns the session of its connection. O(1). */
static inline struct session *link_session(const struct link *link) {
    struct link_session *own = conn_session(link->conn);
    return &own->session;
}

/* Returns whether the server is a replica with the stream of its primary. O(1). */
static inline bool link_is_up(const struct engine *engine) {
    return engine->link && engine->link->state == LINK_STREAMS;
}

/* Returns the memory of what has come of a payload, and is neither in a file nor loaded. O(1). */
static inline size_t link_memory(const struct engine *engine) {
    return engine->link ? link_payload_memory(&engine->link->payload) : 0;
}

/* Returns the database that is selected in the stream, or was when it ended. O(1). */
static inline int link_database(const struct link *link) {
    return link->state == LINK_STREAMS ? link->stream.requester.database : link->database;
}

/* Returns whether this server has the database in which a stream is said to go on. O(1). */
static inline bool link_has_database(const struct engine *engine, int64_t database) {
    return database >= 0 && database < engine->databases;
}

/* --- link.c --- */

/* Sets which commands are refused. Call when a directive has changed, or the role. */
void link_restrict(struct engine *engine);

/* As link_restrict, because the state has changed. */
void link_set_state(struct link *link, enum link_state state);

/* Ends what it does: the connection, the payload, the stream. */
void link_close(struct link *link);

/* Closes the link; a new one is tried a second later, or at once if it streamed. */
void link_reset(struct link *link);

/* As link_reset, when what the primary has sent cannot be used: from now on the data counts as that
 * of no history, so that everything is asked for again; later and later when that keeps
 * happening. */
void link_reset_history(struct link *link);

/* As link_reset_history, because this server cannot run a command of the stream: all data is not
 * asked for again within a minute after that was done for the same command. INFO shows the name. */
void link_reset_for(struct link *link, struct slice name);

/* The same, after the reason was logged: a format, of a whole sentence, and what it prints. */
#define link_fail(link, ...)         (log_warning(__VA_ARGS__), link_reset(link))
#define link_give_up(link, ...)      (log_warning(__VA_ARGS__), link_reset_history(link))
#define link_refuse(link, name, ...) (log_warning(__VA_ARGS__), link_reset_for(link, name))

/* Sends the primary a command. O(bytes). */
void link_send(struct link *link, const struct slice *argv, size_t argc);

/* Confirms the offset: REPLCONF ACK. */
void link_send_ack(struct link *link);

/* Stops reading, or goes on and presents what was not consumed. */
void link_pause(struct link *link);
void link_resume(struct link *link);

/* The stream must wait for the end of a pause (session/pause.h): it is presented again then, from
 * the command on that is not consumed now. */
void link_hold_back(struct link *link);

/* Returns whether CLIENT PAUSE holds the stream back. */
bool link_pause_goes_on(struct engine *engine);

/* The primary is about to send all data. If the stream was lost while a pause held it back, closes
 * the link until the end of the pause, so that the data is not sent over and over, and returns
 * true. */
bool link_waits_with_all(struct link *link);

/* The stream begins, in the database `database`. */
void link_go_online(struct link *link, int database);

/* Appends the bytes of the stream that are done with to the backlog, which moves the offset. */
void link_pass_on(struct link_stream *stream);

/* --- stream.c --- */

/* Takes bytes of the stream and runs the whole commands. Returns how many bytes it took. May close
 * the link. O(bytes), plus the cost of the commands. */
size_t link_stream_take(struct link *link, char *bytes, size_t len);

/* --- load.c --- */

/* A payload of `total` bytes comes, or one that ends with the mark, if that is not NULL. May close
 * the link, when there can be no file. */
void link_load_begin(struct link *link, const char *mark, uint64_t total);

/* Takes bytes of it. Returns how many. O(bytes). */
size_t link_load_take(struct link *link, char *bytes, size_t len);

/* A write of the payload's file has ended, or there is room for more of it. */
void link_load_moved(struct engine *engine);

/* Returns whether there is work for link_work. */
bool link_has_work(const struct engine *engine);

/* Loads what was received. Call it outside of all callbacks, when net_run has returned; serves
 * clients while it loads. O(data). */
void link_work(struct engine *engine);

/* --- handshake.c --- */

/* The connection is there: sends the first request. */
void link_greet(struct link *link);

/* Takes a line of the handshake, without its end. */
void link_take_line(struct link *link, struct slice line);

/* --- connect.c --- */

/* Makes the engine's link, which waits. */
struct link *link_new(struct engine *engine, struct slice host, int port);

/* Closes and frees it; does nothing with NULL. */
void link_free(struct link *link);

/* Connects now. */
void link_connect(struct link *link);

/* Somebody else, as CLIENT KILL, has closed the session of the link: it connects again. */
void link_session_closed(struct session *session);

#endif
