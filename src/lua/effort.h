/* effort: the work of a library function that may take long, reported to the machine in portions,
 * so that the watch is asked in time.
 *
 * Steps are counted, and the time is measured too: to look through a table that was large once may
 * take milliseconds although little is in it. */
#ifndef PACKLIST_LUA_EFFORT_H
#define PACKLIST_LUA_EFFORT_H

#include "base/clock.h"
#include "lua/machine.h"

/* Steps after which the machine is told; those of a table; bytes of text, and ticks of the clock
 * (base/clock.h), that count as one step. */
enum {
    EFFORT_PORTION = 2048,
    EFFORT_OF_TABLE = 16,
    EFFORT_BYTES = 16,
    EFFORT_TICKS = 16,
};

struct effort {
    lua_State *lua;
    size_t steps;
    uint64_t since; /* clock_ticks() at the last report */
};

static inline struct effort effort_begin(lua_State *L) {
    return (struct effort){L, 0, clock_ticks()};
}

/* Reports what has been done. To be called at the end of the function, too. May raise the error
 * that ends the run. */
static inline void effort_report(struct effort *effort) {
    uint64_t now = clock_ticks();
    size_t steps = (size_t)(now - effort->since) / EFFORT_TICKS;
    if (steps < effort->steps) steps = effort->steps;
    effort->steps = 0;
    effort->since = now;
    machine_spend(effort->lua, steps);
}

/* Counts `steps`, each about as much work as an instruction of Lua. May raise the same error. */
static inline void effort_count(struct effort *effort, size_t steps) {
    effort->steps += steps;
    if (effort->steps >= EFFORT_PORTION) effort_report(effort);
}

/* Counts the work on `bytes` bytes of text. */
static inline void effort_count_bytes(struct effort *effort, size_t bytes) {
    effort_count(effort, bytes / EFFORT_BYTES);
}

#endif
