#include "types/packed.h"

#include "base/checked.h"

enum { SMALL_COUNT_MAX = UINT8_MAX };

static size_t header_for(size_t size, size_t count) {
    return count > 0 && count <= SMALL_COUNT_MAX && size <= UINT16_MAX ? PACKED_SMALL_HEADER
                                                                       : PACKED_LARGE_HEADER;
}

static size_t header_of(const struct entry *entry) {
    return entry_byte(entry) ? PACKED_SMALL_HEADER : PACKED_LARGE_HEADER;
}

static void write_header(struct entry *entry, size_t size, size_t count) {
    uint16_t small = (uint16_t)size;
    uint32_t large[2] = {(uint32_t)size, (uint32_t)count};
    if (header_for(size, count) == PACKED_SMALL_HEADER) {
        memcpy(entry_value(entry), &small, sizeof(small));
        entry_set_byte(entry, (uint8_t)count);
    } else {
        memcpy(entry_value(entry), large, sizeof(large));
        entry_set_byte(entry, 0);
    }
}

struct entry *packed_new(struct slice key, enum value_type type, unsigned encoding) {
    struct entry *entry = entry_new(key, type, encoding, PACKED_LARGE_HEADER);
    write_header(entry, 0, 0);
    return entry;
}

size_t packed_value_size(const struct entry *entry) {
    return (size_t)(packed_view(entry).end - entry_value(entry));
}

uint8_t *packed_splice(struct entry **entry, size_t at, size_t remove, size_t add, size_t count) {
    struct packed body = packed_view(*entry);
    CHECKED_ASSERT(at + remove <= (size_t)(body.end - body.first));
    if (remove == add && count == body.count) return body.first + at;
    size_t old_header = header_of(*entry), old_size = (size_t)(body.end - body.first);
    size_t size = old_size - remove + add, header = header_for(size, count);
    size_t old_total = old_header + old_size, total = header + size;
    /* Things move while the entry has the larger of both sizes. */
    if (total > old_total) *entry = entry_resize(*entry, old_total, total);
    uint8_t *value = entry_value(*entry);
    const uint8_t *tail = value + old_header + at + remove;
    if (header <= old_header) memmove(value + header, value + old_header, at);
    memmove(value + header + at + add, tail, old_size - at - remove);
    if (header > old_header) memmove(value + header, value + old_header, at);
    if (total < old_total) *entry = entry_resize(*entry, old_total, total);
    write_header(*entry, size, count);
    CHECKED_ASSERT(packed_check(*entry) && packed_value_size(*entry) == total);
    return entry_value(*entry) + header + at;
}

bool packed_check(const struct entry *entry) {
    struct packed body = packed_view(entry);
    return header_of(entry) == header_for((size_t)(body.end - body.first), body.count);
}
