/* packed_index: where members stand in a body of bytes that is read from its start, for those who
 * read many of them by rank. For types/ only.
 *
 *      offsets    of the members 0, PACKED_INDEX_STEP, 2 * PACKED_INDEX_STEP, …
 *
 * A search without the index reads all members before the one that it looks for. When the searches
 * have read more members so than there are, the index is made: n searches cost O(members + n)
 * together, and a single one needs no index. It takes a quarter of a byte for each member, at most
 * an eighth of the body's size. The body must not change while the index is in use. */
#ifndef PACKLIST_TYPES_PACKED_INDEX_H
#define PACKLIST_TYPES_PACKED_INDEX_H

#include "base/alloc.h"
#include "base/checked.h"

#include <stddef.h>
#include <stdint.h>

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
