/* The library functions that are ours, beside those of Lua 5.1 itself: random arguments must have
 * the same outcome, also when it is an error. */
#include "unit/script_fixture.h"
#include "unit/seed.h"

#include <lua5.1/lualib.h>
#include <stdlib.h>

enum { ROUNDS = 20000, TEXT_MAX = 64 };

struct pair {
    struct script_fixture ours;
    lua_State *theirs;
    struct random random;
};

static int begin(void **state) {
    struct pair *pair = malloc(sizeof(*pair));
    pair->random = random_of_this_run();
    script_begin(&pair->ours, 64 << 20);
    pair->theirs = luaL_newstate();
    luaL_openlibs(pair->theirs);
    *state = pair;
    return 0;
}

static int end(void **state) {
    struct pair *pair = *state;
    script_end(&pair->ours);
    lua_close(pair->theirs);
    free(pair);
    return 0;
}

/* --- One chunk in both --- */

/* Arguments of a chunk: texts, numbers (text NULL) and nil (neither). */
struct argument {
    const char *text;
    size_t len;
    bool is_number;
    double number;
};

enum { ARGUMENTS_MAX = 8 };

struct arguments {
    struct argument items[ARGUMENTS_MAX];
    int count;
};

static int push_arguments(lua_State *L, void *arg) {
    const struct arguments *arguments = arg;
    for (int i = 0; i < arguments->count; i++) {
        const struct argument *argument = &arguments->items[i];
        if (argument->text)
            lua_pushlstring(L, argument->text, argument->len);
        else if (argument->is_number)
            lua_pushnumber(L, argument->number);
        else
            lua_pushnil(L);
    }
    return arguments->count;
}

/* The chunk returns one text. */
static const char *run_theirs(lua_State *L, const char *chunk, struct arguments *arguments) {
    lua_settop(L, 0);
    if (luaL_loadbuffer(L, chunk, strlen(chunk), "@user_script") == 0)
        lua_pcall(L, push_arguments(L, arguments), 1, 0);
    return lua_tostring(L, -1);
}

static void compare(struct pair *pair, const char *chunk, struct arguments *arguments) {
    const char *theirs = run_theirs(pair->theirs, chunk, arguments);
    const char *ours =
        script_run_slice(&pair->ours, slice_of_cstr(chunk), push_arguments, arguments);
    if (strcmp(ours, theirs) == 0) return;
    for (int i = 0; i < arguments->count; i++) {
        const struct argument *argument = &arguments->items[i];
        print_error("argument %d: '%s' %g\n", i + 1, argument->text ? argument->text : "",
                    argument->number);
    }
    assert_string_equal(ours, theirs);
}

static void add_text(struct arguments *arguments, const char *text, size_t len) {
    arguments->items[arguments->count++] = (struct argument){.text = text, .len = len};
}

static void add_number(struct arguments *arguments, double number) {
    arguments->items[arguments->count++] = (struct argument){.is_number = true, .number = number};
}

/* A small number, nil, or one far away. */
static void add_index(struct arguments *arguments, struct random *random) {
    static const double FAR[] = {1e6, -1e6, 2147483647, -2147483647, 3.7, -0.5};
    switch (random_below(random, 8)) {
    case 0: arguments->count++; break;
    case 1: add_number(arguments, FAR[random_below(random, 6)]); break;
    default: add_number(arguments, (double)random_below(random, 30) - 10);
    }
}

/* --- Patterns --- */

static const char *const PIECES[] = {
    "a",   "b",   "1",    ".",    "%a",    "%d",    "%w",  "%S",   "%p",    "%l",     "%u", "%x",
    "%z",  "%c",  "[ab]", "[^a]", "[%w_]", "[a-c]", "[]]", "[^]",  "[%]]",  "[a-]",   "(",  ")",
    "(a)", "(.)", "(.-)", "()",   "%1",    "%2",    "%b",  "%bab", "%f[a]", "%f[%W]", "^",  "$",
    "*",   "+",   "-",    "?",    "*",     "+",     "-",   "?",    "%",     "[",      "%%", "%-",
};

static size_t make_pattern(struct random *random, char *text) {
    size_t len = 0;
    for (uint64_t pieces = random_below(random, 7); pieces > 0; pieces--) {
        if (random_below(random, 60) == 0) {
            text[len++] = '\0';
            continue;
        }
        const char *piece = PIECES[random_below(random, sizeof(PIECES) / sizeof(*PIECES))];
        memcpy(text + len, piece, strlen(piece));
        len += strlen(piece);
    }
    text[len] = '\0';
    return len;
}

