/* memory_stats: what memory is used for: one reading for INFO and MEMORY. */
#ifndef PACKLIST_ADMIN_MEMORY_STATS_H
#define PACKLIST_ADMIN_MEMORY_STATS_H

#include "base/alloc.h"

#include <stddef.h>

struct engine;

/* Bytes, but for the numbers. */
struct memory_stats {
    size_t used;     /* in live allocations */
    size_t peak;     /* the most that was ever in use */
    size_t startup;  /* what was in use before there was any data */
    size_t grown;    /* used beyond that */
    size_t resident; /* physical memory of the process; 0 where it is not known */
    size_t sessions; /* all clients */
    size_t aof_buffer;
    size_t overhead; /* what is not keys and values */
    size_t dataset;  /* what is */
    size_t keys;     /* a number */
    struct mem_stats stats;
};

/* Reads them; notes a new peak. O(clients), some tens of microseconds. */
struct memory_stats memory_stats_read(struct engine *engine);

/* What all clients together take, and the largest input and output among them. O(clients). */
struct client_stats {
    size_t allocated;
    size_t largest_input;
    size_t largest_output;
};

struct client_stats client_stats_read(struct engine *engine);

/* part / whole, 0 for nothing at all; a - b, which may be negative. */
static inline double memory_ratio(size_t part, size_t whole) {
    return whole ? (double)part / (double)whole : 0;
}

static inline long long memory_difference(size_t a, size_t b) {
    return (long long)a - (long long)b;
}

#endif
