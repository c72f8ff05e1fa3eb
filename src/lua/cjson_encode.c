/* cjson_encode: Lua values to JSON texts. */
#include "lua/cjson.h"
#include "lua/effort.h"

#include "base/word_bytes.h"

#include <limits.h>
#include <lua5.1/lauxlib.h>
#include <math.h>
#include <stdint.h>

struct encoder {
    lua_State *lua;
    const struct cjson_settings *settings;
    struct text_buffer text;
    struct effort effort;
};

/* Bytes of a string that are escaped at a time: few, so that their room, which is for the longest
 * escape of each, fits after most texts as they are. */
enum { STRING_STEP = 64, ESCAPE_MAX = 6 };

/* The room for `len` bytes with their escapes: whole words are written. */
#define ESCAPED_ROOM(len) ((len)*ESCAPE_MAX + sizeof(uint64_t))

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first byte is the lowest");

static void encode_value(struct encoder *e, int depth);

/* The value at `index` cannot be encoded. */
static void fail(const struct encoder *e, int index, const char *why) {
    luaL_error(e->lua, "Cannot serialise %s: %s", luaL_typename(e->lua, index), why);
}

/* For each byte: 0, it stands for itself; 'u', it becomes \u00XX; else, that letter after a
 * backslash. */
static const char escapes[256] = {
    [0 ... 7] = 'u', ['\b'] = 'b',      ['\t'] = 't', ['\n'] = 'n',  [11] = 'u',  ['\f'] = 'f',
    ['\r'] = 'r',    [14 ... 31] = 'u', ['"'] = '"',  ['\\'] = '\\', ['/'] = '/', [127] = 'u',
};

/* Returns whether all of eight bytes stand for themselves. */
static bool is_plain(uint64_t word) {
    uint64_t found = word_bytes_below(word, 32) | word_bytes_equal(word, '"') |
                     word_bytes_equal(word, '\\') | word_bytes_equal(word, '/') |
                     word_bytes_equal(word, 127);
    return found == 0;
}

/* As `escape`, byte by byte. */
static char *escape_bytes(char *to, const char *from, size_t len) {
    static const char hex[] = "0123456789abcdef";
    for (size_t i = 0; i < len; i++) {
        unsigned char byte = (unsigned char)from[i];
        char escape = escapes[byte];
        if (escape == 0) {
            *to++ = (char)byte;
            continue;
        }
        *to++ = '\\';
        *to++ = escape;
        if (escape != 'u') continue;
        *to++ = '0';
        *to++ = '0';
        *to++ = hex[byte >> 4];
        *to++ = hex[byte & 15];
    }
    return to;
}

/* Writes `len` bytes as they stand in a string, and returns the end; `to` has ESCAPED_ROOM(len). */
static char *escape(char *to, const char *from, size_t len) {
    for (; len >= sizeof(uint64_t); from += sizeof(uint64_t), len -= sizeof(uint64_t)) {
        uint64_t word = word_bytes_load(from);
        if (is_plain(word)) {
            memcpy(to, &word, sizeof(word));
            to += sizeof(word);
        } else {
            to = escape_bytes(to, from, sizeof(word));
        }
    }
    uint64_t word = word_bytes_load_first(from, (unsigned)len);
    if (!is_plain(word | (WORD_BYTES_ALL(' ') & ~word_bytes_first((unsigned)len))))
        return escape_bytes(to, from, len);
    memcpy(to, &word, sizeof(word));
    return to + len;
}

static void encode_string(struct encoder *e, int index) {
    size_t len;
    const char *from = lua_tolstring(e->lua, index, &len);
    text_buffer_byte(&e->text, '"');
    while (len > 0) {
        size_t step = len < STRING_STEP ? len : STRING_STEP;
        char *to = text_buffer_reserve(&e->text, ESCAPED_ROOM(step));
        e->text.len += (size_t)(escape(to, from, step) - to);
        effort_count_bytes(&e->effort, step);
        from += step;
        len -= step;
    }
    text_buffer_byte(&e->text, '"');
}

static void encode_number(struct encoder *e, int index) {
    double value = lua_tonumber(e->lua, index);
    if (!isfinite(value)) {
        switch (e->settings->encode_invalid) {
        case CJSON_INVALID_ERROR: fail(e, index, "must not be NaN or Inf"); break;
        case CJSON_INVALID_NULL: text_buffer_append(&e->text, "null", 4); return;
        case CJSON_INVALID_WRITE: break;
        }
        if (isnan(value)) { /* whatever its sign */
            text_buffer_append(&e->text, "nan", 3);
            return;
        }
    }
    char *to = text_buffer_reserve(&e->text, CJSON_NUMBER_MAX);
    e->text.len += cjson_format_number(to, value, e->settings->precision);
}