static size_t make_subject(struct random *random, char *text) {
    static const char CHARACTERS[] = "aaaabbb1A _-%]\0(\xe9";
    size_t len = random_below(random, 16);
    for (size_t i = 0; i < len; i++)
        text[i] = CHARACTERS[random_below(random, sizeof(CHARACTERS) - 1)];
    text[len] = '\0';
    return len;
}

/* Each value as its type and text; \0 is visible, since outcomes are compared as C strings. */
#define SHOW                                                                                       \
    "local function show(...) local t = {} for i = 1, select('#', ...) do "                        \
    "local v = (select(i, ...)) t[i] = type(v) .. ':' .. tostring(v) end "                         \
    "local s, r = table.concat(t, '|'), {} "                                                       \
    "for i = 1, #s do local c = s:sub(i, i) r[i] = c == '\\0' and '\\\\0' or c end "               \
    "return table.concat(r) end "

static const char FIND[] = SHOW "return show(pcall(string[...], select(2, ...)))";

static const char GMATCH[] = SHOW "local out = {} local text, pattern = ... "
                                  "return show(pcall(function() "
                                  "for a, b, c in string.gmatch(text, pattern) do "
                                  "out[#out + 1] = show(a, b, c) end end), unpack(out))";

static const char GSUB[] =
    SHOW "local text, pattern, by, count = ... "
         "if by == 'T' then by = {a = 'A', b = false, ab = 7, ['1'] = true} end "
         "if by == 'F' then by = function(...) local s = show(...) "
         "if #s % 3 == 0 then return nil end return '<' .. s .. '>' end end "
         "return show(pcall(string.gsub, text, pattern, by, count))";

static void patterns_match_as_those_of_lua(void **state) {
    struct pair *pair = *state;
    static const char *const REPLACEMENTS[] = {"x", "%0", "<%1>", "%2", "%%", "%", "T", "F", ""};
    char subject[TEXT_MAX];
    char pattern[TEXT_MAX];
    for (int i = 0; i < ROUNDS; i++) {
        struct random *random = &pair->random;
        struct arguments arguments = {.count = 0};
        uint64_t kind = random_below(random, 4);
        if (kind < 2) add_text(&arguments, kind == 0 ? "find" : "match", 4 + kind);
        add_text(&arguments, subject, make_subject(random, subject));
        add_text(&arguments, pattern, make_pattern(random, pattern));
        if (kind < 2) {
            add_index(&arguments, random);
            if (random_below(random, 8) == 0) add_number(&arguments, 1);
            compare(pair, FIND, &arguments);
        } else if (kind == 2) {
            compare(pair, GMATCH, &arguments);
        } else {
            const char *by = REPLACEMENTS[random_below(random, 9)];
            add_text(&arguments, by, strlen(by));
            if (random_below(random, 3) == 0) add_index(&arguments, random);
            compare(pair, GSUB, &arguments);
        }
    }
}

/* --- Tables --- */

static const char SORT[] =
    SHOW "local t, asked = {}, 0 for i, k in ipairs({...}) do t[i] = {k = k % 5, i = i} end "
         "table.sort(t, function(a, b) asked = asked + 1 return a.k < b.k end) "
         "for i, v in ipairs(t) do t[i] = v.k .. '/' .. v.i end "
         "local n = {...} table.sort(n) "
         "return show(asked, table.concat(t, ' '), table.concat(n, ' '))";

static const char EDIT[] =
    SHOW "local t = {} local seed = ... local function random(n) "
         "seed = (seed * 1103515245 + 12345) % 2147483648 return seed % n end "
         "local out = {} for i = 1, 60 do local what = random(6) "
         "if what < 2 then table.insert(t, 'v' .. i) "
         "elseif what == 2 then table.insert(t, random(#t + 1) + 1, 'w' .. i) "
         "elseif what == 3 then out[#out + 1] = show(table.remove(t)) "
         "elseif what == 4 then out[#out + 1] = show(table.remove(t, random(#t + 2))) "
         "else out[#out + 1] = show(pcall(table.concat, t, ',', random(4), random(8))) end end "
         "table.foreachi(t, function(i, v) out[#out + 1] = i .. v end) "
         "out[#out + 1] = table.foreach({x = 5}, function(k, v) return k .. v end) "
         "return show(table.concat(t, ' '), table.concat(out, ' '), #t, table.maxn({[7] = 1, 2}))";

