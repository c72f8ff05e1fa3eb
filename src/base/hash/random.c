#include "base/hash/random.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

static uint64_t splitmix64(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

void random_seed(struct random *random, uint64_t seed) {
    for (int i = 0; i < 4; i++) random->state[i] = splitmix64(&seed);
}

static uint64_t rotate_left(uint64_t x, int bits) {
    return x << bits | x >> (64 - bits);
}

uint64_t random_next(struct random *random) {
    uint64_t *s = random->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

/* The high half of a 64 × 64 bit product maps 2^64 values onto `bound`; the few lowest products of
 * each, which would make some results likelier, are drawn again (Lemire, "Fast random integer
 * generation in an interval"). */
uint64_t random_below(struct random *random, uint64_t bound) {
    unsigned __int128 product = (unsigned __int128)random_next(random) * bound;
    if ((uint64_t)product < bound) {
        uint64_t surplus = (0 - bound) % bound;
        while ((uint64_t)product < surplus) {
            product = (unsigned __int128)random_next(random) * bound;
        }
    }
    return (uint64_t)(product >> 64);
}

void random_entropy(void *dst, size_t len) {
    char *at = dst;
    while (len > 0) {
        ssize_t got = getrandom(at, len, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            perror("getrandom");
            abort();
        }
        at += got;
        len -= (size_t)got;
    }
}

void random_hex(char *dst, size_t len) {
    unsigned char bytes[64];
    for (size_t i = 0; i < len; i++) {
        if (i % sizeof(bytes) == 0) random_entropy(bytes, sizeof(bytes));
        dst[i] = "0123456789abcdef"[bytes[i % sizeof(bytes)] & 15];
    }
}
