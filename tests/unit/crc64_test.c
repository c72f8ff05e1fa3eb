/* crc64: the checksum that the formats prescribe, the same whichever way it is computed. */
#include "base/hash/crc64.h"

#include "base/memory/alloc.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void the_check_value_is_that_of_the_polynomial(void **state) {
    (void)state;
    assert_true(crc64(0, "123456789", 9) == 0xE9C6D914C4B8D9CA);
    assert_true(crc64_portable(0, "123456789", 9) == 0xE9C6D914C4B8D9CA);
    assert_true(crc64(0, "", 0) == 0);
    assert_true(crc64(5, NULL, 0) == 5);
}

static uint64_t bit_by_bit(uint64_t crc, const uint8_t *bytes, size_t len) {
    for (size_t i = 0; i < len; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0x95AC9329AC4BC9B5 : 0);
    }
    return crc;
}

static void every_way_gives_the_same(void **state) {
    enum { SIZE = 1500 };
    struct random *random = *state;
    uint8_t *bytes = mem_alloc(SIZE);
    for (size_t i = 0; i < SIZE; i++) bytes[i] = (uint8_t)random_next(random);
    for (int i = 0; i < 3000; i++) {
        size_t from = random_below(random, 64), len = random_below(random, SIZE - 64);
        uint64_t before = random_next(random);
        uint64_t expected = bit_by_bit(before, bytes + from, len);
        assert_true(crc64(before, bytes + from, len) == expected);
        assert_true(crc64_portable(before, bytes + from, len) == expected);
        size_t cut = random_below(random, len + 1);
        uint64_t crc = crc64(before, bytes + from, cut);
        assert_true(crc64(crc, bytes + from + cut, len - cut) == expected);
    }
    mem_free(bytes);
}

int main(void) {
    struct random random = random_of_this_run();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_check_value_is_that_of_the_polynomial),
        cmocka_unit_test_prestate(every_way_gives_the_same, &random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
