/* redis_library: the table `redis`, which scripts also see as `server`. */
#ifndef PACKLIST_SCRIPT_REDIS_LIBRARY_H
#define PACKLIST_SCRIPT_REDIS_LIBRARY_H

#include <lua5.1/lua.h>

struct scripts;

/* Pushes the table, for machine_add_library. The machine's owner is a struct scripts. */
int redis_library_open(lua_State *L);

/* Pushes a table with all that a library of functions may use while it is loaded: the table `redis`
 * with redis.register_function, under its two names. For machine_add_view; the same owner. */
int redis_library_open_for_loading(lua_State *L);

/* Returns the scripts that the machine belongs to. */
struct scripts *redis_library_scripts(lua_State *L);

/* Raises {err = "ERR text"}, the form of all errors of the table's functions. */
int redis_library_error(lua_State *L, const char *text);

#define REDIS_LIBRARY_BAD_ARGUMENTS                                                                \
    "ERR Lua redis lib command arguments must be strings or integers"

/* redis.call and redis.pcall (redis_call.c). */
int redis_call(lua_State *L);
int redis_pcall(lua_State *L);

/* redis.register_function (redis_register.c). */
int redis_register_function(lua_State *L);

#endif
