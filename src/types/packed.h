/* packed: small collections as one body of bytes inside their entry. For types/ only.
 *
 *      value      [size 2] body                 the entry's own byte: number of members
 *                 [size 4][count 4] body        the entry's own byte is 0: a larger body, or an
 *                                               empty one
 *
 * The entry is exactly as long as its body, so every change of size goes through entry_resize,
 * which calls the allocator only when the size class changes. What the body contains is not known
 * here. */
#ifndef PACKLIST_TYPES_PACKED_H
#define PACKLIST_TYPES_PACKED_H

#include "store/entry.h"

/* Larger bodies do not exist, whatever the directives allow. */
#define PACKED_SIZE_MAX ((size_t)1 << 30)

/* Bytes of both headers. */
enum { PACKED_SMALL_HEADER = 2, PACKED_LARGE_HEADER = 8 };

/* A view of the body, until it changes. */
struct packed {
    uint8_t *first;
    uint8_t *end;
    size_t count; /* of members */
};

/* A new entry with an empty body. */
struct entry *packed_new(struct slice key, enum value_type type, unsigned encoding);

/* O(1). Inlined: each request to a small collection asks for it several times. */
static inline struct packed packed_view(const struct entry *entry) {
    uint8_t *value = entry_value(entry);
    uint16_t small;
    uint32_t large[2];
    size_t count = entry_byte(entry);
    if (__builtin_expect(count != 0, 1)) {
        memcpy(&small, value, sizeof(small));
        value += PACKED_SMALL_HEADER;
        return (struct packed){value, value + small, count};
    }
    memcpy(large, value, sizeof(large));
    value += PACKED_LARGE_HEADER;
    return (struct packed){value, value + large[0], large[1]};
}

/* Bytes of header and body. O(1). */
size_t packed_value_size(const struct entry *entry);

/* Replaces `remove` bytes of the body at offset `at` by `add` bytes, which the caller writes where
 * the result points; the body then has `count` members. May move the entry. O(body); O(1) when no
 * number changes. */
uint8_t *packed_splice(struct entry **entry, size_t at, size_t remove, size_t add, size_t count);

/* Returns whether the header is in its one right form. O(1). */
bool packed_check(const struct entry *entry);

#endif
