#include "base/hash/hash.h"
#include "unit/in_range.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void a_seed_makes_hashes_repeatable(void **state) {
    (void)state;
    hash_init_seed(1);
    uint64_t first = hash_bytes(SLICE("mylist")), empty = hash_bytes(slice_make(NULL, 0));
    assert_true(empty == hash_bytes(SLICE("")));
    hash_init_seed(2);
    assert_true(hash_bytes(SLICE("mylist")) != first);
    assert_true(hash_bytes(SLICE("")) != empty);
    hash_init_seed(1);
    assert_true(hash_bytes(SLICE("mylist")) == first);
}

static void every_process_has_another_secret(void **state) {
    (void)state;
    hash_init();
    uint64_t first = hash_bytes(SLICE("mylist"));
    hash_init();
    assert_true(hash_bytes(SLICE("mylist")) != first);
}

static void every_byte_and_the_length_count(void **state) {
    (void)state;
    char bytes[600] = {0};
    hash_init_seed(3);
    for (size_t len = 1; len < sizeof(bytes); len++) {
        uint64_t hash = hash_bytes(slice_make(bytes, len));
        assert_true(hash != hash_bytes(slice_make(bytes, len - 1)));
        for (size_t i = 0; i < len; i++) {
            bytes[i] = 1;
            assert_true(hash != hash_bytes(slice_make(bytes, len)));
            bytes[i] = 0;
        }
    }
}

static void numbered_keys_spread_evenly(void **state) {
    (void)state;
    enum { KEYS = 200000, BUCKETS = 1024 };
    uint64_t *hashes = malloc(KEYS * sizeof(*hashes));
    static int low[BUCKETS], high[BUCKETS];
    hash_init_seed(4);
    for (int i = 0; i < KEYS; i++) {
        char key[32];
        int len = snprintf(key, sizeof(key), "key:%d", i);
        hashes[i] = hash_bytes(slice_make(key, (size_t)len));
        low[hashes[i] % BUCKETS]++;
        high[hashes[i] >> 54]++;
    }
    for (int i = 0; i < BUCKETS; i++) { /* 195 on average, standard deviation 14 */
        assert_uint_in_range(low[i], 195 - 84, 195 + 84);
        assert_uint_in_range(high[i], 195 - 84, 195 + 84);
    }
    qsort(hashes, KEYS, sizeof(*hashes), compare);
    for (int i = 1; i < KEYS; i++) assert_true(hashes[i] != hashes[i - 1]);
    free(hashes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seed_makes_hashes_repeatable),
        cmocka_unit_test(every_process_has_another_secret),
        cmocka_unit_test(every_byte_and_the_length_count),
        cmocka_unit_test(numbered_keys_spread_evenly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
