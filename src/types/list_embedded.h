/* list_embedded: lists that live inside their entry. For types/list*.c only.
 *
 *      value: [body size 2, native order] element …      the entry's own byte: number of elements
 *
 * The entry is only as long as its body needs, so every change of size goes through entry_resize,
 * which calls the allocator only when the size class changes: five 10-byte strings under a 10-byte
 * key take 79 bytes. */
#ifndef PACKLIST_TYPES_LIST_EMBEDDED_H
#define PACKLIST_TYPES_LIST_EMBEDDED_H

#include "base/checked.h"
#include "types/list.h"

/* The encoding nibble of a list's entry. */
enum list_encoding {
    LIST_EMBEDDED, /* the layout above */
    /* A pointer to a quicklist, shown as listpack if it is one raw node, and as quicklist. */
    LIST_LISTPACK = ENTRY_OUT_OF_LINE,
    LIST_QUICKLIST
};

enum {
    LIST_EMBEDDED_OFFSET = 2, /* of the body in the value */
    LIST_EMBEDDED_COUNT_MAX = 255
};

_Static_assert(LIST_EMBEDDED_MAX <= UINT16_MAX, "the body's size is kept in two bytes");

static inline bool list_is_embedded(const struct entry *entry) {
    CHECKED_ASSERT(entry_type(entry) == VALUE_LIST);
    return entry_encoding(entry) == LIST_EMBEDDED;
}

static inline size_t list_embedded_size(const struct entry *entry) {
    uint16_t size;
    memcpy(&size, entry_value(entry), sizeof(size));
    return size;
}

static inline size_t list_embedded_count(const struct entry *entry) {
    return entry_byte(entry);
}

static inline uint8_t *list_embedded_first(const struct entry *entry) {
    return entry_value(entry) + LIST_EMBEDDED_OFFSET;
}

static inline bool list_embedded_fits(size_t size, size_t count) {
    return size <= LIST_EMBEDDED_MAX && count <= LIST_EMBEDDED_COUNT_MAX;
}

/* Writes the size of the body and the count of an entry that has room for them. */
void list_embedded_set_size_and_count(struct entry *entry, size_t size, size_t count);

/* A new entry with room for a body of `size` bytes, both numbers set; the caller writes the
 * body. */
struct entry *list_embedded_new(struct slice key, size_t size, size_t count);

/* Replaces `remove` bytes of the body at offset `at` by `add` bytes, which the caller writes to
 * the result; the list then has `count` elements. May move the entry. O(body). */
uint8_t *list_embedded_splice(struct keyref *ref, size_t at, size_t remove, size_t add,
                              size_t count);

/* Offset in the body of element `index` (<= count). O(body). */
size_t list_embedded_offset(const struct entry *entry, size_t index);

/* Removes `n` elements starting at `index`. O(body). */
void list_embedded_delete(struct keyref *ref, size_t index, size_t n);

/* Moves the element at the `from` end to the other end. O(body). */
void list_embedded_rotate(struct entry *entry, enum list_end from);

/* Removes up to `max` elements equal to `needle`; returns their number. O(body). */
size_t list_embedded_remove(struct keyref *ref, const struct listpack_element *needle, size_t max,
                            bool from_end);

bool list_embedded_check(const struct entry *entry);

#endif
