/* model_fixture: what the fixtures of tests begin with that compare a value with a model. */
#ifndef PACKLIST_TESTS_UNIT_MODEL_FIXTURE_H
#define PACKLIST_TESTS_UNIT_MODEL_FIXTURE_H

#include "base/memory/alloc.h"
#include "store/keyspace.h"
#include "types/value.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct model_fixture {
    struct random random;
    struct keyspace *keyspace;
};

/* Makes a fixture of `size` bytes, all 0 but its first member, a struct model_fixture. */
static inline int set_up_model(void **state, size_t size) {
    struct model_fixture *fixture = mem_alloc_zeroed(size);
    fixture->random = random_of_this_run();
    fixture->keyspace = keyspace_new(value_free, value_length);
    *state = fixture;
    return 0;
}

static inline int tear_down_model(void **state) {
    struct model_fixture *fixture = *state;
    keyspace_free(fixture->keyspace);
    mem_free(fixture);
    return 0;
}

/* Freeing the value that `ref` names gives back what value_allocated() says. */
static inline void assert_frees_what_it_allocated(struct keyref *ref) {
    size_t allocated = value_allocated(ref->entry);
    struct entry *entry = keyspace_take(ref);
    size_t used = mem_used();
    value_free(entry);
    assert_int_equal(used - mem_used(), allocated);
}

#endif
