/* hyperloglog: any bytes are refused, or have a count that does not depend on how it is computed,
 * and elements can be added to them. First byte: bits 0 and 1, what stands before the rest: nothing,
 * the header of a sparse value, a sparse or dense value that is made of so many elements; the
 * second: the elements, and the limit of sparse values. */
#include "base/memory/alloc.h"
#include "ds/strings/hyperloglog.h"

#include <stdlib.h>
#include <string.h>

/* Not assert: this must hold in every build. */
static void require(bool condition) {
    if (!condition) abort();
}

static struct slice value_of(const struct hll *hll) {
    return slice_make(hll->bytes, hll->len);
}

static bool unite(const struct slice *values, size_t count, const struct hll_limits *limits,
                  uint8_t registers[HLL_REGISTER_BYTES]) {
    struct hll_union all;
    hll_union_begin(&all, limits);
    bool is_whole = hll_union_add(&all, values, count);
    hll_union_end(&all);
    memcpy(registers, all.registers, HLL_REGISTER_BYTES);
    return is_whole;
}

/* Both ways of counting, and of merging, give the same. Returns whether the value is whole. */
static bool check_reading(struct slice value) {
    const struct hll_limits wide = {.plain = false}, plain = {.plain = true};
    uint8_t first[HLL_REGISTER_BYTES], second[HLL_REGISTER_BYTES];
    const struct slice values[] = {value, value, value};
    uint64_t count = 0, other = 0;
    bool is_whole = unite(values, 3, &wide, first);
    require(unite(values, 1, &plain, second) == is_whole);
    require(hll_is_whole(value) == is_whole);
    bool has_count = hll_count(value, &wide, &count);
    require(hll_count(value, &plain, &other) == has_count && count == other);
    require(is_whole || !has_count);
    require(!is_whole || memcmp(first, second, sizeof(first)) == 0);
    if (hll_kind(value) == HLL_IS_SPARSE) {
        sds text = hll_append_runs(sds_new(SLICE("")), value);
        require(text || !is_whole);
        if (text) sds_free(text);
    }
    return is_whole;
}

/* Adds elements to a copy of the value: if it is whole, it stays so, and holds what it held. */
static void check_adding(struct slice value, size_t sparse_bytes, bool is_whole) {
    const struct hll_limits limits = {.sparse_bytes = sparse_bytes};
    uint8_t *bytes = mem_alloc(HLL_VALUE_MAX);
    uint8_t before[HLL_REGISTER_BYTES], after[HLL_REGISTER_BYTES];
    struct hll hll = {.bytes = bytes};
    bool fits = hll_copy(&hll, value);
    require(fits || !is_whole);
    for (uint32_t i = 0; fits && i < 20; i++) {
        enum hll_change change = hll_add(&hll, slice_make(&i, sizeof(i)), &limits);
        require(change != HLL_CORRUPT || !is_whole);
        if (change == HLL_CORRUPT) break;
        require(hll_kind(value_of(&hll)) != HLL_INVALID);
    }
    if (is_whole) {
        struct slice changed = value_of(&hll);
        require(unite(&value, 1, &limits, before) && unite(&changed, 1, &limits, after));
        for (size_t i = 0; i < HLL_REGISTERS; i++)
            require(hll_register_get(before, i) <= hll_register_get(after, i));
        require(hll_raise_all(&hll, after, &limits));
        require(hll_kind(value_of(&hll)) == HLL_IS_DENSE || hll_make_dense(&hll));
        require(memcmp(hll.bytes + HLL_HEADER, after, sizeof(after)) == 0);
    }
    mem_free(bytes);
}

/* Writes the value that the rest of the data is joined to. */
static void write_begin(struct hll *hll, unsigned kind, unsigned elements) {
    const struct hll_limits limits = {.sparse_bytes = HLL_SPARSE_MAX};
    hll_init(hll);
    if (kind == 1) hll->len = HLL_HEADER;
    if (kind < 2) return;
    for (unsigned i = 0; i < elements; i++) hll_add(hll, slice_make(&i, sizeof(i)), &limits);
    if (kind == 3) hll_make_dense(hll);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    unsigned kind = data[0] & 3;
    uint8_t *begin = mem_alloc(HLL_VALUE_MAX);
    struct hll hll = {.bytes = begin};
    write_begin(&hll, kind, data[1]);
    size_t at = kind == 0 ? 0 : hll.len, rest = size - 2;
    /* Over the bytes of a made value, from somewhere on; otherwise after them. */
    if (kind >= 2) at = HLL_HEADER + (size_t)data[0] * 97 % (hll.len - HLL_HEADER);
    size_t len = kind >= 2 && at + rest < hll.len ? hll.len : at + rest;
    if (kind == 3 && len > HLL_DENSE) len = HLL_DENSE;
    if (at + rest > len) rest = len - at;
    uint8_t *bytes =
        mem_alloc(len ? len : 1); /* of the exact size, so that the sanitizer sees more */
    memcpy(bytes, begin, kind == 0 ? 0 : hll.len < len ? hll.len : len);
    memcpy(bytes + at, data + 2, rest);
    struct slice value = slice_make(bytes, len);
    if (hll_kind(value) != HLL_INVALID)
        check_adding(value, (size_t)data[1] * 16, check_reading(value));
    mem_free(bytes);
    mem_free(begin);
    return 0;
}
