/* pendinglist: the pending entries of a consumer group, by the ids of the entries in the stream:
 * who got an entry, when, and how often.
 *
 * They lie in blocks of up to 240, column by column (pendinglist_internal.h draws it). An index
 * finds the blocks (ds/streams/idindex.h), and shares them with a capture.
 *
 * A list of ids alone is one whose other columns are 0 everywhere: they take no memory.
 *
 * Each function that changes a list gets the pieces of its value. Iterators are valid until the
 * list changes. */
#ifndef PACKLIST_DS_STREAMS_PENDINGLIST_H
#define PACKLIST_DS_STREAMS_PENDINGLIST_H

#include "ds/streams/idindex.h"

struct pending_entry {
    struct stream_id id;
    uint64_t consumer; /* a number that the caller gives */
    int64_t delivered_ms;
    uint64_t deliveries;
};

/* The entry was delivered once more. */
static inline void pending_note_delivery(struct pending_entry *entry, int64_t now_ms) {
    entry->delivered_ms = now_ms;
    if (entry->deliveries < INT64_MAX) entry->deliveries++;
}

/* All zero is an empty list. The fields are private. */
struct pendinglist {
    struct idindex index;
    uint64_t length;
};

/* --- Changing: O(log n + block) each --- */

/* Adds an entry; the list must have none with this id. O(1) amortised at the end. */
void pendinglist_insert(struct pendinglist *list, struct pieces *pieces,
                        const struct pending_entry *entry);

/* Gives the entry with this id what else `entry` says, and *before what it was; false when there is
 * none. */
bool pendinglist_update(struct pendinglist *list, struct pieces *pieces,
                        const struct pending_entry *entry, struct pending_entry *before);

/* Removes the entry with this id, which *removed, unless NULL, gets; false when there is none. */
bool pendinglist_remove(struct pendinglist *list, struct pieces *pieces, struct stream_id id,
                        struct pending_entry *removed);

/* Removes the entries with these ids, which ascend, and returns how many there were; removed[0…]
 * gets them. O(count * log n) where the ids are far apart, O(count + block) where they are close
 * together. */
size_t pendinglist_remove_ids(struct pendinglist *list, struct pieces *pieces,
                              const struct stream_id *ids, size_t count,
                              struct pending_entry *removed);

/* Removes the entries with the ids of the other list, which all are of this consumer.
 * O(blocks that have such entries * block). */
void pendinglist_remove_all(struct pendinglist *list, struct pieces *pieces,
                            const struct pendinglist *ids, uint64_t consumer);

/* Gives each block no more memory than it needs. O(n). */
void pendinglist_fit(struct pendinglist *list, struct pieces *pieces);

/* --- Life --- */

/* Leads the visitor through the list's memory (ds/pieces.h). O(blocks). */
void pendinglist_pieces(struct pendinglist *list, const struct piece_visitor *visitor);

/* The struct is a copy of that of a list or of its image (idindex_image): gives it memory of its
 * own. O(n). */
void pendinglist_own(struct pendinglist *list, struct pieces *pieces);

/* Leaves the list empty. O(blocks). */
void pendinglist_free(struct pendinglist *list, struct pieces *pieces);

/* Moves blocks to better places: see idindex_relocate. */
uint64_t pendinglist_relocate(struct pendinglist *list, uint64_t at, struct relocator *relocator);

/* --- Reading --- */

/* Finds the entry with this id; false when there is none. O(log n). */
bool pendinglist_find(const struct pendinglist *list, struct stream_id id,
                      struct pending_entry *entry);

/* Sets found[i] for each of these ids, which ascend, that an entry has; where found[i] is already
 * set, it need not be looked for. Costs as pendinglist_remove_ids. */
void pendinglist_find_ids(const struct pendinglist *list, const struct stream_id *ids, size_t count,
                          bool *found);

/* The first or the last entry; false when there is none. O(1). */
bool pendinglist_edge(const struct pendinglist *list, bool last, struct pending_entry *entry);

/* Entries that were chosen; begins empty. Freed with mem_free(entries). */
struct pending_selection {
    struct pending_entry *entries;
    size_t count;
    size_t capacity;
};

/* Adds an entry. Amortised O(1). */
static inline void pending_select(struct pending_selection *selection,
                                  const struct pending_entry *entry) {
    MEM_RESERVE(selection->entries, selection->capacity, selection->count + 1);
    selection->entries[selection->count++] = *entry;
}

/* Adds the entries that were delivered at `latest_ms` or before, the oldest ones first, but at most
 * `max` (0: all). Times are not negative. The list may change its blocks, but not what they hold.
 * O(found * log n + blocks that hold entries about as old + n / 100000); where no entry is so old
 * O(n / 100000), apart from blocks out of which older ones were removed. */
void pendinglist_oldest(struct pendinglist *list, struct pieces *pieces, int64_t latest_ms,
                        uint64_t max, struct pending_selection *found);

/* Returns a time at or before that of the oldest entry; INT64_MAX when there is none. It is that of
 * the oldest entry, or after `latest_ms`, once pendinglist_oldest has found all it looked for.
 * O(n / 100000). */
int64_t pendinglist_oldest_bound(const struct pendinglist *list);

/* Iterates over entries in the order of their ids. On the caller's stack; needs no end. */
struct pending_iter {
    const struct idindex *index;
    struct idindex_position at;
    unsigned row;
};

/* Starts at the first entry whose id is not less than `first`. O(log n). */
void pending_iter_start(struct pending_iter *iter, const struct pendinglist *list,
                        struct stream_id first);

/* O(1). */
bool pending_iter_next(struct pending_iter *iter, struct pending_entry *entry);

/* The next entry that was delivered at `latest_ms` or before. Skips blocks and segments that have
 * none as a whole. */
bool pending_iter_next_old(struct pending_iter *iter, int64_t latest_ms,
                           struct pending_entry *entry);

/* Checks the invariant. O(n). */
bool pendinglist_check(const struct pendinglist *list, const struct pieces *pieces);

#endif
