/* Users: what rules make of them, how they are printed, and which rules are refused. Printed forms
 * and errors are those of Redis 8.0 and, for databases, of Valkey 9.1, unless a test says otherwise.
 */
#include "users_fixture.h"

struct row {
    const char *rules; /* separated by single spaces */
    const char *text;  /* what is printed behind "user t ", or the error */
};

#define WRONG(rule, why)    "Error in ACL SETUSER modifier '" rule "': " why
#define SYNTAX(rule)        WRONG(rule, "Syntax error")
#define UNKNOWN(rule)       WRONG(rule, "Unknown command or category name in ACL")
#define OF_SUBCOMMAND(rule) WRONG(rule, "Allowing first-arg of a subcommand is not supported")
#define AFTER_ALL_KEYS(rule)                                                                       \
    WRONG(rule, "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and "   \
                "does not have any effect. Try 'resetkeys' to start with an empty list of "        \
                "patterns")
#define AFTER_ALL_CHANNELS(rule)                                                                   \
    WRONG(rule, "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid "   \
                "and does not have any effect. Try 'resetchannels' to start with an empty list "   \
                "of channels")
#define NO_PASSWORD(rule)                                                                          \
    WRONG(rule, "The password you are trying to remove from the user does not exist")
#define WRONG_HASH(rule)                                                                           \
    WRONG(rule, "The password hash must be exactly 64 characters and contain only lowercase "      \
                "hexadecimal characters")
#define OUT_OF_RANGE(rule) WRONG(rule, "The provided database ID is out of range")

#define HASH_OF_A       "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
#define HASH_OF_B       "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d"
#define HASH_OF_NOTHING "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define SIXTEEN_A       "aaaaaaaaaaaaaaaa"
#define AS              SIXTEEN_A SIXTEEN_A SIXTEEN_A SIXTEEN_A

/* Makes the user t of these rules. Returns what is printed, or the error; the caller frees it. */
static sds made(const char *rules) {
    struct users users;
    users_init(&users, false);
    sds error = set_user(&users, "t", rules);
    sds text = error ? error : described(&users, "t");
    users_free(&users);
    return text;
}

static void expect_rows(const struct row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        sds text = made(rows[i].rules);
        if (strcmp(text, rows[i].text) != 0)
            fail_msg("'%s' made\n'%s', not\n'%s'", rows[i].rules, text, rows[i].text);
        sds_free(text);
    }
}

#define EXPECT(...)                                                                                \
    do {                                                                                           \
        static const struct row rows[] = {__VA_ARGS__};                                            \
        expect_rows(rows, sizeof(rows) / sizeof(rows[0]));                                         \
    } while (0)

static void a_new_user_may_nothing(void **state) {
    (void)state;
    EXPECT({"", "off resetchannels -@all"}, {"on", "on resetchannels -@all"},
           {"ON Nopass", "on nopass resetchannels -@all"}, {"on off", "off resetchannels -@all"},
           {"sanitize-payload", "off resetchannels -@all"},
           {"skip-sanitize-payload", "off resetchannels -@all"}, {"foo", SYNTAX("foo")},
           {"on ~a foo +get", SYNTAX("foo")}, {"@read", SYNTAX("@read")}, {")", SYNTAX(")")});
}

