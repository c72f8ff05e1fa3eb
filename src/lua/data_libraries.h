/* data_libraries: libraries of scripts that Lua does not have: cjson, cmsgpack and struct. */
#ifndef PACKLIST_LUA_DATA_LIBRARIES_H
#define PACKLIST_LUA_DATA_LIBRARIES_H

#include "lua/machine.h"

/* Adds the libraries to a machine that is not sealed yet. What one script sets in cjson ends with
 * its run. */
void machine_add_data_libraries(struct machine *machine);

/* Each makes a library and returns its table; for machine_add_library. */
int lua_open_cjson(lua_State *L);
int lua_open_cmsgpack(lua_State *L);
int lua_open_struct(lua_State *L);

/* Puts all settings of cjson back to their defaults. O(1), takes no memory, raises no error. */
void lua_reset_cjson(lua_State *L);

#endif
