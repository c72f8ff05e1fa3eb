/* A pass visits the slow log and its siblings, whose few entries would keep many pages, then one
 * database after the other; in each the table of its keys, then those of what expires. Cursors are
 * as those of SCAN, so keys may come and go, and databases be flushed or swapped between two steps.
 * Values that do not end within their step are remembered by their keys, and finished before other
 * keys are visited. So a pass has no pointer into a keyspace between two steps.
 *
 * A step takes active-defrag-cycle-us. The pause after it is so long that steps take `percent` of
 * the time, counted as processor time, because other programs may interrupt a step: as in Redis,
 * this is interpolated between active-defrag-cycle-min and -max where the unused share is between
 * the two thresholds, and does not fall within a pass. The same holds where the pages exceed
 * maxmemory by some percent, whatever is unused: an instance at its limit keeps no pages for long
 * that it does not need. With maxmemory-rss, rss_limit begins passes, too, and they may take more
 * of the time.
 *
 * A page is returned when its last block has left it, so much is gained only near the end of a
 * pass, and each pass runs to its end. Another one follows as long as the last one has gained
 * enough, or so much has become unused meanwhile, and at least a quarter of the lower threshold is
 * unused. After that there is none until a quarter more is unused, or as many bytes more as
 * active-defrag-ignore-bytes. */
#include "reclaim/defrag.h"

#include "base/alloc.h"
#include "base/checked.h"
#include "engine/engine.h"
#include "engine/slow.h"
#include "net/net.h"
#include "stats/slowlog.h"
#include "store/keyspace.h"
#include "types/value.h"

enum {
    SURVEY_EVERY_MS = 1000,
    SURVEY_IN_PASS_MS = 100,  /* which sizes are worth moving changes fast */
    SURVEY_AT_LIMIT_MS = 100, /* while the pages exceed maxmemory, with maxmemory-rss */
    MADE_UP = 10,             /* steps that follow each other after a delay, at most */
    WAIT_MS = 100,            /* until a snapshot has ended */
    ENOUGH_PERCENT = 10, /* of what was unused: another pass follows where so much has changed */
    /* By so many percent the pages exceed maxmemory when a pass begins, and when it may take all of
     * its time. */
    EXCESS_LOWER = 3,
    EXCESS_UPPER = 5,
    MOST_AT_LIMIT = 75 /* percent of the time, with maxmemory-rss */
};

/* Builds that check everything move all memory all the time: the tests then find whatever still
 * refers to a block that may move. */
#if defined(PACKLIST_CHECKED) && defined(PACKLIST_LIBC_MALLOC)
enum { ALWAYS = true, BLOCKS_A_STEP = 64, ALWAYS_PAUSE_MS = 5 };
#else
enum { ALWAYS = false, BLOCKS_A_STEP = 0, ALWAYS_PAUSE_MS = 0 };
#endif

static void on_timer(void *arg);

void defrag_start(struct engine *engine) {
    struct defrag *defrag = engine->defrag;
    defrag->is_supported = relocator_init(&defrag->relocator);
    if (ALWAYS) {
        relocator_init_for_tests(&defrag->relocator, BLOCKS_A_STEP);
        defrag->is_supported = true;
    }
    defrag->timer = net_timer_new(engine->net, on_timer, engine);
}

static void forget_unfinished(struct defrag *defrag) {
    while (defrag->unfinished_count > 0)
        sds_free(defrag->unfinished[--defrag->unfinished_count].key);
}

void defrag_stop(struct engine *engine) {
    forget_unfinished(engine->defrag);
    mem_free(engine->defrag->unfinished);
    net_timer_free(engine->defrag->timer);
}

int64_t defrag_running_percent(const struct engine *engine) {
    return engine->defrag->is_running ? engine->defrag->percent : 0;
}

int64_t defrag_current_ms(const struct engine *engine) {
    const struct defrag *defrag = engine->defrag;
    return defrag->is_running ? engine->steady_ms - defrag->begun_ms : 0;
}

int64_t defrag_total_ms(const struct engine *engine) {
    return engine->defrag->total_ms + defrag_current_ms(engine);
}

/* --- Visiting --- */

