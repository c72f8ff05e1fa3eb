/* known_random: a library that is loaded before a server (LD_PRELOAD) and gives it the same random
 * bytes in every run: so the hash has the same secret, which decides how tall the towers of a
 * sorted set are, and a request takes the same steps.
 *
 *      cc -O2 -shared -fPIC -o known_random.so known_random.c
 *
 * The numbers are those of splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
 * Generators, 2014). */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <sys/types.h>

static uint64_t next_number(void) {
    static _Atomic uint64_t state;
    uint64_t bits = atomic_fetch_add(&state, 0x9e3779b97f4a7c15) + 0x9e3779b97f4a7c15;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
    return bits ^ bits >> 31;
}

ssize_t getrandom(void *bytes, size_t len, unsigned flags) {
    (void)flags;
    for (size_t at = 0; at < len; at += sizeof(uint64_t)) {
        uint64_t number = next_number();
        size_t rest = len - at;
        memcpy((char *)bytes + at, &number, rest < sizeof(number) ? rest : sizeof(number));
    }
    return (ssize_t)len;
}
