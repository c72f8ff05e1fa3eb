/* replication: the stream of changes that replicas get, its offset, and the ids of its history.
 *
 *      primary   command log ──┐
 *                PING, GETACK ─┴─ backlog ── a cursor per replica ── its connection
 *      replica   bytes of its own primary ── backlog ── …
 *
 * The stream is what the command log holds for them, as it is, and between its units their
 * messages. It begins with the first replica; without one a write costs nothing more. Its offset
 * is the number of bytes since its history began. A history is named by an id of 40 hexadecimal
 * digits: equal ids and offsets mean equal data. A server that takes over from its primary draws a
 * new id, and keeps the old one as the second id, which is valid up to an offset. This is the only
 * place where ids change.
 *
 * Files: of this header replication.c (what is done when), replication_stream.c and
 * replication_history.c (ids, roles, restarts); backlog.h (the bytes), replicas.h (the replicas and
 * what they are sent), full_sync.h and payload.h (what a replica gets that cannot continue),
 * psync_commands.c (what replicas ask). */
#ifndef PACKLIST_REPLICATION_REPLICATION_H
#define PACKLIST_REPLICATION_REPLICATION_H

#include "base/slice.h"
#include "journal/command_log.h"
#include "replication/backlog.h"
#include "replication/failover.h"
#include "replication/full_sync.h"
#include "replication/replicas.h"
#include "resp/reply.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;
struct link;
struct rdb_history;

enum { REPLICATION_ID_LEN = 40 };

/* Bytes that stand in the stream, but not in the command log. */
struct replication_insertion {
    uint64_t log_offset; /* what the log has for replicas before this offset precedes them */
    uint64_t len;
};
enum { REPLICATION_INSERTIONS = 64 };

/* Of INFO stats. */
struct replication_stats {
    uint64_t full_syncs;
    uint64_t partial_syncs;
    uint64_t partial_refusals;
};

struct replication {
    struct engine *engine;
    struct link *link; /* to the primary; NULL unless the server is a replica: link.h */
    bool is_replica;   /* of another server: the stream is that server's */
    char id[REPLICATION_ID_LEN + 1];
    char second_id[REPLICATION_ID_LEN + 1]; /* of zeros: there is none */
    int64_t second_offset;                  /* the second id is valid for requests up to here; -1 */
    uint64_t offset;                        /* end of the stream while there is no backlog */
    struct backlog *backlog;                /* NULL until the first replica */
    struct command_log_reader reader;       /* registered while a primary has a backlog */
    struct replication_insertion insertions[REPLICATION_INSERTIONS]; /* the last ones: a ring */
    uint64_t insertion_count;
    struct reply messages;    /* for replicas only; they wait for the end of a unit */
    int64_t replicas_left_ms; /* steady_ms when the last replica left */
    int64_t second_ms;        /* steady_ms of the last tick that did its work */
    int64_t polled_ms;        /* steady_ms of the last one outside of busy scripts */
    int64_t ping_ms;          /* steady_ms of the last PING in the stream */
    struct replicas replicas;
    struct full_sync sync;
    struct failover failover;
    struct replication_stats stats;
};

/* --- Life --- */

/* Call once at the start, when engine->net exists: draws an id. */
void replication_start(struct engine *engine);

/* Call at the end, when all sessions are closed and before net_free. */
void replication_stop(struct engine *engine);

/* Call in each loop iteration, outside of units, after the append-only file was written: brings
 * what was changed to the replicas. Returns whether the loop must not sleep. Two tests while there
 * is no backlog. O(bytes + replicas). */
bool replication_step(struct engine *engine);

/* Brings the units that have ended to the replicas, and nothing else: while a script is busy, and
 * when the server ends. O(bytes + replicas). */
void replication_send_rest(struct engine *engine);

/* Returns the memory that the stream and payloads take. O(payloads). */
size_t replication_memory(const struct engine *engine);

/* Returns the memory that a payload takes which this server receives from its primary: what has
 * come and is neither in a file nor loaded. O(1). */
size_t replication_payload_memory(const struct engine *engine);

/* Called by cron, and while a script is busy: pings, timeouts, the lifetime of the backlog. */
void replication_tick(struct engine *engine);

/* Call when a directive of replication has changed. */
void replication_configure(struct engine *engine);

/* --- The stream --- */

/* Returns its offset, to which belong the changes that are still in the command log. O(1). */
uint64_t replication_offset(const struct engine *engine);

/* Returns the offset of the stream at which lies what the command log had when `log_offset` was its
 * end for replicas (command_log_end_for_replicas); a larger one when more than
 * REPLICATION_INSERTIONS messages have followed since. O(1). */
uint64_t replication_offset_of(const struct engine *engine, uint64_t log_offset);

/* Makes the backlog, unless it exists: the stream goes on from its offset. Outside of units. */
void replication_open_stream(struct engine *engine);

/* Ends the stream: frees the backlog. No replica may be left. */
void replication_close_stream(struct engine *engine);

/* Appends the units of the command log that have ended to the backlog. O(bytes). */
void replication_feed(struct engine *engine);

/* Appends a command that only replicas get, after the changes so far; inside a unit, after that
 * unit. Does nothing while there is no backlog, and on a replica. O(bytes). */
void replication_send(struct engine *engine, const struct slice *argv, size_t argc);

/* Appends a PING after the units that have ended, at once: a script may run for minutes. O(bytes of
 * these units). */
void replication_send_ping(struct engine *engine);

/* --- Ids --- */

/* Draws a new id, and forgets the second one: no replica can continue. */
void replication_draw_id(struct engine *engine);

/* The server goes on by itself from its primary's history: draws a new id, and keeps the old one as
 * the second id, up to the current offset. Closes the connections of replicas, which then continue
 * by the old id. */
void replication_shift_id(struct engine *engine);

/* The server has the data of another history at `offset`: the id becomes `id`, and the backlog, if
 * there is one, begins anew. Closes the connections of replicas. */
void replication_adopt(struct engine *engine, struct slice id, uint64_t offset);

/* The history goes on under the id `id`: the old id becomes the second one, up to the current
 * offset. Closes the connections of replicas if the id is another one. */
void replication_rename(struct engine *engine, struct slice id);

/* Returns whether a number from another server or a file can be an offset: at the end of the range
 * the stream could not go on. */
static inline bool replication_is_offset(int64_t number) {
    return number >= 0 && number <= INT64_MAX / 2;
}

/* Returns whether the second id is one. */
static inline bool replication_has_second_id(const struct replication *replication) {
    return replication->second_offset >= 0;
}

/* The server becomes another one's replica, or a primary: where its stream comes from. Also sets
 * engine->is_replica. Outside of units. */
void replication_set_role(struct engine *engine, bool is_replica);

/* --- Restarts --- */

/* Describes where the data stands in its history, for a snapshot that begins now. Returns false
 * when no replica can continue from there. O(1). */
bool replication_describe(const struct engine *engine, struct rdb_history *history);

/* Returns whether this server has the database in which a stream is said to go on. O(1). */
bool replication_has_database(const struct engine *engine, int64_t database);

/* Call when the data is loaded, at the start. If the snapshot has said where its data stands: on a
 * replica, the data belongs to that history; on a primary, that is the second id, so that replicas
 * that had as much can continue. Returns whether it has; *database gets the one that is selected in
 * the stream. */
bool replication_take_loaded(struct engine *engine, int *database);

#endif
