/* rss_limit: how much may be in use so that the pages of memory stay within maxmemory
 * (maxmemory-rss).
 *
 * Blocks lie in pages with gaps between them, and unused pages stay with the process for a while:
 *
 *      │ used                      │ gaps         │ idle pages │
 *      └───────────── active ─────────────────────┘            │
 *      └───────────────────────── resident ────────────────────┘
 *
 * What is used and active is measured every few milliseconds, as that costs some microseconds. In
 * between, each byte that is used in addition counts as one more of active pages: `allowed` is what
 * may be used until then. It is compared where maxmemory is compared otherwise.
 *
 * Where the pages exceed maxmemory, each measure is tried before the next one:
 *
 *      purge    idle pages go back to the system. This alone is done where only these are too many
 *      move     blocks move together (reclaim/defrag.h), so that gaps become idle pages; no more
 *               memory may be used meanwhile
 *      free     less may be used: keys are evicted, or writes are refused. By as many bytes as
 *               the pages exceed maxmemory, and not again before that has brought something back
 *
 * Freeing scattered blocks leaves gaps, and may bring nothing back. So that it never takes all keys
 * away, half of maxmemory may always be used. */
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

/* Begins anew with maxmemory, or after maxmemory-rss was changed. */
void rss_limit_reset(struct engine *engine);

/* Measures, decides and acts; not more often than every two milliseconds unless `now`. `uncounted`
 * are the bytes that do not count for maxmemory. Some tens of nanoseconds if nothing is due, some
 * tens of microseconds otherwise. To be called before whatever may need memory: values may have
 * been deleted since the last call, and what takes their place then takes other pages. */
void rss_limit_follow(struct engine *engine, size_t uncounted, bool now);

/* "fits", "moves", "frees" or "holds". */
const char *rss_state_name(enum rss_state state);

#endif
