/* What scripts have been seen to do to servers, or might: each attack ends with
 * an error or the right answer, and the machine goes on. Sanitizers watch these
 * tests. */
#include "lua/machine_internal.h"
#include "unit/in_range.h"
#include "unit/script_fixture.h"

#include <time.h>

/* Also with the functions that scripts get only on demand. */
static int begin(void **state) {
    return script_setup_with(state, 2 * SCRIPT_MEMORY_LIMIT, true);
}

/* The error's text is in the outcome; afterwards the machine works and nothing
 * is left. */
static void assert_error(struct script_fixture *fixture, const char *text, const char *error) {
    const char *outcome = script_run(fixture, text);
    if (strncmp(outcome, "error: ", 7) != 0 || !strstr(outcome, error)) {
        print_error("%s\n", text);
        assert_string_equal(outcome, error);
    }
    assert_script(fixture, "return ('a'):rep(3) .. #table.concat({1, 2})", "aaa2");
}

/* A text of a beginning, a repeated middle and an end; to be freed. */
static char *long_text(const char *begin, const char *middle, size_t count, const char *end) {
    size_t len = strlen(middle);
    char *text = malloc(strlen(begin) + len * count + strlen(end) + 1);
    memcpy(text, begin, strlen(begin));
    char *at = text + strlen(begin);
    for (size_t i = 0; i < count; i++, at += len) memcpy(at, middle, len);
    memcpy(at, end, strlen(end) + 1);
    return text;
}

static void assert_long_error(struct script_fixture *fixture, const char *begin, const char *middle,
                              size_t count, const char *end, const char *error) {
    char *text = long_text(begin, middle, count, end);
    assert_error(fixture, text, error);
    free(text);
}

/* --- Counts and indices --- */

static void extreme_indices_are_bounded(void **state) {
    assert_error(*state, "return unpack({'a', 'b', 'c'}, -1, 2147483647)", "too many results");
    assert_error(*state, "return unpack({}, -2147483648, 2147483647)", "too many results");
    assert_error(*state, "return unpack({}, -2^63, 2^63)", "too many results");
    assert_error(*state, "return unpack({}, 1, 8000)", "too many results");
    assert_error(*state, "return unpack({}, 2^31, 2^31 + 1)", "too many results");
    assert_script(*state, "return unpack({}, 2^63, -2^63)", "");
    assert_script(*state, "return unpack({1}, 0/0, 1)", "nil,1");
    assert_script(*state,
                  "local t = {} for i = 1, 7990 do t[i] = i end return "
                  "select('#', unpack(t))",
                  "7990");
    assert_script(*state,
                  "local t = {} for i = 1, 7990 do t[i] = i end return "
                  "stub.count(unpack(t))",
                  "7990");
    assert_error(*state, "return table.concat({[-2^63] = ''}, 's', -2^63, 0)", "out of bounds");
    assert_error(*state, "return table.concat({}, 's', 1, 2^63)", "out of bounds");
    assert_error(*state, "return table.concat({}, 's', 2147483647, 2147483647)", "invalid value");
    assert_error(*state, "return table.concat({[2147483647] = 1}, 's', 2147483647, 2^31)",
                 "out of bounds");
    assert_script(*state, "return table.concat({[2147483647] = 1}, 's', 2147483647, 2147483647)",
                  "1");
    assert_error(*state, "table.insert({}, -2147483648, 1)", "out of bounds");
    assert_error(*state, "table.insert({}, 2^31, 1)", "out of bounds");
    assert_error(*state, "table.insert({}, -2^63, 1)", "out of bounds");
    assert_script(*state, "return table.remove({1}, -2^63), (table.remove({1}, 2^63))", "nil,nil");
    assert_script(*state, "return ('x'):rep(-2^63), ('x'):rep(0/0), (''):rep(2^53)", ",,");
    assert_error(*state, "return ('xyz'):rep(2^62)", "not enough memory");
    assert_error(*state, "return ('x'):rep(2^31)", "not enough memory");
    assert_script(*state, "return ('abc'):sub(-2^62, 2^62), ('abc'):byte(-2^63, 2^62)",
                  "abc,97,98,99");
    assert_error(*state, "return (('x'):rep(1e6)):byte(1, -1)", "string slice too long");
    assert_script(*state, "return ('abc'):find('c', -2^63), ('abc'):find('', 2^63)", "3,4,3");
    assert_script(*state, "return ('aaa'):gsub('a', 'b', -2^63)", "aaa,0");
    assert_error(*state, "return select(-2^63)", "index out of range");
    assert_error(*state, "return select(2^31, 1)", "index out of range");
}

