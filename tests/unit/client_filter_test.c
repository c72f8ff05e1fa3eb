/* client_filter: the conditions that the options of CLIENT KILL and LIST give, and the clients that they
 * match. */
#include "admin/client_filter.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { OPTIONS_MAX = 16 };

/* Parses words that end with NULL. Returns the error, or NULL. */
static sds parse(struct client_filter *filter, const char *const *words) {
    struct slice options[OPTIONS_MAX];
    size_t count = 0;
    for (; words[count]; count++) options[count] = slice_of_cstr(words[count]);
    return client_filter_parse(filter, options, count, true, 16);
}

#define PARSE(filter, ...) parse(filter, (const char *const[]){__VA_ARGS__, NULL})

#define ASSERT_ERROR(text, ...)                                                                    \
    do {                                                                                           \
        struct client_filter filter;                                                               \
        sds error = PARSE(&filter, __VA_ARGS__);                                                   \
        assert_non_null(error);                                                                    \
        assert_string_equal(error, text);                                                          \
        sds_free(error);                                                                           \
        client_filter_end(&filter);                                                                \
    } while (0)

static const struct client_facts someone = {
    .id = 7,
    .address = {"127.0.0.1:5000", 14},
    .local_address = {"127.0.0.2:6379", 14},
    .age_s = 60,
    .type = CLIENT_TYPE_NORMAL,
    .user = {"default", 7},
    .name = {"someone", 7},
    .lib_version = {"1.2", 3},
    .flags = {"xPe", 3},
    .capabilities = {"r", 1},
    .database = 3,
    .idle_s = 5,
};

/* Whether these options match `someone`. */
#define MATCHES(...) matches((const char *const[]){__VA_ARGS__, NULL}, someone)

static bool matches(const char *const *words, struct client_facts facts) {
    struct client_filter filter;
    assert_null(parse(&filter, words));
    bool found = client_filter_matches(&filter, &facts);
    client_filter_end(&filter);
    return found;
}

static void each_option_is_a_condition(void **state) {
    (void)state;
    assert_true(MATCHES("ID", "7"));
    assert_false(MATCHES("ID", "8"));
    assert_true(MATCHES("ADDR", "127.0.0.1:5000"));
    assert_false(MATCHES("ADDR", "127.0.0.1:500"));
    assert_true(MATCHES("LADDR", "127.0.0.2:6379"));
    assert_false(MATCHES("LADDR", "127.0.0.1:5000"));
    assert_true(MATCHES("MAXAGE", "60"));
    assert_false(MATCHES("MAXAGE", "61"));
    assert_true(MATCHES("TYPE", "normal"));
    assert_false(MATCHES("TYPE", "pubsub"));
    assert_true(MATCHES("USER", "default"));
    assert_false(MATCHES("USER", "Default"));
    assert_true(MATCHES("IDLE", "5"));
    assert_false(MATCHES("IDLE", "6"));
}

/* Words of an option and its value that `someone` has, and of one that he has not. */
static void each_option_can_be_negated(void **state) {
    (void)state;
    static const struct {
        const char *option, *negated, *true_value, *false_value;
    } options[] = {
        {"ID", "NOT-ID", "7", "8"},
        {"TYPE", "NOT-TYPE", "normal", "pubsub"},
        {"ADDR", "not-addr", "127.0.0.1:5000", "127.0.0.1:500"},
        {"LADDR", "NOT-LADDR", "127.0.0.2:6379", "127.0.0.1:5000"},
        {"IP", "NOT-IP", "127.0.0.1", "127.0.0.2"},
        {"ip", "Not-Ip", "127.0.0.1", "127.0.0.1:5000"},
        {"USER", "NOT-USER", "default", "other"},
        {"NAME", "NOT-NAME", "someone", "some"},
        {"LIB-NAME", "NOT-LIB-NAME", NULL, "other"},
        {"lib-name", "not-lib-name", NULL, ""},
        {"LIB-VER", "NOT-LIB-VER", "1.2", "1"},
        {"DB", "NOT-DB", "3", "0"},
        {"FLAGS", "NOT-FLAGS", "P", "PN"},
        {"FLAGS", "NOT-FLAGS", "ex", "N"},
        {"CAPA", "NOT-CAPA", "r", NULL},
    };
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        if (options[i].true_value) {
            assert_true(MATCHES(options[i].option, options[i].true_value));
            assert_false(MATCHES(options[i].negated, options[i].true_value));
        }
        if (options[i].false_value) {
            assert_false(MATCHES(options[i].option, options[i].false_value));
            assert_true(MATCHES(options[i].negated, options[i].false_value));
        }
    }
}