static void remember_unfinished(struct defrag *defrag, struct slice key,
                                struct relocate_cursor cursor) {
    MEM_RESERVE(defrag->unfinished, defrag->unfinished_capacity, defrag->unfinished_count + 1);
    defrag->unfinished[defrag->unfinished_count++] =
        (struct defrag_value){.key = sds_new(key), .cursor = cursor};
}

static void count_key(struct defrag *defrag, uint64_t moved_before) {
    if (defrag->relocator.moved > moved_before)
        defrag->keys_moved++;
    else
        defrag->keys_stayed++;
}

/* Moves an entry and its value; a large collection is left for later. */
static struct entry *move_entry(struct entry *entry, void *arg) {
    struct engine *engine = arg;
    struct defrag *defrag = engine->defrag;
    uint64_t moved = defrag->relocator.moved;
    entry = entry_relocate(entry, value_size(entry), &defrag->relocator);
    if (entry_is_out_of_line(entry)) {
        struct relocate_cursor cursor = {0};
        bool is_large = value_length(entry) > (uint64_t)engine->config.defrag_max_scan_fields &&
                        entry_type(entry) != VALUE_STRING;
        if (!is_large) value_relocate(entry, &defrag->relocator, &cursor);
        if (is_large || !relocate_is_done(&cursor))
            remember_unfinished(defrag, entry_key(entry), cursor);
    }
    count_key(defrag, moved);
    return entry;
}

/* Goes on with the value that was remembered last. */
static void visit_unfinished(struct engine *engine, struct keyspace *keyspace) {
    struct defrag *defrag = engine->defrag;
    struct defrag_value *value = &defrag->unfinished[defrag->unfinished_count - 1];
    struct keyref ref = keyspace_find(keyspace, sds_slice(value->key));
    if (ref.entry) {
        value_relocate(ref.entry, &defrag->relocator, &value->cursor);
        if (!relocate_is_done(&value->cursor)) return;
    }
    sds_free(value->key);
    defrag->unfinished_count--;
}

static uint64_t visit_bucket(struct engine *engine, struct keyspace *keyspace) {
    struct defrag *defrag = engine->defrag;
    if (defrag->table == 0)
        return keyspace_relocate(keyspace, defrag->cursor, &defrag->relocator, move_entry, engine);
    return keyspace_relocate_expiring(keyspace, (enum keyspace_expiring)(defrag->table - 1),
                                      defrag->cursor, &defrag->relocator);
}

static void visit_slowlog(struct engine *engine) {
    struct defrag *defrag = engine->defrag;
    struct slowlog *log = &engine->slowlogs[defrag->slowlog];
    if (slowlog_relocate(log, &defrag->relocator)) defrag->slowlog++;
}

/* Visits a few keys, or a part of a value or of a log. Returns false at the end of the pass. */
static bool visit_some(struct engine *engine) {
    struct defrag *defrag = engine->defrag;
    struct keyspace *keyspace = engine->keyspaces[defrag->database];
    if (defrag->slowlog < SLOWLOG_KINDS) {
        visit_slowlog(engine);
        return true;
    }
    if (defrag->unfinished_count > 0) {
        visit_unfinished(engine, keyspace);
        return true;
    }
    defrag->cursor = visit_bucket(engine, keyspace);
    if (defrag->cursor != 0) return true;
    if (++defrag->table <= EXPIRING_TABLES) return true;
    defrag->table = 0;
    return ++defrag->database < engine->config.databases;
}

/* --- The pass --- */

static void schedule(struct engine *engine, uint64_t ms) {
    net_timer_start(engine->defrag->timer, ms, 0);
}

static void begin_pass(struct engine *engine) {
    struct defrag *defrag = engine->defrag;
    relocator_flush();
    defrag->is_running = true;
    defrag->unused_at_begin = defrag->unused;
    defrag->moved_at_begin = defrag->relocator.moved_bytes;
    defrag->begun_ms = engine->steady_ms;
    defrag->slowlog = 0;
    defrag->counted_us = clock_monotonic_us();
    defrag->left_us = 0;
    defrag->database = 0;
    defrag->table = 0;
    defrag->cursor = 0;
    schedule(engine, 0);
}

