#include "base/log/log.h"
#include "base/log/log_format.h"
#include "unit/in_range.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[64], path[96];

static int make_directory(void **state) {
    (void)state;
    snprintf(directory, sizeof(directory), "/tmp/packlist-log-test-XXXXXX");
    if (mkdtemp(directory) == NULL) return -1;
    snprintf(path, sizeof(path), "%s/server.log", directory);
    return log_set_file(path) ? 0 : -1;
}

static int remove_directory(void **state) {
    (void)state;
    unlink(path);
    return rmdir(directory);
}

static int start_empty(void **state) {
    (void)state;
    log_set_level(LOG_NOTICE);
    return truncate(path, 0);
}

/* The whole log; the returned text is overwritten by the next call. */
static char *read_log(void) {
    static char text[8192];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void lines_look_as_log_readers_expect(void **state) {
    (void)state;
    log_warning("a %s of %d", "text", 42);
    int pid, day, year, hour, minute, second, ms, end = 0;
    char role, month[4], mark;
    char *text = read_log();
    assert_int_equal(sscanf(text, "%d:%c %2d %3s %4d %2d:%2d:%2d.%3d %c a text of 42\n%n", &pid,
                            &role, &day, month, &year, &hour, &minute, &second, &ms, &mark, &end),
                     10);
    assert_int_equal(end, strlen(text));
    assert_int_equal(pid, getpid());
    assert_int_equal(role, 'M');
    assert_int_equal(mark, '#');
    struct timespec now;
    struct tm local;
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &local);
    assert_uint_in_range(year, local.tm_year + 1899, local.tm_year + 1900);
    assert_int_equal(strchr(text, '#') - strchr(text, ' '), strlen(" 01 Jan 2025 01:02:03.004 "));
}

static void lines_below_the_level_are_dropped(void **state) {
    (void)state;
    static const char marks[] = ".-*#";
    for (int level = LOG_DEBUG; level <= LOG_NOTHING; level++) {
        assert_int_equal(truncate(path, 0), 0);
        log_set_level((enum log_level)level);
        log_debug("line");
        log_verbose("line");
        log_notice("line");
        log_warning("line");
        log_write(LOG_NOTHING, "line");
        char *line = read_log();
        for (int written = level; written < LOG_NOTHING; written++) {
            assert_int_equal(strstr(line, " line\n")[-1], marks[written]);
            line = strchr(line, '\n') + 1;
        }
        assert_string_equal(line, "");
    }
}

static void long_lines_are_cut_and_end_with_a_newline(void **state) {
    (void)state;
    char text[LOG_TEXT_MAX * 2];
    for (size_t len = LOG_TEXT_MAX - 2; len < LOG_TEXT_MAX + 3; len++) {
        assert_int_equal(truncate(path, 0), 0);
        memset(text, 'x', len);
        text[len] = '\0';
        log_notice("%s", text);
        const char *log = read_log();
        size_t kept = len < LOG_TEXT_MAX ? len : LOG_TEXT_MAX;
        assert_int_equal(strlen(strchr(log, 'x')), kept + 1);
        assert_int_equal(log[strlen(log) - 1], '\n');
    }
}

static void a_message_is_one_line_whatever_it_quotes(void **state) {
    (void)state;
    log_notice("[%s]", "a\r\n1:M # forged\t\x1B[2J\x7F Gr\xC3\xBC\xC3\x9F");
    const char *log = read_log();
    assert_string_equal(strchr(log, '['), "[a??1:M # forged??[2J? Gr\xC3\xBC\xC3\x9F]\n");
}

/* Returns what stands in a line between the two texts. */
static const char *between(const char *line, const char *before, const char *after) {
    static char found[2 * LOG_LINE_MAX];
    const char *begin = strstr(line, before);
    assert_non_null(begin);
    begin += strlen(before);
    const char *end = strstr(begin, after);
    assert_non_null(end);
    memcpy(found, begin, (size_t)(end - begin));
    found[end - begin] = '\0';
    return found;
}

static void json_is_valid_utf8_whatever_a_message_quotes(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"\"\\/", "\\\"\\\\/"},
        {"\x7F\xC3\xBC\xE2\x82\xAC\xF0\x9F\x98\x80", "?\xC3\xBC\xE2\x82\xAC\xF0\x9F\x98\x80"},
        {"\xC3", "?"},                               /* cut off */
        {"\xC3\"", "?\\\""},                         /* the quote is none of its bytes */
        {"\xC0\xAF\xE0\x80\xAF", "?????"},           /* longer than need be */
        {"\xED\xA0\x80\xF4\x90\x80\x80", "???????"}, /* no characters */
        {"\xFF\x80", "??"},
    };
    log_set_format(LOG_FORMAT_JSON, LOG_TIMESTAMP_ISO8601);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_int_equal(truncate(path, 0), 0);
        log_notice("%s", cases[i][0]);
        const char *line = read_log();
        assert_string_equal(between(line, "\"message\":\"", "\"}\n"), cases[i][1]);
    }
    log_set_format(LOG_FORMAT_LEGACY, LOG_TIMESTAMP_LEGACY);
}

