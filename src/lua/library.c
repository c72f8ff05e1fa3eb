/* library: what the files lib_*.c have in common. */
#include "lua/machine_internal.h"

#include <math.h>

/* Takes away from the table on top of the stack what is not named. */
static void keep_only(lua_State *L, const char *const *names) {
    for (lua_pushnil(L); lua_next(L, -2);) {
        const char *const *name = names;
        lua_pop(L, 1);
        while (*name && strcmp(*name, lua_tostring(L, -1)) != 0) name++;
        if (*name) continue;
        lua_pushvalue(L, -1);
        lua_pushnil(L);
        lua_rawset(L, -4);
    }
}

void library_open(lua_State *L, lua_CFunction open, const char *name, const char *const *kept,
                  const luaL_Reg *functions) {
    if (open) {
        lua_pushcfunction(L, open);
        lua_call(L, 0, 0);
    }
    lua_getglobal(L, name);
    if (kept) keep_only(L, kept);
    if (functions) luaL_register(L, NULL, functions);
    lua_pop(L, 1);
}

uint64_t library_float_bits(double number, size_t size) {
    uint64_t bits = 0;
    float single = (float)number;
    memcpy(&bits, size == sizeof(single) ? (void *)&single : (void *)&number, size);
    return bits;
}

double library_float(uint64_t bits, size_t size) {
    float single;
    double number;
    memcpy(&single, &bits, sizeof(single));
    memcpy(&number, &bits, sizeof(number));
    return size == sizeof(single) ? (double)single : number;
}

uint64_t library_extend_sign(uint64_t value, size_t size) {
    if (size == 0 || size >= sizeof(value)) return value;
    uint64_t sign = (uint64_t)1 << (size * 8 - 1);
    return (value ^ sign) - sign;
}

int64_t library_integer(lua_State *L, int arg, int64_t otherwise) {
    const double max = 9007199254740992; /* 2^53 */
    if (lua_isnoneornil(L, arg)) return otherwise;
    double number = luaL_checknumber(L, arg);
    if (isnan(number)) return 0;
    return (int64_t)(number > max ? max : number < -max ? -max : number);
}
