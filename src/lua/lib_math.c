/* lib_math: mathematics, and the clock of os. Random numbers are those of Redis: one sequence for
 * all scripts of a process, which begins the same way on every machine and goes on from script to
 * script. */
#include "lua/machine_internal.h"

#include <lua5.1/lualib.h>
#include <math.h>

/* A number in [0, 1). */
static double next_fraction(lua_State *L) {
    const uint32_t modulus = INT32_MAX;
    uint32_t number = random48_next(&machine_of(L)->random) % modulus;
    return (double)number / modulus;
}

static double floor_argument(lua_State *L, int arg) {
    return floor(luaL_checknumber(L, arg));
}

static int math_random(lua_State *L) {
    double fraction = next_fraction(L);
    double low = 1;
    double high;
    switch (lua_gettop(L)) {
    case 0: lua_pushnumber(L, fraction); return 1;
    case 1: high = floor_argument(L, 1); break;
    case 2:
        low = floor_argument(L, 1);
        high = floor_argument(L, 2);
        break;
    default: return luaL_error(L, "wrong number of arguments");
    }
    luaL_argcheck(L, low <= high, lua_gettop(L), "interval is empty");
    lua_pushnumber(L, floor(fraction * (high - low + 1)) + low);
    return 1;
}

static int math_randomseed(lua_State *L) {
    uint32_t seed = (uint32_t)library_integer(L, 1, 0);
    luaL_checkany(L, 1);
    machine_of(L)->random = random48_seeded(seed);
    return 0;
}

void library_open_math(lua_State *L) {
    static const luaL_Reg FUNCTIONS[] = {
        {"random", math_random},
        {"randomseed", math_randomseed},
        {NULL, NULL},
    };
    static const char *const OF_OS[] = {"clock", NULL};
    library_open(L, luaopen_math, "math");
    library_add(L, FUNCTIONS);
    library_open(L, luaopen_os, "os");
    library_keep_only(L, OF_OS);
    lua_pop(L, 2);
}