static void ids_can_be_many(void **state) {
    (void)state;
    assert_true(MATCHES("ID", "9", "7", "7", "1"));
    assert_true(MATCHES("ID", "9", "7", "NAME", "someone"));
    assert_false(MATCHES("ID", "9", "8", "DB", "3"));
    assert_false(MATCHES("NOT-ID", "9", "7"));
    assert_true(MATCHES("NOT-ID", "9", "6", "ID", "7"));
    ASSERT_ERROR("ERR client-id should be greater than 0", "ID", "7", "0");
    ASSERT_ERROR("ERR syntax error", "ID", "7", "x");
    ASSERT_ERROR("ERR syntax error", "NOT-ID", "x");
}

static void addresses_of_all_kinds_have_an_ip(void **state) {
    (void)state;
    struct client_facts other = someone;
    other.address = SLICE("[fe80::1]:5000");
    assert_true(matches((const char *const[]){"IP", "fe80::1", NULL}, other));
    other.address = SLICE("/tmp/a:b.sock:0");
    assert_true(matches((const char *const[]){"IP", "/tmp/a:b.sock", NULL}, other));
    other.address = SLICE("?");
    assert_false(matches((const char *const[]){"IP", "127.0.0.1", NULL}, other));
}

static void options_are_told_from_values(void **state) {
    (void)state;
    static const char *const options[] = {"id",   "NOT-ID", "type",  "not-capa",
                                          "idle", "MAXAGE", "SkipMe"};
    static const char *const others[] = {"",           "not-",       "7",  "not-idle",
                                         "NOT-SKIPME", "not-not-id", "ids"};
    for (size_t i = 0; i < 7; i++) {
        assert_true(client_filter_is_option(slice_of_cstr(options[i])));
        assert_false(client_filter_is_option(slice_of_cstr(others[i])));
    }
}

static void the_primary_has_no_user(void **state) {
    (void)state;
    struct client_facts primary = someone;
    primary.type = CLIENT_TYPE_MASTER;
    primary.user = SLICE("(superuser)");
    assert_true(matches((const char *const[]){"TYPE", "master", NULL}, primary));
    assert_false(
        matches((const char *const[]){"TYPE", "master", "USER", "default", NULL}, primary));
}

static void all_conditions_must_hold(void **state) {
    (void)state;
    assert_true(MATCHES("id", "7", "addr", "127.0.0.1:5000", "maxage", "1"));
    assert_false(MATCHES("id", "7", "addr", "127.0.0.1:5000", "maxage", "61"));
    assert_false(MATCHES("id", "7", "addr", "127.0.0.9:5000"));
}

static void the_last_of_an_option_counts(void **state) {
    (void)state;
    assert_true(MATCHES("id", "8", "id", "7"));
    assert_false(MATCHES("id", "7", "id", "8"));
}

static void the_calling_client_is_spared_unless_skipme_is_no(void **state) {
    (void)state;
    struct client_facts me = someone;
    me.is_me = true;
    assert_false(matches((const char *const[]){"id", "7", NULL}, me));
    assert_false(matches((const char *const[]){"id", "7", "skipme", "YES", NULL}, me));
    assert_true(matches((const char *const[]){"id", "7", "skipme", "no", NULL}, me));
    assert_true(MATCHES("skipme", "yes"));
}

