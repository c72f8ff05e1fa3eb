/* lib_deprecated: getfenv, setfenv and newproxy, which scripts have only if the server is told so.
 *
 * - getfenv shows _G in the place of a table that scripts must not write into (machine_globals.c).
 * - setfenv may change the function that runs, which is run again, and the globals of the main
 *   thread. machine_finish gives both back what they had.
 * - What newproxy returns has no finalizer: Lua calls finalizers within any allocation, perhaps
 *   after the run, and no watch could end them. The metatable has a metatable itself, the guard,
 *   which refuses the key "__gc". */
#include "lua/machine_internal.h"

/* Returns whether the reference is one to the value on top of the stack. */
static bool is_reference_to(lua_State *L, int reference) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, reference);
    bool is_same = lua_rawequal(L, -1, -2);
    lua_pop(L, 1);
    return is_same;
}

/* --- Environments --- */

/* Pushes the function that argument 1 is, or that runs at that level of the stack; without an
 * argument, the caller. */
static void push_function(lua_State *L) {
    lua_Debug debug;
    if (lua_isfunction(L, 1)) {
        lua_pushvalue(L, 1);
        return;
    }
    int64_t level = library_integer(L, 1, 1);
    luaL_argcheck(L, level >= 0, 1, "level must be non-negative");
    bool is_level = level <= INT32_MAX && lua_getstack(L, (int)level, &debug);
    luaL_argcheck(L, is_level, 1, "invalid level");
    machine_spend(L, (size_t)level); /* Lua has gone through the frames one by one */
    lua_getinfo(L, "f", &debug);
    if (lua_isnil(L, -1))
        luaL_error(L, "no function environment for tail call at level %d", (int)level);
    /* The script has no caller. */
    luaL_argcheck(L, !is_reference_to(L, machine_of(L)->body), 1, "invalid level");
}

static int base_getfenv(lua_State *L) {
    const struct machine *machine = machine_of(L);
    push_function(L);
    if (lua_iscfunction(L, -1))
        lua_pushvalue(L, LUA_GLOBALSINDEX);
    else
        lua_getfenv(L, -1);
    if (is_reference_to(L, machine->contents) || is_reference_to(L, machine->bare))
        lua_rawgeti(L, LUA_REGISTRYINDEX, machine->globals);
    return 1;
}

/* Level 0 means the thread that runs: what it loads from now on has the table as environment. */
static int base_setfenv(lua_State *L) {
    luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    if (!lua_isfunction(L, 1) && luaL_checknumber(L, 1) == 0) {
        machine_keep_environments(machine_of(L), L);
        lua_replace(L, LUA_GLOBALSINDEX);
        return 0;
    }
    push_function(L);
    if (lua_iscfunction(L, -1))
        return luaL_error(L, "'setfenv' cannot change environment of given object");
    machine_keep_environments(machine_of(L), L);
    lua_pushvalue(L, 2);
    lua_setfenv(L, -2);
    return 1;
}

/* --- Userdata that are nothing but their metatable --- */

void library_refuse_finalizer(lua_State *L, int table, int key) {
    if (lua_type(L, key) != LUA_TSTRING || strcmp(lua_tostring(L, key), "__gc") != 0) return;
    if (!lua_getmetatable(L, table)) return;
    if (is_reference_to(L, machine_of(L)->guard))
        luaL_error(L, "scripts cannot have finalizers (__gc)");
    lua_pop(L, 1);
}

/* Called for keys that the metatable does not have. */
static int guard_new_key(lua_State *L) {
    lua_settop(L, 3);
    library_refuse_finalizer(L, 1, 2);
    library_set(L, 1);
    return 0;
}

/* newproxy(): without a metatable; newproxy(true): with a new one; newproxy(other): with that of
 * the other. */
static int base_newproxy(lua_State *L) {
    lua_settop(L, 1);
    lua_newuserdata(L, 0);
    if (!lua_toboolean(L, 1)) return 1;
    if (lua_isboolean(L, 1)) {
        lua_newtable(L);
        lua_rawgeti(L, LUA_REGISTRYINDEX, machine_of(L)->guard);
        lua_setmetatable(L, -2);
    } else if (!lua_isuserdata(L, 1) || !lua_getmetatable(L, 1)) {
        return luaL_argerror(L, 1, "boolean or proxy expected");
    }
    lua_setmetatable(L, 2);
    return 1;
}

/* getmetatable shows `false` of a guarded table, and setmetatable refuses to replace the guard. */
void machine_add_deprecated(struct machine *machine) {
    lua_State *L = machine->main;
    lua_newtable(L);
    lua_pushcfunction(L, guard_new_key);
    lua_setfield(L, -2, "__newindex");
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    machine->guard = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_register(L, "getfenv", base_getfenv);
    lua_register(L, "setfenv", base_setfenv);
    lua_register(L, "newproxy", base_newproxy);
}
