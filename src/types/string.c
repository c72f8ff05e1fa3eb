/* Strings: the layouts are drawn in string.h.
 *
 * Invariants: an integer has as few bytes as it needs; an embedded or hanging text is no canonical
 * integer; a hanging one is longer than STRING_EMBEDDED_MAX. */
#include "types/string.h"

#include "base/sds.h"
#include "types/value.h"

/* The encoding nibble of a string's entry. */
enum string_encoding { STRING_INTEGER, STRING_EMBEDDED, STRING_HANGING };

/* How a text will be stored. */
struct plan {
    enum string_encoding encoding;
    size_t size; /* of the value inside the entry */
    int64_t integer;
};

/* Bytes that hold `value` in two's complement. */
static size_t integer_size(int64_t value) {
    uint64_t magnitude = value < 0 ? ~(uint64_t)value : (uint64_t)value;
    size_t size = 1;
    while (size < 8 && magnitude >> (8 * size - 1)) size++;
    return size;
}

static struct plan plan_text(struct slice text) {
    struct plan plan = {.size = text.len, .encoding = STRING_EMBEDDED};
    if (text.len <= INT64_TEXT_MAX && number_parse_int64(text, &plan.integer)) {
        plan.encoding = STRING_INTEGER;
        plan.size = integer_size(plan.integer);
    } else if (text.len > STRING_EMBEDDED_MAX) {
        plan.encoding = STRING_HANGING;
        plan.size = sizeof(sds);
    }
    return plan;
}

/* Fills in a value whose entry has `plan->size` bytes for it. */
static void write_value(struct entry *entry, const struct plan *plan, struct slice text) {
    entry_set_type(entry, VALUE_STRING, plan->encoding);
    entry_set_byte(entry, plan->encoding == STRING_HANGING ? 0 : (uint8_t)plan->size);
    uint8_t *value = entry_value(entry);
    switch (plan->encoding) {
    case STRING_INTEGER:
        for (size_t i = 0; i < plan->size; i++)
            value[i] = (uint8_t)((uint64_t)plan->integer >> (8 * i));
        return;
    case STRING_EMBEDDED:
        if (text.len) memcpy(value, text.ptr, text.len);
        return;
    case STRING_HANGING: entry_set_pointer(entry, sds_new(text)); return;
    }
}

static void create(struct keyref *ref, struct slice key, struct slice text) {
    struct plan plan = plan_text(text);
    struct entry *entry = entry_new(key, VALUE_STRING, plan.encoding, plan.size);
    write_value(entry, &plan, text);
    keyspace_add(ref, entry);
}

void string_set(struct keyref *ref, struct slice key, struct slice text) {
    if (ref->entry == NULL) {
        create(ref, key, text);
        return;
    }
    struct plan plan = plan_text(text);
    size_t old_size = value_size(ref->entry);
    value_free_hanging(ref->entry);
    if (entry_expiry(ref->entry) >= 0) keyspace_set_expiry(ref, -1, old_size);
    struct entry *entry = ref->entry;
    if (plan.size != old_size) entry = entry_resize(entry, old_size, plan.size);
    write_value(entry, &plan, text);
    if (entry != ref->entry) keyref_moved(ref, entry);
}

bool string_integer(const struct entry *entry, int64_t *value) {
    if (entry_encoding(entry) != STRING_INTEGER) return false;
    size_t size = entry_byte(entry);
    const uint8_t *bytes = entry_value(entry);
    uint64_t bits = bytes[size - 1] & 0x80 ? UINT64_MAX : 0; /* the sign, extended */
    for (size_t i = size; i-- > 0;) bits = bits << 8 | bytes[i];
    *value = (int64_t)bits;
    return true;
}

struct slice string_text(const struct entry *entry, char buffer[INT64_TEXT_MAX]) {
    int64_t integer;
    if (string_integer(entry, &integer))
        return slice_make(buffer, number_format_int64(buffer, integer));
    if (entry_encoding(entry) == STRING_HANGING) return sds_slice(entry_pointer(entry));
    return slice_make(entry_value(entry), entry_byte(entry));
}

const char *string_encoding_name(const struct entry *entry) {
    switch (entry_encoding(entry)) {
    case STRING_INTEGER: return "int";
    case STRING_EMBEDDED: return entry_byte(entry) <= STRING_EMBSTR_MAX ? "embstr" : "raw";
    default: return "raw";
    }
}

size_t string_value_size(const struct entry *entry) {
    return entry_encoding(entry) == STRING_HANGING ? sizeof(sds) : entry_byte(entry);
}

size_t string_allocated(const struct entry *entry) {
    return entry_encoding(entry) == STRING_HANGING ? sds_allocated(entry_pointer(entry)) : 0;
}

void string_free_value(struct entry *entry) {
    if (entry_encoding(entry) == STRING_HANGING) sds_free(entry_pointer(entry));
}

bool string_check(const struct entry *entry) {
    if (!entry_check(entry) || entry_type(entry) != VALUE_STRING) return false;
    char buffer[INT64_TEXT_MAX];
    struct plan plan = plan_text(string_text(entry, buffer));
    return plan.encoding == entry_encoding(entry) && plan.size == string_value_size(entry);
}