static void a_rule_replaces_the_text_of_older_ones_for_the_same(void **state) {
    (void)state;
    EXPECT(
        {"+@all -get +get", "off resetchannels +@all +get"},
        {"+@all -get", "off resetchannels +@all -get"},
        {"-@all +@read -@read", "off resetchannels -@all -@read"},
        {"+config -config|get +config", "off resetchannels -@all +config"},
        {"+config|get +config|set -config", "off resetchannels -@all -config"},
        {"+config|get -config|get", "off resetchannels -@all -config|get"},
        {"+select|0 +select|1", "off resetchannels -@all +select|0 +select|1"},
        {"+select|0 +select|1 -select", "off resetchannels -@all -select"},
        {"+select|0 +select", "off resetchannels -@all +select"},
        {"+select|0 +select|0", "off resetchannels -@all +select|0"},
        {"+select|0 +select|1 +select|0", "off resetchannels -@all +select|1 +select|0"},
        {"+get|a +get|b -get +get|c", "off resetchannels -@all -get +get|c"},
        {"+@all +select|0", "off resetchannels +@all +select|0"},
        {"+@all +select|0 -select", "off resetchannels +@all -select"},
        {"+select|0 -@connection", "off resetchannels -@all +select|0 -@connection"},
        {"+select|0 +@connection -@connection", "off resetchannels -@all +select|0 -@connection"},
        {"+get +set +get", "off resetchannels -@all +set +get"},
        {"+get -get +get", "off resetchannels -@all +get"},
        {"+@all -config|get -config", "off resetchannels +@all -config"},
        {"+@all -config|get +config|get", "off resetchannels +@all +config|get"},
        {"+client|id -client", "off resetchannels -@all -client"},
        {"+memory|usage -@read", "off resetchannels -@all +memory|usage -@read"},
        {"+get|k -@read +get", "off resetchannels -@all -@read +get"});
}

static void all_and_none_forget_the_text_before(void **state) {
    (void)state;
    EXPECT({"allcommands", "off resetchannels +@all"}, {"NOCOMMANDS", "off resetchannels -@all"},
           {"+get nocommands +set", "off resetchannels -@all +set"},
           {"+@ALL", "off resetchannels +@all"}, {"+@all -@all", "off resetchannels -@all"},
           {"-@read +@all", "off resetchannels +@all"},
           {"+@all +@read", "off resetchannels +@all +@read"},
           {"+@all -@read +@read", "off resetchannels +@all +@read"},
           {"+config|get +select|0 -@all", "off resetchannels -@all"},
           {"+select|0 +@all", "off resetchannels +@all"},
           {"-get", "off resetchannels -@all -get"});
}

static void commands_are_written_in_lower_case(void **state) {
    (void)state;
    EXPECT({"+SELECT|AbC", "off resetchannels -@all +select|abc"},
           {"+Config|Get", "off resetchannels -@all +config|get"},
           {"+@READ", "off resetchannels -@all +@read"},
           {"+eval|x", "off resetchannels -@all +eval|x"},
           {"+subscribe|x", "off resetchannels -@all +subscribe|x"});
}

static void unknown_commands_are_refused(void **state) {
    (void)state;
    EXPECT({"+nope", UNKNOWN("+nope")}, {"+@nope", UNKNOWN("+@nope")},
           {"+config|nope", UNKNOWN("+config|nope")}, {"-config|nope", UNKNOWN("-config|nope")},
           {"+config|get|x", OF_SUBCOMMAND("+config|get|x")}, {"+config|", SYNTAX("+config|")},
           {"+get|", SYNTAX("+get|")}, {"+GET|", SYNTAX("+GET|")}, {"+|x", UNKNOWN("+|x")},
           {"+", UNKNOWN("+")}, {"-", UNKNOWN("-")}, {"+@", UNKNOWN("+@")}, {"-@", UNKNOWN("-@")},
           {"-select|0", UNKNOWN("-select|0")}, {"+@all -select|0", UNKNOWN("-select|0")},
           {"+select|a|b", UNKNOWN("+select|a|b")}, {"+select||", UNKNOWN("+select||")},
           {"+@all|x", UNKNOWN("+@all|x")}, {"+@read|get", UNKNOWN("+@read|get")},
           {"+get)", UNKNOWN("+get)")}, {"-eval|x", UNKNOWN("-eval|x")});
}

