/* expire: deletes expired keys in the background. Keys with an expiry are in tables of their own,
 * which the cycle scans round and round; the number of expired ones is unknown. Each database has
 * another such table, of hashes with fields that expire; a hash counts as expired when such a field
 * of it has expired.
 *
 * A replica deletes only the keys to which its own clients have given an expiry. Its rounds scan
 * only the list of these (engine/own_expiry.h), in the same way.
 *
 * A round begins `hz` times a second. In each table it continues the scan where the last round
 * ended. It scans at least a few keys, and goes on while more of them are expired than is
 * acceptable. So the work follows the number of keys that expire: almost nothing when few do, and
 * enough to keep their share low when many do. Even when few expire, a scan takes at most
 * PASS_SECONDS for a whole table.
 *
 * After a round that found more expired keys than are acceptable, the next one begins sooner. A
 * round may use only a part of the time since the last one, in stretches of STRETCH_US between
 * which clients are served. active-expire-effort makes that part larger and the acceptable share
 * smaller. */
#include "memory/expire.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "engine/call.h"
#include "engine/engine.h"
#include "engine/engine_clock.h"
#include "engine/own_expiry.h"
#include "engine/slow.h"
#include "net/net.h"
#include "types/hash.h"

#include <assert.h>

enum {
    STRETCH_US = 300,
    STEPS_BETWEEN_LOOKS = 4, /* between two reads of the clock; a step scans one bucket */
    BATCH_MIN = 200,         /* keys */
    PASS_SECONDS = 60,
    SOON_MS = 10, /* until the next round when there is much to do */
    /* Far more than a bucket ever holds; the rest would wait for the next pass. */
    EXPIRED_PER_STEP = 128,
    TTL_SAMPLES = 64
};

/* Keys that were scanned. */
struct tally {
    uint64_t visited;
    uint64_t expired; /* of them */
};

/* The tables of all databases are numbered: those of database 0 come first. */
static struct {
    struct net_timer *timer; /* starts a round before the next tick */
    uint64_t *cursors;       /* position of the scan in each table */
    int tables;
    int table;     /* that the round has reached */
    int remaining; /* tables that the round has not finished */
    bool running;
    bool scans_own;      /* the round is that of a replica */
    int64_t begun_us;    /* begin of the last round, monotonic */
    int64_t budget_us;   /* time left for this round */
    struct tally batch;  /* since end_batch */
    struct tally keys;   /* of this round */
    struct tally hashes; /* likewise */
} cycle;

static int current_database(void) {
    return cycle.table / EXPIRING_TABLES;
}

static enum keyspace_expiring current_kind(void) {
    return (enum keyspace_expiring)(cycle.table % EXPIRING_TABLES);
}

static void on_timer(void *arg) {
    struct engine *engine = arg;
    expire_tick(engine);
}

void expire_start(struct engine *engine, int databases) {
    assert(!cycle.timer && databases > 0);
    cycle.timer = net_timer_new(engine->net, on_timer, engine);
    cycle.tables = databases * EXPIRING_TABLES;
    cycle.cursors = mem_alloc_zeroed((size_t)cycle.tables * sizeof(*cycle.cursors));
}

void expire_stop(void) {
    net_timer_free(cycle.timer);
    mem_free(cycle.cursors);
}

/* --- Limits --- */

/* Returns the percentage of scanned keys that may be expired: from 5 down to 1. The scan visits the
 * keys that it has not visited for longest, so on average about half as many are expired. */
static unsigned acceptable_percent(struct engine *engine) {
    return 5 - (unsigned)(engine->config.active_expire_effort - 1) * 4 / 9;
}

/* Returns the percentage of the time that rounds may use: from 25 up to 43. */
static int64_t time_percent(struct engine *engine) {
    return 25 + 2 * (engine->config.active_expire_effort - 1);
}

/* Of `tally`: are there more expired ones than are acceptable? */
static bool too_many(struct engine *engine, const struct tally *tally) {
    return tally->expired * 100 > tally->visited * acceptable_percent(engine);
}

static uint64_t batch_size(struct engine *engine, size_t expiring) {
    uint64_t rounds = (uint64_t)engine->config.hz * PASS_SECONDS;
    return BATCH_MIN + expiring / rounds;
}

/* --- One step --- */

struct step {
    struct call call;
    enum keyspace_expiring kind;
    uint64_t visited;
    size_t expired_count;
    const struct entry *expired[EXPIRED_PER_STEP];
};

static bool is_expired(const struct step *step, const struct entry *entry) {
    if (step->kind == EXPIRING_KEYS) return call_is_expired(&step->call, entry);
    return hash_first_expiry(entry) < step->call.now_ms;
}

static void visit(struct entry *entry, void *arg) {
    struct step *step = arg;
    step->visited++;
    if (is_expired(step, entry) && step->expired_count < EXPIRED_PER_STEP)
        step->expired[step->expired_count++] = entry;
}

static void delete_keys(struct step *step) {
    for (size_t i = 0; i < step->expired_count; i++)
        call_find_quiet(&step->call, entry_key(step->expired[i])); /* deletes it */
}

/* Deletes fields of the hash that have expired, and returns how many. */
static size_t delete_fields_of(struct call *call, const struct entry *entry) {
    sds key = sds_new(entry_key(entry));
    struct keyref ref = call_find_quiet(call, sds_slice(key));
    size_t deleted = ref.entry ? call_expire_fields(call, &ref, sds_slice(key)) : 0;
    sds_free(key);
    return deleted;
}

/* Deletes fields of the hashes that have expired: so many that a step stays short. Returns false
 * when some may be left: then only the hashes that it has reached are counted as visited. */
