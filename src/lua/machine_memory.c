/* machine_memory: the memory of a machine, and its limit. */
#include "lua/machine_internal.h"

#include "base/memory/alloc.h"

/* After so many bytes the watch is asked, even when few instructions ran: joining long strings is
 * one instruction each. */
enum { ALARM_BYTES = 16 << 20, ALARM_BYTES_MIN = 256 << 10 };

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
        machine_start_collector(machine);
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

void machine_make_room(lua_State *L, size_t size) {
    struct machine *machine = machine_of(L);
    bool fits = machine->used < machine->limit && size <= machine->limit - machine->used;
    if (fits || machine->since_collection < machine->used / 8) return;
    machine_spend(L, machine->used / 64);
    machine_collect_all(machine, L);
}
