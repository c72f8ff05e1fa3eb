/* hyperloglog: estimates of how many different elements were added, in the bytes that other servers
 * use, too: values can be exchanged, and the same additions make the same bytes.
 *
 *      byte    0 … 3    4                        5 … 7      8 … 15
 *              "HYLL"   0: dense, 1: sparse      not used   the count, little-endian; the
 *                                                           highest bit: it is out of date
 *
 * A dense value goes on with HLL_REGISTER_BYTES (ds/strings/hyperloglog_registers.h), a sparse one
 * with runs of equal registers, in order, which are all registers together:
 *
 *      00xxxxxx              x + 1 registers are 0
 *      01xxxxxx yyyyyyyy     256x + y + 1 registers are 0
 *      1vvvvvxx              x + 1 registers are v + 1
 *
 * The element's hash (MurmurHash64A) chooses a register with its low bits; the register becomes at
 * least the number of zeros that follow, from the lowest bit on, plus one.
 *
 * Any bytes may be given to these functions. Bytes that are no valid value are found out before
 * they are used; a value is corrupt when its runs don't make up all registers. */
#ifndef PACKLIST_DS_STRINGS_HYPERLOGLOG_H
#define PACKLIST_DS_STRINGS_HYPERLOGLOG_H

#include "base/slice.h"
#include "base/text/sds.h"
#include "ds/strings/hyperloglog_registers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HLL_HEADER = 16,
    HLL_DENSE = HLL_HEADER + HLL_REGISTER_BYTES,    /* length of a dense value, in bytes */
    HLL_SPARSE_MAX = HLL_HEADER + 2 * HLL_REGISTERS /* the longest sparse value that is valid */
};

/* The limits of encodings; "plain" also serves tests. */
struct hll_limits {
    size_t sparse_bytes; /* a longer value becomes dense: hll-sparse-max-bytes */
    bool plain;          /* no special instructions of the processor: PFDEBUG SIMD */
};

/* --- Reading --- */

enum hll_kind {
    HLL_INVALID,  /* no HyperLogLog */
    HLL_IS_DENSE, /* never corrupt, but registers may be larger than any element makes them */
    HLL_IS_SPARSE /* perhaps corrupt */
};

/* Says by its header, and by the length of a dense one, what the value is. The functions below take
 * values that are not HLL_INVALID. O(1). */
enum hll_kind hll_kind(struct slice value);

/* Returns whether the value has a count that is up to date; if so, sets *count. O(1). */
bool hll_cached_count(struct slice value, uint64_t *count);

/* Estimates the number of elements. Returns false when the value is corrupt, or no elements can
 * have made it. O(registers) for a dense value, O(bytes) for a sparse one. */
bool hll_count(struct slice value, const struct hll_limits *limits, uint64_t *count);

/* Returns whether the value is not corrupt: its runs make up all registers. O(bytes / 8) for a
 * sparse value, O(1) for a dense one. */
bool hll_is_whole(struct slice value);

/* A union that is made of some values at a time. Lives on the caller's stack. */
struct hll_union {
    uint8_t registers[HLL_REGISTER_BYTES]; /* of dense values; at the end, the largest of all */
    uint8_t raised[HLL_REGISTERS];         /* by sparse values, one a byte */
    bool has_dense;                        /* else `registers` is not set yet */
    bool has_sparse;                       /* else `raised` is not set yet */
    bool plain;
};

/* Begins the union of no values. O(1). */
void hll_union_begin(struct hll_union *all, const struct hll_limits *limits);

/* Adds values; best are HLL_UNION_GROUP dense ones at a time. Returns false when one is corrupt:
 * the union is of no use then. O(bytes of the values). */
enum { HLL_UNION_GROUP = 31 };
bool hll_union_add(struct hll_union *all, const struct slice *values, size_t count);

/* No values follow: `registers` are the largest of all values. O(registers). */
void hll_union_end(struct hll_union *all);

/* Appends the runs of a sparse value to `text`: "Z:16382 v:3,2". Returns NULL, with `text` freed,
 * when the value is corrupt so that they can't be read. O(bytes). */
sds hll_append_runs(sds text, struct slice value);

/* --- Changing --- */

/* A value that is being changed. A dense one needs memory for HLL_DENSE bytes, any other one for
 * HLL_VALUE_MAX. */
enum { HLL_VALUE_MAX = HLL_SPARSE_MAX > HLL_DENSE ? HLL_SPARSE_MAX : HLL_DENSE };
struct hll {
    uint8_t *bytes;
    size_t len;
};

/* Makes an empty sparse value; `hll->bytes` is set. O(1). */
void hll_init(struct hll *hll);

/* Copies a value to `hll->bytes`. Returns false when it is corrupt, as it is too long. O(bytes). */
bool hll_copy(struct hll *hll, struct slice value);

/* Return values of what changes registers. */
enum hll_change {
    HLL_UNCHANGED,
    HLL_CHANGED, /* and the count is out of date */
    HLL_CORRUPT  /* the value is corrupt and must not be used any more */
};

/* Adds an element. A sparse value that would exceed the limit becomes dense. O(1) for a dense
 * value, O(bytes) for a sparse one. */
enum hll_change hll_add(struct hll *hll, struct slice element, const struct hll_limits *limits);

/* Raises all registers of a value to these; the count is then out of date. Returns false when it is
 * corrupt. O(registers + bytes * changes). */
bool hll_raise_all(struct hll *hll, const uint8_t registers[HLL_REGISTER_BYTES],
                   const struct hll_limits *limits);

/* Makes the value a dense one with these registers; the count is then out of date. O(registers). */
void hll_store_registers(struct hll *hll, const uint8_t registers[HLL_REGISTER_BYTES]);

/* Makes a sparse value dense, with the same count. Returns false, with nothing changed, when it is
 * corrupt. O(registers). */
bool hll_make_dense(struct hll *hll);

/* Stores the count, which is up to date then; `bytes` is at least the header. O(1). */
void hll_cache_count(uint8_t *bytes, uint64_t count);

/* Says that the count is out of date. O(1). */
void hll_forget_count(uint8_t *bytes);

/* --- Testing --- */

/* Tries that registers keep what is stored, that special instructions compute what plain code does,
 * and that estimates of known numbers are close. Returns NULL, or what fails (static). Takes some
 * milliseconds. */
const char *hll_self_test(void);

#endif
