/* HyperLogLogs: registers, counts and the runs of sparse values agree with an array of numbers;
 * bytes that are no valid value are found out. */
#include "ds/strings/hyperloglog.h"

#include "unit/guard.h"
#include "unit/seed.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { ROUNDS = 60 };

/* What a HyperLogLog is: a naive one. */
struct model {
    uint8_t registers[HLL_REGISTERS];
};

static void model_raise(struct model *model, uint32_t index, unsigned value) {
    if (model->registers[index] < value) model->registers[index] = (uint8_t)value;
}

static void model_pack(const struct model *model, uint8_t packed[HLL_REGISTER_BYTES]) {
    memset(packed, 0, HLL_REGISTER_BYTES);
    for (size_t bit = 0; bit < 8 * (size_t)HLL_REGISTER_BYTES; bit++)
        packed[bit / 8] |= (uint8_t)((model->registers[bit / 6] >> bit % 6 & 1) << bit % 8);
}

/* The harmonic sum by its definition, good to within rounding; no register has reached its end. */
static double model_rest(const struct model *model) {
    double sum = 0;
    for (size_t i = 0; i < HLL_REGISTERS; i++)
        if (model->registers[i]) sum += ldexp(1, -model->registers[i]);
    return sum;
}

/* Registers of many kinds: few or all are set, small ones, large ones, all the same. */
static struct model random_model(struct random *random) {
    struct model model = {{0}};
    unsigned base = (unsigned)random_below(random, 40), spread = (unsigned)random_below(random, 12);
    uint64_t skipped = random_below(random, 4) ? random_below(random, 50) : 0;
    for (uint32_t i = 0; i < HLL_REGISTERS; i++) {
        if (skipped && random_below(random, skipped + 1)) continue;
        unsigned value = base + (unsigned)random_below(random, spread + 1);
        model_raise(&model, i, value <= HLL_REGISTER_MAX ? value : HLL_REGISTER_MAX);
    }
    return model;
}

static void registers_keep_the_largest_value(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    struct guard guard = guard_new(HLL_REGISTER_BYTES);
    for (int round = 0; round < 20; round++) {
        struct model model = {{0}};
        uint8_t packed[HLL_REGISTER_BYTES] = {0}, expected[HLL_REGISTER_BYTES];
        uint8_t *registers = guard_place(&guard, packed, sizeof(packed));
        for (int i = 0; i < 3 * HLL_REGISTERS; i++) {
            uint32_t index = (uint32_t)random_below(&random, HLL_REGISTERS);
            unsigned value = (unsigned)random_below(&random, HLL_REGISTER_VALUES);
            bool rises = value > model.registers[index];
            assert_int_equal(hll_register_raise(registers, index, value), rises);
            model_raise(&model, index, value);
            assert_int_equal(hll_register_get(registers, index), model.registers[index]);
        }
        model_pack(&model, expected);
        assert_memory_equal(registers, expected, sizeof(expected));
    }
    guard_free(&guard);
}

static void the_next_register_is_the_next_that_is_set(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    struct guard guard = guard_new(HLL_REGISTER_BYTES);
    for (int round = 0; round < ROUNDS; round++) {
        uint8_t packed[HLL_REGISTER_BYTES];
        struct model model = {{0}};
        size_t next = HLL_REGISTERS;
        for (uint64_t i = random_below(&random, 20); i > 0; i--)
            model_raise(&model, (uint32_t)random_below(&random, HLL_REGISTERS), 1);
        model_pack(&model, packed);
        const uint8_t *registers = guard_place(&guard, packed, sizeof(packed));
        for (size_t i = HLL_REGISTERS; i-- > 0;) {
            if (model.registers[i]) next = i;
            assert_int_equal(hll_register_next(registers, i), next);
        }
        assert_int_equal(hll_register_next(registers, HLL_REGISTERS), HLL_REGISTERS);
    }
    guard_free(&guard);
}

