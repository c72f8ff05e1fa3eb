#include "server/server_clock.h"

#include "base/clock.h"
#include "server/server.h"

void server_update_clock(void) {
    int64_t now_ms = clock_wall_ms();
    if (now_ms == server.now_ms) return;
    server.now_ms = now_ms;
    server.steady_ms = clock_monotonic_ms();
    server.eviction.lru_clock = access_lru_at(server.steady_ms);
    server.eviction.lfu_minute = access_lfu_minute_at(server.steady_ms);
}
