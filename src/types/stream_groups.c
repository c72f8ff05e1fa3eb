/* stream_groups: see the head of stream_groups.h. */
#include "types/stream_groups.h"

struct stream_extent stream_extent(const struct entry *entry) {
    struct stream_entry first;
    struct stream_extent extent = {.length = stream_length(entry), .facts = stream_facts(entry)};
    if (stream_edge(entry, false, &first)) extent.first = first.id;
    return extent;
}

/* Returns whether an entry that was deleted one by one may have had an id from `from` on, between
 * entries that are still there. */
static bool has_gap_from(const struct stream_extent *extent, struct stream_id from) {
    struct stream_id deleted = extent->facts.max_deleted_id;
    return extent->length > 0 && stream_id_compare(deleted, STREAM_ID_MIN) > 0 &&
           stream_id_compare(deleted, extent->first) >= 0 && stream_id_compare(from, deleted) <= 0;
}

int64_t stream_entries_up_to(const struct stream_extent *extent, struct stream_id id) {
    const struct stream_facts *facts = &extent->facts;
    int64_t added = (int64_t)facts->added;
    int to_last = stream_id_compare(id, facts->last_id);
    if (added == 0) return 0;
    if (extent->length == 0 && to_last <= 0) return added;
    if (stream_id_compare(id, STREAM_ID_MIN) != 0 &&
        stream_id_compare(id, facts->max_deleted_id) < 0)
        return CONSUMER_GROUP_UNKNOWN;
    if (to_last == 0) return added;
    if (to_last > 0) return CONSUMER_GROUP_UNKNOWN;
    if (stream_id_compare(facts->max_deleted_id, STREAM_ID_MIN) != 0 &&
        stream_id_compare(facts->max_deleted_id, extent->first) >= 0)
        return CONSUMER_GROUP_UNKNOWN;
    int to_first = stream_id_compare(id, extent->first);
    if (to_first > 0) return CONSUMER_GROUP_UNKNOWN;
    return added - (int64_t)extent->length + (to_first == 0);
}

bool stream_group_lag(const struct stream_extent *extent, const struct consumer_group *group,
                      uint64_t *lag) {
    const struct stream_facts *facts = &extent->facts;
    int64_t read = group->entries_read;
    *lag = 0;
    if (facts->added == 0 || extent->length == 0) return true;
    if (stream_id_compare(group->last_id, extent->first) < 0 &&
        stream_id_compare(facts->max_deleted_id, extent->first) < 0) {
        *lag = extent->length;
        return true;
    }
    if (read == CONSUMER_GROUP_UNKNOWN || has_gap_from(extent, group->last_id))
        read = stream_entries_up_to(extent, group->last_id);
    *lag = facts->added - (uint64_t)read;
    return read != CONSUMER_GROUP_UNKNOWN;
}

void stream_group_advance(const struct stream_extent *extent, struct consumer_group *group,
                          struct stream_id id) {
    bool is_within = stream_id_compare(group->last_id, extent->first) >= 0;
    if (group->entries_read != CONSUMER_GROUP_UNKNOWN && is_within &&
        !has_gap_from(extent, group->last_id))
        group->entries_read += group->entries_read < INT64_MAX;
    else if (extent->facts.added > 0)
        group->entries_read = stream_entries_up_to(extent, id);
    group->last_id = id;
}

struct stream_id stream_given_to_all(const struct entry *entry) {
    const struct consumer_groups *groups = stream_groups(entry);
    struct stream_id least = STREAM_ID_MAX;
    for (size_t i = 0; i < consumer_groups_count(groups); i++) {
        struct stream_id last = consumer_groups_at(groups, i)->last_id;
        if (stream_id_compare(last, least) < 0) least = last;
    }
    return least;
}

void stream_find_waiting(const struct entry *entry, const struct stream_id *ids, size_t count,
                         bool *waits) {
    const struct consumer_groups *groups = stream_groups(entry);
    struct stream_id given = stream_given_to_all(entry);
    size_t from = 0;
    for (size_t i = 0; i < count; i++) waits[i] = false;
    for (; count > 0 && stream_id_compare(ids[count - 1], given) > 0; count--)
        waits[count - 1] = true;
    for (size_t g = 0; g < consumer_groups_count(groups); g++) {
        while (from < count && waits[from]) from++;
        while (from < count && waits[count - 1]) count--;
        if (from == count) return;
        const struct consumer_group *group = consumer_groups_at(groups, g);
        pendinglist_find_ids(&group->pending, ids + from, count - from, waits + from);
    }
}

/* --- The end of pending entries --- */

bool stream_acknowledge(const struct entry *entry, struct consumer_group *group,
                        struct stream_id id) {
    struct pieces *pieces = stream_pieces(entry);
    if (!consumer_group_acknowledge(group, pieces, id)) return false;
    released_ids_note(&stream_groups(entry)->released, pieces, id);
    return true;
}

/* All entries with these ids are released: too many to note each. */
static void note_all(const struct entry *entry, const struct pendinglist *ids) {
    struct pending_entry first;
    if (pendinglist_edge(ids, false, &first))
        released_ids_forget(&stream_groups(entry)->released, stream_pieces(entry), first.id);
}

void stream_remove_consumer(const struct entry *entry, struct consumer_group *group,
                            struct consumer *consumer) {
    note_all(entry, &consumer->ids);
    consumer_group_remove(group, stream_pieces(entry), consumer);
}

void stream_remove_group(const struct entry *entry, struct consumer_group *group) {
    note_all(entry, &group->pending);
    consumer_groups_remove(stream_groups(entry), stream_pieces(entry), group);
}
