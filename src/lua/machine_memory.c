/* machine_memory: the memory of a machine, and when its garbage is collected.
 *
 * Lua 5.1 collects a little at each step of a running collector, which never stops for long: each
 * time the collector is started it works until a cycle is done, and waits until memory has doubled.
 * While a chunk is parsed nothing may be collected, and restarting the collector after each parse
 * would make every new script pay for a cycle. So the collector is kept stopped, and the allocator
 * starts it when memory has doubled since the last full collection. */
#include "lua/machine_internal.h"

#include "base/alloc.h"

/* Below this the collector does not start. */
enum { COLLECT_AT_MIN = 512 << 10 };

static void start_collector(struct machine *machine) {
    machine->collector_runs = true;
    lua_gc(machine->main, LUA_GCRESTART, 0); /* sets a figure, no more */
}

/* Counts `size` allocated bytes. */
static void count_allocated(struct machine *machine, size_t size) {
    machine->since_collection += size;
    if (machine->until_alarm > size) {
        machine->until_alarm -= size;
    } else {
        machine->until_alarm = ALARM_BYTES;
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
    lua_gc(L, LUA_GCSTOP, 0);
    machine_resume_limit(machine);
    machine->collector_runs = false;
    machine->since_collection = 0;
    if (!machine->is_running) machine->kept = machine->used;
    size_t doubled = machine->used * 2;
    machine->collect_at = doubled > COLLECT_AT_MIN ? doubled : COLLECT_AT_MIN;
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
