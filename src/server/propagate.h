/* propagate: what changes mean for the outside: a stream of commands that, run on the same data,
 * make the same changes again, whenever that is.
 *
 *      unit of one command       [SELECT db] LPUSH k a
 *      unit of several           MULTI [SELECT db] DEL old  LPUSH old a  EXEC
 *
 * A unit is what must happen whole: a command with the expired keys that it has deleted; all of an
 * EXEC; one client being served; a key that the server deletes by itself. A command that changed
 * something is told as it came, or as what it has put in its place (call_propagate_as). SELECT
 * stands where the database is another than that of the command told before.
 *
 * Commands are arrays of bulk strings of RESP, each written once, into the stream that is handed
 * over. MULTI is put in front of a unit's first command when the second one comes. While nobody
 * listens a command costs one test. */
#ifndef PACKLIST_SERVER_PROPAGATE_H
#define PACKLIST_SERVER_PROPAGATE_H

#include "resp/reply.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call;

struct propagation {
    bool is_on;          /* somebody listens */
    bool is_replaced;    /* the command being run has told what it does */
    int database;        /* of the command told last; -1: nothing was told yet */
    size_t unit_begin;   /* where the unit stands in the stream */
    uint64_t unit_count; /* commands in it so far */
    uint64_t taken;      /* bytes of the stream that were taken since the server started */
    int64_t timestamp_s; /* of the last annotation */
    struct reply stream; /* what was told since it was taken last */
};

/* Tells from now on. Begins anew: the first command is preceded by its SELECT. Not inside a
 * unit. */
void propagate_start(void);

/* Stops telling, and ends the unit; what was told stays in the stream. */
void propagate_stop(void);

/* The stream goes on in another place, where nothing precedes it: SELECT is told again. */
void propagate_forget_database(void);

/* Is a unit begun that has not ended? */
static inline bool propagate_is_inside(const struct propagation *propagation) {
    return propagation->unit_count > 0;
}

/* The position behind all that was told: bytes since the server started. O(1). */
uint64_t propagate_position(const struct propagation *propagation);

/* Takes over what was told, outside of units: appends it to `taken`, by swapping buffers if that is
 * empty. */
void propagate_take(struct reply *taken);

/* A command of the unit: the arguments are copied. O(bytes). */
void propagate_tell(int database, const struct slice *argv, size_t argc);

/* The annotation of a time, "#TS:<seconds>\r\n", which stands between units. */
void propagate_annotate(struct reply *stream, int64_t time_s);

/* The command has run. `changed`: it has changed something. `ends_unit`: false for those inside
 * an EXEC. Where a unit ends that holds anything, its session notes the position behind it. */
void propagate_ran(const struct call *call, bool changed, bool ends_unit);

/* A key that the server deletes by itself, outside of any command where call->command is NULL. */
void propagate_removed(const struct call *call, struct slice key, bool unlink);

#endif
