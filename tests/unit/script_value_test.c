/* Replies of commands as values of Lua, and values as replies: what goes through Lua comes out as it
 * was, and whatever a script returns is bounded. */
#include "base/memory/alloc.h"
#include "lua/machine.h"
#include "script/value_reply.h"
#include "script/value_sink.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MB = 1 << 20, LIMIT = 64 * MB, REPLY_MAX = 8 * MB };

static struct machine *machine;

static int begin(void **state) {
    (void)state;
    machine = machine_new(LIMIT, NULL);
    machine_seal(machine);
    return 0;
}

static int end(void **state) {
    (void)state;
    machine_free(machine);
    return 0;
}

/* --- Random replies --- */

/* Writes one value, the same for the same state of `random`. Aggregates without order have one member,
 * and nulls, which end tables, stand where RESP2 makes them false. */
static void write_random(struct reply *reply, struct random *random, int depth) {
    char text[300];
    memset(text, 'a' + (int)random_below(random, 26), sizeof(text));
    struct slice slice =
        slice_make(text, random_below(random, 10) ? random_below(random, 20) : 300);
    uint64_t count = random_below(random, 4);
    size_t mark;
    switch (random_below(random, depth > 0 ? 15 : 9)) {
    case 0: reply_integer(reply, (int64_t)random_below(random, UINT64_C(1) << 52) - 1000); return;
    case 1: reply_status(reply, slice); return;
    case 2: reply_error(reply, "ERR an error"); return;
    case 3: reply_double(reply, (double)random_below(random, 1000000) / 64 - 100); return;
    case 4: reply_bool(reply, count > 1); return;
    case 5: reply_big_number(reply, SLICE("12345678901234567890123")); return;
    case 6: reply_verbatim(reply, slice, "txt"); return;
    case 7: reply->protocol == 2 ? reply_null(reply) : reply_bulk(reply, slice); return;
    case 8: reply_bulk(reply, slice); return;
    case 9:
        reply_map(reply, 1);
        reply_bulk(reply, slice);
        write_random(reply, random, depth - 1);
        return;
    case 10:
        reply_set(reply, 1);
        reply_bulk(reply, slice);
        return;
    case 11:
    case 12:
        mark = reply_begin(reply);
        for (uint64_t i = 0; i < count; i++) write_random(reply, random, depth - 1);
        reply_array_end(reply, mark, count);
        return;
    case 13:
        mark = reply_begin(reply);
        if (count > 0) {
            reply_integer(reply, 7);
            write_random(reply, random, depth - 1);
        }
        reply_map_end(reply, mark, count > 0);
        return;
    default:
        reply_array(reply, count);
        for (uint64_t i = 0; i < count; i++) write_random(reply, random, depth - 1);
    }
}

struct passage {
    uint64_t seed;
    int protocol, depth;
    int others; /* values that are on the stack already, as the arguments of redis.call */
};

/* In protected mode: leaves the value of the reply. */
static int make_value(lua_State *L, void *arg) {
    const struct passage *passage = arg;
    struct value_sink sink;
    struct random random;
    random_seed(&random, passage->seed);
    value_sink_begin(&sink, L, machine, LIMIT);
    struct reply reply = reply_into_sink(&sink.sink, passage->protocol);
    machine_suspend_limit(machine);
    write_random(&reply, &random, passage->depth);
    assert_true(value_sink_end(&sink));
    machine_resume_limit(machine);
    return 1;
}

static int compiled(const char *text) {
    int function = machine_compile(machine, "@test", slice_of_cstr(text));
    assert_int_not_equal(function, LUA_NOREF);
    return function;
}

