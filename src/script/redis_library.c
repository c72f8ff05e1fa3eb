/* redis_library: the table `redis`. redis.call and redis.pcall run a command: its arguments stay
 * where Lua has them, and the reply becomes values of Lua at once. */
#include "script/redis_library.h"

#include "base/log/log.h"
#include "base/memory/alloc.h"
#include "base/text/number.h"
#include "config/config.h"
#include "engine/engine.h"
#include "lua/machine.h"
#include "script/script.h"
#include "script/script_cache.h"
#include "script/value_sink.h"
#include "table/command.h"
#include "users/access.h"

#include <math.h>
#include <stdio.h>

#define BAD_ARGUMENTS "ERR Lua redis lib command arguments must be strings or integers"

static struct scripts *scripts_of(lua_State *L) {
    return machine_owner(machine_of(L));
}

/* Pushes {err = text}, which was not counted. */
static void push_error(lua_State *L, struct slice text) {
    lua_pushlstring(L, text.ptr, text.len);
    value_sink_wrap(L, "err");
}

int redis_library_error(lua_State *L, const char *text) {
    push_error(L, slice_of_cstr(text));
    return lua_error(L);
}

/* --- Replies --- */

static bool is_one_string(lua_State *L) {
    return lua_gettop(L) == 1 && lua_type(L, 1) == LUA_TSTRING;
}

static int push_wrong_arguments(lua_State *L) {
    push_error(L, SLICE("ERR wrong number or type of arguments"));
    return 1;
}

/* "CODE text" stays; a text without a blank gets the code ERR. A '-' before it is dropped, and so
 * is all from a NUL on. */
static int error_reply(lua_State *L) {
    if (!is_one_string(L)) return push_wrong_arguments(L);
    const char *text = lua_tostring(L, 1);
    size_t len = strlen(text);
    if (len > 0 && *text == '-') text++, len--;
    while (len > 0 && (text[len - 1] == '\r' || text[len - 1] == '\n')) len--;
    bool has_code = memchr(text, ' ', len);
    if (!has_code) lua_pushliteral(L, "ERR ");
    lua_pushlstring(L, text, len);
    if (!has_code) lua_concat(L, 2);
    value_sink_wrap(L, "err");
    return 1;
}

static int status_reply(lua_State *L) {
    if (!is_one_string(L)) return push_wrong_arguments(L);
    value_sink_wrap(L, "ok");
    return 1;
}

/* --- Choices for the run --- */

static int setresp(lua_State *L) {
    if (lua_gettop(L) != 1)
        return redis_library_error(L, "ERR redis.setresp() requires one argument.");
    lua_Number version = lua_tonumber(L, 1);
    if (!(version >= 2 && version < 4))
        return redis_library_error(L, "ERR RESP version must be 2 or 3.");
    scripts_of(L)->run->protocol = (int)version;
    return 0;
}

static int set_repl(lua_State *L) {
    if (lua_gettop(L) != 1)
        return redis_library_error(L, "ERR redis.set_repl() requires one argument.");
    lua_Number flags = lua_tonumber(L, 1);
    if (!(flags >= 0 && flags <= COMMAND_LOG_ALL))
        return redis_library_error(L, "ERR Invalid replication flags. Use REPL_AOF, REPL_REPLICA, "
                                      "REPL_ALL or REPL_NONE.");
    scripts_of(L)->run->scope.audience = (enum command_log_audience)flags;
    return 0;
}

static int replicate_commands(lua_State *L) {
    lua_pushboolean(L, true); /* scripts are always propagated as the commands that they run */
    return 1;
}

/* --- Debugging --- */

/* There is no debugger: both do nothing, as in Redis outside of one. */
static int breakpoint(lua_State *L) {
    lua_pushboolean(L, false);
    return 1;
}

static int debug(lua_State *L) {
    (void)L;
    return 0;
}

static int write_log(lua_State *L) {
    int count = lua_gettop(L);
    if (count < 2) return redis_library_error(L, "ERR redis.log() requires two arguments or more.");
    if (!lua_isnumber(L, 1))
        return redis_library_error(L, "ERR First argument must be a number (log level).");
    lua_Number level = lua_tonumber(L, 1);
    if (!(level >= LOG_DEBUG && level <= LOG_WARNING))
        return redis_library_error(L, "ERR Invalid log level.");
    char line[LOG_TEXT_MAX + 1]; /* as much as the log shows */
    size_t len = 0;
    for (int i = 2; i <= count && len < LOG_TEXT_MAX; i++) {
        const char *text = lua_tostring(L, i);
        if (!text) continue;
        if (i > 2) line[len++] = ' ';
        size_t more = strnlen(text, LOG_TEXT_MAX - len);
        memcpy(line + len, text, more);
        len += more;
    }
    line[len] = '\0';
    log_write((enum log_level)level, "%s", line);
    return 0;
}

