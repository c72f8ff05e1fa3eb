/* A sealed machine with a small library, and scripts whose outcome is one text. */
#ifndef PACKLIST_TESTS_UNIT_SCRIPT_FIXTURE_H
#define PACKLIST_TESTS_UNIT_SCRIPT_FIXTURE_H

#include "lua/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MB = 1 << 20, SCRIPT_MEMORY_LIMIT = 32 * MB, SCRIPT_OUTCOME_MAX = 4096 };

struct script_fixture {
    struct machine *machine;
    bool has_view; /* it may be chosen when scripts run */
    int keys;      /* the global KEYS: machine_fill_run_table */
    int watched;   /* how often the watch was asked */
    int end_after; /* the watch ends the run when it is asked for the so-many-th time; 0: never */
    char outcome[SCRIPT_OUTCOME_MAX];
};

static const char *script_watch(void *arg) {
    struct script_fixture *fixture = arg;
    fixture->watched++;
    return fixture->end_after && fixture->watched >= fixture->end_after ? "ended by the watch"
                                                                        : NULL;
}

/* stub.echo returns its arguments; stub.count returns their number. */
static int script_stub_echo(lua_State *L) {
    return lua_gettop(L);
}

static int script_stub_count(lua_State *L) {
    lua_pushinteger(L, lua_gettop(L));
    return 1;
}

static int script_open_stub(lua_State *L) {
    lua_newtable(L);
    lua_pushcfunction(L, script_stub_echo);
    lua_setfield(L, -2, "echo");
    lua_pushcfunction(L, script_stub_count);
    lua_setfield(L, -2, "count");
    return 1;
}

static inline void script_begin_with(struct script_fixture *fixture, size_t memory_limit,
                                     bool deprecated) {
    *fixture = (struct script_fixture){.machine = machine_new(memory_limit, NULL)};
    if (deprecated) machine_add_deprecated(fixture->machine);
    machine_set_watch(fixture->machine, script_watch, fixture);
    machine_add_library(fixture->machine, "stub", script_open_stub);
    machine_add_data_libraries(fixture->machine);
    fixture->keys = machine_add_run_table(fixture->machine, "KEYS");
    machine_seal(fixture->machine);
}

static inline void script_begin(struct script_fixture *fixture, size_t memory_limit) {
    script_begin_with(fixture, memory_limit, false);
}

static inline void script_end(struct script_fixture *fixture) {
    machine_free(fixture->machine);
}

/* The setup and teardown of a test, which gets the fixture as its state. */
static inline int script_setup_with(void **state, size_t memory_limit, bool deprecated) {
    struct script_fixture *fixture = malloc(sizeof(*fixture));
    script_begin_with(fixture, memory_limit, deprecated);
    *state = fixture;
    return 0;
}

static inline int script_setup(void **state) {
    return script_setup_with(state, SCRIPT_MEMORY_LIMIT, false);
}

static inline int script_teardown(void **state) {
    script_end(*state);
    free(*state);
    return 0;
}

#define script_test(function)                                                                      \
    cmocka_unit_test_setup_teardown(function, script_setup, script_teardown)

static void script_append(struct script_fixture *fixture, const char *text, size_t len) {
    size_t used = strlen(fixture->outcome);
    size_t room = sizeof(fixture->outcome) - 1 - used;
    if (len > room) len = room;
    memcpy(fixture->outcome + used, text, len);
    fixture->outcome[used + len] = '\0';
}

static void script_append_value(struct script_fixture *fixture, lua_State *L, int index) {
    size_t len;
    char number[40];
    switch (lua_type(L, index)) {
    case LUA_TSTRING: {
        const char *text = lua_tolstring(L, index, &len);
        script_append(fixture, text, len);
        break;
    }
    case LUA_TNUMBER:
        snprintf(number, sizeof(number), "%.14g", lua_tonumber(L, index));
        script_append(fixture, number, strlen(number));
        break;
    case LUA_TBOOLEAN: {
        const char *text = lua_toboolean(L, index) ? "true" : "false";
        script_append(fixture, text, strlen(text));
        break;
    }
    default: script_append(fixture, luaL_typename(L, index), strlen(luaL_typename(L, index)));
    }
}

/* Compiles and runs a script. The outcome: its results with commas between them, or "error: " and
 * the message, or "ended: " and what the watch said. Valid until the next script. */
static inline const char *script_run_slice(struct script_fixture *fixture, struct slice text,
                                           machine_prepare *prepare, void *arg) {
    lua_State *L = machine_state(fixture->machine);
    fixture->outcome[0] = '\0';
    fixture->watched = 0;
    int function = machine_compile(fixture->machine, "@user_script", text);
    enum machine_result result = MACHINE_FAILED;
    if (function != LUA_NOREF) {
        if (!fixture->has_view) machine_shorten_globals(fixture->machine, function);
        result = machine_run(fixture->machine, function, prepare, arg);
    }
    if (result == MACHINE_ENDED) {
        snprintf(fixture->outcome, sizeof(fixture->outcome), "ended: %s",
                 machine_end_text(fixture->machine));
    } else {
        if (result == MACHINE_FAILED) script_append(fixture, "error: ", 7);
        for (int i = 1; i <= lua_gettop(L); i++) {
            if (i > 1) script_append(fixture, ",", 1);
            script_append_value(fixture, L, i);
        }
    }
    machine_finish(fixture->machine);
    if (function != LUA_NOREF) machine_release(fixture->machine, function);
    return fixture->outcome;
}

static inline const char *script_run(struct script_fixture *fixture, const char *text) {
    return script_run_slice(fixture, slice_of_cstr(text), NULL, NULL);
}

/* Asserts the outcome of a script. */
#define assert_script(fixture, text, expected)                                                     \
    assert_string_equal(script_run((fixture), (text)), (expected))

/* Asserts that the script runs until the watch, which is asked for the `after`th time, ends it. */
static inline void assert_watch_ends(struct script_fixture *fixture, const char *text, int after) {
    fixture->end_after = after;
    assert_script(fixture, text, "ended: ended by the watch");
    assert_int_equal(fixture->watched, after);
    fixture->end_after = 0;
}

#endif
