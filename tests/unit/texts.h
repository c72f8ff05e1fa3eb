/* texts: random texts that lie on the borders of the listpack encodings, and few enough to be found
 * again. */
#ifndef PACKLIST_TESTS_UNIT_TEXTS_H
#define PACKLIST_TESTS_UNIT_TEXTS_H

#include "base/hash/random.h"
#include "base/slice.h"

#include <stdint.h>
#include <stdio.h>

enum { TEXT_SIZE_MAX = 17000 };

/* A decimal next to a power of two, of either sign: where integer encodings change. */
static inline size_t text_integer(struct random *random, char *buffer) {
    uint64_t value = (1ull << random_below(random, 64)) + random_below(random, 3) - 1;
    bool negative = random_below(random, 2) != 0;
    return (size_t)snprintf(buffer, 32, "%s%llu", negative ? "-" : "", (unsigned long long)value);
}

/* Writes a text at `buffer` (TEXT_SIZE_MAX bytes); `long_ones` allows those of 4 KB and more. */
static inline struct slice text_random(struct random *random, char *buffer, bool long_ones) {
    static const uint16_t lengths[] = {
        0,  1,  2,   7,   8,   9,   10,  16,  17,   32,   33,   48,   49,    62,    63,   64,
        65, 99, 100, 125, 126, 127, 128, 999, 1000, 4094, 4095, 4096, 16377, 16378, 16379};
    static const char *const tricky[] = {"-0",
                                         "01",
                                         "+1",
                                         " 1",
                                         "1 ",
                                         "-",
                                         "9223372036854775808",
                                         "-9223372036854775809",
                                         "18446744073709551616",
                                         "1e3"};
    size_t choices = sizeof(lengths) / sizeof(*lengths);
    size_t len = 0;
    switch (random_below(random, 4)) {
    case 0: len = text_integer(random, buffer); break;
    case 1:
        len = (size_t)snprintf(buffer, 32, "%lld", (long long)random_below(random, 300) - 150);
        break;
    case 2:
        len = (size_t)snprintf(buffer, 32, "%s",
                               tricky[random_below(random, sizeof(tricky) / sizeof(*tricky))]);
        break;
    default:
        len = lengths[random_below(random, long_ones ? choices : choices - 6)];
        memset(buffer, (int)('a' + random_below(random, 2)), len);
    }
    return slice_make(buffer, len);
}

#endif
