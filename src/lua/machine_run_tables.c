/* machine_run_tables: the tables of strings that each run has as globals (KEYS, ARGV).
 *
 * Making a table and its global anew costs more than a short script, so the same tables serve all
 * runs. A script can change its tables, but keep nothing beyond its run, so it is enough to look at
 * them when it ends: a table that then holds anything but the run's strings is replaced. So are
 * tables that may have become large, since looking at a table takes as long as it has room: after
 * a run in which a single block of LARGE_BLOCK bytes was allocated. */
#include "lua/machine_internal.h"

#include <stdlib.h>

enum {
    LARGE_BLOCK = 1024,
    MANY_STRINGS = 32 /* a table with room for so many is not a large block */
};

int machine_add_run_table(struct machine *machine, const char *name) {
    lua_State *L = machine->main;
    if (machine->run_table_count == MACHINE_RUN_TABLES) abort();
    lua_pushstring(L, name);
    machine->run_tables[machine->run_table_count].name = luaL_ref(L, LUA_REGISTRYINDEX);
    return (int)machine->run_table_count++;
}

/* Sets a global in one of the tables of globals to what is on top of the stack. */
static void set_global(lua_State *L, int globals, int name) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, globals);
    lua_rawgeti(L, LUA_REGISTRYINDEX, name);
    lua_pushvalue(L, -3);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

/* Makes the table on top of the stack, which is popped, the global. The global's key exists, except
 * for the first time. */
static void take(struct machine *machine, struct machine_run_table *table) {
    lua_State *L = machine->main;
    set_global(L, machine->contents, table->name);
    set_global(L, machine->bare, table->name);
    lua_rawseti(L, LUA_REGISTRYINDEX, table->table);
}

void machine_make_run_tables(struct machine *machine) {
    for (size_t i = 0; i < machine->run_table_count; i++) {
        struct machine_run_table *table = &machine->run_tables[i];
        lua_pushboolean(machine->main, true);
        table->table = luaL_ref(machine->main, LUA_REGISTRYINDEX);
        lua_newtable(machine->main);
        take(machine, table);
    }
}

static void push_strings(lua_State *L, const struct slice *strings, size_t count) {
    for (size_t i = 0; i < count; i++) {
        lua_pushlstring(L, strings[i].len > 0 ? strings[i].ptr : "", strings[i].len);
        lua_rawseti(L, -2, (int)i + 1);
    }
}

void machine_push_strings(lua_State *L, const struct slice *strings, size_t count) {
    lua_createtable(L, (int)count, 0);
    push_strings(L, strings, count);
}

void machine_fill_run_table(struct machine *machine, int index, const struct slice *strings,
                            size_t count) {
    lua_State *L = machine->main;
    struct machine_run_table *table = &machine->run_tables[index];
    if (count > MANY_STRINGS) {
        machine_push_strings(L, strings, count);
        take(machine, table);
        return;
    }
    if (count == 0) return;
    table->count = count;
    lua_rawgeti(L, LUA_REGISTRYINDEX, table->table);
    push_strings(L, strings, count);
    lua_pop(L, 1);
}

/* Removes the run's strings from the table on top of the stack. Returns whether it is as a new one
 * then. */
static bool empty(lua_State *L, struct machine_run_table *table) {
    for (; table->count > 0; table->count--) {
        lua_pushnil(L);
        lua_rawseti(L, -2, (int)table->count);
    }
    if (lua_getmetatable(L, -1)) return false;
    lua_pushnil(L);
    return lua_next(L, -2) == 0;
}

void machine_empty_run_tables(struct machine *machine) {
    lua_State *L = machine->main;
    bool may_be_large = machine->blocks >= LARGE_BLOCK;
    for (size_t i = 0; i < machine->run_table_count; i++) {
        struct machine_run_table *table = &machine->run_tables[i];
        lua_rawgeti(L, LUA_REGISTRYINDEX, table->table);
        if (may_be_large || !empty(L, table)) {
            table->count = 0;
            lua_newtable(L);
            take(machine, table);
        }
        lua_settop(L, 0);
    }
}