static void the_longest_message_fits_in_each_format(void **state) {
    (void)state;
    char text[LOG_TEXT_MAX + 1];
    memset(text, '\\', LOG_TEXT_MAX);
    text[LOG_TEXT_MAX] = '\0';
    for (int format = LOG_FORMAT_LEGACY; format <= LOG_FORMAT_JSON; format++) {
        assert_int_equal(truncate(path, 0), 0);
        log_set_format((enum log_format)format, LOG_TIMESTAMP_ISO8601);
        log_notice("%s", text);
        const char *line = read_log();
        size_t count = 0;
        for (const char *at = line; *at; at++) count += *at == '\\';
        assert_int_equal(count, format == LOG_FORMAT_LEGACY ? LOG_TEXT_MAX : 2 * LOG_TEXT_MAX);
        assert_int_equal(line[strlen(line) - 1], '\n');
    }
    log_set_format(LOG_FORMAT_LEGACY, LOG_TIMESTAMP_LEGACY);
}

static void lines_of_a_kind_are_limited(void **state) {
    (void)state;
    struct log_limit limit = {0}, other = {0};
    log_set_level(LOG_VERBOSE);
    for (int i = 0; i < LOG_LIMIT_LINES + 3; i++) log_notice_limited(&limit, "number %d", i);
    log_notice_limited(&other, "another");
    limit.until_ms = 0; /* the minute is over */
    log_notice_limited(&limit, "later");
    log_set_level(LOG_NOTICE);
    const char *log = read_log();
    assert_non_null(strstr(log, "* number 0\n"));
    assert_non_null(strstr(log, "* number 4\n"));
    assert_non_null(strstr(log, "- number 5\n"));
    assert_non_null(strstr(log, "- number 7\n"));
    assert_non_null(strstr(log, "* another\n"));
    const char *note = strstr(log, "* 3 more lines like the next one have the level verbose\n");
    assert_non_null(note);
    assert_non_null(strstr(note, "* later\n"));
}

static void a_renamed_file_is_left_behind(void **state) {
    (void)state;
    char old[112];
    snprintf(old, sizeof(old), "%s.1", path);
    log_notice("before");
    assert_int_equal(rename(path, old), 0);
    log_notice("after");
    assert_null(strstr(read_log(), "before"));
    assert_non_null(strstr(read_log(), "after"));
    unlink(old);
}

static void a_path_that_cannot_be_opened_changes_nothing(void **state) {
    (void)state;
    char long_path[10000];
    memset(long_path, 'p', sizeof(long_path) - 1);
    long_path[sizeof(long_path) - 1] = '\0';
    assert_false(log_set_file("/nowhere/at/all.log"));
    assert_int_equal(errno, ENOENT);
    assert_false(log_set_file(long_path));
    assert_int_equal(errno, ENAMETOOLONG);
    errno = EAGAIN;
    log_notice("still here");
    assert_int_equal(errno, EAGAIN);
    assert_non_null(strstr(read_log(), "still here"));
}

/* What log_write_recent writes; the returned text is overwritten by the next call. */
static char *recent_lines(void) {
    static char text[16384];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    log_write_recent(ends[1]);
    close(ends[1]);
    ssize_t len = 0, got;
    while ((got = read(ends[0], text + len, sizeof(text) - 1 - (size_t)len)) > 0) len += got;
    close(ends[0]);
    text[len] = '\0';
    return text;
}

static void the_last_lines_are_kept_whole(void **state) {
    (void)state;
    char wanted[32];
    for (int i = 0; i < 3000; i++) {
        log_notice("%.*s number %d.", i % 97, "---------------------------------------------", i);
        if (i < 500) continue; /* the ring is full */
        char *text = recent_lines();
        assert_uint_in_range(strlen(text), 8192 - 200, 8192);
        assert_int_equal(strtol(text, NULL, 10), getpid()); /* the oldest line has its head */
        snprintf(wanted, sizeof(wanted), " number %d.\n", i);
        assert_string_equal(text + strlen(text) - strlen(wanted), wanted);
    }
    log_set_level(LOG_WARNING);
    log_notice("dropped");
    assert_null(strstr(recent_lines(), "dropped"));
}

static void the_role_stands_behind_the_number_of_the_process(void **state) {
    (void)state;
    log_set_role('S');
    log_notice("from a replica");
    log_set_role('M');
    char head[32];
    snprintf(head, sizeof(head), "%d:S ", (int)getpid());
    assert_memory_equal(read_log(), head, strlen(head));
}

static void an_empty_path_is_standard_output(void **state) {
    (void)state;
    int saved = dup(STDOUT_FILENO);
    fflush(stdout);
    assert_non_null(freopen(path, "a", stdout));
    assert_true(log_set_file(""));
    log_notice("to standard output");
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    assert_non_null(strstr(read_log(), "to standard output"));
    assert_true(log_set_file(path));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(lines_look_as_log_readers_expect, start_empty),
        cmocka_unit_test_setup(lines_below_the_level_are_dropped, start_empty),
        cmocka_unit_test_setup(long_lines_are_cut_and_end_with_a_newline, start_empty),
        cmocka_unit_test_setup(json_is_valid_utf8_whatever_a_message_quotes, start_empty),
        cmocka_unit_test_setup(the_longest_message_fits_in_each_format, start_empty),
        cmocka_unit_test_setup(lines_of_a_kind_are_limited, start_empty),
        cmocka_unit_test_setup(a_message_is_one_line_whatever_it_quotes, start_empty),
        cmocka_unit_test_setup(a_renamed_file_is_left_behind, start_empty),
        cmocka_unit_test_setup(a_path_that_cannot_be_opened_changes_nothing, start_empty),
        cmocka_unit_test_setup(the_last_lines_are_kept_whole, start_empty),
        cmocka_unit_test_setup(the_role_stands_behind_the_number_of_the_process, start_empty),
        cmocka_unit_test_setup(an_empty_path_is_standard_output, start_empty),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
