/* The checks of builds with CHECKED=1 find damaged data. Every build contains the functions; only
 * such a build calls them. */
#include "engine/checks.h"

#include "base/checked.h"
#include "base/hash/hash.h"
#include "ds/lists/quicklist_place.h"
#include "ds/records/intset.h"
#include "ds/sorted_sets/skiplist.h"
#include "engine/engine.h"
#include "types/list.h"
#include "types/set.h"
#include "types/string.h"
#include "types/value.h"
#include "unit/keyspace_fixture.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const struct quicklist_limits limits = {.fill = 4};

static struct entry *make_list(struct keyspace *keyspace, struct slice key, size_t elements) {
    struct keyref ref = keyspace_find(keyspace, key);
    struct slice element = SLICE("an element of some length");
    list_create(&ref, key, LIST_TAIL, &element, 1, &limits);
    for (size_t i = 1; i < elements; i++) list_push(&ref, LIST_TAIL, &element, 1, &limits);
    return ref.entry;
}

/* Runs the function in a child process, up to `times` times. Returns whether a failed assertion
 * ended it. */
static bool aborts(void (*function)(const void *), const void *arg, int times) {
    pid_t pid = fork();
    if (pid == 0) {
        fclose(stderr);
        for (int i = 0; i < times; i++) function(arg);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void check_value(const void *entry) {
    static struct checks checks;
    checks_value(&checks, entry);
}

static void check_keyspace(const void *keyspace) {
    static struct checks checks;
    checks_keyspace(&checks, keyspace);
}

static void values_and_keyspaces_that_are_well_pass(void **state) {
    struct keyspace *keyspace = *state;
    assert_false(aborts(check_value, make_list(keyspace, SLICE("short"), 3), 10));
    assert_false(aborts(check_value, make_list(keyspace, SLICE("long"), 10000), 100));
    assert_false(aborts(check_keyspace, keyspace, 10));
}

static void a_wrong_count_of_a_list_is_found_by_the_first_check(void **state) {
    struct entry *list = make_list(*state, SLICE("list"), 20);
    struct quicklist *nodes = (struct quicklist *)list_quicklist(list);
    nodes->count++;
    assert_true(aborts(check_value, list, 1));
    nodes->count--;
    assert_false(aborts(check_value, list, 1));
}

static void a_large_value_is_checked_once_enough_writes_have_paid_for_it(void **state) {
    struct entry *list = make_list(*state, SLICE("list"), 10000);
    struct quicklist *nodes = (struct quicklist *)list_quicklist(list);
    nodes->count++;
    assert_false(aborts(check_value, list, 1));
    assert_true(aborts(check_value, list, (int)(value_allocated(list) / 1024)));
    nodes->count--;
}

static void a_size_that_was_not_reported_is_found(void **state) {
    struct keyspace *keyspace = *state;
    struct entry *list = make_list(keyspace, SLICE("list"), 20);
    struct quicklist *nodes = (struct quicklist *)list_quicklist(list);
    uint64_t count = nodes->count;
    nodes->count = 2 * count + 1;
    assert_true(aborts(check_keyspace, keyspace, 1));
    nodes->count = count;
    assert_false(aborts(check_keyspace, keyspace, 1));
}

static void conditions_are_evaluated_in_checked_builds_only(void **state) {
    (void)state;
    int evaluated = 0;
    CHECKED_ASSERT(++evaluated);
    assert_int_equal(evaluated, CHECKS_ARE_ON);
}

/* --- Preconditions of functions --- */

static void read_behind_an_intset(const void *arg) {
    uint8_t intset[INTSET_HEADER_SIZE];
    (void)arg;
    intset_init(intset);
    intset_get(intset, 0);
}

static void step_behind_the_last_member(const void *arg) {
    struct skiplist_cursor cursor = {0};
    (void)arg;
    skiplist_next(&cursor);
}

static void drop_more_elements_than_there_are(const void *ref) {
    list_drop((struct keyref *)ref, LIST_HEAD, 2, &limits);
}

static void push_an_element_of_the_same_list(const void *ref) {
    struct listpack_value value;
    listpack_get(list_peek(((const struct keyref *)ref)->entry, LIST_HEAD), &value);
    struct slice element = slice_make(value.ptr, value.len);
    list_push((struct keyref *)ref, LIST_TAIL, &element, 1, &limits);
}

static void read_a_list_as_a_set(const void *ref) {
    set_length(((const struct keyref *)ref)->entry);
}

static void give_a_key_an_expiry_before_the_epoch(const void *ref) {
    struct keyref *key = (struct keyref *)ref;
    keyspace_set_expiry(key, -2, value_size(key->entry));
}

static void broken_preconditions_end_a_checked_build(void **state) {
    static void (*const uses[])(const void *) = {
        read_behind_an_intset,
        step_behind_the_last_member,
        drop_more_elements_than_there_are,
        push_an_element_of_the_same_list,
        read_a_list_as_a_set,
        give_a_key_an_expiry_before_the_epoch,
    };
    struct keyspace *keyspace = *state;
    make_list(keyspace, SLICE("list"), 1);
    struct keyref ref = keyspace_find(keyspace, SLICE("list"));
    for (size_t i = 0; CHECKS_ARE_ON && i < sizeof(uses) / sizeof(uses[0]); i++)
        assert_true(aborts(uses[i], &ref, 1));
}

int main(void) {
    hash_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(values_and_keyspaces_that_are_well_pass, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_wrong_count_of_a_list_is_found_by_the_first_check, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            a_large_value_is_checked_once_enough_writes_have_paid_for_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_size_that_was_not_reported_is_found, set_up, tear_down),
        cmocka_unit_test(conditions_are_evaluated_in_checked_builds_only),
        cmocka_unit_test_setup_teardown(broken_preconditions_end_a_checked_build, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