/* --- Others --- */

static int sha1hex(lua_State *L) {
    if (lua_gettop(L) != 1) return redis_library_error(L, "ERR wrong number of arguments");
    size_t len = 0;
    const char *text = lua_tolstring(L, 1, &len);
    char sha[SCRIPT_SHA_LENGTH + 1];
    if (!script_sha1(slice_make(text ? text : "", len), sha, machine_goes_on, machine_of(L)))
        return redis_library_error(L, "ERR The system's library refuses to compute SHA-1");
    machine_rethrow(L);
    lua_pushlstring(L, sha, SCRIPT_SHA_LENGTH);
    return 1;
}

/* --- Arguments of commands --- */

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
static inline __attribute__((always_inline)) bool
read_arguments(lua_State *L, struct scripts *scripts, size_t argc) {
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

/* Whether the script's client may run the command with these arguments. */
static int acl_check_cmd(lua_State *L) {
    int count = lua_gettop(L);
    struct scripts *scripts = scripts_of(L);
    if (count == 0)
        return redis_library_error(
            L, "ERR Please specify at least one argument for this redis lib call");
    if (!read_arguments(L, scripts, (size_t)count)) return redis_library_error(L, BAD_ARGUMENTS);
    const struct command *command = command_find(scripts->argv[0]);
    if (command && command->flags & COMMAND_CONTAINER && count > 1)
        command = command_find_subcommand(command, scripts->argv[1]);
    if (!command)
        return redis_library_error(L, "ERR Invalid command passed to redis.acl_check_cmd()");
    const struct requester *requester = &scripts->run->scope.requester;
    struct access access = {command, scripts->argv, (size_t)count, requester->database};
    struct denial denial;
    lua_pushboolean(L, user_may(requester->user, access, &denial));
    return 1;
}

/* --- redis.call, redis.pcall: the call --- */

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
        error = BAD_ARGUMENTS;
    if (!error) return run_command(L, machine, argc);
    value_sink_push_error(L, slice_of_cstr(error));
    return true;
}

static int redis_call(lua_State *L) {
    return call(L) ? lua_error(L) : 1;
}

static int redis_pcall(lua_State *L) {
    call(L);
    return 1;
}

/* --- The table --- */

static const luaL_Reg functions[] = {
    {"call", redis_call},
    {"pcall", redis_pcall},
    {"error_reply", error_reply},
    {"status_reply", status_reply},
    {"sha1hex", sha1hex},
    {"log", write_log},
    {"setresp", setresp},
    {"set_repl", set_repl},
    {"replicate_commands", replicate_commands},
    {"breakpoint", breakpoint},
    {"debug", debug},
    {"acl_check_cmd", acl_check_cmd},
    {NULL, NULL},
};

enum { LOG_LEVELS = 4 }; /* the first of these */
static const struct {
    const char *name;
    int value;
} numbers[] = {
    {"LOG_DEBUG", LOG_DEBUG},
    {"LOG_VERBOSE", LOG_VERBOSE},
    {"LOG_NOTICE", LOG_NOTICE},
    {"LOG_WARNING", LOG_WARNING},
    {"REPL_NONE", 0},
    {"REPL_AOF", COMMAND_LOG_FILE},
    {"REPL_SLAVE", COMMAND_LOG_REPLICAS},
    {"REPL_REPLICA", COMMAND_LOG_REPLICAS},
    {"REPL_ALL", COMMAND_LOG_ALL},
};

/* 8.10.0 is 0x00080A00. */
static int version_number(void) {
    int parts[3];
    sscanf(PACKLIST_REDIS_VERSION, "%d.%d.%d", &parts[0], &parts[1], &parts[2]);
    return parts[0] << 16 | parts[1] << 8 | parts[2];
}

/* Adds the first `count` of the numbers, and the version, to the table on top of the stack. */
static void add_constants(lua_State *L, size_t count) {
    for (size_t i = 0; i < count; i++) {
        lua_pushnumber(L, numbers[i].value);
        lua_setfield(L, -2, numbers[i].name);
    }
    lua_pushliteral(L, PACKLIST_REDIS_VERSION);
    lua_setfield(L, -2, "REDIS_VERSION");
    lua_pushnumber(L, version_number());
    lua_setfield(L, -2, "REDIS_VERSION_NUM");
    lua_pushliteral(L, "redis"); /* as HELLO says */
    lua_setfield(L, -2, "SERVER_NAME");
}

int redis_library_open(lua_State *L) {
    lua_newtable(L);
    luaL_register(L, NULL, functions);
    add_constants(L, sizeof(numbers) / sizeof(numbers[0]));
    return 1;
}

void redis_library_add_for_loading(lua_State *L) {
    lua_pushcfunction(L, write_log);
    lua_setfield(L, -2, "log");
    add_constants(L, LOG_LEVELS);
}
