/* machine_life: how a machine comes into being: its libraries, what hides them from scripts, the
 * view of others; and its end. */
#include "lua/machine_internal.h"

#include "base/log/log.h"
#include "base/memory/alloc.h"

#include <stdlib.h>

/* --- Adding libraries --- */

void machine_add_library(struct machine *machine, const char *name, lua_CFunction open) {
    lua_State *L = machine->main;
    lua_pushcfunction(L, open);
    lua_call(L, 0, 1);
    lua_setglobal(L, name);
}

void machine_add_alias(struct machine *machine, const char *alias, const char *name) {
    lua_getglobal(machine->main, name);
    lua_setglobal(machine->main, alias);
}

void machine_add_data_libraries(struct machine *machine) {
    machine_add_library(machine, "cjson", lua_open_cjson);
    machine_add_library(machine, "cmsgpack", lua_open_cmsgpack);
    machine_add_library(machine, "struct", lua_open_struct);
}

/* Keeps the table on top of the stack, which stays there. */
static int keep(lua_State *L) {
    lua_pushvalue(L, -1);
    return luaL_ref(L, LUA_REGISTRYINDEX);
}

static int keep_function(lua_State *L, lua_CFunction function) {
    lua_pushcfunction(L, function);
    return luaL_ref(L, LUA_REGISTRYINDEX);
}

/* Keeps the proxy on top of the stack for empty_proxies. */
static int note_proxy(struct machine *machine) {
    if (machine->proxy_count == MACHINE_LIBRARIES_MAX) abort();
    int proxy = keep(machine->main);
    machine->proxies[machine->proxy_count++] = proxy;
    return proxy;
}

static int refuse_missing(lua_State *L) {
    const char *name = lua_tostring(L, 2);
    return luaL_error(L, "Script attempted to access nonexistent global variable '%s'",
                      name ? name : luaL_typename(L, 2));
}

/* Replaces each table among the globals (their table is on top of the stack) by a proxy. A table
 * with two names gets one proxy: `made` maps tables to their proxies. */
static void hide_tables(struct machine *machine) {
    lua_State *L = machine->main;
    int globals = lua_gettop(L);
    lua_newtable(L);
    int made = lua_gettop(L);
    for (lua_pushnil(L); lua_next(L, globals); lua_pop(L, 1)) {
        if (!lua_istable(L, -1) || lua_rawequal(L, -1, globals)) continue;
        lua_pushvalue(L, -1);
        lua_rawget(L, made);
        if (lua_isnil(L, -1)) {
            lua_pop(L, 1);
            lua_pushvalue(L, -1);
            proxy_push(L, false);
            note_proxy(machine);
            lua_pushvalue(L, -2);
            lua_pushvalue(L, -2);
            lua_rawset(L, made);
        }
        lua_pushvalue(L, -3);
        lua_insert(L, -2);
        lua_rawset(L, globals);
    }
    lua_pop(L, 1);
}

/* The metatable of strings leads methods to the real library; getmetatable shows a proxy of a table
 * that leads to the library's proxy. */
static void hide_string_metatable(lua_State *L) {
    lua_pushliteral(L, "");
    lua_getmetatable(L, -1);
    lua_newtable(L);
    lua_getglobal(L, "string");
    lua_setfield(L, -2, "__index");
    proxy_push(L, false);
    note_proxy(machine_of(L));
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 2);
}

/* Makes reads of what the table on top of the stack does not have an error. */
static void refuse_others(lua_State *L) {
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, refuse_missing);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
}

/* Pushes a table with what the table on top of the stack has. */
static void push_copy(lua_State *L) {
    int original = lua_gettop(L);
    lua_newtable(L);
    for (lua_pushnil(L); lua_next(L, original);) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, original + 1);
    }
}