static const char UNPACK[] = SHOW "local from, to = ... "
                                  "return show(pcall(unpack, {1, 2, nil, 4}, from, to))";

static const char REPEAT[] = SHOW "local count, first, last = ... "
                                  "if count and count > 1000 then count = 1000 end "
                                  "return show(pcall(string.rep, 'ab', count))"
                                  " .. show(pcall(string.sub, 'abcdef', first, last))"
                                  " .. show(pcall(string.byte, 'abcdef', first, last))";

static void tables_change_as_those_of_lua(void **state) {
    struct pair *pair = *state;
    struct random *random = &pair->random;
    for (int i = 0; i < ROUNDS / 10; i++) {
        struct arguments arguments = {.count = (int)random_below(random, ARGUMENTS_MAX + 1)};
        for (int k = 0; k < arguments.count; k++)
            arguments.items[k] =
                (struct argument){.is_number = true, .number = (double)random_below(random, 20)};
        compare(pair, SORT, &arguments);
        arguments = (struct arguments){.count = 0};
        add_number(&arguments, (double)random_below(random, 1000000));
        compare(pair, EDIT, &arguments);
        arguments = (struct arguments){.count = 0};
        add_number(&arguments, (double)random_below(random, 30) - 10);
        add_number(&arguments, (double)random_below(random, 30) - 10);
        compare(pair, UNPACK, &arguments);
        arguments = (struct arguments){.count = 0};
        for (int k = 0; k < 3; k++) add_index(&arguments, random);
        compare(pair, REPEAT, &arguments);
    }
}

/* A long array, in the orders that are hard for a quicksort. */
static void long_arrays_are_sorted_as_by_lua(void **state) {
    struct pair *pair = *state;
    static const char LONG[] =
        "local kind, seed = ... local t, asked = {}, 0 for i = 1, 700 do "
        "seed = (seed * 1103515245 + 12345) % 2147483648 "
        "t[i] = {k = ({i, -i, seed % 1000, i % 7, i % 350, 1})[kind], i = i} end "
        "table.sort(t, function(a, b) asked = asked + 1 return a.k < b.k end) "
        "for i, v in ipairs(t) do t[i] = v.i end return asked .. ':' .. table.concat(t, ' ')";
    for (int kind = 1; kind <= 6; kind++) {
        struct arguments arguments = {.count = 0};
        add_number(&arguments, kind);
        add_number(&arguments, (double)random_below(&pair->random, 1000));
        compare(pair, LONG, &arguments);
    }
}

/* --- Control --- */

