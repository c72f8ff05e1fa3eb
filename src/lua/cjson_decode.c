/* cjson_decode: JSON texts to Lua values, in one pass.
 *
 * Lua strings end with a NUL that does not count, and a NUL is the end of the text, so the parser
 * looks at the length only where it reads several bytes at once. It recurses into arrays and
 * objects; lua_checkstack bounds it to 8,000 levels, whatever the settings say. Only an error looks
 * at tokens, to name what stands there. */
#include "lua/cjson.h"
#include "lua/effort.h"

#include "base/text/number.h"
#include "base/word_bytes.h"

#include <lua5.1/lauxlib.h>
#include <strings.h>

struct decoder {
    lua_State *lua;
    const struct cjson_settings *settings;
    const char *begin;
    const char *at;
    const char *end; /* the NUL after the text */
    int depth;
    int array_metatable; /* slot of the Lua stack; nil there: none has been needed */
    struct text_buffer unescaped;
    struct effort effort;
    const char *found; /* for errors: what is wrong with a token, and where */
    const char *found_at;
};

static void parse_value(struct decoder *d);

static void skip_blanks(struct decoder *d) {
    while (*d->at == ' ' || *d->at == '\n' || *d->at == '\t' || *d->at == '\r') d->at++;
}

/* Notes what an error is about to name. Returns NULL, as the functions that find it. */
static const char *note(struct decoder *d, const char *found, const char *at) {
    d->found = found;
    d->found_at = at;
    return NULL;
}

/* --- Strings --- */

/* The value of four hexadecimal digits, or -1. */
static int parse_hex4(const char *at) {
    int value = 0;
    for (int i = 0; i < 4; i++) {
        int c = at[i], digit;
        if (number_is_digit((char)c))
            digit = c - '0';
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            digit = (c | 0x20) - 'a' + 10;
        else
            return -1;
        value = value << 4 | digit;
    }
    return value;
}

static void append_utf8(struct text_buffer *text, int code) {
    char *to = text_buffer_reserve(text, 4);
    size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = len - 1; i > 0; i--, code >>= 6) to[i] = (char)(0x80 | (code & 0x3f));
    to[0] = (char)(first[len] | code);
    text->len += len;
}

/* The escape at `at`, "\uXXXX" or two of them that are a surrogate pair, is appended. Returns its
 * end, or NULL. */
static const char *unescape_unicode(struct decoder *d, const char *at) {
    int code = parse_hex4(at + 2);
    if (code < 0) return NULL;
    at += 6;
    if ((code & 0xf800) == 0xd800) {
        if (code >= 0xdc00 || at[0] != '\\' || at[1] != 'u') return NULL;
        int low = parse_hex4(at + 2);
        if (low < 0 || (low & 0xfc00) != 0xdc00) return NULL;
        code = 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
        at += 6;
    }
    append_utf8(&d->unescaped, code);
    return at;
}

/* As above, for any escape. */
static const char *unescape(struct decoder *d, const char *at) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (at[1] == 'u') {
        const char *end = unescape_unicode(d, at);
        return end ? end : note(d, "invalid unicode escape code", at);
    }
    const char *found = at[1] == '\0' ? NULL : strchr(from, at[1]);
    if (found == NULL) return note(d, "invalid escape code", at);
    text_buffer_byte(&d->unescaped, to[found - from]);
    return at + 2;
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first byte is the lowest");

/* Returns 0 if all of the eight bytes stand for themselves; otherwise word_bytes_place tells which
 * do not. */
static uint64_t special_bytes(uint64_t word) {
    return word_bytes_equal(word, '"') | word_bytes_equal(word, '\\') | word_bytes_zero(word);
}

/* The end of bytes that stand for themselves: a quote, a backslash or NUL. */
static const char *skip_plain(const struct decoder *d, const char *at) {
    for (; d->end - at >= (ptrdiff_t)sizeof(uint64_t); at += sizeof(uint64_t)) {
        uint64_t special = special_bytes(word_bytes_load(at));
        if (special != 0) return at + word_bytes_place(special);
    }
    while (*at != '"' && *at != '\\' && *at != '\0') at++;
    return at;
}

