/* incremental: a snapshot that is written in the background. The loop copies the data in small
 * steps, and copies each key before its first change. A thread compresses, checksums and writes the
 * copies (snapshot_thread.h).
 *
 *      loop     iterators: up to 300 us of each iteration ─┐
 *               before a key changes or is deleted ────────┴─ chunks ─ thread: file
 *
 *      begin ── iterating ── writing ── ended(ok, or an error)
 *                  └─ stop, or the thread has failed: ended(…); the remaining iterators finish
 *                     without writing, as a keyspace needs each of them to reach its end
 *
 * The file holds the data of the moment of incremental_begin, in a form of enum snapshot_form. The
 * order of the keys is arbitrary, and the file may select a database several times.
 *
 * Memory: the iterators never wait for the disk. They pause while ITERATOR_PENDING_MAX bytes of
 * chunks are unwritten. A key that is about to change cannot pause: its command waits for the
 * thread, but only if more than FORCED_PENDING_MAX bytes and more than an eighth of the memory in
 * use are unwritten. A stream depends on other servers, so its thread is not waited for: a snapshot
 * that is so far behind fails. Large values are captured instead of copied (ds/capture.h),
 * so they cost only the pieces that change. Deleted data stays in memory while the snapshot needs
 * it: a captured value until the thread has written it, a flushed keyspace until its iterator has
 * visited all keys. */
#ifndef PACKLIST_SNAPSHOT_INCREMENTAL_H
#define PACKLIST_SNAPSHOT_INCREMENTAL_H

#include "snapshot/snapshot.h"
#include "snapshot/snapshot_thread.h"
#include "store/keyspace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;

/* What a snapshot is for. */
enum background_purpose { BACKGROUND_NONE, BACKGROUND_RDB, BACKGROUND_AOF, BACKGROUND_SYNC };

struct incremental_end {
    int error; /* 0: the file is on the disk */
    enum snapshot_step step;
    bool was_stopped;
    const char *temporary; /* path of the file, or NULL; valid during the callback */
    int64_t seconds;
    size_t memory_peak;
};

struct incremental_order {
    enum background_purpose purpose;
    const struct snapshot_stream *stream; /* in place of a file; or NULL */
    const char *temporary;                /* paths; incremental_begin makes them absolute */
    const char *name;                     /* or NULL: the file keeps its temporary name */
    bool sync_in_stretches;               /* see disk_file_create */
    enum snapshot_form form;
    bool for_valkey; /* see struct rdb_writer */
    void (*ended)(struct engine *engine, const struct incremental_end *end);
};

struct incremental_stats {
    uint64_t keys_done;
    uint64_t keys_early; /* of keys_done: copied before a change */
    uint64_t keys_total; /* when the snapshot began */
    size_t memory_peak;
    size_t left_bytes; /* bytes that only captures needed */
    uint64_t longest_step_us;
};

struct incremental {
    enum background_purpose purpose; /* BACKGROUND_NONE: no snapshot is being written */
    /* The purpose of a snapshot that was requested but waits, for the disk or for the end of a
     * stopped one; BACKGROUND_NONE: no such snapshot. The caller sets it. */
    enum background_purpose awaited;
    bool iterating; /* some iterator has not finished, perhaps one that no longer writes */
    bool in_step;
    bool is_stream;                 /* not to a file */
    bool as_commands;               /* SNAPSHOT_COMMANDS */
    bool is_overrun;                /* too much is unwritten: incremental_step ends the snapshot */
    struct snapshot_thread *thread; /* since the first snapshot */
    struct snapshot_job *job;
    struct snapshot_chunk *filling;
    struct rdb_writer writer; /* writes into chunks; valid until the iterators finish */
    struct incremental_iterator *iterators;
    int iterator_count;
    int next_iterator; /* the iterators before it have finished */
    int database;      /* number of the database selected last in the file, or -1 */
    /* In clock_ticks: when the last slice ended, and when the current one must end. */
    uint64_t slice_end;
    uint64_t deadline;
    uint64_t deferred; /* bytes added to chunks without the writer */
    uint64_t checked;  /* bytes copied, deferred ones included, when the clock was last read */
    int64_t begin_us;  /* monotonic */
    void (*ended)(struct engine *engine, const struct incremental_end *end);
    struct incremental_stats stats; /* of the current snapshot, or of the last one */
    size_t shared;                  /* number of captured values */
    size_t left_bytes;              /* bytes that only the captures need */
    size_t kept_bytes;              /* of flushed keyspaces that iterators own: estimated */
};

/* Returns what the snapshot that is being written, or awaited, is for; BACKGROUND_NONE if there is
 * none. At most one exists at a time. O(1). */
enum background_purpose incremental_purpose(const struct engine *engine);
bool incremental_is_busy(const struct engine *engine);

/* Returns whether a stopped snapshot holds nothing any more: neither iterators, which end within a
 * second, nor captures, which the thread returns when the disk has taken the chunk that it is
 * writing. Only then may the next one begin. O(1). */
bool incremental_is_released(const struct engine *engine);

/* The same after up to a slice of the iterators' work, and up to 2 ms of waiting for the thread.
 * Must not be called while a snapshot is being written. */
bool incremental_try_release(struct engine *engine);

/* Begins a snapshot of the current data, when incremental_is_released and no other one is being
 * written. Returns false with errno set, and logs why, when no thread can be created. O(databases +
 * code of functions). */
bool incremental_begin(struct engine *engine, const struct incremental_order *order);

/* Copies one slice, if a snapshot is running. Call once per loop iteration. Returns true when more
 * can be copied at once. */
bool incremental_step(struct engine *engine);

/* Stops the snapshot, if it has this purpose. Calls `ended` before it returns; forgets, without
 * that, one that is awaited. Unless the file has its final name already, it never gets it. The
 * thread removes what is unfinished; a complete file without a final name is the caller's to
 * remove. */
void incremental_stop(struct engine *engine, enum background_purpose purpose);

/* Deletes every key of the keyspace. Frees them at once; in another thread if `in_pool`; or later
 * if an iterator still needs them. Captured values go over to their captures. Returns true when
 * lazyfree will report with `number` that they are free. Returns false if `number` is 0, if they
 * are free already, or if an iterator needs them: it waits for the disk, and no client should. */
bool incremental_flush_keyspace(struct engine *engine, struct keyspace *keyspace, bool in_pool,
                                uint64_t number);

/* Returns the bytes of unwritten chunks, including the one that is being filled. */
size_t incremental_pending(struct engine *engine);

/* Returns the bytes that become free once the thread has written what the snapshot still needs:
 * chunks, the old versions of changed large values, and deleted data. For keyspaces this is an
 * estimate. O(1). */
size_t incremental_leaving_bytes(struct engine *engine);

/* Stops the snapshot and waits for the thread. Call when the server ends, before net_free. */
void incremental_end_all(struct engine *engine);

#endif