/* Returns CLIENT_TYPE_ANY for a name that is refused. */
static enum client_type type_named(const char *name) {
    struct client_filter filter;
    sds error = parse(&filter, (const char *const[]){"type", name, NULL});
    enum client_type type = error ? CLIENT_TYPE_ANY : filter.wanted.type;
    sds_free(error);
    client_filter_end(&filter);
    return type;
}

static void types_are_known_by_all_their_names(void **state) {
    (void)state;
    assert_int_equal(type_named("NORMAL"), CLIENT_TYPE_NORMAL);
    assert_int_equal(type_named("replica"), CLIENT_TYPE_REPLICA);
    assert_int_equal(type_named("Slave"), CLIENT_TYPE_REPLICA);
    assert_int_equal(type_named("pubsub"), CLIENT_TYPE_PUBSUB);
    assert_int_equal(type_named("master"), CLIENT_TYPE_MASTER);
    assert_int_equal(type_named("primary"), CLIENT_TYPE_MASTER);
    assert_int_equal(type_named("norma"), CLIENT_TYPE_ANY);
    assert_int_equal(type_named(""), CLIENT_TYPE_ANY);
}

static void wrong_options_are_named(void **state) {
    (void)state;
    ASSERT_ERROR("ERR client-id should be greater than 0", "ID", "0");
    ASSERT_ERROR("ERR client-id should be greater than 0", "ID", "-1");
    ASSERT_ERROR("ERR client-id should be greater than 0", "ID", "x");
    ASSERT_ERROR("ERR maxage is not an integer or out of range", "MAXAGE", "x");
    ASSERT_ERROR("ERR maxage should be greater than 0", "MAXAGE", "0");
    ASSERT_ERROR("ERR Unknown client type 'foo'", "TYPE", "foo");
    ASSERT_ERROR("ERR syntax error", "SKIPME", "maybe");
    ASSERT_ERROR("ERR syntax error", "ID", "7", "ADDR");
    ASSERT_ERROR("ERR syntax error", "FROB", "x");
    ASSERT_ERROR("ERR syntax error", "NOT-SKIPME", "yes");
    ASSERT_ERROR("ERR syntax error", "NOT-IDLE", "5");
    ASSERT_ERROR("ERR idle is not an integer or out of range", "IDLE", "x");
    ASSERT_ERROR("ERR idle should be greater than 0", "IDLE", "0");
    ASSERT_ERROR("ERR DB is not an integer or out of range", "DB", "x");
    ASSERT_ERROR("ERR NOT-DB is not an integer or out of range", "not-db", "x");
    ASSERT_ERROR("ERR NOT-DB number should be between 0 and 15", "NOT-DB", "16");
    ASSERT_ERROR("ERR DB number should be between 0 and 15", "DB", "-1");
    ASSERT_ERROR("ERR Unknown flags found in the provided filter: NQ", "FLAGS", "NQ");
    ASSERT_ERROR("ERR Unknown flags found in the NOT-FLAGS filter: NQ", "NOT-FLAGS", "NQ");
    ASSERT_ERROR("ERR Unknown capa found in the provided filter: x", "CAPA", "x");
    ASSERT_ERROR("ERR Unknown capa found in the NOT-CAPA filter: x", "not-capa", "x");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_option_is_a_condition),
        cmocka_unit_test(each_option_can_be_negated),
        cmocka_unit_test(ids_can_be_many),
        cmocka_unit_test(addresses_of_all_kinds_have_an_ip),
        cmocka_unit_test(options_are_told_from_values),
        cmocka_unit_test(the_primary_has_no_user),
        cmocka_unit_test(all_conditions_must_hold),
        cmocka_unit_test(the_last_of_an_option_counts),
        cmocka_unit_test(the_calling_client_is_spared_unless_skipme_is_no),
        cmocka_unit_test(types_are_known_by_all_their_names),
        cmocka_unit_test(wrong_options_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
