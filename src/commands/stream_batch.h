/* stream_batch: ids of stream entries that commands work on together, and the references of
 * consumer groups to them: their pending entries. */
#ifndef PACKLIST_COMMANDS_STREAM_BATCH_H
#define PACKLIST_COMMANDS_STREAM_BATCH_H

#include "engine/call.h"
#include "types/stream.h"

enum { STREAM_BATCH = 512 };

struct id_batch {
    struct stream_id ids[STREAM_BATCH];
    size_t count;
};

/* Brings the ids into ascending order. O(n log n), O(n) if they are. */
void stream_sort_ids(struct id_batch *batch);

/* The place of an id that is in a sorted batch. O(log n). */
size_t stream_place_of_id(const struct id_batch *sorted, struct stream_id id);

/* Propagates NAME key [group] id …, unless there are none; `group` may be NULL. */
void stream_propagate_ids(struct call *call, struct slice name, struct slice key,
                          const struct consumer_group *group, const struct id_batch *batch);

/* Ends that the entries with these ids, in ascending order, are pending, in all groups, and
 * propagates that. They are deleted besides. O(groups * log n + what was pending), where the ids
 * are close together. */
void stream_drop_references(struct call *call, const struct entry *entry, struct slice key,
                            const struct id_batch *batch);

#endif
