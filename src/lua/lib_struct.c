/* lib_struct: the library `struct` of scripts: numbers and strings to bytes and back, by a format,
 * as Redis's struct. It is our own because no distribution packages such a library.
 *
 * A format is a row of options; a number after an option is its size in bytes:
 *
 *     > <        big, little endian from here on (at first: little)
 *     !n         align what follows to its size, at most to n, a power of 2 (8 without n; at first
 *                1)
 *     x          a byte of padding
 *     b B h H l L T    integers of 1, 2, 8 and 8 bytes; capitals are unsigned
 *     in In      integers of n bytes, at most 32 (4 without n)
 *     f d        float, double
 *     s          a string and a NUL
 *     cn         n characters (1 without n). c0: pack takes the whole string, unpack takes as many
 *                as the number before it says, which it replaces
 *     blank      nothing */
#include "base/text/number.h"
#include "lua/effort.h"
#include "lua/machine_internal.h"
#include "lua/text_buffer.h"

#include <ctype.h>
#include <limits.h>
#include <lua5.1/lauxlib.h>

enum { INTEGER_MAX = 32, ALIGN_DEFAULT = 8 };

/* Where a format has been read to, and what its options have set. */
struct format {
    lua_State *lua;
    const char *at; /* ends with NUL */
    bool big_endian;
    size_t align;
    struct effort effort;
};

static struct format begin_format(lua_State *L) {
    return (struct format){L, luaL_checkstring(L, 1), false, 1, effort_begin(L)};
}

/* --- Options --- */

/* Reads the number at the format's place, at most INT_MAX; `missing` if no digit is there. */
static size_t read_number(struct format *format, size_t missing) {
    if (!number_is_digit(*format->at)) return missing;
    size_t number = 0;
    while (number_is_digit(*format->at)) {
        number = number * 10 + (size_t)(*format->at++ - '0');
        if (number > INT_MAX) luaL_error(format->lua, "integral size overflow");
    }
    return number;
}

/* How many bytes the option takes, whose number is read; 0 when that depends on the value, or when
 * it takes none. */
static size_t size_of(struct format *format, char option) {
    size_t size;
    switch (option) {
    case 'b':
    case 'B':
    case 'x': return 1;
    case 'h':
    case 'H': return 2;
    case 'f': return sizeof(float);
    case 'l':
    case 'L':
    case 'T':
    case 'd': return 8;
    case 'c': return read_number(format, 1);
    case 'i':
    case 'I':
        size = read_number(format, sizeof(int));
        if (size > INTEGER_MAX) {
            luaL_error(format->lua, "integral size %d is larger than limit of %d", (int)size,
                       INTEGER_MAX);
        }
        return size;
    default: return 0;
    }
}

/* An option, or 'i' for all that are integers. */
static char kind_of(char option) {
    return strchr("bBhHlLTI", option) ? 'i' : option;
}

/* Bytes of padding before an option of `size` bytes at `position`. Sizes that are not a power of 2
 * give what the arithmetic gives, as in Redis. */
static size_t padding(const struct format *format, char option, size_t size, size_t position) {
    if (size == 0 || option == 'c') return 0;
    if (size > format->align) size = format->align;
    return (size - (position & (size - 1))) & (size - 1);
}

/* An option that stands for no bytes. */
static void control(struct format *format, char option) {
    switch (option) {
    case ' ': return;
    case '>': format->big_endian = true; return;
    case '<': format->big_endian = false; return;
    case '!':
        format->align = read_number(format, ALIGN_DEFAULT);
        if (format->align == 0 || (format->align & (format->align - 1)) != 0) {
            luaL_error(format->lua, "alignment %d is not a power of 2", (int)format->align);
        }
        return;
    }
    luaL_argerror(format->lua, 1,
                  lua_pushfstring(format->lua, "invalid format option '%c'", option));
}

/* --- Bytes of numbers --- */

/* The place of the byte with the weight 256^i among `size` bytes. */
static size_t byte_place(const struct format *format, size_t size, size_t i) {
    return format->big_endian ? size - 1 - i : i;
}

/* Appends the low `size` bytes; those beyond the 64 bits that numbers have are 0. */
static void store(const struct format *format, struct text_buffer *text, size_t size,
                  uint64_t value) {
    char *to = text_buffer_reserve(text, size);
    for (size_t i = 0; i < size; i++) {
        to[byte_place(format, size, i)] = (char)value;
        value >>= 8;
    }
    text->len += size;
}

/* The low 64 bits of `size` bytes. */
static uint64_t load(const struct format *format, const char *from, size_t size) {
    uint64_t value = 0;
    for (size_t i = size; i > 0; i--) {
        value = value << 8 | (unsigned char)from[byte_place(format, size, i - 1)];
    }
    return value;
}

/* The number as an integer of 64 bits, signed or unsigned, whichever holds it; what neither holds
 * becomes what processors make of it: 0 when too large, else the lowest one. */
static uint64_t to_bits(double number) {
    if (number >= 0x1p64) return 0;
    if (number >= 0) return (uint64_t)number;
    if (number >= -0x1p63) return (uint64_t)(int64_t)number;
    return (uint64_t)1 << 63;
}

/* The value of an integer whose option is a small letter if it has a sign. */
static double integer_of(uint64_t bits, size_t size, char option) {
    if (isupper((unsigned char)option)) return (double)bits;
    return (double)(int64_t)library_extend_sign(bits, size);
}

/* --- pack --- */

static size_t pack_string(lua_State *L, int arg, char option, size_t size,
                          struct text_buffer *text) {
    size_t len;
    const char *string = luaL_checklstring(L, arg, &len);
    if (size == 0) size = len;
    luaL_argcheck(L, len >= size, arg + 1, "string too short");
    text_buffer_append(text, string, size);
    if (option != 's') return size;
    text_buffer_byte(text, 0);
    return size + 1;
}

