/* The table of users: logging in, deleting, references, and ACL files. */
#include "users_fixture.h"

#define AS "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define NOTHING_CHANGED                                                                            \
    "WARNING: ACL errors detected, no change to the previously active ACL rules was performed"
#define DEFAULT_LINE "user default on nopass ~* &* +@all\n"

static struct users *users_of(void **state) {
    return *state;
}

static int set_up(void **state) {
    struct users *users = mem_alloc(sizeof(*users));
    users_init(users, false);
    *state = users;
    return 0;
}

static int tear_down(void **state) {
    users_free(*state);
    mem_free(*state);
    return 0;
}

static void expect_file(const struct users *users, const char *expected) {
    sds text = users_file_text(users);
    assert_string_equal(text, expected);
    sds_free(text);
}

/* --- Logging in --- */

static bool logs_in(struct users *users, const char *name, const char *password) {
    struct user *user = users_log_in(users, slice_of_cstr(name), slice_of_cstr(password));
    if (user) assert_string_equal(user->name, name);
    return user;
}

static void one_of_the_passwords_suffices(void **state) {
    struct users *users = users_of(state);
    assert_null(set_user(users, "a", "on >one >two"));
    assert_true(logs_in(users, "a", "one"));
    assert_true(logs_in(users, "a", "two"));
    assert_false(logs_in(users, "a", "three"));
    assert_false(logs_in(users, "a", ""));
    assert_false(logs_in(users, "A", "one"));
    assert_false(logs_in(users, "nobody", "one"));
    assert_null(set_user(users, "a", "<one"));
    assert_false(logs_in(users, "a", "one"));
    assert_null(set_user(users, "a", "off"));
    assert_false(logs_in(users, "a", "two"));
    assert_null(set_user(users, "a", "on nopass"));
    assert_true(logs_in(users, "a", "anything"));
    assert_null(set_user(users, "a", "resetpass"));
    assert_false(logs_in(users, "a", ""));
    assert_null(set_user(users, "b", "on >"));
    assert_true(logs_in(users, "b", ""));
    assert_false(logs_in(users, "b", "x"));
}

static void requirepass_is_the_default_users_password(void **state) {
    struct users *users = users_of(state);
    assert_true(user_needs_no_password(users->default_user));
    users_set_default_password(users, SLICE("secret"));
    assert_false(user_needs_no_password(users->default_user));
    assert_true(logs_in(users, "default", "secret"));
    assert_false(logs_in(users, "default", "x"));
    users_set_default_password(users, SLICE("other"));
    assert_false(logs_in(users, "default", "secret"));
    users_set_default_password(users, SLICE(""));
    assert_true(user_needs_no_password(users->default_user));
    assert_null(set_user(users, "default", "off"));
    assert_false(user_needs_no_password(users->default_user));
}

/* --- Names --- */

static void names_have_no_blank(void **state) {
    struct users *users = users_of(state);
    const struct slice bad[] = {SLICE("a b"),  SLICE("a\tb"), SLICE("a\nuser evil on"),
                                SLICE("a\0b"), SLICE("\r"),   SLICE(" ")};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        sds error = set_user_rules(users, bad[i], NULL, 0);
        assert_string_equal(error, "Usernames can't contain spaces or null characters");
        sds_free(error);
    }
    assert_int_equal(users_count(users), 1);
    assert_null(set_user_rules(users, SLICE(""), NULL, 0));
    assert_null(set_user(users, "T", "on"));
    assert_null(set_user(users, "t", ""));
    assert_null(set_user(users, "(", ""));
    expect_file(users,
                "user  off resetchannels -@all\nuser ( off resetchannels -@all\n"
                "user T on resetchannels -@all\n" DEFAULT_LINE "user t off resetchannels -@all\n");
}

static void users_are_sorted_by_their_bytes(void **state) {
    struct users *users = users_of(state);
    const char *const names[] = {"", "Z", "a", "ab", "b", "default", "\xff"};
    const size_t count = sizeof(names) / sizeof(names[0]);
    for (size_t i = count; i-- > 0;) assert_null(set_user(users, names[i], ""));
    assert_int_equal(users_count(users), count);
    struct user **sorted = users_sorted(users);
    for (size_t i = 0; i < count; i++) assert_string_equal(sorted[i]->name, names[i]);
    mem_free(sorted);
}

