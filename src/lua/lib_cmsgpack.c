/* lib_cmsgpack: the library `cmsgpack` of scripts: MessagePack to Lua values and back, byte for
 * byte as Redis's cmsgpack. It is our own because no distribution packages a library with these
 * functions, and because it must choose the same among MessagePack's forms of a value as Redis. */
#include "lua/cmsgpack.h"
#include "lua/data_libraries.h"

#include <stddef.h>

int lua_open_cmsgpack(lua_State *L) {
    static const struct {
        const char *name;
        lua_CFunction function;
    } functions[] = {
        {"pack", cmsgpack_pack},
        {"unpack", cmsgpack_unpack},
        {"unpack_one", cmsgpack_unpack_one},
        {"unpack_limit", cmsgpack_unpack_limit},
    };
    static const char *const texts[][2] = {
        {"_NAME", "cmsgpack"},
        {"_VERSION", "lua-cmsgpack 0.4.0"},
        {"_DESCRIPTION", "MessagePack C implementation for Lua"},
    };
    lua_newtable(L);
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        lua_pushcfunction(L, functions[i].function);
        lua_setfield(L, -2, functions[i].name);
    }
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        lua_pushstring(L, texts[i][1]);
        lua_setfield(L, -2, texts[i][0]);
    }
    return 1;
}
