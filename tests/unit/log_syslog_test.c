/* Lines for the system's logger: the C library's functions are replaced by ones that note what they
 * get. */
#include "base/log/log.h"
#include "base/log/log_syslog.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* As <syslog.h> has them, whose names for levels are those of base/log/log.h. */
enum { PRIORITY_WARNING = 4, PRIORITY_NOTICE = 5, PRIORITY_INFO = 6, PRIORITY_DEBUG = 7 };
enum { USER = 1 << 3, LOCAL0 = 16 << 3, LOCAL7 = 23 << 3 };

void openlog(const char *ident, int options, int facility);
void syslog(int priority, const char *format, ...);

static struct {
    const char *ident;
    int facility;
    int priority;
    int lines;
    char text[LOG_TEXT_MAX + 2];
} noted;

void openlog(const char *ident, int options, int facility) {
    (void)options;
    noted.ident = ident;
    noted.facility = facility;
}

void syslog(int priority, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(noted.text, sizeof(noted.text), format, args);
    va_end(args);
    noted.priority = priority;
    noted.lines++;
}

static int start(void **state) {
    (void)state;
    memset(&noted, 0, sizeof(noted));
    log_set_level(LOG_DEBUG);
    return log_set_file("/dev/null") ? 0 : -1;
}

/* First: it cannot be undone. */
static void without_it_nothing_is_sent(void **state) {
    (void)state;
    log_warning("a text");
    assert_int_equal(noted.lines, 0);
}

static void facilities_are_those_of_the_system(void **state) {
    (void)state;
    static const int facilities[][2] = {{0, LOCAL0}, {7, LOCAL7}, {LOG_FACILITY_USER, USER}};
    for (int i = 0; i < 3; i++) {
        log_set_syslog("me", facilities[i][0]);
        assert_string_equal(noted.ident, "me");
        assert_int_equal(noted.facility, facilities[i][1]);
    }
}

static void a_line_is_sent_as_it_stands_with_its_level(void **state) {
    (void)state;
    static const int priorities[] = {PRIORITY_DEBUG, PRIORITY_INFO, PRIORITY_NOTICE,
                                     PRIORITY_WARNING};
    for (int level = LOG_DEBUG; level <= LOG_WARNING; level++) {
        log_write((enum log_level)level, "100%% of level %d\n", level);
        assert_int_equal(noted.priority, priorities[level]);
        char text[32];
        snprintf(text, sizeof(text), "100%% of level %d?", level);
        assert_string_equal(noted.text, text);
    }
    assert_int_equal(noted.lines, 4);
}

static void lines_below_the_level_are_not_sent(void **state) {
    (void)state;
    log_set_level(LOG_WARNING);
    log_notice("a text");
    assert_int_equal(noted.lines, 0);
}

static void a_long_line_is_cut(void **state) {
    (void)state;
    char text[2 * LOG_TEXT_MAX];
    memset(text, 'x', sizeof(text));
    log_warning("%.*s", (int)sizeof(text), text);
    assert_int_equal(strlen(noted.text), LOG_TEXT_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(without_it_nothing_is_sent, start),
        cmocka_unit_test_setup(facilities_are_those_of_the_system, start),
        cmocka_unit_test_setup(a_line_is_sent_as_it_stands_with_its_level, start),
        cmocka_unit_test_setup(lines_below_the_level_are_not_sent, start),
        cmocka_unit_test_setup(a_long_line_is_cut, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
