/* redis_register: redis.register_function, which the code of a library calls while it is loaded:
 *
 *      redis.register_function(name, callback)
 *      redis.register_function{function_name = …, callback = …, description = …, flags = {…}} */
#include "lua/machine.h"
#include "persist/function_code.h"
#include "script/function_language.h"
#include "script/redis_library.h"
#include "script/script.h"
#include "script/shebang.h"

enum { NAME = 1, CALLBACK, DESCRIPTION, FLAGS };

/* What is registered; the values stand on the stack at the positions above, nil where missing. */
static int fail(lua_State *L, const char *text) {
    return redis_library_error(L, text);
}

/* Returns the flag of this name, in any case; 0: there is none. */
static uint32_t flag_of(struct slice text) {
    const char *name;
    for (uint32_t flag = 1; (name = script_flag_name(flag)); flag <<= 1)
        if (slice_is(text, name)) return flag;
    return 0;
}

/* Returns the flags whose names are in the array at `index`, up to the first nil. */
static uint32_t flags_at(lua_State *L, int index) {
    uint32_t flags = 0;
    for (int i = 1;; i++) {
        lua_rawgeti(L, index, i);
        if (lua_isnil(L, -1)) break;
        size_t len = 0;
        const char *name = lua_isstring(L, -1) ? lua_tolstring(L, -1, &len) : "";
        uint32_t flag = flag_of(slice_make(name, len));
        if (flag == 0) fail(L, "ERR unknown flag given");
        flags |= flag;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return flags;
}

/* Puts the value on top of the stack, which an argument's name belongs to, into its position. */
static void take_named(lua_State *L, struct slice name) {
    if (slice_is(name, "function_name")) {
        if (!lua_isstring(L, -1))
            fail(L, "ERR function_name argument given to redis.register_function must be a string");
        lua_replace(L, NAME);
    } else if (slice_is(name, "description")) {
        if (!lua_isstring(L, -1))
            fail(L, "ERR description argument given to redis.register_function must be a string");
        lua_replace(L, DESCRIPTION);
    } else if (slice_is(name, "callback")) {
        if (!lua_isfunction(L, -1))
            fail(L, "ERR callback argument given to redis.register_function must be a function");
        lua_replace(L, CALLBACK);
    } else if (slice_is(name, "flags")) {
        if (!lua_istable(L, -1))
            fail(L, "ERR flags argument to redis.register_function must be a table representing "
                    "function flags");
        lua_replace(L, FLAGS);
    } else {
        fail(L, "ERR unknown argument given to redis.register_function");
    }
}

/* Reads the one argument, a table of named arguments. */
static void read_named(lua_State *L) {
    if (!lua_istable(L, 1))
        fail(L, "ERR calling redis.register_function with a single argument is only applicable to "
                "Lua table (representing named arguments).");
    lua_settop(L, 1);
    lua_insert(L, 1);
    for (int i = NAME; i <= FLAGS; i++) {
        lua_pushnil(L);
        lua_insert(L, 1);
    }
    const int table = FLAGS + 1;
    for (lua_pushnil(L); lua_next(L, table);) {
        size_t len;
        if (!lua_isstring(L, -2))
            fail(L, "ERR named argument key given to redis.register_function is not a string");
        lua_pushvalue(L, -2); /* a key that is a number must not be changed into a text in place */
        const char *name = lua_tolstring(L, -1, &len);
        lua_insert(L, -2);
        take_named(L, slice_make(name, len));
        lua_pop(L, 1);
    }
    if (lua_isnil(L, NAME))
        fail(L, "ERR redis.register_function must get a function name argument");
    if (lua_isnil(L, CALLBACK)) fail(L, "ERR redis.register_function must get a callback argument");
}

static void read_pair(lua_State *L) {
    if (!lua_isstring(L, 1))
        fail(L, "ERR first argument to redis.register_function must be a string");
    if (!lua_isfunction(L, 2))
        fail(L, "ERR second argument to redis.register_function must be a function");
    lua_settop(L, FLAGS);
}

/* Adds the function to the library. */
static void add(lua_State *L, struct function_library *library) {
    size_t name_len, description_len = 0;
    const char *name = lua_tolstring(L, NAME, &name_len);
    const char *description =
        lua_isnil(L, DESCRIPTION) ? NULL : lua_tolstring(L, DESCRIPTION, &description_len);
    uint32_t flags = lua_isnil(L, FLAGS) ? 0 : flags_at(L, FLAGS);
    if (!function_name_is_valid(slice_make(name, name_len))) fail(L, "ERR " FUNCTION_NAME_ERROR);
    lua_pushvalue(L, CALLBACK);
    int reference = machine_take_function(L);
    /* From here on nothing may raise an error. */
    sds text = description ? sds_new(slice_make(description, description_len)) : NULL;
    if (function_library_add(library, slice_make(name, name_len), text, flags, reference)) return;
    sds_free(text);
    machine_release(machine_of(L), reference);
    fail(L, "ERR Function already exists in the library");
}

int redis_register_function(lua_State *L) {
    struct function_library *library = redis_library_scripts(L)->functions->loading;
    if (!library)
        return fail(L, "ERR redis.register_function can only be called on FUNCTION LOAD command");
    switch (lua_gettop(L)) {
    case 1: read_named(L); break;
    case 2: read_pair(L); break;
    default: return fail(L, "ERR wrong number of arguments to redis.register_function");
    }
    add(L, library);
    return 0;
}
