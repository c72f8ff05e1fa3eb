/* cmsgpack_unpack: MessagePack to Lua values.
 *
 * A length is believed only as far as bytes are left: every element takes one at least. The parser
 * recurses into arrays and maps; luaL_checkstack bounds it to 8,000 levels. */
#include "lua/cmsgpack.h"

#include "lua/effort.h"

#include <limits.h>
#include <lua5.1/lauxlib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct unpacker {
    lua_State *lua;
    const unsigned char *at, *end;
    struct effort effort;
};

static const char TOO_MANY_VALUES[] =
    "too many return values at once; use unpack_one or unpack_limit instead.";

static void unpack_value(struct unpacker *u);

/* The next `size` bytes. */
static const unsigned char *take(struct unpacker *u, size_t size) {
    if ((size_t)(u->end - u->at) < size) luaL_error(u->lua, "Missing bytes in input.");
    const unsigned char *bytes = u->at;
    u->at += size;
    return bytes;
}

/* The next `size` bytes as a number, the highest one first. */
static uint64_t take_uint(struct unpacker *u, size_t size) {
    const unsigned char *bytes = take(u, size);
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) value = value << 8 | bytes[i];
    return value;
}

static void unpack_string(struct unpacker *u, size_t length) {
    const unsigned char *bytes = take(u, length);
    effort_count_bytes(&u->effort, length);
    lua_pushlstring(u->lua, (const char *)bytes, length);
}

static void unpack_array(struct unpacker *u, size_t length) {
    luaL_checkstack(u->lua, 2, "in function mp_decode_to_lua_array");
    lua_newtable(u->lua);
    for (size_t i = 1; i <= length; i++) {
        unpack_value(u);
        if (i > INT_MAX) luaL_error(u->lua, "table overflow");
        lua_rawseti(u->lua, -2, (int)i);
    }
}

static void unpack_map(struct unpacker *u, size_t length) {
    luaL_checkstack(u->lua, 3, TOO_MANY_VALUES);
    lua_newtable(u->lua);
    for (size_t i = 0; i < length; i++) {
        unpack_value(u);
        unpack_value(u);
        lua_rawset(u->lua, -3);
    }
}

static void unpack_float(struct unpacker *u) {
    uint32_t bits = (uint32_t)take_uint(u, sizeof(bits));
    float value;
    memcpy(&value, &bits, sizeof(value));
    lua_pushnumber(u->lua, (double)value);
}

static void unpack_double(struct unpacker *u) {
    uint64_t bits = take_uint(u, sizeof(bits));
    double value;
    memcpy(&value, &bits, sizeof(value));
    lua_pushnumber(u->lua, value);
}

/* Unsigned numbers of 64 bits come out signed, as in Redis. */
static void unpack_int(struct unpacker *u, int first) {
    lua_Number value;
    switch (first) {
    case MSGPACK_INT8: value = (int8_t)take_uint(u, 1); break;
    case MSGPACK_INT16: value = (int16_t)take_uint(u, 2); break;
    case MSGPACK_INT32: value = (int32_t)take_uint(u, 4); break;
    default: value = (lua_Number)(int64_t)take_uint(u, (size_t)1 << (first & 3)); break;
    }
    lua_pushnumber(u->lua, value);
}

/* A value whose first byte holds nothing but its type. */
static void unpack_typed(struct unpacker *u, int first) {
    switch (first) {
    case MSGPACK_NIL: lua_pushnil(u->lua); return;
    case MSGPACK_FALSE: lua_pushboolean(u->lua, false); return;
    case MSGPACK_TRUE: lua_pushboolean(u->lua, true); return;
    case MSGPACK_FLOAT: unpack_float(u); return;
    case MSGPACK_DOUBLE: unpack_double(u); return;
    case MSGPACK_UINT8 ... MSGPACK_INT64: unpack_int(u, first); return;
    case MSGPACK_STRING8: unpack_string(u, take_uint(u, 1)); return;
    case MSGPACK_STRING16: unpack_string(u, take_uint(u, 2)); return;
    case MSGPACK_STRING32: unpack_string(u, take_uint(u, 4)); return;
    case MSGPACK_ARRAY16: unpack_array(u, take_uint(u, 2)); return;
    case MSGPACK_ARRAY32: unpack_array(u, take_uint(u, 4)); return;
    case MSGPACK_MAP16: unpack_map(u, take_uint(u, 2)); return;
    case MSGPACK_MAP32: unpack_map(u, take_uint(u, 4)); return;
    }
    luaL_error(u->lua, "Bad data format in input.");
}

/* Pushes the next value. */
static void unpack_value(struct unpacker *u) {
    effort_count(&u->effort, 1);
    luaL_checkstack(u->lua, 1, TOO_MANY_VALUES);
    int first = *take(u, 1);
    if (first < MSGPACK_FIX_MAP) {
        lua_pushinteger(u->lua, first);
    } else if (first < MSGPACK_FIX_ARRAY) {
        unpack_map(u, (size_t)first & 15);
    } else if (first < MSGPACK_FIX_STRING) {
        unpack_array(u, (size_t)first & 15);
    } else if (first < MSGPACK_NIL) {
        unpack_string(u, (size_t)first & 31);
    } else if (first >= MSGPACK_FIX_NEGATIVE) {
        lua_pushinteger(u->lua, first - 256);
    } else {
        unpack_typed(u, first);
    }
}

/* Returns the argument at `index` as an integer; `missing` if it is absent or nil. A number that
 * does not fit into 64 bits becomes the lowest integer. */
static int64_t optional_integer(lua_State *L, int index, int64_t missing) {
    if (lua_isnoneornil(L, index)) return missing;
    lua_Number number = luaL_checknumber(L, index);
    return number >= -0x1p63 && number < 0x1p63 ? (int64_t)number : INT64_MIN;
}

/* Unpacks `limit` values of argument 1 from `offset` on, or all when both are 0. In front of the
 * values of a limited call stands the offset of the next one, or -1 at the end. */
static int unpack_some(lua_State *L, int64_t limit, int64_t offset) {
    size_t len;
    const char *bytes = luaL_checklstring(L, 1, &len);
    bool all = limit == 0 && offset == 0;
    if (limit < 0 || offset < 0) {
        return luaL_error(L, "Invalid request to unpack with offset of %d and limit of %d.",
                          (int)offset, (int)len);
    }
    if ((uint64_t)offset > len) {
        return luaL_error(L, "Start offset %d greater than input length %d.", (int)offset,
                          (int)len);
    }
    lua_settop(L, 1);
    if (!all) lua_pushnil(L);
    const unsigned char *begin = (const unsigned char *)bytes;
    struct unpacker u = {L, begin + offset, begin + len, effort_begin(L)};
    for (int64_t i = 0; u.at < u.end && (all || i < limit); i++) unpack_value(&u);
    effort_report(&u.effort);
    if (!all) {
        luaL_checkstack(L, 1, "no room for the offset");
        lua_pushnumber(L, u.at == u.end ? -1 : (lua_Number)(u.at - begin));
        lua_replace(L, 2);
    }
    return lua_gettop(L) - 1;
}

int cmsgpack_unpack(lua_State *L) {
    return unpack_some(L, 0, 0);
}

int cmsgpack_unpack_one(lua_State *L) {
    luaL_checkstring(L, 1);
    return unpack_some(L, 1, optional_integer(L, 2, 0));
}

int cmsgpack_unpack_limit(lua_State *L) {
    luaL_checkstring(L, 1);
    luaL_checknumber(L, 2);
    int64_t limit = optional_integer(L, 2, 0);
    return unpack_some(L, limit, optional_integer(L, 3, 0));
}