static void assert_same(const struct passage *passage, int function) {
    struct random random;
    struct reply direct, through;
    bool is_counted;
    reply_init(&direct, 0);
    reply_init(&through, 0);
    direct.protocol = through.protocol = passage->protocol;
    random_seed(&random, passage->seed);
    write_random(&direct, &random, passage->depth);
    assert_int_equal(machine_run(machine, function, make_value, (void *)passage), MACHINE_DONE);
    machine_suspend_limit(machine);
    value_reply(machine_state(machine), 1, &through, passage->protocol, REPLY_MAX, &is_counted);
    machine_resume_limit(machine);
    assert_int_equal(lua_gettop(machine_state(machine)), 1);
    assert_int_equal(is_counted, direct.data[0] == '-');
    machine_finish(machine);
    if (through.len != direct.len || memcmp(through.data, direct.data, direct.len) != 0) {
        print_error("%.*s\n%.*s\n", (int)direct.len, direct.data, (int)through.len, through.data);
        fail();
    }
    reply_free(&direct);
    reply_free(&through);
}

static void a_reply_that_goes_through_lua_is_the_same(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    int function = compiled("return ...");
    for (int i = 0; i < 20000; i++) {
        struct passage passage = {.seed = random_next(&random),
                                  .protocol = i % 2 ? 2 : 3,
                                  .depth = (int)random_below(&random, 6)};
        assert_same(&passage, function);
    }
    machine_release(machine, function);
}

/* --- Nesting of replies --- */

static int make_nested(lua_State *L, void *arg) {
    const struct passage *passage = arg;
    struct value_sink sink;
    int below = lua_gettop(L);
    for (int i = 0; i < passage->others; i++) {
        if (!lua_checkstack(L, LUA_MINSTACK + 1)) return luaL_error(L, "too many others");
        lua_pushinteger(L, i);
    }
    value_sink_begin(&sink, L, machine, LIMIT);
    struct reply reply = reply_into_sink(&sink.sink, 3);
    machine_suspend_limit(machine);
    for (int i = 0; i < passage->depth; i++) {
        if (i % 2) {
            reply_array(&reply, 1);
        } else {
            reply_map(&reply, 1);
            reply_bulk(&reply, SLICE("key"));
        }
    }
    reply_verbatim(&reply, SLICE("inside"), "txt");
    bool fits = value_sink_end(&sink);
    machine_resume_limit(machine);
    assert_int_equal(lua_gettop(L), below + passage->others + fits);
    if (!fits) return luaL_error(L, "no room");
    if (passage->others > 0) lua_replace(L, below + 1);
    lua_settop(L, below + 1);
    return 1;
}

/* As many slots as the stack has by itself would not do for a reply that is nested so deep. */
static void replies_may_be_nested_as_deep_as_commands_nest_them(void **state) {
    (void)state;
    int function = compiled("local v, depth = ..., 0 while v.map or v[1] do "
                            "v = v.map and v.map.key or v[1] depth = depth + 1 end "
                            "return depth, v.verbatim_string.string");
    for (int others = 0; others < 9000; others = others * 2 + 990) {
        struct passage passage = {.depth = VALUE_SINK_DEPTH, .others = others};
        enum machine_result result = machine_run(machine, function, make_nested, &passage);
        lua_State *L = machine_state(machine);
        if (result == MACHINE_DONE) {
            assert_int_equal(lua_tointeger(L, 1), VALUE_SINK_DEPTH);
            assert_string_equal(lua_tostring(L, 2), "inside");
        } else {
            assert_true(others > 7000);
            assert_non_null(lua_tostring(L, 1));
        }
        machine_finish(machine);
    }
    machine_release(machine, function);
}

/* --- What scripts return --- */

/* The reply to what the script returns. */
static struct reply reply_to(const char *text, int protocol) {
    struct reply reply;
    bool is_counted;
    int function = compiled(text);
    reply_init(&reply, 0);
    reply.protocol = protocol;
    assert_int_equal(machine_run(machine, function, NULL, NULL), MACHINE_DONE);
    lua_settop(machine_state(machine), 1);
    machine_suspend_limit(machine);
    value_reply(machine_state(machine), 1, &reply, protocol, REPLY_MAX, &is_counted);
    machine_resume_limit(machine);
    machine_finish(machine);
    machine_release(machine, function);
    return reply;
}