static void bits_are_as_documented(void **state) {
    assert_script(*state,
                  "return bit.tohex(65535, -2147483648), bit.tohex(1), bit.tohex(-1, 4), "
                  "bit.tohex(255, -4), bit.tohex(1, 2147483647), bit.tohex(7, 0)",
                  "0000FFFF,00000001,ffff,00FF,00000001,");
    assert_script(*state,
                  "return bit.tobit(2^31), bit.tobit(2^40 + 5.5), bit.tobit(-0.5), "
                  "bit.tobit(1.5), bit.tobit(2.5), bit.tobit(0xffffffff), bit.tobit('7')",
                  "-2147483648,6,0,2,2,-1,7");
    assert_script(*state,
                  "return bit.tobit(1e300), bit.tobit(1/0), bit.tobit(2^51 + 0.5), "
                  "bit.tobit(2^53 + 2)",
                  "-2013235812,0,0,1");
    assert_script(*state,
                  "return bit.bnot(0), bit.bnot(0x12345678), bit.bor(1, 2, 4, 8), "
                  "bit.band(0x12345678, 0xff), bit.bxor(0xa5a5f0f0, 0xaa55ff00)",
                  "-1,-305419897,15,120,267390960");
    assert_script(*state,
                  "return bit.lshift(1, 31), bit.lshift(1, 32), bit.rshift(-256, 8), "
                  "bit.arshift(-256, 8), bit.lshift(-1, 33)",
                  "-2147483648,1,16777215,-1,-2");
    assert_script(*state,
                  "return bit.rol(0x12345678, 12), bit.ror(0x12345678, 12), "
                  "bit.rol(1, 32), bit.ror(1, 0), bit.bswap(0x12345678)",
                  "1164411171,1736516421,1,1,2018915346");
    assert_error(*state, "bit.band()", "bad argument #1 to 'band' (number expected, got no value)");
    assert_error(*state, "bit.tohex(1, {})", "number expected, got table");
}

/* --- Depth --- */

static void depth_is_bounded(void **state) {
    static const char *const OVERFLOWS[] = {
        "local function f() return coroutine.wrap(f)() end return f()",
        "local function f() local ok, e = coroutine.resume(coroutine.create(f)) "
        "error(e, 0) end "
        "f()",
        "local function f() return (string.gsub('a', 'a', f)) end return f()",
        "local t = {} setmetatable(t, {__tostring = function(t) return "
        "tostring(t) end}) "
        "return tostring(t)",
        "local m = {} m.__index = function(t, k) return t[k] end return "
        "setmetatable({}, m).x",
        "local m = {} m.__newindex = function(t, k, v) t[k] = v end "
        "setmetatable({}, m).x = 1",
        "local m = {} m.__eq = function(a, b) return a == b end "
        "return setmetatable({}, m) == setmetatable({}, m)",
        "local m = {} m.__lt = function(a, b) return a < b end "
        "return setmetatable({}, m) < setmetatable({}, m)",
        "local m = {} m.__concat = function(a, b) return a .. b end return "
        "setmetatable({}, m) .. "
        "'x'",
        "local m = {} m.__unm = function(a) return -a end return "
        "-setmetatable({}, m)",
        "local m = {} m.__call = function(a) return a() + 1 end return "
        "setmetatable({}, m)()",
        "local function f() table.sort({1, 2, 3}, f) end f()",
        "local function f() table.foreach({1}, f) end f()",
        "local function f() local ok, e = pcall(f) if not ok then error(e, 0) "
        "end end f()",
        "local function f() return 1 + f() end return f()",
        "local function f() return loadstring('return ...')(f()) end f()",
        "local p = newproxy(true) getmetatable(p).__index = function(t, k) return t[k] end "
        "return p.x",
        "local p = newproxy(true) getmetatable(p).__len = function(t) return #t end return #p",
        "local p = newproxy(true) getmetatable(p).__eq = function(a, b) return a == b end "
        "return p == newproxy(p)",
        "local p = newproxy(true) getmetatable(p).__call = function(t) return t() + 1 end p()",
        "local e = {} setmetatable(e, {__index = function(t, k) return t[k] end}) "
        "return setfenv(loadstring('return x'), e)()",
    };
    for (size_t i = 0; i < sizeof(OVERFLOWS) / sizeof(*OVERFLOWS); i++)
        assert_error(*state, OVERFLOWS[i], "overflow");
    assert_error(*state, "local t = {} t.__index = t setmetatable(t, t) return t.x",
                 "loop in gettable");
    assert_error(*state, "local p = newproxy(true) getmetatable(p).__index = p return p.x",
                 "loop in gettable");
    assert_error(*state, "local p = newproxy(true) getmetatable(p).__newindex = p p.x = 1",
                 "loop in settable");
}

