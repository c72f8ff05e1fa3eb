/* Which thread may touch a structure. */
#include "base/threads/owner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void *ask(void *owner) {
    return (void *)(uintptr_t)owner_is_me(owner);
}

static bool ask_in_another_thread(struct owner *owner) {
    pthread_t thread;
    void *answer;
    assert_int_equal(pthread_create(&thread, NULL, ask, owner), 0);
    pthread_join(thread, &answer);
    return answer != NULL;
}

static void the_thread_that_asks_first_is_the_owner(void **state) {
    (void)state;
    struct owner owner = {0};
    assert_true(owner_is_me(&owner));
    assert_true(owner_is_me(&owner));
    assert_false(ask_in_another_thread(&owner));
    assert_true(owner_is_me(&owner));
}

static void another_thread_can_be_the_owner(void **state) {
    (void)state;
    struct owner owner = {0};
    assert_true(ask_in_another_thread(&owner));
    assert_false(owner_is_me(&owner));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_thread_that_asks_first_is_the_owner),
        cmocka_unit_test(another_thread_can_be_the_owner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
