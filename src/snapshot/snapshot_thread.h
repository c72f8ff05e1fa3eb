/* snapshot_thread: the thread that writes snapshots to the disk, or to a stream for replicas. It
 * compresses, checksums and writes chunks, calls fsync and renames the file.
 *
 *      loop      fill ─ put, put … finish ─┐                   ┌─ release ─┐
 *                                  [ chunk, chunk, … end ]     │        [ chunk … ]
 *      thread                              └─ write ─ shared? ─┘           └─ free
 *
 * There is one thread. The first snapshot creates it, with a lower priority than the loop's. It
 * writes chunks in the order of snapshot_job_put, also across several jobs. A cancelled job passes
 * through the queue without being written. A lock protects what thread and loop both use, except
 * for the chunks: each belongs to one of them at a time.
 *
 *      a job     begin ─ put … ─ finish ─ ended(done or failed)
 *                          └─ cancel ┴─ no further callback */
#ifndef PACKLIST_SNAPSHOT_SNAPSHOT_THREAD_H
#define PACKLIST_SNAPSHOT_SNAPSHOT_THREAD_H

#include "snapshot/snapshot_chunk.h"

#include <stdbool.h>
#include <stddef.h>

struct net;
struct snapshot_job;
struct snapshot_thread;

enum snapshot_step { SNAPSHOT_WRITE, SNAPSHOT_RENAME };

struct snapshot_result {
    int error; /* 0: the file is on the disk under `name`, or under `temporary` if `name` is NULL */
    enum snapshot_step step; /* the step that failed */
};

/* Takes the bytes of a snapshot in place of a file. */
struct snapshot_stream {
    /* Takes all `len` (> 0) bytes, or returns false with errno set: then the job fails. Called by
     * the thread, in order. It may wait, but not for the loop once the job is cancelled. */
    bool (*write)(void *arg, const void *bytes, size_t len);
    /* The thread needs the stream no longer. Called by the loop, also after a cancel, and after
     * `ended`. */
    void (*released)(void *arg);
    void *arg;
};

struct snapshot_thread_events {
    void *arg; /* passed to the callbacks */
    /* A chunk with captures was written or dropped. The loop may now release them. */
    void (*returned)(void *arg, struct snapshot_chunk *chunk);
    /* Chunks were written since the last call, or a job has failed. */
    void (*progressed)(void *arg);
    /* A finished job has ended without being cancelled. It is freed after this call. */
    void (*ended)(void *arg, struct snapshot_job *job, struct snapshot_result result);
};

/* Creates the thread, unless it exists; sets *thread, unless it is set. Its callbacks run in the
 * loop of `net`. Returns false with errno set when no thread can be created; a later call tries
 * again. The caller frees *thread in either case. */
bool snapshot_thread_start(struct snapshot_thread **thread, struct net *net,
                           const struct snapshot_thread_events *events);

/* Ends the thread, if it exists, and frees `thread` (NULL allowed). All jobs must have ended or
 * been cancelled. May wait for a system call of the thread. Call before net_free. */
void snapshot_thread_free(struct snapshot_thread *thread);

/* What a job writes: to the file `temporary`, which is renamed to `name` when it is complete,
 * unless `name` is NULL; or to a stream. */
struct snapshot_task {
    const struct snapshot_stream *stream; /* in place of a file; or NULL */
    sds temporary;                        /* paths */
    sds name;
    bool sync_in_stretches; /* see disk_file_create */
    bool is_rdb;            /* not commands: the job writes the end of an RDB file */
    bool for_valkey;        /* see struct rdb_writer */
    bool compress;          /* see rdb_writer_start */
    bool checksum;
};

/* Begins a job. Takes ownership of the paths, and copies the stream. The thread creates the
 * file. */
struct snapshot_job *snapshot_job_begin(struct snapshot_thread *thread,
                                        const struct snapshot_task *task);

/* Returns the path of the file; NULL for a stream. */
const char *snapshot_job_temporary(const struct snapshot_job *job);

/* Passes the next chunk to the thread, which owns it from now on. Not after finish or cancel. */
void snapshot_job_put(struct snapshot_job *job, struct snapshot_chunk *chunk);

/* Call after the last chunk; `ended` follows. */
void snapshot_job_finish(struct snapshot_job *job);

/* Returns the errno of the first failure so far, or 0. */
int snapshot_job_error(const struct snapshot_job *job);

/* Cancels the job; no callback follows. Unless the file has its final name already, it never gets
 * it. The thread removes what is unfinished; a complete file without a final name is the caller's
 * to remove. Does not wait for the disk. Afterwards `job` is invalid. */
void snapshot_job_cancel(struct snapshot_job *job);

/* Return the bytes of chunks that are not written yet, and those that the thread will free:
 * unwritten chunks, and released ones. 0 for NULL. */
size_t snapshot_thread_pending(struct snapshot_thread *thread);
size_t snapshot_thread_leaving(struct snapshot_thread *thread);

/* Waits until the unwritten bytes and `size` together are at most `max`, or nothing is
 * unwritten. */
void snapshot_thread_wait_for_room(struct snapshot_thread *thread, size_t size, size_t max);

/* Waits for at most `most_ms` milliseconds until every chunk is written or dropped, then runs the
 * callback `returned` for chunks with captures. Does not wait for the end of a job. Returns false
 * when some chunks are left. */
bool snapshot_thread_drain(struct snapshot_thread *thread, int most_ms);

/* Makes the thread free a chunk whose captures are released, before it writes the next one. `left`
 * is what snapshot_chunk_release returned. */
void snapshot_thread_free_chunk(struct snapshot_thread *thread, struct snapshot_chunk *chunk,
                                size_t left);

#endif
