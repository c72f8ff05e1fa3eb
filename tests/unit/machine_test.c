/* The machine for scripts: what scripts see, that one leaves nothing for the next, that the watch
 * ends whatever runs, and that memory is bounded. */
#include "lua/machine_internal.h"

#include "unit/in_range.h"
#include "unit/script_fixture.h"

/* --- What scripts see --- */

static void scripts_compute(void **state) {
    assert_script(*state, "return 1 + 1, 'a' .. 'b', nil, true", "2,ab,nil,true");
    assert_script(*state, "", "");
    assert_script(*state,
                  "local t = {} for i = 1, 10 do t[i] = i * i end "
                  "return table.concat(t, ' ')",
                  "1 4 9 16 25 36 49 64 81 100");
    assert_script(*state, "return ('x'):rep(3), #'abc', ('a,b'):find(',', 1, true)", "xxx,3,2,2");
    assert_script(*state, "return stub.echo(1, 2), stub.count(1, 2, 3)", "1,3");
    assert_script(*state, "return (", "error: user_script:1: unexpected symbol near '<eof>'");
    assert_script(*state, "error('e')", "error: user_script:1: e");
    assert_script(*state, "local x = nil; x.y = 1",
                  "error: user_script:1: attempt to index local 'x' (a nil value)");
}

static const char NAMES_OF[] =
    "local names = {} for name in pairs(%s) do names[#names + 1] = name end "
    "table.sort(names) return table.concat(names, ' ')";

static void assert_names(struct script_fixture *fixture, const char *table, const char *expected) {
    char text[200];
    snprintf(text, sizeof(text), NAMES_OF, table);
    assert_string_equal(script_run(fixture, text), expected);
}

static void scripts_see_only_what_is_harmless(void **state) {
    assert_names(*state, "_G",
                 "KEYS _G _VERSION assert bit cjson cmsgpack collectgarbage coroutine error gcinfo "
                 "getmetatable ipairs "
                 "load loadstring math next os pairs pcall rawequal rawget rawset select "
                 "setmetatable string struct stub table tonumber tostring type unpack xpcall");
    assert_names(*state, "string",
                 "byte char find format gfind gmatch gsub len lower match rep reverse sub upper");
    assert_names(*state, "table", "concat foreach foreachi getn insert maxn remove setn sort");
    assert_names(*state, "coroutine", "create resume running status wrap yield");
    assert_names(*state, "os", "clock");
    assert_names(*state, "math",
                 "abs acos asin atan atan2 ceil cos cosh deg exp floor fmod frexp huge ldexp log "
                 "log10 max min mod modf pi pow rad random randomseed sin sinh sqrt tan tanh");
    assert_names(*state, "bit",
                 "arshift band bnot bor bswap bxor lshift rol ror rshift tobit tohex");
    assert_names(*state, "stub", "count echo");
}

#define MISSING(name)                                                                              \
    "error: user_script:1: Script attempted to access nonexistent global variable '" name "'"
#define READ_ONLY "Attempt to modify a readonly table"

static void globals_are_protected(void **state) {
    assert_script(*state, "return x", MISSING("x"));
    assert_script(*state, "return _G.x", MISSING("x"));
    assert_script(*state, "return print(1)", MISSING("print"));
    assert_script(*state, "return debug.getinfo(1)", MISSING("debug"));
    assert_script(*state, "return require('x')", MISSING("require"));
    assert_script(*state, "return newproxy()", MISSING("newproxy"));
    assert_script(*state, "return setfenv(1, {})", MISSING("setfenv"));
    assert_script(*state, "return rawget(_G, 'x')", "nil");
    assert_script(*state, "x = 1", "error: user_script:1: " READ_ONLY);
    assert_script(*state, "_G.x = 1", "error: user_script:1: " READ_ONLY);
    assert_script(*state, "_G._G = 1", "error: user_script:1: " READ_ONLY);
    assert_script(*state, "pcall = 1", "error: user_script:1: " READ_ONLY);
    assert_script(*state, "function string.rep() end", "error: user_script:1: " READ_ONLY);
    assert_script(*state, "return _G == _G._G, _G.string == string, _G.pcall == pcall",
                  "true,true,true");
}

