#include "base/hash/hash.h"

#include "base/hash/random.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* XXH3's shortest secret is 136 bytes; 192 is the length that it is made for. Written before the
 * first hash, only read afterwards: one per process, because every table must agree with every
 * other. */
enum { SECRET_SIZE = 192 };
_Static_assert(SECRET_SIZE >= XXH3_SECRET_SIZE_MIN, "secret too short");

static _Alignas(64) unsigned char secret[SECRET_SIZE];

void hash_init(void) {
    random_entropy(secret, sizeof(secret));
}

void hash_init_seed(uint64_t seed) {
    struct random random;
    random_seed(&random, seed);
    for (size_t i = 0; i < sizeof(secret); i += sizeof(uint64_t)) {
        uint64_t bits = random_next(&random);
        memcpy(secret + i, &bits, sizeof(bits));
    }
}

uint64_t hash_bytes(struct slice bytes) {
    return XXH3_64bits_withSecret(bytes.ptr, bytes.len, secret, sizeof(secret));
}
