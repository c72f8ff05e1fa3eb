#include "types/hyperloglog.h"

#include "base/checked.h"
#include "types/string.h"

/* An integer is none, so that the buffer for its text is not looked at again. */
bool hyperloglog_bytes(const struct entry *entry, struct slice *value) {
    char buffer[INT64_TEXT_MAX];
    int64_t integer;
    if (string_integer(entry, &integer)) return false;
    *value = string_text(entry, buffer);
    return hll_kind(*value) != HLL_INVALID;
}

/* The bytes of a present value; none of a key that does not exist. */
static struct slice present(const struct keyref *ref) {
    struct slice value = SLICE("");
    bool is_valid = !ref->entry || hyperloglog_bytes(ref->entry, &value);
    CHECKED_ASSERT(is_valid);
    (void)is_valid;
    return value;
}

static bool is_dense(struct slice value) {
    return value.len && hll_kind(value) == HLL_IS_DENSE;
}

/* Opens a dense value to be changed in place. Returns false when there is no memory for that. */
static bool open_dense(struct keyref *ref, struct slice key, struct hll *hll) {
    *hll = (struct hll){string_open(ref, key, 0, HLL_DENSE), HLL_DENSE};
    return hll->bytes;
}

/* Makes a copy of a present value in `hll->bytes`, or an empty value. Returns false when it is
 * corrupt. */
static bool copy_or_init(struct hll *hll, struct slice value) {
    if (value.len) return hll_copy(hll, value);
    hll_init(hll);
    hll_forget_count(hll->bytes);
    return true;
}

static void store(struct keyref *ref, struct slice key, const struct hll *hll) {
    string_set_built(ref, key, slice_make(hll->bytes, hll->len));
}

/* Adds the elements. Returns false when the value is corrupt. */
static bool add_all(struct hll *hll, const struct slice *elements, size_t count,
                    const struct hll_limits *limits, uint64_t *changes) {
    for (size_t i = 0; i < count; i++) {
        enum hll_change change = hll_add(hll, elements[i], limits);
        if (change == HLL_CORRUPT) return false;
        *changes += change == HLL_CHANGED;
    }
    return true;
}

enum hyperloglog_outcome hyperloglog_add(struct keyref *ref, struct slice key,
                                         const struct slice *elements, size_t count,
                                         const struct hll_limits *limits, uint64_t *changes) {
    uint8_t bytes[HLL_VALUE_MAX];
    struct hll hll = {.bytes = bytes};
    struct slice value = present(ref);
    *changes = !ref->entry;
    if (is_dense(value)) {
        if (!open_dense(ref, key, &hll)) return HYPERLOGLOG_NO_MEMORY;
        add_all(&hll, elements, count, limits, changes);
        return HYPERLOGLOG_DONE;
    }
    if (!copy_or_init(&hll, value) || !add_all(&hll, elements, count, limits, changes))
        return HYPERLOGLOG_CORRUPT;
    if (*changes) store(ref, key, &hll);
    return HYPERLOGLOG_DONE;
}

static enum hyperloglog_outcome merge_to_dense(struct keyref *ref, struct slice key,
                                               const uint8_t *registers) {
    uint8_t bytes[HLL_VALUE_MAX];
    struct hll hll = {.bytes = bytes};
    struct slice value = present(ref);
    if (is_dense(value)) {
        if (!open_dense(ref, key, &hll)) return HYPERLOGLOG_NO_MEMORY;
        hll_store_registers(&hll, registers);
        return HYPERLOGLOG_DONE;
    }
    if (!copy_or_init(&hll, value)) return HYPERLOGLOG_CORRUPT;
    hll_store_registers(&hll, registers);
    store(ref, key, &hll);
    return HYPERLOGLOG_DONE;
}

enum hyperloglog_outcome hyperloglog_merge(struct keyref *ref, struct slice key,
                                           const uint8_t registers[HLL_REGISTER_BYTES], bool dense,
                                           const struct hll_limits *limits) {
    uint8_t bytes[HLL_VALUE_MAX];
    struct hll hll = {.bytes = bytes};
    struct slice value = present(ref);
    if (dense || is_dense(value)) return merge_to_dense(ref, key, registers);
    if (!copy_or_init(&hll, value) || !hll_raise_all(&hll, registers, limits))
        return HYPERLOGLOG_CORRUPT;
    store(ref, key, &hll);
    return HYPERLOGLOG_DONE;
}

enum hyperloglog_outcome hyperloglog_make_dense(struct keyref *ref, struct slice key,
                                                bool *changed) {
    uint8_t bytes[HLL_VALUE_MAX];
    struct hll hll = {.bytes = bytes};
    struct slice value = present(ref);
    *changed = !is_dense(value);
    if (!*changed) return HYPERLOGLOG_DONE;
    if (!hll_copy(&hll, value) || !hll_make_dense(&hll)) return HYPERLOGLOG_CORRUPT;
    store(ref, key, &hll);
    return HYPERLOGLOG_DONE;
}

enum hyperloglog_outcome hyperloglog_keep_count(struct keyref *ref, struct slice key,
                                                uint64_t count) {
    uint8_t *bytes = string_open(ref, key, 0, HLL_HEADER);
    if (!bytes) return HYPERLOGLOG_NO_MEMORY;
    hll_cache_count(bytes, count);
    return HYPERLOGLOG_DONE;
}
