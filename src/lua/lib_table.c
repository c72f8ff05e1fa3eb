/* lib_table: tables. What writes refuses proxies, and what takes long for few instructions counts
 * its steps. */
#include "lua/machine_internal.h"

#include <lua5.1/lualib.h>

/* Elements of the array in the table that is the first argument. */
static int64_t length(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    return (int64_t)lua_objlen(L, 1);
}

/* --- Inserting and removing --- */

static int table_insert(lua_State *L) {
    int64_t end = length(L) + 1;
    proxy_refuse_write(L, 1);
    int64_t place = end;
    switch (lua_gettop(L)) {
    case 2: break;
    case 3:
        luaL_checknumber(L, 2);
        place = library_integer(L, 2, 0);
        break;
    default: return luaL_error(L, "wrong number of arguments to 'insert'");
    }
    int64_t moved = end - place;
    luaL_argcheck(L, place < INT32_MAX && (place >= 1 || moved < MACHINE_WATCH_STEPS), 2,
                  "position out of bounds");
    machine_spend(L, moved > 0 ? (size_t)moved : 0);
    for (int64_t i = end; i > place; i--) {
        lua_rawgeti(L, 1, (int)i - 1);
        library_set_index(L, 1, (int)i);
    }
    library_set_index(L, 1, (int)place);
    return 0;
}

static int table_remove(lua_State *L) {
    int64_t end = length(L);
    int64_t place = library_integer(L, 2, end);
    if (place < 1 || place > end) return 0;
    proxy_refuse_write(L, 1);
    machine_spend(L, (size_t)(end - place));
    lua_rawgeti(L, 1, (int)place);
    for (; place < end; place++) {
        lua_rawgeti(L, 1, (int)place + 1);
        library_set_index(L, 1, (int)place);
    }
    lua_pushnil(L);
    library_set_index(L, 1, (int)end);
    return 1;
}

/* --- Concatenating --- */

static int table_concat(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    size_t separator_len;
    const char *separator = luaL_optlstring(L, 2, "", &separator_len);
    int64_t first = library_integer(L, 3, 1);
    int64_t last = library_integer(L, 4, (int64_t)lua_objlen(L, 1));
    luaL_argcheck(L, first >= INT32_MIN && first <= INT32_MAX, 3, "index out of bounds");
    luaL_argcheck(L, last >= INT32_MIN && last <= INT32_MAX, 4, "index out of bounds");
    luaL_Buffer buffer;
    luaL_buffinit(L, &buffer);
    for (int64_t i = first; i <= last; i++) {
        if (i > first) luaL_addlstring(&buffer, separator, separator_len);
        lua_rawgeti(L, 1, (int)i);
        if (!lua_isstring(L, -1))
            luaL_error(L, "invalid value (%s) at index %d in table for 'concat'",
                       luaL_typename(L, -1), (int)i);
        luaL_addvalue(&buffer);
        machine_spend(L, 1);
    }
    luaL_pushresult(&buffer);
    return 1;
}

/* --- Visiting --- */

/* Calls the function that is the second argument with the key and value on top of the stack, which
 * it pops. Returns whether the function returned something, which is pushed. */
static bool visit(lua_State *L) {
    machine_spend(L, 1);
    lua_pushvalue(L, 2);
    lua_insert(L, -3);
    lua_call(L, 2, 1);
    if (!lua_isnil(L, -1)) return true;
    lua_pop(L, 1);
    return false;
}

static int table_foreachi(lua_State *L) {
    int64_t end = length(L);
    luaL_checktype(L, 2, LUA_TFUNCTION);
    for (int64_t i = 1; i <= end; i++) {
        lua_pushinteger(L, i);
        lua_rawgeti(L, 1, (int)i);
        if (visit(L)) return 1;
    }
    return 0;
}

static int table_foreach(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    if (proxy_open(L, 1)) lua_replace(L, 1);
    for (lua_pushnil(L); lua_next(L, 1);) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        if (visit(L)) return 1;
    }
    return 0;
}

