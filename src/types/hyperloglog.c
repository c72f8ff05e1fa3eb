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

/* A value that is changed: in place, or as a copy. */
struct opened {
    struct hll hll;
    uint8_t copy[HLL_VALUE_MAX];
};

/* Opens a present value, or a new one: a dense one in place. */
static enum hyperloglog_outcome open_value(struct opened *opened, struct keyref *ref,
                                           struct slice key) {
    struct slice value = present(ref);
    if (is_dense(value)) {
        opened->hll = (struct hll){string_open(ref, key, 0, HLL_DENSE), HLL_DENSE};
        return opened->hll.bytes ? HYPERLOGLOG_DONE : HYPERLOGLOG_NO_MEMORY;
    }
    opened->hll = (struct hll){.bytes = opened->copy};
    if (value.len) return hll_copy(&opened->hll, value) ? HYPERLOGLOG_DONE : HYPERLOGLOG_CORRUPT;
    hll_init(&opened->hll);
    hll_forget_count(opened->copy);
    return HYPERLOGLOG_DONE;
}

/* Puts a copy in the place of the value. */
static enum hyperloglog_outcome store(struct opened *opened, struct keyref *ref, struct slice key) {
    const struct hll *hll = &opened->hll;
    if (hll->bytes == opened->copy) string_set_built(ref, key, slice_make(hll->bytes, hll->len));
    return HYPERLOGLOG_DONE;
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
    struct opened opened;
    *changes = !ref->entry;
    enum hyperloglog_outcome outcome = open_value(&opened, ref, key);
    if (outcome != HYPERLOGLOG_DONE) return outcome;
    if (!add_all(&opened.hll, elements, count, limits, changes)) return HYPERLOGLOG_CORRUPT;
    return *changes ? store(&opened, ref, key) : HYPERLOGLOG_DONE;
}

enum hyperloglog_outcome hyperloglog_merge(struct keyref *ref, struct slice key,
                                           const uint8_t registers[HLL_REGISTER_BYTES], bool dense,
                                           const struct hll_limits *limits) {
    struct opened opened;
    if (is_dense(present(ref))) dense = true;
    enum hyperloglog_outcome outcome = open_value(&opened, ref, key);
    if (outcome != HYPERLOGLOG_DONE) return outcome;
    if (dense)
        hll_store_registers(&opened.hll, registers);
    else if (!hll_raise_all(&opened.hll, registers, limits))
        return HYPERLOGLOG_CORRUPT;
    return store(&opened, ref, key);
}

enum hyperloglog_outcome hyperloglog_make_dense(struct keyref *ref, struct slice key,
                                                bool *changed) {
    struct opened opened;
    *changed = !is_dense(present(ref));
    if (!*changed) return HYPERLOGLOG_DONE;
    enum hyperloglog_outcome outcome = open_value(&opened, ref, key);
    if (outcome != HYPERLOGLOG_DONE) return outcome;
    return hll_make_dense(&opened.hll) ? store(&opened, ref, key) : HYPERLOGLOG_CORRUPT;
}

enum hyperloglog_outcome hyperloglog_keep_count(struct keyref *ref, struct slice key,
                                                uint64_t count) {
    uint8_t *bytes = string_open(ref, key, 0, HLL_HEADER);
    if (!bytes) return HYPERLOGLOG_NO_MEMORY;
    hll_cache_count(bytes, count);
    return HYPERLOGLOG_DONE;
}
