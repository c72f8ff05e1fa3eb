/* lib_cmsgpack: the library `cmsgpack` of scripts: MessagePack to Lua values and back, byte for
 * byte as Redis's cmsgpack. It is our own because no distribution packages a library with these
 * functions, and because it must choose the same among MessagePack's forms of a value as Redis. */
#include "lua/effort.h"
#include "lua/machine_internal.h"
#include "lua/text_buffer.h"

#include <limits.h>
#include <lua5.1/lauxlib.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* First bytes of values. Those of the types with FIX also hold the number or the length. */
enum {
    MSGPACK_FIX_MAP = 0x80,
    MSGPACK_FIX_ARRAY = 0x90,
    MSGPACK_FIX_STRING = 0xa0,
    MSGPACK_NIL = 0xc0,
    MSGPACK_FALSE = 0xc2,
    MSGPACK_TRUE = 0xc3,
    MSGPACK_FLOAT = 0xca,
    MSGPACK_DOUBLE = 0xcb,
    MSGPACK_UINT8 = 0xcc, /* then 16, 32 and 64 bits */
    MSGPACK_INT8 = 0xd0,  /* the same */
    MSGPACK_INT64 = 0xd3,
    MSGPACK_STRING8 = 0xd9, /* then lengths of 16 and 32 bits */
    MSGPACK_STRING16 = 0xda,
    MSGPACK_STRING32 = 0xdb,
    MSGPACK_ARRAY16 = 0xdc,
    MSGPACK_ARRAY32 = 0xdd,
    MSGPACK_MAP16 = 0xde,
    MSGPACK_MAP32 = 0xdf,
    MSGPACK_FIX_NEGATIVE = 0xe0, /* -32 … -1 */
};

/* --- pack --- */

/* Tables that are deeper inside others are packed as nil. */
enum { NESTING_MAX = 16 };

struct packer {
    lua_State *lua;
    struct text_buffer text;
    struct effort effort;
};

static void pack_value(struct packer *p, int depth);

/* Appends `first` and after it the low `size` bytes of `value`, the highest one first. */
static void append(struct packer *p, int first, uint64_t value, size_t size) {
    char *to = text_buffer_reserve(&p->text, 1 + size);
    *to++ = (char)first;
    for (size_t i = size; i > 0; i--) *to++ = (char)(value >> 8 * (i - 1));
    p->text.len += 1 + size;
}

/* Appends a length in the shortest form: in the first byte, `fix`, up to `fix_max`; else after
 * `first16`, or the next one with 32 bits. Only strings have a form with 8 bits. */
static void append_length(struct packer *p, size_t length, int fix, size_t fix_max, int first16) {
    if (length > UINT32_MAX) luaL_error(p->lua, "value is too large for MessagePack");
    if (length <= fix_max) {
        text_buffer_byte(&p->text, fix | (int)length);
    } else if (length <= UINT8_MAX && first16 == MSGPACK_STRING16) {
        append(p, MSGPACK_STRING8, length, 1);
    } else if (length <= UINT16_MAX) {
        append(p, first16, length, 2);
    } else {
        append(p, first16 + 1, length, 4);
    }
}

static void pack_string(struct packer *p) {
    size_t length;
    const char *bytes = lua_tolstring(p->lua, -1, &length);
    append_length(p, length, MSGPACK_FIX_STRING, 31, MSGPACK_STRING16);
    effort_count_bytes(&p->effort, length);
    text_buffer_append(&p->text, bytes, length);
}

static void pack_integer(struct packer *p, int64_t value) {
    uint64_t bits = (uint64_t)value;
    if (value >= -32 && value <= 127) {
        text_buffer_byte(&p->text, (int)value);
        return;
    }
    uint64_t needed = value < 0 ? ~bits << 1 : bits; /* one bit is the sign */
    int log2 = (needed > UINT8_MAX) + (needed > UINT16_MAX) + (needed > UINT32_MAX);
    append(p, (value < 0 ? MSGPACK_INT8 : MSGPACK_UINT8) + log2, bits, (size_t)1 << log2);
}

static void pack_number(struct packer *p) {
    double value = lua_tonumber(p->lua, -1);
    if (value >= -0x1p63 && value < 0x1p63 && value == floor(value)) {
        pack_integer(p, (int64_t)value);
        return;
    }
    size_t size = (float)value == value ? sizeof(float) : sizeof(double);
    int first = size == sizeof(float) ? MSGPACK_FLOAT : MSGPACK_DOUBLE;
    append(p, first, library_float_bits(value, size), size);
}

/* How many pairs the table on top of the stack has. *array: its keys are 1 to that number. */
static size_t count_pairs(struct packer *p, bool *array) {
    lua_State *L = p->lua;
    size_t count = 0;
    double largest = 0;
    *array = true;
    effort_count(&p->effort, EFFORT_OF_TABLE);
    luaL_checkstack(L, 3, "in function table_is_an_array");
    lua_pushnil(L);
    for (; lua_next(L, -2); count++) {
        double key = lua_type(L, -2) == LUA_TNUMBER ? lua_tonumber(L, -2) : 0;
        if (!(key >= 1 && key == floor(key))) *array = false;
        if (key > largest) largest = key;
        effort_count(&p->effort, 1);
        lua_pop(L, 1);
    }
    if (largest != (double)count) *array = false;
    return count;
}

