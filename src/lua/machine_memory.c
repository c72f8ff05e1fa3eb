/* machine_memory: the memory of a machine, and when its garbage is collected.
 *
 * Lua 5.1 collects a little at each step of a running collector, which never stops for long: each
 * time the collector is started it works until a cycle is done, and waits until memory has doubled.
 * While a chunk is parsed nothing may be collected, and restarting the collector after each parse
 * would make every new script pay for a cycle. So the collector is kept stopped until memory has
 * doubled since the last cycle. Then it is started by the allocator, or after a parse, when it does
 * as much work as the parse has made: short scripts allocate nothing else. */
#include "lua/machine_internal.h"

#include "base/alloc.h"

/* Below this the collector does not start. */
enum { COLLECT_AT_MIN = 512 << 10 };

/* After so many bytes the watch is asked, even when few instructions ran: joining long strings is
 * one instruction each. */
enum { ALARM_BYTES = 16 << 20, ALARM_BYTES_MIN = 256 << 10 };

static void start_collector(struct machine *machine) {
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

/* Mostly at most half of what is left, so that a machine that is nearly full is collected in
 * time. */
void machine_restart_byte_count(struct machine *machine) {
    size_t left = machine->used < machine->limit ? machine->limit - machine->used : 0;
    machine->until_alarm = left / 2 > ALARM_BYTES       ? ALARM_BYTES
                           : left / 2 > ALARM_BYTES_MIN ? left / 2
                                                        : ALARM_BYTES_MIN;
}

/* Counts `size` allocated bytes. */
static void count_allocated(struct machine *machine, size_t size) {
    machine->since_collection += size;
    if (machine->until_alarm > size) {
        machine->until_alarm -= size;
    } else {
        machine_restart_byte_count(machine);
        machine_alarm(machine);
    }
    if (machine->used > machine->collect_at && !machine->collector_runs && !machine->parsing &&
        machine->main)
        start_collector(machine);
}

/* While the limit is suspended Lua must not fail: its error would be caught by nothing, or leave a
 * command in its middle. Then the process ends as it does for every other allocation. */
static void *allocate(const struct machine *machine, void *ptr, size_t size) {
    if (machine->suspended > 0) return ptr ? mem_realloc(ptr, size) : mem_alloc(size);
    return ptr ? mem_try_realloc(ptr, size) : mem_try_alloc(size);
}

void *machine_allocate(void *arg, void *ptr, size_t old_size, size_t new_size) {
    struct machine *machine = arg;
    if (new_size == 0) {
        if (ptr) mem_free_sized(ptr, old_size);
        machine->used -= old_size;
        return NULL;
    }
    if (new_size > old_size) {
        size_t more = new_size - old_size;
        if (machine->suspended == 0 &&
            (machine->used > machine->limit || more > machine->limit - machine->used))
            return NULL;
        void *larger = allocate(machine, ptr, new_size);
        if (!larger) return NULL;
        machine->used += more;
        machine->blocks |= new_size;
        count_allocated(machine, more);
        return larger;
    }
    if (new_size == old_size) return ptr;
    machine->used -= old_size - new_size;
    return mem_realloc(ptr, new_size); /* Lua counts on it that shrinking works */
}

size_t machine_memory(const struct machine *machine) {
    return machine->used;
}

void machine_set_memory_limit(struct machine *machine, size_t limit) {
    machine->limit = limit;
    if (machine->used > limit && !machine->is_running && machine->main)
        machine_collect_all(machine, machine->main);
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
    start_collector(machine);
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

void machine_make_room(lua_State *L, size_t size) {
    struct machine *machine = machine_of(L);
    bool fits = machine->used < machine->limit && size <= machine->limit - machine->used;
    if (fits || machine->since_collection < machine->used / 8) return;
    machine_spend(L, machine->used / 64);
    machine_collect_all(machine, L);
}

void machine_check_memory(struct machine *machine, lua_State *L) {
    if (machine->used <= machine->limit || machine->suspended > 0) return;
    machine_collect_all(machine, L);
    if (machine->used > machine->limit) luaL_error(L, "not enough memory");
}
