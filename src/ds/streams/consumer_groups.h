/* consumer_groups: the consumer groups of a stream.
 *
 *      groups     group "a" │ group "b" │ …                          in the order of their names
 *      group      last id │ entries read │ pending entries by id     (ds/streams/pendinglist.h)
 *                 consumer "x" │ consumer "y" │ …                    in the order of their names
 *      consumer   number │ seen │ active │ ids of its pending entries
 *
 * A pending entry has the number of its consumer, which has the id once more. Number 0 is nobody:
 * the entry was released, or belongs to a group that is being loaded.
 *
 * Trimming with ACKED notes how far it has looked. From then on each id before that which ceases to
 * be pending in a group is noted as released, and only these are looked at again.
 *
 * Invariant: an entry of the stream whose id is before `looked_until` is pending in a group, or its
 * id is in `released`, all of which are before `looked_until`. Ids may be there whose entries are
 * pending in another group, or gone.
 *
 * Each function that changes groups gets the pieces of their value, which count all memory.
 * Pointers to groups and consumers are valid until they are removed; iterators until the group
 * changes. */
#ifndef PACKLIST_DS_STREAMS_CONSUMER_GROUPS_H
#define PACKLIST_DS_STREAMS_CONSUMER_GROUPS_H

#include "ds/nametable.h"
#include "ds/streams/pendinglist.h"

struct relocator; /* base/memory/relocate.h */
struct relocate_cursor;

enum { CONSUMER_NOBODY = 0, CONSUMER_GROUP_UNKNOWN = -1 };

/* The fields may be read; seen_ms and active_ms also be set. */
struct consumer {
    struct slice name;
    uint32_t number; /* from 1 on; given again after the consumer was removed */
    int64_t seen_ms;
    int64_t active_ms; /* -1: never */
    struct pendinglist ids;
};

/* The fields may be read; last_id and entries_read also be set. */
struct consumer_group {
    struct slice name;
    struct stream_id last_id;
    int64_t entries_read; /* CONSUMER_GROUP_UNKNOWN, or how many the stream had up to last_id */
    struct pendinglist pending;
    struct nametable consumers; /* of struct consumer */
    struct consumer **numbers;  /* the consumer of each number, less one; NULL: not in use */
    uint32_t number_count;
    uint32_t number_capacity;
};

/* All zero: no groups, and nothing was looked at. */
struct consumer_groups {
    struct nametable groups; /* of struct consumer_group */
    struct stream_id looked_until;
    struct pendinglist released; /* ids */
};

/* --- Groups --- */

static inline size_t consumer_groups_count(const struct consumer_groups *groups) {
    return groups->groups.count;
}

/* The group at this place in the order of names. O(1). */
static inline struct consumer_group *consumer_groups_at(const struct consumer_groups *groups,
                                                        size_t at) {
    return (struct consumer_group *)(void *)groups->groups.items[at];
}

/* NULL when there is none. O(log groups). */
struct consumer_group *consumer_groups_find(const struct consumer_groups *groups,
                                            struct slice name);

/* Adds a group without consumers, of a name that is not in use. O(groups): moves pointers. */
struct consumer_group *consumer_groups_add(struct consumer_groups *groups, struct pieces *pieces,
                                           struct slice name);

/* For groups that are being loaded: adds a group at the end, whatever its name. None is found by
 * name until nametable_sort has brought all into their order. O(1) amortised. */
struct consumer_group *consumer_groups_append(struct consumer_groups *groups, struct pieces *pieces,
                                              struct slice name);

/* Removes the group with all that it has. O(consumers + pending entries / 240). */
void consumer_groups_remove(struct consumer_groups *groups, struct pieces *pieces,
                            struct consumer_group *group);

/* Leads the visitor through the memory of the groups (ds/pieces.h). O(consumers + pending
 * entries / 240). */
void consumer_groups_pieces(struct consumer_groups *groups, const struct piece_visitor *visitor);

/* --- Consumers --- */

static inline struct consumer *consumer_group_at(const struct consumer_group *group, size_t at) {
    return (struct consumer *)(void *)group->consumers.items[at];
}

/* NULL when there is none. O(log consumers). */
struct consumer *consumer_group_find(const struct consumer_group *group, struct slice name);

/* The consumer with this number; NULL for CONSUMER_NOBODY. O(1). */
struct consumer *consumer_group_numbered(const struct consumer_group *group, uint64_t number);

