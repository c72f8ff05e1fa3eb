/* A pass visits the slow log and its siblings, whose few entries would keep many pages, the table
 * of keys that clients track, and then one database after the other; in each the table of its keys,
 * then those of what expires. Cursors are as those of SCAN, so keys may come and go, and databases
 * be flushed or swapped between two steps. Values that do not end within their step are remembered
 * by their keys, and finished before other keys are visited.
 *
 * What stays where it is: sessions; the tables of waiters, watches and channels, to which sessions
 * refer; and the script cache, whose 500 scripts of EVAL cannot keep many pages.
 *
 * A step takes active-defrag-cycle-us. The pause after it is so long that steps take `percent` of
 * the processor time (defrag_plan.h). As in Redis, that does not fall within a pass. */
#include "reclaim/defrag.h"

#include "base/checked.h"
#include "base/memory/alloc.h"
#include "engine/engine.h"
#include "engine/slow.h"
#include "net/loop/pool.h"
#include "net/net.h"
#include "stats/slowlog.h"
#include "store/keyspace.h"
#include "tracking/tracking.h"
#include "types/value.h"

enum {
    SURVEY_EVERY_MS = 1000,
    PURGE_EVERY_US = 1000000,
    SURVEY_IN_PASS_MS = 100,  /* which sizes are worth moving changes fast */
    SURVEY_AT_LIMIT_MS = 100, /* while the pages exceed maxmemory, with maxmemory-rss */
    MADE_UP = 10,             /* steps that follow each other after a delay, at most */
    WAIT_MS = 100             /* until a snapshot has ended */
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
    return engine->defrag->plan.is_running ? engine->defrag->percent : 0;
}

int64_t defrag_current_ms(const struct engine *engine) {
    const struct defrag *defrag = engine->defrag;
    return defrag->plan.is_running ? engine->steady_ms - defrag->begun_ms : 0;
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
    if (defrag->relocator.moved > moved)
        defrag->keys_moved++;
    else
        defrag->keys_stayed++;
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
    return keyspace_relocate(keyspace, (enum keyspace_keys)defrag->table, defrag->cursor,
                             &defrag->relocator, move_entry, engine);
}

/* Visits a part of what belongs to no database. Returns false when all of it was visited. */
static bool visit_outside(struct engine *engine) {
    struct defrag *defrag = engine->defrag;
    if (defrag->slowlog < SLOWLOG_KINDS) {
        struct slowlog *log = &engine->slowlogs[defrag->slowlog];
        if (slowlog_relocate(log, &defrag->relocator)) defrag->slowlog++;
        return true;
    }
    if (defrag->has_seen_tracked) return false;
    defrag->has_seen_tracked =
        tracking_table_relocate(&engine->tracking->table, &defrag->relocator);
    return true;
}

/* Visits a few keys, or a part of a value. Returns false at the end of the last database. */
static bool visit_databases(struct engine *engine) {
    struct defrag *defrag = engine->defrag;
    struct keyspace *keyspace = engine->keyspaces[defrag->database];
    if (defrag->unfinished_count > 0) {
        visit_unfinished(engine, keyspace);
        return true;
    }
    defrag->cursor = visit_bucket(engine, keyspace);
    if (defrag->cursor != 0) return true;
    if (++defrag->table < KEYSPACE_TABLES) return true;
    defrag->table = 0;
    return ++defrag->database < engine->databases;
}

/* --- The pass --- */

static void schedule(struct engine *engine, uint64_t ms) {
    net_timer_start(engine->defrag->timer, ms, 0);
}

static void begin_pass(struct engine *engine) {
    struct defrag *defrag = engine->defrag;
    relocator_flush();
    defrag_plan_begin(&defrag->plan, defrag->relocator.moved_bytes);
    defrag->begun_ms = engine->steady_ms;
    defrag->slowlog = 0;
    defrag->has_seen_tracked = false;
    defrag->counted_us = clock_monotonic_us();
    defrag->left_us = 0;
    defrag->database = 0;
    defrag->table = 0;
    defrag->cursor = 0;
    schedule(engine, 0);
}

static void purge(void *arg) {
    (void)arg;
    mem_purge();
}

static void note_purged(void *arg) {
    struct defrag *defrag = arg;
    defrag->is_purging = false;
}

