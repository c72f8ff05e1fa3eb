/* packed: a small list, sorted set, set or hash as one body of bytes inside its entry. For types/
 * only.
 *
 *      value in the entry            identified by
 *      [size 2] body                 the entry's own byte is not 0: it is the number of members
 *      [size 4][count 4] body        the entry's own byte is 0: the body is empty, or has more than
 *                                    255 members or more than 65,535 bytes
 *      [pointer]                     the bit ENTRY_OUT_OF_LINE of the encoding: no body, but what
 *                                    the type has made of one that became too large
 *
 * Numbers are in native order. What the members are is not known here; the encoding says it
 * (types/list.h, zset.h, records.h). Strings and intsets that lie in their entry have layouts of
 * their own, without a header.
 *
 * The entry is exactly as long as its body needs, so every change of size goes through
 * entry_resize, which calls the allocator only when the size class changes: five 10-byte strings
 * in a list under a 10-byte key take 79 bytes. */
#ifndef PACKLIST_TYPES_PACKED_H
#define PACKLIST_TYPES_PACKED_H

#include "base/checked.h"
#include "base/memory/alloc.h"
#include "store/keyspace.h"

/* Larger bodies do not exist, whatever the directives allow. */
#define PACKED_SIZE_MAX ((size_t)1 << 30)

/* Bytes of both headers, and the most that the small one can express. */
enum {
    PACKED_SMALL_HEADER = 2,
    PACKED_LARGE_HEADER = 8,
    PACKED_SMALL_COUNT_MAX = UINT8_MAX,
    PACKED_SMALL_SIZE_MAX = UINT16_MAX
};

/* A view of the body, until it changes. */
struct packed {
    uint8_t *first;
    uint8_t *end;
    size_t count; /* of members */
};

/* O(1). Inlined: each request to a small collection asks for it several times. */
static inline struct packed packed_view(const struct entry *entry) {
    uint8_t *value = entry_value(entry);
    uint16_t small;
    uint32_t large[2];
    size_t count = entry_byte(entry);
    CHECKED_ASSERT(!entry_is_out_of_line(entry));
    if (__builtin_expect(count != 0, 1)) {
        memcpy(&small, value, sizeof(small));
        value += PACKED_SMALL_HEADER;
        return (struct packed){value, value + small, count};
    }
    memcpy(large, value, sizeof(large));
    value += PACKED_LARGE_HEADER;
    return (struct packed){value, value + large[0], large[1]};
}

static inline size_t packed_size(struct packed body) {
    return (size_t)(body.end - body.first);
}

/* The number of members of a body that is empty or has the small header. O(1). */
static inline size_t packed_small_count(const struct entry *entry) {
    CHECKED_ASSERT(packed_view(entry).count == entry_byte(entry));
    return entry_byte(entry);
}

/* Bytes of header and body. O(1). */
static inline size_t packed_value_size(const struct entry *entry) {
    return (size_t)(packed_view(entry).end - entry_value(entry));
}

/* A new entry with a body of `count` members in `size` bytes, which the caller writes to *first.
 * Both may be 0. */
struct entry *packed_new(struct slice key, enum value_type type, unsigned encoding, size_t size,
                         size_t count, uint8_t **first);

/* Replaces `remove` bytes of the body at offset `at` by `add` bytes, which the caller writes where
 * the result points; the body then has `count` members. May move the entry. O(body); O(1) when no
 * number changes. */
uint8_t *packed_splice(struct entry **entry, size_t at, size_t remove, size_t add, size_t count);

/* The same in a keyspace. */
static inline uint8_t *packed_splice_key(struct keyref *ref, size_t at, size_t remove, size_t add,
                                         size_t count) {
    struct entry *entry = ref->entry;
    uint8_t *gap = packed_splice(&entry, at, remove, add, count);
    keyref_moved(ref, entry);
    return gap;
}

/* Puts `pointer`, which is to memory that has all members, in the place of the body. `encoding` has
 * the bit ENTRY_OUT_OF_LINE. May move the entry. O(1). */
void packed_move_out(struct entry **entry, unsigned encoding, void *pointer);

/* The reverse: puts a body of `count` members in `size` bytes, which the caller writes to the
 * result, in the place of the pointer. The caller frees what that pointed to. */
uint8_t *packed_move_in(struct entry **entry, unsigned encoding, size_t size, size_t count);

/* Returns whether the header is in its one right form. O(1). */
bool packed_check(const struct entry *entry);

/* --- An index: where members stand in a body that is read from its start, for those who read many
 * of them by rank ---
 *
 *      offsets    of the members 0, PACKED_INDEX_STEP, 2 * PACKED_INDEX_STEP, …
 *
 * A search without the index reads all members before the one that it looks for. When the searches
 * have read more members so than there are, the index is made: n searches cost O(members + n)
 * together, and a single one needs no index. It takes a quarter of a byte for each member, at most
 * an eighth of the body's size. The body must not change while the index is in use. */

#ifdef TINY_LIMITS
enum { PACKED_INDEX_STEP = 4 };
#else
enum { PACKED_INDEX_STEP = 16 };
#endif

/* Starts as zeroes; packed_index_free frees what it has. */
struct packed_index {
    uint32_t *offsets; /* NULL: not made */
    size_t passed;     /* members that were passed without it */
};

/* The end of the member at `at`; `layout` is for this function alone. */
typedef const uint8_t *packed_skip(const uint8_t *at, unsigned layout);

/* Makes the index of a body of `count` members. O(count). */
void packed_index_make(struct packed_index *index, const uint8_t *first, size_t count,
                       packed_skip *skip, unsigned layout);

static inline void packed_index_free(struct packed_index *index) {
    if (index->offsets) mem_free(index->offsets);
}

/* The member of this rank, which is less than `count`, the number of members from `first` on. With
 * the index O(1), else O(rank). */
static inline const uint8_t *packed_index_seek(struct packed_index *index, const uint8_t *first,
                                               size_t count, size_t rank, packed_skip *skip,
                                               unsigned layout) {
    CHECKED_ASSERT(rank < count);
    if (!index->offsets && (index->passed += rank) > count)
        packed_index_make(index, first, count, skip, layout);
    if (index->offsets) {
        first += index->offsets[rank / PACKED_INDEX_STEP];
        rank %= PACKED_INDEX_STEP;
    }
    for (; rank > 0; rank--) first = skip(first, layout);
    return first;
}

#endif