/* --- Lives --- */

static void a_deleted_user_lives_on_in_its_sessions(void **state) {
    struct users *users = users_of(state);
    assert_null(set_user(users, "t", "+get ~a"));
    struct user *user = user_keep(user_keep(users_find(users, SLICE("t"))));
    assert_false(users_delete(users, SLICE("T")));
    assert_true(users_delete(users, SLICE("t")));
    assert_false(users_delete(users, SLICE("t")));
    assert_null(users_find(users, SLICE("t")));
    assert_true(user->gone);
    assert_null(set_user(users, "t", ""));
    assert_ptr_not_equal(users_find(users, SLICE("t")), user);
    assert_false(users_find(users, SLICE("t"))->gone);
    user_release(user);
    assert_string_equal(user->name, "t");
    assert_int_equal(user->rights->selectors[0].keys.count, 1);
    user_release(user);
}

static void the_default_user_stays(void **state) {
    struct users *users = users_of(state);
    assert_false(users_delete(users, SLICE("default")));
    assert_ptr_equal(users_find(users, SLICE("default")), users->default_user);
    assert_null(set_user(users, "default", "reset"));
    expect_file(users, "user default off resetchannels -@all\n");
    assert_false(user_is_unrestricted(users->default_user));
}

static void sessions_see_a_change_at_once(void **state) {
    struct users *users = users_of(state);
    assert_null(set_user(users, "t", "+@all ~* &*"));
    struct user *user = user_keep(users_find(users, SLICE("t")));
    uint64_t generation = user->generation, of_default = users->default_user->generation;
    assert_true(user_is_unrestricted(user));
    assert_null(set_user(users, "t", "-get"));
    assert_false(user_is_unrestricted(user));
    assert_true(user->generation > generation);
    assert_int_equal(users->default_user->generation, of_default);
    user_release(user);
}

static void a_definition_begins_anew(void **state) {
    struct users *users = users_of(state);
    struct rule_error error;
    const struct slice rules[] = {SLICE("on"), SLICE("(+get"), SLICE("~a)")};
    assert_null(set_user(users, "default", "-get"));
    assert_true(users_define(users, SLICE("default"), rules, 3, &error));
    expect_file(users, "user default on resetchannels -@all (~a resetchannels -@all +get)\n");
    assert_false(users_define(users, SLICE("default"), rules, 2, &error));
    assert_true(error.unmatched);
    sds_free(error.rule);
}

/* --- Files --- */

static void expect_loaded(struct users *users, struct slice text, const char *expected) {
    sds errors = NULL;
    if (!users_load(users, SLICE("/p"), SLICE(""), text, &errors)) fail_msg("%s", errors);
    expect_file(users, expected);
}

static void files_are_lines_of_words(void **state) {
    struct users *users = users_of(state);
    const char *x_on = DEFAULT_LINE "user x on resetchannels -@all\n";
    expect_loaded(users, SLICE(""), DEFAULT_LINE);
    expect_loaded(users, SLICE("user x on\n"), x_on);
    expect_loaded(users, SLICE("user x on"), x_on);
    expect_loaded(users, SLICE("\n\n \t  user x on  \r\n\r\n\n"), x_on);
    expect_loaded(users, SLICE("# user y on\n  # (~a\n#\nuser x on\n#"), x_on);
    expect_loaded(users, SLICE("user x ( +get ~a ) on\n"),
                  DEFAULT_LINE "user x on resetchannels -@all (~a resetchannels -@all +get)\n");
    expect_loaded(users, SLICE("user x #" AS " #" AS "\n"),
                  DEFAULT_LINE "user x off #" AS " resetchannels -@all\n");
    expect_loaded(users, SLICE("user x ~\"a"),
                  DEFAULT_LINE "user x off ~\"a resetchannels -@all\n");
    expect_loaded(users, SLICE("user ( on"), "user ( on resetchannels -@all\n" DEFAULT_LINE);
    expect_loaded(users, SLICE("user default"), "user default off resetchannels -@all\n");
    expect_loaded(users, SLICE("user  on\nuser default off"),
                  "user  on resetchannels -@all\nuser default off resetchannels -@all\n");
}