static int table_maxn(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    double max = 0;
    for (lua_pushnil(L); lua_next(L, 1);) {
        lua_pop(L, 1);
        if (lua_type(L, -1) == LUA_TNUMBER && lua_tonumber(L, -1) > max) max = lua_tonumber(L, -1);
        machine_spend(L, 1);
    }
    lua_pushnumber(L, max);
    return 1;
}

/* --- Sorting --- */

/* Returns whether the value at index `a` of the stack is before the one at `b`. Asks the function
 * at index 2, if there is one. */
static bool is_less(lua_State *L, int a, int b) {
    machine_spend(L, 1);
    if (lua_isnil(L, 2)) return lua_lessthan(L, a, b);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, a < 0 ? a - 1 : a);
    lua_pushvalue(L, b < 0 ? b - 2 : b);
    lua_call(L, 2, 1);
    bool is = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return is;
}

/* Stores the two values on top of the stack, pops them: the upper one at `i`. */
static void store_two(lua_State *L, int i, int j) {
    library_set_index(L, 1, i);
    library_set_index(L, 1, j);
}

/* Swaps two elements. */
static void swap(lua_State *L, int i, int j) {
    lua_rawgeti(L, 1, i);
    lua_rawgeti(L, 1, j);
    store_two(L, i, j);
}

/* Brings two elements into order. Returns whether they were swapped. */
static bool order(lua_State *L, int low, int high) {
    lua_rawgeti(L, 1, low);
    lua_rawgeti(L, 1, high);
    bool is_wrong = is_less(L, -1, -2);
    if (is_wrong)
        store_two(L, low, high);
    else
        lua_pop(L, 2);
    return is_wrong;
}

/* Moves *at by `step` to the next element that is not before the pivot, which is on top of the
 * stack (not after it, if `step` is negative). A function that is not an order could lead beyond
 * `bound`. */
static void skip(lua_State *L, int *at, int step, int bound) {
    for (;;) {
        *at += step;
        lua_rawgeti(L, 1, *at);
        bool goes_on = step > 0 ? is_less(L, -1, -2) : is_less(L, -2, -1);
        lua_pop(L, 1);
        if (!goes_on) return;
        if (*at == bound) luaL_error(L, "invalid order function for sorting");
    }
}

/* Parts the elements from `low` to `high`, at least four, by the median of three. Returns the
 * pivot's place. */
static int part(lua_State *L, int low, int high) {
    int left = low;
    int right = high - 1;
    swap(L, low + (high - low) / 2, right);
    lua_rawgeti(L, 1, right); /* the pivot */
    for (;;) {
        skip(L, &left, 1, high);
        skip(L, &right, -1, low);
        if (right < left) break;
        swap(L, left, right);
    }
    lua_pop(L, 1);
    swap(L, high - 1, left);
    return left;
}

/* Quicksort as Lua 5.1 has it, so that elements that are equal come out in the same order as there.
 * It recurses into the smaller part: at most 31 deep. */
static void sort(lua_State *L, int low, int high) {
    while (low < high) {
        int middle = low + (high - low) / 2;
        order(L, low, high);
        if (high - low == 1) return;
        if (!order(L, low, middle)) order(L, middle, high);
        if (high - low == 2) return;
        int pivot = part(L, low, high);
        if (pivot - low < high - pivot) {
            sort(L, low, pivot - 1);
            low = pivot + 1;
        } else {
            sort(L, pivot + 1, high);
            high = pivot - 1;
        }
    }
}

static int table_sort(lua_State *L) {
    int64_t end = length(L);
    if (!lua_isnoneornil(L, 2)) luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    sort(L, 1, (int)end);
    return 0;
}

void library_open_table(lua_State *L) {
    static const char *const KEPT[] = {"getn", "setn", NULL};
    static const luaL_Reg FUNCTIONS[] = {
        {"concat", table_concat},     {"foreach", table_foreach},
        {"foreachi", table_foreachi}, {"insert", table_insert},
        {"maxn", table_maxn},         {"remove", table_remove},
        {"sort", table_sort},         {NULL, NULL},
    };
    library_open(L, luaopen_table, "table", KEPT, FUNCTIONS);
}
