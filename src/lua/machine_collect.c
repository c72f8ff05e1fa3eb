/* machine_collect: when the garbage of a machine is collected.
 *
 * A collector of Lua 5.1 that is started works until a cycle is done, and then waits until memory
 * has doubled. While a chunk is parsed nothing may be collected, and restarting the collector after
 * each parse would make every new script pay for a cycle. So it is kept stopped until memory has
 * doubled. Then it is started by the allocator, or after a parse, when it does as much work as the
 * parse has made: short scripts allocate nothing else. */
#include "lua/machine_internal.h"

/* Below this the collector does not start. */
enum { COLLECT_AT_MIN = 512 << 10 };

void machine_start_collector(struct machine *machine) {
    machine->collector_runs = true;
    lua_gc(machine->main, LUA_GCRESTART, 0); /* sets a figure, no more */
}

/* The collector rests until memory has doubled. */
static void rest(struct machine *machine) {
    lua_gc(machine->main, LUA_GCSTOP, 0);
    machine->collector_runs = false;
    size_t doubled = machine->used * 2;
    machine->collect_at = doubled > COLLECT_AT_MIN ? doubled : COLLECT_AT_MIN;
}

void machine_suspend_limit(struct machine *machine) {
    machine->suspended++;
}

void machine_resume_limit(struct machine *machine) {
    machine->suspended--;
}

void machine_collect_all(struct machine *machine, lua_State *L) {
    machine_suspend_limit(machine); /* a smaller table of strings is a new one */
    lua_gc(L, LUA_GCCOLLECT, 0);
    machine_resume_limit(machine);
    machine->since_collection = 0;
    if (!machine->is_running) machine->kept = machine->used;
    rest(machine);
}

void machine_begin_parse(struct machine *machine) {
    machine->parsing = true;
    machine->used_before_parse = machine->used;
    if (machine->collector_runs) lua_gc(machine->main, LUA_GCSTOP, 0);
}

void machine_end_parse(struct machine *machine) {
    machine->parsing = false;
    if (!machine->collector_runs && machine->used <= machine->collect_at) return;
    size_t before = machine->used_before_parse;
    size_t parsed = machine->used > before ? machine->used - before : 0;
    machine_start_collector(machine);
    machine_suspend_limit(machine); /* as above */
    bool is_done = lua_gc(machine->main, LUA_GCSTEP, (int)(parsed / 1024) + 1) != 0;
    machine_resume_limit(machine);
    if (is_done) rest(machine);
}

void machine_collect(struct machine *machine) {
    machine_collect_all(machine, machine->main);
}

void machine_collect_when_full(struct machine *machine, lua_State *L) {
    size_t limit = machine->limit;
    if (machine->used < limit / 4 * 3) return;
    size_t left = machine->used < limit ? limit - machine->used : 0;
    if (machine->since_collection > left / 2) machine_collect_all(machine, L);
}

void machine_check_memory(struct machine *machine, lua_State *L) {
    if (machine->used <= machine->limit || machine->suspended > 0) return;
    machine_collect_all(machine, L);
    if (machine->used > machine->limit) luaL_error(L, "not enough memory");
}
