/* lib_base: the base functions of Lua, as Redis shows them to scripts. Those of Lua itself that do
 * no harm are kept; here are those that must know proxies, errors that end a run, or limits.
 * lib_deprecated.c has those that the server gives scripts only on demand. */
#include "lua/machine_internal.h"
#include "lua/text_buffer.h"

#include <lua5.1/lualib.h>

static const char *const KEPT[] = {"_G",       "_VERSION", "coroutine", "assert",   "error",
                                   "gcinfo",   "ipairs",   "pairs",     "rawequal", "select",
                                   "tonumber", "tostring", "type",      NULL};

/* --- Tables --- */

static int base_getmetatable(lua_State *L) {
    luaL_checkany(L, 1);
    if (proxy_open_metatable(L, 1)) return 1;
    if (proxy_open(L, 1) || !lua_getmetatable(L, 1)) {
        lua_pushnil(L);
        return 1;
    }
    luaL_getmetafield(L, 1, "__metatable");
    return 1;
}

static int base_setmetatable(lua_State *L) {
    int type = lua_type(L, 2);
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_argcheck(L, type == LUA_TNIL || type == LUA_TTABLE, 2, "nil or table expected");
    proxy_refuse_write(L, 1);
    if (luaL_getmetafield(L, 1, "__metatable"))
        return luaL_error(L, "cannot change a protected metatable");
    lua_settop(L, 2);
    lua_setmetatable(L, 1);
    return 1;
}

static int base_rawget(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_checkany(L, 2);
    lua_settop(L, 2);
    if (proxy_open(L, 1)) lua_replace(L, 1);
    lua_rawget(L, 1);
    return 1;
}

static int base_rawset(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_checkany(L, 2);
    luaL_checkany(L, 3);
    lua_settop(L, 3);
    proxy_refuse_write(L, 1);
    library_refuse_finalizer(L, 1, 2);
    library_set(L, 1);
    return 1;
}

static int base_next(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    if (proxy_open(L, 1)) lua_replace(L, 1);
    if (lua_next(L, 1)) return 2;
    lua_pushnil(L);
    return 1;
}

static int base_unpack(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    int64_t first = library_integer(L, 2, 1);
    int64_t last = library_integer(L, 3, (int64_t)lua_objlen(L, 1));
    if (first > last) return 0;
    int64_t count = last - first + 1;
    if (first < INT32_MIN || last > INT32_MAX || count > INT32_MAX ||
        !lua_checkstack(L, (int)count))
        return luaL_error(L, "too many results to unpack");
    for (int64_t i = first; i <= last; i++) lua_rawgeti(L, 1, (int)i);
    return (int)count;
}

/* --- Errors --- */

/* Replaces an error {err = text} on top of the stack by its text, as scripts expect it of pcall. */
static void flatten_error(lua_State *L) {
    if (lua_type(L, -1) != LUA_TTABLE) return;
    lua_pushliteral(L, "err");
    lua_rawget(L, -2);
    if (lua_type(L, -1) == LUA_TSTRING)
        lua_replace(L, -2);
    else
        lua_pop(L, 1);
}

/* Without a function it fails to call `true`, and says so, as Redis's does. */
static int base_pcall(lua_State *L) {
    if (lua_gettop(L) == 0) lua_pushboolean(L, true);
    int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
    if (status != 0) {
        machine_rethrow(L);
        flatten_error(L);
    }
    lua_pushboolean(L, status == 0);
    lua_insert(L, 1);
    return lua_gettop(L);
}

/* The handler of xpcall, around the script's, an upvalue, which must not run when the run ends. */
static int handle_error(lua_State *L) {
    if (machine_of(L)->end_text) return 1;
    lua_settop(L, 1);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, 1, 1);
    return 1;
}

