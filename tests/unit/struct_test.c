/* struct as scripts see it: what Redis makes, but for signed integers of more than 8 bytes, of which
 * it reads only some right; and bounded, whatever sizes, offsets and alignments are asked for. */
#include "unit/library_fixture.h"
#include "unit/struct_facts.h"

static const struct library library = {"return struct.unpack('>Hs', struct.pack('>Hs', 513, 'a'))",
                                       "513,a,5"};

static void expressions_have_the_values_that_redis_gives(void **state) {
    assert_facts(*state, struct_facts);
}

static void integers_of_every_size_come_back(void **state) {
    assert_script(*state,
                  "local n = 0 "
                  "for size = 1, 32 do for _, order in ipairs({'<', '>'}) do "
                  "for bits = 0, math.min(size * 8 - 2, 52) do for _, sign in ipairs({-1, 1}) do "
                  "local format, value = order .. 'i' .. size, sign * (2 ^ bits) "
                  "if sign == 1 or size <= 8 then "
                  "local back, at = struct.unpack(format, struct.pack(format, value)) "
                  "if back ~= value or at ~= size + 1 then return format, value, back end "
                  "n = n + 1 end end end end end return n",
                  "3616");
}

static void sizes_are_those_of_what_is_packed(void **state) {
    assert_script(
        *state,
        "local options = {'b', 'H', 'i3', 'I', 'l', 'T', 'f', 'd', 'i16', 'x', '!2', '!8', '>'} "
        "for _, a in ipairs(options) do for _, b in ipairs(options) do "
        "for _, c in ipairs(options) do "
        "local format = '!4' .. a .. b .. c "
        "if struct.size(format) ~= #struct.pack(format, 1, 2, 3) then return format end "
        "end end end return true",
        "true");
}

/* --- Bounds --- */

/* Numbers that wrap around where sizes or offsets are 32 or 64 bits wide. */
static const char *const huge[] = {"0",    "-1",   "-2^31",  "-2^63", "2^31-1",
                                   "2^31", "2^32", "2^32+1", "2^53",  "2^63-512",
                                   "2^63", "2^64", "1e300",  "1/0",   "-1e300"};

static void offsets_never_lead_outside_the_data(void **state) {
    static const char *const formats[] = {"b",   "c1",  "c0", "Bc0",    "s",  "I",
                                          "!8d", "i32", "x",  "!16i16", " b", "c2147483647"};
    for (size_t f = 0; f < sizeof(formats) / sizeof(formats[0]); f++) {
        for (size_t i = 0; i < sizeof(huge) / sizeof(huge[0]); i++) {
            char script[200];
            snprintf(script, sizeof(script),
                     "return (pcall(struct.unpack, '%s', '\\1\\1\\1\\1', %s))", formats[f],
                     huge[i]);
            assert_script(*state, script, "false");
        }
    }
    assert_library_works(*state, &library);
}

static void sizes_in_the_data_never_lead_outside_it(void **state) {
    /* What remains when a number is 2^64 or more is 0. */
    for (size_t i = 0; i < sizeof(huge) / sizeof(huge[0]); i++) {
        char script[200];
        snprintf(script, sizeof(script),
                 "local ok, text = pcall(struct.unpack, 'dc0', struct.pack('d', %s) .. 'abc') "
                 "return not ok or text",
                 huge[i]);
        const char *outcome = script_run(*state, script);
        assert_true(strcmp(outcome, "true") == 0 || strcmp(outcome, "") == 0);
    }
    assert_library_works(*state, &library);
}

static void numbers_in_formats_are_bounded(void **state) {
    static const char *const numbers[] = {
        "2147483648",           "4294967296",
        "4294967297",           "18446744073709551616",
        "18446744073709551617", "99999999999999999999999999999999999999999999"};
    static const char *const functions[] = {"pack", "unpack", "size"};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        for (const char *option = "iIc!"; *option != '\0'; option++) {
            for (size_t f = 0; f < 3; f++) {
                char script[200];
                snprintf(script, sizeof(script), "return struct.%s('%c%s', 'abc')", functions[f],
                         *option, numbers[i]);
                assert_script(*state, script, "error: user_script:1: integral size overflow");
            }
        }
    }
    assert_library_works(*state, &library);
}

static void what_is_too_large_is_an_error(void **state) {
    static const char *const scripts[] = {
        "local s = string.rep('x', 5e6) return #struct.pack('c0c0c0c0c0c0', s, s, s, s, s, s)",
        "return #struct.pack(string.rep('x', 12e6))",
    };
    assert_outcomes(*state, &library, scripts, COUNT_OF(scripts), "error: not enough memory");
    assert_script(*state, "return struct.unpack(string.rep('b', 1e6), string.rep('a', 1e6))",
                  "error: user_script:1: stack overflow (too many results)");
    assert_library_works(*state, &library);
}

static void the_watch_ends_what_takes_long(void **state) {
    static const char *const scripts[] = {
        "local f = string.rep(' ', 1e6) while true do struct.size(f) end",
        "local f = string.rep('x', 1e6) while true do struct.pack(f) end",
        "local f = string.rep('x', 1e6) while true do struct.unpack(f, f) end",
        "local s = string.rep('x', 1e6) while true do struct.pack('s', s) end",
        "local s = string.rep('x', 1e6) .. '\\0' while true do struct.unpack('s', s) end",
    };
    assert_ended_outcomes(*state, &library, scripts, COUNT_OF(scripts));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        script_test(expressions_have_the_values_that_redis_gives),
        script_test(integers_of_every_size_come_back),
        script_test(sizes_are_those_of_what_is_packed),
        script_test(offsets_never_lead_outside_the_data),
        script_test(sizes_in_the_data_never_lead_outside_it),
        script_test(numbers_in_formats_are_bounded),
        script_test(what_is_too_large_is_an_error),
        script_test(the_watch_ends_what_takes_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