static void merging_takes_the_larger_registers(void **state) {
    (void)state;
    enum { SOURCES = 5 };
    struct random random = random_of_this_run();
    struct guard guards[SOURCES];
    for (int i = 0; i < SOURCES; i++) guards[i] = guard_new(HLL_REGISTER_BYTES);
    for (int round = 0; round < ROUNDS; round++) {
        struct model merged = {{0}};
        const uint8_t *sources[SOURCES];
        uint8_t packed[HLL_REGISTER_BYTES], out[HLL_REGISTER_BYTES];
        size_t count = 1 + random_below(&random, SOURCES);
        for (size_t i = 0; i < count; i++) {
            struct model model = random_model(&random);
            for (uint32_t j = 0; j < HLL_REGISTERS; j++)
                model_raise(&merged, j, model.registers[j]);
            model_pack(&model, packed);
            sources[i] = guard_place(&guards[i], packed, sizeof(packed));
        }
        model_pack(&merged, packed);
        hll_registers_merge(out, sources, count, round % 2);
        assert_memory_equal(out, packed, sizeof(packed));
        uint8_t *first = guards[0].end - HLL_REGISTER_BYTES; /* which is also a source */
        hll_registers_merge(first, sources, count, round / 2 % 2);
        assert_memory_equal(first, packed, sizeof(packed));
    }
    for (int i = 0; i < SOURCES; i++) guard_free(&guards[i]);
}

static void tallies_are_the_same_to_the_last_bit(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    struct guard guard = guard_new(HLL_REGISTER_BYTES);
    for (int round = 0; round < ROUNDS; round++) {
        struct model model = random_model(&random);
        uint8_t packed[HLL_REGISTER_BYTES];
        uint32_t histogram[HLL_REGISTER_VALUES] = {0};
        struct hll_tally wide, plain, counted;
        model_pack(&model, packed);
        const uint8_t *registers = guard_place(&guard, packed, sizeof(packed));
        for (size_t i = 0; i < HLL_REGISTERS; i++) histogram[model.registers[i]]++;
        assert_true(hll_registers_tally(registers, &wide, false));
        assert_true(hll_registers_tally(registers, &plain, true));
        assert_true(hll_histogram_tally(histogram, &counted));
        assert_int_equal(wide.zeros, histogram[0]);
        assert_int_equal(plain.zeros, histogram[0]);
        assert_true(wide.rest == plain.rest && plain.rest == counted.rest);
        if (histogram[HLL_REGISTER_MAX] == 0)
            assert_true(fabs(plain.rest - model_rest(&model)) <= 1e-9 * plain.rest);
    }
    guard_free(&guard);
}

static void registers_that_no_element_makes_are_not_counted(void **state) {
    (void)state;
    struct hll_tally tally;
    uint64_t count;
    for (int plain = 0; plain <= 1; plain++) {
        uint8_t registers[HLL_REGISTER_BYTES] = {0};
        hll_register_raise(registers, HLL_REGISTERS - 1, HLL_REGISTER_MAX + 1);
        assert_false(hll_registers_tally(registers, &tally, plain));
        memset(registers, 0xFF, sizeof(registers));
        assert_false(hll_registers_tally(registers, &tally, plain));
        memset(registers, 0, sizeof(registers));
        for (uint32_t i = 0; i < HLL_REGISTERS; i++)
            hll_register_raise(registers, i, HLL_REGISTER_MAX);
        assert_true(hll_registers_tally(registers, &tally, plain));
        assert_false(hll_estimate(&tally, &count));
        memset(registers, 0, sizeof(registers));
        assert_true(hll_registers_tally(registers, &tally, plain));
        assert_true(hll_estimate(&tally, &count));
        assert_int_equal(count, 0);
    }
}

/* --- Values --- */

static struct slice value_of(const struct hll *hll) {
    return slice_make(hll->bytes, hll->len);
}

/* Raises one register, as an element does. */
static void raise_one(struct hll *hll, uint32_t index, unsigned value,
                      const struct hll_limits *limits) {
    uint8_t registers[HLL_REGISTER_BYTES] = {0};
    hll_register_raise(registers, index, value);
    assert_true(hll_raise_all(hll, registers, limits));
}

