/* The estimate is that of O. Ertl, "New cardinality estimation algorithms for HyperLogLog sketches"
 * (2017), algorithm 6. All sums are made in the order in which they stand there, so that each digit
 * of an estimate is the one that other servers compute. */
#include "ds/strings/hyperloglog_registers.h"

#include "base/checked.h"
#include "base/processor.h"

#include <endian.h>
#include <math.h>
#include <string.h>
#ifdef PROCESSOR_X86_64
#include <immintrin.h>
#endif

/* --- One register --- */

static size_t byte_of(size_t index) {
    CHECKED_ASSERT(index < HLL_REGISTERS);
    return index * 6 / 8;
}

static unsigned shift_of(size_t index) {
    return index * 6 % 8;
}

/* A register that begins at one of the two lowest even bits ends in the same byte. */
static bool fits_byte(unsigned shift) {
    return shift <= 2;
}

unsigned hll_register_get(const uint8_t *registers, size_t index) {
    const uint8_t *at = registers + byte_of(index);
    unsigned shift = shift_of(index), bits = (unsigned)at[0] >> shift;
    if (!fits_byte(shift)) bits |= (unsigned)at[1] << (8 - shift);
    return bits & 63;
}

/* So many registers are whole bytes. */
enum { SKIPPED = 8, SKIPPED_BYTES = SKIPPED * 6 / 8 };
_Static_assert(HLL_REGISTERS % SKIPPED == 0, "registers are a whole number of these");

size_t hll_register_next(const uint8_t *registers, size_t index) {
    static const uint8_t zeros[SKIPPED_BYTES];
    while (index < HLL_REGISTERS) {
        bool can_skip = index % SKIPPED == 0;
        if (can_skip && memcmp(registers + byte_of(index), zeros, sizeof(zeros)) == 0)
            index += SKIPPED;
        else if (hll_register_get(registers, index) == 0)
            index++;
        else
            break;
    }
    return index;
}

bool hll_register_raise(uint8_t *registers, size_t index, unsigned value) {
    CHECKED_ASSERT(value < HLL_REGISTER_VALUES);
    if (hll_register_get(registers, index) >= value) return false;
    uint8_t *at = registers + byte_of(index);
    unsigned shift = shift_of(index), mask = ~(63u << shift), bits = value << shift;
    at[0] = (uint8_t)((at[0] & mask) | bits);
    if (!fits_byte(shift)) at[1] = (uint8_t)((at[1] & mask >> 8) | bits >> 8);
    return true;
}

/* --- Groups: four registers lie in three bytes --- */

enum { GROUP_BYTES = 3, GROUP_REGISTERS = 4 };

static uint32_t load_group(const uint8_t *at) {
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16;
}

static void store_group(uint8_t *at, uint32_t group) {
    at[0] = (uint8_t)group;
    at[1] = (uint8_t)(group >> 8);
    at[2] = (uint8_t)(group >> 16);
}

/* Each register of the result is the larger of the two. */
static uint32_t merge_groups(uint32_t a, uint32_t b) {
    uint32_t merged = 0;
    for (uint32_t mask = 63; mask < 1u << 24; mask <<= 6)
        merged |= (a & mask) > (b & mask) ? a & mask : b & mask;
    return merged;
}

static void merge_plain(uint8_t *out, const uint8_t *const *sources, size_t count) {
    for (size_t at = 0; at < HLL_REGISTER_BYTES; at += GROUP_BYTES) {
        uint32_t merged = load_group(sources[0] + at);
        for (size_t i = 1; i < count; i++)
            merged = merge_groups(merged, load_group(sources[i] + at));
        store_group(out + at, merged);
    }
}

static void pack_plain(uint8_t *out, const uint8_t *values) {
    for (size_t i = 0; i < HLL_REGISTERS; i += GROUP_REGISTERS, out += GROUP_BYTES) {
        uint32_t word;
        memcpy(&word, values + i, sizeof(word));
        word = le32toh(word);
        word = (word & 0x3F) | (word >> 2 & 0xFC0) | (word >> 4 & 0x3F000) | (word >> 6 & 0xFC0000);
        store_group(out, word);
    }
}

/* --- Histograms --- */

/* Counts pairs of registers, which are 12 bits, and then what each pair consists of: a number that
 * is just incremented can't be incremented again at once, and pairs repeat less often. */
enum { PAIRS = 1 << 12, PAIR_BITS = PAIRS - 1, WORDS = 3 };