/* The reader of load runs before the parser, like any function. */
static void readers_may_recurse(void **state) {
    struct script_fixture *fixture = *state;
    assert_script(fixture, "local f f = function() return load(f) end return type(f())",
                  "function");
    assert_watch_ends(fixture, "local function f() return f() end return load(f)", 50);
    assert_error(fixture, "return load(function() return 'x' end)", "not enough memory");
    assert_script(fixture,
                  "return load(coroutine.wrap(function() for _, s in ipairs({'return', "
                  "' 7'}) do coroutine.yield(s) end end))()",
                  "7");
}

static void errors_in_handlers_end(void **state) {
    assert_script(*state, "return xpcall(error, function() error('x') end)",
                  "false,error in error handling");
    assert_script(*state, "local f f = function() error(f) end return (xpcall(f, f))", "false");
    assert_script(*state, "return (xpcall(error, function() return unpack({}, 1, 1e9) end))",
                  "false");
}

/* --- The parser --- */

static void texts_that_are_hard_to_parse_are_refused(void **state) {
    assert_long_error(*state, "return ", "(", 100000, "1", "too many syntax levels");
    assert_long_error(*state, "return ", "{", 100000, "", "too many syntax levels");
    assert_long_error(*state, "", "do ", 100000, "", "too many syntax levels");
    assert_long_error(*state, "return ", "- ", 100000, "1", "too many syntax levels");
    assert_long_error(*state, "return ", "function() return ", 100000, "",
                      "too many syntax levels");
    assert_long_error(*state, "return ", "'a' .. ", 100000, "'a'", "too many syntax levels");
    assert_long_error(*state, "", "local a ", 300, "", "200 local variables");
    assert_long_error(*state, "return [", "=", 10 * MB, "", "too many '='");
    assert_long_error(*state, "return [", "=", 10 * MB, "[x]]", "too many '='");
    assert_long_error(*state, "return [[x]", "=", 10 * MB, "]]", "too many '='");
    assert_long_error(*state, "--[", "=", 10 * MB, "[", "too many '='");
    assert_long_error(*state, "return loadstring('[' .. ('='):rep(1e7))()", "", 0, "",
                      "attempt to call a nil value");
    assert_script(*state, "return [==[a]=]b]==]", "a]=]b");
    assert_error(*state, "return [", "unexpected symbol near '['");
    assert_error(*state, "return 'abc", "unfinished string");
    assert_error(*state, "return [[abc", "unfinished long string");
    assert_error(*state, "--[[", "unfinished long comment");
    assert_error(*state, "goto x", "'=' expected near 'x'");
    assert_string_equal(
        script_run_slice(*state, SLICE("return '\0' == '\\0', #'\0\0'"), NULL, NULL), "true,2");
    assert_string_equal(script_run_slice(*state, slice_make(NULL, 0), NULL, NULL), "");
}

static void byte_code_is_refused(void **state) {
    assert_error(*state, "\x1bLua\x51\x00", "unexpected symbol near 'char(27)'");
    assert_error(*state, "\x1bLJ\x02", "unexpected symbol near 'char(27)'");
    assert_script(*state, "return loadstring('\\27Lua')",
                  "nil,[string \"\x1bLua\"]:1: unexpected symbol near 'char(27)'");
    assert_script(*state,
                  "local n = 0 return load(function() n = n + 1 "
                  "return ({'\\27', 'Lua'})[n] end)",
                  "nil,(load):1: unexpected symbol near 'char(27)'");
    assert_error(*state, "return string.dump(function() end)", "field 'dump' (a nil value)");
}

/* A collection while a chunk with a name of the script's choice was parsed
 * freed that name. */
static void nothing_is_collected_while_a_chunk_is_parsed(void **state) {
    assert_script(*state,
                  "local text = {} for i = 1, 3000 do text[i] = 'do local a = \"' .. "
                  "('s'):rep(50) .. i .. '\" local b = {} end' end "
                  "text = table.concat(text, ' ') .. ' return ' "
                  "for i = 1, 20 do collectgarbage() "
                  "local f, e = loadstring(text .. ' ' .. i, 'name' .. i .. "
                  "('n'):rep(1000)) "
                  "if f() ~= i then return e end end return 1",
                  "1");
}

static void chosen_names_of_chunks_are_ignored(void **state) {
    assert_script(*state, "return pcall(loadstring('error(\"e\")', '@user_script'))",
                  "false,[string \"error(\"e\")\"]:1: e");
    assert_script(*state, "return load(function() return '=' end, '@user_script')",
                  "error: not enough memory");
}

/* --- Patterns --- */

