#include "ds/segmented.h"

#include "base/memory/alloc.h"
#include "base/memory/relocate.h"

#include <assert.h>
#include <string.h>

static char *entry_of(const struct segmented *array, size_t segment) {
    return (char *)array->directory + segment * array->entry_size;
}

static char *segment_of(const struct segmented *array, size_t segment) {
    char *items;
    memcpy(&items, entry_of(array, segment), sizeof(items));
    return items;
}

enum { ALIGNMENT = 16 }; /* of all memory */

static char *segment_new(struct segmented *array, size_t segment, size_t capacity) {
    size_t size = capacity * array->item_size;
    char *items =
        array->item_size > ALIGNMENT ? mem_alloc_aligned(array->item_size, size) : mem_alloc(size);
    memcpy(entry_of(array, segment), &items, sizeof(items));
    return items;
}

void segmented_init(struct segmented *array, size_t item_size, size_t entry_size) {
    CHECKED_ASSERT(item_size >= 8 && item_size <= UINT8_MAX && (item_size & (item_size - 1)) == 0);
    CHECKED_ASSERT(entry_size >= sizeof(void *) && entry_size <= UINT8_MAX &&
                   entry_size % sizeof(void *) == 0);
    *array = (struct segmented){.item_size = (uint8_t)item_size, .entry_size = (uint8_t)entry_size};
}

static bool has_directory_inside(const struct segmented *array, size_t capacity) {
    return capacity == 1 && array->entry_size == sizeof(array->only);
}

static void directory_free(struct segmented *array) {
    if (array->directory != &array->only) mem_free(array->directory);
}

void segmented_free(struct segmented *array) {
    for (size_t s = 0; s < segmented_segments(array); s++) mem_free(segment_of(array, s));
    directory_free(array);
    segmented_init(array, array->item_size, array->entry_size);
}

/* The room of the smallest first segment that holds so many items. */
static uint16_t first_capacity_for(const struct segmented *array, size_t items) {
    size_t capacity = mem_good_size(items * array->item_size) / array->item_size;
    return (uint16_t)(capacity < SEGMENTED_ITEMS ? capacity : SEGMENTED_ITEMS);
}

/* Moves the `used` items of the first segment to one that holds `items` and not many more. */
static void first_resize(struct segmented *array, size_t used, size_t items) {
    uint16_t capacity = first_capacity_for(array, items);
    if (capacity == array->first_capacity) return;
    char *old = segment_of(array, 0);
    memcpy(segment_new(array, 0, capacity), old, used * array->item_size);
    mem_free(old);
    array->first_capacity = capacity;
}

/* Moves the `used` entries to a directory of another capacity. */
static void directory_resize(struct segmented *array, size_t used, size_t capacity) {
    bool is_inside = has_directory_inside(array, capacity);
    void *moved = is_inside ? &array->only : mem_alloc(capacity * array->entry_size);
    assert(capacity <= UINT32_MAX);
    if (used > 0) memcpy(moved, array->directory, used * array->entry_size);
    directory_free(array);
    array->directory = moved;
    array->capacity = (uint32_t)capacity;
}

static void segment_add(struct segmented *array, size_t segment) {
    if (segment == array->capacity)
        directory_resize(array, segment, segment == 0 ? 1 : 2 * segment);
    memset(entry_of(array, segment), 0, array->entry_size);
    if (segment == 0) array->first_capacity = first_capacity_for(array, 1);
    segment_new(array, segment, segmented_room(array, segment));
}

static void segment_remove(struct segmented *array, size_t segment) {
    mem_free(segment_of(array, segment));
    if (segment == 0)
        segmented_free(array);
    else if (segment == 1 || segment * 4 <= array->capacity)
        directory_resize(array, segment, segment == 1 ? 1 : segment * 2);
}

void *segmented_push(struct segmented *array) {
    size_t index = array->count++, at = index & (SEGMENTED_ITEMS - 1);
    if (at == 0)
        segment_add(array, index >> SEGMENTED_BITS);
    else if (index == array->first_capacity)
        first_resize(array, index, index + 1);
    return segment_of(array, index >> SEGMENTED_BITS) + at * array->item_size;
}

void segmented_pop(struct segmented *array) {
    CHECKED_ASSERT(array->count > 0);
    size_t left = --array->count;
    if ((left & (SEGMENTED_ITEMS - 1)) == 0)
        segment_remove(array, left >> SEGMENTED_BITS);
    else if (left < SEGMENTED_ITEMS && left * 3 <= (size_t)array->first_capacity * 2)
        first_resize(array, left, left);
}

void segmented_relocate(struct segmented *array, struct relocator *relocator) {
    if (array->count == 0) return;
    if (!has_directory_inside(array, array->capacity))
        array->directory =
            relocate(relocator, array->directory, (size_t)array->capacity * array->entry_size);
    if (array->item_size > ALIGNMENT) return;
    char *first =
        relocate(relocator, segment_of(array, 0), (size_t)array->first_capacity * array->item_size);
    memcpy(entry_of(array, 0), &first, sizeof(first));
}

void segmented_follow(struct segmented *array) {
    if (has_directory_inside(array, array->capacity)) array->directory = &array->only;
}

void segmented_read(const struct segmented *array, void *dst) {
    char *to = dst;
    for (size_t s = 0; s < segmented_segments(array); s++) {
        size_t size = segmented_used(array, s) * array->item_size;
        memcpy(to, segment_of(array, s), size);
        to += size;
    }
}

size_t segmented_allocated(const struct segmented *array) {
    if (array->count == 0) return 0;
    size_t room = array->first_capacity + (segmented_segments(array) - 1) * SEGMENTED_ITEMS;
    size_t directory = (size_t)array->capacity * array->entry_size;
    bool is_inside = has_directory_inside(array, array->capacity);
    return room * array->item_size + (is_inside ? 0 : mem_good_size(directory));
}

bool segmented_check(const struct segmented *array) {
    size_t segments = segmented_segments(array), first = array->first_capacity;
    if (segments == 0) return !array->directory && first == 0 && array->capacity == 0;
    bool first_fits =
        segments > 1 ? first == SEGMENTED_ITEMS : array->count <= first && first <= SEGMENTED_ITEMS;
    return first_fits && segments <= array->capacity && segments * 4 > array->capacity;
}