/* The string after the quote at `at` into *text: a part of the input, or of `unescaped`. Returns
 * its end, after the closing quote, or NULL. */
static const char *scan_string(struct decoder *d, const char *at, struct slice *text) {
    const char *begin = at + 1;
    at = skip_plain(d, begin);
    if (*at == '"') {
        *text = slice_make(begin, (size_t)(at - begin));
        return at + 1;
    }
    d->unescaped.len = 0;
    while (*at == '\\') {
        text_buffer_append(&d->unescaped, begin, (size_t)(at - begin));
        begin = unescape(d, at);
        if (begin == NULL) return NULL;
        at = skip_plain(d, begin);
    }
    if (*at == '\0') return note(d, "unexpected end of string", at);
    text_buffer_append(&d->unescaped, begin, (size_t)(at - begin));
    *text = slice_make(d->unescaped.ptr, d->unescaped.len);
    return at + 1;
}

/* --- Numbers --- */

/* What strtod accepts though it is not a number in JSON. */
static bool is_invalid_number(const char *at) {
    if (*at == '+') return true;
    at += *at == '-';
    if (*at == '0') return (at[1] | 0x20) == 'x' || number_is_digit(at[1]);
    return strncasecmp(at, "inf", 3) == 0 || strncasecmp(at, "nan", 3) == 0;
}

/* Returns whether a number, good or bad, begins at `at`. */
static bool is_number(const struct decoder *d, const char *at) {
    if (number_is_digit(*at) || *at == '-') return true;
    return d->settings->decode_invalid && is_invalid_number(at);
}

static const char *scan_number(struct decoder *d, const char *at, double *value) {
    const char *end = NULL;
    if (d->settings->decode_invalid || !is_invalid_number(at)) {
        end = cjson_parse_number(slice_make(at, (size_t)(d->end - at)), value);
    }
    return end ? end : note(d, "invalid number", at);
}

/* --- Errors --- */

/* Notes the name of the token at `at`, as error messages give it. */
static void name_token(struct decoder *d, const char *at) {
    static const char signs[] = "{}[]:,";
    static const char *const names[] = {"T_OBJ_BEGIN", "T_OBJ_END", "T_ARR_BEGIN",
                                        "T_ARR_END",   "T_COLON",   "T_COMMA"};
    struct slice text;
    double value;
    const char *name = "invalid token";
    if (*at == '\0') {
        name = "T_END";
    } else if (strchr(signs, *at) != NULL) {
        name = names[strchr(signs, *at) - signs];
    } else if (*at == '"') {
        if (scan_string(d, at, &text) == NULL) return;
        name = "T_STRING";
    } else if (strncmp(at, "true", 4) == 0 || strncmp(at, "false", 5) == 0) {
        name = "T_BOOLEAN";
    } else if (strncmp(at, "null", 4) == 0) {
        name = "T_NULL";
    } else if (is_number(d, at)) {
        if (scan_number(d, at, &value) == NULL) return;
        name = "T_NUMBER";
    }
    note(d, name, at);
}

static void fail(const struct decoder *d, const char *expected) {
    luaL_error(d->lua, "Expected %s but found %s at character %d", expected, d->found,
               (int)(d->found_at - d->begin) + 1);
}

static void fail_token(struct decoder *d, const char *expected) {
    name_token(d, d->at);
    fail(d, expected);
}

/* --- Values --- */

static void parse_string(struct decoder *d, const char *expected) {
    struct slice text;
    const char *end = scan_string(d, d->at, &text);
    if (end == NULL) fail(d, expected);
    effort_count_bytes(&d->effort, text.len);
    lua_pushlstring(d->lua, text.ptr, text.len);
    d->at = end;
}

static void parse_number(struct decoder *d) {
    double value;
    const char *end = scan_number(d, d->at, &value);
    if (end == NULL) fail(d, "value");
    lua_pushnumber(d->lua, value);
    d->at = end;
}

