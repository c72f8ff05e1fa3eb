/* hyperloglog_registers: the registers of a HyperLogLog: HLL_REGISTERS numbers of 6 bits, packed
 * from the lowest bit of the first byte on.
 *
 *      byte      0        1        2
 *      bits   10 000000  2222 1111  333333 22      register 0 is 000000
 *
 * Each register holds the longest run of zeros, plus one, that was seen in the hashes of its
 * elements, or 0. Merging two HyperLogLogs is taking the larger register of each pair.
 *
 * Where the processor has AVX2, merging and tallying use it, unless `plain` says not to; the
 * results are the same. All functions work on HLL_REGISTER_BYTES bytes of any alignment. */
#ifndef PACKLIST_DS_STRINGS_HYPERLOGLOG_REGISTERS_H
#define PACKLIST_DS_STRINGS_HYPERLOGLOG_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So many bits of a hash choose the register; the zeros are looked for in the other HLL_HASH_BITS.
 * Tests shrink the first, and with it the number of registers. */
#ifdef TINY_LIMITS
#define HLL_INDEX_BITS 7
#else
#define HLL_INDEX_BITS 14
#endif

enum {
    HLL_HASH_BITS = 64 - HLL_INDEX_BITS,
    HLL_REGISTERS = 1 << HLL_INDEX_BITS,
    HLL_REGISTER_BYTES = HLL_REGISTERS * 6 / 8,
    HLL_REGISTER_MAX = HLL_HASH_BITS + 1 /* of a register that an element has set */
};

/* Returns a register. O(1). */
unsigned hll_register_get(const uint8_t *registers, size_t index);

/* Returns the first register from `index` on that is not 0; HLL_REGISTERS when there is none.
 * O(registers passed / 8). */
size_t hll_register_next(const uint8_t *registers, size_t index);

/* Sets a register to `value`, below 64, unless it is as large already. Returns whether it has
 * changed. O(1). */
bool hll_register_raise(uint8_t *registers, size_t index, unsigned value);

/* Sets each register of `out` to the largest of the same one of all sources: at least one. `out`
 * may be a source, and may not overlap one otherwise. O(registers * sources). */
void hll_registers_merge(uint8_t *out, const uint8_t *const *sources, size_t count, bool plain);

/* Sets the registers to values, which are below 64. O(registers). */
void hll_registers_pack(uint8_t *registers, const uint8_t values[HLL_REGISTERS], bool plain);

/* What an estimate needs to know of the registers. */
struct hll_tally {
    uint32_t zeros; /* registers that are 0 */
    double rest;    /* the sum of 2^-register over all others; for those that are HLL_REGISTER_MAX
                       an expected value stands in */
};

/* Computes the tally. Returns false when a register is larger than any element can make it.
 * O(registers). */
bool hll_registers_tally(const uint8_t *registers, struct hll_tally *tally, bool plain);

/* The same from how many registers have each value. O(1). */
enum { HLL_REGISTER_VALUES = 64 };
bool hll_histogram_tally(const uint32_t histogram[HLL_REGISTER_VALUES], struct hll_tally *tally);

/* Estimates how many different elements have made the registers. Returns false when the estimate is
 * beyond INT64_MAX: no elements make such registers. O(1). */
bool hll_estimate(const struct hll_tally *tally, uint64_t *count);

#endif