static void deprecated_functions_are_there_on_demand(void **state) {
    (void)state;
    struct script_fixture fixture;
    script_begin_with(&fixture, SCRIPT_MEMORY_LIMIT, true);
    assert_names(&fixture, "_G",
                 "KEYS _G _VERSION assert bit cjson cmsgpack collectgarbage coroutine error gcinfo "
                 "getfenv getmetatable ipairs "
                 "load loadstring math newproxy next os pairs pcall rawequal rawget rawset select "
                 "setfenv "
                 "setmetatable string struct stub table tonumber tostring type unpack xpcall");
    script_end(&fixture);
}

/* However the code of the function looks, and so whatever its environment is. */
static void environments_are_shown_as_their_proxy(void **state) {
    (void)state;
    static const char *const TEXTS[] = {
        "return getfenv() == _G, getfenv(0) == _G, getfenv(1) == _G",
        "local e = getfenv return rawequal(e(), _G), rawequal(e(0), _G), rawequal(e(1), _G)",
        "if KEYS[1] then x = 1 end return getfenv() == _G, getfenv(type) == _G, "
        "getfenv(stub.echo) == _G",
        "local s = stub local function f() return stub.echo(1) end return getfenv(f) == _G, "
        "getfenv(loadstring('return stub.echo')) == _G, getfenv(coroutine.wrap(f)) == _G",
        "local function f() return getfenv(2) == _G end local a = f() return a, "
        "coroutine.wrap(function() return getfenv(0) == _G, getfenv(1) == _G end)()",
        "local f = setfenv(function() return stub end, getfenv()) return f() == stub, "
        "getfenv(f) == _G, not pcall(function() getfenv(f).stub = 1 end)",
    };
    struct script_fixture fixture;
    script_begin_with(&fixture, SCRIPT_MEMORY_LIMIT, true);
    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(*TEXTS); i++)
        assert_script(&fixture, TEXTS[i], "true,true,true");
    script_end(&fixture);
}

/* Run again, without being compiled again. */
static void a_run_ends_with_the_environments_it_began_with(void **state) {
    (void)state;
    static const char *const TEXTS[] = {
        "local k = KEYS setfenv(1, {x = 7}) return x",
        "local s, set = stub, setfenv set(0, {}) set(1, {}) set(1, {x = 7}) return x",
        "if KEYS[1] then y = 1 end local e = error setfenv(1, {x = 7}) e(x, 0)",
        "local function f(e) setfenv(2, {x = 7}) end f() return x",
    };
    struct script_fixture fixture;
    script_begin_with(&fixture, SCRIPT_MEMORY_LIMIT, true);
    lua_State *L = fixture.machine->main;
    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(*TEXTS); i++) {
        int function = machine_compile(fixture.machine, "@user_script", slice_of_cstr(TEXTS[i]));
        machine_shorten_globals(fixture.machine, function);
        for (int run = 0; run < 3; run++) {
            machine_run(fixture.machine, function, NULL, NULL);
            assert_int_equal(lua_tointeger(L, 1), 7);
            machine_finish(fixture.machine);
        }
        machine_release(fixture.machine, function);
        assert_script(&fixture, "return getfenv(0) == _G, stub.count(1)", "true,1");
    }
    script_end(&fixture);
}

static void userdata_have_no_finalizer(void **state) {
    (void)state;
#define NO_FINALIZER "error: user_script:1: scripts cannot have finalizers (__gc)"
    struct script_fixture fixture;
    script_begin_with(&fixture, SCRIPT_MEMORY_LIMIT, true);
    assert_script(&fixture, "getmetatable(newproxy(true)).__gc = error", NO_FINALIZER);
    assert_script(&fixture, "getmetatable(newproxy(true)).__gc = nil", NO_FINALIZER);
    assert_script(&fixture, "local m = getmetatable(newproxy(newproxy(true))) m['__g' .. 'c'] = 1",
                  NO_FINALIZER);
    assert_script(&fixture,
                  "local m = getmetatable(newproxy(true)) m.__index = m m.__gc = function() end",
                  NO_FINALIZER);
    assert_script(&fixture,
                  "local m = getmetatable(newproxy(true)) setfenv(1, m) __gc = function() end",
                  NO_FINALIZER);
    assert_script(&fixture, "rawset(getmetatable(newproxy(true)), '__gc', error) return 1",
                  NO_FINALIZER);
    assert_script(&fixture, "setmetatable(getmetatable(newproxy(true)), {})",
                  "error: user_script:1: cannot change a protected metatable");
    assert_script(&fixture, "return getmetatable(getmetatable(newproxy(true)))", "false");
    assert_script(&fixture,
                  "local p = newproxy(true) local t = setmetatable({}, {__newindex = "
                  "getmetatable(p)}) t.__gc = error",
                  NO_FINALIZER);
    assert_script(&fixture, "return rawset({}, '__gc', 1).__gc, setmetatable({}, {__gc = 1}) and 2",
                  "1,2");
    script_end(&fixture);
#undef NO_FINALIZER
}

