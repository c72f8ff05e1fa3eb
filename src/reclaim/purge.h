/* purge: gives pages of memory that hold nothing back to the system at once. The allocator keeps
 * them for ten seconds otherwise, as they are often needed again. */
#ifndef PACKLIST_RECLAIM_PURGE_H
#define PACKLIST_RECLAIM_PURGE_H

#include <stdbool.h>
#include <stdint.h>

struct net;

/* All zero at first. */
struct purge {
    bool is_running;  /* a thread of the pool works on it */
    int64_t begun_us; /* when the last one began, monotonic */
};

/* Begins a purge on a thread of the pool, unless one is under way or began less than a second ago.
 * Some tens of microseconds. Returns whether it has begun one. */
bool purge_begin(struct purge *purge, struct net *net);

#endif
