/* stream: what a stream value can do. It has one encoding: the entry points to a streamlog
 * (ds/streams/streamlog.h), even when the stream has no entries.
 *
 * A stream without entries stays: its key is not deleted, because it knows its last id. The entry
 * does not move. Consumer groups and producers are no part of the length: the functions of
 * ds/streams/consumer_groups.h and ds/streams/producers.h change them. types/value.h says what
 * holds for all types. */
#ifndef PACKLIST_TYPES_STREAM_H
#define PACKLIST_TYPES_STREAM_H

#include "base/checked.h"
#include "ds/streams/streamlog.h"
#include "store/keyspace.h"
#include "types/value_limits.h"

/* --- Changing --- */

/* Adds a new stream without entries under `key`, which `ref` looked up and did not find. O(1). */
void stream_create(struct keyref *ref, struct slice key);

/* Appends an entry: see streamlog_append. Amortised O(texts). */
void stream_append(struct keyref *ref, struct stream_id id, const struct slice *texts, size_t pairs,
                   const struct stream_limits *limits);

/* Deletes the entry with this id; false when there is none. O(log n + node). */
bool stream_delete(struct keyref *ref, struct stream_id id);

/* Removes entries from the beginning and returns how many. Where much was removed, *cut gets an
 * entry under no key, with most of it, which the caller owns; else NULL. As streamlog_trim. */
uint64_t stream_trim(struct keyref *ref, const struct stream_trim *trim, struct entry **cut);

/* Sets the last id, the greatest deleted id and the number of entries ever added. They must not be
 * less than what the entries show. O(1). */
void stream_set_facts(struct keyref *ref, const struct stream_facts *facts);

/* --- Reading --- */

/* The log: to be read, and, while the stream is being loaded, filled. */
static inline struct streamlog *stream_log(const struct entry *entry) {
    CHECKED_ASSERT(entry_type(entry) == VALUE_STREAM);
    return entry_pointer(entry);
}

static inline uint64_t stream_length(const struct entry *entry) {
    return stream_log(entry)->length;
}

static inline struct stream_facts stream_facts(const struct entry *entry) {
    return stream_log(entry)->facts;
}

/* The consumer groups, and the pieces of the stream, for ds/streams/consumer_groups.h. */
static inline struct consumer_groups *stream_groups(const struct entry *entry) {
    return &stream_log(entry)->groups;
}

static inline struct pieces *stream_pieces(const struct entry *entry) {
    return &stream_log(entry)->pieces;
}

/* What it knows of its producers, for ds/streams/producers.h; NULL: nothing. */
static inline struct producers *stream_producers(const struct entry *entry) {
    return stream_log(entry)->producers;
}

/* The id that follows `id` in time `now_ms`: what XADD * gives. False when there is no greater id
 * than `id`. O(1). */
bool stream_next_id(struct stream_id id, int64_t now_ms, struct stream_id *next);

/* The first or the last entry; false when there is none. O(1). */
bool stream_edge(const struct entry *entry, bool last, struct stream_entry *edge);

/* Finds the entry with this id; false when there is none. O(log n + node). */
bool stream_find(const struct entry *entry, struct stream_id id, struct stream_entry *found);

/* Finds entries of a stream by ids that ascend from call to call, cheaply where they lie close
 * together. On the caller's stack; begins with {.stream = entry}; valid until entries change. */
struct stream_finder {
    const struct entry *stream;
    struct stream_iter iter;
    struct stream_entry last;
    bool has_last;
};
bool stream_finder_next(struct stream_finder *finder, struct stream_id id,
                        struct stream_entry *found);

/* --- How far consumer groups have read: a group knows its last id, and counts the entries up to
 * there that the stream ever had, as long as it can. XGROUP may set the id to anything, and entries
 * that were deleted in between make the count a guess. The rules are those of Redis, so that both
 * show the same lag. --- */

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

/* --- For files --- */

/* A new entry with a stream without entries. */
struct entry *stream_load_new(struct slice key);

#endif