static void patterns_that_explode_are_cut_off(void **state) {
    struct script_fixture *fixture = *state;
    static const char *const EXPLODING[] = {
        "return string.find(string.rep('a', 50000), '.-b')",
        "return string.match(string.rep('a', 50000), '.-b')",
        "return string.gsub(string.rep('a', 50000), '.-b', '')",
        "for x in string.gmatch(string.rep('a', 50000), '.-b') do end",
        "return string.find(string.rep('a', 30), string.rep('a?', 30) .. "
        "string.rep('a', 30) .. "
        "'b')",
        "return string.find(string.rep('a', 3000), '.-.-.-.-.-b')",
        "return string.find(string.rep('a', 3000), '(.*)(.*)(.*)(.*)b')",
        "return string.find(string.rep('(', 30000), '%b()')",
        "return string.find(string.rep('a', 30000), '(.*)%1b')",
        ("return string.find(string.rep('x', 3e4), '[' .. string.rep('a', 3e4) .. "
         "']')"),
        "return string.find(string.rep('a', 2e5), string.rep('a?', 110000))",
        "return string.find('a', string.rep('a*', 110000))",
    };
    for (size_t i = 0; i < sizeof(EXPLODING) / sizeof(*EXPLODING); i++) {
        assert_error(fixture, EXPLODING[i], "pattern too complex");
    }
    assert_watch_ends(fixture, EXPLODING[0], 3);
    assert_error(fixture, "return string.find('a', string.rep('(', 1e6))", "too many captures");
    assert_error(fixture, "return string.find('a', string.rep('[', 1e6))", "missing ']'");
}

static void ordinary_patterns_are_not_cut_off(void **state) {
    assert_script(*state, "return #(string.rep('a b ', 1e6):gsub('%s+', ''))", "2000000");
    assert_script(*state, "return string.find(string.rep('a', 5e6) .. 'b', 'a*b')", "1,5000001");
    assert_script(*state, "return string.find(string.rep('a', 5e6), 'b', 1, true)", "nil");
    assert_script(*state,
                  "local n = 0 for w in string.rep('word ', 1e5):gmatch('%a+') "
                  "do n = n + 1 "
                  "end return n",
                  "100000");
    assert_script(*state, "return #string.rep(' ', 3000):gsub('^%s*(.-)%s*$', '%1')", "0");
}

/* Plain searches do not backtrack: the naive way takes 10^12 comparisons here.
 */
static void plain_searches_are_linear(void **state) {
    struct script_fixture *fixture = *state;
    assert_script(fixture,
                  "local a = string.rep('a', 2e6) "
                  "return string.find(a .. a, a .. 'b', 1, true), string.find(a, 'b' .. a)",
                  "nil,nil");
    assert_true(fixture->watched < 100);
}

/* --- What takes long inside one function --- */

static void long_functions_are_watched(void **state) {
    static const char *const LONG[] = {
        "while true do string.rep('x', 1e6) end",
        "local t = {} for i = 1, 1e5 do t[i] = 1e5 - i end while true do "
        "table.sort(t) "
        "t[1], t[1e5] = t[1e5], t[1] end",
        "local t = {} for i = 1, 1e5 do t[i] = '' end while true do "
        "table.concat(t) end",
        "local t = {} for i = 1, 1e5 do t[i] = i end while true do "
        "table.insert(t, 1, 1) "
        "table.remove(t, 1) end",
        "local t = {} for i = 1, 1e5 do t[i] = i end while true do table.maxn(t) "
        "end",
        "local t = {} for i = 1, 1e5 do t[i] = i end while true do "
        "table.foreachi(t, type) end",
        "local s = ('a'):rep(1e5) while true do s:find('b') s:find('[b]') end",
        "local s, n = ('a'):rep(1e5), 0 while true do n = n + 1 (s .. n):upper():reverse() end",
        "local s = ('x'):rep(1e6) while true do loadstring(s) end",
        "local function deep(n) if n > 0 then return 1 + deep(n - 1) end "
        "while true do getfenv(9000) end end deep(10000)",
        "while true do newproxy(true) setfenv(1, getfenv()) setfenv(0, getfenv(0)) end",
    };
    for (size_t i = 0; i < sizeof(LONG) / sizeof(*LONG); i++)
        assert_watch_ends(*state, LONG[i], 12);
}

/* --- Memory --- */