static void count_pairs(const uint8_t *registers, uint16_t pairs[PAIRS]) {
    uint64_t word[WORDS];
    _Static_assert(HLL_REGISTER_BYTES % sizeof(word) == 0, "pairs end where three words end");
    for (size_t at = 0; at < HLL_REGISTER_BYTES; at += sizeof(word)) {
        memcpy(word, registers + at, sizeof(word));
        for (int i = 0; i < WORDS; i++) word[i] = le64toh(word[i]);
        for (unsigned shift = 0; shift < 60; shift += 12) pairs[word[0] >> shift & PAIR_BITS]++;
        pairs[(word[0] >> 60 | word[1] << 4) & PAIR_BITS]++;
        for (unsigned shift = 8; shift < 56; shift += 12) pairs[word[1] >> shift & PAIR_BITS]++;
        pairs[(word[1] >> 56 | word[2] << 8) & PAIR_BITS]++;
        for (unsigned shift = 4; shift < 64; shift += 12) pairs[word[2] >> shift & PAIR_BITS]++;
    }
}

static bool tally_plain(const uint8_t *registers, struct hll_tally *tally) {
    uint16_t pairs[PAIRS] = {0};
    uint32_t histogram[HLL_REGISTER_VALUES] = {0};
    count_pairs(registers, pairs);
    for (unsigned high = 0; high < HLL_REGISTER_VALUES; high++) {
        const uint16_t *row = pairs + (size_t)high * HLL_REGISTER_VALUES;
        uint32_t sum = 0;
        for (unsigned low = 0; low < HLL_REGISTER_VALUES; low++) {
            histogram[low] += row[low];
            sum += row[low];
        }
        histogram[high] += sum;
    }
    return hll_histogram_tally(histogram, tally);
}

/* What registers that have reached their end contribute: `x` is the part of those that have not. */
static double tau(double x) {
    if (x == 0 || x == 1) return 0;
    double y = 1, z = 1 - x, last;
    do {
        x = sqrt(x);
        last = z;
        y *= 0.5;
        z -= (1 - x) * (1 - x) * y;
    } while (z != last);
    return z / 3;
}

/* What registers that are 0 contribute: they are the part `x` of all. */
static double sigma(double x) {
    if (x == 1) return INFINITY;
    double y = 1, z = x, last;
    do {
        x *= x;
        last = z;
        z += x * y;
        y += y;
    } while (z != last);
    return z;
}

bool hll_histogram_tally(const uint32_t histogram[HLL_REGISTER_VALUES], struct hll_tally *tally) {
    for (int value = HLL_REGISTER_MAX + 1; value < HLL_REGISTER_VALUES; value++)
        if (histogram[value]) return false;
    double m = HLL_REGISTERS;
    double z = m * tau((m - histogram[HLL_REGISTER_MAX]) / m);
    for (int value = HLL_HASH_BITS; value >= 1; value--) {
        z += histogram[value];
        z *= 0.5;
    }
    *tally = (struct hll_tally){.zeros = histogram[0], .rest = z};
    return true;
}

bool hll_estimate(const struct hll_tally *tally, uint64_t *count) {
    const double alpha = 0.721347520444481703680; /* 1 / (2 ln 2) */
    double m = HLL_REGISTERS, z = tally->rest;
    z += m * sigma(tally->zeros / m);
    double estimate = alpha * m * m / z;
    if (!(estimate < (double)INT64_MAX)) return false;
    *count = (uint64_t)(double)llround(estimate);
    return true;
}

/* --- AVX2: 32 registers, 24 bytes, in a step --- */

#ifdef PROCESSOR_X86_64

#define WIDE __attribute__((target("avx2,popcnt")))

enum { STEP = 24 };
_Static_assert(HLL_REGISTER_BYTES % (2 * STEP) == 0, "registers are an even number of steps");

/* Loads 24 bytes so that each register lies within one word of 16 bits; the others are noise:
 *
 *      word    even  ....111111 000000       odd  333333 222222 ....
 *
 * EVEN_FIELDS are the registers 0 and 2 of each group, ODD_FIELDS 1 and 3. */
#define EVEN_FIELDS _mm256_set1_epi32(0x03F0003F)
#define ODD_FIELDS  _mm256_set1_epi32((int)0xFC000FC0)

WIDE static inline __m256i spread(__m256i bytes, __m256i halves) {
    const __m256i order = _mm256_setr_epi8(0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 7, 8, 9, 10, 10, 11, 0, 1,
                                           1, 2, 3, 4, 4, 5, 6, 7, 7, 8, 9, 10, 10, 11);
    return _mm256_shuffle_epi8(_mm256_permutevar8x32_epi32(bytes, halves), order);
}

