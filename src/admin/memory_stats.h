/* memory_stats: how memory is used, read once for INFO and MEMORY. */
#ifndef PACKLIST_ADMIN_MEMORY_STATS_H
#define PACKLIST_ADMIN_MEMORY_STATS_H

#include "base/memory/alloc.h"

#include <stddef.h>

struct engine;

/* All in bytes, except for the numbers. */
struct memory_stats {
    size_t used;     /* in live allocations */
    size_t peak;     /* the most that was ever in use */
    size_t startup;  /* in use before there was any data */
    size_t grown;    /* used - startup */
    size_t resident; /* physical memory of the process; 0 if unknown */
    size_t sessions; /* all clients */
    size_t aof_buffer;
    size_t replication; /* the stream of changes, and data that is sent to replicas */
    size_t replicas;    /* of this, what only replicas need that are behind */
    size_t uncounted;   /* output that does not count toward maxmemory */
    size_t full_sync;   /* of a replica: what has come of a payload and is not used yet */
    size_t tables;      /* of keys, in all databases */
    size_t overhead;    /* everything except keys and values */
    size_t dataset;     /* keys and values */
    size_t keys;        /* number of keys */
    size_t gaps;        /* places for small blocks, in pages in use, that hold none */
    struct mem_stats stats;
};

/* Reads them all, and records a new peak. O(clients), some tens of microseconds. */
struct memory_stats memory_stats_read(struct engine *engine);

/* Returns how much more memory than the blocks themselves they take with the gaps between them: 1
 * without gaps, 0 when there are no statistics. */
static inline double memory_gap_ratio(const struct memory_stats *memory) {
    size_t allocated = memory->stats.allocated;
    return allocated ? (double)(allocated + memory->gaps) / (double)allocated : 0;
}

/* The memory that all clients take, and the largest input and output of one. client_stats_read is
 * O(clients). */
struct client_stats {
    size_t allocated;
    size_t largest_input;
    size_t largest_output;
};

struct client_stats client_stats_read(struct engine *engine);

/* Return part / whole, 0 when whole is 0; and a - b, which may be negative. */
static inline double memory_ratio(size_t part, size_t whole) {
    return whole ? (double)part / (double)whole : 0;
}

static inline long long memory_difference(size_t a, size_t b) {
    return (long long)a - (long long)b;
}

#endif
