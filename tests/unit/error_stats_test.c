/* error_stats: errors are counted by their code. */
#include "stats/stats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void count(struct error_stats *stats, const char *text) {
    error_stats_count(stats, slice_of_cstr(text));
}

static void errors_are_counted_by_their_first_word(void **state) {
    (void)state;
    static struct error_stats stats;
    count(&stats, "ERR no such key\r\n");
    count(&stats, "WRONGTYPE Operation\r\n");
    count(&stats, "ERR syntax error\r\n");
    assert_int_equal(stats.count, 2);
    assert_string_equal(stats.codes[0].name, "ERR");
    assert_int_equal(stats.codes[0].count, 2);
    assert_string_equal(stats.codes[1].name, "WRONGTYPE");
    assert_int_equal(stats.codes[1].count, 1);
}

static void an_error_without_a_space_is_of_the_code_err(void **state) {
    (void)state;
    static struct error_stats stats;
    count(&stats, "BUSY\r\n");
    count(&stats, "\r\n");
    count(&stats, " text\r\n");
    assert_int_equal(stats.count, 2);
    assert_string_equal(stats.codes[0].name, "ERR");
    assert_int_equal(stats.codes[0].count, 2);
    assert_string_equal(stats.codes[1].name, "");
}

static void what_is_special_in_info_becomes_an_underscore(void **state) {
    (void)state;
    static struct error_stats stats;
    count(&stats, "A:B#C\rD\nE x");
    count(&stats, "A_B_C_D_E x");
    assert_int_equal(stats.count, 1);
    assert_string_equal(stats.codes[0].name, "A_B_C_D_E");
    assert_int_equal(stats.codes[0].count, 2);
}

static void a_code_is_a_code_only_as_a_whole(void **state) {
    (void)state;
    static struct error_stats stats;
    count(&stats, "ERR x\r\n");
    count(&stats, "ERRO x\r\n");
    count(&stats, "ER x\r\n");
    assert_int_equal(stats.count, 3);
}

static void codes_that_are_too_long_are_err(void **state) {
    (void)state;
    static struct error_stats stats;
    count(&stats, "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJ text\r\n");
    count(&stats, "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDE text\r\n");
    count(&stats, "ABCDEFGHIJKLMNOPQRSTUVWXYZABCD text\r\n");
    assert_int_equal(stats.count, 2);
    assert_string_equal(stats.codes[0].name, "ERR");
    assert_int_equal(stats.codes[0].count, 2);
    assert_string_equal(stats.codes[1].name, "ABCDEFGHIJKLMNOPQRSTUVWXYZABCD");
}

static void made_up_codes_do_not_take_more_and_more_memory(void **state) {
    (void)state;
    static struct error_stats stats;
    char reply[32];
    for (int i = 0; i < 10 * ERROR_CODES_MAX; i++) {
        snprintf(reply, sizeof(reply), "CODE%d x\r\n", i);
        count(&stats, reply);
    }
    assert_int_equal(stats.count, ERROR_CODES_MAX);
    count(&stats, "CODE0 x\r\n");
    assert_int_equal(stats.codes[0].count, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_counted_by_their_first_word),
        cmocka_unit_test(an_error_without_a_space_is_of_the_code_err),
        cmocka_unit_test(what_is_special_in_info_becomes_an_underscore),
        cmocka_unit_test(a_code_is_a_code_only_as_a_whole),
        cmocka_unit_test(codes_that_are_too_long_are_err),
        cmocka_unit_test(made_up_codes_do_not_take_more_and_more_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
