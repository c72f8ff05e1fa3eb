/* client_filter: the conditions that CLIENT KILL's options give, and the clients that they
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
    return client_filter_parse(filter, options, count);
}

#define PARSE(filter, ...) parse(filter, (const char *const[]){__VA_ARGS__, NULL})

#define ASSERT_ERROR(text, ...)                                                                    \
    do {                                                                                           \
        struct client_filter filter;                                                               \
        sds error = PARSE(&filter, __VA_ARGS__);                                                   \
        assert_non_null(error);                                                                    \
        assert_string_equal(error, text);                                                          \
        sds_free(error);                                                                           \
    } while (0)

static const struct client_facts someone = {
    .id = 7,
    .address = {"127.0.0.1:5000", 14},
    .local_address = {"127.0.0.2:6379", 14},
    .age_s = 60,
    .type = CLIENT_TYPE_NORMAL,
    .user = {"default", 7},
};

/* Whether these options match `someone`. */
#define MATCHES(...) matches((const char *const[]){__VA_ARGS__, NULL}, someone)

static bool matches(const char *const *words, struct client_facts facts) {
    struct client_filter filter;
    assert_null(parse(&filter, words));
    return client_filter_matches(&filter, &facts);
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

static void types_are_known_by_all_their_names(void **state) {
    (void)state;
    assert_int_equal(client_type_named(SLICE("NORMAL")), CLIENT_TYPE_NORMAL);
    assert_int_equal(client_type_named(SLICE("replica")), CLIENT_TYPE_REPLICA);
    assert_int_equal(client_type_named(SLICE("Slave")), CLIENT_TYPE_REPLICA);
    assert_int_equal(client_type_named(SLICE("pubsub")), CLIENT_TYPE_PUBSUB);
    assert_int_equal(client_type_named(SLICE("master")), CLIENT_TYPE_MASTER);
    assert_int_equal(client_type_named(SLICE("norma")), CLIENT_TYPE_ANY);
    assert_int_equal(client_type_named(SLICE("")), CLIENT_TYPE_ANY);
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
    ASSERT_ERROR("ERR syntax error", "NAME", "x");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_option_is_a_condition),
        cmocka_unit_test(the_primary_has_no_user),
        cmocka_unit_test(all_conditions_must_hold),
        cmocka_unit_test(the_last_of_an_option_counts),
        cmocka_unit_test(the_calling_client_is_spared_unless_skipme_is_no),
        cmocka_unit_test(types_are_known_by_all_their_names),
        cmocka_unit_test(wrong_options_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
