/* link: the connection of a replica to its primary.
 *
 *      waits ── connects ── pings ── configures ── asks ─┬─ continues ───────────────────┬─ streams
 *        ^                                               └─ header ── receives ── loads ─┘
 *        └───────────── anything goes wrong: closed, and again a second later ────────────┘
 *
 * link.c connects, closes and watches times; link_handshake.c speaks until the stream or a payload
 * comes; link_payload.c receives a payload, link_load.c puts it in the place of the data;
 * link_stream.c runs the commands of the stream.
 *
 * Nothing that the primary sends is trusted: what makes no sense closes the link. The data is
 * always that of the primary at one moment, between two units of its stream, or empty while a
 * payload is loaded in its place. */
#ifndef PACKLIST_REPLICATION_LINK_H
#define PACKLIST_REPLICATION_LINK_H

#include "base/sds.h"
#include "engine/engine.h"
#include "replication/history/history.h"
#include "replication/link_payload.h"
#include "replication/link_stream.h"

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

/* Commands of the primary that this server could not run. Each makes it ask for all data; a primary
 * whose clients use such a command all the time would send nothing else. */
enum { LINK_REFUSED_NAMES = 8, LINK_REFUSED_NAME_MAX = 64 };
struct link_refusal {
    char name[LINK_REFUSED_NAME_MAX + 1]; /* without bytes that INFO cannot show; "": unused */
    int64_t retry_ms; /* steady_ms at which all data was asked for because of it, or will be */
};

struct link_refusals {
    uint64_t count;
    struct link_refusal recent[LINK_REFUSED_NAMES]; /* each name once; the last one first */
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

/* --- The role --- */

/* Call once at the start: makes the server a replica if the directive replicaof says so, and
 * removes abandoned temporary files. */
void link_prepare(struct engine *engine);

/* Call when the data is loaded: the link connects, if there is one; and what the snapshot says of
 * its place in a history counts. */
void link_start(struct engine *engine);

/* Call at the end, before net_free. */
void link_stop(struct engine *engine);

/* Sets the directive replicaof, and makes the server a replica of host:port; it need not be one
 * yet, nor the replica of that one. The stream of its own replicas ends when it gets other data.
 *
 * In a transaction the role changes when EXEC has ended (engine/put_off.h): what the transaction
 * changes, also after this, belongs to the history that the new primary is asked to continue. Only
 * clients that wait for a key are told at once, as the transaction may close them. */
void link_follow(struct engine *engine, struct slice host, int port);

/* Sets the directive replicaof, and ends being a replica, if the server is one: the data stays, and
 * its history goes on under a new id. In a transaction that has changed data, this is put off as
 * above; otherwise it is done at once, so that what follows is part of the new history. */
void link_unfollow(struct engine *engine);

/* Returns whether the server is a replica, and whether it is that of host:port, or will be when the
 * transaction that runs has ended: as the directive says. */
bool link_is_wanted(const struct engine *engine);
bool link_is_wanted_to(const struct engine *engine, struct slice host, int port);

/* Returns the link, or NULL when the server is not a replica. O(1). */
static inline struct link *link_of(const struct engine *engine) {
    return engine->link;
}

/* Returns whether the server is a replica with the stream of its primary. */
bool link_is_up(const struct engine *engine);

/* Call when a directive has changed, or the state of the link: which commands are refused. */
void link_restrict(struct engine *engine);

/* Returns whether this server has the database in which a stream is said to go on. O(1). */
static inline bool link_has_database(const struct engine *engine, int64_t database) {
    return database >= 0 && database < engine->config.databases;
}

/* Returns the memory of what has come of a payload, and is neither in a file nor loaded. O(1). */
static inline size_t link_memory(const struct engine *engine) {
    return engine->link ? link_payload_memory(&engine->link->payload) : 0;
}

/* Returns whether there is work for link_work. */
bool link_has_work(const struct engine *engine);

/* Loads what was received. Call it outside of all callbacks, when net_run has returned; serves
 * clients while it loads. O(data). */
void link_work(struct engine *engine);

/* --- For the link's files --- */

/* Closes the link, and logs why (a whole sentence); a new one is tried a second later, or at once
 * if it streamed. */
void link_fail(struct link *link, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As link_fail, when what the primary has sent cannot be used: from now on the data counts as that
 * of no history, so that everything is asked for again; later and later when that keeps
 * happening. */
void link_give_up(struct link *link, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As link_give_up, because this server cannot run a command of the stream: all data is not asked
 * for again within a minute after that was done for the same command. INFO shows the name. */
void link_refuse(struct link *link, struct slice name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

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

/* The primary is about to send all data. If that is so because the stream was lost while a pause
 * held it back, closes the link until the end of the pause, and returns true: a pause that lasts
 * longer than the primary can keep the stream would otherwise make it send all data over and
 * over. */
bool link_waits_with_all(struct link *link);

/* The data is that of another history: nothing of that is known to be on the disk. */
void link_forget_synced(struct link *link);

/* The stream begins, in the database `database`. */
void link_go_online(struct link *link, int database);

/* --- link_handshake.c --- */

/* The connection is there: sends the first request. */
void link_greet(struct link *link);

/* Takes a line of the handshake, without its end. */
void link_take_line(struct link *link, struct slice line);

#endif
