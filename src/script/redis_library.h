/* redis_library: the table `redis`, which scripts also see as `server`. */
#ifndef PACKLIST_SCRIPT_REDIS_LIBRARY_H
#define PACKLIST_SCRIPT_REDIS_LIBRARY_H

#include <lua5.1/lua.h>

/* Pushes the table, for machine_add_library. The machine's owner is a struct scripts. */
int redis_library_open(lua_State *L);

/* Pushes a table with all that a library of functions may use while it is loaded: the table `redis`
 * with redis.register_function, under its two names. For machine_add_view; the same owner. */
int redis_library_open_for_loading(lua_State *L);

#endif
