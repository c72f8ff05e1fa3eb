#include "base/hash/random.h"
#include "unit/in_range.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void equal_seeds_give_equal_sequences(void **state) {
    (void)state;
    struct random a, b, other;
    random_seed(&a, 42);
    random_seed(&b, 42);
    random_seed(&other, 43);
    int same = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t next = random_next(&a);
        assert_true(next == random_next(&b));
        same += next == random_next(&other);
    }
    assert_int_equal(same, 0);
}

static void the_generator_is_xoshiro256_starstar(void **state) {
    (void)state;
    /* Worked out by hand from the definition: result = rotl(s1 * 5, 7) * 9. */
    struct random random = {{1, 2, 3, 4}};
    assert_true(random_next(&random) == 11520);
    assert_true(random_next(&random) == 0);
    assert_true(random_next(&random) == 1509978240);
    /* splitmix64 from 0 starts with this word. */
    random_seed(&random, 0);
    assert_true(random.state[0] == 0xe220a8397b1dcdaf);
}

static void below_is_uniform_and_in_bounds(void **state) {
    (void)state;
    struct random random;
    random_seed(&random, 7);
    for (uint64_t bound = 1; bound <= 17; bound++) {
        int counts[17] = {0};
        for (int i = 0; i < 17000; i++) {
            uint64_t drawn = random_below(&random, bound);
            assert_true(drawn < bound);
            counts[drawn]++;
        }
        int expected = 17000 / (int)bound;
        for (uint64_t i = 0; i < bound; i++) {
            assert_uint_in_range(counts[i], expected * 8 / 10, expected * 12 / 10);
        }
    }
    /* Three quarters of the range: a biased method would draw the low third twice as often. */
    const uint64_t bound = 3UL << 62;
    int low = 0;
    for (int i = 0; i < 30000; i++) low += random_below(&random, bound) < 1UL << 62;
    assert_uint_in_range(low, 9500, 10500);
    assert_true(random_below(&random, UINT64_MAX) != random_below(&random, UINT64_MAX));
}

static void entropy_fills_exactly_the_buffer(void **state) {
    (void)state;
    static unsigned char a[3000], b[3000];
    random_entropy(a, sizeof(a) - 8);
    random_entropy(b, sizeof(b) - 8);
    assert_memory_not_equal(a, b, 32);
    for (size_t i = sizeof(a) - 8; i < sizeof(a); i++) assert_int_equal(a[i], 0);
    int zeros = 0;
    for (size_t i = 0; i < sizeof(a) - 8; i++) zeros += a[i] == 0;
    assert_true(zeros < 100);
    random_entropy(a, 0);
}

static void hex_digits_are_random_and_lowercase(void **state) {
    (void)state;
    char a[202], b[202];
    memset(a, '!', sizeof(a));
    random_hex(a, 200);
    random_hex(b, 200);
    assert_memory_not_equal(a, b, 40);
    assert_memory_not_equal(a, a + 64, 40); /* one draw of entropy after the other */
    for (int i = 0; i < 200; i++) assert_non_null(memchr("0123456789abcdef", a[i], 16));
    assert_int_equal(a[200], '!');
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_seeds_give_equal_sequences),
        cmocka_unit_test(the_generator_is_xoshiro256_starstar),
        cmocka_unit_test(below_is_uniform_and_in_bounds),
        cmocka_unit_test(entropy_fills_exactly_the_buffer),
        cmocka_unit_test(hex_digits_are_random_and_lowercase),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
