/* evict: decides when and for how long keys are evicted; store/eviction.c chooses the keys. */
#include "reclaim/evict.h"

#include "aof/aof.h"
#include "base/clock.h"
#include "base/memory/alloc.h"
#include "engine/call.h"
#include "engine/engine.h"
#include "engine/lazyfree.h"
#include "engine/slow.h"
#include "snapshot/incremental.h"

#include <math.h>

enum evict_result { EVICT_DONE, EVICT_INTERRUPTED, EVICT_IMPOSSIBLE };

/* The clock is read after this many evictions, each of which takes about a microsecond. */
enum { EVICTIONS_BETWEEN_LOOKS = 16 };

/* --- Time --- */

/* Returns how long one call may evict, in microseconds: grows linearly up to a tenacity of 10,
 * which is half a millisecond, then by 15 % for each, and is unlimited at 100. */
static uint64_t stretch_us(struct engine *engine) {
    int64_t tenacity = engine->config.eviction_tenacity;
    if (tenacity >= 100) return UINT64_MAX;
    if (tenacity <= 10) return (uint64_t)tenacity * 50;
    return (uint64_t)(500 * pow(1.15, (double)(tenacity - 10)));
}

static void note_exceeded(struct evict *evict, bool exceeded) {
    if (exceeded == (evict->exceeded_us != 0)) return;
    int64_t now_us = clock_monotonic_us();
    if (!exceeded) evict->total_us += now_us - evict->exceeded_us;
    evict->exceeded_us = exceeded ? now_us : 0;
}

int64_t evict_current_exceeded_ms(const struct engine *engine) {
    int64_t since_us = engine->evict->exceeded_us;
    return since_us ? (clock_monotonic_us() - since_us) / 1000 : 0;
}

int64_t evict_total_exceeded_ms(const struct engine *engine) {
    return engine->evict->total_us / 1000 + evict_current_exceeded_ms(engine);
}

/* --- Keys --- */

size_t evict_uncounted_output(const struct engine *engine) {
    return engine->aof->buffer.capacity + engine->command_log.bytes.capacity +
           engine->uncounted.replicas;
}

/* Returns the bytes that do not count: what another thread is about to free or only a snapshot
 * needs, as evicting more keys would not free it sooner; output to which each evicted key adds; and
 * unauthenticated clients, which may cause no eviction. */
static size_t uncounted(struct engine *engine) {
    size_t leaving = lazyfree_pending_bytes(engine->lazyfree) + incremental_leaving_bytes(engine);
    return leaving + evict_uncounted_output(engine) + engine->uncounted.unauthenticated;
}

/* Returns whether too much memory is in use. */
static bool is_exceeded(struct engine *engine) {
    size_t allowed = engine->evict->rss.allowed;
    if (allowed == 0 || mem_used() <= allowed) return false;
    /* Read before mem_used(): a thread frees memory first and subtracts it here afterwards, so the
     * other order could evict keys needlessly. */
    size_t without = uncounted(engine);
    return mem_used() > allowed + without;
}

/* Looks at the pages where these are bounded (maxmemory-rss); `now`: however short ago the last
 * look was. */
static void look_at_pages(struct engine *engine, bool now) {
    if (engine->config.maxmemory_rss && engine->config.maxmemory)
        rss_limit_follow(engine, &engine->evict->rss, uncounted(engine), now);
}

/* Deletes the key. A key whose time has come counts as expired, not as evicted. */
static void evict_key(struct call *call, struct keyref *ref) {
    struct engine *engine = call->engine;
    struct slice key = entry_key(ref->entry);
    if (call_is_expired(call, ref->entry) && call_may_expire(call)) {
        call_find(call, key, 0, NULL); /* deletes it */
        return;
    }
    uint64_t begin = slow_begin(engine);
    engine->stats.evicted_keys++;
    call_remove(call, ref, key, REMOVAL_EVICTED);
    slow_end(engine, LATENCY_EVICTION_DELETE, begin);
}

static enum evict_result evict_keys(struct engine *engine) {
    uint64_t start = clock_ticks(), limit_us = stretch_us(engine);
    for (unsigned evicted = 1; is_exceeded(engine); evicted++) {
        int database;
        struct keyref ref;
        if (!eviction_choose(&engine->evict->pool, engine->keyspaces, engine->databases,
                             &engine->eviction, &engine->random, &database, &ref))
            return EVICT_IMPOSSIBLE;
        struct call call = call_of_server(engine, database);
        evict_key(&call, &ref);
        if (evicted % EVICTIONS_BETWEEN_LOOKS) continue;
        if (clock_ticks_to_us(clock_ticks() - start) > limit_us) return EVICT_INTERRUPTED;
    }
    return EVICT_DONE;
}

/* Returns whether the data must stay as it is: during a pause; and on a replica, unless that
 * was turned off, because its primary evicts for both. */
static bool is_off(const struct engine *engine) {
    return engine->restrictions & RESTRICTED_PAUSED ||
           (engine->is_replica && engine->config.replica_ignore_maxmemory);
}

/* Evicts until time or need ends. */
static enum evict_result run(struct engine *engine) {
    enum evict_result result = EVICT_DONE;
    look_at_pages(engine, false);
    if (is_exceeded(engine) && !is_off(engine)) {
        uint64_t begin = slow_begin(engine);
        result = engine_is_importing(engine) ? EVICT_IMPOSSIBLE : evict_keys(engine);
        slow_end(engine, LATENCY_EVICTION_CYCLE, begin);
    }
    engine->evict->running = result == EVICT_INTERRUPTED;
    note_exceeded(engine->evict, result != EVICT_DONE);
    return result;
}

bool evict_make_room(struct engine *engine) {
    return run(engine) != EVICT_IMPOSSIBLE;
}

bool evict_step(struct engine *engine) {
    if (engine->evict->running) run(engine);
    return engine->evict->running;
}

void evict_tick(struct engine *engine) {
    look_at_pages(engine, true);
    if (!engine->evict->running) run(engine);
}

void evict_configure(struct engine *engine) {
    const struct config *config = &engine->config;
    eviction_set_policy(&engine->eviction, (enum eviction_policy)config->maxmemory_policy);
    engine->eviction.samples = (size_t)config->maxmemory_samples;
    engine->eviction.lfu.log_factor = (uint32_t)config->lfu_log_factor;
    engine->eviction.lfu.decay_minutes = (uint32_t)config->lfu_decay_time;
    engine->evict->pool.count = 0;
    rss_limit_reset(&engine->evict->rss, (size_t)config->maxmemory);
    look_at_pages(engine, true);
    engine->evict->running = is_exceeded(engine); /* evict_step begins */
}