static void shared_tables_refuse_every_way_to_write(void **state) {
    static const char *const SHARED[] = {"_G",
                                         "string",
                                         "math",
                                         "stub",
                                         "cjson",
                                         "getmetatable('')",
                                         "getmetatable('').__index",
                                         "getmetatable(_G)"};
    static const char *const WRITES[] = {
        "rawset(%s, 'x', 1)",
        "rawset(%s, 1, 1)",
        "setmetatable(%s, {})",
        "setmetatable(%s, nil)",
        "table.insert(%s, 1)",
        "table.insert(%s, 1, 1)",
        "(%s).x = 1",
        "local t = %s t[1] = 1",
        "string.gsub('a', 'a', %s).x = 1",
    };
    for (size_t i = 0; i < sizeof(SHARED) / sizeof(*SHARED); i++) {
        for (size_t k = 0; k + 1 < sizeof(WRITES) / sizeof(*WRITES); k++) {
            char text[200];
            snprintf(text, sizeof(text), WRITES[k], SHARED[i]);
            const char *outcome = script_run(*state, text);
            assert_true(strcmp(outcome, "error: " READ_ONLY) == 0 ||
                        strcmp(outcome, "error: user_script:1: " READ_ONLY) == 0);
        }
    }
    assert_script(*state, "table.remove(stub) table.sort(stub) return #stub", "0");
}

static void shared_tables_can_be_read(void **state) {
    assert_script(*state, "return type(rawget(stub, 'echo')), rawget(stub, 'x')", "function,nil");
    assert_script(*state, "local n = 0 for k, v in next, stub do n = n + 1 end return n", "2");
    assert_script(*state, "return stub.x", "nil");
    assert_script(*state, "return getmetatable(stub), getmetatable({}), getmetatable(1)",
                  "nil,nil,nil");
    assert_script(*state, "local m = getmetatable('') return m.__index == string, type(m)",
                  "true,table");
    assert_script(*state, "return type(getmetatable(_G).__index)", "function");
    assert_script(*state, "local t = setmetatable({}, {__index = stub}) return t.count(1, 2)", "2");
    assert_script(*state, "return getmetatable(setmetatable({}, {__metatable = 7}))", "7");
    assert_script(*state, "setmetatable(setmetatable({}, {__metatable = 7}), nil)",
                  "error: user_script:1: cannot change a protected metatable");
}

/* --- Nothing is left for the next script --- */

static int set_keys(lua_State *L, void *arg) {
    (void)L;
    const struct script_fixture *fixture = arg;
    machine_fill_run_table(fixture->machine, fixture->keys, (const struct slice[]){SLICE("a")}, 1);
    return 0;
}

static const char *run_with_keys(struct script_fixture *fixture, const char *text) {
    return script_run_slice(fixture, slice_of_cstr(text), set_keys, fixture);
}

/* Whatever a script does to its table, the next one finds it as it should be. */
static void tables_of_a_run_are_new_for_each(void **state) {
    struct script_fixture *fixture = *state;
    static const char *const CHANGES[] = {
        "KEYS[2] = 'b'",
        "KEYS[1] = nil",
        "KEYS[1] = {}",
        "KEYS[0] = 'b'",
        "KEYS.x = 'b'",
        "KEYS[KEYS] = KEYS",
        "for i = 1, 1000 do KEYS[i] = i end",
        "for i = 1, 1000 do KEYS[i] = i end for i = 1, 1000 do KEYS[i] = nil end",
        "for i = 1, 20 do KEYS[i] = i end for i = 1, 20 do KEYS[i] = nil end",
        "setmetatable(KEYS, {__index = function() return 'b' end, __newindex = {}})",
        "setmetatable(KEYS, {__metatable = 7, __mode = 'kv'})",
        "local co = coroutine.wrap(function() KEYS.x = 1 coroutine.yield() end) co() error(co)",
        "stub.count(stub.echo(KEYS)) table.insert(KEYS, 1, 'b')",
    };
    for (size_t i = 0; i < sizeof(CHANGES) / sizeof(*CHANGES); i++) {
        run_with_keys(fixture, CHANGES[i]);
        assert_string_equal(run_with_keys(fixture,
                                          "local n = 0 for _ in pairs(KEYS) do n = n + 1 end "
                                          "return n, #KEYS, KEYS[1], KEYS[2], "
                                          "getmetatable(KEYS)"),
                            "1,1,a,nil,nil");
        run_with_keys(fixture, CHANGES[i]);
        assert_script(fixture, "return #KEYS, next(KEYS)", "0,nil");
    }
}

