/* stream_groups: how far consumer groups have read their stream.
 *
 * A group knows its last id, and counts the entries up to there that the stream ever had, as long
 * as it can: XGROUP may set the id to anything, and entries that were deleted in between make the
 * count a guess. The rules are those of Redis, so that both show the same lag. */
#ifndef PACKLIST_TYPES_STREAM_GROUPS_H
#define PACKLIST_TYPES_STREAM_GROUPS_H

#include "types/stream.h"

/* What of a stream the rules need. */
struct stream_extent {
    uint64_t length;
    struct stream_id first; /* STREAM_ID_MIN without entries */
    struct stream_facts facts;
};

/* O(1). */
struct stream_extent stream_extent(const struct entry *entry);

/* How many entries the stream ever had up to this id, or CONSUMER_GROUP_UNKNOWN. O(1). */
int64_t stream_entries_up_to(const struct stream_extent *extent, struct stream_id id);

/* How many entries the group has still to read; false when that is unknown. O(1). */
bool stream_group_lag(const struct stream_extent *extent, const struct consumer_group *group,
                      uint64_t *lag);

/* The group was given the entry with this id, which is greater than its last one. O(1). */
void stream_group_advance(const struct stream_extent *extent, struct consumer_group *group,
                          struct stream_id id);

/* The greatest id that all groups have been given the entries up to; STREAM_ID_MAX without groups.
 * O(groups). */
struct stream_id stream_given_to_all(const struct entry *entry);

/* Sets waits[i] for each of these ids, which ascend, that a group was not given or has pending: an
 * entry with another one was acknowledged by all groups. O(groups * log n + count * groups at
 * most), where the ids are close together. */
void stream_find_waiting(const struct entry *entry, const struct stream_id *ids, size_t count,
                         bool *waits);

/* --- The end of pending entries. The stream notes which entries are released (ds/released_ids.h).
 * Where an entry is deleted besides, the functions of ds/consumer_groups.h suffice. --- */

/* The same as consumer_group_acknowledge, consumer_group_remove and consumer_groups_remove. */
bool stream_acknowledge(const struct entry *entry, struct consumer_group *group,
                        struct stream_id id);
void stream_remove_consumer(const struct entry *entry, struct consumer_group *group,
                            struct consumer *consumer);
void stream_remove_group(const struct entry *entry, struct consumer_group *group);

#endif
