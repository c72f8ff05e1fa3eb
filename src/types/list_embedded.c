#include "types/list_embedded.h"

#include "base/checked.h"
#include "ds/listpack.h"

void list_embedded_set_size_and_count(struct entry *entry, size_t size, size_t count) {
    uint16_t size16 = (uint16_t)size;
    CHECKED_ASSERT(list_embedded_fits(size, count));
    memcpy(entry_value(entry), &size16, sizeof(size16));
    entry_set_byte(entry, (uint8_t)count);
}

struct entry *list_embedded_new(struct slice key, size_t size, size_t count) {
    struct entry *entry = entry_new(key, VALUE_LIST, LIST_EMBEDDED, LIST_EMBEDDED_OFFSET + size);
    list_embedded_set_size_and_count(entry, size, count);
    return entry;
}

uint8_t *list_embedded_splice(struct keyref *ref, size_t at, size_t remove, size_t add,
                              size_t count) {
    size_t old_size = list_embedded_size(ref->entry);
    CHECKED_ASSERT(at + remove <= old_size);
    size_t new_size = old_size - remove + add;
    size_t tail = old_size - at - remove;
    uint8_t *gap = list_embedded_first(ref->entry) + at;
    /* The tail moves while the entry has the larger of both sizes. */
    if (add < remove) memmove(gap + add, gap + remove, tail);
    if (new_size != old_size) {
        struct entry *entry = entry_resize(ref->entry, LIST_EMBEDDED_OFFSET + old_size,
                                           LIST_EMBEDDED_OFFSET + new_size);
        if (entry != ref->entry) keyref_moved(ref, entry);
    }
    gap = list_embedded_first(ref->entry) + at;
    if (add > remove) memmove(gap + add, gap + remove, tail);
    list_embedded_set_size_and_count(ref->entry, new_size, count);
    return gap;
}

size_t list_embedded_offset(const struct entry *entry, size_t index) {
    CHECKED_ASSERT(index <= list_embedded_count(entry));
    const uint8_t *first = list_embedded_first(entry), *end = first + list_embedded_size(entry);
    return (size_t)(listpack_seek_in(first, end, list_embedded_count(entry), index) - first);
}

void list_embedded_delete(struct keyref *ref, size_t index, size_t n) {
    size_t from = list_embedded_offset(ref->entry, index);
    size_t to = list_embedded_offset(ref->entry, index + n);
    list_embedded_splice(ref, from, to - from, 0, list_embedded_count(ref->entry) - n);
}

void list_embedded_rotate(struct entry *entry, enum list_end from) {
    uint8_t moved[LIST_EMBEDDED_MAX];
    uint8_t *first = list_embedded_first(entry);
    uint8_t *end = first + list_embedded_size(entry);
    size_t size = from == LIST_HEAD ? listpack_size(first) : listpack_size_before(end);
    size_t rest = (size_t)(end - first) - size;
    if (from == LIST_HEAD) {
        memcpy(moved, first, size);
        memmove(first, first + size, rest);
        memcpy(end - size, moved, size);
    } else {
        memcpy(moved, end - size, size);
        memmove(first + size, first, rest);
        memcpy(first, moved, size);
    }
}

size_t list_embedded_remove(struct keyref *ref, const struct listpack_element *needle, size_t max,
                            bool from_end) {
    uint8_t *first = list_embedded_first(ref->entry);
    uint8_t *end = first + list_embedded_size(ref->entry);
    size_t removed;
    uint8_t *new_end = listpack_remove_matching(first, end, needle, max, from_end, &removed);
    if (removed)
        list_embedded_splice(ref, (size_t)(new_end - first), (size_t)(end - new_end), 0,
                             list_embedded_count(ref->entry) - removed);
    return removed;
}

bool list_embedded_check(const struct entry *entry) {
    size_t size = list_embedded_size(entry);
    const uint8_t *first = list_embedded_first(entry);
    return size <= LIST_EMBEDDED_MAX &&
           listpack_body_check(first, first + size, list_embedded_count(entry));
}
