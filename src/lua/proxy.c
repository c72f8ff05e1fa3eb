/* proxy: tables that scripts can read but not write.
 *
 * A proxy is an empty table. Its metatable leads reads to the real table (__index), refuses writes
 * (__newindex), and holds the real table and what getmetatable may show under keys that no script
 * can make: light userdata. */
#include "lua/machine_internal.h"

static const char key_of_contents, key_of_metatable;

static int refuse_write(lua_State *L) {
    return luaL_error(L, "Attempt to modify a readonly table");
}

/* Makes the metatable on top of the stack lead to the table at index `real`. */
static void lead_to(lua_State *L, int real) {
    lua_pushvalue(L, real);
    lua_setfield(L, -2, "__index");
    lua_pushlightuserdata(L, (void *)&key_of_contents);
    lua_pushvalue(L, real);
    lua_rawset(L, -3);
}

/* Makes a proxy for the table at index `real` and pushes it; the metatable to show is at index
 * `shown`, or 0. */
static void make(lua_State *L, int real, int shown) {
    lua_newtable(L);
    lua_createtable(L, 0, 5);
    lead_to(L, real);
    lua_pushcfunction(L, refuse_write);
    lua_setfield(L, -2, "__newindex");
    if (shown != 0) {
        lua_pushlightuserdata(L, (void *)&key_of_metatable);
        lua_pushvalue(L, shown);
        lua_rawset(L, -3);
    }
    lua_setmetatable(L, -2);
}

void proxy_push(lua_State *L, bool show_metatable) {
    int real = lua_gettop(L);
    int shown = 0;
    if (show_metatable && lua_getmetatable(L, real)) {
        make(L, lua_gettop(L), 0);
        shown = lua_gettop(L);
    }
    make(L, real, shown);
    lua_replace(L, real);
    lua_settop(L, real);
}

void proxy_set(lua_State *L, int index) {
    int real = lua_gettop(L);
    lua_getmetatable(L, index);
    lead_to(L, real);
    lua_settop(L, real - 1);
}

/* Pushes what the metatable of the value at `index` holds under a key; false when that is nil. */
static bool push_hidden(lua_State *L, int index, const char *key) {
    if (!lua_getmetatable(L, index)) return false;
    lua_pushlightuserdata(L, (void *)key);
    lua_rawget(L, -2);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 2);
        return false;
    }
    lua_remove(L, -2);
    return true;
}

bool proxy_open(lua_State *L, int index) {
    return push_hidden(L, index, &key_of_contents);
}

bool proxy_open_metatable(lua_State *L, int index) {
    return push_hidden(L, index, &key_of_metatable);
}

void proxy_refuse_write(lua_State *L, int index) {
    if (!proxy_open(L, index)) return;
    lua_pushliteral(L, "Attempt to modify a readonly table");
    lua_error(L);
}