/* This reads eight bytes more. */
WIDE static inline __m256i load_step(const uint8_t *at) {
    return spread(_mm256_loadu_si256((const __m256i *)at),
                  _mm256_setr_epi32(0, 1, 2, 2, 3, 4, 5, 5));
}

/* The same for the last step, after which nothing may be read: this reads eight bytes before. */
WIDE static inline __m256i load_last_step(const uint8_t *at) {
    return spread(_mm256_loadu_si256((const __m256i *)(at - 8)),
                  _mm256_setr_epi32(2, 3, 4, 4, 5, 6, 7, 7));
}

/* Packs words, whose noise is cleared, again. */
WIDE static inline void store_step(uint8_t *at, __m256i words) {
    const __m256i order = _mm256_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1,
                                           0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
    __m256i first = _mm256_and_si256(words, _mm256_set1_epi32(0xFFF));
    __m256i second = _mm256_and_si256(_mm256_srli_epi32(words, 8), _mm256_set1_epi32(0xFFF000));
    __m256i bytes = _mm256_shuffle_epi8(_mm256_or_si256(first, second), order);
    bytes = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 7, 7));
    _mm_storeu_si128((__m128i *)at, _mm256_castsi256_si128(bytes));
    _mm_storel_epi64((__m128i *)(at + 16), _mm256_extracti128_si256(bytes, 1));
}

/* The larger of each pair of registers, in words as load_step gives them. */
struct wide_registers {
    __m256i even, odd;
};

WIDE static inline struct wide_registers larger(struct wide_registers registers, __m256i words) {
    registers.even = _mm256_max_epu16(registers.even, _mm256_and_si256(words, EVEN_FIELDS));
    registers.odd = _mm256_max_epu16(registers.odd, _mm256_and_si256(words, ODD_FIELDS));
    return registers;
}

WIDE static inline void store_registers(uint8_t *at, struct wide_registers registers) {
    store_step(at, _mm256_or_si256(registers.even, registers.odd));
}

/* Merges two steps: that a source is looked up costs about as much as a step of it. */
WIDE static inline __attribute__((always_inline)) void
merge_steps(uint8_t *out, const uint8_t *const *sources, size_t count, size_t at, bool are_last) {
    struct wide_registers first = {_mm256_setzero_si256(), _mm256_setzero_si256()}, second = first;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *from = sources[i] + at;
        first = larger(first, load_step(from));
        second = larger(second, are_last ? load_last_step(from + STEP) : load_step(from + STEP));
    }
    store_registers(out + at, first);
    store_registers(out + at + STEP, second);
}

WIDE static void merge_wide(uint8_t *out, const uint8_t *const *sources, size_t count) {
    size_t last = HLL_REGISTER_BYTES - 2 * STEP;
    for (size_t at = 0; at < last; at += 2 * STEP) merge_steps(out, sources, count, at, false);
    merge_steps(out, sources, count, last, true);
}

WIDE static void pack_wide(uint8_t *out, const uint8_t *values) {
    for (size_t i = 0; i < HLL_REGISTERS; i += sizeof(__m256i), out += STEP) {
        __m256i bytes = _mm256_loadu_si256((const __m256i *)(values + i));
        /* Pairs become 12 bits of each word; upper words move to where store_step expects them. */
        __m256i pairs = _mm256_maddubs_epi16(bytes, _mm256_set1_epi16(64 << 8 | 1));
        store_step(out, _mm256_mullo_epi16(pairs, _mm256_set1_epi32(16 << 16 | 1)));
    }
}

/* Sums of 2^-register: one for each range of eight values, as a byte can hold eight powers of two.
 * Range r has the registers 8r + 1 … 8r + 8, whose powers are 128 … 1. */
enum { RANGES = 5, LARGEST_SUMMED = 8 * RANGES };

/* Sums that are multiples of 2^-LARGEST_SUMMED, and at most HLL_REGISTERS / 2, are exact. */
_Static_assert(HLL_INDEX_BITS - 1 + LARGEST_SUMMED <= 53, "a double has 53 bits");

struct wide_sums {
    __m256i ranges[RANGES];
    __m256i largest; /* register seen, in each place */
    uint32_t zeros;
};

/* Adds the powers of registers in the ranges `first` and `first + 1`. `values` are the registers
 * less one: -1 for zeros, which have no power. */
