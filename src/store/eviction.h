/* eviction: which key should go when memory is short.
 *
 * Keys are sampled: a few at a time are looked at, and the best candidates met so far stay in a
 * pool, which outlives the call, so that the choice is about as good as the exact order at no cost
 * per key. A policy is a score: the larger, the sooner the key goes. */
#ifndef PACKLIST_STORE_EVICTION_H
#define PACKLIST_STORE_EVICTION_H

#include "base/random.h"
#include "store/access.h"
#include "store/keyspace.h"

enum eviction_policy {
    EVICTION_VOLATILE_LRU,
    EVICTION_VOLATILE_LFU,
    EVICTION_VOLATILE_RANDOM,
    EVICTION_VOLATILE_TTL,
    EVICTION_ALLKEYS_LRU,
    EVICTION_ALLKEYS_LFU,
    EVICTION_ALLKEYS_RANDOM,
    EVICTION_NONE
};

/* Does it read the access bits as LFU? As LRU? Are only keys with an expiry evicted? */
static inline bool eviction_is_lfu(enum eviction_policy policy) {
    return policy == EVICTION_VOLATILE_LFU || policy == EVICTION_ALLKEYS_LFU;
}

static inline bool eviction_is_lru(enum eviction_policy policy) {
    return policy == EVICTION_VOLATILE_LRU || policy == EVICTION_ALLKEYS_LRU;
}

static inline bool eviction_is_volatile(enum eviction_policy policy) {
    return policy <= EVICTION_VOLATILE_TTL;
}

/* --- The pool --- */

#ifdef TINY_LIMITS
enum { EVICTION_POOL_SIZE = 3 };
#else
enum { EVICTION_POOL_SIZE = 16 };
#endif

/* A key that was met. Its entry may be gone when its turn comes: it is found again by address and
 * hash, without being read, and `witness` tells whether the key was used, or got another expiry,
 * meanwhile. */
struct eviction_candidate {
    uint64_t score;
    uint64_t hash;
    const struct entry *entry;
    int64_t witness;
    int database;
};

/* All zero: empty. Kept in ascending order of scores. */
struct eviction_pool {
    size_t count;
    struct eviction_candidate candidates[EVICTION_POOL_SIZE];
};

/* Would a candidate of this score get a place? */
static inline bool eviction_pool_wants(const struct eviction_pool *pool, uint64_t score) {
    return pool->count < EVICTION_POOL_SIZE || score > pool->candidates[0].score;
}

/* Puts a candidate that the pool wants in its place: the one with the lowest score leaves if there
 * is no room, and an older record of the same entry in any case. O(pool). */
void eviction_pool_offer(struct eviction_pool *pool, const struct eviction_candidate *candidate);

/* Takes the candidate with the highest score out; false when there is none. */
bool eviction_pool_take(struct eviction_pool *pool, struct eviction_candidate *candidate);

/* The executable invariant. */
bool eviction_pool_check(const struct eviction_pool *pool);

/* --- Choosing --- */

struct eviction_rules {
    enum eviction_policy policy;
    size_t samples;      /* keys to look at for each choice, or all if there are fewer */
    uint32_t lru_clock;  /* now, as access_lru_at */
    uint32_t lfu_minute; /* now, as access_lfu_minute_at */
    struct access_lfu_rules lfu;
};

/* Chooses the key to evict from `count` keyspaces: sets *ref and *database. False when the policy
 * allows none to go. The pool must be empty when the policy is another than the last time.
 * O(min(samples, keys) + keyspaces): some hundred nanoseconds. */
bool eviction_choose(struct eviction_pool *pool, struct keyspace *const *keyspaces, int count,
                     const struct eviction_rules *rules, struct random *random, int *database,
                     struct keyref *ref);

#endif