static void pack_table(struct packer *p, int depth) {
    lua_State *L = p->lua;
    bool array;
    size_t count = count_pairs(p, &array);
    if (array) {
        append_length(p, count, MSGPACK_FIX_ARRAY, 15, MSGPACK_ARRAY16);
        for (size_t i = 1; i <= count; i++) {
            lua_rawgeti(L, -1, (int)i);
            pack_value(p, depth);
            lua_pop(L, 1);
        }
        return;
    }
    append_length(p, count, MSGPACK_FIX_MAP, 15, MSGPACK_MAP16);
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        lua_pushvalue(L, -2); /* a copy: converting a key in place would confuse lua_next */
        pack_value(p, depth);
        lua_pop(L, 1);
        pack_value(p, depth);
        lua_pop(L, 1);
    }
}

/* Appends the value on top of the stack, which stays there; `depth` tables are around it. What
 * MessagePack does not know becomes nil. */
static void pack_value(struct packer *p, int depth) {
    effort_count(&p->effort, 1);
    switch (lua_type(p->lua, -1)) {
    case LUA_TSTRING: pack_string(p); return;
    case LUA_TNUMBER: pack_number(p); return;
    case LUA_TBOOLEAN:
        text_buffer_byte(&p->text, lua_toboolean(p->lua, -1) ? MSGPACK_TRUE : MSGPACK_FALSE);
        return;
    case LUA_TTABLE:
        if (depth < NESTING_MAX) {
            pack_table(p, depth + 1);
            return;
        }
        break;
    }
    text_buffer_byte(&p->text, MSGPACK_NIL);
}

static int pack(lua_State *L) {
    int count = lua_gettop(L);
    if (count == 0) return luaL_argerror(L, 0, "MessagePack pack needs input.");
    if (!lua_checkstack(L, count)) {
        return luaL_argerror(L, 0, "Too many arguments for MessagePack pack.");
    }
    struct packer p;
    p.lua = L;
    p.effort = effort_begin(L);
    text_buffer_init(&p.text, L);
    for (int i = 1; i <= count; i++) {
        lua_pushvalue(L, i);
        pack_value(&p, 0);
        lua_pop(L, 1);
    }
    effort_report(&p.effort);
    text_buffer_push(&p.text);
    return 1;
}

/* --- unpack ---
 *
 * A length is believed only as far as bytes are left: every element takes one at least. The parser
 * recurses into arrays and maps; luaL_checkstack bounds it to 8,000 levels. */

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

static void unpack_float(struct unpacker *u, size_t size) {
    lua_pushnumber(u->lua, library_float(take_uint(u, size), size));
}

/* Unsigned numbers of 64 bits come out signed, as in Redis. */
static void unpack_int(struct unpacker *u, int first) {
    size_t size = (size_t)1 << (first & 3);
    uint64_t value = take_uint(u, size);
    if (first >= MSGPACK_INT8) value = library_extend_sign(value, size);
    lua_pushnumber(u->lua, (lua_Number)(int64_t)value);
}

/* A value whose first byte holds nothing but its type. */
static void unpack_typed(struct unpacker *u, int first) {
    switch (first) {
    case MSGPACK_NIL: lua_pushnil(u->lua); return;
    case MSGPACK_FALSE: lua_pushboolean(u->lua, false); return;
    case MSGPACK_TRUE: lua_pushboolean(u->lua, true); return;
    case MSGPACK_FLOAT: unpack_float(u, sizeof(float)); return;
    case MSGPACK_DOUBLE: unpack_float(u, sizeof(double)); return;
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

static int unpack(lua_State *L) {
    return unpack_some(L, 0, 0);
}

static int unpack_one(lua_State *L) {
    luaL_checkstring(L, 1);
    return unpack_some(L, 1, optional_integer(L, 2, 0));
}

static int unpack_limit(lua_State *L) {
    luaL_checkstring(L, 1);
    luaL_checknumber(L, 2);
    int64_t limit = optional_integer(L, 2, 0);
    return unpack_some(L, limit, optional_integer(L, 3, 0));
}

/* --- The library --- */

int lua_open_cmsgpack(lua_State *L) {
    static const luaL_Reg FUNCTIONS[] = {
        {"pack", pack},
        {"unpack", unpack},
        {"unpack_one", unpack_one},
        {"unpack_limit", unpack_limit},
        {NULL, NULL},
    };
    lua_newtable(L);
    luaL_register(L, NULL, FUNCTIONS);
    lua_pushliteral(L, "cmsgpack");
    lua_setfield(L, -2, "_NAME");
    lua_pushliteral(L, "lua-cmsgpack 0.4.0");
    lua_setfield(L, -2, "_VERSION");
    lua_pushliteral(L, "MessagePack C implementation for Lua");
    lua_setfield(L, -2, "_DESCRIPTION");
    return 1;
}
