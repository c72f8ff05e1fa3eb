/* Lists of processors. */
#include "base/text/cpu_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Returns the processors of the list, as text; NULL: it is malformed. */
static const char *parsed(const char *list) {
    static char text[200];
    bool is_in[CPU_LIST_MAX];
    size_t len = 0;
    text[0] = 0;
    if (!cpu_list_parse(slice_of_cstr(list), is_in)) return NULL;
    for (int i = 0; i < CPU_LIST_MAX; i++)
        if (is_in[i]) len += (size_t)snprintf(text + len, sizeof(text) - len, " %d", i);
    return text;
}

static void lists_name_processors(void **state) {
    (void)state;
    assert_string_equal(parsed(""), "");
    assert_string_equal(parsed("0"), " 0");
    assert_string_equal(parsed("1023"), " 1023");
    assert_string_equal(parsed("3,1"), " 1 3");
    assert_string_equal(parsed("2-5,4-6"), " 2 3 4 5 6");
    assert_string_equal(parsed("7-7"), " 7");
    assert_string_equal(parsed("8-15:2,0"), " 0 8 10 12 14");
    assert_string_equal(parsed("1-9:100"), " 1");
}

static void malformed_lists_are_refused(void **state) {
    (void)state;
    static const char *const lists[] = {",",    "0,",    ",0",  "a",    "0-",    "-1",
                                        "2-1",  "0-1-2", "0:2", "0-2:", "0-2:0", "0-2:a",
                                        "1024", "0 1",   " 0",  "0,,1"};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) assert_null(parsed(lists[i]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_name_processors),
        cmocka_unit_test(malformed_lists_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
