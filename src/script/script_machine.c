#include "script/script_machine.h"

#include "base/log/log.h"
#include "base/memory/alloc.h"
#include "base/threads/alarm.h"
#include "engine/engine.h"
#include "lua/machine.h"
#include "net/loop/pool.h"
#include "script/redis_library.h"

#include <errno.h>

struct machine *script_machine_new(struct scripts *scripts) {
    struct machine *machine =
        machine_new((size_t)scripts->engine->config.lua_memory_limit, scripts);
    machine_add_library(machine, "redis", redis_library_open);
    machine_add_alias(machine, "server", "redis");
    machine_add_data_libraries(machine);
    if (scripts->engine->config.lua_enable_deprecated_api) machine_add_deprecated(machine);
    return machine;
}

static void make_machine(struct scripts *scripts) {
    struct machine *machine = script_machine_new(scripts);
    scripts->keys_table = machine_add_run_table(machine, "KEYS");
    scripts->argv_table = machine_add_run_table(machine, "ARGV");
    machine_seal(machine);
    scripts->machine = machine;
    script_cache_init(&scripts->cache, machine, &scripts->engine->stats.evicted_scripts);
}

void script_machine_start(struct engine *engine) {
    struct scripts *scripts = mem_alloc_zeroed(sizeof(*scripts));
    scripts->engine = engine;
    make_machine(scripts);
    engine->scripts = scripts;
}

/* Frees the cache and its machine. */
static void free_evaluated(struct scripts *scripts) {
    script_cache_free(&scripts->cache);
    machine_free(scripts->machine);
}

void script_machine_stop(struct engine *engine) {
    struct scripts *scripts = engine->scripts;
    alarm_stop(scripts->alarm);
    free_evaluated(scripts);
    mem_free(scripts->argv);
    mem_free(scripts);
}

/* --- Running --- */

/* In the handler of a signal. */
static void ring(void *arg) {
    const struct scripts *scripts = arg;
    struct machine *machine = scripts->running;
    if (machine) machine_alarm(machine);
}

/* Servers that run no scripts have no alarm. */
static void start_alarm(struct scripts *scripts) {
    scripts->alarm = alarm_start(ring, scripts);
    scripts->has_no_alarm = !scripts->alarm;
    if (scripts->has_no_alarm)
        log_warning("There is no timer for scripts (%s): whether a script runs for too long is "
                    "noticed later if its instructions take long.",
                    strerror(errno));
}

enum machine_result script_machine_run(struct scripts *scripts, struct machine *machine,
                                       int function, machine_prepare *prepare, void *arg) {
    if (__builtin_expect(!scripts->alarm, 0) && !scripts->has_no_alarm) start_alarm(scripts);
    machine_expect_alarms(machine, scripts->alarm != NULL);
    scripts->running = machine;
    enum machine_result result = machine_run(machine, function, prepare, arg);
    scripts->running = NULL;
    return result;
}

/* --- Flushing --- */

static void free_flushed(void *arg) {
    struct scripts *flushed = arg;
    free_evaluated(flushed);
    mem_free(flushed);
}

void script_machine_flush(struct engine *engine, bool in_pool) {
    struct scripts *scripts = engine->scripts;
    struct scripts *flushed = mem_alloc_zeroed(sizeof(*flushed));
    flushed->machine = scripts->machine;
    flushed->cache = scripts->cache;
    if (in_pool)
        net_pool_run(engine->net, free_flushed, NULL, flushed);
    else
        free_flushed(flushed);
    make_machine(scripts);
}

void script_machine_apply_limit(struct engine *engine) {
    size_t limit = (size_t)engine->config.lua_memory_limit;
    machine_set_memory_limit(engine->scripts->machine, limit);
    machine_set_memory_limit(engine->scripts->functions->machine, limit);
}