static bool delete_fields(struct step *step) {
    size_t deleted = 0, i = 0;
    while (i < step->expired_count && deleted < CALL_EXPIRED_FIELDS)
        deleted += delete_fields_of(&step->call, step->expired[i++]);
    if (deleted < CALL_EXPIRED_FIELDS) return true;
    step->visited = step->expired_count = i;
    return false;
}

static void own_step(struct engine *engine) {
    struct own_expiry_step step = own_expiry_step(engine);
    cycle.batch.visited += step.examined;
    cycle.batch.expired += step.gone;
}

/* Scans the next bucket of the current table, and deletes what has expired in it. */
static void table_step(struct step *step) {
    uint64_t *cursor = &cycle.cursors[cycle.table];
    step->visited = step->expired_count = 0;
    uint64_t next = keyspace_scan_expiring(step->call.keyspace, step->kind, *cursor, visit, step);
    bool finished = true;
    if (step->kind == EXPIRING_KEYS)
        delete_keys(step);
    else
        finished = delete_fields(step);
    if (finished) *cursor = next; /* else the bucket is scanned again */
    cycle.batch.visited += step->visited;
    cycle.batch.expired += step->expired_count;
}

static void cycle_step(struct step *step) {
    if (cycle.scans_own)
        own_step(step->call.engine);
    else
        table_step(step);
}

/* --- The round --- */

static void end_batch(void) {
    bool is_of_keys = cycle.scans_own || current_kind() == EXPIRING_KEYS;
    struct tally *tally = is_of_keys ? &cycle.keys : &cycle.hashes;
    tally->visited += cycle.batch.visited;
    tally->expired += cycle.batch.expired;
    cycle.batch = (struct tally){0};
}

static void end_round(struct engine *engine) {
    cycle.running = false;
    if (too_many(engine, &cycle.keys) || too_many(engine, &cycle.hashes))
        net_timer_start(cycle.timer, SOON_MS, 0);
    if (cycle.keys.visited == 0 || cycle.scans_own) return;
    double percent = 100 * (double)cycle.keys.expired / (double)cycle.keys.visited;
    engine->stats.expired_stale_percent =
        engine->stats.expired_stale_percent * 0.95 + percent * 0.05;
}

static void next_table(struct engine *engine) {
    cycle.table = (cycle.table + 1) % cycle.tables;
    if (--cycle.remaining == 0) end_round(engine);
}

/* Returns whether this round has finished the current table. */
static bool is_table_done(struct engine *engine, const struct step *step) {
    size_t expiring = cycle.scans_own ? own_expiry_count(engine)
                                      : keyspace_expiring_count(step->call.keyspace, step->kind);
    if (expiring == 0) return true;
    if (cycle.batch.visited < batch_size(engine, expiring)) return false;
    bool low = !too_many(engine, &cycle.batch);
    end_batch();
    return low;
}

/* Scans until the round or the stretch ends. */
static void cycle_stretch(struct engine *engine, uint64_t start) {
    while (cycle.running) {
        struct step step = {.call = call_of_server(engine, current_database()),
                            .kind = current_kind()};
        while (!is_table_done(engine, &step)) {
            for (int i = 0; i < STEPS_BETWEEN_LOOKS; i++) cycle_step(&step);
            if (clock_ticks_to_us(clock_ticks() - start) >= STRETCH_US) return;
        }
        end_batch();
        next_table(engine);
    }
}

/* On a replica, the primary says which of the other keys have expired. */
static bool is_off(const struct engine *engine) {
    return !engine->active_expire || engine->restrictions & RESTRICTED_PAUSED ||
           (engine->is_replica && !engine->own_expiries);
}

bool expire_step(struct engine *engine) {
    if (!cycle.running) return false;
    if (is_off(engine) || cycle.scans_own != engine->is_replica) {
        cycle.running = false;
        return false;
    }
    uint64_t start = clock_ticks(), begin = slow_begin(engine);
    engine_update_clock(engine);
    cycle_stretch(engine, start);
    uint64_t ticks = clock_ticks() - start;
    engine->stats.expire_ticks += ticks;
    slow_end(engine, LATENCY_EXPIRE_CYCLE, begin);
    cycle.budget_us -= (int64_t)clock_ticks_to_us(ticks);
    if (cycle.running && cycle.budget_us <= 0) {
        engine->stats.expire_time_caps++;
        end_batch();
        end_round(engine);
    }
    return cycle.running;
}

void expire_tick(struct engine *engine) {
    if (is_off(engine)) return;
    int64_t now_us = clock_monotonic_us(), period_us = 1000000 / engine->config.hz;
    int64_t elapsed_us = now_us - cycle.begun_us;
    if (!cycle.running) {
        cycle.running = true;
        cycle.begun_us = now_us;
        cycle.budget_us =
            (elapsed_us < period_us ? elapsed_us : period_us) * time_percent(engine) / 100;
        cycle.scans_own = engine->is_replica;
        cycle.remaining = cycle.scans_own ? 1 : cycle.tables;
        cycle.keys = cycle.hashes = cycle.batch = (struct tally){0};
    }
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
    size_t expiring = keyspace_expiring_count(keyspace, EXPIRING_KEYS);
    struct ttl_sum ttl = {.now_ms = engine->now_ms};
    if (expiring > TTL_SAMPLES) {
        for (int i = 0; i < TTL_SAMPLES; i++)
            add_ttl(keyspace_random_expiring(keyspace, &engine->random), &ttl);
    } else {
        uint64_t cursor = 0;
        do {
            cursor = keyspace_scan_expiring(keyspace, EXPIRING_KEYS, cursor, add_ttl, &ttl);
        } while (cursor);
    }
    return ttl.count ? ttl.sum_ms / ttl.count * TTL_SAMPLES : 0;
}
