/* lib_math: mathematics, the clock of os, and bits. Random numbers are those of Redis: one sequence
 * for all scripts of a process, which begins the same way on every machine and goes on from script
 * to script. */
#include "lua/machine_internal.h"

#include <lua5.1/lualib.h>
#include <math.h>
#include <stdlib.h>

void machine_seed_random(struct machine *machine, uint32_t seed) {
    machine->random[0] = 0x330E; /* all three as after srand48 */
    machine->random[1] = (unsigned short)seed;
    machine->random[2] = (unsigned short)(seed >> 16);
}

/* A number in [0, 1). */
static double next_fraction(lua_State *L) {
    const int32_t modulus = INT32_MAX;
    return (double)(nrand48(machine_of(L)->random) % modulus) / modulus;
}

static int math_random(lua_State *L) {
    int count = lua_gettop(L);
    double fraction = next_fraction(L);
    if (count == 0) {
        lua_pushnumber(L, fraction);
        return 1;
    }
    if (count > 2) return luaL_error(L, "wrong number of arguments");
    double low = count == 1 ? 1 : floor(luaL_checknumber(L, 1));
    double high = floor(luaL_checknumber(L, count));
    luaL_argcheck(L, low <= high, count, "interval is empty");
    lua_pushnumber(L, floor(fraction * (high - low + 1)) + low);
    return 1;
}

static int math_randomseed(lua_State *L) {
    uint32_t seed = (uint32_t)library_integer(L, 1, 0);
    luaL_checkany(L, 1);
    machine_seed_random(machine_of(L), seed);
    return 0;
}

void library_open_math(lua_State *L) {
    static const luaL_Reg FUNCTIONS[] = {
        {"random", math_random},
        {"randomseed", math_randomseed},
        {NULL, NULL},
    };
    static const char *const OF_OS[] = {"clock", NULL};
    library_open(L, luaopen_math, "math", NULL, FUNCTIONS);
    library_open(L, luaopen_os, "os", OF_OS, NULL);
}

/* --- Bits of 32-bit numbers, as LuaBitOp documents them ---
 *
 * Arguments are taken modulo 2^32, results are signed. */

/* Rounds to the nearest whole number, halves to even, and takes the lowest 32 bits: those of the
 * sum with 2^52 + 2^51, whose last bit counts ones. Beyond +-2^51 the result has no meaning. */
static uint32_t to_bits(lua_State *L, int arg) {
    double sum = luaL_checknumber(L, arg) + 6755399441055744.0;
    uint64_t bits;
    memcpy(&bits, &sum, sizeof(bits));
    return (uint32_t)bits;
}

static int push_bits(lua_State *L, uint32_t bits) {
    lua_pushinteger(L, (int32_t)bits);
    return 1;
}

static int bit_tobit(lua_State *L) {
    return push_bits(L, to_bits(L, 1));
}

static int bit_bnot(lua_State *L) {
    return push_bits(L, ~to_bits(L, 1));
}

/* Defines a function that joins all arguments by an operator, from the last one on. */
#define JOINING(function, operator)                                                                \
    static int function(lua_State *L) {                                                            \
        uint32_t bits = to_bits(L, 1);                                                             \
        for (int i = lua_gettop(L); i > 1; i--) bits operator to_bits(L, i);                       \
        return push_bits(L, bits);                                                                 \
    }
JOINING(bit_band, &=)
JOINING(bit_bor, |=)
JOINING(bit_bxor, ^=)

static int bit_lshift(lua_State *L) {
    uint32_t bits = to_bits(L, 1);
    return push_bits(L, bits << (to_bits(L, 2) & 31));
}

static int bit_rshift(lua_State *L) {
    uint32_t bits = to_bits(L, 1);
    return push_bits(L, bits >> (to_bits(L, 2) & 31));
}

static int bit_arshift(lua_State *L) {
    int32_t bits = (int32_t)to_bits(L, 1);
    return push_bits(L, (uint32_t)(bits >> (to_bits(L, 2) & 31)));
}

static uint32_t rotate_left(uint32_t bits, uint32_t count) {
    return bits << (count & 31) | bits >> (-count & 31);
}

static int bit_rol(lua_State *L) {
    uint32_t bits = to_bits(L, 1);
    return push_bits(L, rotate_left(bits, to_bits(L, 2)));
}

static int bit_ror(lua_State *L) {
    uint32_t bits = to_bits(L, 1);
    return push_bits(L, rotate_left(bits, -to_bits(L, 2)));
}

static int bit_bswap(lua_State *L) {
    return push_bits(L, __builtin_bswap32(to_bits(L, 1)));
}

/* The lowest digits in hexadecimal: 8, or as many as the second argument says, in capitals when it
 * is negative. */
static int bit_tohex(lua_State *L) {
    uint32_t bits = to_bits(L, 1);
    int64_t count = lua_isnone(L, 2) ? 8 : (int32_t)to_bits(L, 2);
    const char *digits = count < 0 ? "0123456789ABCDEF" : "0123456789abcdef";
    if (count < 0) count = -count;
    if (count > 8) count = 8;
    char text[8];
    for (int64_t i = count; i-- > 0; bits >>= 4) text[i] = digits[bits & 15];
    lua_pushlstring(L, text, (size_t)count);
    return 1;
}

void library_open_bit(lua_State *L) {
    static const luaL_Reg FUNCTIONS[] = {
        {"tobit", bit_tobit},   {"bnot", bit_bnot},       {"band", bit_band},
        {"bor", bit_bor},       {"bxor", bit_bxor},       {"lshift", bit_lshift},
        {"rshift", bit_rshift}, {"arshift", bit_arshift}, {"rol", bit_rol},
        {"ror", bit_ror},       {"bswap", bit_bswap},     {"tohex", bit_tohex},
        {NULL, NULL},
    };
    luaL_register(L, "bit", FUNCTIONS);
    lua_pop(L, 1);
}
