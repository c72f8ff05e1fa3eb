/* cmsgpack_pack: Lua values to MessagePack. */
#include "lua/cmsgpack.h"

#include "lua/effort.h"
#include "lua/text_buffer.h"

#include <lua5.1/lauxlib.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

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

/* Appends a length in the shortest form: in the first byte up to `fix_max`, else after one of the
 * others. 0 as `first8`: there is no form with one byte. */
static void append_length(struct packer *p, size_t length, int fix, size_t fix_max, int first8,
                          int first16, int first32) {
    if (length > UINT32_MAX) luaL_error(p->lua, "value is too large for MessagePack");
    if (length <= fix_max) {
        append(p, fix | (int)length, 0, 0);
    } else if (length <= UINT8_MAX && first8 != 0) {
        append(p, first8, length, 1);
    } else if (length <= UINT16_MAX) {
        append(p, first16, length, 2);
    } else {
        append(p, first32, length, 4);
    }
}

static void pack_string(struct packer *p) {
    size_t length;
    const char *bytes = lua_tolstring(p->lua, -1, &length);
    append_length(p, length, MSGPACK_FIX_STRING, 31, MSGPACK_STRING8, MSGPACK_STRING16,
                  MSGPACK_STRING32);
    effort_count_bytes(&p->effort, length);
    text_buffer_append(&p->text, bytes, length);
}

static void pack_integer(struct packer *p, int64_t value) {
    uint64_t bits = (uint64_t)value;
    if (value >= -32 && value <= 127) {
        append(p, (int)(bits & 0xff), 0, 0);
    } else if (value >= 0) {
        if (value <= UINT8_MAX)
            append(p, MSGPACK_UINT8, bits, 1);
        else if (value <= UINT16_MAX)
            append(p, MSGPACK_UINT16, bits, 2);
        else if (value <= UINT32_MAX)
            append(p, MSGPACK_UINT32, bits, 4);
        else
            append(p, MSGPACK_UINT64, bits, 8);
    } else {
        if (value >= INT8_MIN)
            append(p, MSGPACK_INT8, bits, 1);
        else if (value >= INT16_MIN)
            append(p, MSGPACK_INT16, bits, 2);
        else if (value >= INT32_MIN)
            append(p, MSGPACK_INT32, bits, 4);
        else
            append(p, MSGPACK_INT64, bits, 8);
    }
}

static void pack_number(struct packer *p) {
    double value = lua_tonumber(p->lua, -1);
    if (value >= -0x1p63 && value < 0x1p63 && value == floor(value)) {
        pack_integer(p, (int64_t)value);
        return;
    }
    float single = (float)value;
    if (single == value) {
        uint32_t bits;
        memcpy(&bits, &single, sizeof(bits));
        append(p, MSGPACK_FLOAT, bits, sizeof(bits));
    } else {
        uint64_t bits;
        memcpy(&bits, &value, sizeof(bits));
        append(p, MSGPACK_DOUBLE, bits, sizeof(bits));
    }
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
        append_length(p, count, MSGPACK_FIX_ARRAY, 15, 0, MSGPACK_ARRAY16, MSGPACK_ARRAY32);
        for (size_t i = 1; i <= count; i++) {
            lua_rawgeti(L, -1, (int)i);
            pack_value(p, depth);
            lua_pop(L, 1);
        }
        return;
    }
    append_length(p, count, MSGPACK_FIX_MAP, 15, 0, MSGPACK_MAP16, MSGPACK_MAP32);
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
        append(p, lua_toboolean(p->lua, -1) ? MSGPACK_TRUE : MSGPACK_FALSE, 0, 0);
        return;
    case LUA_TTABLE:
        if (depth < NESTING_MAX) {
            pack_table(p, depth + 1);
            return;
        }
        break;
    }
    append(p, MSGPACK_NIL, 0, 0);
}

int cmsgpack_pack(lua_State *L) {
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
