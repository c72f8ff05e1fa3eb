/* Words of eight bytes: what is asked of all bytes at once agrees with one byte after the other. */
#include "base/word_bytes.h"

#include "unit/guard.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>

#include <cmocka.h>

enum { ROUNDS = 100000, LIMIT = 32 };

/* Bytes near those that are asked for, so that they often stand beside each other. */
static void fill(struct random *random, uint8_t bytes[8]) {
    static const uint8_t often[] = {0, 1, LIMIT - 1, LIMIT, '/', '/' - 1, '/' + 1, 127, 128, 255};
    for (size_t i = 0; i < 8; i++) {
        uint8_t other = (uint8_t)random_next(random);
        bytes[i] = random_below(random, 2) ? often[random_below(random, sizeof(often))] : other;
    }
}

static bool is_zero(uint8_t byte) {
    return byte == 0;
}

static bool is_slash(uint8_t byte) {
    return byte == '/';
}

static bool is_low(uint8_t byte) {
    return byte < LIMIT;
}

static bool is_low_or_slash(uint8_t byte) {
    return is_low(byte) || is_slash(byte);
}

static void assert_found(uint64_t found, const uint8_t bytes[8], bool (*is_meant)(uint8_t)) {
    unsigned first = 0;
    while (first < 8 && !is_meant(bytes[first])) first++;
    assert_int_equal(found == 0, first == 8);
    if (found != 0) assert_int_equal(word_bytes_place(found), first);
}

static void the_first_byte_that_is_meant_is_found(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    for (int i = 0; i < ROUNDS; i++) {
        uint8_t bytes[8];
        fill(&random, bytes);
        uint64_t word = word_bytes_load(bytes);
        assert_found(word_bytes_zero(word), bytes, is_zero);
        assert_found(word_bytes_equal(word, '/'), bytes, is_slash);
        assert_found(word_bytes_below(word, LIMIT), bytes, is_low);
        assert_found(word_bytes_below(word, LIMIT) | word_bytes_equal(word, '/'), bytes,
                     is_low_or_slash);
    }
}

static void a_part_of_a_word_is_loaded_without_the_bytes_around_it(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    struct guard guard = guard_new(16);
    for (int i = 0; i < ROUNDS; i++) {
        uint8_t bytes[8], all[8];
        unsigned n = (unsigned)random_below(&random, 8);
        fill(&random, bytes);
        memcpy(all, bytes, sizeof(all));
        for (unsigned k = n; k < 8; k++) all[k] = 0;
        const uint8_t *at = guard_place(&guard, bytes, n);
        assert_true(word_bytes_load_first(at, n) == word_bytes_load(all));
        assert_true((word_bytes_load(bytes) & word_bytes_first(n)) == word_bytes_load(all));
    }
    guard_free(&guard);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_byte_that_is_meant_is_found),
        cmocka_unit_test(a_part_of_a_word_is_loaded_without_the_bytes_around_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
