/* Reading a list in order: over the embedded body here, over nodes in ds/quicklist. */
#include "types/list_embedded.h"

#include "base/checked.h"

void list_iter_start(struct list_iter *iter, const struct entry *entry, uint64_t index,
                     enum list_direction direction) {
    CHECKED_ASSERT(index < list_length(entry));
    iter->embedded = list_is_embedded(entry);
    if (!iter->embedded) {
        quicklist_iter_start(&iter->chunks, list_quicklist(entry), index, direction);
        return;
    }
    size_t count = list_embedded_count(entry);
    iter->first = list_embedded_first(entry);
    iter->end = iter->first + list_embedded_size(entry);
    iter->readable_end = (const uint8_t *)entry + entry_allocated(entry, list_value_size(entry));
    iter->direction = direction;
    iter->index = index;
    bool forward = direction == LIST_FORWARD;
    iter->at = iter->first + list_embedded_offset(entry, forward ? index : index + 1);
    iter->remaining = forward ? count - index : index + 1;
}

void list_iter_end(struct list_iter *iter) {
    if (!iter->embedded) quicklist_iter_end(&iter->chunks);
}

/* Counts `n` elements as passed. */
static void iter_advance(struct list_iter *iter, uint64_t n) {
    iter->index = iter->direction == LIST_FORWARD ? iter->index + n : iter->index - n;
    iter->remaining -= n;
}

const uint8_t *list_iter_next(struct list_iter *iter) {
    if (!iter->embedded) return quicklist_iter_next(&iter->chunks);
    if (iter->remaining == 0) return NULL;
    iter_advance(iter, 1);
    return listpack_step(&iter->at, iter->direction == LIST_FORWARD);
}

bool list_iter_run(struct list_iter *iter, struct quicklist_run *run) {
    if (!iter->embedded) return quicklist_iter_run(&iter->chunks, run);
    if (iter->remaining == 0) return false;
    bool forward = iter->direction == LIST_FORWARD;
    run->first = forward ? iter->at : iter->first;
    run->end = forward ? iter->end : iter->at;
    run->readable_end = iter->readable_end;
    run->count = (size_t)iter->remaining;
    iter->at = forward ? iter->end : iter->first;
    iter_advance(iter, iter->remaining);
    return true;
}

bool list_iter_find(struct list_iter *iter, const struct listpack_element *needle, uint64_t max,
                    uint64_t *index) {
    if (!iter->embedded) return quicklist_iter_find(&iter->chunks, needle, max, index);
    size_t skipped;
    size_t limit = (size_t)(max < iter->remaining ? max : iter->remaining);
    bool forward = iter->direction == LIST_FORWARD;
    const uint8_t *found = forward
                               ? listpack_find(iter->at, iter->end, needle, limit, &skipped)
                               : listpack_find_back(iter->first, iter->at, needle, limit, &skipped);
    if (found == NULL) return false;
    *index = forward ? iter->index + skipped : iter->index - skipped;
    iter->at = forward ? found + needle->size : found;
    iter_advance(iter, skipped + 1);
    return true;
}
