/* machine_internal: the machine as its own libraries see it. */
#ifndef PACKLIST_LUA_MACHINE_INTERNAL_H
#define PACKLIST_LUA_MACHINE_INTERNAL_H

#include "lua/machine.h"

enum { MACHINE_LIBRARIES_MAX = 24 };

/* A table of strings that is a global (machine_run.c). */
struct machine_run_table {
    int name;  /* a reference */
    int table; /* another */
    size_t count;
};

struct machine {
    lua_State *main;
    lua_State *running; /* the coroutine that runs, or main */
    void *owner;

    /* Memory. */
    size_t used;
    size_t limit;
    unsigned suspended;  /* the limit is not enforced while this is not 0 */
    size_t collect_at;   /* bytes at which a stopped collector goes on */
    bool collector_runs; /* else it is stopped */
    bool parsing;        /* it stays stopped for now */
    size_t used_before_parse;
    size_t until_alarm;      /* bytes that may be allocated before the watch is asked */
    size_t since_collection; /* bytes allocated since the last full collection */
    size_t kept;             /* bytes that the last one between two runs has left */
    bool has_keyed_strings;  /* interned.c */

    /* The watch. */
    machine_watch *watch;
    void *watch_arg;
    size_t steps; /* since the watch was asked */
    bool expects_alarms;
    const char *end_text;

    /* Values that live as long as the machine: references. */
    int globals;  /* the proxy that scripts have as _G */
    int contents; /* the table behind it, which has proxies of libraries */
    int bare;     /* the same globals, but the libraries themselves */
    int view;     /* a table that may take the place of `contents` */
    int body;     /* machine_run_body */
    int compiler; /* machine_compile_body */
    int handler;  /* machine_note_error */
    int guard;    /* lib_deprecated.c; 0: none */
    int proxies[MACHINE_LIBRARIES_MAX];
    size_t proxy_count;
    bool sealed;
    struct machine_run_table run_tables[MACHINE_RUN_TABLES];
    size_t run_table_count;
    struct cjson_settings *cjson; /* of the library's global instance; NULL: there is none */

    /* The run. */
    bool is_running;
    bool has_written_raw; /* library_set or library_set_index was called */
    int function;         /* what runs, a reference */
    int environment;      /* what it had as its environment, a reference; 0: it has it still */
    size_t blocks;        /* not less than the largest block that was allocated */
    struct machine_place place;
    char place_source[LUA_IDSIZE];
    unsigned short random[3]; /* the state of nrand48 */
};

/* --- Runs (machine_run.c) --- */

/* In protected mode, with its argument as a pointer: the run, or the compilation, which returns
 * nothing or a message; and the handler of errors, which notes where one was raised. All are values
 * that exist beforehand, because making one may fail. */
int machine_run_body(lua_State *L);
int machine_compile_body(lua_State *L);
int machine_note_error(lua_State *L);

/* Called before the environment of a function, or the globals of a thread, change in a run: keeps
 * what machine_finish restores. May raise an error. */
void machine_keep_environments(struct machine *machine, lua_State *L);

/* --- Counting steps (machine_watch.c) --- */

/* Begins to count the main thread's instructions, unless an alarm will do that. */
void machine_begin_counting(struct machine *machine);

/* Makes a coroutine's steps count. To be called before it is resumed. Returns what `running` must
 * be afterwards. */
lua_State *machine_enter_thread(lua_State *L, lua_State *thread);

/* --- Memory (machine_memory.c) --- */

void *machine_allocate(void *machine, void *ptr, size_t old_size, size_t new_size);

/* Begins to count the bytes after which the watch is asked, whatever else happens. */
void machine_restart_byte_count(struct machine *machine);

/* Return whether strings, tables and functions of Lua lie in memory as interned.c, tables.c and
 * machine_globals.c count on. */
bool machine_knows_strings(lua_State *L);
bool machine_knows_tables(lua_State *L);
bool machine_knows_functions(lua_State *L);

/* Collects all garbage when `size` more bytes would pass the limit. For functions that are about to
 * make something large: Lua itself does not collect when an allocation fails. */
void machine_make_room(lua_State *L, size_t size);

/* --- Collecting (machine_collect.c) --- */

/* The collector runs from now on, until a cycle is done. */
void machine_start_collector(struct machine *machine);