static void control_functions_are_those_of_lua(void **state) {
    static const char *const CHUNKS[] = {
        "return show(pcall(error, 'x')) .. show(pcall(error)) .. show(pcall(error, {}) == false)",
        "return show(pcall(xpcall, 1)) .. show(xpcall(error, type))",
        "return show(xpcall(function() error('x', 0) end, function(e) return e .. '!' end))",
        "return show(xpcall(function() return 1, 2 end, type))",
        "return show(xpcall(error, function() error('y') end))",
        "local c = coroutine.create(function(a, b) local x = coroutine.yield(a + b) "
        "error('e' .. x, 0) end) return show(coroutine.resume(c, 1, 2)) .. coroutine.status(c) .. "
        "show(coroutine.resume(c, 5)) .. show(coroutine.resume(c)) .. coroutine.status(c)",
        "local f = coroutine.wrap(function(...) for i = 1, 3 do coroutine.yield(i, ...) end end) "
        "return show(f(7)) .. show(f()) .. show(f()) .. show(f()) .. show(pcall(f))",
        "local c c = coroutine.create(function() return coroutine.status(c), "
        "coroutine.resume(c) end) return show(coroutine.resume(c))",
        "return show(pcall(coroutine.wrap(function() error({}) end)) == false)",
        "return show(pcall(coroutine.create, type)) .. show(pcall(coroutine.resume, 1))",
        "return show(coroutine.running()) .. show(pcall(coroutine.status))",
        "return show(pcall(function() return coroutine.wrap(function() "
        "return pcall(coroutine.yield) end)() end))",
        "local parts, i = {'return', ' 1', ' + 1'}, 0 "
        "return show(load(function() i = i + 1 return parts[i] end)())",
        "return show(load(function() return {} end))",
        "return show(load(function() error('x', 0) end))",
        "return show(loadstring('return 1, 2')()) .. show(loadstring('x ='))",
        "return show(pcall(setmetatable, 1)) .. show(pcall(setmetatable, {}, 1))",
        "return show(pcall(next, {})) .. show(next({5})) .. show(pcall(next, {}, 'x'))",
        "return show(pcall(rawget, {x = 1}, 'x')) .. show(pcall(rawset, {}, 1))",
        "return show(pcall(pairs)) .. show(pcall(unpack)) .. show(pcall(unpack, {}, 1, 1e7))",
        "return show(collectgarbage()) .. type(collectgarbage('count')) .. "
        "show(collectgarbage('setpause', 200)) .. show(pcall(collectgarbage, 'x'))",
        "return show(string.gfind('abc', 'b')()) .. show(pcall(table.setn, {}, 1))",
        "return show(pcall(string.find)) .. show(pcall(string.gsub, 'a', 'a')) .. "
        "show(pcall(string.gsub, 'a', 'a', function() return {} end))",
        "return show(pcall(table.insert, {})) .. show(pcall(table.insert, {}, 1, 2, 3)) .. "
        "show(pcall(table.concat, {{}})) .. show(pcall(table.sort, {1, 'x'}))",
        "return show(pcall(table.sort, {1, 2}, 5)) .. show(pcall(table.foreach, {}, 1))",
        "return show(pcall(math.random, 0)) .. show(pcall(math.random, 1, 2, 3)) .. "
        "show(pcall(math.random, 2, 1))",
    };
    struct pair *pair = *state;
    struct arguments none = {.count = 0};
    for (size_t i = 0; i < sizeof(CHUNKS) / sizeof(*CHUNKS); i++) {
        char chunk[2000];
        snprintf(chunk, sizeof(chunk), "%s%s", SHOW, CHUNKS[i]);
        compare(pair, chunk, &none);
    }
}

#ifdef TINY_LIMITS
enum { HAS_KEYED_TABLES = true }; /* four keys that meet are a crowd */
#else
enum { HAS_KEYED_TABLES = false };
#endif

/* The tables of both are ours (lua/tables.c); the sum is what the tables of Lua 5.1.5 itself give. */
static void tables_list_their_keys_as_those_of_lua(void **state) {
    static const char TEXT[] =
        "local seed, sum = 7, 0 "
        "local function random(n) seed = (seed * 16807) % 2147483647 return seed % n end "
        "local function note(x) "
        "  x = tostring(x) "
        "  for i = 1, #x do sum = (sum * 31 + x:byte(i)) % 4294967291 end end "
        "local function key(range) "
        "  local kind = random(10) "
        "  if kind < 3 then return random(range) + 1 end "
        "  if kind < 4 then return -random(range) end "
        "  if kind < 6 then return (random(range) - range / 2) * 0.37 end "
        "  if kind < 7 then return random(range) * 1e12 + 0.5 end "
        "  if kind < 9 then return 's' .. random(range) end "
        "  return random(9) == 0 and random(2) == 0 or 2 ^ random(60) end "
        "for round = 1, 300 do "
        "  local range = ({4, 16, 64, 300, 3000})[random(5) + 1] "
        "  local kinds = {{}, {1, 2, nil, 4}, {a = 1, [3.5] = 1}, {unpack({}, 1, random(50))}} "
        "  local t = kinds[random(4) + 1] "
        "  for i = 1, random(range * 2) do "
        "    local what = random(20) "
        "    if what < 12 then t[key(range)] = i "
        "    elseif what < 17 then t[key(range)] = nil "
        "    elseif what < 18 then t[#t + 1] = i "
        "    else note(#t) note(t[key(range)]) note(next(t)) end "
        "    if random(100) == 0 then "
        "      for k in pairs(t) do if random(2) == 0 then t[k] = nil end end end "
        "    if random(500) == 0 then collectgarbage() end end "
        "  for k, v in pairs(t) do note(k) note(v) end "
        "  note(#t) end "
        "return sum";
    struct pair *pair = *state;
    if (!HAS_KEYED_TABLES) assert_script(&pair->ours, TEXT, "4122238353");
}

#define test(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        test(patterns_match_as_those_of_lua),         test(tables_change_as_those_of_lua),
        test(long_arrays_are_sorted_as_by_lua),       test(control_functions_are_those_of_lua),
        test(tables_list_their_keys_as_those_of_lua),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
