/* lib_string: strings. What works on patterns, and what could take long for few instructions, is
 * ours; the rest is Lua's own. */
#define _GNU_SOURCE /* memmem */
#include "lua/machine_internal.h"
#include "lua/pattern.h"

#include <ctype.h>
#include <lua5.1/lualib.h>

enum { BYTES_PER_STEP = 16 };

static struct slice check_text(lua_State *L, int arg) {
    size_t len;
    const char *text = luaL_checklstring(L, arg, &len);
    return slice_make(text, len);
}

/* --- Patterns --- */

/* Where a search begins, as an offset: the third argument counts from 1, or from the end when it is
 * negative. */
static size_t search_begin(lua_State *L, size_t len) {
    int64_t first = library_integer(L, 3, 1);
    if (first < 0) first += (int64_t)len + 1;
    if (first < 1) return 0;
    return (uint64_t)first - 1 < len ? (size_t)first - 1 : len;
}

static int find_plain(lua_State *L, struct slice text, size_t begin, struct slice wanted) {
    const char *from = text.ptr + begin;
    const char *found = memmem(from, text.len - begin, wanted.ptr, wanted.len);
    size_t passed = found ? (size_t)(found - from) : text.len - begin;
    machine_spend(L, (passed + wanted.len) / BYTES_PER_STEP);
    if (!found) {
        lua_pushnil(L);
        return 1;
    }
    lua_pushinteger(L, found - text.ptr + 1);
    lua_pushinteger(L, found - text.ptr + (ptrdiff_t)wanted.len);
    return 2;
}

static int find_or_match(lua_State *L, bool is_find) {
    struct slice text = check_text(L, 1);
    struct slice pattern = check_text(L, 2);
    size_t begin = search_begin(L, text.len);
    if (is_find && (lua_toboolean(L, 4) || !strpbrk(pattern.ptr, "^$*+?.([%-")))
        return find_plain(L, text, begin, pattern);
    struct pattern_match match = pattern_begin(L, text);
    const char *at = text.ptr + begin;
    const char *end = pattern.ptr[0] == '^' ? pattern_match_at(&match, at, pattern.ptr + 1)
                                            : pattern_search(&match, &at, pattern.ptr);
    pattern_finish(&match);
    if (!end) {
        lua_pushnil(L);
        return 1;
    }
    if (!is_find) return pattern_push_captures(&match, true, at, end);
    lua_pushinteger(L, at - text.ptr + 1);
    lua_pushinteger(L, end - text.ptr);
    return pattern_push_captures(&match, false, at, end) + 2;
}

static int string_find(lua_State *L) {
    return find_or_match(L, true);
}

static int string_match(lua_State *L) {
    return find_or_match(L, false);
}

/* The iterator of gmatch: the next match of the pattern (an upvalue) in the text from an offset on,
 * which it moves past the match. */
static int gmatch_next(lua_State *L) {
    size_t len;
    const char *text = lua_tolstring(L, lua_upvalueindex(1), &len);
    const char *pattern = lua_tostring(L, lua_upvalueindex(2));
    size_t offset = (size_t)lua_tonumber(L, lua_upvalueindex(3));
    if (offset > len) return 0;
    struct pattern_match match = pattern_begin(L, slice_make(text, len));
    const char *at = text + offset;
    const char *end = pattern_search(&match, &at, pattern);
    pattern_finish(&match);
    offset = end ? (size_t)(end - text) + (end == at) : len + 1;
    lua_pushnumber(L, (lua_Number)offset);
    lua_replace(L, lua_upvalueindex(3));
    return end ? pattern_push_captures(&match, true, at, end) : 0;
}

static int string_gmatch(lua_State *L) {
    check_text(L, 1);
    check_text(L, 2);
    lua_settop(L, 2);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, gmatch_next, 3);
    return 1;
}

/* Appends the replacement text (the third argument) with %0 to %9 replaced. */
static void add_text(struct pattern_match *match, luaL_Buffer *buffer, const char *start,
                     const char *end) {
    size_t len;
    const char *text = lua_tolstring(match->L, 3, &len);
    for (size_t i = 0; i < len; i++) {
        if (text[i] != '%') {
            luaL_addchar(buffer, text[i]);
        } else if (!isdigit((unsigned char)text[++i])) {
            luaL_addchar(buffer, text[i]);
        } else if (text[i] == '0') {
            luaL_addlstring(buffer, start, (size_t)(end - start));
        } else {
            pattern_push_capture(match, text[i] - '1', start, end);
            luaL_addvalue(buffer);
        }
    }
    machine_spend(match->L, len / 2);
}

