#include "server/process/memory_return.h"

#include "base/log/log.h"
#include "base/memory/alloc.h"
#include "engine/engine.h"
#include "net/loop/pool.h"

enum { RETURN_EVERY_MS = 1000 };

static void return_large(void *arg) {
    (void)arg;
    mem_return_large();
}

static void returned_large(void *arg) {
    struct memory_return *memory = arg;
    memory->is_returning = false;
}

void memory_return_tick(struct engine *engine) {
    struct memory_return *memory = engine->memory_return;
    if (engine->steady_ms - memory->returned_ms < RETURN_EVERY_MS || memory->is_returning) return;
    memory->returned_ms = engine->steady_ms;
    if (!engine->config.jemalloc_bg_thread) {
        mem_decay();
    } else if (mem_has_freed_large()) {
        memory->is_returning = true;
        net_pool_run(engine->net, return_large, returned_large, memory);
    }
}

void memory_return_configure(struct engine *engine) {
    bool on = engine->config.jemalloc_bg_thread;
    if (mem_decay_in_background(on)) return;
    log_warning("There is no thread that gives freed memory back: the event loop does.");
    engine->config.jemalloc_bg_thread = false;
}
