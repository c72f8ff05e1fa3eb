/* redis_library: the table `redis`, which scripts also see as `server`. */
#ifndef PACKLIST_SCRIPT_REDIS_LIBRARY_H
#define PACKLIST_SCRIPT_REDIS_LIBRARY_H

#include <lua5.1/lua.h>

/* Pushes the table, for machine_add_library. The machine's owner is a struct scripts. */
int redis_library_open(lua_State *L);

/* Adds to the table on top of the stack what the code of a library of functions may use of it while
 * it is loaded. */
void redis_library_add_for_loading(lua_State *L);

/* Raises {err = text}, with the code ERR in the text: the form of all errors of this table. */
int redis_library_error(lua_State *L, const char *text);

#endif
