/* machine: a virtual machine for Lua 5.1 that runs scripts nobody has checked.
 *
 * It bounds their memory, lets the server end them whatever they do, shows them only harmless
 * functions, and keeps what one script does from the next one. It knows no server and no protocol:
 * the server adds libraries (redis, server, …) with functions of its own.
 *
 * Life: machine_new, machine_add_library …, machine_seal; then machine_compile, machine_run,
 * machine_finish as often as wanted; machine_free. A machine runs one script at a time.
 *
 * What scripts share (their globals and the tables of libraries) they see through *proxies*: empty
 * tables that lead to the real ones and cannot be written. Only KEYS and the like change.
 *
 * It is the interpreter of PUC-Rio, from the system's package, but for how strings are made
 * (interned.c) and for its tables (tables.c). LuaJIT's is faster, up to 3 times for work on
 * strings, but scripts can overflow its stacks (its issues 619, 1263, 1452, 1471), which cannot be
 * prevented from outside. All known holes of PUC-Rio's can be closed.
 *
 * Errors of Lua are long jumps. They may cross C functions that Lua calls only where nothing needs
 * releasing: see machine_suspend_limit. */
#ifndef PACKLIST_LUA_MACHINE_H
#define PACKLIST_LUA_MACHINE_H

#include "base/slice.h"

#include <lua5.1/lauxlib.h>
#include <lua5.1/lua.h>
#include <stdbool.h>

struct machine;

/* --- Life --- */

/* A machine whose allocations may take `memory_limit` bytes, with the libraries of Lua that are
 * safe, bit and the base functions. `owner`, which may be NULL, is for functions that scripts call:
 * see machine_owner. Aborts when the memory of an empty machine (100 KB) cannot be had. */
struct machine *machine_new(size_t memory_limit, void *owner);

/* These add to a machine that is not sealed yet. */

/* A library: `open` returns its table, which becomes the global `name`; and another name for it. */
void machine_add_library(struct machine *machine, const char *name, lua_CFunction open);
void machine_add_alias(struct machine *machine, const char *alias, const char *name);

/* cjson, cmsgpack and struct. What one script sets in cjson ends with its run. */
void machine_add_data_libraries(struct machine *machine);

/* getfenv, setfenv and newproxy, as lua-enable-deprecated-api asks for. What setfenv has changed is
 * undone when the run ends, except for functions other than the one that machine_run was given;
 * userdata have no finalizers. */
void machine_add_deprecated(struct machine *machine);

/* The view: other globals, which code sees instead of the libraries while the view is chosen.
 * `open` as above; each table in what it returns becomes read-only like a library. */
void machine_add_view(struct machine *machine, lua_CFunction open);

/* A global that is a table of strings, other ones for each run (KEYS). `name` is that of no
 * library. Returns its number for machine_fill_run_table. At most MACHINE_RUN_TABLES. */
int machine_add_run_table(struct machine *machine, const char *name);
enum { MACHINE_RUN_TABLES = 2 };

/* Puts proxies before the globals and every table among them. Nothing can be added afterwards. */
void machine_seal(struct machine *machine);

/* Chooses what all code sees from now on: the view or, at first, the libraries. Functions keep no
 * view, but what they have read from it. Not while a script runs. */
void machine_choose_view(struct machine *machine, bool is_view);

/* Ends the state and frees everything. Not while a script runs. O(memory used). */
void machine_free(struct machine *machine);

/* The main thread of the machine. Functions that Lua calls use the state that they are given
 * instead, which may be a coroutine's. */
lua_State *machine_state(struct machine *machine);

/* The machine of any state that belongs to one. A few instructions. */
static inline struct machine *machine_of(lua_State *L) {
    void *machine;
    lua_getallocf(L, &machine);
    return machine;
}

/* The owner that machine_new was given. */
void *machine_owner(const struct machine *machine);

/* --- Memory --- */

/* Bytes that the machine holds, as Lua counts them. */
size_t machine_memory(const struct machine *machine);

/* Sets the limit. When more is used already, garbage is collected at once, as at the end of a run:
 * O(used); a machine that runs collects when it allocates. What then is beyond the limit makes
 * allocations fail. */
void machine_set_memory_limit(struct machine *machine, size_t limit);

/* From suspend to resume the machine gets all memory that it asks for: for C code that Lua called
 * and that must not be left by a long jump, like a command of the server whose reply becomes values
 * of Lua. The calls nest. After the last resume the caller calls machine_check_memory as soon as it
 * may be left: it raises "not enough memory" when the machine holds more than its limit even after
 * a collection. Cost when it does not: a comparison. */
void machine_suspend_limit(struct machine *machine);
void machine_resume_limit(struct machine *machine);
void machine_check_memory(struct machine *machine, lua_State *L);

/* --- The watch --- */

