/* save: snapshots of all data, in the file dbfilename: SAVE, BGSAVE, save points, and at the end.
 *
 * A snapshot replaces the one before it as a whole (docs/durability.md, sections 3 and 4), in the
 * directory in which it was begun. In the background the loop copies it out (incremental.h), or,
 * without rdb-save-in-slices, a child writes it (child.h). When that has failed, it is tried again
 * after five seconds, and writes are refused meanwhile (stop-writes-on-bgsave-error). */
#ifndef PACKLIST_SNAPSHOT_SAVE_H
#define PACKLIST_SNAPSHOT_SAVE_H

#include "base/sds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;

struct save_point {
    int64_t seconds;
    uint64_t changes;
};

struct save {
    struct save_point *points;
    size_t point_count;
    bool scheduled;       /* to begin as soon as nothing else is written in the background */
    bool failed;          /* the last one in the background */
    uint64_t saved_dirty; /* engine->dirty, of the snapshot that is on disk */
    uint64_t begun_dirty; /* of the one that is being written */
    sds begun_dir;        /* where that goes; NULL before the first one */
    int64_t saved_s;      /* LASTSAVE: wall clock when it was done; else when the server started */
    int64_t changes_since_s; /* the same by the monotonic clock: save points count from then on */
    int64_t begun_s;         /* when the last one began, by the monotonic clock */
    int64_t last_seconds;    /* that it took; -1 = there was none */
    size_t
        last_cow_size; /* memory that it took beside: of a child, what was not shared at its end */
    uint64_t saves;    /* begun by SAVE, BGSAVE and save points */
};

/* Once at start, when the configuration is known. */
void save_start(struct engine *engine);
void save_stop(struct engine *engine);

/* The directives save or stop-writes-on-bgsave-error have changed. */
void save_configure(struct engine *engine);

/* Writes the snapshot at once. False when it cannot be written; the log says why. O(data). */
bool save_now(struct engine *engine);

/* Begins to write it in the background. False with errno when there could be no process, or another
 * one has locked the directory. Not while background_is_busy. */
bool save_begin(struct engine *engine);

/* Is one being written in the background? */
bool save_is_running(struct engine *engine);

/* Lets one begin as soon as the background is free. */
void save_schedule(struct engine *engine);

/* Gives up what is being written in the background. */
void save_cancel(struct engine *engine);

/* All databases were emptied: the file on disk is brought up to date if there are save points. No
 * snapshot is being written (save_cancel). */
void save_after_flush(struct engine *engine);

/* Begins what is due; cron. */
void save_tick(struct engine *engine);

/* The server ends, with these enum shutdown_option; what is being written is given up, and the
 * last snapshot written if it is wanted. False when the server must go on, as that has failed. */
bool save_at_end(struct engine *engine, int options);

/* Changes that no snapshot on disk has. */
uint64_t save_changes(struct engine *engine);

#endif