/* Adds a consumer of a name that is not in use, seen at `now_ms` and never active. O(consumers):
 * moves pointers; and numbers in use, once for each that was given back. */
struct consumer *consumer_group_add(struct consumer_group *group, struct pieces *pieces,
                                    struct slice name, int64_t now_ms);

/* The same for consumers that are being loaded as for groups; the times are 0. */
struct consumer *consumer_group_append(struct consumer_group *group, struct pieces *pieces,
                                       struct slice name);

/* Removes a consumer with its pending entries. O(consumers), and as pendinglist_remove_all. */
void consumer_groups_remove_consumer(struct consumer_groups *groups, struct pieces *pieces,
                                     struct consumer_group *group, struct consumer *consumer);

/* --- Pending entries: O(log n + block) each --- */

/* Makes this a pending entry of the consumer that it numbers, or of nobody. It may have been one of
 * another. */
void consumer_group_assign(struct consumer_group *group, struct pieces *pieces,
                           const struct pending_entry *entry);

/* The entry is pending no more, whatever the reason; false if it was not. `stays`: the stream keeps
 * it, so it is noted as released, for trimmings that have looked at it. */
bool consumer_groups_acknowledge(struct consumer_groups *groups, struct pieces *pieces,
                                 struct consumer_group *group, struct stream_id id, bool stays);

/* The same for entries with these ids, which ascend, and which the stream does not keep; returns
 * how many were pending, and what they were. Costs as pendinglist_remove_ids for each run of
 * entries of the same consumer. */
size_t consumer_groups_acknowledge_all(struct pieces *pieces, struct consumer_group *group,
                                       const struct stream_id *ids, size_t count,
                                       struct pending_entry *acknowledged);

/* --- What all groups have acknowledged --- */

/* The greatest id that all groups have been given the entries up to; STREAM_ID_MAX without groups.
 * O(groups). */
struct stream_id consumer_groups_given(const struct consumer_groups *groups);

/* Sets waits[i] for each of these ids, which ascend, that a group was not given or has pending: an
 * entry with another one was acknowledged by all groups. O(groups * log n + count * groups at
 * most), where the ids are close together. */
void consumer_groups_find_waiting(const struct consumer_groups *groups, const struct stream_id *ids,
                                  size_t count, bool *waits);

/* Puts the first released ids up to `last` into `ids`, `max` at most; returns how many. O(max). */
size_t consumer_groups_released(const struct consumer_groups *groups, struct stream_id last,
                                struct stream_id *ids, size_t max);

/* How many released ids there are. O(1). */
static inline uint64_t consumer_groups_released_count(const struct consumer_groups *groups) {
    return groups->released.length;
}

/* All entries up to the last of these ids, which ascend, have been looked at, but for other
 * released ones: each of them waits, or is deleted. As pendinglist_remove_ids. */
void consumer_groups_note_looked(struct consumer_groups *groups, struct pieces *pieces,
                                 const struct stream_id *ids, size_t count);

/* The entries from this id on must be looked at again, and maybe some before.
 * O(released / 240). */
void consumer_groups_look_again(struct consumer_groups *groups, struct pieces *pieces,
                                struct stream_id from);

/* --- For captures --- */

/* Copies the structs of groups and consumers, and the segments of all lists, to *to,
 * which is moved behind them: so many bytes, a multiple of 8. `groups`, which is itself a copy,
 * then leads to these, and shares all other memory; it knows no consumer by its number. It stays as
 * it is only until the groups change, or, where the value's capture has begun an epoch, until the
 * capture is released. O(groups + consumers + pending entries / 100000). */
size_t consumer_groups_image_size(const struct consumer_groups *groups);
void consumer_groups_image(struct consumer_groups *groups, char **to);

/* The struct is a copy of that of groups or of their image: gives it memory of its own. In any
 * thread. O(consumers + pending entries). */
void consumer_groups_own(struct consumer_groups *groups, struct pieces *pieces);

/* Moves memory of the groups to better places (base/memory/relocate.h), from *cursor on, until the
 * step is due, and sets *cursor. Their parts begin with CONSUMER_GROUPS_PART. There must be no
 * capture, and no pointer to a group or consumer in use. */
#define CONSUMER_GROUPS_PART ((uint64_t)1 << 32)
void consumer_groups_relocate(struct consumer_groups *groups, struct relocator *relocator,
                              struct relocate_cursor *cursor);

/* Checks the invariant. O(n log n). */
bool consumer_groups_check(const struct consumer_groups *groups, const struct pieces *pieces);

#endif
