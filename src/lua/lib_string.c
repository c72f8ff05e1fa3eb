/* lib_string: strings. */
#include "lua/machine_internal.h"

#include <lua5.1/lualib.h>

void library_open_string(lua_State *L) {
    static const char *const KEPT[] = {"byte",   "char",    "find", "format", "gfind",
                                       "gmatch", "gsub",    "len",  "lower",  "match",
                                       "rep",    "reverse", "sub",  "upper",  NULL};
    library_open(L, luaopen_string, "string");
    library_keep_only(L, KEPT);
    lua_pop(L, 1);
}
