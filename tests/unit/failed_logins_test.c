/* Failed logins: how long the next one from an address takes. */
#include "users/failed_logins.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void fail_often(struct failed_logins *logins, uint64_t hash, int count, int64_t now_ms) {
    for (int i = 0; i < count; i++) failed_logins_add(logins, hash, now_ms);
}

static void ten_failures_are_free_and_the_next_take_longer(void **state) {
    (void)state;
    static const int64_t delays[] = {100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000};
    struct failed_logins logins = {0};
    for (int i = 0; i < FAILED_LOGINS_FREE; i++) {
        assert_int_equal(failed_logins_delay(&logins, 7, 0), 0);
        failed_logins_add(&logins, 7, 0);
    }
    for (size_t i = 0; i < sizeof(delays) / sizeof(delays[0]); i++) {
        assert_int_equal(failed_logins_delay(&logins, 7, 0), delays[i]);
        failed_logins_add(&logins, 7, 0);
    }
    fail_often(&logins, 7, 100000, 0);
    assert_int_equal(failed_logins_delay(&logins, 7, 0), FAILED_LOGINS_LAST_MS);
    assert_int_equal(failed_logins_delay(&logins, 8, 0), 0);
}

static void each_address_counts_for_itself(void **state) {
    (void)state;
    struct failed_logins logins = {0};
    fail_often(&logins, 1, 10, 0);
    fail_often(&logins, 2, 12, 0);
    assert_int_equal(failed_logins_delay(&logins, 1, 0), 100);
    assert_int_equal(failed_logins_delay(&logins, 2, 0), 400);
    assert_int_equal(failed_logins_delay(&logins, 3, 0), 0);
}

static void failures_age(void **state) {
    (void)state;
    struct failed_logins logins = {0};
    fail_often(&logins, 1, 12, 1000);
    assert_int_equal(failed_logins_delay(&logins, 1, 1000 + FAILED_LOGINS_FORGET_MS - 1), 400);
    assert_int_equal(failed_logins_delay(&logins, 1, 1000 + FAILED_LOGINS_FORGET_MS), 0);
    failed_logins_add(&logins, 1, 1000 + FAILED_LOGINS_FORGET_MS); /* the first one again */
    assert_int_equal(failed_logins_delay(&logins, 1, 1000 + FAILED_LOGINS_FORGET_MS), 0);
    fail_often(&logins, 1, 9, 1000 + FAILED_LOGINS_FORGET_MS);
    assert_int_equal(failed_logins_delay(&logins, 1, 1000 + FAILED_LOGINS_FORGET_MS), 100);
}

/* Those of one set, whose last failure is oldest, make place for others. */
static void the_table_is_bounded_and_keeps_the_newest(void **state) {
    (void)state;
    struct failed_logins logins = {0};
    uint64_t hash = 5;
    for (int64_t i = 0; i <= FAILED_LOGINS_WAYS; i++, hash += FAILED_LOGINS_SETS)
        fail_often(&logins, hash, 10, i);
    assert_int_equal(failed_logins_delay(&logins, 5, 10), 0);
    for (hash = 5 + FAILED_LOGINS_SETS; hash <= 5 + FAILED_LOGINS_WAYS * FAILED_LOGINS_SETS;
         hash += FAILED_LOGINS_SETS)
        assert_int_equal(failed_logins_delay(&logins, hash, 10), 100);
}

static void a_hash_of_zero_is_an_address(void **state) {
    (void)state;
    struct failed_logins logins = {0};
    assert_int_equal(failed_logins_delay(&logins, 0, 0), 0);
    fail_often(&logins, 0, 10, 0);
    assert_int_equal(failed_logins_delay(&logins, 0, 0), 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_failures_are_free_and_the_next_take_longer),
        cmocka_unit_test(each_address_counts_for_itself),
        cmocka_unit_test(failures_age),
        cmocka_unit_test(the_table_is_bounded_and_keeps_the_newest),
        cmocka_unit_test(a_hash_of_zero_is_an_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