static int seal_body(lua_State *L) {
    struct machine *machine = machine_of(L);
    lua_pushvalue(L, LUA_GLOBALSINDEX);
    push_copy(L);
    refuse_others(L);
    machine->bare = luaL_ref(L, LUA_REGISTRYINDEX);
    hide_tables(machine);
    hide_string_metatable(L);
    refuse_others(L);
    machine->contents = keep(L);
    machine_make_run_tables(machine);
    proxy_push(L, true);
    proxy_open_metatable(L, -1);
    note_proxy(machine);
    lua_pop(L, 1);
    machine->globals = note_proxy(machine);
    lua_pushliteral(L, "_G");
    machine_set_global(machine, luaL_ref(L, LUA_REGISTRYINDEX));
    return 0;
}

void machine_seal(struct machine *machine) {
    lua_State *L = machine->main;
    lua_pushcfunction(L, seal_body);
    lua_call(L, 0, 0);
    lua_rawgeti(L, LUA_REGISTRYINDEX, machine->globals);
    lua_replace(L, LUA_GLOBALSINDEX);
    machine->sealed = true;
    machine_resume_limit(machine);
    machine_collect(machine);
}

/* --- The view --- */

/* The tables in a view refuse what they do not have, too, as in Redis. */
static int view_body(lua_State *L) {
    struct machine *machine = machine_of(L);
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        if (lua_istable(L, -1)) refuse_others(L);
    }
    lua_settop(L, 1);
    hide_tables(machine);
    refuse_others(L);
    machine->view = luaL_ref(L, LUA_REGISTRYINDEX);
    return 0;
}

void machine_add_view(struct machine *machine, lua_CFunction open) {
    lua_State *L = machine->main;
    lua_pushcfunction(L, view_body);
    lua_pushcfunction(L, open);
    lua_call(L, 0, 1);
    lua_call(L, 1, 0);
}

/* Needs no memory: the keys exist. */
void machine_choose_view(struct machine *machine, bool is_view) {
    lua_State *L = machine->main;
    machine_suspend_limit(machine);
    lua_rawgeti(L, LUA_REGISTRYINDEX, machine->globals);
    lua_rawgeti(L, LUA_REGISTRYINDEX, is_view ? machine->view : machine->contents);
    proxy_set(L, lua_gettop(L) - 1);
    lua_pop(L, 1);
    machine_resume_limit(machine);
}

/* --- Life --- */

/* Lua makes strings of these messages where nothing catches errors: when a coroutine cannot be
 * resumed, and when handling an error has failed. A string that exists takes no memory, so it
 * cannot fail. */
static void keep_messages(lua_State *L) {
    static const char *const messages[] = {"C stack overflow", "error in error handling"};
    for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
        lua_pushstring(L, messages[i]);
        luaL_ref(L, LUA_REGISTRYINDEX);
    }
}

/* Lua calls this for an error that nothing catches, which is a defect: else it would exit. */
static int panic(lua_State *L) {
    log_warning("An error of Lua was caught by nothing: %s", lua_tostring(L, -1));
    abort();
}

struct machine *machine_new(size_t memory_limit, void *owner) {
    struct machine *machine = mem_alloc_zeroed(sizeof(*machine));
    machine->limit = memory_limit;
    machine->owner = owner;
    machine->suspended = 1; /* until machine_seal */
    machine->parsing = true;
    machine->until_alarm = SIZE_MAX;
    machine_seed_random(machine, 0x1234ABCD); /* as lrand48 begins without srand48 */
    lua_State *L = lua_newstate(machine_allocate, machine);
    if (!L) abort();
    lua_atpanic(L, panic);
    machine->main = machine->running = L;
    if (!machine_knows_strings(L) || !machine_knows_tables(L) || !machine_knows_functions(L)) {
        log_warning("The Lua of this build is not the one that the server was made for");
        abort();
    }
    machine->body = keep_function(L, machine_run_body);
    machine->compiler = keep_function(L, machine_compile_body);
    machine->handler = keep_function(L, machine_note_error);
    keep_messages(L);
    library_open_base(L);
    library_open_coroutine(L);
    library_open_string(L);
    library_open_table(L);
    library_open_math(L);
    library_open_bit(L);
    machine->parsing = false;
    machine_collect(machine);
    return machine;
}

void machine_free(struct machine *machine) {
    lua_close(machine->main);
    mem_free(machine);
}
