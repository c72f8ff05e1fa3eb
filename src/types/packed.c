#include "types/packed.h"

static size_t header_for(size_t size, size_t count) {
    return count > 0 && count <= PACKED_SMALL_COUNT_MAX && size <= PACKED_SMALL_SIZE_MAX
               ? PACKED_SMALL_HEADER
               : PACKED_LARGE_HEADER;
}

static size_t header_of(const struct entry *entry) {
    return entry_byte(entry) ? PACKED_SMALL_HEADER : PACKED_LARGE_HEADER;
}

/* Writes the header into an entry whose value has room for it and the body. Returns the body. */
static uint8_t *write_header(struct entry *entry, uint8_t *value, size_t header, size_t size,
                             size_t count) {
    uint16_t small = (uint16_t)size;
    uint32_t large[2] = {(uint32_t)size, (uint32_t)count};
    CHECKED_ASSERT(size <= PACKED_SIZE_MAX && count <= UINT32_MAX);
    if (__builtin_expect(header == PACKED_SMALL_HEADER, 1)) {
        memcpy(value, &small, sizeof(small));
        entry_set_byte(entry, (uint8_t)count);
    } else {
        memcpy(value, large, sizeof(large));
        entry_set_byte(entry, 0);
    }
    return value + header;
}

struct entry *packed_new(struct slice key, enum value_type type, unsigned encoding, size_t size,
                         size_t count, uint8_t **first) {
    size_t header = header_for(size, count);
    struct entry *entry = entry_new(key, type, encoding, header + size);
    *first = write_header(entry, entry_value(entry), header, size, count);
    return entry;
}

uint8_t *packed_splice(struct entry **entry, size_t at, size_t remove, size_t add, size_t count) {
    struct packed body = packed_view(*entry);
    size_t old_size = packed_size(body), size = old_size - remove + add;
    CHECKED_ASSERT(at <= old_size && remove <= old_size - at);
    if (remove == add && count == body.count) return body.first + at;
    size_t old_header = header_of(*entry), header = header_for(size, count);
    size_t old_total = old_header + old_size, total = header + size, tail = old_size - at - remove;
    /* Where the value begins does not change when the entry moves. */
    size_t offset = (size_t)(body.first - (uint8_t *)*entry) - old_header;
    /* Things move while the entry has the larger of both sizes. */
    if (total > old_total) *entry = entry_resize(*entry, old_total, total);
    uint8_t *value = (uint8_t *)*entry + offset;
    if (header < old_header) memmove(value + header, value + old_header, at);
    memmove(value + header + at + add, value + old_header + at + remove, tail);
    if (header > old_header) memmove(value + header, value + old_header, at);
    if (total < old_total) *entry = entry_resize(*entry, old_total, total);
    uint8_t *first = write_header(*entry, (uint8_t *)*entry + offset, header, size, count);
    CHECKED_ASSERT(packed_check(*entry) && packed_value_size(*entry) == total);
    return first + at;
}

void packed_move_out(struct entry **entry, unsigned encoding, void *pointer) {
    CHECKED_ASSERT(encoding & ENTRY_OUT_OF_LINE);
    *entry = entry_resize(*entry, packed_value_size(*entry), sizeof(pointer));
    entry_set_type(*entry, entry_type(*entry), encoding);
    entry_set_byte(*entry, 0);
    entry_set_pointer(*entry, pointer);
}

uint8_t *packed_move_in(struct entry **entry, unsigned encoding, size_t size, size_t count) {
    size_t header = header_for(size, count);
    CHECKED_ASSERT(entry_is_out_of_line(*entry) && !(encoding & ENTRY_OUT_OF_LINE));
    *entry = entry_resize(*entry, sizeof(void *), header + size);
    entry_set_type(*entry, entry_type(*entry), encoding);
    return write_header(*entry, entry_value(*entry), header, size, count);
}

bool packed_check(const struct entry *entry) {
    struct packed body = packed_view(entry);
    return header_of(entry) == header_for(packed_size(body), body.count);
}

void packed_index_make(struct packed_index *index, const uint8_t *first, size_t count,
                       packed_skip *skip, unsigned layout) {
    const uint8_t *at = first;
    index->offsets = mem_alloc((count / PACKED_INDEX_STEP + 1) * sizeof(*index->offsets));
    for (size_t i = 0; i < count; i++) {
        if (i % PACKED_INDEX_STEP == 0)
            index->offsets[i / PACKED_INDEX_STEP] = (uint32_t)(at - first);
        at = skip(at, layout);
    }
}
