/* machine_run: runs of scripts. */
#include "lua/machine_internal.h"

#include "base/log/log.h"

#include <assert.h>
#include <stdlib.h>

void *machine_owner(const struct machine *machine) {
    return machine->owner;
}

lua_State *machine_state(struct machine *machine) {
    return machine->main;
}

/* --- Long jumps ---
 *
 * Lua leaves functions by long jumps, in distributions' builds by __longjmp_chk, which
 * ThreadSanitizer does not know: on the stack that it keeps for itself the functions would stay,
 * until it is full and the process ends. So this one, which it knows, takes its place. */
#ifdef __SANITIZE_THREAD__
#include <setjmp.h>

void __longjmp_chk(jmp_buf place, int value);

void __longjmp_chk(jmp_buf place, int value) {
    longjmp(place, value);
}
#endif

/* --- Running --- */

struct run {
    machine_prepare *prepare;
    void *arg;
    int function;
};

int machine_run_body(lua_State *L) {
    struct run *run = lua_touserdata(L, 1);
    lua_settop(L, 0);
    lua_rawgeti(L, LUA_REGISTRYINDEX, run->function);
    int count = run->prepare ? run->prepare(L, run->arg) : 0;
    lua_call(L, count, LUA_MULTRET);
    return lua_gettop(L);
}

/* The innermost function of Lua is the one that raised the error, or its caller. */
int machine_note_error(lua_State *L) {
    struct machine *machine = machine_of(L);
    lua_Debug debug;
    for (int level = 1; level <= 2; level++) {
        if (!lua_getstack(L, level, &debug) || !lua_getinfo(L, "Sl", &debug)) break;
        if (debug.what[0] == 'C') continue;
        size_t len = strnlen(debug.source, sizeof(machine->place_source) - 1);
        memcpy(machine->place_source, debug.source, len);
        machine->place_source[len] = '\0';
        machine->place = (struct machine_place){machine->place_source, debug.currentline};
        break;
    }
    return 1;
}

static void begin_run(struct machine *machine, int function) {
    machine->is_running = true;
    machine->running = machine->main;
    machine->function = function;
    machine->steps = 0;
    machine->blocks = 0;
    machine->end_text = NULL;
    machine->place = (struct machine_place){NULL, 0};
    machine_restart_byte_count(machine);
    machine_begin_counting(machine);
}

enum machine_result machine_run(struct machine *machine, int function, machine_prepare *prepare,
                                void *arg) {
    lua_State *L = machine->main;
    struct run run = {prepare, arg, function};
    begin_run(machine, function);
    lua_rawgeti(L, LUA_REGISTRYINDEX, machine->handler);
    lua_rawgeti(L, LUA_REGISTRYINDEX, machine->body);
    lua_pushlightuserdata(L, &run);
    bool failed = lua_pcall(L, 1, LUA_MULTRET, 1) != 0;
    lua_remove(L, 1);
    if (machine->end_text) return MACHINE_ENDED;
    return failed ? MACHINE_FAILED : MACHINE_DONE;
}

struct machine_place machine_error_place(const struct machine *machine) {
    return machine->place;
}

/* --- Proxies stay empty ---
 *
 * What stands in a proxy itself would hide the real table from all later scripts. Instructions of
 * Lua cannot write into it: a key that it lacks goes to __newindex. Functions of C that write
 * without metamethods refuse proxies. Should one of them forget that, the proxy is emptied after
 * the run: they write by library_set and library_set_index (`make lint` sees to it), which note it.
 * So after most runs nothing has to be looked at. */

/* Builds for tests look after every run, so that a write that was not noted is found, too. */
#if defined(TINY_LIMITS) || defined(PACKLIST_LIBC_MALLOC) || defined(PACKLIST_CHECKED)
enum { ALWAYS_LOOKS = true };
#else
enum { ALWAYS_LOOKS = false };
#endif

static void empty_proxy(lua_State *L) {
    for (lua_pushnil(L); lua_next(L, -2); lua_pushnil(L)) {
        log_warning("A script wrote into a table that all scripts share. The entry was removed.");
        assert(machine_of(L)->has_written_raw);
        lua_pop(L, 1);
        lua_pushnil(L);
        lua_rawset(L, -3);
    }
}

static void empty_proxies(struct machine *machine) {
    lua_State *L = machine->main;
    for (size_t i = 0; i < machine->proxy_count; i++) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, machine->proxies[i]);
        empty_proxy(L);
        lua_pop(L, 1);
    }
    machine->has_written_raw = false;
}

