/* random: a fast generator for choices that need no secrecy, and real entropy for seeds and ids. */
#ifndef PACKLIST_BASE_HASH_RANDOM_H
#define PACKLIST_BASE_HASH_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* Caller-owned state, so that tests can print a seed and get the same run again. */
struct random {
    uint64_t state[4];
};

/* Starts from `seed`: equal seeds give equal sequences. xoshiro256** seeded by splitmix64
 * (Blackman and Vigna, https://prng.di.unimi.it). */
void random_seed(struct random *random, uint64_t seed);

/* The next 64 random bits. */
uint64_t random_next(struct random *random);

/* Uniform in [0, bound), bound > 0. */
uint64_t random_below(struct random *random, uint64_t bound);

/* Fills `dst` from the system's entropy source. Aborts if there is none. */
void random_entropy(void *dst, size_t len);

/* Writes `len` random lowercase hex digits (no terminator): run ids. */
void random_hex(char *dst, size_t len);

#endif