static void memory_cannot_be_exhausted(void **state) {
    static const char *const GREEDY[] = {
        "local s = 'x' while true do s = s .. s end",
        "local t = {} while true do t[#t + 1] = #t .. ('x'):rep(20) end",
        "local t = {} while true do t[#t + 1] = function() return t end end",
        "local t = {} while true do t[#t + 1] = coroutine.create(function() end) "
        "end",
        "local t = {} for i = 1, 1e9 do t[i] = i end",
        "local t = {} while true do t[#t + 1] = newproxy() end",
        "local t = {} while true do t[#t + 1] = newproxy(true) end",
        "local p = newproxy(true) local t = {} while true do t = {newproxy(p), t} end",
        "local t = {} for i = 1, 1e9 do t[i * 3.7] = true end",
        "local s = ('x'):rep(1e6) return s:gsub('x', s)",
        "local s = ('x'):rep(1e6) return s:gsub('x', ('%0'):rep(100))",
        "local s = ('x'):rep(2.5e6) return s:upper() .. s:lower() .. s:reverse() "
        ".. s",
        "local t = {} for i = 1, 1e5 do t[i] = ('x'):rep(100) end return "
        "table.concat(t, 'y')",
        "return string.format('%s%s%s%s', ('x'):rep(2.5e6), ('x'):rep(2.5e6), "
        "('x'):rep(2.5e6), 'x')",
        "return string.format('%q', ('\\0'):rep(3e6))",
        "local a = {} for i = 1, 1e5 do a[i] = '{' end return loadstring('return "
        "' .. "
        "('{1},'):rep(2e5))",
        "local t = {} for i = 1, 30 do t = setmetatable({t, t}, {}) end "
        "local keep = {} while true do keep[#keep + 1] = {unpack({1, 2, 3, 4, 5, "
        "6, 7, 8})} end",
    };
    struct script_fixture *fixture = *state;
    machine_set_memory_limit(fixture->machine, 4 * MB);
    for (size_t i = 0; i < sizeof(GREEDY) / sizeof(*GREEDY); i++) {
        const char *outcome = script_run(fixture, GREEDY[i]);
        assert_true(strstr(outcome, "not enough memory") || strstr(outcome, "overflow") ||
                    strstr(outcome, "too many"));
        assert_uint_in_range(machine_memory(fixture->machine), 0, 5 * MB);
        assert_script(fixture, "return 1", "1");
    }
    assert_script(fixture,
                  "local n = 0 for i = 1, 300 do "
                  "if not pcall(string.rep, 'x', 1e8) then n = n + 1 end end return n",
                  "300");
}

/* Garbage counts until it is collected, which happens before an allocation
 * fails for it. */
static void garbage_is_collected_before_memory_ends(void **state) {
    struct script_fixture *fixture = *state;
    machine_set_memory_limit(fixture->machine, 8 * MB);
    assert_script(*state, "for i = 1, 50 do local s = ('x'):rep(1e6) end return 1", "1");
    assert_script(*state,
                  "local s = ('x'):rep(1e6) for i = 1, 50 do local t = s .. i "
                  "end return 1",
                  "1");
    assert_script(*state, "for i = 1, 1e5 do local t = {{}, {}, {i}} end return 1", "1");
}

/* Every allocation of a script may be the one that fails. */
static void a_failing_allocation_anywhere_harms_nothing(void **state) {
    (void)state;
    static const char TEXT[] =
        "local t = setmetatable({}, {__index = function(t, k) return k .. 'x' "
        "end}) "
        "for i = 1, 30 do t[i] = t['a' .. i] .. ('y'):rep(20 * i) end "
        "local c = coroutine.wrap(function(...) for i = 1, 5 do "
        "coroutine.yield(select('#', ...)) "
        "end end) c(unpack(t)) c() table.sort(t) "
        "local s = table.concat(t, ','):gsub('%w+', function(w) return '<' .. #w "
        ".. '>' end) "
        "local f = loadstring('local a, b = ... return a .. b .. [[' .. s .. "
        "']]') "
        "pcall(error, {}) xpcall(f, tostring) return #f(1, 2)";
    struct script_fixture fixture;
    script_begin(&fixture, 64 * MB);
    char expected[SCRIPT_OUTCOME_MAX];
    memcpy(expected, script_run(&fixture, TEXT), sizeof(expected));
    assert_true(strncmp(expected, "error", 5) != 0);
    bool worked = false;
    for (size_t i = 0; i < 12; i++) machine_collect(fixture.machine);
    for (size_t more = 0; more < 400000 && !worked; more += 97) {
        machine_collect(fixture.machine);
        machine_set_memory_limit(fixture.machine, machine_memory(fixture.machine) + more);
        const char *outcome = script_run(&fixture, TEXT);
        worked = strcmp(outcome, expected) == 0;
        if (!worked) assert_non_null(strstr(outcome, "not enough memory"));
    }
    assert_true(worked);
    script_end(&fixture);
}

/* A coroutine that cannot be resumed gets the message of an error where nothing catches one: making it
 * must need no memory. */
static void overflows_without_memory_end_no_process(void **state) {
    static const char TEXT[] =
        "local chain = {} local function body(i) local next = chain[i + 1] "
        "if next then return select(2, coroutine.resume(next, i + 1)) end end "
        "for i = 1, 250 do chain[i] = coroutine.create(body) end "
        "return (select(2, coroutine.resume(chain[1], 1)))";
    struct script_fixture *fixture = *state;
    size_t low = 0, high = 4 * MB;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        machine_collect(fixture->machine);
        machine_set_memory_limit(fixture->machine, machine_memory(fixture->machine) + middle);
        const char *outcome = script_run(fixture, TEXT);
        bool overflows = strstr(outcome, "C stack overflow") != NULL;
        if (!overflows) assert_non_null(strstr(outcome, "not enough memory"));
        *(overflows ? &high : &low) = middle;
    }
    assert_uint_in_range(low, 10000, 3 * MB);
}

