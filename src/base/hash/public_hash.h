/* public_hash: a hash that every server has the same for the same bytes: XXH3 in 64 bits without a
 * secret, with seed 0 (libxxhash, https://xxhash.com). Not for tables: a client can choose texts
 * that collide. */
#ifndef PACKLIST_BASE_HASH_PUBLIC_HASH_H
#define PACKLIST_BASE_HASH_PUBLIC_HASH_H

#include "base/slice.h"

#include <stdint.h>

/* O(len). */
uint64_t public_hash(struct slice bytes);

#endif
