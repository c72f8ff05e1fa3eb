/* released_ids: see the head of released_ids.h. */
#include "ds/released_ids.h"

void released_ids_forget(struct released_ids *released, struct pieces *pieces,
                         struct stream_id from) {
    struct pending_entry first;
    if (stream_id_compare(from, released->looked_until) >= 0) return;
    bool has_any = pendinglist_edge(&released->ids, false, &first);
    bool is_before = has_any && stream_id_compare(first.id, from) < 0;
    released->looked_until = is_before ? first.id : from;
    pendinglist_free(&released->ids, pieces);
}

void released_ids_add(struct released_ids *released, struct pieces *pieces, struct stream_id id) {
    struct pending_entry entry = {.id = id};
    if (pendinglist_find(&released->ids, id, &entry)) return;
    if (released->ids.length == RELEASED_IDS_MAX) {
        released_ids_forget(released, pieces, id);
        return;
    }
    pendinglist_insert(&released->ids, pieces, &entry);
}

size_t released_ids_first(const struct released_ids *released, struct stream_id last,
                          struct stream_id *ids, size_t max) {
    struct pending_iter iter;
    struct pending_entry entry;
    size_t count = 0;
    pending_iter_start(&iter, idindex_view(&released->ids.index), STREAM_ID_MIN);
    while (count < max && pending_iter_next(&iter, &entry) &&
           stream_id_compare(entry.id, last) <= 0)
        ids[count++] = entry.id;
    return count;
}

void released_ids_remove(struct released_ids *released, struct pieces *pieces,
                         const struct stream_id *ids, size_t count) {
    enum { STEP = 64 };
    struct pending_entry removed[STEP];
    for (size_t i = 0; i < count; i += STEP)
        pendinglist_remove_ids(&released->ids, pieces, ids + i, count - i < STEP ? count - i : STEP,
                               removed);
}

void released_ids_relocate(struct released_ids *released, struct relocator *relocator) {
    uint64_t at = 0;
    do at = pendinglist_relocate(&released->ids, at, relocator);
    while (at != 0);
}

bool released_ids_check(const struct released_ids *released, const struct pieces *pieces) {
    struct pending_entry last;
    return pendinglist_check(&released->ids, pieces) && released->ids.length <= RELEASED_IDS_MAX &&
           (!pendinglist_edge(&released->ids, true, &last) ||
            stream_id_compare(last.id, released->looked_until) < 0);
}