/* Every change of an environment, and every userdata with a metatable, may be what fails. */
static void a_failing_allocation_leaves_environments_and_finalizers(void **state) {
    struct script_fixture *fixture = *state;
    static const char TEXT[] =
        "local new, meta = newproxy, getmetatable "
        "local f = setfenv(loadstring('return x'), {x = 5}) setfenv(0, {}) setfenv(1, {}) "
        "local p = new(true) meta(p).__len = f meta(p).__index = {} meta(new(p)).k = f return #p";
    bool worked = false;
    for (size_t more = 0; more < 100000 && !worked; more += 7) {
        machine_collect(fixture->machine);
        machine_set_memory_limit(fixture->machine, machine_memory(fixture->machine) + more);
        const char *outcome = script_run(fixture, TEXT);
        worked = strcmp(outcome, "5") == 0;
        if (!worked) assert_non_null(strstr(outcome, "not enough memory"));
        machine_set_memory_limit(fixture->machine, SCRIPT_MEMORY_LIMIT);
        assert_script(fixture, "return getfenv(0) == _G, getfenv() == _G", "true,true");
    }
    assert_true(worked);
}

/* --- Strings that collide --- */

enum { COLLIDING = 20000, COLLIDING_LEN = 128 };

/* Bytes of a string that Lua's own hash looks at: every fifth of this length, from the last one on. */
static bool is_hashed(size_t at) {
    return (COLLIDING_LEN - 1 - at) % 5 == 0;
}

/* A text that differs from others by its number only where Lua's own hash looks, or only elsewhere. */
static void numbered_text(char text[COLLIDING_LEN], unsigned number, bool collides) {
    memset(text, 'x', COLLIDING_LEN);
    for (size_t at = 0; number; at++) {
        if (is_hashed(at) == collides) continue;
        text[at] = (char)('0' + number % 10);
        number /= 10;
    }
}

struct texts {
    bool collide;
    double cpu_s;
};

/* Makes a table with the texts as keys, in one call of C, as the reply of a command is made. */
static int push_texts(lua_State *L) {
    struct texts *texts = lua_touserdata(L, 1);
    char text[COLLIDING_LEN];
    clock_t begin = clock();
    lua_createtable(L, 0, COLLIDING);
    for (unsigned i = 0; i < COLLIDING; i++) {
        numbered_text(text, i, texts->collide);
        lua_pushlstring(L, text, sizeof(text));
        lua_pushinteger(L, (lua_Integer)i);
        lua_rawset(L, -3);
    }
    texts->cpu_s = (double)(clock() - begin) / CLOCKS_PER_SEC;
    for (unsigned i = 0; i < COLLIDING; i++) {
        numbered_text(text, i, texts->collide);
        lua_pushlstring(L, text, sizeof(text));
        lua_rawget(L, -2);
        assert_int_equal(lua_tointeger(L, -1), i);
        lua_pop(L, 1);
    }
    return 0;
}

/* It took 250 times as long. */
static void strings_that_collide_take_no_longer_than_others(void **state) {
    struct script_fixture *fixture = *state;
    struct texts others = {false, 0}, colliding = {true, 0};
    assert_int_equal(lua_cpcall(machine_state(fixture->machine), push_texts, &others), 0);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(lua_cpcall(machine_state(fixture->machine), push_texts, &colliding), 0);
        assert_true(colliding.cpu_s < 20 * others.cpu_s);
        machine_collect(fixture->machine);
    }
}

/* Short strings whose hashes have the same lowest bits are in one bucket. They were made by search:
 * what is shown is that each is there once, before and after some are collected. */
static void strings_in_a_crowd_are_there_once(void **state) {
    static const char TEXT[] =
        "local function hash(s) local h = #s "
        "  for i = #s, 1, -1 do "
        "    local left, right = bit.lshift(h, 5), bit.rshift(h, 2) "
        "    h = bit.bxor(h, bit.tobit(left + right + s:byte(i))) end "
        "  return bit.band(h, 511) end "
        "local found, n = {}, 0 "
        "while #found < 150 do "
        "  n = n + 1 local s = 'k' .. n "
        "  if hash(s) == 7 then found[#found + 1] = n end end "
        "local places, sum = {}, 0 "
        "for i, n in ipairs(found) do places['k' .. n] = i end "
        "for round = 1, 20 do "
        "  for i, n in ipairs(found) do "
        "    if places['k' .. n] ~= i then error('lost') end "
        "    if (i + round) % 3 == 0 then places['k' .. n] = nil end end "
        "  collectgarbage() "
        "  for i, n in ipairs(found) do "
        "    if not places['k' .. n] then sum = sum + 1 places['k' .. n] = i end end end "
        "return sum";
    struct script_fixture *fixture = *state;
    assert_script(fixture, TEXT, "1000");
    assert_true(fixture->machine->has_keyed_strings);
    assert_script(fixture, TEXT, "1000");
}