/* Appends what the option makes of argument `arg`. Returns whether it has used the argument. */
static bool pack_option(struct format *format, char option, size_t size, int arg,
                        struct text_buffer *text) {
    lua_State *L = format->lua;
    switch (kind_of(option)) {
    case 'i': store(format, text, size, to_bits(luaL_checknumber(L, arg))); return true;
    case 'f':
    case 'd':
        store(format, text, size, library_float_bits(luaL_checknumber(L, arg), size));
        return true;
    case 'c':
    case 's':
        effort_count_bytes(&format->effort, pack_string(L, arg, option, size, text));
        return true;
    case 'x': text_buffer_byte(text, 0); return false;
    default: control(format, option); return false;
    }
}

static int pack(lua_State *L) {
    struct format format = begin_format(L);
    struct text_buffer text;
    lua_pushnil(L); /* the argument after the last one, when the format asks for it */
    text_buffer_init(&text, L);
    for (int arg = 2; *format.at != '\0';) {
        char option = *format.at++;
        size_t size = size_of(&format, option);
        for (size_t n = padding(&format, option, size, text.len); n > 0; n--) {
            text_buffer_byte(&text, 0);
        }
        arg += pack_option(&format, option, size, arg, &text);
        effort_count(&format.effort, 1);
    }
    effort_report(&format.effort);
    text_buffer_push(&text);
    return 1;
}

/* --- unpack --- */

/* Data that is read, up to `position`. */
struct data {
    const char *bytes;
    size_t len, position;
};

/* The number on top of the stack as the size of what follows in the data, instead of a result. */
static size_t take_size(lua_State *L, int results) {
    if (results == 0 || !lua_isnumber(L, -1)) luaL_error(L, "format 'c0' needs a previous size");
    size_t size = (size_t)to_bits(lua_tonumber(L, -1));
    lua_pop(L, 1);
    return size;
}

static void check_length(lua_State *L, const struct data *data, size_t size) {
    luaL_argcheck(L, data->position <= data->len && size <= data->len - data->position, 2,
                  "data string too short");
}

/* Pushes the string at the data's position; returns its length with the NUL that ends it. */
static size_t unpack_terminated(lua_State *L, const struct data *data) {
    const char *from = data->bytes + data->position;
    size_t left = data->len - data->position;
    const char *end = left == 0 ? NULL : memchr(from, '\0', left);
    if (end == NULL) luaL_error(L, "unfinished string in data");
    lua_pushlstring(L, from, (size_t)(end - from));
    return (size_t)(end - from) + 1;
}

/* Pushes the value of an option that takes `size` bytes, if it has one; `results` are on the stack
 * already. Returns how many there are then. */
static int unpack_option(struct format *format, char option, size_t size, struct data *data,
                         int results) {
    lua_State *L = format->lua;
    const char *from = data->bytes + data->position;
    switch (kind_of(option)) {
    case 'x': break;
    case 'i':
        lua_pushnumber(L, integer_of(load(format, from, size), size, option));
        results++;
        break;
    case 'f':
    case 'd':
        lua_pushnumber(L, library_float(load(format, from, size), size));
        results++;
        break;
    case 'c':
        if (size == 0) {
            size = take_size(L, results--);
            check_length(L, data, size);
        }
        lua_pushlstring(L, from, size);
        results++;
        break;
    case 's':
        size = unpack_terminated(L, data);
        results++;
        break;
    default: control(format, option);
    }
    data->position += size;
    effort_count_bytes(&format->effort, size);
    return results;
}

static int unpack(lua_State *L) {
    struct format format = begin_format(L);
    struct data data;
    data.bytes = luaL_checklstring(L, 2, &data.len);
    lua_Number first = luaL_optnumber(L, 3, 1);
    luaL_argcheck(L, !(first > -1 && first < 1), 3, "offset must be 1 or greater");
    data.position = to_bits(first) - 1; /* negative offsets are beyond the end */
    lua_settop(L, 2);
    int results = 0;
    while (*format.at != '\0') {
        char option = *format.at++;
        size_t size = size_of(&format, option);
        check_length(L, &data, 0);
        data.position += padding(&format, option, size, data.position);
        check_length(L, &data, size);
        luaL_checkstack(L, 2, "too many results");
        results = unpack_option(&format, option, size, &data, results);
        effort_count(&format.effort, 1);
    }
    effort_report(&format.effort);
    luaL_checkstack(L, 1, "too many results");
    lua_pushnumber(L, (lua_Number)(int64_t)(data.position + 1));
    return results + 1;
}

/* --- size --- */

static int size(lua_State *L) {
    struct format format = begin_format(L);
    size_t total = 0;
    while (*format.at != '\0') {
        char option = *format.at++;
        size_t size = size_of(&format, option);
        total += padding(&format, option, size, total);
        luaL_argcheck(L, option != 's', 1, "option 's' has no fixed size");
        luaL_argcheck(L, option != 'c' || size != 0, 1, "option 'c0' has no fixed size");
        if (!isalnum((unsigned char)option)) control(&format, option);
        total += size;
        effort_count(&format.effort, 1);
    }
    effort_report(&format.effort);
    lua_pushnumber(L, (lua_Number)total);
    return 1;
}

int lua_open_struct(lua_State *L) {
    static const luaL_Reg FUNCTIONS[] = {
        {"pack", pack}, {"unpack", unpack}, {"size", size}, {NULL, NULL}};
    lua_newtable(L);
    luaL_register(L, NULL, FUNCTIONS);
    return 1;
}
