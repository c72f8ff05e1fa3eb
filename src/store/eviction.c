/* Invariants of a pool: scores ascend; no entry is in it twice.
 *
 * Sampling visits whole buckets of the table at random places: a bucket is one cache miss, and its
 * entries' misses overlap, so a bucket's six or seven keys cost about as much as two drawn one by
 * one. Where a key lies depends on nothing but its hash, so neighbours in a bucket are as good as
 * independent draws. */
#include "store/eviction.h"

#include "base/checked.h"
#include "store/keyspace.h"

/* --- The pool --- */

static void pool_remove(struct eviction_pool *pool, size_t index) {
    pool->count--;
    memmove(&pool->candidates[index], &pool->candidates[index + 1],
            (pool->count - index) * sizeof(pool->candidates[0]));
}

void eviction_pool_offer(struct eviction_pool *pool, const struct eviction_candidate *candidate) {
    CHECKED_ASSERT(eviction_pool_wants(pool, candidate->score));
    size_t index = 0;
    while (index < pool->count && pool->candidates[index].entry != candidate->entry) index++;
    if (index < pool->count)
        pool_remove(pool, index);
    else if (pool->count == EVICTION_POOL_SIZE)
        pool_remove(pool, 0);
    size_t place = pool->count;
    for (; place > 0 && pool->candidates[place - 1].score > candidate->score; place--)
        pool->candidates[place] = pool->candidates[place - 1];
    pool->candidates[place] = *candidate;
    pool->count++;
    CHECKED_ASSERT(eviction_pool_check(pool));
}

bool eviction_pool_take(struct eviction_pool *pool, struct eviction_candidate *candidate) {
    if (pool->count == 0) return false;
    *candidate = pool->candidates[--pool->count];
    return true;
}

bool eviction_pool_check(const struct eviction_pool *pool) {
    if (pool->count > EVICTION_POOL_SIZE) return false;
    for (size_t i = 0; i < pool->count; i++) {
        const struct eviction_candidate *candidate = &pool->candidates[i];
        if (i > 0 && candidate->score < pool->candidates[i - 1].score) return false;
        for (size_t j = 0; j < i; j++)
            if (pool->candidates[j].entry == candidate->entry) return false;
    }
    return true;
}

/* --- Scores --- */

/* Among keys with equal counters, the one whose counter has not changed for longer goes first. */
static uint64_t score_lfu(const struct entry *entry, const struct eviction_rules *rules) {
    uint32_t clock = access_as_lfu(entry_clock(entry), &rules->lfu);
    uint32_t frequency = access_lfu_frequency(clock, rules->lfu_minute, &rules->lfu);
    return (uint64_t)(ACCESS_LFU_MAX - frequency) << 16 |
           access_lfu_idle_minutes(clock, rules->lfu_minute);
}

static uint64_t score_of(const struct entry *entry, const struct eviction_rules *rules) {
    if (rules->policy == EVICTION_VOLATILE_TTL) return (uint64_t)(INT64_MAX - entry_expiry(entry));
    if (eviction_is_lfu(rules->policy)) return score_lfu(entry, rules);
    uint32_t clock = access_as_lru(entry_clock(entry), rules->lru_clock, rules->lfu_minute);
    return access_lru_idle(clock, rules->lru_clock);
}

/* The value that must be unchanged when the candidate is chosen. */
static int64_t witness_of(const struct entry *entry, const struct eviction_rules *rules) {
    return rules->policy == EVICTION_VOLATILE_TTL ? entry_expiry(entry) : entry_clock(entry);
}

/* --- Sampling --- */

static bool is_random(enum eviction_policy policy) {
    return policy == EVICTION_VOLATILE_RANDOM || policy == EVICTION_ALLKEYS_RANDOM;
}

/* The keys that the policy may evict. */
static enum keyspace_keys eligible(enum eviction_policy policy) {
    return eviction_is_volatile(policy) ? EXPIRING_KEYS : ALL_KEYS;
}

/* The database of a key drawn at random from all keyspaces; -1 when there is no key. */
static int random_database(struct keyspace *const *keyspaces, int count,
                           enum eviction_policy policy, struct random *random) {
    size_t total = 0;
    for (int i = 0; i < count; i++) total += keyspace_count_of(keyspaces[i], eligible(policy));
    if (total == 0) return -1;
    size_t draw = random_below(random, total);
    int database = 0;
    for (;; database++) {
        size_t keys = keyspace_count_of(keyspaces[database], eligible(policy));
        if (draw < keys) return database;
        draw -= keys;
    }
}