/* Also when a file changes the user later. */
static void the_shortcut_follows_the_rights(void **state) {
    struct users *users = users_of(state);
    const struct command *get = command_find(SLICE("get"));
    expect_loaded(users, SLICE("user x on ~app:* +@all\n"),
                  DEFAULT_LINE "user x on ~app:* resetchannels +@all\n");
    const struct access access = {get, (struct slice[]){SLICE("get"), SLICE("app:12345")}, 2, 0},
                        other = {get, (struct slice[]){SLICE("get"), SLICE("other:12345")}, 2, 0};
    struct user *user = user_keep(users_find(users, SLICE("x")));
    struct denial denial;
    assert_true(user_may(user, access, &denial));
    assert_true(access__by_shortcut(user, access));
    expect_loaded(users, SLICE("user x on ~other:* +@all\n"),
                  DEFAULT_LINE "user x on ~other:* resetchannels +@all\n");
    assert_false(user_may(user, access, &denial));
    assert_false(access__by_shortcut(user, access));
    assert_true(access__by_shortcut(user, other));
    user_release(user);
}

static void expect_refused(struct users *users, struct slice text, const char *expected) {
    sds errors = NULL, before = users_file_text(users);
    if (users_load(users, SLICE("/p"), SLICE(""), text, &errors)) fail_msg("taken: %s", text.ptr);
    assert_string_equal(errors, expected);
    expect_file(users, before);
    sds_free(errors);
    sds_free(before);
}

#define IN(line, rule, why) "/p:" #line ": Error in applying operation '" rule "': " why ". "
#define UNKNOWN             "Unknown command or category name in ACL"
#define NO_USER(line)       "/p:" #line " should start with user keyword followed by the username. "

static void one_error_refuses_the_whole_file(void **state) {
    struct users *users = users_of(state);
    assert_null(set_user(users, "old", "on >p ~k"));
    expect_refused(users, SLICE("x on"), NO_USER(1) NOTHING_CHANGED);
    expect_refused(users, SLICE("user"), NO_USER(1) NOTHING_CHANGED);
    expect_refused(users, SLICE("user \n"), NO_USER(1) NOTHING_CHANGED);
    expect_refused(users, SLICE("\nUSER x on\n"), NO_USER(2) NOTHING_CHANGED);
    expect_refused(users, SLICE("user x\ton"),
                   "/p:1: username 'x\ton' contains invalid characters. " NOTHING_CHANGED);
    expect_refused(users, SLICE("user  x  on"), IN(1, "x", "Syntax error") NOTHING_CHANGED);
    expect_refused(users, SLICE("user x +nope +nope2\nuser y foo\nz\nuser w on"),
                   IN(1, "+nope", UNKNOWN) IN(1, "+nope2", UNKNOWN) IN(2, "foo", "Syntax error")
                       NO_USER(3) NOTHING_CHANGED);
    expect_refused(users, SLICE("user x on\nuser y on\nuser x off"),
                   "WARNING: Duplicate user 'x' found on line 3. " NOTHING_CHANGED);
    expect_refused(users, SLICE("user default on\nuser default on"),
                   "WARNING: Duplicate user 'default' found on line 2. " NOTHING_CHANGED);
    expect_refused(users, SLICE("user x on # c"),
                   IN(1, "#(redacted)",
                      "The password hash must be exactly 64 characters and contain only "
                      "lowercase hexadecimal characters") IN(1, "c", "Syntax error")
                       NOTHING_CHANGED);
    expect_refused(users, SLICE("user x \"on\""), IN(1, "\"on\"", "Syntax error") NOTHING_CHANGED);
    expect_refused(users, SLICE("user x <secret"),
                   IN(1, "<(redacted)",
                      "The password you are trying to remove from the user does "
                      "not exist") NOTHING_CHANGED);
    expect_refused(
        users, SLICE("user x nope (+get)x +nope"),
        "/p:1: Unmatched parenthesis in selector definition '(+get)x'. " NOTHING_CHANGED);
    expect_refused(users, SLICE("user x (~x) +get)"), IN(1, "+get)", UNKNOWN) NOTHING_CHANGED);
    expect_refused(users, SLICE("user x on )"), IN(1, ")", "Syntax error") NOTHING_CHANGED);
}

