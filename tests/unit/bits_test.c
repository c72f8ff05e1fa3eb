/* Bits: the fast ways of counting, finding, combining and cutting out agree with looking at one bit
 * after the other. */
#include "types/bits.h"

#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { BYTES_MAX = 400, ROUNDS = 20000 };

/* Bytes that are often all zeros or all ones, so that long runs of either come up; they begin at any
 * address and end where nothing may be read behind them. */
struct sample {
    uint8_t *memory;
    struct slice bytes;
};

static struct sample sample_new(struct random *random) {
    size_t len = random_below(random, BYTES_MAX);
    struct sample sample = {.memory = test_malloc(len + 1)};
    unsigned kind = (unsigned)random_below(random, 3);
    for (size_t i = 0; i < len; i++)
        sample.memory[i] = (uint8_t)(kind == 0 ? random_next(random) : kind == 1 ? 0 : 0xFF);
    if (len > 0) sample.memory[random_below(random, len)] = (uint8_t)random_next(random);
    sample.bytes = slice_make(sample.memory, len);
    return sample;
}

static void sample_free(struct sample *sample) {
    test_free(sample->memory);
}

static bool bit_at(struct slice bytes, uint64_t at) {
    return at / 8 < bytes.len && ((uint8_t)bytes.ptr[at / 8] >> (7 - at % 8) & 1);
}

static void counting_and_finding_agree_with_one_bit_after_the_other(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    for (int round = 0; round < ROUNDS; round++) {
        struct sample sample = sample_new(&random);
        uint64_t total = 8 * sample.bytes.len, count = 0;
        uint64_t from = random_below(&random, total + 1), to = random_below(&random, total + 1);
        if (from > to) from = to / 2;
        if (round % 3 == 0) from = from / 8 * 8, to = to / 8 * 8;
        int64_t first[2] = {-1, -1};
        for (uint64_t i = from; i < to; i++) {
            bool bit = bit_at(sample.bytes, i);
            count += bit;
            if (first[bit] < 0) first[bit] = (int64_t)i;
            assert_int_equal(bits_test(sample.bytes, i), bit);
        }
        assert_int_equal(bits_count(sample.bytes, from, to), count);
        assert_true(bits_find(sample.bytes, false, from, to) == first[0]);
        assert_true(bits_find(sample.bytes, true, from, to) == first[1]);
        assert_false(bits_test(sample.bytes, total + from));
        sample_free(&sample);
    }
}

static uint8_t byte_of(struct slice source, size_t at) {
    return at < source.len ? (uint8_t)source.ptr[at] : 0;
}

static uint8_t combined(enum bits_operation operation, const struct slice *sources, size_t count,
                        size_t at) {
    uint8_t first = byte_of(sources[0], at), all = first, any = first, odd = first, one = 0;
    uint8_t others = 0;
    for (size_t i = 1; i < count; i++) {
        uint8_t byte = byte_of(sources[i], at);
        all &= byte, any |= byte, odd ^= byte, others |= byte;
    }
    for (unsigned bit = 0; bit < 8; bit++) {
        unsigned sets = 0;
        for (size_t i = 0; i < count; i++) sets += byte_of(sources[i], at) >> bit & 1;
        if (sets == 1) one |= (uint8_t)(1 << bit);
    }
    switch (operation) {
    case BITS_AND: return all;
    case BITS_OR: return any;
    case BITS_XOR: return odd;
    case BITS_NOT: return (uint8_t)~first;
    case BITS_DIFF: return first & (uint8_t)~others;
    case BITS_DIFF1: return others & (uint8_t)~first;
    case BITS_ANDOR: return first & others;
    case BITS_ONE: return one;
    }
    return 0;
}

static void combining_agrees_with_one_byte_after_the_other(void **state) {
    (void)state;
    enum { SOURCES_MAX = 5 };
    struct random random = random_of_this_run();
    for (int round = 0; round < ROUNDS; round++) {
        enum bits_operation operation = (enum bits_operation)random_below(&random, BITS_ONE + 1);
        size_t least = bits_is_commutative(operation) ? 1 : 2, len = 0;
        size_t count = least + random_below(&random, SOURCES_MAX + 1 - least);
        if (operation == BITS_NOT) count = 1;
        struct sample samples[SOURCES_MAX];
        struct slice sources[SOURCES_MAX];
        for (size_t i = 0; i < count; i++) {
            samples[i] = sample_new(&random);
            sources[i] = samples[i].bytes;
            if (sources[i].len > len) len = sources[i].len;
        }
        uint8_t *out = test_malloc(len + 1);
        out[len] = 0xA5;
        bits_combine(operation, out, len, sources, count);
        for (size_t i = 0; i < len; i++)
            assert_int_equal(out[i], combined(operation, sources, count, i));
        assert_int_equal(out[len], 0xA5);
        if (sources[0].len == len) { /* over the first source */
            bits_combine(operation, samples[0].memory, len, sources, count);
            assert_memory_equal(samples[0].memory, out, len);
        }
        test_free(out);
        for (size_t i = 0; i < count; i++) sample_free(&samples[i]);
    }
}

