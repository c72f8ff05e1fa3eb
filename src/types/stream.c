/* Streams: the row of the type, ids, and how far groups have read. The work is done in
 * ds/streamlog. */
#include "types/stream.h"

#include "base/checked.h"
#include "base/prefetch.h"
#include "types/type_operations.h"
#include "types/value.h"

enum { STREAM_IN_LOG = ENTRY_OUT_OF_LINE }; /* the only encoding */

/* --- Changing --- */

struct entry *stream_load_new(struct slice key) {
    return entry_new_pointer(key, VALUE_STREAM, STREAM_IN_LOG, streamlog_new());
}

void stream_create(struct keyref *ref, struct slice key) {
    keyspace_add(ref, stream_load_new(key));
}

void stream_append(struct keyref *ref, struct stream_id id, const struct slice *texts, size_t pairs,
                   const struct stream_limits *limits) {
    uint64_t length = stream_length(ref->entry);
    streamlog_append(stream_log(ref->entry), id, texts, pairs, limits);
    keyspace_resized(ref, length, length + 1);
}

bool stream_delete(struct keyref *ref, struct stream_id id) {
    uint64_t length = stream_length(ref->entry);
    if (!streamlog_delete(stream_log(ref->entry), id)) return false;
    keyspace_resized(ref, length, length - 1);
    return true;
}

uint64_t stream_trim(struct keyref *ref, const struct stream_trim *trim, struct entry **cut) {
    uint64_t length = stream_length(ref->entry);
    struct streamlog *rest;
    uint64_t removed = streamlog_trim(stream_log(ref->entry), trim, &rest);
    *cut = rest ? entry_new_pointer(SLICE(""), VALUE_STREAM, STREAM_IN_LOG, rest) : NULL;
    keyspace_resized(ref, length, length - removed);
    return removed;
}

void stream_set_facts(struct keyref *ref, const struct stream_facts *facts) {
    struct stream_entry last;
    CHECKED_ASSERT(facts->added >= stream_length(ref->entry));
    CHECKED_ASSERT(!stream_edge(ref->entry, true, &last) ||
                   stream_id_compare(facts->last_id, last.id) >= 0);
    struct streamlog *log = stream_log(ref->entry);
    /* Ids that were looked at may be given again. */
    if (stream_id_compare(facts->last_id, log->facts.last_id) < 0)
        consumer_groups_look_again(&log->groups, &log->pieces, STREAM_ID_MIN);
    log->facts = *facts;
}

/* --- Reading --- */

bool stream_next_id(struct stream_id id, int64_t now_ms, struct stream_id *next) {
    *next = id;
    if (now_ms > 0 && (uint64_t)now_ms > id.ms) {
        *next = (struct stream_id){(uint64_t)now_ms, 0};
        return true;
    }
    return stream_id_increment(next);
}

bool stream_edge(const struct entry *entry, bool last, struct stream_entry *edge) {
    struct stream_iter iter;
    streamlog_iter_start(&iter, stream_log(entry), STREAM_ID_MIN, STREAM_ID_MAX, last);
    return streamlog_iter_next(&iter, edge);
}

bool stream_find(const struct entry *entry, struct stream_id id, struct stream_entry *found) {
    struct stream_iter iter;
    streamlog_iter_start(&iter, stream_log(entry), id, id, false);
    return streamlog_iter_next(&iter, found);
}

bool stream_finder_next(struct stream_finder *finder, struct stream_id id,
                        struct stream_entry *found) {
    enum { STEPS = 4 };
    int order = -1;
    for (int step = 0; finder->has_last && step < STEPS; step++) {
        order = stream_id_compare(finder->last.id, id);
        if (order >= 0) break;
        finder->has_last = streamlog_iter_next(&finder->iter, &finder->last);
    }
    if (order < 0) {
        streamlog_iter_start(&finder->iter, stream_log(finder->stream), id, STREAM_ID_MAX, false);
        finder->has_last = streamlog_iter_next(&finder->iter, &finder->last);
        if (!finder->has_last) return false;
        order = stream_id_compare(finder->last.id, id);
    }
    *found = finder->last;
    return order == 0;
}

/* --- How far consumer groups have read --- */

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

/* --- What every type has --- */

static const char *stream_encoding_name(const struct entry *entry) {
    (void)entry;
    return "stream";
}

static size_t stream_value_size(const struct entry *entry) {
    (void)entry;
    return sizeof(struct streamlog *);
}

STRUCTURE_OPERATIONS(stream, streamlog)

static size_t stream_free_effort(const struct entry *entry) {
    const struct streamlog *log = stream_log(entry);
    return type_free_effort(log->pieces.allocations + 1, streamlog_allocated(log));
}

static bool stream_prefetch(struct value_lookup *lookup, unsigned step) {
    (void)step;
    prefetch(stream_log(lookup->entry));
    return false;
}

static bool stream_check(const struct entry *entry) {
    return entry_check(entry) && entry_type(entry) == VALUE_STREAM &&
           entry_encoding(entry) == STREAM_IN_LOG && streamlog_check(stream_log(entry));
}

/* --- Captures --- */

static struct capture *stream_capture(struct entry *entry, size_t *left) {
    struct streamlog *log = stream_log(entry);
    bool small = streamlog_allocated(log) < VALUE_CAPTURE_MIN;
    return small ? NULL : streamlog_capture_begin(log, left);
}

static bool stream_is_captured(const struct entry *entry) {
    return pieces_are_captured(&stream_log(entry)->pieces);
}

CAPTURED_OPERATIONS(stream, streamlog)

const struct type_operations stream_operations = TYPE_OPERATIONS(stream);