/* Sets `registers` to the union of the values, which are added in two parts. */
static bool unite(const struct slice *values, size_t count, const struct hll_limits *limits,
                  uint8_t registers[HLL_REGISTER_BYTES]) {
    struct hll_union all;
    hll_union_begin(&all, limits);
    bool is_whole = hll_union_add(&all, values, count / 2) &&
                    hll_union_add(&all, values + count / 2, count - count / 2);
    hll_union_end(&all);
    memcpy(registers, all.registers, HLL_REGISTER_BYTES);
    return is_whole;
}

static void assert_holds(const struct hll *hll, const struct model *model) {
    uint8_t expected[HLL_REGISTER_BYTES], registers[HLL_REGISTER_BYTES];
    struct slice value = value_of(hll);
    model_pack(model, expected);
    assert_true(hll_is_whole(value));
    assert_true(unite(&value, 1, &(struct hll_limits){0}, registers));
    assert_memory_equal(registers, expected, sizeof(expected));
}

static void sparse_values_hold_what_was_added(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    static uint8_t bytes[HLL_VALUE_MAX];
    for (int round = 0; round < ROUNDS; round++) {
        struct model model = {{0}};
        struct hll hll = {.bytes = bytes};
        struct hll_limits limits = {.sparse_bytes = random_below(&random, 400)};
        unsigned largest = round % 4 ? 3 : 34; /* few values are often equal, so runs are joined */
        uint32_t within = round % 3 ? HLL_REGISTERS : 90;
        hll_init(&hll);
        for (int i = 0; i < 200; i++) {
            uint32_t index = (uint32_t)random_below(&random, within);
            unsigned value = 1 + (unsigned)random_below(&random, largest);
            size_t len = hll.len;
            bool was_sparse = hll_kind(value_of(&hll)) == HLL_IS_SPARSE;
            raise_one(&hll, index, value, &limits);
            model_raise(&model, index, value);
            bool is_sparse = hll_kind(value_of(&hll)) == HLL_IS_SPARSE;
            assert_true(is_sparse ? was_sparse && (hll.len <= len || hll.len <= limits.sparse_bytes)
                                  : hll.len == HLL_DENSE);
            if (i % 8 == 0) assert_holds(&hll, &model);
        }
        assert_holds(&hll, &model);
    }
}

static void raising_all_registers_makes_the_bytes_of_one_after_the_other(void **state) {
    (void)state;
    struct random random = random_of_this_run();
    static uint8_t bytes[HLL_VALUE_MAX], other_bytes[HLL_VALUE_MAX];
    for (int round = 0; round < ROUNDS; round++) {
        struct hll hll = {.bytes = bytes}, other = {.bytes = other_bytes};
        struct hll_limits limits = {.sparse_bytes = round % 5 ? HLL_SPARSE_MAX : 300};
        uint8_t registers[HLL_REGISTER_BYTES] = {0};
        uint32_t within = round % 2 ? 120 : HLL_REGISTERS;
        hll_init(&hll);
        for (int i = 0; i < 300; i++) {
            uint32_t index = (uint32_t)random_below(&random, within);
            if (i < 150) raise_one(&hll, index, 1 + (unsigned)random_below(&random, 2), &limits);
            hll_register_raise(registers, index, 1 + (unsigned)random_below(&random, 3));
        }
        assert_true(hll_copy(&other, value_of(&hll)));
        assert_true(hll_raise_all(&hll, registers, &limits));
        for (uint32_t i = 0; i < HLL_REGISTERS; i++) {
            unsigned value = hll_register_get(registers, i);
            if (value) raise_one(&other, i, value, &limits);
        }
        assert_int_equal(hll.len, other.len);
        assert_memory_equal(hll.bytes, other.bytes, hll.len);
    }
}

