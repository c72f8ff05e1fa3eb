/* function_code: the first line of a library is parsed, with the errors of Redis. */
#include "persist/function_code.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void assert_parsed(const char *code, const char *engine, const char *name,
                          const char *body) {
    struct function_code parsed;
    sds error = NULL;
    assert_true(function_code_parse(&parsed, slice_of_cstr(code), &error));
    assert_null(error);
    assert_string_equal(parsed.engine, engine);
    assert_string_equal(parsed.name, name);
    assert_true(slice_equal(parsed.body, slice_of_cstr(body)));
    function_code_free(&parsed);
}

static void assert_error(struct slice code, const char *expected) {
    struct function_code parsed;
    sds error = NULL;
    assert_false(function_code_parse(&parsed, code, &error));
    assert_string_equal(error, expected);
    sds_free(error);
}

static void the_first_line_names_engine_and_library(void **state) {
    (void)state;
    assert_parsed("#!lua name=mylib\nreturn 1", "lua", "mylib", "\nreturn 1");
    assert_parsed("#!LuA \t \"name=a_1\" \n", "LuA", "a_1", "\n");
    assert_parsed("#!lua NAME=x\r\n\n", "lua", "x", "\n\n");
    assert_parsed("#! name=x\n", "", "x", "\n");
}

static void a_bad_first_line_is_an_error(void **state) {
    (void)state;
    static const char bad_name[] = FUNCTION_NAME_ERROR;
    assert_error(SLICE(""), "Missing library metadata");
    assert_error(SLICE("#"), "Missing library metadata");
    assert_error(SLICE(" #!lua name=x\n"), "Missing library metadata");
    assert_error(SLICE("#!lua name=x"), "Invalid library metadata");
    assert_error(SLICE("#!lua \"name=x\n"), "Invalid library metadata");
    assert_error(SLICE("#!lua name=x 'y\n"), "Invalid library metadata");
    assert_error(SLICE("#!\n"), "Library name was not given");
    assert_error(SLICE("#!lua\n"), "Library name was not given");
    assert_error(SLICE("#!lua name=a name=b\n"),
                 "Invalid metadata value, name argument was given multiple times");
    assert_error(SLICE("#!lua name=a flags=x\n"), "Invalid metadata value given: flags=x");
    assert_error(SLICE("#!lua nam\n"), "Invalid metadata value given: nam");
    assert_error(SLICE("#!lua name=\n"), bad_name);
    assert_error(SLICE("#!lua name=a-b\n"), bad_name);
    assert_error(SLICE("#!lua name=a\0b\n"), bad_name);
}

static void names_are_letters_digits_and_underscores(void **state) {
    (void)state;
    assert_true(function_name_is_valid(SLICE("azAZ09_")));
    assert_false(function_name_is_valid(SLICE("")));
    for (int c = 0; c < 256; c++) {
        char text[] = {'a', (char)c};
        bool good =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        assert_int_equal(function_name_is_valid(slice_make(text, 2)), good);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_line_names_engine_and_library),
        cmocka_unit_test(a_bad_first_line_is_an_error),
        cmocka_unit_test(names_are_letters_digits_and_underscores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
