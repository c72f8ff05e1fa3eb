/* cjson as scripts see it: byte for byte what Redis makes, bounded in memory, depth and time, and
 * with settings that end with their script. */
#include "lua/cjson.h"

#include "unit/cjson_facts.h"
#include "unit/library_fixture.h"
#include "unit/seed.h"

#include <math.h>

static const struct library library = {"return cjson.encode(cjson.decode('[1,{\"a\":null}]'))",
                                       "[1,{\"a\":null}]"};

static void expressions_have_the_values_that_redis_gives(void **state) {
    assert_facts(*state, cjson_facts);
}

/* The text of a number by printf, which is slower. */
static void assert_formatted(double value, int precision) {
    char text[CJSON_NUMBER_MAX + 1], expected[64];
    text[cjson_format_number(text, value, precision)] = '\0';
    snprintf(expected, sizeof(expected), "%.*g", precision, value);
    assert_string_equal(text, expected);
}

static void assert_parsed(const char *text) {
    double value, expected;
    char *expected_end;
    expected = strtod(text, &expected_end);
    const char *end = cjson_parse_number(slice_of_cstr(text), &value);
    assert_ptr_equal(end, expected_end == text ? NULL : expected_end);
    if (end != NULL && !isnan(expected)) assert_memory_equal(&value, &expected, sizeof(value));
}

static double random_double(struct random *random) {
    double integer = (double)(int64_t)(random_next(random) >> random_below(random, 64));
    switch (random_below(random, 4)) {
    case 0: return integer;
    case 1: return integer / pow(10, (double)random_below(random, 12));
    case 2: return -integer / (double)(1ull << random_below(random, 40));
    default: return ldexp(integer, (int)random_below(random, 2000) - 1030);
    }
}

static void numbers_are_those_of_printf_and_strtod(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    for (int i = 0; i < 300000; i++) {
        double value = random_double(&random);
        assert_formatted(value, 14);
        assert_formatted(value, 1 + (int)random_below(&random, 14));
        char text[400];
        int places = (int)random_below(&random, 20);
        snprintf(text, sizeof(text), random_below(&random, 2) ? "%.*f," : "%.*e,", places, value);
        assert_parsed(text);
        snprintf(text, sizeof(text), "%.*g,", places, value);
        assert_parsed(text);
    }
    static const double edges[] = {0.0,
                                   -0.0,
                                   1e14,
                                   99999999999999,
                                   1e-4,
                                   9.9999e-5,
                                   0.5,
                                   1e9,
                                   1e300,
                                   5e-324,
                                   INFINITY,
                                   -INFINITY,
                                   1e13 + 0.5,
                                   0.1,
                                   0.7,
                                   1e-7,
                                   999999999.9999999};
    for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
        for (int precision = 1; precision <= CJSON_PRECISION_MAX; precision++) {
            assert_formatted(edges[i], precision);
        }
    }
    static const char *const texts[] = {
        "",    "-",  "+",  "1.",  "-.5", ".5",   "0x1f",   "-0x",   "1e",
        "1e+", " 1", "-0", "00.", "inf", "-nan", "nan(1)", "1.5.5", "000000000000000000000001"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        double value;
        if (texts[i][0] == ' ')
            assert_null(cjson_parse_number(slice_of_cstr(texts[i]), &value));
        else
            assert_parsed(texts[i]);
    }
}

static void settings_end_with_their_script(void **state) {
    assert_script(*state,
                  "cjson.encode_sparse_array(true, 3, 4) cjson.encode_max_depth(5) "
                  "cjson.decode_max_depth(6) cjson.encode_number_precision(7) "
                  "cjson.encode_keep_buffer(false) cjson.encode_invalid_numbers('null') "
                  "cjson.decode_invalid_numbers(false) cjson.decode_array_with_array_mt(true) "
                  "return cjson.encode({0/0, 1/3}), cjson.encode(cjson.decode('[]'))",
                  "[null,0.3333333],[]");
    static const char DEFAULTS[] =
        "local convert, ratio, safe = cjson.encode_sparse_array() "
        "return convert, ratio, safe, cjson.encode_max_depth(), cjson.decode_max_depth(), "
        "cjson.encode_number_precision(), cjson.encode_keep_buffer(), "
        "cjson.encode_invalid_numbers(), cjson.decode_invalid_numbers(), "
        "cjson.decode_array_with_array_mt()";
    static const char EXPECTED[] = "false,2,10,1000,1000,14,true,false,true,false";
    assert_script(*state, DEFAULTS, EXPECTED);
    assert_script(*state, "cjson.encode_max_depth(1) error('x')", "error: user_script:1: x");
    assert_script(*state, DEFAULTS, EXPECTED);
}

static void an_instance_has_settings_of_its_own(void **state) {
    assert_script(
        *state,
        "local own = cjson.new() own.encode_number_precision(2) own.extra = 1 "
        "return own.encode(1 / 3), cjson.encode(1 / 3), own.null == cjson.null, own.extra",
        "0.33,0.33333333333333,true,1");
}

static void arrays_are_marked_when_that_is_set(void **state) {
    assert_script(*state,
                  "local was = cjson.decode_array_with_array_mt() "
                  "cjson.decode_array_with_array_mt(true) "
                  "local t = cjson.decode('{\"a\":[],\"b\":{},\"c\":[[],1]}') "
                  "local text = cjson.encode(t.a) .. cjson.encode(t.b) .. cjson.encode(t.c) "
                  "table.remove(t.c) table.remove(t.c) t.a.x = 1 "
                  "return was, text, cjson.encode(t.c), cjson.encode(t.a), getmetatable(t.b), "
                  "getmetatable(t.a).__is_cjson_array",
                  "false,[]{}[[],1],[],{\"x\":1},nil,true");
    assert_script(*state, "return getmetatable(cjson.decode('[]'))", "nil");
}