static void patterns_of_keys_have_rights(void **state) {
    (void)state;
    EXPECT({"%R~k", "off %R~k resetchannels -@all"}, {"%w~k", "off %W~k resetchannels -@all"},
           {"%WR~k", "off ~k resetchannels -@all"}, {"%rw~k", "off ~k resetchannels -@all"},
           {"%R~k %W~k", "off ~k resetchannels -@all"}, {"%R~k ~k", "off ~k resetchannels -@all"},
           {"~k %R~k", "off ~k resetchannels -@all"}, {"~a ~b ~a", "off ~a ~b resetchannels -@all"},
           {"~", "off ~ resetchannels -@all"}, {"~ ~", "off ~ resetchannels -@all"},
           {"%R~", "off %R~ resetchannels -@all"}, {"%R", "off %R~ resetchannels -@all"},
           {"%R~*", "off %R~* resetchannels -@all"}, {"~**", "off ~** resetchannels -@all"},
           {"~\xff\xfe", "off ~\xff\xfe resetchannels -@all"},
           {"~\"a", "off ~\"a resetchannels -@all"}, {"%", SYNTAX("%")}, {"%~k", SYNTAX("%~k")},
           {"%RR~k", SYNTAX("%RR~k")}, {"%X~k", SYNTAX("%X~k")}, {"%RX~k", SYNTAX("%RX~k")});
}

static void nothing_follows_the_pattern_of_all(void **state) {
    (void)state;
    EXPECT({"~* ~k", AFTER_ALL_KEYS("~k")}, {"~* %R~k", AFTER_ALL_KEYS("%R~k")},
           {"ALLKEYS ~k", AFTER_ALL_KEYS("~k")}, {"~k ~*", "off ~* resetchannels -@all"},
           {"~k allkeys", "off ~* resetchannels -@all"}, {"~* ~*", "off ~* resetchannels -@all"},
           {"~* resetkeys ~k", "off ~k resetchannels -@all"},
           {"~a ~b resetkeys", "off resetchannels -@all"}, {"&* &x", AFTER_ALL_CHANNELS("&x")},
           {"allchannels &x", AFTER_ALL_CHANNELS("&x")}, {"&x &*", "off &* -@all"},
           {"&x allchannels", "off &* -@all"}, {"&* &*", "off &* -@all"},
           {"&x resetchannels", "off resetchannels -@all"},
           {"&* resetchannels &x", "off resetchannels &x -@all"});
}

static void all_rights_to_all_keys_are_a_pattern_like_others(void **state) {
    (void)state;
    EXPECT({"%RW~*", "off ~* resetchannels -@all"}, {"%R~* %W~*", "off ~* resetchannels -@all"},
           {"%RW~* ~k", "off ~* ~k resetchannels -@all"},
           {"%wr~* %R~k", "off ~* %R~k resetchannels -@all"},
           {"%R~* ~k %W~* %W~k", "off ~* ~k resetchannels -@all"},
           {"~k %RW~*", "off ~k ~* resetchannels -@all"},
           {"%RW~* ~*", "off ~* resetchannels -@all"}, {"%RW~* ~* ~k", AFTER_ALL_KEYS("~k")},
           {"~* %RW~*", AFTER_ALL_KEYS("%RW~*")},
           {"%RW~* resetkeys ~k", "off ~k resetchannels -@all"},
           {"(%RW~* ~k)", "off resetchannels -@all (~* ~k resetchannels -@all)"},
           {"(~* ~k)", AFTER_ALL_KEYS("(~* ~k)")}, {"~* %X", AFTER_ALL_KEYS("%X")});
}

/* As it is shown, "~* ~k", it could not be read again. */
static void all_rights_to_all_keys_are_stored_with_the_rights(void **state) {
    (void)state;
    struct users users;
    users_init(&users, false);
    assert_null(set_user(&users, "t", "~k %RW~* %R~x (%RW~* ~k) (~*)"));
    const struct rights *rights = users_find(&users, SLICE("t"))->rights;
    sds text = rights_append(sds_new(SLICE("")), rights, RULES_STORED);
    assert_string_equal(text, "off ~k %RW~* %R~x resetchannels -@all"
                              " (%RW~* ~k resetchannels -@all) (~* resetchannels -@all)");
    assert_null(set_user(&users, "again", text));
    rights = users_find(&users, SLICE("again"))->rights;
    sds again = rights_append(sds_new(SLICE("")), rights, RULES_STORED);
    assert_string_equal(text, again);
    sds_free(text);
    sds_free(again);
    users_free(&users);
}

static void patterns_of_channels_keep_their_order(void **state) {
    (void)state;
    EXPECT({"&ch", "off resetchannels &ch -@all"}, {"&", "off resetchannels & -@all"},
           {"&b &a &b", "off resetchannels &b &a -@all"}, {"&**", "off resetchannels &** -@all"});
}

