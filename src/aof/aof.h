/* aof: the append-only file. The server appends every change to it as a command
 * (journal/command_log.h), and runs these commands again at the next start.
 *
 * Each loop iteration writes its commands with one system call before it sends the replies
 * (journal/reply_gate.h); appendfsync says when fdatasync follows. While bytes cannot be written,
 * the server tries again once a second and refuses commands that write (RESTRICTED_UNWRITTEN).
 *
 *      aof_life.c      turning it on and off, start and end
 *      aof_append.c    the current file: writing, fsync (sync_if_due), the gate (update_gate)
 *      aof_rewrite.c   a new base in the place of what has grown
 *      aof_files.c     the manifest and the files that it names
 *
 * docs/durability.md says what is promised, what each crash leaves, and why each fsync is there. */
#ifndef PACKLIST_AOF_AOF_H
#define PACKLIST_AOF_AOF_H

#include "base/text/sds.h"
#include "journal/command_log.h"
#include "persist/aof_manifest.h"
#include "resp/reply.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;

enum aof_state {
    AOF_OFF,
    AOF_STARTING, /* turned on while the server runs; lasts until the first rewrite has succeeded */
    AOF_ON
};

/* State of rewrites: aof_rewrite.c. */
struct aof_rewrite {
    bool scheduled; /* begin one as soon as the background is free */
    bool failed;    /* whether the last rewrite failed */
    bool is_rdb;    /* the base being written is an RDB file */
    /* Path of the pending increment, to which changes go: it enters the manifest together with the
     * new base. NULL when there is none. */
    sds apart;
    int syncs_left;       /* fdatasync calls that the rewrite may still wait for */
    int64_t begun_s;      /* monotonic */
    int64_t last_seconds; /* how long the last rewrite took; -1: there was none */
    size_t last_cow_size;
    uint64_t count;        /* rewrites begun */
    uint64_t failures;     /* failures in a row */
    int64_t not_before_us; /* no retry before; set after several failures; monotonic */
};

/* Times in us are monotonic; timestamp_s is wall clock. */
struct aof {
    enum aof_state state;
    /* Directory that contains the folder of the files; set by aof_files_set_dir. */
    sds dir;
    /* The manifest in force: aof_files.c. */
    struct aof_manifest manifest;
    bool is_open; /* fd and reader are valid */
    /* The file that receives changes: the last increment, or the pending one (rewrite.apart). */
    int fd;
    struct command_log_reader reader; /* registered while is_open */
    struct reply buffer;              /* read from the command log, but not written */
    int64_t timestamp_s;              /* of the last annotation, in seconds */
    /* Bytes of the current file; of all files of the manifest. */
    uint64_t file_size;
    uint64_t total_size;
    /* total_size after the last rewrite; before one, the size of the base. */
    uint64_t size_after_rewrite;
    /* Bytes of the current file for which an fdatasync has begun; it may have failed. */
    uint64_t sync_begun_size;
    /* Offsets of the command log. */
    uint64_t written_position; /* written up to here, as of the last call of written_position() */
    /* fdatasync has confirmed the current file up to here, which proves nothing about the files
     * before it. */
    uint64_t file_position;
    uint64_t synced_position; /* every change up to here survives a power failure */
    int64_t synced_us;        /* begin of the last fdatasync */
    int64_t postponed_us; /* since when the buffer has waited for an fdatasync; 0: it does not */
    int64_t tried_us;     /* time of the last failed write */
    int64_t error_logged_us;
    int write_error;            /* errno; 0: the last write succeeded */
    int sync_error;             /* errno of a failed fdatasync; kept until a rewrite succeeds */
    unsigned generation;        /* number of files opened so far */
    unsigned failed_generation; /* generation of the file whose fdatasync failed last */
    uint64_t pending_fsyncs;    /* in the pool: at most one */
    struct sync_job *sync_job;  /* that one; NULL: none */
    void (*sync_ended)(struct engine *engine); /* called when it has ended; never NULL */
    uint64_t delayed_fsyncs;
    struct aof_rewrite rewrite;
};

/* --- Start and end --- */

/* Call once at the start: sets up the reply gate and removes abandoned temporary files. */
void aof_init(struct engine *engine);

/* What aof_open found. */
struct aof_opening {
    bool is_new; /* there are no files yet */
    int error;   /* errno if the files could not be synced to the disk, or 0 */
};

/* Reads the manifest in the working directory and syncs the files that it names. Call before they
 * are loaded. Returns false when they cannot be used; the log says why. O(files), and waits for the
 * disk. */
bool aof_open(struct engine *engine, struct aof_opening *opening);

/* Call after the data is loaded: the server appends changes from now on. If there were no files,
 * writes new ones that begin with the data: O(data). Returns false when that fails; the log says
 * why. */
bool aof_begin(struct engine *engine, struct aof_opening opening);

/* Call when the directive appendonly has changed. Returns false with *error set (the caller's).
 * Does nothing while data is being loaded: call it again afterwards. Within a unit, which must be
 * in one file as a whole, the change is put off (engine/put_off.h). */
bool aof_configure(struct engine *engine, sds *error);

/* What was put off. An error can only be logged, and shown by the directive. */
void aof_configure_late(struct engine *engine);

/* Turns the file off, if it is on, because all data is about to be replaced; aof_configure begins
 * it anew. */
void aof_suspend(struct engine *engine);

/* For DEBUG LOADAOF: writes all pending changes, so that the caller may delete all keys and load
 * them again. Returns false when there are no files or they are incomplete, as they are within a
 * unit of the command log; the log says why. */
bool aof_prepare_reload(struct engine *engine);

/* Returns whether the server must not end yet, because the first rewrite since the file was turned
 * on has not finished. `options`: enum shutdown_option. */
bool aof_prevents_end(struct engine *engine, int options);

/* Call when the server ends; `options`: enum shutdown_option. Stops a rewrite. Returns false when
 * the server must go on. */
bool aof_at_end(struct engine *engine, int options);

/* aof_stop writes and syncs what is left. aof_free releases the memory. */
void aof_stop(struct engine *engine);

void aof_free(struct engine *engine);

/* --- Each loop iteration --- */

/* Writes the units of the command log that have ended, and calls fdatasync with `always`, or has a
 * thread call it when it is due with `everysec`. After that the replies may leave, or the gate
 * denies. O(bytes), plus the disk's time with `always`; one test while the file is off. */
void aof_flush(struct engine *engine);

/* Begins a rewrite when one is due. Called by cron. */
void aof_tick(struct engine *engine);

/* Returns whether all changes up to `position` of the command log are on the disk. False while the
 * file is off or its first base is being written. O(1). */
bool aof_is_synced(struct engine *engine, uint64_t position);

/* --- Rewriting: a new base holds all data, and a new increment the changes after it --- */

/* Begins a rewrite. Returns false when that fails; the log says why. Must not be called while
 * incremental_is_busy, nor inside a unit. The base holds the data of this moment or of a slightly
 * later one: a thread first syncs the last increment. */
bool aof_rewrite_begin(struct engine *engine);

bool aof_rewrite_is_running(struct engine *engine);

/* --- Stats --- */

/* Returns the bytes of changes that are not written yet. 0 while the file is off. */
size_t aof_buffer_size(struct engine *engine);

/* Returns why commands that write are refused, as the system's text for the error; NULL: they are
 * not refused. */
const char *aof_error(struct engine *engine);

#endif