/* What this thread keeps of freed blocks goes first: it keeps pages in use. */
bool defrag_purge(struct engine *engine) {
    struct defrag *defrag = engine->defrag;
    int64_t now_us = clock_monotonic_us();
    if (defrag->is_purging || now_us - defrag->purged_us < PURGE_EVERY_US) return false;
    relocator_flush();
    defrag->is_purging = true;
    defrag->purged_us = now_us;
    net_pool_run(engine->net, purge, note_purged, defrag);
    return true;
}

static void end_pass(struct engine *engine) {
    struct defrag *defrag = engine->defrag;
    forget_unfinished(defrag);
    defrag->total_ms += defrag_current_ms(engine);
    defrag_plan_end(&defrag->plan);
    relocator_flush();
    defrag_purge(engine);
}

static struct defrag_limits limits_of(const struct config *config) {
    return (struct defrag_limits){
        .cycle_min = config->defrag_cycle_min,
        .cycle_max = config->defrag_cycle_max,
        .threshold_lower = config->defrag_threshold_lower,
        .threshold_upper = config->defrag_threshold_upper,
        .ignore_bytes = (size_t)config->defrag_ignore_bytes,
        .max_memory = (size_t)config->maxmemory,
        .limits_pages = config->maxmemory_rss,
    };
}

/* Asks the allocator; judges a pass that has ended since the last time. */
static struct relocate_survey take_survey(struct engine *engine) {
    struct defrag *defrag = engine->defrag;
    struct defrag_limits limits = limits_of(&engine->config);
    struct relocate_survey found = relocator_survey(&defrag->relocator);
    int64_t percent = defrag_plan_percent(&limits, &found);
    defrag->surveyed_ms = engine->steady_ms;
    if (!defrag->plan.is_running || percent > defrag->percent) defrag->percent = percent;
    defrag_plan_learn(&defrag->plan, &found, defrag->relocator.moved_bytes);
    return found;
}

void defrag_tick(struct engine *engine) {
    struct defrag *defrag = engine->defrag;
    struct defrag_limits limits = limits_of(&engine->config);
    int64_t every_ms = defrag->plan.is_running ? SURVEY_IN_PASS_MS : SURVEY_EVERY_MS;
    if (!engine->config.activedefrag || !defrag->is_supported) return;
    bool is_due = ALWAYS || engine->steady_ms - defrag->surveyed_ms >= every_ms;
    if (!is_due && !defrag_plan_is_unjudged(&defrag->plan)) return;
    struct relocate_survey found = take_survey(engine);
    if (defrag->plan.is_running) return;
    if (ALWAYS || defrag_plan_next(&defrag->plan, &limits, &found)) begin_pass(engine);
}

size_t defrag_movable(struct engine *engine) {
    struct defrag *defrag = engine->defrag;
    if (!engine->config.activedefrag || !defrag->is_supported) return 0;
    bool is_due = engine->steady_ms - defrag->surveyed_ms >= SURVEY_AT_LIMIT_MS;
    if (is_due || defrag_plan_is_unjudged(&defrag->plan)) take_survey(engine);
    return defrag_plan_movable(&defrag->plan);
}

void defrag_begin(struct engine *engine) {
    if (!engine->defrag->plan.is_running && defrag_movable(engine) > 0) begin_pass(engine);
}

bool defrag_configure(struct engine *engine) {
    struct defrag *defrag = engine->defrag;
    if (!engine->config.activedefrag && defrag->plan.is_running) end_pass(engine);
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
    if (!defrag->plan.is_running) return;
    if (must_wait(engine)) {
        schedule(engine, WAIT_MS);
        return;
    }
    add_time(engine);
    uint64_t begin = slow_begin(engine);
    int64_t start_us = clock_thread_us();
    bool more;
    relocator_begin(&defrag->relocator, (uint64_t)engine->config.defrag_cycle_us);
    do more = visit_outside(engine) || visit_databases(engine);
    while (more && !relocator_is_due(&defrag->relocator));
    defrag->left_us -= clock_thread_us() - start_us;
    slow_end(engine, LATENCY_DEFRAG_CYCLE, begin);
    if (more)
        schedule(engine, pause_ms(defrag));
    else
        end_pass(engine);
}