/* --- Keys that collide --- */

enum { KEYS = 40000 };

/* Lua's own hash of a number is the sum of its halves, modulo an odd number: that of the pairs of a
 * table less one. Ways in which the sums differ. */
enum sums {
    SUMS_RANDOM,
    SUMS_EQUAL,
    SUMS_EQUAL_WHEN_GROWN /* modulo 65535; modulo half of it they differ */
};

static double numbered_key(unsigned i, enum sums sums) {
    uint32_t high = 0x40000000 + 7 * i, low = 0x50000000 - high;
    if (sums == SUMS_RANDOM) low = (uint32_t)(i * 0x9e3779b97f4a7c15 >> 32);
    if (sums == SUMS_EQUAL_WHEN_GROWN) low += 65535 * (i % 30000);
    uint64_t bits = (uint64_t)high << 32 | low;
    double number;
    memcpy(&number, &bits, sizeof(number));
    return number;
}

struct keys {
    enum sums sums;
    double cpu_s;
};

/* Makes a table with the keys, looks them up, lists them and takes them away. */
static int use_numbers(lua_State *L) {
    struct keys *keys = lua_touserdata(L, 1);
    clock_t begin = clock();
    lua_newtable(L);
    for (unsigned i = 0; i < KEYS; i++) {
        lua_pushnumber(L, numbered_key(i, keys->sums));
        lua_pushinteger(L, (lua_Integer)i);
        lua_rawset(L, -3);
    }
    for (unsigned i = 0; i < KEYS; i++) {
        lua_pushnumber(L, numbered_key(i, keys->sums));
        lua_rawget(L, -2);
        assert_int_equal(lua_tointeger(L, -1), i);
        lua_pop(L, 1);
    }
    unsigned count = 0;
    for (lua_pushnil(L); lua_next(L, -2); count++) {
        lua_pop(L, 1);
        lua_pushvalue(L, -1);
        lua_pushnil(L);
        lua_rawset(L, -4);
    }
    assert_int_equal(count, KEYS);
    keys->cpu_s = (double)(clock() - begin) / CLOCKS_PER_SEC;
    lua_pushnil(L);
    assert_false(lua_next(L, -2));
    return 0;
}

/* They took 500 times as long. */
static void numbers_that_collide_take_no_longer_than_others(void **state) {
    struct script_fixture *fixture = *state;
    struct keys others = {SUMS_RANDOM, 0};
    assert_int_equal(lua_cpcall(machine_state(fixture->machine), use_numbers, &others), 0);
    for (enum sums sums = SUMS_EQUAL; sums <= SUMS_EQUAL_WHEN_GROWN; sums++) {
        struct keys colliding = {sums, 0};
        assert_int_equal(lua_cpcall(machine_state(fixture->machine), use_numbers, &colliding), 0);
        assert_true(colliding.cpu_s < 20 * others.cpu_s);
    }
}

/* Tables in which keys collide hold the same as those in which they do not, whatever is done to
 * them, also without memory. */
static void tables_with_keys_that_collide_are_right(void **state) {
    static const char TEXT[] =
        "local seed = 1 "
        "local function random(n) seed = (seed * 16807) % 2147483647 return seed % n end "
        "local keys = {} "
        "for i = 1, 300 do "
        "  local high = 1073741824 + i * 7 "
        "  keys[i] = (struct.unpack('<d', struct.pack('<I4I4', 1342177280 - high, high))) "
        "  keys[300 + i], keys[600 + i], keys[900 + i] = i, 's' .. i, -i / 4 end "
        "local t, there = {}, {} "
        "for i = 1, 1200 do there[i] = false end "
        "for round = 1, 20000 do "
        "  local i = random(#keys) + 1 "
        "  local value = random(5) > 1 and round or nil "
        "  t[keys[i]], there[i] = value, value or false "
        "  if round % 2000 == 0 then "
        "    collectgarbage() "
        "    local count, listed = 0, 0 "
        "    for i, value in ipairs(there) do "
        "      if t[keys[i]] ~= (value or nil) then error('lost') end "
        "      if value then count = count + 1 end end "
        "    for k, v in pairs(t) do "
        "      if t[k] ~= v then error('listed') end "
        "      listed = listed + 1 "
        "      if listed % 3 == 0 then t[k] = v end end "
        "    if listed ~= count then error('count') end "
        "    if t[#t] == nil and #t > 0 or t[#t + 1] ~= nil then error('border') end end end "
        "return #keys";
    struct script_fixture *fixture = *state;
    assert_script(fixture, TEXT, "1200");
    bool worked = false;
    for (size_t more = 40000; more < 400000 && !worked; more += 997) {
        machine_collect(fixture->machine);
        machine_set_memory_limit(fixture->machine, machine_memory(fixture->machine) + more);
        const char *outcome = script_run(fixture, TEXT);
        worked = strcmp(outcome, "1200") == 0;
        if (!worked) assert_non_null(strstr(outcome, "not enough memory"));
    }
    assert_true(worked);
}