static int fill_many(lua_State *L, void *arg) {
    (void)L;
    enum { MANY = 8000 };
    const struct script_fixture *fixture = arg;
    struct slice strings[MANY];
    for (size_t i = 0; i < MANY; i++) strings[i] = i % 2 ? SLICE("odd") : SLICE("");
    machine_fill_run_table(fixture->machine, fixture->keys, strings, MANY);
    return 0;
}

static void tables_of_a_run_hold_many_strings(void **state) {
    struct script_fixture *fixture = *state;
    assert_string_equal(
        script_run_slice(fixture, SLICE("return #KEYS, KEYS[1], KEYS[8000]"), fill_many, fixture),
        "8000,,odd");
    assert_script(fixture, "return #KEYS, next(KEYS)", "0,nil");
    assert_string_equal(run_with_keys(fixture, "return #KEYS, KEYS[1], KEYS[2]"), "1,a,nil");
}

static void globals_of_a_run_cannot_be_replaced(void **state) {
    struct script_fixture *fixture = *state;
    assert_string_equal(run_with_keys(fixture, "KEYS = {}"), "error: user_script:1: " READ_ONLY);
    assert_string_equal(run_with_keys(fixture, "rawset(_G, 'KEYS', {})"), "error: " READ_ONLY);
    assert_string_equal(run_with_keys(fixture, "error('e')"), "error: user_script:1: e");
    machine_collect(fixture->machine);
    assert_string_equal(run_with_keys(fixture, "return loadstring('return #KEYS')()"), "1");
}

/* --- How code reads globals --- */

static bool has_environment(lua_State *L, int environment) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, environment);
    bool is_same = lua_rawequal(L, -1, -2);
    lua_pop(L, 1);
    return is_same;
}

/* The environment that this code gets: "proxy", "contents" or "bare". */
static const char *environment_of(struct machine *machine, const char *text) {
    lua_State *L = machine->main;
    int function = machine_compile(machine, "@user_script", slice_of_cstr(text));
    assert_int_not_equal(function, LUA_NOREF);
    machine_shorten_globals(machine, function);
    lua_rawgeti(L, LUA_REGISTRYINDEX, function);
    lua_getfenv(L, -1);
    const char *name = has_environment(L, machine->globals)    ? "proxy"
                       : has_environment(L, machine->contents) ? "contents"
                       : has_environment(L, machine->bare)     ? "bare"
                                                               : "another";
    lua_settop(L, 0);
    machine_release(machine, function);
    return name;
}

static void code_that_writes_globals_keeps_their_proxy(void **state) {
    struct script_fixture *fixture = *state;
    static const char *const WRITING[] = {
        "x = 1",
        "local y = 1 function x() end",
        "local function f() local t = {} return function() return function() KEYS = t end end end",
        "for i = 1, 10 do if i > 20 then stub = nil end end",
        "local a, b = 'text', 2.5 return true, function() return 1 end, function() x, a = 1, b end",
        "return stub.count(1), function() stub = 1 end",
    };
    for (size_t i = 0; i < sizeof(WRITING) / sizeof(*WRITING); i++)
        assert_string_equal(environment_of(fixture->machine, WRITING[i]), "proxy");
    assert_script(fixture, "local function f() return function() stub = 1 end end f()()",
                  "error: user_script:1: " READ_ONLY);
    assert_script(fixture, "return loadstring('stub = 1')()",
                  "error: [string \"stub = 1\"]:1: " READ_ONLY);
    assert_script(fixture, "return stub.count(1)", "1");
}