static void a_union_has_the_registers_of_all_values(void **state) {
    (void)state;
    enum { VALUES = 70 };
    struct random random = random_of_this_run();
    static uint8_t bytes[VALUES][HLL_VALUE_MAX];
    const struct hll_limits limits = {.sparse_bytes = 200};
    for (int round = 0; round < 5; round++) {
        struct model model = {{0}};
        struct slice values[VALUES];
        uint8_t expected[HLL_REGISTER_BYTES], registers[HLL_REGISTER_BYTES];
        size_t count = round ? 1 + random_below(&random, VALUES) : VALUES;
        for (size_t i = 0; i < count; i++) {
            struct hll hll = {.bytes = bytes[i]};
            hll_init(&hll);
            for (int j = 0; j < 20; j++) {
                uint32_t index = (uint32_t)random_below(&random, HLL_REGISTERS);
                unsigned value = 1 + (unsigned)random_below(&random, 20);
                raise_one(&hll, index, value, &limits);
                model_raise(&model, index, value);
            }
            if (random_below(&random, 3) || round == 0) hll_make_dense(&hll);
            values[i] = value_of(&hll);
        }
        model_pack(&model, expected);
        assert_true(unite(values, count, &limits, registers));
        assert_memory_equal(registers, expected, sizeof(expected));
    }
}

static void the_count_is_kept_until_a_register_changes(void **state) {
    (void)state;
    static uint8_t bytes[HLL_VALUE_MAX];
    struct hll hll = {.bytes = bytes};
    const struct hll_limits limits = {.sparse_bytes = 100};
    uint64_t count;
    hll_init(&hll);
    for (int round = 0; round < 2; round++) {
        assert_true(hll_count(value_of(&hll), &limits, &count));
        hll_cache_count(hll.bytes, count);
        assert_true(hll_cached_count(value_of(&hll), &count));
        assert_int_equal(hll_add(&hll, round ? SLICE("b") : SLICE("a"), &limits), HLL_CHANGED);
        assert_false(hll_cached_count(value_of(&hll), &count));
        hll_cache_count(hll.bytes, 77);
        assert_int_equal(hll_add(&hll, SLICE("a"), &limits), HLL_UNCHANGED);
        if (round == 0) assert_true(hll_make_dense(&hll));
        assert_true(hll_cached_count(value_of(&hll), &count));
        assert_int_equal(count, 77);
    }
}

/* --- What other servers make of the same elements --- */

#ifndef TINY_LIMITS

static void assert_runs(const struct hll *hll, const char *expected) {
    sds text = hll_append_runs(sds_new(SLICE("")), value_of(hll));
    assert_non_null(text);
    assert_string_equal(text, expected);
    sds_free(text);
}

static void known_elements_make_known_bytes(void **state) {
    (void)state;
    static uint8_t bytes[HLL_VALUE_MAX];
    struct hll hll = {.bytes = bytes};
    const struct hll_limits limits = {.sparse_bytes = 3000};
    char name[16];
    uint64_t count;
    hll_init(&hll);
    for (const char *element = "abc"; *element; element++)
        assert_int_equal(hll_add(&hll, slice_make(element, 1), &limits), HLL_CHANGED);
    assert_int_equal(hll.len, 27);
    assert_runs(&hll, "Z:8436 v:1,1 Z:4274 v:2,1 Z:3068 v:1,1 Z:603");
    hll_init(&hll);
    assert_int_equal(hll_add(&hll, SLICE("0"), &limits), HLL_CHANGED);
    assert_runs(&hll, "Z:13225 v:4,1 Z:3158");
    hll_init(&hll);
    for (int i = 0; i < 1000; i++) {
        int len = snprintf(name, sizeof(name), "e%d", i);
        hll_add(&hll, slice_make(name, (size_t)len), &limits);
    }
    assert_true(hll_count(value_of(&hll), &limits, &count));
    assert_int_equal(count, 1008);
    assert_int_equal(hll.len, 1906);
}

#endif

/* --- Corrupt values --- */

