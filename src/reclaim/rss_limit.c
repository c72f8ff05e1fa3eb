/* Freeing scattered blocks leaves gaps between the others, and may bring no page back. So it is not
 * repeated before it has, and half of maxmemory may always be used. */
#include "reclaim/rss_limit.h"

#include "base/clock.h"
#include "base/memory/alloc.h"
#include "engine/engine.h"
#include "reclaim/defrag.h"

enum { MEASURE_EVERY_US = 2000 };

/* Parts of maxmemory: one that is not worth a purge or a pass; one that is too much to wait until a
 * pass has ended; and one by which clients may exceed what is allowed while keys are evicted for
 * them. A part of what was freed: pages that shrink by less have not followed it. */
enum { SMALL = 64, MUCH = 16, NEAR = 1024, GAIN_LEAST = 4 };

static size_t less(size_t a, size_t b) {
    return a > b ? a - b : 0;
}

static size_t lower_of(size_t a, size_t b) {
    return a < b ? a : b;
}

/* --- The decision --- */

/* Returns whether what was freed last has brought nothing back. Once the pages have grown by more
 * than a little since, it is worth another attempt. */
static bool was_in_vain(const struct rss_limit *limit, const struct rss_figures *figures) {
    size_t gained = less(limit->active_before, figures->active);
    size_t grown = less(figures->active, limit->active_before);
    return limit->lowered > 0 && gained < limit->lowered / GAIN_LEAST &&
           grown < figures->max / SMALL;
}

/* Lowers what may be used by `excess`, once all that was to be freed before is free. */
static enum rss_state lower(struct rss_limit *limit, const struct rss_figures *figures,
                            size_t excess) {
    size_t least = figures->max / 2;
    if (figures->used > limit->allowed + figures->max / NEAR) return RSS_FREES;
    if (figures->used <= least || was_in_vain(limit, figures)) return RSS_HOLDS;
    limit->lowered = lower_of(excess, figures->used - least);
    limit->active_before = figures->active;
    limit->allowed -= lower_of(limit->lowered, limit->allowed - least);
    return RSS_FREES;
}

struct rss_measures rss_limit_decide(struct rss_limit *limit, const struct rss_figures *figures) {
    size_t max = figures->max, excess = less(figures->active, max);
    struct rss_measures measures = {.purges = figures->active + figures->idle > max &&
                                              figures->idle >= max / SMALL};
    if (excess == 0) {
        limit->allowed = lower_of(figures->used + (max - figures->active), max);
        limit->lowered = 0;
        limit->state = RSS_FITS;
        return measures;
    }
    limit->allowed = lower_of(limit->allowed, figures->used);
    if (limit->allowed < max / 2) limit->allowed = max / 2;
    measures.moves =
        !figures->is_moving && figures->movable >= excess / 2 && figures->movable >= max / SMALL;
    limit->state = RSS_MOVES;
    if ((!figures->is_moving && !measures.moves) || excess >= max / MUCH)
        limit->state = lower(limit, figures, excess);
    return measures;
}

const char *rss_state_name(enum rss_state state) {
    static const char *const names[] = {"fits", "moves", "frees", "holds"};
    return names[state];
}

/* --- Measuring and acting --- */

void rss_limit_follow(struct engine *engine, struct rss_limit *limit, size_t uncounted, bool now) {
    int64_t now_us = clock_monotonic_us();
    if (!now && now_us - limit->measured_us < MEASURE_EVERY_US) return;
    limit->measured_us = now_us;
    struct mem_stats stats;
    mem_stats_read(&stats);
    size_t max = (size_t)engine->config.maxmemory, active = less(stats.active, uncounted);
    struct rss_figures figures = {
        .used = less(mem_used(), uncounted),
        .active = active,
        .idle = less(stats.resident, stats.active + stats.metadata),
        .max = max,
        .movable = active > max ? defrag_movable(engine) : 0,
        .is_moving = engine->defrag->plan.is_running,
    };
    struct rss_measures measures = rss_limit_decide(limit, &figures);
    if (measures.purges && defrag_purge(engine)) limit->purges++;
    if (measures.moves) defrag_begin(engine);
}

void rss_limit_reset(struct rss_limit *limit, size_t max) {
    limit->allowed = max;
    limit->lowered = 0;
    limit->state = RSS_FITS;
}