static void databases_are_sorted_and_replaced(void **state) {
    (void)state;
    EXPECT({"db=0", "off resetchannels db=0 -@all"}, {"DB=2,0,2", "off resetchannels db=0,2 -@all"},
           {"db=0 db=1", "off resetchannels db=1 -@all"},
           {"db=01,+2", "off resetchannels db=1,2 -@all"},
           {"db=2147483647", "off resetchannels db=2147483647 -@all"},
           {"db=0 alldbs", "off resetchannels -@all"}, {"ALLDBS", "off resetchannels -@all"},
           {"resetdbs", "off resetchannels resetdbs -@all"},
           {"resetdbs db=1", "off resetchannels db=1 -@all"},
           {"db=1 resetdbs", "off resetchannels resetdbs -@all"},
           {"db=1 reset", "off resetchannels -@all"}, {"db=1 +@all ~* &*", "off ~* &* db=1 +@all"},
           {"(db=1,2 ~a)", "off resetchannels -@all (~a resetchannels db=1,2 -@all)"},
           {"db=", SYNTAX("db=")}, {"db", SYNTAX("db")}, {"db=x", SYNTAX("db=x")},
           {"db=0,", SYNTAX("db=0,")}, {"db=,0", SYNTAX("db=,0")}, {"db=1-2", SYNTAX("db=1-2")},
           {"db=0,0x1", SYNTAX("db=0,0x1")}, {"db=-", SYNTAX("db=-")},
           {"db=-1", OUT_OF_RANGE("db=-1")}, {"db=2147483648", OUT_OF_RANGE("db=2147483648")},
           {"db=99999999999999999999", OUT_OF_RANGE("db=99999999999999999999")});
}

static void selectors_stand_behind_the_root(void **state) {
    (void)state;
    EXPECT({"()", "off resetchannels -@all (resetchannels -@all)"},
           {"(~a)", "off resetchannels -@all (~a resetchannels -@all)"},
           {"( +get ~a )", "off resetchannels -@all (~a resetchannels -@all +get)"},
           {"(+get ~a ~b)", "off resetchannels -@all (~a ~b resetchannels -@all +get)"},
           {"(+get )", "off resetchannels -@all (resetchannels -@all +get)"},
           {"(%R~a %W~a)", "off resetchannels -@all (~a resetchannels -@all)"},
           {"(+@all ~* &*)", "off resetchannels -@all (~* &* +@all)"},
           {"(+get) (+set)",
            "off resetchannels -@all (resetchannels -@all +get) (resetchannels -@all +set)"},
           {"(+get) on", "on resetchannels -@all (resetchannels -@all +get)"},
           {"(+get) clearselectors", "off resetchannels -@all"},
           {"on nopass ~* &* +@all (+get) reset", "off resetchannels -@all"});
}

static void selectors_contain_only_their_rules(void **state) {
    (void)state;
    EXPECT({"(on)", SYNTAX("(on)")}, {"(nopass)", SYNTAX("(nopass)")},
           {"(reset)", SYNTAX("(reset)")}, {"(clearselectors)", SYNTAX("(clearselectors)")},
           {"(sanitize-payload)", SYNTAX("(sanitize-payload)")}, {"(+nope)", UNKNOWN("(+nope)")},
           {"( +get +nope )", UNKNOWN("( +get +nope )")},
           {"( +get ~* ~a )", AFTER_ALL_KEYS("( +get ~* ~a )")}, {"((+get))", SYNTAX("((+get))")},
           {"(+PING (+SELECT (+DEL )", SYNTAX("(+PING (+SELECT (+DEL )")},
           {"( ~a (+get) )", SYNTAX("( ~a (+get)")}, {"(~a foo )", SYNTAX("(~a foo )")});
}