/* Appends what the table or function that is the third argument gives for a match. */
static void add_value(struct pattern_match *match, luaL_Buffer *buffer, const char *start,
                      const char *end) {
    lua_State *L = match->L;
    if (lua_istable(L, 3)) {
        pattern_push_capture(match, 0, start, end);
        lua_gettable(L, 3);
    } else {
        lua_pushvalue(L, 3);
        int count = pattern_push_captures(match, true, start, end);
        lua_call(L, count, 1);
    }
    if (!lua_toboolean(L, -1)) {
        lua_pop(L, 1);
        lua_pushlstring(L, start, (size_t)(end - start));
    } else if (!lua_isstring(L, -1)) {
        luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
    }
    luaL_addvalue(buffer);
}

static int string_gsub(lua_State *L) {
    struct slice text = check_text(L, 1);
    struct slice pattern = check_text(L, 2);
    int type = lua_type(L, 3);
    int64_t count_max = library_integer(L, 4, (int64_t)text.len + 1);
    bool is_text = type == LUA_TNUMBER || type == LUA_TSTRING;
    luaL_argcheck(L, is_text || type == LUA_TFUNCTION || type == LUA_TTABLE, 3,
                  "string/function/table expected");
    bool anchored = pattern.ptr[0] == '^';
    if (anchored) pattern.ptr++;
    struct pattern_match match = pattern_begin(L, text);
    luaL_Buffer buffer;
    luaL_buffinit(L, &buffer);
    const char *at = text.ptr;
    int64_t count = 0;
    while (count < count_max) {
        const char *end = pattern_match_at(&match, at, pattern.ptr);
        if (end) {
            count++;
            if (is_text)
                add_text(&match, &buffer, at, end);
            else
                add_value(&match, &buffer, at, end);
        }
        if (end && end > at)
            at = end;
        else if (at < match.end)
            luaL_addchar(&buffer, *at++);
        else
            break;
        if (anchored) break;
    }
    luaL_addlstring(&buffer, at, (size_t)(match.end - at));
    luaL_pushresult(&buffer);
    pattern_finish(&match);
    lua_pushnumber(L, (lua_Number)count);
    return 2;
}

/* --- Others --- */

/* Fills `bytes` with `count` copies of a text. */
static void copy_repeated(char *bytes, struct slice text, size_t count) {
    size_t total = text.len * count;
    memcpy(bytes, text.ptr, text.len);
    for (size_t done = text.len; done < total;) {
        size_t more = done < total - done ? done : total - done;
        memcpy(bytes + done, bytes, more);
        done += more;
    }
}

static int string_rep(lua_State *L) {
    enum { SMALL = 1024 };
    struct slice text = check_text(L, 1);
    luaL_checknumber(L, 2);
    int64_t count = library_integer(L, 2, 0);
    size_t total;
    if (count <= 0 || text.len == 0) {
        lua_pushliteral(L, "");
        return 1;
    }
    if (__builtin_mul_overflow(text.len, (size_t)count, &total) || total > PTRDIFF_MAX / 2)
        return luaL_error(L, "not enough memory");
    char small[SMALL];
    machine_spend(L, total / BYTES_PER_STEP);
    if (total > SMALL) machine_make_room(L, 2 * total);
    char *bytes = total <= SMALL ? small : lua_newuserdata(L, total);
    copy_repeated(bytes, text, (size_t)count);
    lua_pushlstring(L, bytes, total);
    return 1;
}

void library_open_string(lua_State *L) {
    static const char *const KEPT[] = {"byte",    "char", "format", "len", "lower",
                                       "reverse", "sub",  "upper",  NULL};
    static const luaL_Reg FUNCTIONS[] = {
        {"find", string_find}, {"gfind", string_gmatch}, {"gmatch", string_gmatch},
        {"gsub", string_gsub}, {"match", string_match},  {"rep", string_rep},
        {NULL, NULL},
    };
    library_open(L, luaopen_string, "string", KEPT, FUNCTIONS);
}
