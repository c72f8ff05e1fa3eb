/* What the tests of the libraries cjson, cmsgpack and struct have in common: whatever a script does with
 * a library, it works afterwards, and no memory stays in use. */
#ifndef PACKLIST_TESTS_UNIT_LIBRARY_FIXTURE_H
#define PACKLIST_TESTS_UNIT_LIBRARY_FIXTURE_H

#include "unit/in_range.h"
#include "unit/script_fixture.h"

/* A script that uses the library, and its outcome. */
struct library {
    const char *script;
    const char *outcome;
};

static inline void assert_library_works(struct script_fixture *fixture,
                                        const struct library *library) {
    assert_script(fixture, library->script, library->outcome);
    machine_collect(fixture->machine);
    assert_uint_in_range(machine_memory(fixture->machine), 1, MB);
}

/* Runs each of the scripts, whose outcomes contain `expected`. */
static inline void assert_outcomes(struct script_fixture *fixture, const struct library *library,
                                   const char *const *scripts, size_t count, const char *expected) {
    for (size_t i = 0; i < count; i++) {
        const char *outcome = script_run(fixture, scripts[i]);
        if (!strstr(outcome, expected)) {
            print_error("%s\n", scripts[i]);
            assert_string_equal(outcome, expected);
        }
        assert_library_works(fixture, library);
    }
}

/* Runs each of the scripts, which the watch ends. */
static inline void assert_ended_outcomes(struct script_fixture *fixture,
                                         const struct library *library, const char *const *scripts,
                                         size_t count) {
    for (size_t i = 0; i < count; i++) {
        assert_watch_ends(fixture, scripts[i], 20);
        assert_library_works(fixture, library);
    }
}

/* Runs the script with less memory than it needs, in steps up to enough, so that an allocation fails
 * at every place in turn. */
static inline void assert_allocations_may_fail(struct script_fixture *fixture,
                                               const struct library *library, const char *script,
                                               const char *outcome) {
    enum { STEP = 512, STEPS = 390 };
    size_t done = 0;
    for (size_t room = 0; room <= STEPS * STEP; room += STEP) {
        machine_collect(fixture->machine);
        machine_set_memory_limit(fixture->machine, machine_memory(fixture->machine) + room);
        const char *found = script_run(fixture, script);
        if (strcmp(found, outcome) == 0)
            done++;
        else
            assert_string_equal(found, "error: not enough memory");
        machine_set_memory_limit(fixture->machine, SCRIPT_MEMORY_LIMIT);
    }
    assert_uint_in_range(done, 1, STEPS);
    assert_library_works(fixture, library);
}

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#endif
