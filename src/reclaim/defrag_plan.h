/* defrag_plan: when a pass of moving blocks together begins, and how much of the time it may take.
 *
 *      survey    how much is unused now?  ──→  share of the time:  grows with the unused share, and
 *                                                                  with what the pages exceed
 *                                         ──→  wanted:  much is unused, and more than the last
 *                                                       pass has left
 *
 * A page is returned when its last block has left it, so much is gained only near the end of a
 * pass, and each pass runs to its end. Another one follows as long as the last one has gained
 * enough, or so much has become unused meanwhile, and at least a quarter of the lower threshold is
 * unused. After that there is none until a quarter more is unused, or as many bytes more as
 * active-defrag-ignore-bytes.
 *
 * Where the pages exceed maxmemory by some percent, passes begin whatever is unused, and get more
 * of the time. Nothing here moves memory or asks the allocator. */
#ifndef PACKLIST_RECLAIM_DEFRAG_PLAN_H
#define PACKLIST_RECLAIM_DEFRAG_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct relocate_survey; /* base/memory/relocate.h */

/* What is configured. */
struct defrag_limits {
    int64_t cycle_min; /* percentages of the time */
    int64_t cycle_max;
    int64_t threshold_lower; /* unused bytes, as percentages of the allocated ones */
    int64_t threshold_upper;
    size_t ignore_bytes;
    size_t max_memory; /* 0: no limit */
    bool limits_pages; /* the limit is one of pages: maxmemory-rss */
};

/* What earlier passes have brought. All zero at first. */
struct defrag_plan {
    bool is_running;         /* a pass is under way */
    size_t unused;           /* by the last survey */
    size_t unused_at_begin;  /* of a pass that was not judged yet; 0: there is none */
    uint64_t moved_at_begin; /* bytes that were moved before this pass */
    bool is_to_go_on;        /* another pass is to follow the last one */
    bool has_moved;          /* the last pass has gained, or at least moved, much */
    size_t rest;             /* unused bytes that the last pass has left; 0 before the first */
};

/* Returns the percentage of the time that a pass may take. O(1). */
int64_t defrag_plan_percent(const struct defrag_limits *limits,
                            const struct relocate_survey *survey);

/* A pass begins, or ends. `moved_bytes` counts all that was ever moved, here and below. O(1). */
void defrag_plan_begin(struct defrag_plan *plan, uint64_t moved_bytes);
void defrag_plan_end(struct defrag_plan *plan);

/* Takes in a survey; the first one after a pass has ended judges that pass. O(1). */
void defrag_plan_learn(struct defrag_plan *plan, const struct relocate_survey *survey,
                       uint64_t moved_bytes);

/* Returns whether a pass has ended since the last survey. O(1). */
bool defrag_plan_is_unjudged(const struct defrag_plan *plan);

/* Returns whether a pass should begin: the next one of a series, or the first. If not, a series has
 * ended. O(1). */
bool defrag_plan_next(struct defrag_plan *plan, const struct defrag_limits *limits,
                      const struct relocate_survey *survey);

/* Returns the unused bytes that another pass might give back: 0 where the last one has gained
 * little, and hardly more has become unused since. O(1). */
size_t defrag_plan_movable(const struct defrag_plan *plan);

#endif
