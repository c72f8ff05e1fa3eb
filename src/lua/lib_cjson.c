/* lib_cjson: the library `cjson` of scripts: JSON texts to Lua values and back, byte for byte as
 * Redis's cjson. It is our own because the one that distributions ship allocates memory that the
 * machine does not count, and aborts the process when it gets none. */
#include "lua/cjson.h"
#include "lua/machine_internal.h"

#include <limits.h>
#include <lua5.1/lauxlib.h>

static const struct cjson_settings defaults = {
    .sparse_ratio = 2,
    .sparse_safe = 10,
    .encode_depth = 1000,
    .decode_depth = 1000,
    .precision = CJSON_PRECISION_MAX,
    .encode_invalid = CJSON_INVALID_ERROR,
    .decode_invalid = true,
    .keep_buffer = true,
};

/* The settings of the instance that is called. It must have at most `most` arguments; those that
 * are missing become nil. */
static struct cjson_settings *begin_setting(lua_State *L, int most) {
    luaL_argcheck(L, lua_gettop(L) <= most, most + 1, "found too many arguments");
    lua_settop(L, most);
    return lua_touserdata(L, lua_upvalueindex(1));
}

/* Sets *value to the argument at `index` unless that is nil, and pushes it. Errors name the first
 * argument, as in Redis. */
static void set_integer(lua_State *L, int index, int *value, int low, int high) {
    if (!lua_isnil(L, index)) {
        lua_Number number = luaL_checknumber(L, index);
        if (!(number >= low && number < (lua_Number)high + 1)) {
            const char *expected =
                lua_pushfstring(L, "expected integer between %d and %d", low, high);
            luaL_argerror(L, 1, expected);
        }
        *value = (int)number;
    }
    lua_pushinteger(L, *value);
}

static void set_bool(lua_State *L, int index, bool *value) {
    static const char *const options[] = {"off", "on", NULL};
    if (lua_isboolean(L, index)) {
        *value = lua_toboolean(L, index);
    } else if (!lua_isnil(L, index)) {
        *value = luaL_checkoption(L, index, NULL, options) == 1;
    }
    lua_pushboolean(L, *value);
}

static int encode_sparse_array(lua_State *L) {
    struct cjson_settings *settings = begin_setting(L, 3);
    set_bool(L, 1, &settings->sparse_convert);
    set_integer(L, 2, &settings->sparse_ratio, 0, INT_MAX);
    set_integer(L, 3, &settings->sparse_safe, 0, INT_MAX);
    return 3;
}

static int encode_max_depth(lua_State *L) {
    set_integer(L, 1, &begin_setting(L, 1)->encode_depth, 1, INT_MAX);
    return 1;
}

static int decode_max_depth(lua_State *L) {
    set_integer(L, 1, &begin_setting(L, 1)->decode_depth, 1, INT_MAX);
    return 1;
}

static int encode_number_precision(lua_State *L) {
    set_integer(L, 1, &begin_setting(L, 1)->precision, 1, CJSON_PRECISION_MAX);
    return 1;
}

static int encode_keep_buffer(lua_State *L) {
    set_bool(L, 1, &begin_setting(L, 1)->keep_buffer);
    return 1;
}

static int decode_array_with_array_mt(lua_State *L) {
    set_bool(L, 1, &begin_setting(L, 1)->mark_arrays);
    return 1;
}

static int decode_invalid_numbers(lua_State *L) {
    set_bool(L, 1, &begin_setting(L, 1)->decode_invalid);
    return 1;
}

static int encode_invalid_numbers(lua_State *L) {
    static const char *const options[] = {"off", "on", "null", NULL};
    struct cjson_settings *settings = begin_setting(L, 1);
    if (lua_isboolean(L, 1)) {
        settings->encode_invalid = lua_toboolean(L, 1) ? CJSON_INVALID_WRITE : CJSON_INVALID_ERROR;
    } else if (!lua_isnil(L, 1)) {
        settings->encode_invalid = (enum cjson_invalid)luaL_checkoption(L, 1, NULL, options);
    }
    if (settings->encode_invalid == CJSON_INVALID_NULL) {
        lua_pushliteral(L, "null");
    } else {
        lua_pushboolean(L, settings->encode_invalid == CJSON_INVALID_WRITE);
    }
    return 1;
}

static int new_instance(lua_State *L);

static const luaL_Reg functions[] = {
    {"encode", cjson_encode},
    {"decode", cjson_decode},
    {"encode_sparse_array", encode_sparse_array},
    {"encode_max_depth", encode_max_depth},
    {"decode_max_depth", decode_max_depth},
    {"encode_number_precision", encode_number_precision},
    {"encode_keep_buffer", encode_keep_buffer},
    {"encode_invalid_numbers", encode_invalid_numbers},
    {"decode_invalid_numbers", decode_invalid_numbers},
    {"decode_array_with_array_mt", decode_array_with_array_mt},
    {"new", new_instance},
};

/* Pushes a table of the library, whose functions share settings of their own. Returns these, which
 * live as long as the functions. */
static struct cjson_settings *push_instance(lua_State *L) {
    lua_newtable(L);
    struct cjson_settings *settings = lua_newuserdata(L, sizeof(*settings));
    *settings = defaults;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        lua_pushvalue(L, -1);
        lua_pushcclosure(L, functions[i].func, 1);
        lua_setfield(L, -3, functions[i].name);
    }
    lua_pop(L, 1);
    lua_pushlightuserdata(L, NULL);
    lua_setfield(L, -2, "null");
    lua_pushliteral(L, "cjson");
    lua_setfield(L, -2, "_NAME");
    lua_pushliteral(L, "2.1.0");
    lua_setfield(L, -2, "_VERSION");
    return settings;
}

static int new_instance(lua_State *L) {
    push_instance(L);
    return 1;
}

int lua_open_cjson(lua_State *L) {
    machine_of(L)->cjson = push_instance(L);
    return 1;
}

void lua_reset_cjson(struct cjson_settings *settings) {
    *settings = defaults;
}