/* Tries everything on a value of which the runs are wrong. */
static void assert_corrupt(const void *runs, size_t len) {
    static uint8_t bytes[HLL_VALUE_MAX];
    struct guard guard = guard_new(HLL_HEADER + len);
    uint8_t registers[HLL_REGISTER_BYTES], *value = guard.end - HLL_HEADER - len;
    struct hll hll = {.bytes = bytes};
    const struct hll_limits limits = {.sparse_bytes = 3000};
    uint64_t count;
    hll_init(&hll);
    memcpy(value, bytes, HLL_HEADER);
    if (len) memcpy(value + HLL_HEADER, runs, len);
    struct slice text = slice_make(value, HLL_HEADER + len);
    assert_int_equal(hll_kind(text), HLL_IS_SPARSE);
    assert_false(hll_count(text, &limits, &count));
    assert_false(hll_is_whole(text));
    assert_false(unite(&text, 1, &limits, registers));
    if (!hll_copy(&hll, text)) return guard_free(&guard);
    assert_false(hll_make_dense(&hll));
    assert_memory_equal(hll.bytes, value, text.len);
    memset(registers, 0xFF, sizeof(registers));
    assert_false(hll_raise_all(&hll, registers, &limits));
    guard_free(&guard);
}

static void corrupt_runs_are_found_out(void **state) {
    (void)state;
    static const uint8_t all[2] = {0x40 | (HLL_REGISTERS - 1) >> 8, (HLL_REGISTERS - 1) & 0xFF};
    uint8_t many[2 * 40000 + 1], runs[HLL_REGISTERS];
    assert_corrupt("", 0);
    assert_corrupt("\x7F", 1);
    assert_corrupt(all, 1);
    assert_corrupt("\x3F", 1);
    for (size_t i = 0; i < sizeof(many); i++) many[i] = all[i % 2];
    many[sizeof(many) - 1] = 0x80;
    assert_corrupt(many, 4);
    assert_corrupt(many, 3);
    assert_corrupt(many, sizeof(many));
    assert_corrupt("\x7F\xFF\x80", 3);
    memset(runs, 0x80, sizeof(runs));
    assert_corrupt(runs, sizeof(runs) - 1);
    runs[sizeof(runs) - 1] = 0x81;
    assert_corrupt(runs, sizeof(runs));
    runs[sizeof(runs) - 1] = 0x40;
    assert_corrupt(runs, sizeof(runs));
}

static void what_has_no_header_is_no_hyperloglog(void **state) {
    (void)state;
    static char bytes[HLL_DENSE + 1] = "HYLL";
    assert_int_equal(hll_kind(slice_make(bytes, HLL_DENSE)), HLL_IS_DENSE);
    assert_int_equal(hll_kind(slice_make(bytes, HLL_DENSE - 1)), HLL_INVALID);
    assert_int_equal(hll_kind(slice_make(bytes, HLL_DENSE + 1)), HLL_INVALID);
    bytes[4] = 2;
    assert_int_equal(hll_kind(slice_make(bytes, HLL_DENSE)), HLL_INVALID);
    bytes[4] = 1;
    assert_int_equal(hll_kind(slice_make(bytes, HLL_HEADER)), HLL_IS_SPARSE);
    assert_int_equal(hll_kind(slice_make(bytes, HLL_HEADER - 1)), HLL_INVALID);
    bytes[0] = 'h';
    assert_int_equal(hll_kind(slice_make(bytes, HLL_HEADER)), HLL_INVALID);
    assert_int_equal(hll_kind(SLICE("")), HLL_INVALID);
}

static void the_self_test_finds_nothing(void **state) {
    (void)state;
    assert_null(hll_self_test());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registers_keep_the_largest_value),
        cmocka_unit_test(the_next_register_is_the_next_that_is_set),
        cmocka_unit_test(merging_takes_the_larger_registers),
        cmocka_unit_test(tallies_are_the_same_to_the_last_bit),
        cmocka_unit_test(registers_that_no_element_makes_are_not_counted),
        cmocka_unit_test(sparse_values_hold_what_was_added),
        cmocka_unit_test(raising_all_registers_makes_the_bytes_of_one_after_the_other),
        cmocka_unit_test(a_union_has_the_registers_of_all_values),
        cmocka_unit_test(the_count_is_kept_until_a_register_changes),
#ifndef TINY_LIMITS
        cmocka_unit_test(known_elements_make_known_bytes),
#endif
        cmocka_unit_test(corrupt_runs_are_found_out),
        cmocka_unit_test(what_has_no_header_is_no_hyperloglog),
        cmocka_unit_test(the_self_test_finds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
