/* secret: which words, arguments and parts of texts are hidden, and that memory is cleared. */
#include "base/text/secret.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void names_with_one_slip_are_near(void **state) {
    (void)state;
    static const char *const near[] = {"auth", "AUTH", "AuTh", "aut",   "uth",   "ath",
                                       "axth", "autx", "xuth", "authx", "xauth", "auxth",
                                       "uath", "auht", "atuh", "AUHT"};
    static const char *const others[] = {"",     "a",   "au",   "xaut", "authxx",
                                         "htua", "get", "axxh", "thau"};
    for (size_t i = 0; i < sizeof(near) / sizeof(*near); i++)
        if (!secret_is_near(slice_of_cstr(near[i]), "auth")) fail_msg("%s", near[i]);
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (secret_is_near(slice_of_cstr(others[i]), "auth")) fail_msg("%s", others[i]);
}

static void directives_with_passwords_are_known(void **state) {
    (void)state;
    static const char *const secret[] = {"auth",
                                         "auht",
                                         "requirepass",
                                         "RequirePass",
                                         "requirepas",
                                         "masterauth",
                                         "masteruser",
                                         "primaryauth",
                                         "primaryuser",
                                         "tls-key-file-pass",
                                         "tls-client-key-file-pass",
                                         "Password",
                                         "require-pass"};
    static const char *const others[] = {"",     "port", "tls-auth-clients", "tls-key-file",
                                         "user", "pas",  "aclfile"};
    for (size_t i = 0; i < sizeof(secret) / sizeof(*secret); i++)
        if (!secret_is_directive(slice_of_cstr(secret[i]))) fail_msg("%s", secret[i]);
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (secret_is_directive(slice_of_cstr(others[i]))) fail_msg("%s", others[i]);
}

static void only_the_head_of_a_long_word_counts(void **state) {
    (void)state;
    char word[SECRET_NAME_MAX + 8];
    memset(word, 'x', sizeof(word));
    struct slice whole = slice_make(word, sizeof(word));
    assert_int_equal(secret_name(whole).len, whole.len);
    memcpy(word + SECRET_NAME_MAX - 3, "pass", 4);
    assert_false(secret_is_directive(whole));
    memcpy(word + SECRET_NAME_MAX - 4, "pass=", 5);
    assert_true(secret_is_directive(whole));
    assert_int_equal(secret_name(whole).len, whole.len);
    word[SECRET_NAME_MAX - 1] = '=';
    assert_int_equal(secret_name(whole).len, SECRET_NAME_MAX - 1);
}

static void lines_are_shown_up_to_a_password(void **state) {
    (void)state;
    static const struct {
        const char *line, *shown;
    } rows[] = {
        {"", ""},
        {"port 1", "port 1"},
        {"requirepass", "requirepass"},
        {"requirepass a b", "requirepass (redacted)"},
        {"port 1 \t REQUIREPASS a", "port 1 \t REQUIREPASS (redacted)"},
        {"user x on ~k +get", "user x on ~k +get"},
        {"user x on >a ~k", "user x on (redacted)"},
        {"user x \"(~x >a)\" ~k", "user x \"(~x (redacted)"},
        {"user x (#a", "user x (redacted)"},
        {"user passenger on nopass", "user passenger on nopass"},
        {"rename-command GET #a", "rename-command GET (redacted)"},
        {"\"masterauth\" a b", "(redacted)"},
        {"'masteruser' a b", "(redacted)"},
        {"masterauth\"a\"", "(redacted)"},
        {"\"master\\x61uth\" a b", "(redacted)"},
        {"master\\x61uth a b", "(redacted)"},
        {"\"user\" x on >a +@all \"", "(redacted)"},
        {">a", "(redacted)"},
        {"usr x on >a", "usr x on (redacted)"},
        {"users x on >a", "users x on (redacted)"},
        {"ACL user x on >a", "ACL user x on (redacted)"},
        {"user x on '~a'>a", "user x on (redacted)"},
        {"user x on \"\\x3ea\" ~k", "user x on (redacted)"},
        {"use requirepass a", "use requirepass (redacted)"},
        {"auth a", "auth (redacted)"},
        {"auth\va", "auth (redacted)"},
        {"port 1 \"masterauth\" a", "port 1 \"masterauth (redacted)"},
        {"port 1 masterauth\"a\"", "port 1 masterauth (redacted)"},
        {"save \"900 1\" x", "save \"900 1\" x"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        sds shown = secret_append_line(sds_new(SLICE("")), slice_of_cstr(rows[i].line));
        assert_string_equal(shown, rows[i].shown);
        sds_free(shown);
    }
}

static void foreign_texts_lose_the_secret(void **state) {
    (void)state;
    static const struct {
        const char *text, *secret, *shown;
    } rows[] = {
        {"", "", ""},
        {"abc", "", "abc"},
        {"", "a", ""},
        {"abc", "abc", "(redacted)"},
        {"xabcabcx abc", "abc", "x(redacted)(redacted)x (redacted)"},
        {"ab", "abc", "ab"},
        {"ABC", "abc", "ABC"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        sds shown = secret_append_without(sds_new(SLICE("")), slice_of_cstr(rows[i].text),
                                          slice_of_cstr(rows[i].secret));
        assert_string_equal(shown, rows[i].shown);
        sds_free(shown);
    }
}

static void clearing_overwrites_the_text(void **state) {
    (void)state;
    char text[] = "password";
    secret_clear(text, sizeof(text));
    for (size_t i = 0; i < sizeof(text); i++) assert_int_equal(text[i], 0);
    secret_clear(NULL, 0);
    secret_free(NULL);
    secret_free(sds_new(SLICE("a password")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_with_one_slip_are_near),
        cmocka_unit_test(directives_with_passwords_are_known),
        cmocka_unit_test(only_the_head_of_a_long_word_counts),
        cmocka_unit_test(lines_are_shown_up_to_a_password),
        cmocka_unit_test(foreign_texts_lose_the_secret),
        cmocka_unit_test(clearing_overwrites_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
