/* pendinglist_internal: the layout of a block, for the source files of pendinglist.
 *
 *      block      epoch, count, room │ base, width of each column │ ms … │ seq … │ consumer … │
 *                                                   time … │ deliveries … │ 7 bytes for reading
 *
 * A column has `room` places of `width` bytes, 0 to 8, of which `count` are in use. A place holds
 * the difference of its value to the column's base, the lowest byte first: where all entries have
 * the same value the column has no width. Entries are in the order of their ids. So an entry is
 * found by bisection, and changed where it stands as long as its columns are wide enough. If they
 * are not, the block is encoded anew.
 *
 * Invariants: no block is empty. No value is less than its column's base, which may be less than
 * all of them. */
#ifndef PACKLIST_DS_STREAMS_PENDINGLIST_INTERNAL_H
#define PACKLIST_DS_STREAMS_PENDINGLIST_INTERNAL_H

#include "ds/streams/pendinglist.h"

#ifdef TINY_LIMITS
enum { PENDING_BLOCK = 4 };
#else
enum { PENDING_BLOCK = 240 }; /* entries */
#endif

enum pending_column {
    PENDING_MS,
    PENDING_SEQ,
    PENDING_CONSUMER,
    PENDING_TIME,
    PENDING_DELIVERIES,
    PENDING_COLUMNS
};

struct pending_block {
    struct idindex_node node; /* its epoch is the list's to set */
    uint8_t count;
    uint8_t room;
    uint64_t base[PENDING_COLUMNS];
    uint8_t width[PENDING_COLUMNS];
    uint8_t bytes[];
};

/* The bytes that it is allocated with, a mem_good_size. O(1). */
size_t pending_block_size(const struct pending_block *block);

/* A block of these entries, 1 to PENDING_BLOCK, with room for `room`, and columns as narrow as may
 * be. The caller owns it. */
struct pending_block *pending_block_new(const struct pending_entry *entries, unsigned count,
                                        unsigned room);

/* A block of one entry that is going to be followed by as many as fit, which are like those of
 * `before`. */
struct pending_block *pending_block_after(const struct pending_block *before,
                                          const struct pending_entry *entry);

struct pending_entry pending_block_get(const struct pending_block *block, unsigned at);
void pending_block_get_all(const struct pending_block *block, struct pending_entry *entries);

struct stream_id pending_block_id(const struct pending_block *block, unsigned at);

/* The place of the first entry whose id is not less than `id`; the count when there is none. */
unsigned pending_block_search(const struct pending_block *block, struct stream_id id);

/* Returns whether the columns are wide enough for the entry. */
bool pending_block_takes(const struct pending_block *block, const struct pending_entry *entry);

/* The next three need a block that takes the entry; insert needs room. */
void pending_block_set(struct pending_block *block, unsigned at, const struct pending_entry *entry);
void pending_block_insert(struct pending_block *block, unsigned at,
                          const struct pending_entry *entry);
void pending_block_remove(struct pending_block *block, unsigned at);

/* Keeps only the rows kept[0] < kept[1] < …, `count` of them, which may be 0. O(rows). */
void pending_block_keep(struct pending_block *block, const uint8_t *kept, unsigned count);

/* Removes the entries of this consumer; returns how many. */
unsigned pending_block_remove_all(struct pending_block *block, uint64_t consumer);

/* A copy with room for `room`, which is at least the count. O(bytes). */
struct pending_block *pending_block_resized(const struct pending_block *block, unsigned room);

bool pending_block_check(const struct pending_block *block);

#endif
