/* hash: the keyed hash of every table: fast, 64 bits, and seeded per process so that a client
 * cannot choose keys that collide.
 *
 * XXH3 with a 192-byte secret drawn from the system's entropy (libxxhash, https://xxhash.com). */
#ifndef PACKLIST_BASE_HASH_HASH_H
#define PACKLIST_BASE_HASH_HASH_H

#include "base/slice.h"

#include <stdint.h>

/* Draws the secret. Called once before the first hash; tests may call hash_init_seed instead. */
void hash_init(void);

/* A secret derived from `seed`, for runs that must be repeatable. */
void hash_init_seed(uint64_t seed);

/* O(len); a few nanoseconds for short keys. */
uint64_t hash_bytes(struct slice bytes);

#endif
