/* random48: the generator of drand48 (a linear congruential one of 48 bits, as POSIX defines it).
 * It gives scripts the same numbers on every machine; it is not for anything that must not be
 * guessed. */
#ifndef PACKLIST_LUA_RANDOM_H
#define PACKLIST_LUA_RANDOM_H

#include <stdint.h>

struct random48 {
    uint64_t state; /* below 2^48 */
};

/* As a process of POSIX begins that has not called srand48, and as after srand48(seed). */
static inline struct random48 random48_default(void) {
    return (struct random48){0x1234ABCD330E};
}

static inline struct random48 random48_seeded(uint32_t seed) {
    return (struct random48){(uint64_t)seed << 16 | 0x330E};
}

/* The next number of lrand48, below 2^31. */
static inline uint32_t random48_next(struct random48 *random) {
    random->state = (random->state * 0x5DEECE66D + 0xB) & 0xFFFFFFFFFFFF;
    return (uint32_t)(random->state >> 17);
}

#endif