/* --- Bounds --- */

static void what_is_too_large_is_an_error(void **state) {
    static const char *const scripts[] = {
        /* Six times as long as escapes. */
        "return cjson.encode(string.rep('\\0', 8e6))",
        "return cjson.encode({string.rep('/', 12e6), string.rep('/', 12e6)})",
        /* Two thousand million nulls. */
        "cjson.encode_sparse_array(false, 0) return cjson.encode({[2147483647] = 1})",
        /* Each table ten times in the next one. */
        ("local t = {'x'} for i = 1, 12 do t = {t, t, t, t, t, t, t, t, t, t} end "
         "return cjson.encode(t)"),
        "return #cjson.decode('[' .. string.rep('1,', 4e6) .. '1]')",
    };
    assert_outcomes(*state, &library, scripts, COUNT_OF(scripts), "error: not enough memory");
}

static void depth_is_bounded_whatever_is_set(void **state) {
    static const char *const decoded[] = {
        "cjson.decode_max_depth(2147483647) cjson.decode(string.rep('[', 1e6))",
        "cjson.decode_max_depth(2147483647) cjson.decode(string.rep('{\"\":', 1e6))",
        ("cjson.decode_max_depth(2147483647) cjson.decode_array_with_array_mt(true) "
         "cjson.decode(string.rep('[', 1e6))"),
    };
    static const char *const encoded[] = {
        "cjson.encode_max_depth(2147483647) local t = {} t[1] = t cjson.encode(t)",
        "cjson.encode_max_depth(2147483647) local t = {} t.t = t cjson.encode(t)",
        "local a, b = {}, {} a[1] = b b[1] = a cjson.encode(a)",
    };
    assert_outcomes(*state, &library, decoded, COUNT_OF(decoded), "nested data structures");
    assert_outcomes(*state, &library, encoded, COUNT_OF(encoded), "excessive nesting");
}

static void the_watch_ends_what_takes_long(void **state) {
    static const char *const scripts[] = {
        /* Tables that are nearly empty but take long to look through, each many times. */
        "local t = {} for i = 1, 1e4 do t['x' .. i] = 1 end "
        "for i = 1, 1e4 do t['x' .. i] = nil end "
        "local all = {} for i = 1, 2e4 do all[i] = t end "
        "while true do cjson.encode(all) end",
        "local t = '[' .. string.rep('[],', 1e5) .. '1]' while true do cjson.decode(t) end",
        ("local t = cjson.decode('[' .. string.rep('[],', 1e4) .. '1]') "
         "while true do cjson.encode(t) end"),
        "local t = '\"' .. string.rep('x', 1e6) .. '\"' while true do cjson.decode(t) end",
        "local t = string.rep('x', 1e6) while true do cjson.encode(t) end",
    };
    assert_ended_outcomes(*state, &library, scripts, COUNT_OF(scripts));
}

/* Memory ends at every place in turn. */
static void a_failing_allocation_leaks_nothing(void **state) {
    static const char SCRIPT[] =
        "cjson.decode_array_with_array_mt(true) "
        "local t = cjson.decode('{\"a\":[1,2,[\"' .. string.rep('\\\\u0041/', 900) .. '\"]]}') "
        "return #cjson.encode({t, t, t, t, t})";
    assert_allocations_may_fail(*state, &library, SCRIPT, "13586");
}

/* The codec looks at eight bytes of a string at a time. */
static void each_byte_is_escaped_wherever_it_stands(void **state) {
    assert_script(*state,
                  "for byte = 0, 255 do "
                  "  local char = string.char(byte) "
                  "  local escaped = cjson.encode(char):sub(2, -2) "
                  "  for _, fill in ipairs({'!', '\\255'}) do "
                  "    for len = 1, 17 do for at = 0, len - 1 do "
                  "      local before, behind = fill:rep(at), fill:rep(len - 1 - at) "
                  "      local text = cjson.encode(before .. char .. behind) "
                  "      local back = cjson.decode('[' .. text .. ']')[1] "
                  "      if text ~= '\"' .. before .. escaped .. behind .. '\"' or "
                  "         back ~= before .. char .. behind then return byte, len, at end "
                  "    end end "
                  "  end "
                  "end return 'all'",
                  "all");
}

static void long_texts_come_out_whole(void **state) {
    assert_script(*state,
                  "local s = {} for i = 1, 5000 do s[i] = 'a/\\n' .. i end "
                  "local text = cjson.encode(s) local back = cjson.decode(text) "
                  "for i = 1, 5000 do if back[i] ~= s[i] then return i end end return #text",
                  "58894");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        script_test(expressions_have_the_values_that_redis_gives),
        cmocka_unit_test(numbers_are_those_of_printf_and_strtod),
        script_test(settings_end_with_their_script),
        script_test(an_instance_has_settings_of_its_own),
        script_test(arrays_are_marked_when_that_is_set),
        script_test(what_is_too_large_is_an_error),
        script_test(depth_is_bounded_whatever_is_set),
        script_test(the_watch_ends_what_takes_long),
        script_test(a_failing_allocation_leaks_nothing),
        script_test(each_byte_is_escaped_wherever_it_stands),
        script_test(long_texts_come_out_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