WIDE static inline void sum_ranges(struct wide_sums *sums, int first, __m256i values) {
    const __m256i lower = _mm256_setr_epi8(-128, 64, 32, 16, 8, 4, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0,
                                           -128, 64, 32, 16, 8, 4, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0);
    const __m256i upper = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, -128, 64, 32, 16, 8, 4, 2, 1, 0,
                                           0, 0, 0, 0, 0, 0, 0, -128, 64, 32, 16, 8, 4, 2, 1);
    const __m256i none = _mm256_setzero_si256();
    /* Values outside of these ranges get their highest bit, for which a shuffle gives 0. */
    values = _mm256_xor_si256(values, _mm256_set1_epi8((char)(8 * first)));
    __m256i index = _mm256_adds_epu8(values, _mm256_set1_epi8(0x70));
    __m256i powers = _mm256_shuffle_epi8(lower, index);
    sums->ranges[first] = _mm256_add_epi64(sums->ranges[first], _mm256_sad_epu8(powers, none));
    if (first + 1 == RANGES) return;
    powers = _mm256_shuffle_epi8(upper, index);
    sums->ranges[first + 1] =
        _mm256_add_epi64(sums->ranges[first + 1], _mm256_sad_epu8(powers, none));
}

WIDE static inline void sum_step(struct wide_sums *sums, __m256i words) {
    __m256i even = _mm256_mullo_epi16(_mm256_and_si256(words, EVEN_FIELDS),
                                      _mm256_set1_epi32(1 << 20 | 1 << 8));
    __m256i odd = _mm256_mulhi_epu16(_mm256_and_si256(words, ODD_FIELDS),
                                     _mm256_set1_epi32(1 << 22 | 1 << 10));
    __m256i bytes = _mm256_or_si256(even, odd);
    __m256i zeros = _mm256_cmpeq_epi8(bytes, _mm256_setzero_si256());
    sums->zeros += (uint32_t)__builtin_popcount((unsigned)_mm256_movemask_epi8(zeros));
    sums->largest = _mm256_max_epu8(sums->largest, bytes);
    __m256i values = _mm256_sub_epi8(bytes, _mm256_set1_epi8(1));
    sum_ranges(sums, 0, values);
    __m256i is_large = _mm256_cmpgt_epi8(bytes, _mm256_set1_epi8(16));
    if (_mm256_movemask_epi8(is_large) == 0) return;
    sum_ranges(sums, 2, values);
    sum_ranges(sums, 4, values);
}

WIDE static uint64_t total(__m256i sums) {
    uint64_t parts[4];
    memcpy(parts, &sums, sizeof(parts));
    return parts[0] + parts[1] + parts[2] + parts[3];
}

/* Returns false when a register is too large for it; then *tally is not set. */
WIDE static bool tally_wide(const uint8_t *registers, struct hll_tally *tally) {
    struct wide_sums sums;
    uint8_t largest[sizeof(__m256i)];
    uint64_t sum = 0;
    size_t last = HLL_REGISTER_BYTES - STEP;
    memset(&sums, 0, sizeof(sums));
    for (size_t at = 0; at < last; at += STEP) sum_step(&sums, load_step(registers + at));
    sum_step(&sums, load_last_step(registers + last));
    memcpy(largest, &sums.largest, sizeof(largest));
    for (size_t i = 0; i < sizeof(largest); i++)
        if (largest[i] > LARGEST_SUMMED) return false;
    for (int i = 0; i < RANGES; i++) sum = (sum << 8) + total(sums.ranges[i]);
    *tally = (struct hll_tally){.zeros = sums.zeros, .rest = ldexp((double)sum, -LARGEST_SUMMED)};
    return true;
}

static bool is_wide(bool plain) {
    return !plain && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
}

#endif

/* --- Both --- */

void hll_registers_merge(uint8_t *out, const uint8_t *const *sources, size_t count, bool plain) {
    CHECKED_ASSERT(count > 0);
    if (count == 1) {
        memmove(out, sources[0], HLL_REGISTER_BYTES);
        return;
    }
#ifdef PROCESSOR_X86_64
    if (is_wide(plain)) {
        merge_wide(out, sources, count);
        return;
    }
#endif
    (void)plain;
    merge_plain(out, sources, count);
}

void hll_registers_pack(uint8_t *registers, const uint8_t values[HLL_REGISTERS], bool plain) {
#ifdef PROCESSOR_X86_64
    if (is_wide(plain)) {
        pack_wide(registers, values);
        return;
    }
#endif
    (void)plain;
    pack_plain(registers, values);
}

bool hll_registers_tally(const uint8_t *registers, struct hll_tally *tally, bool plain) {
#ifdef PROCESSOR_X86_64
    if (is_wide(plain) && tally_wide(registers, tally)) return true;
#endif
    (void)plain;
    return tally_plain(registers, tally);
}
