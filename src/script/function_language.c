#include "script/function_language.h"

#include "base/clock.h"
#include "base/memory/alloc.h"
#include "engine/engine.h"
#include "lua/machine.h"
#include "net/loop/pool.h"
#include "persist/function_code.h"
#include "script/redis_library.h"
#include "script/script.h"
#include "script/script_machine.h"
#include "script/shebang.h"
#include "script/value_reply.h"

/* The time that the code of a library may take when a client loads it; and the processor time when
 * it was accepted before (FUNCTION_ACCEPTED). */
enum { LOAD_MS_MAX = 500, ACCEPTED_MS_MAX = 2000 };

/* --- redis.register_function ---
 *
 * The code of a library calls it while it is loaded:
 *
 *      redis.register_function(name, callback)
 *      redis.register_function{function_name = …, callback = …, description = …, flags = {…}} */

/* What is registered; the values stand on the stack at these positions, nil where missing. */
enum { NAME = 1, CALLBACK, DESCRIPTION, FLAGS };

/* Returns the flags whose names are in the array at `index`, up to the first nil. */
static uint32_t flags_at(lua_State *L, int index) {
    uint32_t flags = 0;
    for (int i = 1;; i++) {
        lua_rawgeti(L, index, i);
        if (lua_isnil(L, -1)) break;
        size_t len = 0;
        const char *name = lua_isstring(L, -1) ? lua_tolstring(L, -1, &len) : "";
        uint32_t flag = script_flag_of(slice_make(name, len), true);
        if (flag == 0) redis_library_error(L, "ERR unknown flag given");
        flags |= flag;
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return flags;
}

/* The named arguments, by their positions. */
static const struct {
    const char *name;
    int type;
    const char *error; /* of another type */
} arguments[] = {
    [NAME] = {"function_name", LUA_TSTRING,
              "ERR function_name argument given to redis.register_function must be a string"},
    [CALLBACK] = {"callback", LUA_TFUNCTION,
                  "ERR callback argument given to redis.register_function must be a function"},
    [DESCRIPTION] = {"description", LUA_TSTRING,
                     "ERR description argument given to redis.register_function must be a string"},
    [FLAGS] = {"flags", LUA_TTABLE,
               "ERR flags argument to redis.register_function must be a table representing "
               "function flags"},
};

/* Puts the value on top of the stack, which an argument's name belongs to, into its position. */
static void take_named(lua_State *L, struct slice name) {
    int position = NAME, type = lua_type(L, -1);
    while (position <= FLAGS && !slice_is(name, arguments[position].name)) position++;
    if (position > FLAGS)
        redis_library_error(L, "ERR unknown argument given to redis.register_function");
    if (type != arguments[position].type &&
        !(type == LUA_TNUMBER && arguments[position].type == LUA_TSTRING))
        redis_library_error(L, arguments[position].error);
    lua_replace(L, position);
}

/* Reads the one argument, a table of named arguments. */
static void read_named(lua_State *L) {
    if (!lua_istable(L, 1))
        redis_library_error(
            L, "ERR calling redis.register_function with a single argument is only applicable to "
               "Lua table (representing named arguments).");
    for (int i = NAME; i <= FLAGS; i++) {
        lua_pushnil(L);
        lua_insert(L, 1);
    }
    const int table = FLAGS + 1;
    for (lua_pushnil(L); lua_next(L, table);) {
        size_t len;
        if (!lua_isstring(L, -2))
            redis_library_error(
                L, "ERR named argument key given to redis.register_function is not a string");
        lua_pushvalue(L, -2); /* a key that is a number must not be changed into a text in place */
        const char *name = lua_tolstring(L, -1, &len);
        lua_insert(L, -2);
        take_named(L, slice_make(name, len));
        lua_pop(L, 1);
    }
    if (lua_isnil(L, NAME))
        redis_library_error(L, "ERR redis.register_function must get a function name argument");
    if (lua_isnil(L, CALLBACK))
        redis_library_error(L, "ERR redis.register_function must get a callback argument");
}

static void read_pair(lua_State *L) {
    if (!lua_isstring(L, 1))
        redis_library_error(L, "ERR first argument to redis.register_function must be a string");
    if (!lua_isfunction(L, 2))
        redis_library_error(L, "ERR second argument to redis.register_function must be a function");
    lua_settop(L, FLAGS);
}

/* Adds the function to the library. */
static void add(lua_State *L, struct function_library *library) {
    size_t name_len, description_len = 0;
    const char *name = lua_tolstring(L, NAME, &name_len);
    const char *description =
        lua_isnil(L, DESCRIPTION) ? NULL : lua_tolstring(L, DESCRIPTION, &description_len);
    uint32_t flags = lua_isnil(L, FLAGS) ? 0 : flags_at(L, FLAGS);
    if (!function_name_is_valid(slice_make(name, name_len)))
        redis_library_error(L, "ERR " FUNCTION_NAME_ERROR);
    lua_pushvalue(L, CALLBACK);
    int reference = luaL_ref(L, LUA_REGISTRYINDEX);
    /* From here on nothing may raise an error. */
    sds text = description ? sds_new(slice_make(description, description_len)) : NULL;
    if (function_library_add(library, slice_make(name, name_len), text, flags, reference)) return;
    sds_free(text);
    machine_release(machine_of(L), reference);
    redis_library_error(L, "ERR Function already exists in the library");
}

static int register_function(lua_State *L) {
    const struct scripts *scripts = machine_owner(machine_of(L));
    struct function_library *library = scripts->functions->loading;
    if (!library)
        return redis_library_error(
            L, "ERR redis.register_function can only be called on FUNCTION LOAD command");
    switch (lua_gettop(L)) {
    case 1: read_named(L); break;
    case 2: read_pair(L); break;
    default:
        return redis_library_error(L, "ERR wrong number of arguments to redis.register_function");
    }
    add(L, library);
    return 0;
}

/* --- Loading --- */

static int64_t time_us(const struct function_runner *runner) {
    return runner->is_accepted ? clock_thread_us() : clock_monotonic_us();
}

static const char *watch_load(void *arg) {
    const struct function_runner *runner = arg;
    return time_us(runner) > runner->deadline_us ? "FUNCTION LOAD timeout" : NULL;
}

/* Prefixes the error of the machine's last run, which is on its stack. */
static sds run_error(const struct function_runner *runner, enum machine_result result) {
    struct machine *machine = runner->machine;
    bool is_counted;
    sds text = sds_new(SLICE("Error registering functions: "));
    if (result == MACHINE_ENDED && runner->is_accepted)
        return sds_append_format(text, "ERR the code of the library '%s' has not ended in %d ms",
                                 runner->loading->name, ACCEPTED_MS_MAX);
    if (result == MACHINE_ENDED)
        return sds_append_format(text, "ERR %s", machine_end_text(machine));
    machine_suspend_limit(machine);
    sds error = value_reply_error_text(machine_state(machine), 1, &is_counted);
    machine_resume_limit(machine);
    text = sds_append(text, sds_slice(error));
    sds_free(error);
    return text;
}

/* Runs the code of a library. */
static bool run_code(struct function_runner *runner, struct function_library *library, int code,
                     unsigned flags, sds *error) {
    struct machine *machine = runner->machine;
    runner->is_accepted = flags & FUNCTION_ACCEPTED;
    runner->loading = library;
    runner->deadline_us =
        time_us(runner) + (runner->is_accepted ? ACCEPTED_MS_MAX : LOAD_MS_MAX) * 1000;
    machine_set_watch(machine, watch_load, runner);
    machine_choose_view(machine, true);
    enum machine_result result = script_machine_run(runner->scripts, machine, code, NULL, NULL);
    machine_choose_view(machine, false);
    machine_set_watch(machine, NULL, NULL);
    if (result != MACHINE_DONE) *error = run_error(runner, result);
    runner->loading = NULL;
    machine_finish(machine);
    return result == MACHINE_DONE;
}

static bool compile(void *arg, struct function_library *library, struct slice body, unsigned flags,
                    sds *error) {
    struct function_runner *runner = arg;
    int code = machine_compile(runner->machine, "@user_function", body);
    if (code == LUA_NOREF) {
        const char *text = lua_tostring(machine_state(runner->machine), -1);
        *error = sds_format("Error compiling function: %s", text ? text : "");
        machine_finish(runner->machine);
        return false;
    }
    bool done = run_code(runner, library, code, flags, error);
    for (size_t i = 0; done && i < library->function_count; i++)
        machine_shorten_globals(runner->machine, library->functions[i]->reference);
    machine_release(runner->machine, code);
    return done;
}

static void release(void *arg, const struct function *function) {
    const struct function_runner *runner = arg;
    machine_release(runner->machine, function->reference);
}

/* --- The machine --- */

/* Pushes a table with all that a library may use while it is loaded: the table `redis`, under its
 * two names. */
static int open_for_loading(lua_State *L) {
    lua_newtable(L);
    lua_newtable(L);
    lua_pushcfunction(L, register_function);
    lua_setfield(L, -2, "register_function");
    redis_library_add_for_loading(L);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "server");
    lua_setfield(L, -2, "redis");
    return 1;
}

static void make_machine(struct function_runner *runner) {
    struct machine *machine = script_machine_new(runner->scripts);
    machine_add_view(machine, open_for_loading);
    machine_seal(machine);
    runner->machine = machine;
}

void function_language_start(struct engine *engine) {
    struct function_runner *runner = mem_alloc_zeroed(sizeof(*runner));
    runner->scripts = engine->scripts;
    runner->language = (struct function_language){
        .name = "LUA", .arg = runner, .compile = compile, .release = release};
    make_machine(runner);
    engine->scripts->functions = runner;
    functions_init(engine->functions);
    engine->functions->language = &runner->language;
}

void function_language_stop(struct engine *engine) {
    struct function_runner *runner = engine->scripts->functions;
    functions_free(engine->functions);
    engine->functions->language = NULL;
    machine_free(runner->machine);
    mem_free(runner);
}

static void free_machine(void *arg) {
    machine_free(arg);
}

void function_language_flush(struct engine *engine, bool in_pool) {
    struct function_runner *runner = engine->scripts->functions;
    struct machine *flushed = runner->machine;
    make_machine(runner);
    if (in_pool)
        net_pool_run(engine->net, free_machine, NULL, flushed);
    else
        machine_free(flushed);
}
