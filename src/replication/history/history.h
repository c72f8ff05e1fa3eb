/* history: the stream of changes, its offset, and the ids of its history.
 *
 *      primary   command log ──┐
 *                PING, GETACK ─┴─ backlog ── a cursor per replica ── its connection
 *      replica   bytes of its own primary ── backlog ── …
 *
 * The stream is what the command log holds for replicas, and between its units their messages. It
 * begins with the first replica. Its offset is the number of bytes since its history began. A
 * history is named by an id of 40 hexadecimal digits: equal ids and offsets mean equal data. A
 * server that takes over from its primary draws a new id, and keeps the old one as the second id,
 * which is valid up to an offset. Whoever changes the id or ends the stream closes the connections
 * of replicas before (replicas_close). */
#ifndef PACKLIST_REPLICATION_HISTORY_HISTORY_H
#define PACKLIST_REPLICATION_HISTORY_HISTORY_H

#include "base/slice.h"
#include "journal/command_log.h"
#include "replication/history/backlog.h"
#include "resp/reply.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;

enum { HISTORY_ID_LEN = 40 };

/* Bytes that stand in the stream, but not in the command log. */
struct history_insertion {
    uint64_t log_offset; /* what the log has for replicas before this offset precedes them */
    uint64_t len;
};
enum { HISTORY_INSERTIONS = 64 };

struct history {
    char id[HISTORY_ID_LEN + 1];
    char second_id[HISTORY_ID_LEN + 1]; /* of zeros: there is none */
    int64_t second_offset;              /* the second id is valid for requests up to here; -1 */
    uint64_t offset;                    /* end of the stream while there is no backlog */
    struct backlog *backlog;            /* NULL until the first replica */
    struct command_log_reader reader;   /* registered while a primary has a backlog */
    struct history_insertion insertions[HISTORY_INSERTIONS]; /* the last ones: a ring */
    uint64_t insertion_count;
    struct reply messages; /* for replicas only; they wait for the end of a unit */
    int64_t unused_ms;     /* steady_ms when the last replica left, or since when there is none */
    int64_t ping_ms;       /* steady_ms of the last PING in the stream */
};

/* --- The stream --- */

/* Call once at the start: draws an id. */
void history_start(struct engine *engine);

/* Returns its offset, to which belong the changes that are still in the command log. O(1). */
uint64_t history_offset(const struct engine *engine);

/* Returns the offset of the stream at which lies what the command log had when `log_offset` was its
 * end for replicas (command_log_end_for_replicas); a larger one when more than HISTORY_INSERTIONS
 * messages have followed since. O(1). */
uint64_t history_offset_of(const struct engine *engine, uint64_t log_offset);

/* Makes the backlog, unless it exists: the stream goes on from its offset. Outside of units. */
void history_open_stream(struct engine *engine);

/* Ends the stream: frees the backlog. No replica may be left. */
void history_close_stream(struct engine *engine);

/* The stream is another server's from now on (engine->is_replica), or this one's. Outside of
 * units. */
void history_set_role(struct engine *engine, bool is_replica);

/* Appends the units of the command log that have ended to the backlog. O(bytes). */
void history_feed(struct engine *engine);

/* Appends a command that only replicas get, after the changes so far; inside a unit, after that
 * unit. Does nothing while there is no backlog, and on a replica. O(bytes). */
void history_append(struct engine *engine, const struct slice *argv, size_t argc);

/* Appends a PING after the units that have ended, at once: a script may run for minutes. O(bytes of
 * these units). */
void history_append_ping(struct engine *engine);

/* --- Ids --- */

/* Draws a new id, and forgets the second one: no replica can continue. */
void history_draw_id(struct engine *engine);

/* The server goes on by itself from its primary's history: draws a new id, and keeps the old one as
 * the second id, up to the current offset, by which replicas can continue. */
void history_shift_id(struct engine *engine);

/* The server has the data of another history at `offset`, whose id becomes its own. There is no
 * stream. */
void history_adopt(struct engine *engine, struct slice id, uint64_t offset);

/* The history goes on under the id `id`: the old id becomes the second one, up to the current
 * offset. */
void history_rename(struct engine *engine, struct slice id);

/* Returns whether a number from another server or a file can be an offset: at the end of the range
 * the stream could not go on. */
static inline bool history_is_offset(int64_t number) {
    return number >= 0 && number <= INT64_MAX / 2;
}

#endif