/* Around the parsing of a chunk, during which nothing is collected. The second collects a part of
 * the garbage when there is much: O(bytes that the parse has allocated). */
void machine_begin_parse(struct machine *machine);
void machine_end_parse(struct machine *machine);

/* A full collection, after which the collector rests until memory has doubled. */
void machine_collect_all(struct machine *machine, lua_State *L);

/* When the machine is nearly full, collects. Called when the watch is asked. */
void machine_collect_when_full(struct machine *machine, lua_State *L);

/* --- Compiling (machine_compile.c) --- */

/* As lua_load with this text: pushes a function and returns true, or a message and returns false.
 * The collector does not run during the call. */
bool machine_load(lua_State *L, struct slice text, const char *chunk_name);

/* Sets the global that a reference names, in `contents` and in `bare`, to what is on top of the
 * stack and stays there. */
void machine_set_global(struct machine *machine, int name);

/* Makes the tables of a run that were added. In machine_seal, once there is `contents`. */
void machine_make_run_tables(struct machine *machine);

/* --- Proxies (proxy.c) --- */

/* Replaces the table on top of the stack with a proxy for it. With `show_metatable`, the metatable
 * of the real table is what getmetatable shows of it. */
void proxy_push(lua_State *L, bool show_metatable);

/* Makes the proxy at `index` stand for the table on top of the stack, and pops that. What
 * getmetatable shows stays. */
void proxy_set(lua_State *L, int index);

/* If the value at `index` is a proxy, pushes what it stands for and returns true. */
bool proxy_open(lua_State *L, int index);

/* The same for the metatable that getmetatable may show of it. */
bool proxy_open_metatable(lua_State *L, int index);

/* Raises "Attempt to modify a readonly table" if the value at `index` is a proxy. */
void proxy_refuse_write(lua_State *L, int index);

/* --- Libraries: each adds its globals to an unsealed machine --- */

void library_open_base(lua_State *L);
void library_open_coroutine(lua_State *L);
void library_open_string(lua_State *L);
void library_open_table(lua_State *L);
void library_open_math(lua_State *L); /* and os */
void library_open_bit(lua_State *L);

/* The numbers of math.random go on as those of lrand48 after srand48(seed). */
void machine_seed_random(struct machine *machine, uint32_t seed);

/* Each makes a library and returns its table; for machine_add_library. */
int lua_open_cjson(lua_State *L);
int lua_open_cmsgpack(lua_State *L);
int lua_open_struct(lua_State *L);

/* Puts settings back to their defaults. O(1). */
void lua_reset_cjson(struct cjson_settings *settings);

/* Raises an error if the table at `table` is a metatable of userdata, and the key at `key` would
 * give them a finalizer. For whatever writes keys that a script has chosen without metamethods. */
void library_refuse_finalizer(lua_State *L, int table, int key);

/* Opens a library of Lua itself, whose table is the global `name`; `open` is NULL if another one
 * has opened it. Of its functions those remain that are named in `kept`, or all if that is NULL;
 * then ours are added, if there are any. Both lists end with NULL. */
void library_open(lua_State *L, lua_CFunction open, const char *name, const char *const *kept,
                  const luaL_Reg *functions);

/* Write into a table that a script has given, without metamethods: as lua_rawset and lua_rawseti.
 * All functions of libraries use these, so that machine_finish knows when proxies have to be looked
 * at (machine_run.c, Proxies stay empty). The caller has refused proxies. */
static inline void library_set(lua_State *L, int table) {
    machine_of(L)->has_written_raw = true;
    lua_rawset(L, table);
}

static inline void library_set_index(lua_State *L, int table, int index) {
    machine_of(L)->has_written_raw = true;
    lua_rawseti(L, table, index);
}

/* An optional index or count that a script gives: a whole number, cut to +-2^53. */
int64_t library_integer(lua_State *L, int arg, int64_t otherwise);

/* The bits of a number as a float or a double, whose size is given; and the number of such bits. */
uint64_t library_float_bits(double number, size_t size);
double library_float(uint64_t bits, size_t size);

/* The 64 bits of a signed integer that has `size` bytes; of 0 or 8 bytes and more, `value`. */
uint64_t library_extend_sign(uint64_t value, size_t size);

#endif
