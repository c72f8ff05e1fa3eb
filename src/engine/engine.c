#include "engine/engine.h"

#include "base/clock.h"

void engine_update_clock(struct engine *engine) {
    engine->now_us = clock_wall_us();
    int64_t now_ms = engine->now_us / 1000;
    if (now_ms == engine->now_ms) return;
    engine->now_ms = now_ms;
    engine->steady_ms = clock_monotonic_ms();
    engine->eviction.lru_clock = access_lru_at(engine->steady_ms);
    engine->eviction.lfu_minute = access_lfu_minute_at(engine->steady_ms);
}
