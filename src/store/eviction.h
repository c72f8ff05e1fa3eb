/* eviction: which key should go when memory is short.
 *
 * Keys are sampled: each call examines a few of them, and the best candidates stay in a pool that
 * outlives the call. So the choice is nearly as good as an exact order, at no cost per key. A
 * policy is a score: the key with the largest score goes first. */
#ifndef PACKLIST_STORE_EVICTION_H
#define PACKLIST_STORE_EVICTION_H

#include "base/hash/random.h"
#include "store/access.h"

#include <stdbool.h>
#include <stddef.h>

struct keyref;
struct keyspace;

enum eviction_policy {
    EVICTION_VOLATILE_LRU,
    EVICTION_VOLATILE_LFU,
    EVICTION_VOLATILE_RANDOM,
    EVICTION_VOLATILE_TTL,
    EVICTION_VOLATILE_LRM,
    EVICTION_ALLKEYS_LRU,
    EVICTION_ALLKEYS_LFU,
    EVICTION_ALLKEYS_RANDOM,
    EVICTION_ALLKEYS_LRM,
    EVICTION_NONE
};

/* Return whether the policy reads the access bits as LFU; as LRU; as LRU, but sets them when a key
 * is modified, not when it is read (LRM); and whether it evicts only keys with an expiry. */
static inline bool eviction_is_lfu(enum eviction_policy policy) {
    return policy == EVICTION_VOLATILE_LFU || policy == EVICTION_ALLKEYS_LFU;
}

static inline bool eviction_is_lru(enum eviction_policy policy) {
    return policy == EVICTION_VOLATILE_LRU || policy == EVICTION_ALLKEYS_LRU;
}

static inline bool eviction_is_lrm(enum eviction_policy policy) {
    return policy == EVICTION_VOLATILE_LRM || policy == EVICTION_ALLKEYS_LRM;
}

static inline bool eviction_is_volatile(enum eviction_policy policy) {
    return policy <= EVICTION_VOLATILE_LRM;
}

/* --- The pool --- */

#ifdef TINY_LIMITS
enum { EVICTION_POOL_SIZE = 3 };
#else
enum { EVICTION_POOL_SIZE = 16 };
#endif

/* A key that was sampled. Its entry may be gone when it is chosen: it is found again by address and
 * hash, without being read, and `witness` shows whether the key was used, or got another expiry,
 * since then. */
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

/* Returns whether a candidate of this score would get a place. */
static inline bool eviction_pool_wants(const struct eviction_pool *pool, uint64_t score) {
    return pool->count < EVICTION_POOL_SIZE || score > pool->candidates[0].score;
}

/* Puts a candidate that the pool wants in its place. When the pool is full, the candidate with the
 * lowest score leaves; an older record of the same entry always does. O(pool). */
void eviction_pool_offer(struct eviction_pool *pool, const struct eviction_candidate *candidate);

/* Takes the candidate with the highest score out; false when there is none. */
bool eviction_pool_take(struct eviction_pool *pool, struct eviction_candidate *candidate);

/* Checks the invariant. */
bool eviction_pool_check(const struct eviction_pool *pool);

/* --- Choosing --- */

struct eviction_rules {
    enum eviction_policy policy;
    size_t samples;      /* keys to look at for each choice, or all if there are fewer */
    uint32_t lru_clock;  /* now, as access_lru_at */
    uint32_t lfu_minute; /* now, as access_lfu_minute_at */
    struct access_lfu_rules lfu;
};

/* Changes the policy: a key's uses are counted from now on if they were not before. O(1). */
void eviction_set_policy(struct eviction_rules *rules, enum eviction_policy policy);

/* Return what access bits of either form say: the frequency, 0 … 255, and the time without use. */
uint32_t eviction_frequency(const struct eviction_rules *rules, uint32_t clock);
int64_t eviction_idle_seconds(const struct eviction_rules *rules, uint32_t clock);

/* Return the access bits of a key that was just created; and of one that has not been used for
 * `idle_s` seconds, or whose LFU counter is `frequency` (0 … 255); -1 where one is not known. Only
 * the one that the policy counts is used; if it is not known, the bits are those of a new key. */
uint32_t eviction_fresh_bits(const struct eviction_rules *rules);
uint32_t eviction_bits(const struct eviction_rules *rules, int64_t idle_s, int64_t frequency);

/* Chooses the key to evict from `count` keyspaces: sets *ref and *database. False when the policy
 * allows no key to be evicted. The pool must be empty when the policy differs from the last call's.
 * O(min(samples, keys) + keyspaces): some hundred nanoseconds. */
bool eviction_choose(struct eviction_pool *pool, struct keyspace *const *keyspaces, int count,
                     const struct eviction_rules *rules, struct random *random, int *database,
                     struct keyref *ref);

#endif
