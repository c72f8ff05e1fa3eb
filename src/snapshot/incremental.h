/* slices: a snapshot without a second process: the loop copies the data out bit by bit, and each
 * key before its first change; a thread compresses, checks and writes it (snapshot_thread.h).
 *
 *      loop     walk: up to 300 us of each turn ──┐
 *               before a key changes or goes ─────┴─ chunks ─ thread: LZF, CRC-64, write … rename
 *
 *      begin ── iterating ── writing ── ended(ok, or an error)
 *                  └─ stop, or the thread has failed: ended(…); what is left of the walks goes on
 *                     without a trace, as each must be brought to its end
 *
 * What is written is the data at the moment of incremental_begin, key by key; only the order of the
 * keys is chance, and a database may be selected several times.
 *
 * Memory: the walk never waits for the disk, it pauses while ITERATOR_PENDING_MAX bytes of chunks
 * are not written. A key that is about to change cannot pause: only if more is not written than
 * FORCED_PENDING_MAX bytes and an eighth of the memory in use, the command waits for the thread.
 * Nothing large is copied: large values are captured (types/value_capture.h), so they cost what
 * changes of them. Keys that are deleted meanwhile stay in memory where they are still needed: a
 * captured value until the thread has written it, an emptied database until it was walked over. */
#ifndef PACKLIST_SNAPSHOT_INCREMENTAL_H
#define PACKLIST_SNAPSHOT_INCREMENTAL_H

#include "snapshot/child.h"
#include "snapshot/snapshot_thread.h"
#include "store/keyspace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;

struct incremental_end {
    int error; /* 0: it is on the disk */
    enum snapshot_step step;
    bool was_stopped;
    const char *temporary; /* the path; lives as long as the callback */
    int64_t seconds;
    size_t memory_peak;
};

struct incremental_order {
    enum child_purpose purpose;
    const char *temporary; /* paths; they are made absolute */
    const char *name;      /* or NULL: it keeps the other one */
    bool incremental;
    bool aof_base;
    void (*ended)(struct engine *engine, const struct incremental_end *end);
};

struct incremental_stats {
    uint64_t keys_done;
    uint64_t keys_early; /* of them: before a change */
    uint64_t keys_total; /* when it began */
    size_t memory_peak;
    size_t left_bytes; /* that only captures still needed */
    uint64_t longest_slice_us;
};

struct incremental_iterator;

/* One that was flushed, and is still needed. */
struct incremental_keyspace {
    struct keyspace *keyspace;
    size_t bytes;    /* estimated */
    uint64_t number; /* for lazyfree_keyspace */
};

struct incremental {
    enum child_purpose purpose; /* CHILD_NONE: nothing is being written */
    bool iterating;             /* some walk is not over, be it without a trace */
    bool in_slice;
    struct snapshot_job *job;
    struct snapshot_chunk *filling;
    struct rdb_writer writer; /* into chunks, from begin to the end of the walks */
    struct incremental_iterator *iterators;
    int iterator_count;
    int next_iterator;      /* those before it are over */
    int database;           /* whose keys come last in the file, or -1 */
    uint64_t iteration_end; /* clock_ticks when the last slice ended, and when this one is to end */
    uint64_t deadline;
    uint64_t deferred; /* bytes that were copied past the writer */
    uint64_t checked;  /* what was copied by it and past it when the time was last looked at */
    int64_t begin_ms;
    int64_t begin_us; /* monotonic */
    void (*ended)(struct engine *engine, const struct incremental_end *end);
    struct incremental_stats stats; /* of the one that runs, or of the last */
    size_t shared;                  /* values that are captured */
    size_t left_bytes;              /* that only the captures need */
    struct entry **entries;         /* deleted, with values that were captured */
    size_t entry_count;
    size_t entry_capacity;
    struct incremental_keyspace *keyspaces; /* the same; some keys may have such values */
    size_t keyspace_count;
    size_t keyspace_capacity;
    size_t kept_bytes; /* of those entries and keyspaces, and of those that walks have adopted */
};

/* Begins to write what the data is now. False, and the log says why, when there can be no thread,
 * or when the walks of one that was stopped a moment ago are not over, nor would be within a slice:
 * a child may write it. Not while there is one, or a child. O(databases), and up to a slice. */
bool incremental_begin(struct engine *engine, const struct incremental_order *order);

/* Goes on for a stretch, once each turn of the loop; true when there is more to do at once. */
bool incremental_step(struct engine *engine);

/* Ends it, if its purpose is this one: `ended` is called now, the file will never get its name, and
 * is removed by and by. */
void incremental_stop(struct engine *engine, enum child_purpose purpose);

/* Deletes every key of the keyspace. They are freed at once, or, if `in_pool` or where a snapshot
 * still needs them, later. True when lazyfree will report, with `number`, that they are free (0: it
 * will not). It does not report it where the thread may still read keys, also for a snapshot that
 * was stopped: the disk decides when they are free, and no client should wait for the disk. */
bool incremental_flush(struct engine *engine, struct keyspace *keyspace, bool in_pool,
                       uint64_t number);

/* Takes over an entry of no keyspace, if the snapshot has captured its value, so that no other
 * thread may free it now, and if it is too much work for the loop's thread. O(1). */
bool incremental_keep_entry(struct engine *engine, struct entry *entry);

/* Bytes of chunks that wait for the disk, and of the one that is being filled. */
size_t incremental_pending(struct engine *engine);

/* Bytes that are free as soon as the disk has what the snapshot still needs of them: chunks, what
 * has changed of lists and large strings since, and what is gone from the data. Of keyspaces it is
 * an estimate. O(1). */
size_t incremental_leaving_bytes(struct engine *engine);

/* The server ends, before net_free: stops, and waits for the thread. */
void incremental_end_all(struct engine *engine);

#endif
