/* Instructions that take long: an alarm has the watch asked in time, which counting instructions would
 * not do for minutes. */
#include "base/threads/alarm.h"
#include "lua/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

enum { MB = 1 << 20, ASKED_MAX = 3 };
static const double SECONDS_MAX = 60; /* of processor time, with sanitizers */

struct fixture {
    struct machine *machine;
    bool has_begun; /* the script has made what it needs */
    int asked;      /* since then */
    double begin;
};

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static const char *watch(void *arg) {
    struct fixture *fixture = arg;
    if (!fixture->has_begun) return NULL;
    return ++fixture->asked >= ASKED_MAX ? "ended" : NULL;
}

/* test.begin(): from here on the watch counts. */
static int test_begin(lua_State *L) {
    struct fixture *fixture = machine_owner(machine_of(L));
    fixture->has_begun = true;
    fixture->begin = cpu_seconds();
    return 0;
}

static int open_test(lua_State *L) {
    lua_newtable(L);
    lua_pushcfunction(L, test_begin);
    lua_setfield(L, -2, "begin");
    return 1;
}

static void ring(void *arg) {
    struct fixture *fixture = arg;
    machine_alarm(fixture->machine);
}

static void assert_ended_in_time(const char *text) {
#ifdef __SANITIZE_THREAD__
    skip(); /* it keeps signals back until a library has done its work */
#endif
    struct fixture fixture = {.machine = machine_new(400 * MB, &fixture)};
    machine_add_library(fixture.machine, "test", open_test);
    machine_set_watch(fixture.machine, watch, &fixture);
    machine_seal(fixture.machine);
    machine_expect_alarms(fixture.machine, true);
    struct alarm *alarm = alarm_start(ring, &fixture);
    assert_non_null(alarm);
    int function = machine_compile(fixture.machine, "@test", slice_of_cstr(text));
    assert_int_not_equal(function, LUA_NOREF);
    enum machine_result result = machine_run(fixture.machine, function, NULL, NULL);
    if (result != MACHINE_ENDED)
        print_error("%s\n", lua_tostring(machine_state(fixture.machine), 1));
    assert_int_equal(result, MACHINE_ENDED);
    assert_true(cpu_seconds() - fixture.begin < SECONDS_MAX);
    machine_finish(fixture.machine);
    alarm_stop(alarm);
    machine_free(fixture.machine);
}

/* Nothing counts these instructions before the first alarm. */
static void loops_do_nothing(void **state) {
    (void)state;
    assert_ended_in_time("test.begin() while true do end");
    assert_ended_in_time("test.begin() while true do pcall(error) end");
    assert_ended_in_time("test.begin() local function f() return f() end f()");
    assert_ended_in_time("test.begin() while true do coroutine.wrap(function() end)() end");
    assert_ended_in_time("coroutine.wrap(function() test.begin() while true do end end)()");
}

static void long_strings_are_compared(void **state) {
    (void)state;
    assert_ended_in_time("local a = ('x'):rep(5e7) local b = a .. 'y' test.begin() "
                         "while true do local x = a < b end");
    assert_ended_in_time("local a = ('x'):rep(3e7) local t = {a .. 1, a .. 2, a .. 3} test.begin() "
                         "while true do table.sort(t) end");
    assert_ended_in_time("local a = ('x'):rep(5e7) local b = a .. 'y' test.begin() "
                         "coroutine.wrap(function() while true do local x = a < b end end)()");
}

static void long_strings_are_converted(void **state) {
    (void)state;
    assert_ended_in_time("local s = ('0'):rep(3e7) test.begin() while true do local x = s + 0 end");
    assert_ended_in_time("local s = (' '):rep(5e7) test.begin() "
                         "while true do pcall(tonumber, s) end");
}

/* A table that was large once keeps its size. */
static void emptied_tables_are_looked_through(void **state) {
    (void)state;
    static const char *const LOOPS[] = {"while true do next(t) end",
                                        "while true do for k in pairs(t) do end end",
                                        "while true do table.maxn(t) table.foreach(t, type) end"};
    for (size_t i = 0; i < sizeof(LOOPS) / sizeof(LOOPS[0]); i++) {
        char text[400];
        snprintf(text, sizeof(text),
                 "local t = {} for i = 1, 2 ^ 17 do t[i .. 'k'] = 1 end "
                 "for i = 1, 2 ^ 17 do t[i .. 'k'] = nil end test.begin() %s",
                 LOOPS[i]);
        assert_ended_in_time(text);
    }
}

/* A new key finds no room in the table, which is then counted through. */
static void large_tables_are_counted_for_a_key(void **state) {
    (void)state;
    assert_ended_in_time("local t = {} for i = 1, 2 ^ 21 do t[i] = i end test.begin() "
                         "while true do t.x = 1 t.x = nil t.y = 1 t.y = nil end");
}

/* All of these have the same hash in Lua 5.1, which looks at every fourth byte only. */
static void strings_with_one_hash_are_looked_for(void **state) {
    (void)state;
    assert_ended_in_time(
        "local x, t = ('x'):rep(64), {} local function text(i) local s = '' "
        "for digit = 1, 12 do s = s .. (i % 2 == 0 and 'axx' or 'bxx') i = math.floor(i / 2) end "
        "return x .. s .. x end for i = 1, 3000 do t[i] = text(i) end test.begin() "
        "while true do for i = 1, 3000 do local s = text(i) end end");
}

static void thousands_of_arguments_are_passed(void **state) {
    (void)state;
    assert_ended_in_time("local a = {} for i = 1, 7000 do a[i] = i end "
                         "local function count(...) return select('#', ...) end test.begin() "
                         "while true do count(unpack(a)) end");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_do_nothing),
        cmocka_unit_test(long_strings_are_compared),
        cmocka_unit_test(long_strings_are_converted),
        cmocka_unit_test(emptied_tables_are_looked_through),
        cmocka_unit_test(large_tables_are_counted_for_a_key),
        cmocka_unit_test(strings_with_one_hash_are_looked_for),
        cmocka_unit_test(thousands_of_arguments_are_passed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