static void end_pass(struct engine *engine) {
    struct defrag *defrag = engine->defrag;
    forget_unfinished(defrag);
    defrag->total_ms += defrag_current_ms(engine);
    defrag->is_running = false;
    relocator_flush();
}

/* Returns a value from `least` to `most`, as `share` lies between two thresholds. */
static int64_t interpolate(int64_t least, int64_t most, int64_t share, int64_t lower,
                           int64_t upper) {
    if (share >= upper || most <= least) return most;
    if (share <= lower) return least;
    return least + (most - least) * (share - lower) / (upper - lower);
}

/* Returns the bytes by which the pages exceed maxmemory and which moving could give back. */
static size_t excess_of(const struct engine *engine, const struct relocate_survey *survey) {
    size_t max = (size_t)engine->config.maxmemory;
    size_t excess = max && survey->active > max ? survey->active - max : 0;
    return excess < survey->unused ? excess : survey->unused;
}

/* Returns the percentage of the time that a pass may take where the pages exceed maxmemory by
 * `excess` bytes. With maxmemory-rss, keys are evicted if it takes too long. */
static int64_t percent_of_excess(const struct config *config, size_t excess) {
    int64_t least = config->defrag_cycle_min, most = config->defrag_cycle_max;
    int64_t share = (int64_t)(excess * 100 / (size_t)config->maxmemory);
    if (!config->maxmemory_rss) return interpolate(least, most, share, EXCESS_LOWER, EXCESS_UPPER);
    return interpolate(most, MOST_AT_LIMIT, share, 0, EXCESS_UPPER);
}

/* Returns the percentage of the time that a pass may take where so much is unused. */
static int64_t wanted_percent(const struct engine *engine, const struct relocate_survey *survey) {
    const struct config *config = &engine->config;
    int64_t share = survey->allocated ? (int64_t)(survey->unused * 100 / survey->allocated) : 0;
    size_t excess = excess_of(engine, survey);
    int64_t percent = interpolate(config->defrag_cycle_min, config->defrag_cycle_max, share,
                                  config->defrag_threshold_lower, config->defrag_threshold_upper);
    int64_t of_excess = excess ? percent_of_excess(config, excess) : 0;
    return percent > of_excess ? percent : of_excess;
}

/* Decides what the pass that has ended means for the next one, now that this much is unused. While
 * clients write, as much may have become unused meanwhile as the pass has gained; but where it
 * could not gain anything it has moved hardly anything either. */
static void judge_pass(struct defrag *defrag, size_t unused) {
    size_t before = defrag->unused_at_begin;
    size_t gained = before > unused ? before - unused : 0;
    size_t change = before > unused ? gained : unused - before;
    size_t moved = (size_t)(defrag->relocator.moved_bytes - defrag->moved_at_begin);
    defrag->is_to_go_on = change * 100 >= before * ENOUGH_PERCENT;
    defrag->has_moved = (gained + moved) * 100 >= before * ENOUGH_PERCENT;
    defrag->rest = unused;
    defrag->unused_at_begin = 0;
}

/* Returns whether a pass has ended that was not judged yet. */
static bool has_just_ended(const struct defrag *defrag) {
    return !defrag->is_running && defrag->unused_at_begin > 0;
}

/* Asks the allocator; judges a pass that has ended since the last time. */
static struct relocate_survey take_survey(struct engine *engine) {
    struct defrag *defrag = engine->defrag;
    struct relocate_survey found = relocator_survey(&defrag->relocator);
    int64_t percent = wanted_percent(engine, &found);
    defrag->surveyed_ms = engine->steady_ms;
    defrag->unused = found.unused;
    if (!defrag->is_running || percent > defrag->percent) defrag->percent = percent;
    if (has_just_ended(defrag)) judge_pass(defrag, found.unused);
    if (found.unused < defrag->rest) defrag->rest = found.unused;
    return found;
}