/* Passes it on, keeps it, writes into it, or looks at the library itself. */
static void code_that_may_leak_a_library_sees_its_proxy(void **state) {
    struct script_fixture *fixture = *state;
    static const char *const LEAKING[] = {
        "stub.x = 1",
        "stub[1], stub.y = 1, 2",
        "local s = stub return s.count(1)",
        "local s s = stub",
        "return stub",
        "return stub.count(stub)",
        "return stub:count()",
        "for name in pairs(string) do end",
        "return #string",
        "return not stub",
        "return stub == nil",
        "return -stub",
        "return stub .. ''",
        "return stub < 1, stub + 1",
        "if stub then return 1 end",
        "return {stub}",
        "return {x = stub}",
        "local x = stub and stub.count",
        "local c c = stub.count return c", /* another register: the library stays in its own */
        "stub()",
        "return function() return function() return cjson end end",
        "local f = function() table.x = 1 end",
        "for i = 1, 2 do local t = stub end return stub.count(1)",
        "local t = setmetatable({}, stub)",
    };
    for (size_t i = 0; i < sizeof(LEAKING) / sizeof(*LEAKING); i++)
        assert_string_equal(environment_of(fixture->machine, LEAKING[i]), "contents");
    assert_script(fixture, "stub.x = 1", "error: user_script:1: " READ_ONLY);
    assert_script(fixture, "local s = stub s.x = 1", "error: user_script:1: " READ_ONLY);
    assert_script(fixture, "rawset(stub, 'x', 1)", "error: " READ_ONLY);
    assert_script(fixture, "table.insert(stub, 1)", "error: " READ_ONLY);
    assert_script(fixture, "return type(next(stub)), stub.x", "string,nil");
}

static void code_that_only_takes_members_of_libraries_sees_these(void **state) {
    struct script_fixture *fixture = *state;
    static const char *const READING[] = {
        "",
        "return stub.count(KEYS)",
        "local x = 1 return function() x = x + 1 return {x, 'a', true, nil, 1.5, _G} end",
        "_G.x = 1",
        "local KEYS = {} KEYS.x = function(self, ...) return ... end",
        "local call = stub.count return call(1), pcall(stub.count, 2)",
        "local n = 'count' return stub[n](1)",
        "return string.rep('x', math.floor(2.5)), cjson.encode({stub.echo(1)})",
        "local t = {stub = 1} t.stub = 2 return t.stub",
        "local stub = {} stub.x = 1 return stub",
        "return unpack(KEYS), #KEYS, type(print)",
        "return function() return stub.count(function() return stub.count() end) end",
    };
    for (size_t i = 0; i < sizeof(READING) / sizeof(*READING); i++)
        assert_string_equal(environment_of(fixture->machine, READING[i]), "bare");
    assert_script(fixture, "return stub.count(1, 2), stub.nothing", "2,nil");
    assert_script(fixture, "return _G.stub == stub, _G._G == _G", "true,true");
    assert_script(fixture, "return nothing.x",
                  "error: user_script:1: Script attempted to access nonexistent global variable "
                  "'nothing'");
    assert_script(fixture, "return stub.nothing()",
                  "error: user_script:1: attempt to call field 'nothing' (a nil value)");
    assert_script(fixture, "stub.count().x = 1",
                  "error: user_script:1: attempt to index a number value");
}

static bool proxies_are_empty(const struct machine *machine) {
    lua_State *L = machine->main;
    bool are_empty = true;
    for (size_t i = 0; i < machine->proxy_count; i++) {
        int top = lua_gettop(L);
        lua_rawgeti(L, LUA_REGISTRYINDEX, machine->proxies[i]);
        lua_pushnil(L);
        are_empty = are_empty && !lua_next(L, -2);
        lua_settop(L, top);
    }
    return are_empty;
}

/* As a function of ours would write that forgets to refuse proxies. */
static void write_into_stub(struct machine *machine, bool by_index) {
    lua_State *L = machine->main;
    lua_getglobal(L, "stub");
    if (!by_index) lua_pushliteral(L, "count");
    lua_pushinteger(L, 1);
    if (by_index)
        library_set_index(L, -2, 1);
    else
        library_set(L, -3);
    lua_settop(L, 0);
}

static void what_is_written_into_a_proxy_does_not_stay(void **state) {
    struct script_fixture *fixture = *state;
    for (int by_index = 0; by_index < 2; by_index++) {
        write_into_stub(fixture->machine, by_index);
        assert_false(proxies_are_empty(fixture->machine));
        machine_finish(fixture->machine);
        assert_true(proxies_are_empty(fixture->machine));
        assert_script(fixture, "return rawget(stub, 1), stub.count(1, 2)", "nil,2");
    }
}

/* Gives every shared table to every function, in each of its first three arguments, beside what
 * else a function that writes may want. */
