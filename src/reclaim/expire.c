/* A round begins `hz` times a second, and searches one place after the other (expire_search.h), in
 * each from where the last round ended. It visits at least a few keys, and goes on while more of
 * them are expired than is acceptable. So the work follows the number of keys that expire. Even
 * when few expire, a search takes at most PASS_SECONDS for a whole place.
 *
 * After a round that found more expired keys than are acceptable, the next one begins sooner. A
 * round may use only a part of the time since the last one, in stretches of STRETCH_US between
 * which clients are served. active-expire-effort makes that part larger and the acceptable share
 * smaller. */
#include "reclaim/expire.h"

#include "base/clock.h"
#include "base/memory/alloc.h"
#include "engine/engine.h"
#include "engine/slow.h"
#include "net/net.h"

#include <assert.h>
#include <string.h>

enum {
    STRETCH_US = 300,
    STEPS_BETWEEN_LOOKS = 4, /* between two reads of the clock */
    BATCH_MIN = 200,         /* keys */
    PASS_SECONDS = 60,
    SOON_MS = 10, /* until the next round when there is much to do */
    TTL_SAMPLES = 64
};

static struct expire_places *places_of(const struct engine *engine) {
    return engine->is_replica ? &engine->expire->of_replica : &engine->expire->of_databases;
}

static struct expire_search *current(const struct expire_cycle *cycle) {
    return &cycle->places->list[cycle->places->at];
}

static void on_timer(void *arg) {
    struct engine *engine = arg;
    expire_tick(engine);
}

static struct expire_places places_new(int count) {
    size_t size = (size_t)count * sizeof(struct expire_search);
    return (struct expire_places){.list = mem_alloc_zeroed(size), .count = count};
}

void expire_start(struct engine *engine) {
    struct expire_cycle *cycle = engine->expire;
    int databases = engine->databases;
    assert(!cycle->timer && databases > 0);
    cycle->is_active = true;
    cycle->timer = net_timer_new(engine->net, on_timer, engine);
    cycle->of_replica = places_new(1);
    cycle->of_replica.list[0].kind = EXPIRE_OWN_KEYS;
    cycle->of_databases = places_new(2 * databases);
    for (int i = 0; i < databases; i++) {
        struct expire_search *searches = &cycle->of_databases.list[2 * i];
        searches[0] = (struct expire_search){.kind = EXPIRE_KEYS, .database = i};
        searches[1] = (struct expire_search){.kind = EXPIRE_HASHES, .database = i};
    }
}

void expire_stop(struct engine *engine) {
    net_timer_free(engine->expire->timer);
    mem_free(engine->expire->of_databases.list);
    mem_free(engine->expire->of_replica.list);
}

/* --- The round --- */

/* Returns whether `tally` has more expired ones than are acceptable: from 5 down to 1 percent. The
 * scan visits the keys that it has not visited for longest, so on average about half as many are
 * expired. */
static bool too_many(struct engine *engine, const struct expire_tally *tally) {
    unsigned percent = 5 - (unsigned)(engine->config.active_expire_effort - 1) * 4 / 9;
    return tally->expired * 100 > tally->visited * percent;
}

static void begin_round(struct engine *engine, int64_t now_us) {
    struct expire_cycle *cycle = engine->expire;
    int64_t elapsed_us = now_us - cycle->begun_us, period_us = 1000000 / engine->config.hz;
    int64_t percent = 25 + 2 * (engine->config.active_expire_effort - 1); /* of the time */
    if (elapsed_us > period_us) elapsed_us = period_us;
    cycle->running = true;
    cycle->begun_us = now_us;
    cycle->budget_us = elapsed_us * percent / 100;
    cycle->places = places_of(engine);
    cycle->remaining = cycle->places->count;
    cycle->batch = (struct expire_tally){0};
    memset(cycle->found, 0, sizeof(cycle->found));
}

static void add(struct expire_tally *sum, struct expire_tally tally) {
    sum->visited += tally.visited;
    sum->expired += tally.expired;
}

static void end_batch(struct expire_cycle *cycle) {
    add(&cycle->found[current(cycle)->kind], cycle->batch);
    cycle->batch = (struct expire_tally){0};
}

static void update_stale_percent(struct engine *engine) {
    const struct expire_tally *keys = &engine->expire->found[EXPIRE_KEYS];
    if (keys->visited == 0) return;
    double percent = 100 * (double)keys->expired / (double)keys->visited;
    engine->stats.expired_stale_percent =
        engine->stats.expired_stale_percent * 0.95 + percent * 0.05;
}

