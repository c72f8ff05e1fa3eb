/* redis_call: redis.call and redis.pcall: a script runs a command. Its arguments stay where Lua
 * has them, and the reply becomes values of Lua at once. */
#include "base/alloc.h"
#include "base/number.h"
#include "config/config.h"
#include "engine/engine.h"
#include "lua/machine.h"
#include "script/redis_library.h"
#include "script/script.h"
#include "script/script_run.h"
#include "script/value_sink.h"

#include <math.h>

/* --- Arguments --- */

/* Replaces a number on the stack by its text: an integer, or the shortest decimal fraction. */
static void replace_number(lua_State *L, int index) {
    char text[1 + DOUBLE_TEXT_MAX];
    lua_Number number = lua_tonumber(L, index);
    size_t len = 0;
    if (isnan(number) && signbit(number)) text[len++] = '-'; /* as printf writes it */
    if (number >= -9007199254740992.0 && number <= 9007199254740992.0 &&
        number == (lua_Number)(int64_t)number)
        len += number_format_int64(text, (int64_t)number);
    else
        len += number_format_double(text + len, number);
    lua_pushlstring(L, text, len);
    lua_replace(L, index);
}

/* Points scripts->argv to the arguments on the stack. */
static bool read_arguments(lua_State *L, struct scripts *scripts, size_t argc) {
    MEM_RESERVE(scripts->argv, scripts->argv_capacity, argc);
    for (size_t i = 0; i < argc; i++) {
        int index = (int)i + 1, type = lua_type(L, index);
        if (type == LUA_TNUMBER)
            replace_number(L, index);
        else if (type != LUA_TSTRING)
            return false;
        struct slice *argument = &scripts->argv[i];
        argument->ptr = lua_tolstring(L, index, &argument->len);
    }
    return true;
}

/* --- The call --- */

/* Runs the command and pushes its reply. Returns whether that is an error. */
static bool run_command(lua_State *L, struct machine *machine, size_t argc) {
    struct scripts *scripts = machine_owner(machine);
    struct script_run *run = scripts->run;
    struct value_sink sink;
    value_sink_begin(&sink, L, machine, 2 * (size_t)scripts->engine->config.lua_memory_limit);
    struct reply reply = reply_into_sink(&sink.sink, run->protocol);
    machine_suspend_limit(machine);
    execute_for_script(&run->scope, &reply, scripts->argv, argc);
    bool fits = value_sink_end(&sink);
    machine_resume_limit(machine);
    if (run->scope.ticks >= run->poll_at) machine_alarm(machine); /* commands take time */
    machine_check_memory(machine, L);
    if (!fits) {
        lua_pushliteral(L, "not enough memory");
        lua_error(L);
    }
    return sink.sink.error.ptr != NULL;
}

/* Pushes an error about the arguments, or the reply. Returns whether it is an error. */
static bool call(lua_State *L) {
    struct machine *machine = machine_of(L);
    size_t argc = (size_t)lua_gettop(L);
    const char *error = NULL;
    if (argc == 0)
        error = "ERR Please specify at least one argument for this redis lib call";
    else if (!read_arguments(L, machine_owner(machine), argc))
        error = REDIS_LIBRARY_BAD_ARGUMENTS;
    if (!error) return run_command(L, machine, argc);
    value_sink_push_error(L, slice_of_cstr(error));
    return true;
}

int redis_call(lua_State *L) {
    return call(L) ? lua_error(L) : 1;
}

int redis_pcall(lua_State *L) {
    call(L);
    return 1;
}