static const char WRITE_EVERYWHERE[] =
    "local libraries, functions = {_G, getmetatable(''), getmetatable(_G)}, {} "
    "for name, value in next, _G do "
    "  if type(value) == 'table' and value ~= _G and name ~= 'KEYS' then table.insert(libraries, "
    "value) end end "
    "for i, library in ipairs(libraries) do for name, value in next, library do "
    "  if type(value) == 'function' and name ~= 'collectgarbage' then "
    "    table.insert(functions, value) end end end "
    "local function first(a) return a end "
    "local others = {1, 'x', first} "
    "for i, f in ipairs(functions) do for j, shared in ipairs(libraries) do "
    "  pcall(f, shared) "
    "  for k, a in ipairs(others) do "
    "    pcall(f, shared, a) pcall(f, a, shared) "
    "    for l, b in ipairs(others) do "
    "      pcall(f, shared, a, b) pcall(f, a, shared, b) pcall(f, a, b, shared) end end end end "
    "return #libraries, #functions > 100";

static void no_function_writes_into_a_proxy(void **state) {
    struct script_fixture *fixture = *state;
    struct machine *machine = fixture->machine;
    int function = machine_compile(machine, "@user_script", slice_of_cstr(WRITE_EVERYWHERE));
    assert_int_not_equal(function, LUA_NOREF);
    assert_int_equal(machine_run(machine, function, NULL, NULL), MACHINE_DONE);
    assert_int_equal(lua_tointeger(machine->main, 1), machine->proxy_count);
    assert_true(lua_toboolean(machine->main, 2));
    assert_true(proxies_are_empty(machine));
    machine_finish(machine);
    machine_release(machine, function);
}

/* As in Redis: one sequence for all scripts, the same on every machine. */
static void random_numbers_are_those_of_redis(void **state) {
    assert_script(*state, "return math.random()", "0.39646477363839");
    assert_script(*state, "return math.random(), math.random(100), math.random(5,10)",
                  "0.84048536971234,36,7");
    assert_script(*state, "math.randomseed(7) return math.random()", "0.26644419658298");
    assert_script(*state, "math.randomseed(-1) return math.random()", "0.30002572727391");
    assert_script(*state, "math.randomseed(1.9) return math.random()", "0.041630344484761");
    assert_script(*state, "math.random(0)",
                  "error: user_script:1: bad argument #1 to 'random' (interval is empty)");
}

/* --- The watch --- */

static void assert_ended(struct script_fixture *fixture, const char *text) {
    assert_watch_ends(fixture, text, 2);
    assert_script(fixture, "return 1", "1");
}

static void no_script_outlives_the_watch(void **state) {
    assert_ended(*state, "while true do end");
    assert_ended(*state, "repeat pcall(function() while true do end end) until false");
    assert_ended(*state, "while true do pcall(pcall, pcall, function() while true do end end) end");
    assert_ended(*state,
                 "xpcall(function() while true do end end, function() while true do end end)"
                 " while true do end");
    assert_ended(*state, "while true do xpcall(error, function() while true do end end) end");
    assert_ended(*state, "local f = function() while true do end end "
                         "while true do coroutine.resume(coroutine.create(f)) end");
    assert_ended(*state, "local f = function() while true do coroutine.yield() end end "
                         "f = coroutine.wrap(f) while true do pcall(f) end");
    assert_ended(*state, "local t = setmetatable({}, {__index = function() while true do end end}) "
                         "while true do pcall(function() return t.x end) end");
    assert_ended(*state, "while true do load(function() while true do end end) end");
    assert_ended(*state,
                 "while true do string.gsub('a', 'a', function() while true do end end) end");
    assert_ended(*state, "while true do collectgarbage() end");
}

/* Coroutines that end before the count of their instructions is full must not hide them. */
static void coroutines_do_not_hide_steps(void **state) {
    struct script_fixture *fixture = *state;
    assert_script(fixture,
                  "local f = function() for i = 1, 900 do end end "
                  "for i = 1, 1000 do coroutine.wrap(f)() end return 1",
                  "1");
    assert_true(fixture->watched >= 8);
}

static int ring_alarm(lua_State *L, void *arg) {
    (void)arg;
    machine_alarm(machine_of(L));
    return 0;
}

static void an_alarm_asks_the_watch_at_once(void **state) {
    struct script_fixture *fixture = *state;
    assert_string_equal(script_run_slice(fixture, SLICE("return 1"), ring_alarm, NULL), "1");
    assert_int_equal(fixture->watched, 1);
    assert_script(fixture, "return 1", "1");
    assert_int_equal(fixture->watched, 0);
}

