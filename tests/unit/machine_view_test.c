/* machine: a view shows other globals than the libraries, read-only like these; what a function has
 * read from a view it keeps. */
#include "lua/machine.h"

#include "unit/script_fixture.h"

static int open_view(lua_State *L) {
    lua_newtable(L);
    lua_pushnumber(L, 7);
    lua_setfield(L, -2, "number");
    lua_newtable(L);
    lua_pushcfunction(L, script_stub_count);
    lua_setfield(L, -2, "count");
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "alias");
    lua_setfield(L, -2, "stub");
    return 1;
}

static void begin(struct script_fixture *fixture) {
    *fixture = (struct script_fixture){.machine = machine_new(16 << 20, NULL), .has_view = true};
    machine_set_watch(fixture->machine, script_watch, fixture);
    machine_add_library(fixture->machine, "stub", script_open_stub);
    machine_add_view(fixture->machine, open_view);
    machine_seal(fixture->machine);
}

static void a_view_hides_the_libraries_while_it_is_chosen(void **state) {
    (void)state;
    struct script_fixture fixture;
    begin(&fixture);
    for (int i = 0; i < 3; i++) {
        assert_script(&fixture, "return stub.echo(1), type(string.rep)", "1,function");
        assert_script(&fixture, "return number",
                      "error: user_script:1: Script attempted to access nonexistent global "
                      "variable 'number'");
        machine_choose_view(fixture.machine, true);
        assert_script(&fixture, "return number, stub.count(1, 2), alias == stub", "7,2,true");
        assert_script(&fixture, "return string",
                      "error: user_script:1: Script attempted to access nonexistent global "
                      "variable 'string'");
        assert_script(&fixture, "return _G",
                      "error: user_script:1: Script attempted to access nonexistent global "
                      "variable '_G'");
        assert_script(&fixture, "return stub.echo",
                      "error: user_script:1: Script attempted to access nonexistent global "
                      "variable 'echo'");
        machine_choose_view(fixture.machine, false);
    }
    script_end(&fixture);
}

static void a_view_cannot_be_written(void **state) {
    (void)state;
    struct script_fixture fixture;
    begin(&fixture);
    machine_choose_view(fixture.machine, true);
    assert_script(&fixture, "x = 1", "error: user_script:1: Attempt to modify a readonly table");
    assert_script(&fixture, "number = 1",
                  "error: user_script:1: Attempt to modify a readonly table");
    assert_script(&fixture, "stub.x = 1",
                  "error: user_script:1: Attempt to modify a readonly table");
    assert_script(&fixture, "return number", "7");
    machine_choose_view(fixture.machine, false);
    assert_script(&fixture, "return rawget(_G, 'x'), rawget(_G, 'number')", "nil,nil");
    script_end(&fixture);
}

/* The function on top of the stack is kept for a later run. */
static int kept;
static int keep(lua_State *L) {
    kept = luaL_ref(L, LUA_REGISTRYINDEX);
    return 0;
}

static int open_keeping_view(lua_State *L) {
    lua_newtable(L);
    lua_pushcfunction(L, keep);
    lua_setfield(L, -2, "keep");
    return 1;
}

static void functions_of_a_view_see_the_libraries_later(void **state) {
    (void)state;
    struct script_fixture fixture = {.machine = machine_new(16 << 20, NULL), .has_view = true};
    machine_add_view(fixture.machine, open_keeping_view);
    machine_seal(fixture.machine);
    machine_choose_view(fixture.machine, true);
    assert_script(&fixture,
                  "local k, n = keep, 0 keep(function() n = n + 1 "
                  "return type(k), type(string), n end)",
                  "");
    machine_choose_view(fixture.machine, false);
    for (int i = 1; i < 3; i++) {
        lua_State *L = machine_state(fixture.machine);
        assert_int_equal(machine_run(fixture.machine, kept, NULL, NULL), MACHINE_DONE);
        assert_string_equal(lua_tostring(L, 1), "function");
        assert_string_equal(lua_tostring(L, 2), "table");
        assert_int_equal(lua_tonumber(L, 3), i);
        machine_finish(fixture.machine);
    }
    machine_release(fixture.machine, kept);
    script_end(&fixture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_view_hides_the_libraries_while_it_is_chosen),
        cmocka_unit_test(a_view_cannot_be_written),
        cmocka_unit_test(functions_of_a_view_see_the_libraries_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
