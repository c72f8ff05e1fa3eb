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

/* Returns the settings of the cjson that lua_open_cjson has made; they live as long as the
 * machine. */
void *lua_cjson_settings(lua_State *L);

/* Puts these settings back to their defaults. O(1). */
void lua_reset_cjson(void *settings);

#endif