/* Long strings are joined by few instructions. */
static void long_strings_do_not_hide_time(void **state) {
    struct script_fixture *fixture = *state;
    assert_script(fixture,
                  "local s = ('x'):rep(1e6) for i = 1, 1000 do local t = s .. i end return 1", "1");
    assert_true(fixture->watched >= 30);
}

/* --- Memory --- */

static void memory_is_bounded(void **state) {
    struct script_fixture *fixture = *state;
    size_t before = machine_memory(fixture->machine);
    assert_script(fixture, "local s = 'x' while true do s = s .. s end",
                  "error: not enough memory");
    assert_script(fixture, "local t = {} while true do t[#t + 1] = {} end",
                  "error: not enough memory");
    assert_script(fixture, "return ('x'):rep(1e9)", "error: not enough memory");
    assert_script(fixture, "return select('#', pcall(string.rep, 'x', 1e9))", "2");
    assert_true(machine_memory(fixture->machine) < 33 * MB);
    /* Each collection halves the buffer in which Lua joins strings. */
    for (int i = 0; i < 12; i++) machine_collect(fixture->machine);
    assert_uint_in_range(machine_memory(fixture->machine), 0, before + 20000);
}

/* A coroutine that does not run has nothing to catch an error with: growing its stack for arguments
 * must not fail. */
static void arguments_for_coroutines_end_no_process(void **state) {
    assert_script(*state,
                  "local keep = {} local a = {} for i = 1, 7000 do a[i] = i end "
                  "local function fill() "
                  "  local ok = true while ok do "
                  "  local c = coroutine.create(function(...) coroutine.yield(...) end) "
                  "  keep[#keep + 1] = c ok = coroutine.resume(c, unpack(a)) end end "
                  "return pcall(fill)",
                  "true");
}

/* The function that a script gives to stub.keep, for later runs. */
static int kept_function;
static int keep_function(lua_State *L) {
    kept_function = luaL_ref(L, LUA_REGISTRYINDEX);
    return 0;
}

static int open_keeper(lua_State *L) {
    lua_newtable(L);
    lua_pushcfunction(L, keep_function);
    lua_setfield(L, -2, "keep");
    return 1;
}

/* What functions keep from run to run may nearly fill the machine: it is not collected again and again
 * for that. A value of a weak table is gone after a collection. */
static void a_machine_that_is_nearly_full_is_not_collected_after_each_run(void **state) {
    (void)state;
    struct script_fixture fixture = {.machine = machine_new(32 * MB, NULL)};
    machine_add_library(fixture.machine, "keeper", open_keeper);
    machine_seal(fixture.machine);
    lua_State *L = machine_state(fixture.machine);
    assert_script(&fixture,
                  "local weak, large = setmetatable({}, {__mode = 'v'}), {} "
                  "for i = 1, 27 do large[i] = (i .. 'x'):rep(350000) end "
                  "keeper.keep(function() local was_there = weak[1] ~= nil weak[1] = {large[1]} "
                  "return was_there end)",
                  "");
    int survived = 0;
    for (int i = 0; i < 50; i++) {
        assert_int_equal(machine_run(fixture.machine, kept_function, NULL, NULL), MACHINE_DONE);
        survived += lua_toboolean(L, 1);
        machine_finish(fixture.machine);
    }
    assert_uint_in_range(machine_memory(fixture.machine), 24 * MB, 32 * MB);
    assert_int_equal(survived, 49);
    assert_script(&fixture, "for i = 1, 100 do local s = (i .. 'x'):rep(100000) end return 1", "1");
    machine_release(fixture.machine, kept_function);
    assert_script(&fixture, "for i = 1, 100 do local s = (i .. 'x'):rep(100000) end return 1", "1");
    script_end(&fixture);
}

/* Alarms that come too late for that are of no use: the bytes themselves have the machine collected. */
static void a_machine_that_is_nearly_full_is_collected_in_time(void **state) {
    struct script_fixture *fixture = *state;
    machine_expect_alarms(fixture->machine, true);
    assert_script(fixture,
                  "local large, text = {}, ('x'):rep(300000) "
                  "for i = 1, 90 do large[i] = text .. i end "
                  "for i = 1, 100 do local garbage = text .. -i end return #large",
                  "90");
}

static int allocate_suspended(lua_State *L, void *arg) {
    struct machine *machine = machine_of(L);
    machine_suspend_limit(machine);
    char *bytes = malloc(40 * MB);
    memset(bytes, 'x', 40 * MB);
    lua_pushlstring(L, bytes, 40 * MB);
    free(bytes);
    machine_resume_limit(machine);
    if (arg) lua_pop(L, 1); /* garbage, which the check collects */
    machine_check_memory(machine_of(L), L);
    return arg ? 0 : 1;
}