static void parentheses_are_closed(void **state) {
    (void)state;
    EXPECT({"(+get", "Unmatched parenthesis in acl selector starting at '(+get'."},
           {"(", "Unmatched parenthesis in acl selector starting at '('."},
           {"( +get", "Unmatched parenthesis in acl selector starting at '('."},
           {"(+get)x", "Unmatched parenthesis in acl selector starting at '(+get)x'."},
           {"(+get) (~a", "Unmatched parenthesis in acl selector starting at '(~a'."},
           /* whatever else is wrong */
           {"foo on (~a", "Unmatched parenthesis in acl selector starting at '(~a'."},
           {"on (~a", "Unmatched parenthesis in acl selector starting at '(~a'."});
}

static void passwords_are_kept_as_hashes(void **state) {
    (void)state;
    EXPECT({">a >a >b", "off #" HASH_OF_A " #" HASH_OF_B " resetchannels -@all"},
           {">a >b <a", "off #" HASH_OF_B " resetchannels -@all"},
           {">a >b !" HASH_OF_B, "off #" HASH_OF_A " resetchannels -@all"},
           {"#" AS, "off #" AS " resetchannels -@all"},
           {">", "off #" HASH_OF_NOTHING " resetchannels -@all"},
           {"nopass >a", "off #" HASH_OF_A " resetchannels -@all"},
           {">a nopass", "off nopass resetchannels -@all"},
           {">a resetpass", "off resetchannels -@all"},
           {"nopass resetpass", "off resetchannels -@all"}, {"!00", WRONG_HASH("!(redacted)")},
           {"#", WRONG_HASH("#(redacted)")}, {"#0123", WRONG_HASH("#(redacted)")},
           {"#A" SIXTEEN_A SIXTEEN_A SIXTEEN_A "aaaaaaaaaaaaaaa", WRONG_HASH("#(redacted)")},
           {"!" AS, NO_PASSWORD("!(redacted)")});
}

/* Errors go to logs. */
static void errors_show_no_passwords(void **state) {
    (void)state;
    EXPECT({"<secret", NO_PASSWORD("<(redacted)")}, {"nopass <secret", NO_PASSWORD("<(redacted)")},
           {"(on >secret)", SYNTAX("(on >(redacted)")},
           {"(>secret", "Unmatched parenthesis in acl selector starting at '(>(redacted)'."});
    sds text = made("+nope"), whole = sds_new(SLICE("~"));
    sds_free(text);
    for (int i = 0; i < 5000; i++) whole = sds_append(whole, SLICE("x"));
    text = made(whole);
    assert_true(sds_len(text) < 400);
    assert_non_null(strstr(text, "xxx...': A pattern or an argument has more than 4096 bytes"));
    sds_free(text);
    sds_free(whole);
}

/* --- Rules that are not separated by spaces --- */

static void expect_one(struct slice rule, const char *expected) {
    struct users users;
    users_init(&users, false);
    sds error = set_user_rules(&users, SLICE("t"), &rule, 1);
    sds text = error ? error : described(&users, "t");
    assert_string_equal(text, expected);
    sds_free(text);
    users_free(&users);
}

static void blanks_never_enter_the_text(void **state) {
    (void)state;
    expect_one(SLICE(""), "off resetchannels -@all");
    expect_one(SLICE("~a b"), SYNTAX("~a b"));
    expect_one(SLICE("&a\tb"), SYNTAX("&a\tb"));
    expect_one(SLICE("%R~a\nb"), SYNTAX("%R~a\nb"));
    expect_one(SLICE("+get "), UNKNOWN("+get "));
    /* Redis and Valkey crash when they are asked about users with the next two. */
    expect_one(SLICE("+select|0 1"), SYNTAX("+select|0 1"));
    expect_one(SLICE("+select|0\nuser evil on nopass +@all"),
               SYNTAX("+select|0\nuser evil on nopass +@all"));
    expect_one(SLICE("+get|\v"), SYNTAX("+get|\v"));
    expect_one(SLICE(">a b"),
               "off #c8687a08aa5d6ed2044328fa6a697ab8e96dc34291e8c2034ae8c38e6fcc6d65 "
               "resetchannels -@all");
    expect_one(SLICE("(~x\t+get\n &y)"),
               "off resetchannels -@all (~x resetchannels &y -@all +get)");
}

