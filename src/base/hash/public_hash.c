/* A file of its own, whose functions GCC must not merge with equal ones of the keyed hash: they
 * would no longer be inlined there, and each keyed hash would take two instructions more. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-ipa-icf")
#endif

#include "base/hash/public_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t public_hash(struct slice bytes) {
    return XXH3_64bits(bytes.ptr, bytes.len);
}
