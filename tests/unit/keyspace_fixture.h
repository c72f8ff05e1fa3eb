/* keyspace_fixture: set-up and tear-down of tests that work on one keyspace, which is their
 * *state. */
#ifndef PACKLIST_TESTS_UNIT_KEYSPACE_FIXTURE_H
#define PACKLIST_TESTS_UNIT_KEYSPACE_FIXTURE_H

#include "store/keyspace.h"
#include "types/value.h"

static inline int set_up(void **state) {
    *state = keyspace_new(value_free, value_length);
    return 0;
}

static inline int tear_down(void **state) {
    keyspace_free(*state);
    return 0;
}

#endif