static void parse_word(struct decoder *d) {
    if (strncmp(d->at, "true", 4) == 0) {
        lua_pushboolean(d->lua, true);
        d->at += 4;
    } else if (strncmp(d->at, "false", 5) == 0) {
        lua_pushboolean(d->lua, false);
        d->at += 5;
    } else if (strncmp(d->at, "null", 4) == 0) {
        lua_pushlightuserdata(d->lua, NULL);
        d->at += 4;
    } else if (is_number(d, d->at)) {
        parse_number(d);
    } else {
        fail_token(d, "value");
    }
}

/* One level down, with room for `slots` values on the Lua stack. */
static void descend(struct decoder *d, int slots) {
    d->depth++;
    d->at++;
    if (d->depth > d->settings->decode_depth || !lua_checkstack(d->lua, slots)) {
        luaL_error(d->lua, "Found too many nested data structures (%d) at character %d", d->depth,
                   (int)(d->at - d->begin));
    }
    skip_blanks(d);
}

/* Marks the array on top of the stack. The arrays of one text share a metatable. */
static void mark_array(struct decoder *d) {
    lua_State *L = d->lua;
    if (lua_isnil(L, d->array_metatable)) {
        lua_newtable(L);
        lua_pushboolean(L, true);
        lua_setfield(L, -2, CJSON_ARRAY_MARK);
        lua_replace(L, d->array_metatable);
    }
    lua_pushvalue(L, d->array_metatable);
    lua_setmetatable(L, -2);
}

static void parse_array(struct decoder *d) {
    descend(d, d->settings->mark_arrays ? 3 : 2);
    lua_newtable(d->lua);
    if (d->settings->mark_arrays) mark_array(d);
    for (int index = 1; *d->at != ']' || index > 1; index++) {
        parse_value(d);
        lua_rawseti(d->lua, -2, index);
        if (*d->at == ']') break;
        if (*d->at != ',') fail_token(d, "comma or array end");
        d->at++;
        skip_blanks(d);
    }
    d->at++;
    d->depth--;
}

static void parse_object(struct decoder *d) {
    descend(d, 3);
    lua_newtable(d->lua);
    for (bool first = true; *d->at != '}' || !first; first = false) {
        if (*d->at != '"') fail_token(d, "object key string");
        parse_string(d, "object key string");
        skip_blanks(d);
        if (*d->at != ':') fail_token(d, "colon");
        d->at++;
        skip_blanks(d);
        parse_value(d);
        lua_rawset(d->lua, -3);
        if (*d->at == '}') break;
        if (*d->at != ',') fail_token(d, "comma or object end");
        d->at++;
        skip_blanks(d);
    }
    d->at++;
    d->depth--;
}

/* Pushes the value at `at` and moves past it and the blanks that follow. */
static void parse_value(struct decoder *d) {
    effort_count(&d->effort, 1);
    switch (*d->at) {
    case '"': parse_string(d, "value"); break;
    case '{': parse_object(d); break;
    case '[': parse_array(d); break;
    case '-':
    case '0' ... '9': parse_number(d); break;
    default: parse_word(d);
    }
    skip_blanks(d);
}

int cjson_decode(lua_State *L) {
    luaL_argcheck(L, lua_gettop(L) == 1, 1, "expected 1 argument");
    size_t len;
    const char *text = luaL_checklstring(L, 1, &len);
    /* The first two bytes of a JSON text are ASCII, so a NUL tells UTF-16 and UTF-32. */
    if (len >= 2 && (text[0] == '\0' || text[1] == '\0')) {
        return luaL_error(L, "JSON parser does not support UTF-16 or UTF-32");
    }
    struct decoder d;
    d.lua = L;
    d.begin = d.at = text;
    d.end = text + len;
    d.depth = 0;
    d.effort = effort_begin(L);
    d.settings = lua_touserdata(L, lua_upvalueindex(1));
    text_buffer_init(&d.unescaped, L);
    lua_pushnil(L);
    d.array_metatable = lua_gettop(L);
    skip_blanks(&d);
    parse_value(&d);
    if (*d.at != '\0') fail_token(&d, "the end");
    effort_report(&d.effort);
    return 1;
}