static void nul_is_in_no_rule(void **state) {
    (void)state;
    struct users users;
    const struct slice rules[] = {SLICE("~a\0b"),    SLICE("on\0"), SLICE("+get\0"),
                                  SLICE("+@read\0"), SLICE("&\0"),  SLICE("+select|\0"),
                                  SLICE("(~a\0b)"),  SLICE("\0")};
    users_init(&users, false);
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        sds error = set_user_rules(&users, SLICE("t"), &rules[i], 1);
        assert_non_null(error);
        sds_free(error);
    }
    assert_null(users_find(&users, SLICE("t")));
    users_free(&users);
}

/* Redis takes this, and prints what it reads as something else. */
static void no_rule_of_a_selector_ends_with_a_parenthesis(void **state) {
    (void)state;
    expect_one(SLICE("(~x) +get)"), SYNTAX("(~x) +get)"));
    expect_one(SLICE("(+get) (+set)"), SYNTAX("(+get) (+set)"));
    expect_one(SLICE("(~(x +get)"), "off resetchannels -@all (~(x resetchannels -@all +get)");
    expect_one(SLICE("~x)"), "off ~x) resetchannels -@all");
}

static void a_user_is_bounded(void **state) {
    (void)state;
    struct users users;
    struct {
        const char *format;
        const char *error;
    } kinds[] = {{"~%zu", "~4096"},
                 {"&%zu", "&4096"},
                 {"+select|%zu", "+select|4096"},
                 {">%zu", ">(redacted)"},
                 {"(~%zu)", "(~4095)"}};
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        sds rules = sds_new(SLICE("on"));
        for (size_t i = 0; i <= SELECTOR_PARTS_MAX; i++) {
            rules = sds_append(rules, SLICE(" "));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            rules = sds_append_format(rules, kinds[k].format, i);
#pragma GCC diagnostic pop
        }
        users_init(&users, false);
        sds error = set_user(&users, "t", rules);
        assert_non_null(error);
        sds expected =
            sds_append_format(sds_new(SLICE("")), WRONG("%s", RULE_TOO_MANY), kinds[k].error);
        assert_string_equal(error, expected);
        sds_free(expected);
        sds_free(error);
        sds_free(rules);
        users_free(&users);
    }
}

/* --- Together --- */

static void a_wrong_rule_changes_nothing(void **state) {
    (void)state;
    struct users users;
    users_init(&users, false);
    assert_null(set_user(&users, "t", "on >a ~k %R~r &c db=1 +@read -get +select|0 (~x +set)"));
    sds before = described(&users, "t");
    uint64_t generation = users_find(&users, SLICE("t"))->generation;
    sds_free(set_user(&users, "t", "reset +get nope"));
    sds_free(set_user(&users, "t", "reset (+get"));
    sds_free(set_user(&users, "new", "on +nope"));
    sds after = described(&users, "t");
    assert_string_equal(before, after);
    assert_int_equal(users_find(&users, SLICE("t"))->generation, generation);
    assert_null(users_find(&users, SLICE("new")));
    sds_free(before);
    sds_free(after);
    users_free(&users);
}

static void a_later_call_goes_on_where_the_last_one_ended(void **state) {
    (void)state;
    struct users users;
    users_init(&users, false);
    assert_null(set_user(&users, "t", "+@read >a ~a db=1 +select|0 (~x)"));
    assert_null(set_user(&users, "t", "-get ~b +config|get (&y)"));
    assert_null(set_user(&users, "t", "-@read on"));
    sds text = described(&users, "t");
    assert_string_equal(text,
                        "on #" HASH_OF_A " ~a ~b resetchannels db=1 -@all +select|0 -get "
                        "+config|get -@read (~x resetchannels -@all) (resetchannels &y -@all)");
    sds_free(text);
    users_free(&users);
}

