/* lib_coroutine: coroutines whose steps the watch sees and that cannot keep an error that ends the
 * run. Their depth is bounded by Lua, which counts C calls through lua_setlevel. */
#include "lua/machine_internal.h"

#include <lua5.1/lualib.h>

static const char *status_of(lua_State *L, lua_State *thread) {
    lua_Debug debug;
    if (L == thread) return "running";
    if (lua_status(thread) == LUA_YIELD) return "suspended";
    if (lua_status(thread) != 0) return "dead";
    if (lua_getstack(thread, 0, &debug) > 0) return "normal";
    return lua_gettop(thread) == 0 ? "dead" : "suspended";
}

/* A coroutine that does not run has nothing that catches errors: should making room on its stack
 * fail, the process would end. */
static bool make_room(lua_State *L, lua_State *thread, int count) {
    machine_suspend_limit(machine_of(L));
    bool has_room = lua_checkstack(thread, count);
    machine_resume_limit(machine_of(L));
    return has_room;
}

/* Resumes with `count` arguments from the stack of L. Returns the number of results, which are
 * pushed, or -1 with an error object. */
static int resume(lua_State *L, lua_State *thread, int count) {
    const char *status = status_of(L, thread);
    if (status[0] != 's') {
        lua_pushfstring(L, "cannot resume %s coroutine", status);
        return -1;
    }
    if (!make_room(L, thread, count + 1)) luaL_error(L, "too many arguments to resume");
    lua_State *previous = machine_enter_thread(L, thread);
    lua_xmove(L, thread, count);
    lua_setlevel(L, thread);
    int result = lua_resume(thread, count);
    machine_of(L)->running = previous;
    if (result != 0 && result != LUA_YIELD) {
        machine_rethrow(L);
        lua_xmove(thread, L, 1);
        return -1;
    }
    count = lua_gettop(thread);
    if (!lua_checkstack(L, count + 1)) luaL_error(L, "too many results to resume");
    lua_xmove(thread, L, count);
    return count;
}

static int co_resume(lua_State *L) {
    lua_State *thread = lua_tothread(L, 1);
    luaL_argcheck(L, thread, 1, "coroutine expected");
    int count = resume(L, thread, lua_gettop(L) - 1);
    lua_pushboolean(L, count >= 0);
    int results = count >= 0 ? count : 1;
    lua_insert(L, -(results + 1));
    return results + 1;
}

static int wrapped(lua_State *L) {
    lua_State *thread = lua_tothread(L, lua_upvalueindex(1));
    int count = resume(L, thread, lua_gettop(L));
    if (count >= 0) return count;
    if (lua_isstring(L, -1)) {
        luaL_where(L, 1);
        lua_insert(L, -2);
        lua_concat(L, 2);
    }
    return lua_error(L);
}

static int co_create(lua_State *L) {
    luaL_argcheck(L, lua_isfunction(L, 1) && !lua_iscfunction(L, 1), 1, "Lua function expected");
    lua_State *thread = lua_newthread(L);
    lua_pushvalue(L, 1);
    lua_xmove(L, thread, 1);
    return 1;
}

static int co_wrap(lua_State *L) {
    co_create(L);
    lua_pushcclosure(L, wrapped, 1);
    return 1;
}

static int co_status(lua_State *L) {
    lua_State *thread = lua_tothread(L, 1);
    luaL_argcheck(L, thread, 1, "coroutine expected");
    lua_pushstring(L, status_of(L, thread));
    return 1;
}

void library_open_coroutine(lua_State *L) {
    static const char *const KEPT[] = {"running", "yield", NULL};
    static const luaL_Reg FUNCTIONS[] = {
        {"create", co_create}, {"resume", co_resume}, {"status", co_status},
        {"wrap", co_wrap},     {NULL, NULL},
    };
    library_open(L, NULL, "coroutine", KEPT, FUNCTIONS);
}
