#include "server/cron.h"

#include "engine/engine.h"
#include "engine/engine_clock.h"
#include "net/net.h"
#include "server/parts.h"

static void tick(void *arg) {
    struct engine *engine = arg;
    engine_update_clock(engine);
    if (!engine->cron->is_paused) parts_tick(engine);
}

void cron_start(struct engine *engine) {
    engine->cron->timer = net_timer_new(engine->net, tick, engine);
    cron_reschedule(engine);
}

void cron_stop(struct engine *engine) {
    net_timer_free(engine->cron->timer);
}

void cron_reschedule(struct engine *engine) {
    uint64_t period = 1000 / (uint64_t)engine->config.hz;
    net_timer_start(engine->cron->timer, period, period);
}
