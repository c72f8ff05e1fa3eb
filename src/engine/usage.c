#include "engine/usage.h"

#include "engine/engine.h"

uint32_t usage_fresh(struct engine *engine) {
    if (eviction_is_lfu(engine->eviction.policy))
        return access_lfu_make(engine->eviction.lfu_minute, ACCESS_LFU_FIRST);
    return engine->eviction.lru_clock;
}

uint32_t usage_given(struct engine *engine, int64_t idle_s, int64_t frequency) {
    const struct eviction_rules *rules = &engine->eviction;
    bool is_lfu = eviction_is_lfu(rules->policy);
    if (is_lfu && frequency >= 0)
        return access_lfu_make(rules->lfu_minute, (uint32_t)frequency & ACCESS_LFU_MAX);
    if (!is_lfu && idle_s >= 0) return access_lru_before(rules->lru_clock, idle_s);
    return usage_fresh(engine);
}