static void assert_reply(const char *text, const char *expected) {
    struct reply reply = reply_to(text, 3);
    if (reply.len != strlen(expected)) print_error("%s\n", text);
    assert_int_equal(reply.len, strlen(expected));
    assert_memory_equal(reply.data, expected, reply.len);
    reply_free(&reply);
}

static void small_values_cannot_make_replies_of_any_size(void **state) {
    (void)state;
    static const char *const scripts[] = {
        "local t = {1} for i = 1, 60 do t = {t, t} end return t",
        "local t = {} for i = 1, 60 do t = {map = {a = t, b = t}} end return t",
        "local t = {} for i = 1, 60 do t = {map = {[{}] = t, [t] = t}} end return t",
        "local t = {} for i = 1, 60 do t = {set = {[t] = 1, [{t}] = 1}} end return t",
        "local s, t = ('x'):rep(1e5), {} for i = 1, 1e5 do t[i] = s end return t",
        "local s, t = {ok = ('x'):rep(1e5)}, {} for i = 1, 1e5 do t[i] = s end return t",
        "local s, t = {err = ('x'):rep(1e5)}, {} for i = 1, 1e5 do t[i] = s end return t",
        "local s, t = {big_number = ('1'):rep(1e5)}, {} for i = 1, 1e5 do t[i] = s end return t",
        "local v = {verbatim_string = {string = ('1'):rep(1e5), format = 'txt'}} "
        "local t = {} for i = 1, 1e5 do t[i] = v end return {t, t}",
        "local t = {} for i = 1, 8000 do t[i] = 1 end local u = {} "
        "for i = 1, 8000 do u[i] = t end return u",
        "return ('x'):rep(9e6)",
        "return {ok = ('x'):rep(9e6)}",
    };
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++)
        assert_reply(
            scripts[i],
            "-ERR The reply of the script is too large (lua-memory-limit, proto-max-bulk-len)\r\n");
    struct reply reply = reply_to("return {('x'):rep(8e6), ('y'):rep(1e5)}", 3);
    assert_int_equal(reply.len, 4 + 10 + 8000000 + 2 + 9 + 100000 + 2);
    reply_free(&reply);
}

/* Each level of a table would move what is inside it, were its header inserted afterwards. */
static void deep_tables_with_large_texts_are_written_in_time(void **state) {
    (void)state;
    struct reply reply = reply_to("local t = ('x'):rep(4e6) for i = 1, 3000 do "
                                  "t = i % 2 == 0 and {t, 1} or {map = {k = t}} end return t",
                                  3);
    assert_int_equal(reply.data[0], '*');
    assert_int_equal(reply.len, 1500 * (4 + 4) + 1500 * (4 + 7) + 4000000 + 12);
    reply_free(&reply);
    reply = reply_to("local t = 5 for i = 1, 20 do t = {set = {[t] = 1}} end return {t, {}}", 3);
    assert_int_equal(reply.len, 4 + 20 * 4 + 4 + 4);
    reply_free(&reply);
}

static void tables_are_written_up_to_their_first_nil_at_any_depth(void **state) {
    (void)state;
    assert_reply("return {1, 2, nil, 4}", "*2\r\n:1\r\n:2\r\n");
    assert_reply("local t = {1, 2, nil, 4} for i = 1, 12 do t = {t} end return t",
                 "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n"
                 "*2\r\n:1\r\n:2\r\n");
    assert_reply("local t = {} for i = 1, 12 do t = {t} end return t",
                 "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*0\r\n");
}

#define test(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        test(a_reply_that_goes_through_lua_is_the_same),
        test(replies_may_be_nested_as_deep_as_commands_nest_them),
        test(small_values_cannot_make_replies_of_any_size),
        test(deep_tables_with_large_texts_are_written_in_time),
        test(tables_are_written_up_to_their_first_nil_at_any_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
