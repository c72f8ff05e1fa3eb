/* lib_table: tables. */
#include "lua/machine_internal.h"

#include <lua5.1/lualib.h>

/* table.insert of Lua itself, the upvalue, for tables that scripts may write. */
static int table_insert(lua_State *L) {
    proxy_refuse_write(L, 1);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

void library_open_table(lua_State *L) {
    library_open(L, luaopen_table, "table");
    lua_getfield(L, -1, "insert");
    lua_pushcclosure(L, table_insert, 1);
    lua_setfield(L, -2, "insert");
    lua_pop(L, 1);
}
