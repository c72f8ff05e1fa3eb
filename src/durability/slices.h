/* slices: a snapshot without a second process: the loop copies the data out bit by bit, and everything
 * before its first change; a thread packs, checks and writes it.
 *
 *      loop    walk: 300 us of each turn ──┐
 *              before a change ────────────┴─ chunks ── pool: LZF, CRC-64, write … fsync, rename
 *
 * A chunk holds literal bytes of the file and texts that are still to be packed, each behind a header
 * of 16 bytes. The walk pauses while chunks of FLIGHT_MAX bytes wait for the disk; what must be copied
 * before it changes cannot wait. */
#ifndef PACKLIST_DURABILITY_SLICES_H
#define PACKLIST_DURABILITY_SLICES_H

#include "durability/disk_file.h"
#include "persist/rdb_writer.h"
#include "store/keyspace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slices_chunk;

struct slices_end {
    bool ok;
    bool was_stopped;
    int64_t seconds;
    size_t memory_peak; /* bytes of chunks */
};

struct slices {
    bool running;
    bool stopped;            /* nothing is written any more; the walks are only brought to their end */
    bool walking;            /* some walk is not over */
    bool finishing;          /* the thread closes the file */
    int tid; /* of the thread, while it works and takes only idle time; atomic */
    bool in_flight;          /* the thread works on `sent` */
    int database;            /* whose keys come last in the file, or -1 */
    uint64_t databases_begun[4]; /* bits; TODO more than 256 databases */
    int next_walk;
    struct keyspace_walk *walks;
    int walk_count;
    struct rdb_writer writer; /* of the loop, into chunks */
    struct slices_chunk *filling;
    struct slices_chunk *ready_first, *ready_last;
    struct slices_chunk *sent; /* the thread's while in_flight, with `file`, `out`, `error` */
    struct slices_chunk *spare;
    size_t spare_count;
    size_t memory, memory_peak;
    struct disk_file file;
    struct rdb_writer out;
    int error;
    char temporary[32];
    char name[256];
    uint64_t lists, frozen_bytes, thaw_ticks_max; /* lists that were frozen */
    unsigned lists_waiting; /* in the chunk that is being filled */
    size_t left_bytes;
    uint64_t keys_done, keys_early, keys_total;
    uint64_t slices, slice_ticks, slice_ticks_max, early_ticks_max;
    uint64_t cpu_ns_max; /* processor time of the longest slice */
    uint64_t turn_end; /* clock_ticks when the last slice ended */
    uint64_t deadline; /* of this slice */
    uint64_t checked;  /* offset of the writer when the time was last looked at */
    int64_t begin_ms;
    void (*ended)(const struct slices_end *end);
};

/* Begins to write a snapshot of this moment to `temporary`, to be renamed to `name`. False with errno. */
bool slices_begin(const char *temporary, const char *name, void (*ended)(const struct slices_end *));

/* Goes on for a stretch, once each turn of the loop; true when there is more to do at once. */
bool slices_step(void);

bool slices_is_running(void);

/* Gives it up; `ended` follows. */
void slices_stop(void);

/* A keyspace that nobody else will use any more: it is freed when it has been walked. Must have a
 * walk. */
void slices_adopt(struct keyspace *keyspace);

#endif
