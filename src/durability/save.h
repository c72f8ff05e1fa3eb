/* save: snapshots of all data, in the file dbfilename: SAVE, BGSAVE, save points, and at the end.
 *
 * A snapshot is written to a file of its own, brought to the disk, and renamed; the file before it
 * stays whole until then. When one that a child wrote has failed, it is tried again after five
 * seconds, and writes are refused meanwhile (stop-writes-on-bgsave-error). */
#ifndef PACKLIST_DURABILITY_SAVE_H
#define PACKLIST_DURABILITY_SAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct save_point {
    int64_t seconds;
    uint64_t changes;
};

/* All times are the wall clock's, in seconds. */
struct save {
    struct save_point *points;
    size_t point_count;
    bool scheduled;       /* a child is to save as soon as there is no other */
    bool failed;          /* the last child that saved */
    uint64_t saved_dirty; /* server.dirty, of the snapshot that is on disk */
    uint64_t begun_dirty; /* of the one that a child is writing */
    int64_t saved_s;      /* LASTSAVE: when it was done; else when the server started */
    int64_t begun_s;      /* when a child last began */
    int64_t last_seconds; /* that the last child took; -1 = there was none */
    size_t last_cow_size; /* memory that it did not share at its end */
    uint64_t saves;       /* begun by SAVE, BGSAVE and save points */
};

/* Once at start, when the configuration is known. */
void save_start(void);
void save_stop(void);

/* The directives save or stop-writes-on-bgsave-error have changed. */
void save_configure(void);

/* Writes the snapshot at once. False when it cannot be written; the log says why. O(data). */
bool save_now(void);

/* A child begins to write it. False with errno when no process could be made. Not while there is a
 * child. */
bool save_begin(void);

/* Is a child writing a snapshot? */
bool save_is_running(void);

/* Lets a child write one as soon as there is no other. */
void save_schedule(void);

/* All databases were emptied: a snapshot that is being written is worth nothing, and the file on
 * disk is brought up to date if there are save points. */
void save_after_flush(void);

/* Begins what is due; cron. */
void save_tick(void);

/* The server ends, with these enum shutdown_option; the child is ended, and the last snapshot
 * written if it is wanted. False when the server must go on, as that has failed. */
bool save_at_end(int options);

/* Changes that no snapshot on disk has. */
uint64_t save_changes(void);

#endif
