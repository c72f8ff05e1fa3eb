/* library: what the files lib_*.c have in common. */
#include "lua/machine_internal.h"

#include <math.h>

void library_keep_only(lua_State *L, const char *const *names) {
    int table = lua_gettop(L);
    lua_newtable(L);
    for (; *names; names++) {
        lua_getfield(L, table, *names);
        lua_setfield(L, -2, *names);
    }
    int kept = lua_gettop(L);
    for (lua_pushnil(L); lua_next(L, table);) {
        lua_pop(L, 1);
        lua_pushvalue(L, -1);
        lua_pushvalue(L, -1);
        lua_rawget(L, kept);
        lua_rawset(L, table);
    }
    lua_settop(L, table);
}

void library_open(lua_State *L, lua_CFunction open, const char *name) {
    lua_pushcfunction(L, open);
    lua_call(L, 0, 0);
    lua_getglobal(L, name);
}

int64_t library_integer(lua_State *L, int arg, int64_t otherwise) {
    const double max = 9007199254740992; /* 2^53 */
    if (lua_isnoneornil(L, arg)) return otherwise;
    double number = luaL_checknumber(L, arg);
    if (isnan(number)) return 0;
    return (int64_t)(number > max ? max : number < -max ? -max : number);
}