/* Short scripts allocate only while they are parsed, when nothing may be collected. */
static void scripts_that_are_run_once_are_collected(void **state) {
    struct script_fixture *fixture = *state;
    char text[40], number[20];
    for (int i = 0; i < 20000; i++) {
        snprintf(number, sizeof(number), "%d", i);
        snprintf(text, sizeof(text), "return %d", i);
        assert_string_equal(script_run(fixture, text), number);
        assert_true(machine_memory(fixture->machine) < 2 * MB);
    }
}

static void a_suspended_limit_is_checked_afterwards(void **state) {
    assert_string_equal(script_run_slice(*state, SLICE("return 1"), allocate_suspended, NULL),
                        "error: not enough memory");
    assert_string_equal(script_run_slice(*state, SLICE("return 1"), allocate_suspended, ""), "1");
    machine_set_memory_limit(((struct script_fixture *)*state)->machine, 100 * MB);
    assert_string_equal(script_run_slice(*state, SLICE("return 1"), allocate_suspended, NULL), "1");
}

static void a_lower_limit_counts_no_garbage(void **state) {
    struct script_fixture *fixture = *state;
    int function = machine_compile(fixture->machine, "@user_script", SLICE("return {} and 1"));
    machine_set_memory_limit(fixture->machine, 100 * MB);
    assert_string_equal(script_run(fixture, "return #('x'):rep(10 * 2^20)"), "10485760");
    assert_true(machine_memory(fixture->machine) > 5 * MB);
    machine_set_memory_limit(fixture->machine, 5 * MB);
    assert_true(machine_run(fixture->machine, function, NULL, NULL) == MACHINE_DONE);
    machine_finish(fixture->machine);
    machine_release(fixture->machine, function);
}

/* --- Places of errors --- */

static void the_place_of_an_error_is_known(void **state) {
    struct script_fixture *fixture = *state;
    static const struct {
        const char *text;
        int line;
    } CASES[] = {
        {"\nerror('x')", 2}, {"\n\nlocal x = nil + 1", 3}, {"error()", 1}, {"\n\nunpack(1)", 3}};
    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        int function =
            machine_compile(fixture->machine, "@user_script", slice_of_cstr(CASES[i].text));
        assert_true(machine_run(fixture->machine, function, NULL, NULL) == MACHINE_FAILED);
        struct machine_place place = machine_error_place(fixture->machine);
        assert_string_equal(place.source, "@user_script");
        assert_int_equal(place.line, CASES[i].line);
        machine_finish(fixture->machine);
        machine_release(fixture->machine, function);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        script_test(scripts_compute),
        script_test(scripts_see_only_what_is_harmless),
        script_test(globals_are_protected),
        script_test(deprecated_functions_are_there_on_demand),
        script_test(environments_are_shown_as_their_proxy),
        script_test(a_run_ends_with_the_environments_it_began_with),
        script_test(userdata_have_no_finalizer),
        script_test(shared_tables_refuse_every_way_to_write),
        script_test(shared_tables_can_be_read),
        script_test(tables_of_a_run_are_new_for_each),
        script_test(tables_of_a_run_hold_many_strings),
        script_test(globals_of_a_run_cannot_be_replaced),
        script_test(code_that_writes_globals_keeps_their_proxy),
        script_test(code_that_may_leak_a_library_sees_its_proxy),
        script_test(code_that_only_takes_members_of_libraries_sees_these),
        script_test(what_is_written_into_a_proxy_does_not_stay),
        script_test(no_function_writes_into_a_proxy),
        script_test(random_numbers_are_those_of_redis),
        script_test(no_script_outlives_the_watch),
        script_test(coroutines_do_not_hide_steps),
        script_test(an_alarm_asks_the_watch_at_once),
        script_test(long_strings_do_not_hide_time),
        script_test(memory_is_bounded),
        script_test(arguments_for_coroutines_end_no_process),
        cmocka_unit_test(a_machine_that_is_nearly_full_is_not_collected_after_each_run),
        script_test(scripts_that_are_run_once_are_collected),
        script_test(a_machine_that_is_nearly_full_is_collected_in_time),
        script_test(a_suspended_limit_is_checked_afterwards),
        script_test(a_lower_limit_counts_no_garbage),
        script_test(the_place_of_an_error_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
