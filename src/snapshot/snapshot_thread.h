/* snapshot_thread: the thread that brings snapshots to the disk: it compresses, checks, writes,
 * waits for the disk, and puts the file in its place.
 *
 *      loop      fill ─ put, put … finish ─┐                   ┌─ release ─┐
 *                                  [ chunk, chunk, … end ]     │        [ chunk … ]
 *      thread                              └─ write ─ shared? ─┘           └─ free
 *
 * One thread, made with the first snapshot, a bit less urgent than the loop to the system. Chunks
 * are written in the order in which they were put, also those of several jobs: a job that was
 * cancelled is only brought to its end. What the thread and the loop both touch is under a lock,
 * but for the chunks, which one of them owns at a time.
 *
 *      a job     begin ─ put … ─ finish ─ ended(done or failed)
 *                          └─ cancel ┴─ nothing of it is seen any more
 */
#ifndef PACKLIST_SNAPSHOT_SNAPSHOT_THREAD_H
#define PACKLIST_SNAPSHOT_SNAPSHOT_THREAD_H

#include "snapshot/snapshot_chunk.h"

#include <stdbool.h>
#include <stddef.h>

struct net;
struct snapshot_job;

enum snapshot_step { SNAPSHOT_WRITE, SNAPSHOT_RENAME };

struct snapshot_result {
    int error;               /* 0: the file is on the disk and has its name */
    enum snapshot_step step; /* that has failed */
};

struct snapshot_thread_events {
    void *arg; /* what the callbacks get */
    /* A chunk with lists or captures was written, or dropped: they can be released. */
    void (*returned)(void *arg, struct snapshot_chunk *chunk);
    /* Chunks were written since the last time, or a job has failed. */
    void (*moved)(void *arg);
    /* A job that was finished, and not cancelled, is over. It is freed after this. */
    void (*ended)(void *arg, struct snapshot_job *job, struct snapshot_result result);
};

/* Makes the thread, which tells `events` from the loop of `net`, unless it is there. False with
 * errno when there can be none. */
bool snapshot_thread_start(struct net *net, const struct snapshot_thread_events *events);

/* Ends it, if there is one: when all jobs were cancelled or have ended. It may have to wait for a
 * system call. Before net_free. */
void snapshot_thread_stop(void);

/* A job: to write the file at the path `temporary`, and to rename it to `name` when it is whole, or
 * not if that is NULL. `incremental` as for disk_file_create; the others as for rdb_writer_start.
 * The file is made by the thread. */
struct snapshot_job *snapshot_job_begin(const char *temporary, const char *name, bool incremental,
                                        bool compress, bool checksum);

const char *snapshot_job_temporary(const struct snapshot_job *job);

/* Gives the thread the next chunk. Not after finish or cancel. */
void snapshot_job_put(struct snapshot_job *job, struct snapshot_chunk *chunk);

/* There are no more chunks: `ended` follows. */
void snapshot_job_finish(struct snapshot_job *job);

/* What has gone wrong so far. */
int snapshot_job_error(const struct snapshot_job *job);

/* From now on the file does not get its name, is removed by and by, and nothing is told of it any
 * more. `job` is dead afterwards. Does not wait for the disk. */
void snapshot_job_cancel(struct snapshot_job *job);

/* Bytes of chunks that are still to be written. */
size_t snapshot_thread_pending(void);

/* Bytes that the thread will free: of these chunks, and of released ones. */
size_t snapshot_thread_leaving(void);

/* Waits until `size` more bytes would be no more than `max`, or nothing is to be written. */
void snapshot_thread_wait_for_room(size_t size, size_t max);

/* Waits for at most `most_ms` until all chunks that were put are written or dropped, and reports
 * those with lists or captures. (Does not wait for the end of a job.) False when some are left. */
bool snapshot_thread_drain(int most_ms);

/* Takes a chunk whose lists and captures are released, and frees it with them; `left` is what
 * snapshot_chunk_release returned. It is behind what the thread has to write. */
void snapshot_thread_free_chunk(struct snapshot_chunk *chunk, size_t left);

#endif