/* In any kind of place. */
static bool found_too_many(struct engine *engine) {
    for (int i = 0; i < EXPIRE_KINDS; i++)
        if (too_many(engine, &engine->expire->found[i])) return true;
    return false;
}

static void end_round(struct engine *engine) {
    engine->expire->running = false;
    if (found_too_many(engine)) net_timer_start(engine->expire->timer, SOON_MS, 0);
    update_stale_percent(engine);
}

/* Returns whether this round has finished the current place. */
static bool is_place_done(struct engine *engine) {
    struct expire_cycle *cycle = engine->expire;
    size_t count = expire_search_count(engine, current(cycle));
    uint64_t rounds = (uint64_t)engine->config.hz * PASS_SECONDS;
    if (count == 0) return true;
    if (cycle->batch.visited < BATCH_MIN + count / rounds) return false;
    bool low = !too_many(engine, &cycle->batch);
    end_batch(cycle);
    return low;
}

/* Searches until the round or the stretch ends. */
static void cycle_stretch(struct engine *engine, uint64_t start) {
    struct expire_cycle *cycle = engine->expire;
    while (cycle->running) {
        while (!is_place_done(engine)) {
            for (int i = 0; i < STEPS_BETWEEN_LOOKS; i++)
                add(&cycle->batch, expire_search_step(engine, current(cycle)));
            if (clock_ticks_to_us(clock_ticks() - start) >= STRETCH_US) return;
        }
        end_batch(cycle);
        cycle->places->at = (cycle->places->at + 1) % cycle->places->count;
        if (--cycle->remaining == 0) end_round(engine);
    }
}

/* On a replica, the primary says which of the other keys have expired. */
static bool is_off(const struct engine *engine) {
    return !engine->expire->is_active || engine->restrictions & RESTRICTED_PAUSED ||
           engine_is_importing(engine) || (engine->is_replica && !engine->own_expiries);
}

/* Kept out of line: there is nothing to do in most iterations of the loop. */
static __attribute__((noinline)) bool continue_cycle(struct engine *engine,
                                                     struct expire_cycle *cycle) {
    if (is_off(engine) || cycle->places != places_of(engine)) {
        cycle->running = false;
        return false;
    }
    uint64_t start = clock_ticks(), begin = slow_begin(engine);
    engine_update_clock(engine);
    cycle_stretch(engine, start);
    uint64_t ticks = clock_ticks() - start;
    engine->stats.expire_ticks += ticks;
    slow_end(engine, LATENCY_EXPIRE_CYCLE, begin);
    cycle->budget_us -= (int64_t)clock_ticks_to_us(ticks);
    if (cycle->running && cycle->budget_us <= 0) {
        engine->stats.expire_time_caps++;
        end_batch(cycle);
        end_round(engine);
    }
    return cycle->running;
}

bool expire_step(struct engine *engine) {
    struct expire_cycle *cycle = engine->expire;
    return cycle->running && continue_cycle(engine, cycle);
}

void expire_tick(struct engine *engine) {
    if (is_off(engine)) return;
    if (!engine->expire->running) begin_round(engine, clock_monotonic_us());
    expire_step(engine);
}

/* --- Stats --- */

struct ttl_sum {
    int64_t now_ms;
    int64_t sum_ms;
    int64_t count;
};

static void add_ttl(struct entry *entry, void *arg) {
    struct ttl_sum *ttl = arg;
    int64_t left = entry_expiry(entry) - ttl->now_ms;
    ttl->count++;
    if (left > 0) ttl->sum_ms += left / TTL_SAMPLES; /* cannot overflow */
}

int64_t expire_average_ttl(struct engine *engine, struct keyspace *keyspace) {
    size_t expiring = keyspace_count_of(keyspace, EXPIRING_KEYS);
    struct ttl_sum ttl = {.now_ms = engine->now_ms};
    if (expiring > TTL_SAMPLES) {
        for (int i = 0; i < TTL_SAMPLES; i++)
            add_ttl(keyspace_random(keyspace, EXPIRING_KEYS, &engine->random), &ttl);
    } else {
        uint64_t cursor = 0;
        do {
            cursor = keyspace_scan(keyspace, EXPIRING_KEYS, cursor, add_ttl, &ttl);
        } while (cursor);
    }
    return ttl.count ? ttl.sum_ms / ttl.count * TTL_SAMPLES : 0;
}
