/* What Redis answers to expressions of Lua, and a check that a machine answers the same.
 *
 * An answer is the values of the expression with commas between them, or ERR and the message.
 * Strings stand in quotes, with <N> for a byte that is not printable; tables as {key=value …}, null
 * for a light userdata. */
#ifndef PACKLIST_TESTS_UNIT_LUA_FACTS_H
#define PACKLIST_TESTS_UNIT_LUA_FACTS_H

#include "unit/script_fixture.h"

struct lua_fact {
    const char *expression;
    const char *answer;
};

/* Lua text that defines all(), which makes an answer of what pcall returned. */
static const char LUA_ANSWER[] =
    "local text text = function(v) "
    "local t = type(v) "
    "if t == 'string' then "
    "return '\"' .. v:gsub('[^ -~]', function(c) return '<' .. c:byte() .. '>' end) .. '\"' "
    "elseif t == 'number' then return string.format('%.17g', v) "
    "elseif t == 'userdata' then return 'null' "
    "elseif t ~= 'table' then return tostring(v) end "
    "local parts = {} "
    "for k, x in pairs(v) do parts[#parts + 1] = text(k) .. '=' .. text(x) end "
    "return '{' .. table.concat(parts, ' ') .. '}' end "
    "local function all(ok, ...) "
    "if not ok then return 'ERR ' .. tostring((...)) end "
    "local parts = {} "
    "for i = 1, select('#', ...) do parts[i] = text((select(i, ...))) end "
    "return table.concat(parts, ', ') end ";

static inline void assert_fact(struct script_fixture *fixture, const struct lua_fact *fact) {
    char script[4096];
    int len = snprintf(script, sizeof(script), "%s return all(pcall(function() return %s end))",
                       LUA_ANSWER, fact->expression);
    assert_true(len > 0 && (size_t)len < sizeof(script));
    const char *answer = script_run(fixture, script);
    if (strcmp(answer, fact->answer) != 0) print_message("%s\n", fact->expression);
    assert_string_equal(answer, fact->answer);
}

#define assert_facts(fixture, facts)                                                               \
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) assert_fact(fixture, &(facts)[i])

#endif