static void long_sources_are_combined_block_by_block(void **state) {
    (void)state;
    enum { LONG = 50000, SHORT = 20001 };
    static char a[LONG], b[SHORT];
    static uint8_t out[LONG];
    struct random random = random_of_this_run();
    for (size_t i = 0; i < LONG; i++) a[i] = (char)random_next(&random);
    for (size_t i = 0; i < SHORT; i++) b[i] = (char)random_next(&random);
    struct slice sources[] = {slice_make(b, SHORT), slice_make(a, LONG)};
    for (int operation = BITS_AND; operation <= BITS_ONE; operation++) {
        if (operation == BITS_NOT) continue;
        bits_combine((enum bits_operation)operation, out, LONG, sources, 2);
        for (size_t i = 0; i < LONG; i++)
            assert_int_equal(out[i], combined((enum bits_operation)operation, sources, 2, i));
    }
}

static struct bits_type random_type(struct random *random) {
    bool is_signed = random_below(random, 2);
    return (struct bits_type){is_signed, (uint8_t)(1 + random_below(random, is_signed ? 64 : 63))};
}

/* Smallest and largest number of a type, in a width where nothing overflows. */
static __int128 least(struct bits_type type) {
    return type.is_signed ? -((__int128)1 << (type.width - 1)) : 0;
}

static __int128 most(struct bits_type type) {
    return ((__int128)1 << (type.width - type.is_signed)) - 1;
}

static int64_t read_bit_by_bit(struct slice bytes, uint64_t offset, struct bits_type type) {
    __int128 value = 0;
    for (unsigned i = 0; i < type.width; i++) value = 2 * value + bit_at(bytes, offset + i);
    return (int64_t)(value > most(type) ? value - ((__int128)1 << type.width) : value);
}

static void integers_are_read_and_written_at_any_bit(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    for (int round = 0; round < ROUNDS; round++) {
        struct sample sample = sample_new(&random);
        struct bits_type type = random_type(&random);
        uint64_t total = 8 * sample.bytes.len, offset = random_below(&random, total + 100);
        int64_t old = read_bit_by_bit(sample.bytes, offset, type);
        assert_true(bits_read(sample.bytes, offset, type) == old);
        if (offset + type.width <= total) {
            uint8_t before[BYTES_MAX];
            memcpy(before, sample.memory, sample.bytes.len);
            int64_t value = (int64_t)random_next(&random), back;
            bits_fit(type, BITS_WRAP, value, &value);
            bits_write(sample.memory, offset, type, value);
            back = read_bit_by_bit(sample.bytes, offset, type);
            assert_true(back == value);
            bits_write(sample.memory, offset, type, old); /* nothing beside it has changed */
            assert_memory_equal(sample.memory, before, sample.bytes.len);
        }
        sample_free(&sample);
    }
}

static int64_t random_number(struct random *random, struct bits_type type) {
    int64_t near[] = {(int64_t)most(type), (int64_t)least(type), 0, INT64_MAX, INT64_MIN};
    if (random_below(random, 2)) return (int64_t)random_next(random) >> random_below(random, 64);
    uint64_t number = (uint64_t)near[random_below(random, 5)] + random_below(random, 5) - 2;
    return (int64_t)number;
}

/* What a sum must become; false when it must be refused. */
static bool expected_sum(struct bits_type type, enum bits_overflow overflow, __int128 sum,
                         int64_t *result) {
    __int128 modulus = (__int128)1 << type.width;
    bool fits = sum >= least(type) && sum <= most(type);
    if (overflow == BITS_SATURATE) sum = fits ? sum : sum > 0 ? most(type) : least(type);
    sum = (sum % modulus + modulus) % modulus;
    *result = (int64_t)(sum > most(type) ? sum - modulus : sum);
    return fits || overflow != BITS_FAIL;
}

static void what_does_not_fit_wraps_saturates_or_fails(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    for (int round = 0; round < 10 * ROUNDS; round++) {
        struct bits_type type = random_type(&random);
        enum bits_overflow overflow = (enum bits_overflow)random_below(&random, 3);
        int64_t value, increment = random_number(&random, type), expected, result;
        bits_fit(type, BITS_WRAP, random_number(&random, type), &value);
        bool fits = expected_sum(type, overflow, (__int128)value + increment, &expected);
        assert_int_equal(bits_add(type, overflow, value, increment, &result), fits);
        if (fits) assert_true(result == expected);
        /* A value to be set is unsigned where the type is. */
        __int128 whole = type.is_signed ? (__int128)increment : (__int128)(uint64_t)increment;
        fits = expected_sum(type, overflow, whole, &expected);
        bool is_far = whole < least(type) && most(type) - whole > INT64_MAX;
        if (is_far && overflow == BITS_SATURATE) expected = (int64_t)most(type);
        assert_int_equal(bits_fit(type, overflow, increment, &result), fits);
        if (fits) assert_true(result == expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counting_and_finding_agree_with_one_bit_after_the_other),
        cmocka_unit_test(combining_agrees_with_one_byte_after_the_other),
        cmocka_unit_test(long_sources_are_combined_block_by_block),
        cmocka_unit_test(integers_are_read_and_written_at_any_bit),
        cmocka_unit_test(what_does_not_fit_wraps_saturates_or_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
