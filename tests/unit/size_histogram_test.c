/* The histogram of sizes: which size is counted where. */
#include "store/size_histogram.h"

#include "base/memory/alloc.h"
#include "unit/in_range.h"
#include "unit/seed.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const uint64_t largest = UINT64_MAX >> 1;

/* The bucket, found without bit operations. */
static unsigned expected_bucket(uint64_t size) {
    unsigned bucket = 0;
    while (bucket + 1 < SIZE_BUCKETS && size_bucket_min(bucket + 1) <= size) bucket++;
    return bucket;
}

static void assert_counted_in(uint64_t size, unsigned bucket) {
    struct size_histogram histogram = {0};
    size_histogram_add(&histogram, VALUE_LIST, size);
    for (unsigned i = 0; i < SIZE_BUCKETS; i++) {
        assert_int_equal(size_histogram_count(&histogram, VALUE_LIST, i), i == bucket);
        assert_int_equal(size_histogram_count(&histogram, VALUE_STRING, i), 0);
    }
    size_histogram_remove(&histogram, VALUE_LIST, size);
    assert_int_equal(size_histogram_count(&histogram, VALUE_LIST, bucket), 0);
    size_histogram_free(&histogram);
}

static void a_size_is_counted_under_the_power_of_two_below(void **state) {
    (void)state;
    assert_int_equal(size_bucket_min(0), 0);
    assert_int_equal(size_bucket_min(1), 1);
    assert_int_equal(size_bucket_min(11), 1024);
    assert_counted_in(0, 0);
    assert_counted_in(1, 1);
    for (unsigned bucket = 2; bucket < SIZE_BUCKETS; bucket++) {
        uint64_t power = (uint64_t)1 << (bucket - 1);
        assert_true(size_bucket_min(bucket) == power);
        assert_counted_in(power - 1, bucket - 1);
        assert_counted_in(power, bucket);
        assert_counted_in(power + 1, power == 1 ? 2 : expected_bucket(power + 1));
    }
    assert_counted_in(largest, SIZE_BUCKETS - 1);
}

static void sizes_are_the_same_where_their_buckets_are(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    for (uint64_t a = 0; a < 70; a++)
        for (uint64_t b = 0; b < 70; b++)
            assert_int_equal(size_bucket_same(a, b), expected_bucket(a) == expected_bucket(b));
    for (int i = 0; i < 100000; i++) {
        uint64_t a = random_next(&random) >> (1 + random_below(&random, 63));
        uint64_t b = random_next(&random) >> (1 + random_below(&random, 63));
        assert_int_equal(size_bucket_same(a, b), expected_bucket(a) == expected_bucket(b));
    }
}

static void histograms_are_equal_when_all_counts_are(void **state) {
    (void)state;
    size_t used = mem_used();
    struct size_histogram a = {0}, b = {0};
    assert_true(size_histogram_equal(&a, &b));
    for (unsigned type = 0; type < VALUE_TYPES; type++) {
        size_histogram_add(&a, (enum value_type)type, 100);
        assert_false(size_histogram_equal(&a, &b));
        size_histogram_add(&b, (enum value_type)type, 127);
        assert_true(size_histogram_equal(&a, &b));
        size_histogram_add(&b, (enum value_type)type, 127);
        assert_false(size_histogram_equal(&a, &b));
        size_histogram_remove(&b, (enum value_type)type, 64);
    }
    assert_true(size_histogram_equal(&a, &b));
    size_histogram_free(&a);
    assert_false(size_histogram_equal(&a, &b));
    size_histogram_free(&b);
    assert_true(size_histogram_equal(&a, &b));
    assert_int_equal(mem_used(), used);
}

static void counts_take_memory_from_the_first_value_of_a_type_on(void **state) {
    (void)state;
    size_t used = mem_used();
    struct size_histogram histogram = {0};
    assert_int_equal(size_histogram_allocated(&histogram), 0);
    for (unsigned type = 0; type < 2; type++) {
        for (uint64_t size = 0; size < 100; size++)
            size_histogram_add(&histogram, (enum value_type)type, size);
        assert_int_equal(size_histogram_allocated(&histogram), mem_used() - used);
        assert_uint_in_range(size_histogram_allocated(&histogram), (type + 1) * 512,
                             (type + 1) * 520);
    }
    size_histogram_free(&histogram);
    assert_int_equal(mem_used(), used);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_size_is_counted_under_the_power_of_two_below),
        cmocka_unit_test(sizes_are_the_same_where_their_buckets_are),
        cmocka_unit_test(histograms_are_equal_when_all_counts_are),
        cmocka_unit_test(counts_take_memory_from_the_first_value_of_a_type_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