/* The first line crashes Redis and Valkey, at the start and at ACL LOAD. */
static void attacks_on_the_reader_are_refused(void **state) {
    struct users *users = users_of(state);
    expect_refused(users, SLICE("user x on (~a"),
                   "/p:1: Unmatched parenthesis in selector definition '(~a'. " NOTHING_CHANGED);
    expect_refused(users, SLICE("user x (+get\nuser y on)"),
                   "/p:1: Unmatched parenthesis in selector definition '(+get'. " IN(
                       2, "on)", "Syntax error") NOTHING_CHANGED);
    expect_refused(users, SLICE("user x %~k"), IN(1, "%~k", "Syntax error") NOTHING_CHANGED);
    sds errors = NULL;
    assert_false(users_load(users, SLICE("/p"), SLICE(""), SLICE("user x\0y on"), &errors));
    assert_false(users_load(users, SLICE("/p"), SLICE(""), SLICE("user x on\0off"),
                            (sds_free(errors), &errors)));
    assert_false(users_load(users, SLICE("/p"), SLICE(""), SLICE("user x ~a\0b"),
                            (sds_free(errors), &errors)));
    sds_free(errors);
}

static void errors_are_bounded(void **state) {
    struct users *users = users_of(state);
    sds text = sds_new(SLICE("user x")), errors = NULL;
    for (int i = 0; i < 100000; i++) text = sds_append(text, SLICE(" nope"));
    assert_false(users_load(users, SLICE("/p"), SLICE(""), sds_slice(text), &errors));
    assert_true(sds_len(errors) < 100000);
    assert_non_null(strstr(errors, "There may be more errors. " NOTHING_CHANGED));
    sds_free(errors);
    sds_free(text);
}

static void loading_keeps_users_who_are_the_same(void **state) {
    struct users *users = users_of(state);
    assert_null(set_user(users, "same", "on >p ~a +get"));
    assert_null(set_user(users, "changed", "on ~a"));
    assert_null(set_user(users, "missing", "on"));
    struct user *same = users_find(users, SLICE("same")),
                *changed = users_find(users, SLICE("changed"));
    struct user *missing = user_keep(users_find(users, SLICE("missing")));
    uint64_t old_same = same->generation, old_changed = changed->generation;
    sds errors = NULL;
    assert_true(users_load(users, SLICE("/p"), SLICE(""),
                           SLICE("user changed on ~b\nuser same on >p +set +get -set ~a\n"
                                 "user new on\nuser default on nopass +@all &* ~*"),
                           &errors));
    assert_true(users_find(users, SLICE("same")) == same &&
                users_find(users, SLICE("changed")) == changed);
    assert_true(changed->generation > old_changed && !changed->gone);
    assert_true(same->generation > old_same); /* its text is another one */
    assert_true(missing->gone);
    old_same = same->generation;
    sds text = users_file_text(users);
    assert_true(users_load(users, SLICE("/p"), SLICE(""), sds_slice(text), &errors));
    assert_int_equal(same->generation, old_same);
    expect_file(users, text);
    sds_free(text);
    user_release(missing);
}

/* acl-pubsub-default only counts where a line says nothing about channels. */
static void a_written_file_reads_the_same_with_another_default(void **state) {
    struct users *users = users_of(state);
    assert_null(set_user(users, "a", "on &x (+get) (&*)"));
    assert_null(set_user(users, "b", "db=1 (resetdbs)"));
    sds text = users_file_text(users), errors = NULL;
    users->all_channels = true;
    assert_true(users_load(users, SLICE("/p"), SLICE(""), sds_slice(text), &errors));
    expect_file(users, text);
    sds_free(text);
}

int main(void) {
    command_table_init(command_families, NULL);
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(one_of_the_passwords_suffices),
        TEST(requirepass_is_the_default_users_password),
        TEST(names_have_no_blank),
        TEST(users_are_sorted_by_their_bytes),
        TEST(a_deleted_user_lives_on_in_its_sessions),
        TEST(the_default_user_stays),
        TEST(sessions_see_a_change_at_once),
        TEST(a_definition_begins_anew),
        TEST(files_are_lines_of_words),
        TEST(the_shortcut_follows_the_rights),
        TEST(one_error_refuses_the_whole_file),
        TEST(attacks_on_the_reader_are_refused),
        TEST(errors_are_bounded),
        TEST(loading_keeps_users_who_are_the_same),
        TEST(a_written_file_reads_the_same_with_another_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