static void acl_pubsub_default_counts_for_new_selectors(void **state) {
    (void)state;
    struct users users;
    users_init(&users, true);
    static const struct row rows[] = {{"(+get)", "off &* -@all (&* -@all +get)"},
                                      {"resetchannels reset", "off &* -@all"},
                                      {"resetchannels &x", "off resetchannels &x -@all"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_null(set_user(&users, "t", rows[i].rules));
        sds text = described(&users, "t");
        assert_string_equal(text, rows[i].text);
        sds_free(text);
        users_delete(&users, SLICE("t"));
    }
    users_free(&users);
}

/* What ACL GETUSER shows. */
static void parts_are_printed_alone(void **state) {
    (void)state;
    struct users users;
    users_init(&users, false);
    assert_null(set_user(&users, "t", "~a %R~b &x &y +get +@read db=0,2 (resetdbs)"));
    const struct selector *root = &users_find(&users, SLICE("t"))->rights->selectors[0];
    const struct selector *none = root + 1;
    const struct selector *all = &users.default_user->rights->selectors[0];
    struct {
        sds (*append)(sds out, const struct selector *selector);
        const struct selector *selector;
        const char *text;
    } parts[] = {{selector_append_keys, root, "~a %R~b"},
                 {selector_append_channels, root, "&x &y"},
                 {selector_append_databases, root, "db=0,2"},
                 {selector_append_databases, none, ""},
                 {selector_append_keys, none, ""},
                 {selector_append_channels, none, ""},
                 {selector_append_commands, root, "-@all +get +@read"},
                 {selector_append_keys, all, "~*"},
                 {selector_append_channels, all, "&*"},
                 {selector_append_databases, all, "alldbs"},
                 {selector_append_commands, all, "+@all"}};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        sds text = parts[i].append(sds_new(SLICE("")), parts[i].selector);
        assert_string_equal(text, parts[i].text);
        sds_free(text);
    }
    users_free(&users);
}

/* The last test: the names stay changed. */
static void a_renamed_command_keeps_its_own_name_in_rules(void **state) {
    (void)state;
    struct users users;
    users_init(&users, false);
    assert_null(command_rename(SLICE("get"), SLICE("fetch")));
    assert_null(command_rename(SLICE("config"), SLICE("get")));
    assert_null(set_user(&users, "t", "+get +config|set"));
    sds text = described(&users, "t"), error = set_user(&users, "t", "+fetch");
    assert_string_equal(text, "off resetchannels -@all +get +config|set");
    assert_string_equal(error, UNKNOWN("+fetch"));
    sds_free(text);
    sds_free(error);
    users_free(&users);
}

int main(void) {
    command_table_init(command_families, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_user_may_nothing),
        cmocka_unit_test(a_rule_replaces_the_text_of_older_ones_for_the_same),
        cmocka_unit_test(all_and_none_forget_the_text_before),
        cmocka_unit_test(commands_are_written_in_lower_case),
        cmocka_unit_test(unknown_commands_are_refused),
        cmocka_unit_test(patterns_of_keys_have_rights),
        cmocka_unit_test(nothing_follows_the_pattern_of_all),
        cmocka_unit_test(all_rights_to_all_keys_are_a_pattern_like_others),
        cmocka_unit_test(all_rights_to_all_keys_are_stored_with_the_rights),
        cmocka_unit_test(patterns_of_channels_keep_their_order),
        cmocka_unit_test(databases_are_sorted_and_replaced),
        cmocka_unit_test(selectors_stand_behind_the_root),
        cmocka_unit_test(selectors_contain_only_their_rules),
        cmocka_unit_test(parentheses_are_closed),
        cmocka_unit_test(passwords_are_kept_as_hashes),
        cmocka_unit_test(errors_show_no_passwords),
        cmocka_unit_test(blanks_never_enter_the_text),
        cmocka_unit_test(nul_is_in_no_rule),
        cmocka_unit_test(no_rule_of_a_selector_ends_with_a_parenthesis),
        cmocka_unit_test(a_user_is_bounded),
        cmocka_unit_test(a_wrong_rule_changes_nothing),
        cmocka_unit_test(a_later_call_goes_on_where_the_last_one_ended),
        cmocka_unit_test(acl_pubsub_default_counts_for_new_selectors),
        cmocka_unit_test(parts_are_printed_alone),
        cmocka_unit_test(a_renamed_command_keeps_its_own_name_in_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