struct sampling {
    struct eviction_pool *pool;
    const struct eviction_rules *rules;
    struct keyspace *keyspace;
    int database;
    size_t seen;
};

static void sample(struct entry *entry, void *arg) {
    struct sampling *sampling = arg;
    sampling->seen++;
    uint64_t score = score_of(entry, sampling->rules);
    if (!eviction_pool_wants(sampling->pool, score)) return;
    eviction_pool_offer(sampling->pool,
                        &(struct eviction_candidate){
                            .score = score,
                            .hash = keyspace_hash(sampling->keyspace, entry_key(entry)),
                            .entry = entry,
                            .witness = witness_of(entry, sampling->rules),
                            .database = sampling->database,
                        });
}

/* Examines the keys of random buckets; when these are nearly empty, keys drawn one by one. */
static void sample_keyspace(struct sampling *sampling, struct random *random) {
    struct keyspace *keyspace = sampling->keyspace;
    enum keyspace_keys which = eligible(sampling->rules->policy);
    size_t keys = keyspace_count_of(keyspace, which), samples = sampling->rules->samples;
    size_t wanted = samples < keys ? samples : keys;
    for (size_t tries = 0; sampling->seen < wanted && tries < wanted; tries++)
        keyspace_scan(keyspace, which, keyspace_random_cursor(keyspace, which, random), sample,
                      sampling);
    if (sampling->seen == 0) sample(keyspace_random(keyspace, which, random), sampling);
}

/* --- Choosing --- */

/* Finds the candidate's entry if it still exists and has not been used or changed. */
static bool find_candidate(const struct eviction_candidate *candidate, struct keyspace *keyspace,
                           const struct eviction_rules *rules, struct keyref *ref) {
    *ref = keyspace_find_entry(keyspace, candidate->entry, candidate->hash);
    if (!ref->entry) return false;
    if (eviction_is_volatile(rules->policy) && entry_expiry(ref->entry) < 0) return false;
    return witness_of(ref->entry, rules) == candidate->witness;
}

void eviction_set_policy(struct eviction_rules *rules, enum eviction_policy policy) {
    if (eviction_is_lfu(policy) && !eviction_is_lfu(rules->policy))
        rules->lfu.begin_minute = rules->lfu_minute;
    rules->policy = policy;
}

uint32_t eviction_frequency(const struct eviction_rules *rules, uint32_t clock) {
    return access_lfu_frequency(access_as_lfu(clock, &rules->lfu), rules->lfu_minute, &rules->lfu);
}

int64_t eviction_idle_seconds(const struct eviction_rules *rules, uint32_t clock) {
    return access_lru_idle_seconds(access_as_lru(clock, rules->lru_clock, rules->lfu_minute),
                                   rules->lru_clock);
}

uint32_t eviction_fresh_bits(const struct eviction_rules *rules) {
    return eviction_is_lfu(rules->policy) ? access_lfu_make(rules->lfu_minute, ACCESS_LFU_FIRST)
                                          : rules->lru_clock;
}

uint32_t eviction_bits(const struct eviction_rules *rules, int64_t idle_s, int64_t frequency) {
    bool is_lfu = eviction_is_lfu(rules->policy);
    if (is_lfu && frequency >= 0)
        return access_lfu_make(rules->lfu_minute, (uint32_t)frequency & ACCESS_LFU_MAX);
    if (!is_lfu && idle_s >= 0) return access_lru_before(rules->lru_clock, idle_s);
    return eviction_fresh_bits(rules);
}

bool eviction_choose(struct eviction_pool *pool, struct keyspace *const *keyspaces, int count,
                     const struct eviction_rules *rules, struct random *random, int *database,
                     struct keyref *ref) {
    if (rules->policy == EVICTION_NONE) return false;
    for (;;) {
        *database = random_database(keyspaces, count, rules->policy, random);
        if (*database < 0) return false;
        struct keyspace *keyspace = keyspaces[*database];
        if (is_random(rules->policy)) {
            struct entry *entry = keyspace_random(keyspace, eligible(rules->policy), random);
            *ref = keyspace_find(keyspace, entry_key(entry));
            return true;
        }
        struct sampling sampling = {
            .pool = pool, .rules = rules, .keyspace = keyspace, .database = *database};
        sample_keyspace(&sampling, random);
        struct eviction_candidate best;
        while (eviction_pool_take(pool, &best)) {
            *database = best.database;
            if (find_candidate(&best, keyspaces[best.database], rules, ref)) return true;
        }
    }
}
