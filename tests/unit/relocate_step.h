/* relocate_step: steps of moving memory amid the random changes of a model test. */
#ifndef PACKLIST_TESTS_UNIT_RELOCATE_STEP_H
#define PACKLIST_TESTS_UNIT_RELOCATE_STEP_H

#include "base/hash/random.h"
#include "base/memory/relocate.h"

/* Where a structure goes on, for one structure. All zero at first. */
struct relocate_step {
    struct relocator relocator;
    struct relocate_cursor cursor;
};

/* Returns whether a step is to be taken now, of one block or a few, each of which moves. */
static inline bool relocate_step_begins(struct relocate_step *step, struct random *random) {
    relocator_init_for_tests(&step->relocator, 1 + (unsigned)random_below(random, 4));
    return random_below(random, 3) == 0;
}

#endif
