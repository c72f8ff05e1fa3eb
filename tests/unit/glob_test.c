#include "base/text/glob.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

static bool match(const char *pattern, const char *text) {
    return glob_match(slice_of_cstr(pattern), slice_of_cstr(text), false);
}

static bool match_nocase(const char *pattern, const char *text) {
    return glob_match(slice_of_cstr(pattern), slice_of_cstr(text), true);
}

static void literals_and_wildcards(void **state) {
    (void)state;
    assert_true(match("hello", "hello"));
    assert_false(match("hello", "Hello"));
    assert_false(match("hello", "hell"));
    assert_false(match("hell", "hello"));
    assert_true(match("h?llo", "hallo"));
    assert_false(match("h?llo", "hllo"));
    assert_true(match("*", "anything"));
    assert_true(match("h*llo", "heeeello"));
    assert_true(match("h*llo", "hllo"));
    assert_true(match("*a*b*c*", "xxaxxbxxcxx"));
    assert_false(match("*a*b*c*", "xxaxxcxxbxx"));
    assert_true(match("*aab", "aaaab"));
    assert_true(match("key:*:?", "key:a:b:c"));
    assert_false(match("key:*:?", "key:a:bc"));
    assert_true(match("abc***", "abc"));
    assert_true(glob_match(SLICE("a\0?"), SLICE("a\0b"), false));
    assert_false(glob_match(SLICE("a\0b"), SLICE("a\0c"), false));
}

static void empty_text_matches_the_empty_pattern_only(void **state) {
    (void)state;
    assert_true(match("", ""));
    assert_true(glob_match(slice_make(NULL, 0), slice_make(NULL, 0), false));
    assert_false(match("*", ""));
    assert_false(match("**", ""));
    assert_false(match("", "a"));
    assert_true(glob_is_match_all(SLICE("*")));
    assert_false(glob_is_match_all(SLICE("**")));
    assert_false(glob_is_match_all(slice_make(NULL, 0)));
}

static void classes(void **state) {
    (void)state;
    assert_true(match("h[ae]llo", "hello"));
    assert_false(match("h[ae]llo", "hillo"));
    assert_true(match("h[^e]llo", "hallo"));
    assert_false(match("h[^e]llo", "hello"));
    assert_true(match("[a-c]", "b"));
    assert_false(match("[a-c]", "d"));
    assert_true(match("[c-a]", "b"));
    assert_true(match("[a-]", "_")); /* a range from 'a' down to ']', and no end */
    assert_false(match("[a-]", "b"));
    assert_true(match("[\\]]", "]"));
    assert_true(match("[\\-x]", "-"));
    assert_false(match("[]", "]"));
    assert_true(match("[^]", "]"));
    assert_false(match("[]a]", "a"));
    assert_true(match("[abc", "b"));
    assert_true(match("[a-z", "q"));
    assert_false(match("[", "["));
    assert_true(match("[^", "x"));
    assert_true(match("[\\", "\\"));
    assert_true(match("*[0-9]", "abc7"));
    assert_true(glob_match(SLICE("[\x80-\xff]"), SLICE("\xc3"), false));
    assert_false(glob_match(SLICE("[\x80-\xff]"), SLICE("a"), false));
}

static void escapes(void **state) {
    (void)state;
    assert_true(match("\\*", "*"));
    assert_false(match("\\*", "x"));
    assert_true(match("a\\?c", "a?c"));
    assert_false(match("a\\?c", "abc"));
    assert_true(match("\\[a]", "[a]"));
    assert_true(match("\\a", "a"));
    assert_true(match("a\\", "a\\"));
    assert_true(match("\\\\", "\\"));
}

static void case_can_be_ignored(void **state) {
    (void)state;
    assert_true(match_nocase("MaxMemory*", "maxmemory-policy"));
    assert_true(match_nocase("[A-C]", "b"));
    assert_true(match_nocase("[x]", "X"));
    assert_true(match_nocase("\\A", "a"));
    assert_false(match_nocase("[\\A]", "a"));
    assert_false(match_nocase("@", "`"));
}

static void no_pattern_is_exponential(void **state) {
    (void)state;
    enum { LENGTH = 20000, STARS = 200 };
    char *text = malloc(LENGTH), pattern[2 * STARS + 1];
    memset(text, 'a', LENGTH);
    for (int i = 0; i < STARS; i++) memcpy(pattern + 2 * i, "*a", 2);
    pattern[2 * STARS] = 'b';
    clock_t start = clock();
    assert_false(glob_match(slice_make(pattern, 2 * STARS + 1), slice_make(text, LENGTH), false));
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 1);
    free(text);
}

/* The definition, for patterns of a, b, ? and *. */
static bool naive_match(const char *pattern, const char *text) {
    if (*pattern == '\0') return *text == '\0';
    if (*pattern == '*') {
        return naive_match(pattern + 1, text) || (*text != '\0' && naive_match(pattern, text + 1));
    }
    return *text != '\0' && (*pattern == '?' || *pattern == *text) &&
           naive_match(pattern + 1, text + 1);
}

static void random_patterns_agree_with_the_definition(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    int matches = 0;
    for (int i = 0; i < 200000; i++) {
        char pattern[9] = {0}, text[10] = {0};
        size_t pattern_len = random_below(&random, 9), text_len = 1 + random_below(&random, 9);
        for (size_t n = 0; n < pattern_len; n++) pattern[n] = "abab?**"[random_below(&random, 7)];
        for (size_t n = 0; n < text_len; n++) text[n] = "ab"[random_below(&random, 2)];
        bool expected = naive_match(pattern, text);
        if (match(pattern, text) != expected) fail_msg("pattern %s, text %s", pattern, text);
        matches += expected;
    }
    assert_true(matches > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_and_wildcards),
        cmocka_unit_test(empty_text_matches_the_empty_pattern_only),
        cmocka_unit_test(classes),
        cmocka_unit_test(escapes),
        cmocka_unit_test(case_can_be_ignored),
        cmocka_unit_test(no_pattern_is_exponential),
        cmocka_unit_test(random_patterns_agree_with_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
