/* access: the 25 bits of an entry that record how it was used (entry_clock), in one of two
 * forms. The eviction policy in force at the last use decides which.
 *
 *      LRU     [0][time of the last use, in quarters of a second, 24]     wraps after 48 days
 *      LRM     the same, of the last modification
 *      LFU     [1][minute of the last use, 16][counter, 8]                wraps after 45 days
 *
 * The LFU counter is logarithmic (Morris, "Counting large numbers of events in small registers",
 * 1978): a use makes it one larger with a probability that falls as it grows, and every
 * `decay_minutes` without a use make it one smaller. New keys begin at ACCESS_LFU_FIRST, so that
 * they have time to be used before they are evicted.
 *
 * Bits of 0 mean that they were not set since entry_new. When the policy changes, no entry does:
 * bits of the other form are read through access_as_lru and access_as_lfu until their key is used
 * again. LFU bits tell the minute of the last use. LRU bits tell no frequency: such a key counts as
 * one that was created when the policy changed. */
#ifndef PACKLIST_STORE_ACCESS_H
#define PACKLIST_STORE_ACCESS_H

#include <stdint.h>

enum {
    ACCESS_MASK = 0xFFFFFF,
    ACCESS_IS_LFU = 1 << 24,
    ACCESS_LRU_TICK_MS = 250,
    ACCESS_LFU_FIRST = 5,
    ACCESS_LFU_MAX = 255,
    ACCESS_LFU_MINUTES_MASK = 0xFFFF
};

/* --- LRU --- */

/* The bits of a time. Those of 0, which would mean that they are not set, become the ones of a tick
 * before: a time is a quarter of a second off, once in 48 days. */
static inline uint32_t access_lru_bits(uint32_t ticks) {
    ticks &= ACCESS_MASK;
    return ticks ? ticks : ACCESS_MASK;
}

static inline uint32_t access_lru_at(int64_t now_ms) {
    return access_lru_bits((uint32_t)(now_ms / ACCESS_LRU_TICK_MS));
}

/* Ticks between two times. */
static inline uint32_t access_lru_idle(uint32_t clock, uint32_t now) {
    return (now - clock) & ACCESS_MASK;
}

/* The bits of an entry that was used `seconds` before `now`, limited to what 24 bits can hold. */
static inline uint32_t access_lru_before(uint32_t now, int64_t seconds) {
    const int64_t most_s = (int64_t)ACCESS_MASK * ACCESS_LRU_TICK_MS / 1000;
    int64_t ticks = (seconds < most_s ? seconds : most_s) * 1000 / ACCESS_LRU_TICK_MS;
    return access_lru_bits(now - (uint32_t)ticks);
}

static inline int64_t access_lru_idle_seconds(uint32_t clock, uint32_t now) {
    return (int64_t)access_lru_idle(clock, now) * ACCESS_LRU_TICK_MS / 1000;
}

/* --- LFU --- */

struct access_lfu_rules {
    uint32_t log_factor; /* how much harder each step is than the one before; 0: every use counts */
    uint32_t decay_minutes; /* without use, until the counter falls by one; 0: never */
    uint32_t begin_minute;  /* when uses began to be counted */
};

static inline uint32_t access_lfu_minute_at(int64_t now_ms) {
    return (uint32_t)(now_ms / 60000) & ACCESS_LFU_MINUTES_MASK;
}

static inline uint32_t access_lfu_make(uint32_t minute, uint32_t counter) {
    return ACCESS_IS_LFU | minute << 8 | counter;
}

static inline uint32_t access_lfu_idle_minutes(uint32_t clock, uint32_t minute) {
    return (minute - (clock >> 8)) & ACCESS_LFU_MINUTES_MASK;
}

/* The bits in the form LFU. */
static inline uint32_t access_as_lfu(uint32_t clock, const struct access_lfu_rules *rules) {
    return clock & ACCESS_IS_LFU ? clock : access_lfu_make(rules->begin_minute, ACCESS_LFU_FIRST);
}

/* The bits in the form LRU: of a key that was last used at the end of the minute that they tell. */
static inline uint32_t access_as_lru(uint32_t clock, uint32_t now, uint32_t minute) {
    if (!(clock & ACCESS_IS_LFU)) return clock;
    uint32_t minutes = access_lfu_idle_minutes(clock, minute);
    return access_lru_before(now, minutes ? (minutes - 1) * 60 : 0);
}

/* The counter of LFU bits after its decay up to `minute`, 0 … 255. */
static inline uint32_t access_lfu_frequency(uint32_t clock, uint32_t minute,
                                            const struct access_lfu_rules *rules) {
    uint32_t counter = clock & 0xFF;
    if (rules->decay_minutes == 0) return counter;
    uint32_t decay = access_lfu_idle_minutes(clock, minute) / rules->decay_minutes;
    return decay < counter ? counter - decay : 0;
}

/* The LFU bits after one more use; `random` has 64 random bits. A few nanoseconds. */
static inline uint32_t access_lfu_use(uint32_t clock, uint32_t minute,
                                      const struct access_lfu_rules *rules, uint64_t random) {
    uint32_t counter = access_lfu_frequency(clock, minute, rules);
    uint64_t steps = counter > ACCESS_LFU_FIRST ? counter - ACCESS_LFU_FIRST : 0;
    uint64_t odds = steps * rules->log_factor + 1; /* one in so many uses counts */
    if (counter < ACCESS_LFU_MAX && (uint64_t)((unsigned __int128)random * odds >> 64) == 0)
        counter++;
    return access_lfu_make(minute, counter);
}

#endif