/* Returns whether the table on top of the stack has the metatable of an array. */
static bool is_marked(lua_State *L) {
    if (!luaL_getmetafield(L, -1, CJSON_ARRAY_MARK)) return false;
    bool marked = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return marked;
}

/* The length of the table on top of the stack as an array: its largest index; -1 when it is an
 * object. An empty table is an object unless it is marked. */
static int array_length(struct encoder *e) {
    lua_State *L = e->lua;
    int largest = 0;
    int64_t count = 0;
    lua_pushnil(L);
    while (lua_next(L, -2)) {
        double key = lua_type(L, -2) == LUA_TNUMBER ? lua_tonumber(L, -2) : 0;
        if (!(key >= 1 && key <= INT_MAX && key == floor(key))) {
            lua_pop(L, 2);
            return -1;
        }
        if (key > largest) largest = (int)key;
        count++;
        effort_count(&e->effort, 1);
        lua_pop(L, 1);
    }
    const struct cjson_settings *settings = e->settings;
    if (settings->sparse_ratio > 0 && largest > count * settings->sparse_ratio &&
        largest > settings->sparse_safe) {
        if (!settings->sparse_convert) fail(e, -1, "excessively sparse array");
        return -1;
    }
    return largest > 0 || is_marked(L) ? largest : -1;
}

static void encode_array(struct encoder *e, int length, int depth) {
    text_buffer_byte(&e->text, '[');
    for (int i = 1; i <= length; i++) {
        if (i > 1) text_buffer_byte(&e->text, ',');
        lua_rawgeti(e->lua, -1, i);
        encode_value(e, depth);
        lua_pop(e->lua, 1);
    }
    text_buffer_byte(&e->text, ']');
}

static void encode_key(struct encoder *e) {
    switch (lua_type(e->lua, -2)) {
    case LUA_TSTRING: encode_string(e, -2); break;
    case LUA_TNUMBER:
        text_buffer_byte(&e->text, '"');
        encode_number(e, -2);
        text_buffer_byte(&e->text, '"');
        break;
    default: fail(e, -2, "table key must be a number or string");
    }
    text_buffer_byte(&e->text, ':');
}

static void encode_object(struct encoder *e, int depth) {
    text_buffer_byte(&e->text, '{');
    lua_pushnil(e->lua);
    for (bool first = true; lua_next(e->lua, -2); first = false) {
        if (!first) text_buffer_byte(&e->text, ',');
        encode_key(e);
        encode_value(e, depth);
        lua_pop(e->lua, 1);
    }
    text_buffer_byte(&e->text, '}');
}

static void encode_table(struct encoder *e, int depth) {
    if (depth > e->settings->encode_depth || !lua_checkstack(e->lua, 4)) {
        luaL_error(e->lua, "Cannot serialise, excessive nesting (%d)", depth);
    }
    effort_count(&e->effort, EFFORT_OF_TABLE);
    int length = array_length(e);
    if (length >= 0) {
        encode_array(e, length, depth);
    } else {
        encode_object(e, depth);
    }
}

/* Appends the value on top of the stack, which stays there; `depth` tables are around it. */
static void encode_value(struct encoder *e, int depth) {
    effort_count(&e->effort, 1);
    switch (lua_type(e->lua, -1)) {
    case LUA_TSTRING: encode_string(e, -1); return;
    case LUA_TNUMBER: encode_number(e, -1); return;
    case LUA_TTABLE: encode_table(e, depth + 1); return;
    case LUA_TBOOLEAN:
        if (lua_toboolean(e->lua, -1)) {
            text_buffer_append(&e->text, "true", 4);
        } else {
            text_buffer_append(&e->text, "false", 5);
        }
        return;
    case LUA_TLIGHTUSERDATA:
        if (lua_touserdata(e->lua, -1) != NULL) break;
        __attribute__((fallthrough));
    case LUA_TNIL: text_buffer_append(&e->text, "null", 4); return;
    }
    fail(e, -1, "type not supported");
}

int cjson_encode(lua_State *L) {
    luaL_argcheck(L, lua_gettop(L) == 1, 1, "expected 1 argument");
    struct encoder e;
    e.lua = L;
    e.effort = effort_begin(L);
    e.settings = lua_touserdata(L, lua_upvalueindex(1));
    text_buffer_init(&e.text, L);
    lua_pushvalue(L, 1);
    encode_value(&e, 0);
    effort_report(&e.effort);
    text_buffer_push(&e.text);
    return 1;
}
