#include "reclaim/purge.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/relocate.h"
#include "engine/engine.h"
#include "net/loop/pool.h"
#include "reclaim/evict.h"

enum { EVERY_US = 1000000 };

static void purge(void *arg) {
    (void)arg;
    mem_purge();
}

static void purged(void *arg) {
    struct purge *state = arg;
    state->is_running = false;
}

/* What this thread keeps of freed blocks goes first: it keeps pages in use. */
bool purge_begin(struct engine *engine) {
    struct purge *state = &engine->evict->purge;
    int64_t now_us = clock_monotonic_us();
    if (state->is_running || now_us - state->begun_us < EVERY_US) return false;
    relocator_flush();
    *state = (struct purge){.is_running = true, .begun_us = now_us};
    net_pool_run(engine->net, purge, purged, state);
    return true;
}
