/* cmsgpack as scripts see it: byte for byte what Redis makes, and bounded in memory, depth and time. */
#include "unit/cmsgpack_facts.h"
#include "unit/library_fixture.h"

static const struct library library = {
    "return unpack(cmsgpack.unpack(cmsgpack.pack({1, 'a', true})))", "1,a,true"};

static void expressions_have_the_values_that_redis_gives(void **state) {
    assert_facts(*state, cmsgpack_facts);
}

static void values_of_every_size_come_back(void **state) {
    assert_script(*state,
                  "local n = 0 "
                  "for bits = 0, 62 do for step = -1, 1 do for sign = -1, 1, 2 do "
                  "local value = sign * (2 ^ bits + step) "
                  "if cmsgpack.unpack(cmsgpack.pack(value)) ~= value then return value end "
                  "n = n + 1 end end end "
                  "for _, size in ipairs({0, 31, 32, 255, 256, 65535, 65536}) do "
                  "local text, list, map = string.rep('x', size), {}, {} "
                  "for i = 1, size do list[i] = i map['k' .. i] = i end "
                  "local a, b, c, d = cmsgpack.unpack(cmsgpack.pack(text, list, map, size)) "
                  "if a ~= text or #b ~= size or d ~= size then return size end "
                  "for i = 1, size do if b[i] ~= i or c['k' .. i] ~= i then return i end end "
                  "n = n + 1 end return n",
                  "385");
}

static void tables_deeper_than_sixteen_are_nil(void **state) {
    assert_script(*state,
                  "local t = 1 for i = 1, 40 do t = {t} end "
                  "local depth, back = 0, cmsgpack.unpack(cmsgpack.pack(t)) "
                  "while back do back, depth = back[1], depth + 1 end return depth",
                  "16");
    assert_script(*state, "local t = {} t.t = t return #cmsgpack.pack(t)", "49");
}

/* --- Bounds --- */

static void what_is_too_large_is_an_error(void **state) {
    static const char *const scripts[] = {
        "local s = string.rep('x', 5e6) return #cmsgpack.pack(s, s, s, s, s)",
        /* Each table ten times in the next one. */
        ("local t = {'x'} for i = 1, 12 do t = {t, t, t, t, t, t, t, t, t, t} end "
         "return #cmsgpack.pack(t)"),
        "return #cmsgpack.unpack('\\221\\0\\61\\9\\0' .. string.rep('\\1', 4e6))",
    };
    assert_outcomes(*state, &library, scripts, COUNT_OF(scripts), "error: not enough memory");
}

static void lengths_that_are_not_there_take_no_memory(void **state) {
    static const char *const lengths[] = {"\\219", "\\221", "\\223"};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        char script[100];
        snprintf(script, sizeof(script), "cmsgpack.unpack('%s\\255\\255\\255\\255\\1')",
                 lengths[i]);
        machine_collect(((struct script_fixture *)*state)->machine);
        assert_script(*state, script, "error: user_script:1: Missing bytes in input.");
    }
    assert_library_works(*state, &library);
}

static void depth_is_bounded(void **state) {
    static const char *const scripts[] = {
        "return cmsgpack.unpack(string.rep('\\145', 1e6))",
        "return cmsgpack.unpack(string.rep('\\129\\1', 1e6))",
        "return cmsgpack.unpack(string.rep('\\129', 1e6))",
        "return cmsgpack.unpack(string.rep('\\1', 1e6))",
        "return cmsgpack.unpack_limit(string.rep('\\1', 1e6), 1e6)",
    };
    assert_outcomes(*state, &library, scripts, COUNT_OF(scripts), "stack overflow");
    assert_script(*state,
                  "local t = {} for i = 1, 7900 do t[i] = {i} end "
                  "return select(2, pcall(cmsgpack.pack, unpack(t)))",
                  "bad argument #0 to '?' (Too many arguments for MessagePack pack.)");
    assert_library_works(*state, &library);
}

static void the_watch_ends_what_takes_long(void **state) {
    static const char *const scripts[] = {
        "local t = {} for i = 1, 1e4 do t['x' .. i] = 1 end "
        "for i = 1, 1e4 do t['x' .. i] = nil end "
        "local all = {} for i = 1, 2e4 do all[i] = t end "
        "while true do cmsgpack.pack(all) end",
        "local t = cmsgpack.pack({{1, 2}, {3}, 'a'}) while true do cmsgpack.unpack(t) end",
        "local t = string.rep('x', 1e6) while true do cmsgpack.unpack(cmsgpack.pack(t)) end",
    };
    assert_ended_outcomes(*state, &library, scripts, COUNT_OF(scripts));
}

/* Memory ends at every place in turn. */
static void a_failing_allocation_leaks_nothing(void **state) {
    static const char SCRIPT[] = "local t = {a = {1, 2, {string.rep('x', 5000)}}, b = {1.5}} "
                                 "local s = cmsgpack.pack(t, t, t, t) "
                                 "return #cmsgpack.pack(cmsgpack.unpack(s))";
    assert_allocations_may_fail(*state, &library, SCRIPT, "20072");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        script_test(expressions_have_the_values_that_redis_gives),
        script_test(values_of_every_size_come_back),
        script_test(tables_deeper_than_sixteen_are_nil),
        script_test(what_is_too_large_is_an_error),
        script_test(lengths_that_are_not_there_take_no_memory),
        script_test(depth_is_bounded),
        script_test(the_watch_ends_what_takes_long),
        script_test(a_failing_allocation_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
