/* rss_limit: how much may be in use so that the pages of memory stay within maxmemory
 * (maxmemory-rss).
 *
 * Blocks lie in pages with gaps between them, and unused pages stay with the process for a while:
 *
 *      │ used                      │ gaps         │ idle pages │
 *      └───────────── active ─────────────────────┘            │
 *      └───────────────────────── resident ────────────────────┘
 *
 * Where active pages exceed maxmemory, each measure is tried before the next one:
 *
 *      purge    idle pages go back to the system, also where only these are too many
 *      move     blocks move together (reclaim/defrag.h), so that gaps become idle pages
 *      free     `allowed`, which evict.c compares with what is used, sinks below that: keys are
 *               evicted, or writes are refused; never below half of maxmemory
 */
#ifndef PACKLIST_RECLAIM_RSS_LIMIT_H
#define PACKLIST_RECLAIM_RSS_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;

enum rss_state {
    RSS_FITS,  /* the pages are within maxmemory */
    RSS_MOVES, /* blocks move, or are about to */
    RSS_FREES, /* less is allowed than was used */
    RSS_HOLDS  /* freeing has brought nothing back: what is in use may not grow */
};

/* Zeroed at first, with `allowed` set to maxmemory. */
struct rss_limit {
    size_t allowed; /* bytes that may be in use */
    size_t lowered; /* by which it was last below what was in use; 0: not since pages fitted */
    size_t active_before; /* active pages when that was */
    enum rss_state state;
    int64_t measured_us; /* monotonic */
    uint64_t purges;     /* that it has begun */
};

/* What is measured, in bytes. Memory that does not count is in none of the first two. */
struct rss_figures {
    size_t used;    /* in live blocks */
    size_t active;  /* in pages that hold such */
    size_t idle;    /* in pages that hold none */
    size_t max;     /* maxmemory, not 0 */
    size_t movable; /* gaps that moving may close; 0: it is off, or the last pass gained little */
    bool is_moving; /* a pass is under way */
};

struct rss_measures {
    bool purges; /* unused pages are to be returned */
    bool moves;  /* a pass is to begin */
};

/* Decides by what was measured: sets `allowed` and the state. O(1). */
struct rss_measures rss_limit_decide(struct rss_limit *limit, const struct rss_figures *figures);

/* Begins anew with this maxmemory. */
void rss_limit_reset(struct rss_limit *limit, size_t max);

/* Measures, decides and acts; not more often than every two milliseconds unless `now`. `uncounted`
 * are the bytes that do not count for maxmemory. Call before whatever may need memory. Some tens of
 * nanoseconds if nothing is due, some tens of microseconds otherwise. */
void rss_limit_follow(struct engine *engine, struct rss_limit *limit, size_t uncounted, bool now);

/* "fits", "moves", "frees" or "holds". */
const char *rss_state_name(enum rss_state state);

#endif