static int base_xpcall(lua_State *L) {
    luaL_checkany(L, 2);
    lua_settop(L, 2);
    lua_pushcclosure(L, handle_error, 1);
    lua_insert(L, 1);
    int status = lua_pcall(L, 0, LUA_MULTRET, 1);
    if (status != 0) machine_rethrow(L);
    lua_pushboolean(L, status == 0);
    lua_replace(L, 1);
    return lua_gettop(L);
}

/* --- Chunks --- */

enum { BYTES_PER_STEP = 16 };

/* Names that scripts choose for their chunks are ignored: they only make a chunk look like
 * another. */
static int load_text(lua_State *L, struct slice text, const char *chunk_name) {
    machine_spend(L, text.len / BYTES_PER_STEP);
    if (machine_load(L, text, chunk_name)) return 1;
    lua_pushnil(L);
    lua_insert(L, -2);
    return 2;
}

static int base_loadstring(lua_State *L) {
    size_t len;
    const char *text = luaL_checklstring(L, 1, &len);
    return load_text(L, slice_make(text, len), text);
}

/* Reads everything before it parses, so that the parser never calls back. */
static int base_load(lua_State *L) {
    struct text_buffer text;
    luaL_checktype(L, 1, LUA_TFUNCTION);
    lua_settop(L, 1);
    text_buffer_init(&text, L);
    for (;;) {
        size_t len;
        lua_pushvalue(L, 1);
        if (lua_pcall(L, 0, 1, 0) != 0) {
            machine_rethrow(L);
            lua_pushnil(L);
            lua_insert(L, -2);
            return 2;
        }
        const char *piece = lua_tolstring(L, -1, &len);
        if (lua_isnil(L, -1) || (piece && len == 0)) break;
        if (!piece) {
            lua_pushnil(L);
            luaL_where(L, 1);
            lua_pushliteral(L, "reader function must return a string");
            lua_concat(L, 2);
            return 2;
        }
        text_buffer_append(&text, piece, len);
        lua_pop(L, 1);
    }
    return load_text(L, slice_make(text.ptr, text.len), "=(load)");
}

/* --- Garbage --- */

/* Scripts may run steps of the collector, which count as work, but not stop or tune it: that would
 * affect other scripts. These options answer what Lua's defaults are. */
static int base_collectgarbage(lua_State *L) {
    static const char *const OPTIONS[] = {"stop", "restart",  "collect",    "count",
                                          "step", "setpause", "setstepmul", NULL};
    enum { STOP, RESTART, COLLECT, COUNT, STEP, SET_PAUSE, SET_STEP_MULTIPLIER };
    struct machine *machine = machine_of(L);
    int option = luaL_checkoption(L, 1, "collect", OPTIONS);
    luaL_optinteger(L, 2, 0);
    if (option == COLLECT || option == STEP) {
        machine_spend(L, machine->used / BYTES_PER_STEP);
        machine_collect_all(machine, L);
    }
    if (option == STEP)
        lua_pushboolean(L, true);
    else if (option == COUNT)
        lua_pushnumber(L, (double)machine->used / 1024);
    else
        lua_pushinteger(L, option >= SET_PAUSE ? 200 : 0);
    return 1;
}

void library_open_base(lua_State *L) {
    static const luaL_Reg FUNCTIONS[] = {
        {"collectgarbage", base_collectgarbage},
        {"getmetatable", base_getmetatable},
        {"load", base_load},
        {"loadstring", base_loadstring},
        {"next", base_next},
        {"pcall", base_pcall},
        {"rawget", base_rawget},
        {"rawset", base_rawset},
        {"setmetatable", base_setmetatable},
        {"unpack", base_unpack},
        {"xpcall", base_xpcall},
        {NULL, NULL},
    };
    library_open(L, luaopen_base, "_G", KEPT, FUNCTIONS);
    lua_getglobal(L, "pairs"); /* it returns its upvalue: from now on, our next */
    lua_getglobal(L, "next");
    lua_pushcclosure(L, lua_tocfunction(L, -2), 1);
    lua_setglobal(L, "pairs");
    lua_pop(L, 1);
}
