/* The randomness of a test: other runs take other ways, and any of them can be taken again. */
#ifndef PACKLIST_TESTS_UNIT_SEED_H
#define PACKLIST_TESTS_UNIT_SEED_H

#include "base/hash/random.h"
#include "base/text/number.h"

#include <stdio.h>
#include <stdlib.h>

/* A generator seeded by PACKLIST_SEED of the environment, else by the system; prints the seed. */
static inline struct random random_of_this_run(void) {
    uint64_t seed;
    const char *given = getenv("PACKLIST_SEED");
    if (given == NULL || !number_parse_uint64(slice_of_cstr(given), &seed)) {
        random_entropy(&seed, sizeof(seed));
    }
    printf("PACKLIST_SEED=%llu\n", (unsigned long long)seed);
    fflush(stdout);
    struct random random;
    random_seed(&random, seed);
    return random;
}

#endif
