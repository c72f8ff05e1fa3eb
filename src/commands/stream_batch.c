/* stream_batch: see the head of stream_batch.h. */
#include "commands/stream_batch.h"

#include "base/checked.h"

#include <stdlib.h>

static int compare_ids(const void *a, const void *b) {
    return stream_id_compare(*(const struct stream_id *)a, *(const struct stream_id *)b);
}

void stream_sort_ids(struct id_batch *batch) {
    size_t sorted = 1;
    while (sorted < batch->count && compare_ids(&batch->ids[sorted - 1], &batch->ids[sorted]) <= 0)
        sorted++;
    if (sorted < batch->count) qsort(batch->ids, batch->count, sizeof(*batch->ids), compare_ids);
}

size_t stream_place_of_id(const struct id_batch *sorted, struct stream_id id) {
    const struct stream_id *found =
        bsearch(&id, sorted->ids, sorted->count, sizeof(*sorted->ids), compare_ids);
    CHECKED_ASSERT(found);
    return (size_t)(found - sorted->ids);
}

void stream_propagate_ids(struct call *call, struct slice name, struct slice key,
                          const struct consumer_group *group, const struct id_batch *batch) {
    struct slice argv[3 + STREAM_BATCH];
    char texts[STREAM_BATCH][STREAM_ID_TEXT_MAX];
    size_t argc = 0;
    if (!call->propagates || batch->count == 0) return;
    argv[argc++] = name;
    argv[argc++] = key;
    if (group) argv[argc++] = group->name;
    for (size_t i = 0; i < batch->count; i++)
        argv[argc++] = stream_id_text(texts[i], batch->ids[i]);
    call_propagate_as(call, argv, argc);
}

/* Drops the references of one group. */
static void drop_references_of(struct call *call, const struct entry *entry, struct slice key,
                               struct consumer_group *group, const struct id_batch *batch) {
    struct pending_entry acknowledged[STREAM_BATCH];
    struct id_batch dropped;
    dropped.count = consumer_groups_acknowledge_all(stream_groups(entry), stream_pieces(entry),
                                                    group, batch->ids, batch->count, acknowledged);
    for (size_t i = 0; i < dropped.count; i++) dropped.ids[i] = acknowledged[i].id;
    stream_propagate_ids(call, SLICE("XACK"), key, group, &dropped);
}

void stream_drop_references(struct call *call, const struct entry *entry, struct slice key,
                            const struct id_batch *batch) {
    struct consumer_groups *groups = stream_groups(entry);
    for (size_t i = 0; i < consumer_groups_count(groups); i++)
        drop_references_of(call, entry, key, consumer_groups_at(groups, i), batch);
}
