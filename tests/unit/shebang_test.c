/* The first line of a script: its flags, and what is wrong with it. */
#include "script/shebang.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_line(struct slice text, uint32_t flags, size_t size) {
    struct shebang shebang;
    sds error = shebang_read(text, &shebang);
    if (error) print_error("%s: %s\n", text.ptr, error);
    assert_null(error);
    assert_int_equal(shebang.flags, flags);
    assert_int_equal(shebang.size, size);
}

static void assert_bad(struct slice text, const char *expected) {
    struct shebang shebang;
    sds error = shebang_read(text, &shebang);
    assert_non_null(error);
    assert_string_equal(error, expected);
    sds_free(error);
}

static void a_script_without_such_a_line_may_do_anything(void **state) {
    (void)state;
    assert_line(SLICE(""), SCRIPT_IS_UNDECLARED, 0);
    assert_line(SLICE("return 1"), SCRIPT_IS_UNDECLARED, 0);
    assert_line(SLICE("#"), SCRIPT_IS_UNDECLARED, 0);
    assert_line(SLICE("# !lua\n"), SCRIPT_IS_UNDECLARED, 0);
    assert_line(SLICE(" #!lua\n"), SCRIPT_IS_UNDECLARED, 0);
    assert_line(SLICE("\n#!lua\n"), SCRIPT_IS_UNDECLARED, 0);
    assert_line(slice_make(NULL, 0), SCRIPT_IS_UNDECLARED, 0);
}

static void flags_add_up(void **state) {
    (void)state;
    assert_line(SLICE("#!lua\nreturn 1"), 0, 5);
    assert_line(SLICE("#!lua\n"), 0, 5);
    assert_line(SLICE("#!lua \t\r\n"), 0, 8);
    assert_line(SLICE("#!lua flags=\n"), 0, 12);
    assert_line(SLICE("#!lua flags=no-writes\n"), SCRIPT_NO_WRITES, 21);
    assert_line(SLICE("#!lua flags=no-writes\r\n"), SCRIPT_NO_WRITES, 22);
    assert_line(SLICE("#!lua flags=allow-oom,no-writes\n"), SCRIPT_NO_WRITES | SCRIPT_ALLOW_OOM,
                31);
    assert_line(SLICE("#!lua  flags=allow-stale   flags=no-cluster\n"),
                SCRIPT_ALLOW_STALE | SCRIPT_NO_CLUSTER, 43);
    assert_line(SLICE("#!lua \"flags=no-writes\"\n"), SCRIPT_NO_WRITES, 23);
    assert_line(SLICE("#!lua flags='no-writes'\n"), SCRIPT_NO_WRITES, 23);
    assert_line(SLICE("#!\"lua\" flags=\"\\x6eo-writes\"\n"), SCRIPT_NO_WRITES, 28);
    assert_line(SLICE("#!lua flags=no-cluster,no-cluster,allow-cross-slot-keys\n"),
                SCRIPT_NO_CLUSTER | SCRIPT_ALLOW_CROSS_SLOT_KEYS, 55);
}

static void every_flag_has_its_name(void **state) {
    (void)state;
    assert_int_equal(SCRIPT_FLAG_COUNT, 5);
    for (int i = 0; i < SCRIPT_FLAG_COUNT; i++)
        assert_int_equal(script_flag_of(slice_of_cstr(script_flag_names[i]), false), 1 << i);
    assert_int_equal(script_flag_of(SLICE("allow-cross-slot-keys"), false),
                     SCRIPT_ALLOW_CROSS_SLOT_KEYS);
    assert_int_equal(script_flag_of(SLICE("No-Writes"), false), 0);
    assert_int_equal(script_flag_of(SLICE("No-Writes"), true), SCRIPT_NO_WRITES);
    assert_int_equal(script_flag_of(SLICE("no-write"), true), 0);
    assert_int_equal(script_flag_of(SLICE(""), true), 0);
}

static void a_bad_line_is_an_error(void **state) {
    (void)state;
    assert_bad(SLICE("#!lua"), "ERR Invalid script shebang");
    assert_bad(SLICE("#!lua flags=no-writes"), "ERR Invalid script shebang");
    assert_bad(SLICE("#!lua\0\n"), "ERR Invalid script shebang");
    assert_bad(SLICE("#!lua\vflags=no-writes\n"),
               "ERR Unexpected engine in script shebang: #!lua\vflags=no-writes");
    assert_bad(SLICE("#!lua \"flags=no-writes\n"), "ERR Invalid engine in script shebang");
    assert_bad(SLICE("#!lua 'flags=no-writes'x\n"), "ERR Invalid engine in script shebang");
    assert_bad(SLICE("#!Lua\n"), "ERR Unexpected engine in script shebang: #!Lua");
    assert_bad(SLICE("#!luaflags=\n"), "ERR Unexpected engine in script shebang: #!luaflags=");
    assert_bad(SLICE("#! lua\n"), "ERR Unexpected engine in script shebang: #!");
    assert_bad(SLICE("#!lua name=x\n"), "ERR Unknown lua shebang option: name=x");
    assert_bad(SLICE("#!lua flags\n"), "ERR Unknown lua shebang option: flags");
    assert_bad(SLICE("#!lua FLAGS=no-writes\n"), "ERR Unknown lua shebang option: FLAGS=no-writes");
    assert_bad(SLICE("#!lua flags=x\n"), "ERR Unexpected flag in script shebang: x");
    assert_bad(SLICE("#!lua flags=no-writes,\n"), "ERR Unexpected flag in script shebang: ");
    assert_bad(SLICE("#!lua flags=,no-writes\n"), "ERR Unexpected flag in script shebang: ");
    assert_bad(SLICE("#!lua flags=no-writes, allow-oom\n"),
               "ERR Unexpected flag in script shebang: ");
    assert_bad(SLICE("#!lua flags=no-writes allow-oom\n"),
               "ERR Unknown lua shebang option: allow-oom");
}

/* Every beginning of a line, which stands before memory that must not be read, and every byte in
 * the place of another one. */
static void any_line_is_read_or_refused(void **state) {
    (void)state;
    static const char line[] = "#!lua flags=no-writes,allow-oom\n";
    enum { LEN = sizeof(line) - 1 };
    for (size_t len = 0; len <= LEN; len++) {
        for (int byte = 0; byte < 256; byte++) {
            char *text = malloc(LEN);
            memcpy(text + LEN - len, line, len);
            if (len > 0) text[LEN - 1 - (size_t)byte % len] = (char)byte;
            struct shebang shebang;
            sds error = shebang_read(slice_make(text + LEN - len, len), &shebang);
            assert_true(error || shebang.size < LEN);
            sds_free(error);
            free(text);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_script_without_such_a_line_may_do_anything),
        cmocka_unit_test(flags_add_up),
        cmocka_unit_test(every_flag_has_its_name),
        cmocka_unit_test(a_bad_line_is_an_error),
        cmocka_unit_test(any_line_is_read_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
