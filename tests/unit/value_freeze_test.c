/* Frozen values (types/value.h): they stay as they are while the value changes, and can be copied. */
#include "ds/capture.h"
#include "types/set.h"
#include "types/value.h"
#include "unit/keyspace_fixture.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define KEY SLICE("key")

enum { MEMBERS = 20000, CHANGES = 2000 };

static const struct set_limits limits = {
    .intset_entries = 512, .listpack_entries = 128, .listpack_value = 64};

static struct random random_numbers;

static struct slice member_of(size_t i, char buffer[32]) {
    return slice_make(buffer, (size_t)snprintf(buffer, 32, "member:%zu", i));
}

/* Adds or removes members; *is_in says which are there. */
static void change(struct keyref *ref, bool *is_in) {
    char buffer[32];
    for (int n = 0; n < CHANGES; n++) {
        size_t i = random_below(&random_numbers, MEMBERS);
        struct slice member = member_of(i, buffer);
        assert_true(is_in[i] ? set_remove(ref, member) : set_add(ref, member, &limits));
        is_in[i] = !is_in[i];
    }
}

static void assert_members(const struct entry *set, const bool *is_in) {
    char buffer[32];
    size_t count = 0;
    for (size_t i = 0; i < MEMBERS; i++) {
        assert_true(set_contains(set, member_of(i, buffer)) == is_in[i]);
        count += is_in[i];
    }
    assert_true(set_length(set) == count && value_check(set));
}

/* A copy is a value like others: it has captures of its own. */
static void assert_copy(struct frozen *frozen, const bool *is_in) {
    struct keyspace *keyspace = keyspace_new(value_free, value_length);
    struct keyref ref = keyspace_find(keyspace, KEY);
    bool own[MEMBERS];
    memcpy(own, is_in, sizeof(own));
    keyspace_add(&ref, value_copy(frozen->entry, KEY));
    assert_members(ref.entry, is_in);
    struct frozen of_copy;
    value_freeze(ref.entry, NULL, &of_copy);
    change(&ref, own);
    assert_members(ref.entry, own);
    for (size_t i = 0; i < MEMBERS; i++) {
        char buffer[32];
        assert_true(set_contains(of_copy.entry, member_of(i, buffer)) == is_in[i]);
    }
    capture_end(value_unfreeze(&of_copy));
    keyspace_free(keyspace);
}

static void a_frozen_set_stays_and_can_be_copied_after_many_captures(void **state) {
    bool is_in[MEMBERS] = {false}, then[MEMBERS];
    struct keyref ref = keyspace_find(*state, KEY);
    keyspace_add(&ref, set_load_new(KEY, 0, &limits));
    for (int i = 0; i < 20; i++) change(&ref, is_in);
    for (int i = 0; i < 20; i++) {
        struct frozen frozen;
        size_t left = 0;
        memcpy(then, is_in, sizeof(then));
        value_freeze(ref.entry, &left, &frozen);
        assert_non_null(frozen.capture);
        change(&ref, is_in);
        assert_copy(&frozen, then);
        capture_end(value_unfreeze(&frozen));
        assert_null(value_unfreeze(&frozen));
        assert_true(left == 0);
    }
    assert_members(ref.entry, is_in);
}

int main(void) {
    random_numbers = random_of_this_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_frozen_set_stays_and_can_be_copied_after_many_captures,
                                        set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