/* Returns whether a pass should begin: the next one of a series, or the first. */
static bool is_pass_wanted(const struct engine *engine, const struct relocate_survey *survey) {
    const struct defrag *defrag = engine->defrag;
    const struct config *config = &engine->config;
    size_t lower = survey->allocated * (size_t)config->defrag_threshold_lower / 100;
    size_t ignored = (size_t)config->defrag_ignore_bytes;
    size_t more = defrag->rest / 4 < ignored ? defrag->rest / 4 : ignored;
    size_t least_excess = (size_t)config->maxmemory / 100 * EXCESS_LOWER;
    if (least_excess > 0 && excess_of(engine, survey) >= least_excess)
        return defrag->has_moved || survey->unused >= defrag->rest + least_excess;
    if (defrag->is_to_go_on) return survey->unused >= lower / 4;
    return survey->unused >= lower && survey->unused >= ignored &&
           survey->unused >= defrag->rest + more;
}

void defrag_tick(struct engine *engine) {
    struct defrag *defrag = engine->defrag;
    int64_t every_ms = defrag->is_running ? SURVEY_IN_PASS_MS : SURVEY_EVERY_MS;
    if (!engine->config.activedefrag || !defrag->is_supported) return;
    bool is_due = ALWAYS || engine->steady_ms - defrag->surveyed_ms >= every_ms;
    if (!is_due && !has_just_ended(defrag)) return;
    struct relocate_survey found = take_survey(engine);
    if (defrag->is_running) return;
    if (ALWAYS || is_pass_wanted(engine, &found))
        begin_pass(engine);
    else
        defrag->is_to_go_on = defrag->has_moved = false;
}

size_t defrag_movable(struct engine *engine) {
    struct defrag *defrag = engine->defrag;
    if (!engine->config.activedefrag || !defrag->is_supported) return 0;
    bool is_due = engine->steady_ms - defrag->surveyed_ms >= SURVEY_AT_LIMIT_MS;
    if (is_due || has_just_ended(defrag)) take_survey(engine);
    size_t rest = defrag->has_moved ? 0 : defrag->rest;
    return defrag->unused > rest ? defrag->unused - rest : 0;
}

void defrag_begin(struct engine *engine) {
    if (!engine->defrag->is_running && defrag_movable(engine) > 0) begin_pass(engine);
}

bool defrag_configure(struct engine *engine) {
    struct defrag *defrag = engine->defrag;
    if (!engine->config.activedefrag && defrag->is_running) end_pass(engine);
    return !engine->config.activedefrag || defrag->is_supported;
}

/* --- Steps --- */

/* A snapshot shares the memory of large values, and copies what it has not visited: its keyspace
 * rests until it has seen all. */
static bool must_wait(const struct engine *engine) {
    return engine->restrictions & RESTRICTED_LOADING ||
           keyspace_snapshot_iterator(engine->keyspaces[engine->defrag->database]);
}

/* Adds the share of the time since the last step to what the pass may take. What could not be taken
 * because the loop was late is made up for, but not all at once. */
static void add_time(struct engine *engine) {
    struct defrag *defrag = engine->defrag;
    int64_t now_us = clock_monotonic_us(), most_us = MADE_UP * engine->config.defrag_cycle_us;
    defrag->left_us += (now_us - defrag->counted_us) * defrag->percent / 100;
    defrag->counted_us = now_us;
    if (defrag->left_us > most_us) defrag->left_us = most_us;
}

/* Returns the milliseconds until the next step. */
static uint64_t pause_ms(const struct defrag *defrag) {
    if (ALWAYS) return ALWAYS_PAUSE_MS;
    if (defrag->percent == 0) return WAIT_MS;
    return defrag->left_us > 0 ? 0 : (uint64_t)(-defrag->left_us * 100 / defrag->percent) / 1000;
}

static void on_timer(void *arg) {
    struct engine *engine = arg;
    struct defrag *defrag = engine->defrag;
    if (!defrag->is_running) return;
    if (must_wait(engine)) {
        schedule(engine, WAIT_MS);
        return;
    }
    add_time(engine);
    uint64_t begin = slow_begin(engine);
    int64_t start_us = clock_thread_us();
    bool more = true;
    relocator_begin(&defrag->relocator, (uint64_t)engine->config.defrag_cycle_us);
    while ((more = visit_some(engine)) && !relocator_is_due(&defrag->relocator)) {
    }
    defrag->left_us -= clock_thread_us() - start_us;
    slow_end(engine, LATENCY_DEFRAG_CYCLE, begin);
    if (more)
        schedule(engine, pause_ms(defrag));
    else
        end_pass(engine);
}
