#include "base/slice.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void equality_looks_at_all_bytes(void **state) {
    (void)state;
    assert_true(slice_equal(SLICE("a\0b"), SLICE("a\0b")));
    assert_false(slice_equal(SLICE("a\0b"), SLICE("a\0c")));
    assert_false(slice_equal(SLICE("a"), SLICE("ab")));
    assert_true(slice_equal(slice_make(NULL, 0), SLICE("")));
    assert_true(slice_equal_nocase(SLICE("Left\0X"), SLICE("lEFT\0x")));
    assert_false(slice_equal_nocase(SLICE("left\0x"), SLICE("left\0y")));
    assert_false(slice_equal_nocase(SLICE("@[`{"), SLICE("`{@["))); /* 32 apart, but no letters */
    assert_true(slice_is(SLICE("wItHsCoReS"), "withscores"));
    assert_false(slice_is(SLICE("withscore"), "withscores"));
    assert_true(slice_is(slice_make(NULL, 0), ""));
}

static void begins_looks_at_the_first_bytes_alone(void **state) {
    (void)state;
    assert_true(slice_begins(SLICE("REDIS0010"), SLICE("REDIS")));
    assert_true(slice_begins(SLICE("REDIS"), SLICE("REDIS")));
    assert_true(slice_begins(SLICE("a"), SLICE("")));
    assert_true(slice_begins(slice_make(NULL, 0), SLICE("")));
    assert_false(slice_begins(SLICE("REDI"), SLICE("REDIS")));
    assert_false(slice_begins(SLICE("xREDIS"), SLICE("REDIS")));
    assert_false(slice_begins(slice_make(NULL, 0), SLICE("REDIS")));
}

static void ends_looks_at_the_last_bytes_alone(void **state) {
    (void)state;
    assert_true(slice_ends(SLICE("a.rdb"), SLICE(".rdb")));
    assert_true(slice_ends(SLICE(".rdb"), SLICE(".rdb")));
    assert_true(slice_ends(SLICE("a"), SLICE("")));
    assert_true(slice_ends(slice_make(NULL, 0), SLICE("")));
    assert_false(slice_ends(SLICE("rdb"), SLICE(".rdb")));
    assert_false(slice_ends(SLICE("a.rdb.old"), SLICE(".rdb")));
    assert_false(slice_ends(slice_make(NULL, 0), SLICE(".rdb")));
}

static void copy_moves_exactly_the_bytes_of_every_length(void **state) {
    (void)state;
    char from[64], to[64];
    for (int i = 0; i < 64; i++) from[i] = (char)(i + 1);
    for (size_t len = 0; len <= 40; len++) {
        memset(to, 0, sizeof(to));
        slice_copy(to + 8, slice_make(from, len));
        for (size_t i = 0; i < sizeof(to); i++) {
            assert_int_equal(to[i], i >= 8 && i < 8 + len ? from[i - 8] : 0);
        }
    }
    slice_copy(to, slice_make(NULL, 0));
}

static void end_is_one_past_the_last_byte(void **state) {
    (void)state;
    const char *text = "text";
    assert_ptr_equal(slice_end(slice_of_cstr(text)), text + 4);
    assert_null(slice_end(slice_make(NULL, 0)));
}

static void precision_is_never_negative(void **state) {
    (void)state;
    assert_int_equal(slice_precision(SLICE("")), 0);
    assert_int_equal(slice_precision(SLICE("text")), 4);
    assert_int_equal(slice_precision(slice_make("", (size_t)INT_MAX + 1)), INT_MAX / 2);
    assert_int_equal(slice_precision(slice_make("", (size_t)UINT_MAX + 5)), INT_MAX / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equality_looks_at_all_bytes),
        cmocka_unit_test(begins_looks_at_the_first_bytes_alone),
        cmocka_unit_test(ends_looks_at_the_last_bytes_alone),
        cmocka_unit_test(copy_moves_exactly_the_bytes_of_every_length),
        cmocka_unit_test(end_is_one_past_the_last_byte),
        cmocka_unit_test(precision_is_never_negative),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