/* --- One script against the next --- */

static void nothing_is_left_for_the_next_script(void **state) {
    static const char *const POISONS[] = {
        "_G.x = 1",
        "setmetatable(_G, {__index = function() return 'poison' end})",
        "getmetatable('').__index = function() return 'poison' end",
        "getmetatable('').__add = function() return 'poison' end",
        "stub.echo = function() return 'poison' end",
        "rawset(stub, 'echo', function() return 'poison' end)",
        "table.insert(stub, 'poison')",
        "for k, v in pairs(string) do string[k] = error end",
        "local m = getmetatable(_G) m.__index = function() return 'poison' end",
        "string.rep = function() return 'poison' end",
        "coroutine.wrap(function() x = 'poison' end)()",
        "loadstring('x = \"poison\"')()",
        "rawset(getmetatable(''), '__index', {rep = error})",
        "setmetatable(getmetatable(''), {})",
        "(function(...) local a = ... a.x = 'poison' end)(_G)",
        "table.sort(stub, function() return true end)",
        "table.foreach(stub, function(k, v) stub[k] = 'poison' end)",
        "string.gsub('x', 'x', _G).y = 1",
        "getfenv().x = 'poison'",
        "getfenv(0).stub = {echo = error}",
        "getfenv(type).x = 'poison'",
        "rawset(getfenv(stub.echo), 'x', 'poison')",
        "setmetatable(getfenv(), nil)",
        "setfenv(0, {})",
        "setfenv(1, {})",
        "setfenv(1, setmetatable({}, {__index = _G, __newindex = _G})) x = 'poison'",
        "setfenv(1, _G) x = 'poison'",
        "setfenv(1, stub) echo = error",
        "setfenv(1, KEYS) x = 'poison'",
        "setfenv(type, {})",
        "setfenv(stub.echo, {})",
        "pcall(setfenv, 2, {}) pcall(setfenv, 3, {}) pcall(setfenv, 4, {})",
        "coroutine.wrap(function() setfenv(0, {}) setfenv(1, {}) end)()",
        "getmetatable(newproxy(true)).__index = getfenv() newproxy(true).x = 'poison'",
        ("collectgarbage('stop') collectgarbage('setpause', 1e9) "
         "collectgarbage('setstepmul', 0)"),
    };
    struct script_fixture *fixture = *state;
    for (size_t i = 0; i < sizeof(POISONS) / sizeof(*POISONS); i++) {
        script_run(fixture, POISONS[i]);
        assert_script(fixture,
                      "return rawget(_G, 'x'), stub.echo(7), ('ab'):rep(2), #stub, "
                      "getmetatable(1), getmetatable(nil), getmetatable(true), "
                      "getmetatable(type)",
                      "nil,7,abab,0,nil,nil,nil,nil");
    }
}

#define test(function) cmocka_unit_test_setup_teardown(function, begin, script_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        test(extreme_indices_are_bounded),
        test(bits_are_as_documented),
        test(depth_is_bounded),
        test(readers_may_recurse),
        test(errors_in_handlers_end),
        test(texts_that_are_hard_to_parse_are_refused),
        test(byte_code_is_refused),
        test(nothing_is_collected_while_a_chunk_is_parsed),
        test(chosen_names_of_chunks_are_ignored),
        test(patterns_that_explode_are_cut_off),
        test(ordinary_patterns_are_not_cut_off),
        test(plain_searches_are_linear),
        test(long_functions_are_watched),
        test(memory_cannot_be_exhausted),
        test(garbage_is_collected_before_memory_ends),
        test(a_failing_allocation_anywhere_harms_nothing),
        test(overflows_without_memory_end_no_process),
        test(a_failing_allocation_leaves_environments_and_finalizers),
        test(strings_that_collide_take_no_longer_than_others),
        test(strings_in_a_crowd_are_there_once),
        test(numbers_that_collide_take_no_longer_than_others),
        test(tables_with_keys_that_collide_are_right),
        test(nothing_is_left_for_the_next_script),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
