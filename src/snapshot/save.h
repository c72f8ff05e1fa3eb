/* save: writes snapshots of all data to the file dbfilename: for SAVE, BGSAVE, save points, and
 * when the server ends.
 *
 * A snapshot replaces the previous one as a whole (docs/durability.md, sections 3 and 4), in the
 * directory in which it was begun. In the background the loop copies the data (incremental.h).
 * After a failure the server tries again five seconds later, and refuses writes until a snapshot
 * succeeds (stop-writes-on-bgsave-error). */
#ifndef PACKLIST_SNAPSHOT_SAVE_H
#define PACKLIST_SNAPSHOT_SAVE_H

#include "base/text/sds.h"

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
    bool scheduled;       /* begin one as soon as the background is free */
    bool failed;          /* whether the last background snapshot failed */
    uint64_t failures;    /* of background snapshots since the last one that succeeded */
    uint64_t saved_dirty; /* engine->dirty at the begin of the snapshot that is on disk */
    uint64_t begun_dirty; /* … of the snapshot that is being written */
    sds begun_dir;        /* directory of the last background snapshot; NULL before the first one */
    int64_t saved_s;      /* LASTSAVE: wall clock of the last success, or of the server's start */
    int64_t changes_since_s; /* the same by the monotonic clock; save points count from here */
    int64_t begun_s;         /* begin of the last background snapshot, monotonic */
    int64_t last_seconds;    /* how long it took; -1: there was none */
    size_t last_cow_size;    /* extra memory of the last background snapshot */
    uint64_t saves;          /* begun by SAVE, BGSAVE and save points */
};

/* save_start: call once at the start, after the configuration is read; removes abandoned temporary
 * files. save_stop frees what save_start allocated. */
void save_start(struct engine *engine);
void save_stop(struct engine *engine);

/* Call when the directives save or stop-writes-on-bgsave-error have changed. */
void save_configure(struct engine *engine);

/* Writes a snapshot and waits for the disk. Returns false when that fails; the log says why.
 * O(data). */
bool save_now(struct engine *engine);

/* Begins a snapshot in the background; save_tick does so later when a stopped one is not released
 * yet (incremental_is_released). Returns false when the snapshot thread cannot be created or
 * another server has locked the directory; the log says why. Must not be called while
 * incremental_is_busy. */
bool save_begin(struct engine *engine);

/* Returns whether a snapshot is being written, or awaited, in the background. */
bool save_is_running(struct engine *engine);

/* Makes save_tick begin a snapshot as soon as the background is free; revokes that, and returns
 * whether there was anything to revoke. */
void save_schedule(struct engine *engine);
bool save_unschedule(struct engine *engine);

/* Stops the background snapshot, if there is one, and removes its file. */
void save_cancel(struct engine *engine);

/* Call after all databases were emptied: writes a snapshot if there are save points. No snapshot
 * may be running (save_cancel). O(1), as the data is empty. */
void save_after_flush(struct engine *engine);

/* Begins a background snapshot when one is due. Called by cron. */
void save_tick(struct engine *engine);

/* Call when the server ends. Stops the background snapshot, and writes a last one if save points or
 * `options` (enum shutdown_option) require it. Returns false when that fails and the server must go
 * on. O(data). */
bool save_at_end(struct engine *engine, int options);

/* Returns the number of changes since the last successful snapshot. */
uint64_t save_changes(struct engine *engine);

#endif
