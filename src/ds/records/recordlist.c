#include "ds/records/recordlist.h"

#include "base/checked.h"
#include "ds/hashtable.h"

enum { NIBBLE_LONG = 15, BYTE_LONG = 255 };

/* Bytes of a length that does not stand in 4 bits. */
static size_t length_size(size_t len) {
    return len < BYTE_LONG ? 1 : 5;
}

static uint8_t *write_length(uint8_t *at, size_t len) {
    uint32_t long_len = (uint32_t)len;
    *at++ = len < BYTE_LONG ? (uint8_t)len : BYTE_LONG;
    if (len < BYTE_LONG) return at;
    memcpy(at, &long_len, sizeof(long_len));
    return at + sizeof(long_len);
}

static inline const uint8_t *read_length(const uint8_t *at, size_t *len) {
    uint32_t long_len;
    *len = *at++;
    if (__builtin_expect(*len < BYTE_LONG, 1)) return at;
    memcpy(&long_len, at, sizeof(long_len));
    *len = long_len;
    return at + sizeof(long_len);
}

static size_t nibble_size(size_t len) {
    return len < NIBBLE_LONG ? 0 : length_size(len);
}

size_t recordlist_size(const struct record *record, unsigned layout) {
    size_t size = record->field.len + (layout & RECORDLIST_EXPIRIES ? 8 : 0);
    if (!(layout & RECORDLIST_VALUES)) return size + length_size(record->field.len);
    return size + record->value.len + 1 + nibble_size(record->field.len) +
           nibble_size(record->value.len);
}

static uint8_t *write_text(uint8_t *at, struct slice text) {
    slice_copy((char *)at, text);
    return at + text.len;
}

uint8_t *recordlist_write(uint8_t *at, const struct record *record, unsigned layout) {
    const uint8_t *begin = at;
    struct record back;
    if (layout & RECORDLIST_VALUES) {
        size_t field = record->field.len, value = record->value.len;
        size_t high = field < NIBBLE_LONG ? field : NIBBLE_LONG;
        size_t low = value < NIBBLE_LONG ? value : NIBBLE_LONG;
        *at++ = (uint8_t)(high << 4 | low);
        if (high == NIBBLE_LONG) at = write_length(at, field);
        if (low == NIBBLE_LONG) at = write_length(at, value);
        at = write_text(at, record->field);
        at = write_text(at, record->value);
    } else {
        at = write_length(at, record->field.len);
        at = write_text(at, record->field);
    }
    if (layout & RECORDLIST_EXPIRIES) {
        memcpy(at, &record->expiry_ms, sizeof(record->expiry_ms));
        at += sizeof(record->expiry_ms);
    }
    CHECKED_ASSERT((size_t)(at - begin) == recordlist_size(record, layout));
    CHECKED_ASSERT(recordlist_read(begin, layout, &back) == at &&
                   back.expiry_ms == record->expiry_ms && slice_equal(back.field, record->field) &&
                   slice_equal(back.value, record->value));
    return at;
}

static inline const uint8_t *read(const uint8_t *at, unsigned layout, struct record *record) {
    size_t field_len, value_len = 0;
    if (layout & RECORDLIST_VALUES) {
        uint8_t head = *at++;
        field_len = head >> 4;
        value_len = head & 15;
        if (field_len == NIBBLE_LONG) at = read_length(at, &field_len);
        if (value_len == NIBBLE_LONG) at = read_length(at, &value_len);
    } else {
        at = read_length(at, &field_len);
    }
    record->field = slice_make(at, field_len);
    record->value = slice_make(at + field_len, value_len);
    record->expiry_ms = RECORD_NEVER;
    at += field_len + value_len;
    if (!(layout & RECORDLIST_EXPIRIES)) return at;
    memcpy(&record->expiry_ms, at, sizeof(record->expiry_ms));
    return at + sizeof(record->expiry_ms);
}

const uint8_t *recordlist_read(const uint8_t *at, unsigned layout, struct record *record) {
    return read(at, layout, record);
}

/* Layout and parts are constants where this is inlined. */
static inline __attribute__((always_inline)) const uint8_t *
read_texts(const uint8_t *at, const uint8_t *end, unsigned layout, unsigned parts,
           struct text_batch *batch) {
    struct record record;
    size_t count = 0;
    while (at < end && count < TEXT_BATCH) {
        at = read(at, layout, &record);
        if (parts & RECORD_FIELD) batch->texts[count++] = record.field;
        if (parts & RECORD_VALUE) batch->texts[count++] = record.value;
    }
    batch->count = count;
    return at;
}
_Static_assert(TEXT_BATCH % 2 == 0, "a field and its value are in the same batch");

const uint8_t *recordlist_read_texts(const uint8_t *at, const uint8_t *end, unsigned layout,
                                     unsigned parts, struct text_batch *batch) {
    if (!(layout & RECORDLIST_VALUES)) return read_texts(at, end, 0, RECORD_FIELD, batch);
    if (parts == RECORD_FIELD) return read_texts(at, end, RECORDLIST_VALUES, RECORD_FIELD, batch);
    if (parts == RECORD_VALUE) return read_texts(at, end, RECORDLIST_VALUES, RECORD_VALUE, batch);
    return read_texts(at, end, RECORDLIST_VALUES, RECORD_FIELD | RECORD_VALUE, batch);
}

/* The layout is a constant where this is inlined. */
static inline __attribute__((always_inline)) const uint8_t *
find(const uint8_t *first, const uint8_t *end, unsigned layout, struct slice field,
     struct record *record) {
    struct record each; /* in registers, which *record is not */
    while (first < end) {
        const uint8_t *at = first;
        first = read(at, layout, &each);
        if (!hashtable_key_equal(each.field, field)) continue;
        *record = each;
        return at;
    }
    return NULL;
}

const uint8_t *recordlist_find(const uint8_t *first, const uint8_t *end, unsigned layout,
                               struct slice field, struct record *record) {
    if (layout == RECORDLIST_VALUES) return find(first, end, RECORDLIST_VALUES, field, record);
    return find(first, end, layout, field, record);
}

bool recordlist_check(const uint8_t *first, const uint8_t *end, unsigned layout, size_t count) {
    const uint8_t *at = first;
    struct record record, earlier;
    for (; count > 0 && at < end; count--) {
        const uint8_t *next = read(at, layout, &record);
        if (recordlist_find(first, at, layout, record.field, &earlier)) return false;
        at = next;
    }
    return count == 0 && at == end;
}
