/* segmented: an array of items that grows and shrinks at its end, one item at a time, and in which
 * no step takes longer because the array is large.
 *
 *      directory    │ entry 0 │ entry 1 │ entry 2 │         │      3 of 4 entries in use
 *                        │         │         └──► [ item │ item │                ]
 *                        │         └────────────► [ item │ item │ … 512 items    ]
 *                        └──────────────────────► [ item │ item │ … 512 items    ]
 *
 *      item i       in the segment of entry i / 512, at i % 512
 *
 * The rules of growing and shrinking:
 *   1. An empty array owns no memory.
 *   2. The first segment has room for as many items as its size class of the allocator holds, up to
 *      512. When it is full it moves to the next class; when a third of it is empty, to the class
 *      that its items need. So small arrays are small.
 *   3. Each further segment is allocated with room for 512 items, and freed with its last item.
 *   4. A full directory doubles. When no more than a quarter of it is used, it halves. With one
 *      segment it has one entry, which is inside the struct if it is a mere pointer.
 *
 * At most, a push or a pop copies 512 items, or, once in a doubling or halving, the directory. */
#ifndef PACKLIST_DS_SEGMENTED_H
#define PACKLIST_DS_SEGMENTED_H

#include "base/checked.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct relocator; /* base/memory/relocate.h */

#ifdef TINY_LIMITS
enum { SEGMENTED_BITS = 2 };
#else
enum { SEGMENTED_BITS = 9 };
#endif
enum { SEGMENTED_ITEMS = 1 << SEGMENTED_BITS };

/* A field of its owner, which calls segmented_follow when it has moved. Only segmented.c writes to
 * it. */
struct segmented {
    void *directory;         /* entries, each of which begins with the address of its segment */
    void *only;              /* the directory of one entry, if entries are pointers */
    size_t count;            /* items */
    uint32_t capacity;       /* entries that the directory has room for */
    uint16_t first_capacity; /* items that the first segment has room for */
    uint8_t item_size;
    uint8_t entry_size;
};

/* An empty array. Items are aligned to `item_size`, a power of two of at least 8. `entry_size`, at
 * least that of a pointer and a multiple of it, leaves room for what the owner knows of a whole
 * segment: a struct of which the segment's address is the first field. */
void segmented_init(struct segmented *array, size_t item_size, size_t entry_size);

/* Frees all memory; the array is empty. O(segments). */
void segmented_free(struct segmented *array);

/* Adds an item at the end and returns its place, which is uninitialised. In the entry of a new
 * segment all but the address is zero. Moves the items of the first segment, and the directory,
 * when the rules say so; no others. O(1). */
void *segmented_push(struct segmented *array);

/* Removes the last item; moves as segmented_push does. O(1). */
void segmented_pop(struct segmented *array);

/* Moves what may gain by it to better places (base/memory/relocate.h): the directory and the first
 * segment, unless its items need a larger alignment than all memory has. O(entries). */
void segmented_relocate(struct segmented *array, struct relocator *relocator);

/* To be called when the owner, with this array, has been copied to another address. O(1). */
void segmented_follow(struct segmented *array);

/* Bytes that the array owns, as allocated. O(1). */
size_t segmented_allocated(const struct segmented *array);

/* Copies all items to `dst`. O(items), at the speed of memory. */
void segmented_read(const struct segmented *array, void *dst);

/* Segments, which are as many as the entries in use. O(1). */
static inline size_t segmented_segments(const struct segmented *array) {
    return (array->count + SEGMENTED_ITEMS - 1) >> SEGMENTED_BITS;
}

/* The items of a segment, and those that it has room for. Its memory is from mem_alloc and as large
 * as that: the owner may put other such memory in its place. O(1). */
static inline size_t segmented_used(const struct segmented *array, size_t segment) {
    size_t rest = array->count - (segment << SEGMENTED_BITS);
    CHECKED_ASSERT(segment < segmented_segments(array));
    return rest < SEGMENTED_ITEMS ? rest : SEGMENTED_ITEMS;
}

static inline size_t segmented_room(const struct segmented *array, size_t segment) {
    return segment == 0 ? array->first_capacity : SEGMENTED_ITEMS;
}

/* Item `index` of an array of 64-bit words with entries of a pointer. Owners of other items have a
 * function like this of their own, so that a lookup is a few instructions. O(1). */
static inline uint64_t *segmented_word(const struct segmented *array, size_t index) {
    uint64_t *const *directory = array->directory;
    CHECKED_ASSERT(index < array->count && array->item_size == sizeof(uint64_t) &&
                   array->entry_size == sizeof(*directory));
    return &directory[index >> SEGMENTED_BITS][index & (SEGMENTED_ITEMS - 1)];
}

/* The executable invariant: rules 1, 2 and 4. O(1). */
bool segmented_check(const struct segmented *array);

#endif
