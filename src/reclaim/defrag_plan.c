#include "reclaim/defrag_plan.h"

#include "base/memory/relocate.h"

enum {
    ENOUGH_PERCENT = 10, /* of what was unused: another pass follows where so much has changed */
    /* By so many percent the pages exceed maxmemory when a pass begins, and when it may take all of
     * its time. */
    EXCESS_LOWER = 3,
    EXCESS_UPPER = 5,
    MOST_AT_LIMIT = 75 /* percent of the time, with maxmemory-rss */
};

/* Returns a value from `least` to `most`, as `share` lies between two thresholds. */
static int64_t interpolate(int64_t least, int64_t most, int64_t share, int64_t lower,
                           int64_t upper) {
    if (share >= upper || most <= least) return most;
    if (share <= lower) return least;
    return least + (most - least) * (share - lower) / (upper - lower);
}

/* Returns the bytes by which the pages exceed maxmemory and which moving could give back. */
static size_t excess_of(const struct defrag_limits *limits, const struct relocate_survey *survey) {
    size_t max = limits->max_memory;
    size_t excess = max && survey->active > max ? survey->active - max : 0;
    return excess < survey->unused ? excess : survey->unused;
}

/* Returns the percentage of the time that a pass may take where the pages exceed maxmemory by
 * `excess` bytes. With maxmemory-rss, keys are evicted if it takes too long. */
static int64_t percent_of_excess(const struct defrag_limits *limits, size_t excess) {
    int64_t least = limits->cycle_min, most = limits->cycle_max;
    int64_t share = (int64_t)(excess * 100 / limits->max_memory);
    if (!limits->limits_pages) return interpolate(least, most, share, EXCESS_LOWER, EXCESS_UPPER);
    return interpolate(most, MOST_AT_LIMIT, share, 0, EXCESS_UPPER);
}

int64_t defrag_plan_percent(const struct defrag_limits *limits,
                            const struct relocate_survey *survey) {
    int64_t share = survey->allocated ? (int64_t)(survey->unused * 100 / survey->allocated) : 0;
    size_t excess = excess_of(limits, survey);
    int64_t percent = interpolate(limits->cycle_min, limits->cycle_max, share,
                                  limits->threshold_lower, limits->threshold_upper);
    int64_t of_excess = excess ? percent_of_excess(limits, excess) : 0;
    return percent > of_excess ? percent : of_excess;
}

void defrag_plan_begin(struct defrag_plan *plan, uint64_t moved_bytes) {
    plan->is_running = true;
    plan->unused_at_begin = plan->unused;
    plan->moved_at_begin = moved_bytes;
}

void defrag_plan_end(struct defrag_plan *plan) {
    plan->is_running = false;
}

/* Decides what the pass that has ended means for the next one, now that this much is unused. While
 * clients write, as much may have become unused meanwhile as the pass has gained; but where it
 * could not gain anything it has moved hardly anything either. */
static void judge_pass(struct defrag_plan *plan, size_t unused, uint64_t moved_bytes) {
    size_t before = plan->unused_at_begin;
    size_t gained = before > unused ? before - unused : 0;
    size_t change = before > unused ? gained : unused - before;
    size_t moved = (size_t)(moved_bytes - plan->moved_at_begin);
    plan->is_to_go_on = change * 100 >= before * ENOUGH_PERCENT;
    plan->has_moved = (gained + moved) * 100 >= before * ENOUGH_PERCENT;
    plan->rest = unused;
    plan->unused_at_begin = 0;
}

bool defrag_plan_is_unjudged(const struct defrag_plan *plan) {
    return !plan->is_running && plan->unused_at_begin > 0;
}

void defrag_plan_learn(struct defrag_plan *plan, const struct relocate_survey *survey,
                       uint64_t moved_bytes) {
    plan->unused = survey->unused;
    if (defrag_plan_is_unjudged(plan)) judge_pass(plan, survey->unused, moved_bytes);
    if (survey->unused < plan->rest) plan->rest = survey->unused;
}

static bool is_pass_wanted(const struct defrag_plan *plan, const struct defrag_limits *limits,
                           const struct relocate_survey *survey) {
    size_t lower = survey->allocated * (size_t)limits->threshold_lower / 100;
    size_t ignored = limits->ignore_bytes;
    size_t more = plan->rest / 4 < ignored ? plan->rest / 4 : ignored;
    size_t least_excess = limits->max_memory / 100 * EXCESS_LOWER;
    if (least_excess > 0 && excess_of(limits, survey) >= least_excess)
        return plan->has_moved || survey->unused >= plan->rest + least_excess;
    if (plan->is_to_go_on) return survey->unused >= lower / 4;
    return survey->unused >= lower && survey->unused >= ignored &&
           survey->unused >= plan->rest + more;
}

bool defrag_plan_next(struct defrag_plan *plan, const struct defrag_limits *limits,
                      const struct relocate_survey *survey) {
    if (is_pass_wanted(plan, limits, survey)) return true;
    plan->is_to_go_on = plan->has_moved = false;
    return false;
}

size_t defrag_plan_movable(const struct defrag_plan *plan) {
    size_t rest = plan->has_moved ? 0 : plan->rest;
    return plan->unused > rest ? plan->unused - rest : 0;
}
