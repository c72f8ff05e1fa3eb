/* aof: the append-only file. Every change is appended to it as a command (log/command_log.h), and
 * the next start runs these commands again.
 *
 * Each iteration of the event loop writes its commands with one system call before it sends the
 * replies (log/reply_gate.h). appendfsync says when fdatasync follows: before the replies (always),
 * in a thread once a second (everysec), or never (no). What cannot be written stays in memory and
 * is tried again each second; meanwhile commands that write are refused (RESTRICTED_UNWRITTEN).
 *
 * docs/durability.md says what is promised, what each crash leaves, and why each fsync is there. */
#ifndef PACKLIST_AOF_AOF_H
#define PACKLIST_AOF_AOF_H

#include "base/sds.h"
#include "log/command_log.h"
#include "persist/aof_manifest.h"
#include "resp/reply.h"
#include "snapshot/load.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;

enum aof_state {
    AOF_OFF,
    AOF_STARTING, /* turned on while the server runs: until the first rewrite is done */
    AOF_ON
};

/* Rewrites: aof_rewrite.c. */
struct aof_rewrite {
    bool scheduled; /* begins as soon as there is no other child */
    bool failed;    /* the last one */
    bool is_rdb;    /* of what kind the base is that is being written */
    bool is_apart;  /* what is written to since is no increment of the manifest until the base is */
    int syncs_left; /* so many may be waited for */
    int64_t begun_s;      /* monotonic */
    int64_t last_seconds; /* that the last one took; -1: there was none */
    size_t last_cow_size;
    uint64_t count;        /* begun */
    uint64_t failures;     /* one after the other, up to now */
    int64_t not_before_us; /* after several failures; monotonic */
};

/* Times are monotonic. */
struct aof {
    enum aof_state state;
    sds dir; /* where its folder is, and what becomes a base is written: aof_files.c */
    struct aof_manifest manifest; /* in force: likewise */
    bool is_open;
    int fd; /* what is written to: the last increment, or one apart (rewrite.is_apart) */
    struct command_log_reader reader; /* while it is open */
    struct reply buffer;              /* what was read from the command log and not written */
    int64_t timestamp_s;              /* of the last annotation */
    uint64_t file_size;               /* bytes of the file; of all files of the manifest */
    uint64_t total_size;
    uint64_t base_size;   /* of all files after the last rewrite; else of the base */
    uint64_t synced_size; /* of the file: bytes that are on the disk, or on their way there */
    /* Offsets of the command log. The first holds only together with what came before the
     * file, the second holds as it is. */
    uint64_t written_position; /* up to there the file is written, as far as was looked */
    uint64_t file_position;    /* up to there the file is on the disk */
    uint64_t synced_position;  /* up to there changes survive a loss of power */
    bool sync_moved;           /* aof_take_sync_moved */
    int64_t synced_us;         /* when the last fdatasync was begun */
    int64_t postponed_us;      /* since when the buffer waits for one; 0: it does not */
    int64_t tried_us;          /* the last time that writing failed */
    int64_t error_logged_us;
    int write_error;            /* errno; 0: the last write went well */
    int sync_error;             /* … of an fdatasync; stays until all is rewritten */
    unsigned generation;        /* counts the files that were written to */
    unsigned failed_generation; /* of the last fdatasync that failed */
    uint64_t pending_fsyncs;
    uint64_t delayed_fsyncs;
    struct aof_rewrite rewrite;
};

/* --- Life --- */

/* Once at start. */
void aof_init(struct engine *engine);

/* The files as they were found at the start. */
struct aof_opening {
    bool is_new; /* there are none */
    int error;   /* an errno: they could not be brought to the disk; or 0 */
};

/* Looks for the files in the working directory, before they are loaded. False when they cannot be
 * used; the log says why. O(files). */
bool aof_open(struct engine *engine, struct aof_opening *opening);

/* The data is loaded: from now on changes are written behind the files, or, where there are none,
 * to new ones that begin with the data: O(data) then. False when that cannot be; the log says
 * why. */
bool aof_begin(struct engine *engine, struct aof_opening opening);

/* appendonly has changed. False with *error (the caller's) set. While data is loaded nothing is
 * done: it is to be called again after that. */
bool aof_configure(struct engine *engine, sds *error);

/* DEBUG LOADAOF: brings the files up to date, so that all keys may be deleted and loaded again.
 * False where there are no files, or this cannot be done now; the log says why. */
bool aof_prepare_reload(struct engine *engine);

/* The server is ending, with these enum shutdown_option; a rewrite is ended. False when the server
 * must go on. */
bool aof_at_end(struct engine *engine, int options);

/* It has ended: what is left is written and brought to the disk. */
void aof_stop(struct engine *engine);

void aof_free(struct engine *engine);

/* --- Each turn --- */

/* Writes what the command log holds, and opens the reply gate for it, or makes it deny. Not inside
 * a unit of the log. While the file is off: one test. */
void aof_flush(struct engine *engine);

/* Begins what is due; cron. */
void aof_tick(struct engine *engine);

/* Are all changes up to the offset `position` of the command log on the disk? False while it is
 * off, or still begins. O(1). */
bool aof_is_synced(struct engine *engine, uint64_t position);

/* Has the answer to that changed since this was asked last, for any position? */
bool aof_take_sync_moved(struct engine *engine);

/* --- Rewriting: all data is written as a new base, while changes go to a new increment --- */

/* Begins a rewrite. False when it cannot; the log says why. Not while background_is_busy, nor in
 * a unit. The data that it writes is that of this moment or of a later one: before that, a thread
 * brings the last increment to the disk. */
bool aof_rewrite_begin(struct engine *engine);

bool aof_rewrite_is_running(struct engine *engine);

/* Begins one as soon as there is no other child. */
void aof_rewrite_schedule(struct engine *engine);

/* --- Figures --- */

/* Bytes that are held until they are written; no part of what maxmemory bounds. 0: it is off. */
size_t aof_buffer_size(struct engine *engine);

/* Why commands that write are refused: the system's text for the error; NULL: they are not. */
const char *aof_error(struct engine *engine);

#endif