/* --- Tables of strings that each run has as globals (KEYS, ARGV) ---
 *
 * Making a table and its global anew costs more than a short script, so the same tables serve all
 * runs. One that holds anything but the run's strings when the script ends is replaced. So are
 * tables that may have become large, since looking at a table takes as long as it has room: after
 * a run in which a single block of LARGE_BLOCK bytes was allocated. */

enum {
    LARGE_BLOCK = 1024,
    MANY_STRINGS = 32 /* a table with room for so many is not a large block */
};

int machine_add_run_table(struct machine *machine, const char *name) {
    if (machine->run_table_count == MACHINE_RUN_TABLES) abort();
    lua_pushstring(machine->main, name);
    machine->run_tables[machine->run_table_count].name = luaL_ref(machine->main, LUA_REGISTRYINDEX);
    return (int)machine->run_table_count++;
}

void machine_set_global(struct machine *machine, int name) {
    lua_State *L = machine->main;
    lua_rawgeti(L, LUA_REGISTRYINDEX, machine->contents);
    lua_rawgeti(L, LUA_REGISTRYINDEX, machine->bare);
    for (int tables = 2; tables > 0; tables--) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, name);
        lua_pushvalue(L, -2 - tables);
        lua_rawset(L, -3);
        lua_pop(L, 1);
    }
}

/* Makes the table on top of the stack, which is popped, the global. The global's key exists, except
 * for the first time. */
static void take(struct machine *machine, struct machine_run_table *table) {
    machine_set_global(machine, table->name);
    lua_rawseti(machine->main, LUA_REGISTRYINDEX, table->table);
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
static bool empty_table(lua_State *L, struct machine_run_table *table) {
    for (; table->count > 0; table->count--) {
        lua_pushnil(L);
        lua_rawseti(L, -2, (int)table->count);
    }
    if (lua_getmetatable(L, -1)) return false;
    lua_pushnil(L);
    return lua_next(L, -2) == 0;
}

static void empty_run_tables(struct machine *machine) {
    lua_State *L = machine->main;
    bool may_be_large = machine->blocks >= LARGE_BLOCK;
    for (size_t i = 0; i < machine->run_table_count; i++) {
        struct machine_run_table *table = &machine->run_tables[i];
        lua_rawgeti(L, LUA_REGISTRYINDEX, table->table);
        if (may_be_large || !empty_table(L, table)) {
            table->count = 0;
            lua_newtable(L);
            take(machine, table);
        }
        lua_settop(L, 0);
    }
}

/* --- Environments are restored (lib_deprecated.c changes them) --- */

void machine_keep_environments(struct machine *machine, lua_State *L) {
    if (machine->environment != 0) return;
    lua_rawgeti(L, LUA_REGISTRYINDEX, machine->function);
    lua_getfenv(L, -1);
    machine->environment = luaL_ref(L, LUA_REGISTRYINDEX);
    lua_pop(L, 1);
}

static void restore_environments(struct machine *machine) {
    lua_State *L = machine->main;
    lua_rawgeti(L, LUA_REGISTRYINDEX, machine->function);
    lua_rawgeti(L, LUA_REGISTRYINDEX, machine->environment);
    lua_setfenv(L, -2);
    lua_pop(L, 1);
    luaL_unref(L, LUA_REGISTRYINDEX, machine->environment);
    machine->environment = 0;
    lua_rawgeti(L, LUA_REGISTRYINDEX, machine->globals);
    lua_replace(L, LUA_GLOBALSINDEX);
}

/* --- The end of a run --- */

void machine_finish(struct machine *machine) {
    lua_State *L = machine->main;
    machine_suspend_limit(machine);
    lua_settop(L, 0);
    empty_run_tables(machine);
    if (machine->environment != 0) restore_environments(machine);
    if (machine->cjson) lua_reset_cjson(machine->cjson);
    if (machine->has_written_raw || ALWAYS_LOOKS) empty_proxies(machine);
    machine_resume_limit(machine);
    machine->is_running = false;
    machine->running = machine->main;
    machine->end_text = NULL;
    /* What the run held is garbage now, even if a collection has left it. */
    machine->since_collection = machine->used > machine->kept ? machine->used - machine->kept : 0;
    machine_collect_when_full(machine, L);
}