/* Called while a script runs, at least once in MACHINE_WATCH_STEPS steps, or at each alarm: see
 * machine_expect_alarms. NULL: it may go on. Else the text of the error that ends the run, which
 * must live until machine_finish; nothing in the script can catch this error. The watch must not
 * use the Lua state. */
typedef const char *machine_watch(void *arg);
enum { MACHINE_WATCH_STEPS = 100000 };

void machine_set_watch(struct machine *machine, machine_watch *watch, void *arg);

/* Makes the watch run before the next instruction. For a timer, since some instructions take long:
 * comparing or hashing long strings, passing thousands of arguments, looking through a table that
 * was large once. Safe in a signal handler of the thread that runs the machine; an alarm that
 * interrupts the machine while it counts steps may be lost, so the timer repeats it. */
void machine_alarm(struct machine *machine);

/* Says whether a timer calls machine_alarm again and again while the machine runs; at first none
 * does. If so, the instructions of a run count as steps only after its first alarm, because
 * counting takes a sixth of a script's time. Those of coroutines, and the steps of functions that
 * take long, always count. Not while a script runs. */
void machine_expect_alarms(struct machine *machine, bool expects);

/* For functions that Lua calls and that take long: counts `steps` (of about the work of one
 * instruction each), and asks the watch when it is due. May raise an error. */
void machine_spend(lua_State *L, size_t steps);

/* Asks the watch at once, for work that raises no errors: after it, in a function that Lua calls,
 * machine_rethrow; or between machine_run and machine_finish, when results are read. Returns
 * whether the run goes on. */
bool machine_goes_on(struct machine *machine);

/* Raises the error that ends the run if the watch has asked for it. Code that catches errors calls
 * this before it lets the script see one. */
void machine_rethrow(lua_State *L);

/* --- Running --- */

/* Compiles a text to a function that can be run many times. `chunk_name` as lua_load has it
 * ("@user_script"). Byte code is refused, and so are long brackets of more than
 * MACHINE_BRACKET_MAX equals signs. Returns a reference that machine_release frees, or LUA_NOREF
 * with the message on top of the stack of machine_state (machine_finish removes it). */
int machine_compile(struct machine *machine, const char *chunk_name, struct slice text);
enum { MACHINE_BRACKET_MAX = 1000 };

/* Makes the function read globals and members of libraries directly, and so faster, where its code
 * does nothing that only their proxies refuse. What the function does stays the same. Only for
 * functions that run while no view is chosen. O(size of its code). */
void machine_shorten_globals(struct machine *machine, int function);

/* Frees a reference to a function, from machine_compile or, when a script has registered it, from
 * luaL_ref in the registry; not of the running script. The memory comes back with a later
 * collection. */
void machine_release(struct machine *machine, int function);

enum machine_result {
    MACHINE_DONE,   /* the stack of machine_state holds the results, from index 1 */
    MACHINE_FAILED, /* it holds the error object at index 1; machine_error_place tells where */
    MACHINE_ENDED,  /* the watch ended the run; machine_end_text has its text */
};

/* Pushes the arguments of the function (at most LUA_MINSTACK; else lua_checkstack first), returns
 * their number, and may call machine_fill_run_table. Runs in protected mode: it may raise errors,
 * so it holds nothing that needs releasing. */
typedef int machine_prepare(lua_State *L, void *arg);

/* Runs a compiled function. The stack must be empty, as machine_finish leaves it. `prepare` may be
 * NULL. Whatever the result, machine_finish must follow once the caller has read the results; it
 * reads them without raising errors (no metamethods, no conversions of numbers to strings in place,
 * machine_suspend_limit around what allocates). */
enum machine_result machine_run(struct machine *machine, int function, machine_prepare *prepare,
                                void *arg);

/* Where the error of the last failed run was raised: the chunk's name as in machine_compile and the
 * line, or NULL and 0 when no function of Lua was running. Valid until machine_finish. */
struct machine_place {
    const char *source;
    int line;
};
struct machine_place machine_error_place(const struct machine *machine);

const char *machine_end_text(const struct machine *machine);

/* In `prepare`, once for each table: puts the strings, which are copied, into a table that
 * machine_add_run_table has made. A table that is not filled is empty. May raise an error. */
void machine_fill_run_table(struct machine *machine, int table, const struct slice *strings,
                            size_t count);

/* In `prepare`: pushes a new table of the strings, which are copied. May raise an error. */
void machine_push_strings(lua_State *L, const struct slice *strings, size_t count);

/* Ends a run: removes results, the run's strings and whatever else the script could have left, and
 * makes sure that all proxies are empty. O(1), but for garbage, which may be collected. */
void machine_finish(struct machine *machine);

/* Collects all garbage. O(memory used). Not while a script runs. */
void machine_collect(struct machine *machine);

#endif
