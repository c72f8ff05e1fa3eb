/* machine_watch: steps are counted, and the watch is asked in time. Once it has ended the run,
 * every place that catches errors raises its error again. */
#include "lua/machine_internal.h"

/* A coroutine counts its instructions in smaller portions: what it ran since the last one is lost
 * when it yields, so each resumption is counted as one portion. */
enum { COROUTINE_PORTION = 1000 };

void machine_set_watch(struct machine *machine, machine_watch *watch, void *arg) {
    machine->watch = watch;
    machine->watch_arg = arg;
}

const char *machine_end_text(const struct machine *machine) {
    return machine->end_text;
}

void machine_rethrow(lua_State *L) {
    struct machine *machine = machine_of(L);
    if (!machine->end_text) return;
    lua_checkstack(L, 1);
    lua_pushstring(L, machine->end_text);
    lua_error(L);
}

bool machine_goes_on(struct machine *machine) {
    if (!machine->end_text && machine->watch)
        machine->end_text = machine->watch(machine->watch_arg);
    return !machine->end_text;
}

void machine_spend(lua_State *L, size_t steps) {
    struct machine *machine = machine_of(L);
    machine->steps += steps;
    if (machine->steps < MACHINE_WATCH_STEPS) return;
    machine->steps = 0;
    machine_rethrow(L);
    machine_collect_when_full(machine, L);
    machine_goes_on(machine);
    machine_rethrow(L);
}

/* ThreadSanitizer keeps signals back, and so the alarm's, while Lua works. */
#ifdef __SANITIZE_THREAD__
enum { COUNTS_ALWAYS = true };
#else
enum { COUNTS_ALWAYS = false };
#endif

void machine_expect_alarms(struct machine *machine, bool expects) {
    machine->expects_alarms = expects && !COUNTS_ALWAYS;
}

/* Lua calls this when a portion has run. The first one after an alarm is one instruction. */
static void count_portion(lua_State *L, lua_Debug *debug) {
    (void)debug;
    struct machine *machine = machine_of(L);
    int portion = L == machine->main ? MACHINE_WATCH_STEPS : COROUTINE_PORTION;
    if (lua_gethookcount(L) != portion) lua_sethook(L, count_portion, LUA_MASKCOUNT, portion);
    machine_spend(L, (size_t)portion);
}

void machine_begin_counting(struct machine *machine) {
    int events = machine->expects_alarms ? 0 : LUA_MASKCOUNT;
    lua_sethook(machine->main, count_portion, events, MACHINE_WATCH_STEPS);
}

void machine_alarm(struct machine *machine) {
    machine->steps = MACHINE_WATCH_STEPS;
    if (machine->is_running) lua_sethook(machine->running, count_portion, LUA_MASKCOUNT, 1);
}

lua_State *machine_enter_thread(lua_State *L, lua_State *thread) {
    struct machine *machine = machine_of(L);
    machine_spend(L, COROUTINE_PORTION);
    lua_sethook(thread, count_portion, LUA_MASKCOUNT, COROUTINE_PORTION);
    lua_State *previous = machine->running;
    machine->running = thread;
    return previous;
}
