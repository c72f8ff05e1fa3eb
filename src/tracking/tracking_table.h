/* tracking_table: which clients have read which keys, in few bytes: a key takes its name, four
 * bytes or so, and a byte for each client, where the clients' numbers are small and close.
 *
 *      bucket    record ┊ record ┊ …
 *      record    tag (1) ┊ length of the name ┊ length of the list ┊ name ┊ list
 *      list      the lowest number ┊ difference to the next one ┊ …
 *
 * Lengths, numbers and differences are varints: seven bits a byte, low ones first, the top bit set
 * in all bytes but the last (base/varint.h). A bucket is one allocation with some 256 bytes of
 * records. The table grows and shrinks by linear hashing (ds/linear_hashing.h), so no operation
 * moves more than two buckets.
 *
 * This module knows no client; a client is a number, and a key with one of its clients is a
 * pair. */
#ifndef PACKLIST_TRACKING_TRACKING_TABLE_H
#define PACKLIST_TRACKING_TRACKING_TABLE_H

#include "base/hash/random.h"
#include "base/slice.h"
#include "ds/linear_hashing.h"
#include "ds/segmented.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct relocator; /* base/memory/relocate.h */

/* All zero at first: empty. */
struct tracking_table {
    struct linear linear;
    struct segmented buckets; /* struct tracking_bucket */
    size_t bytes;             /* of all records */
    size_t keys;
    size_t pairs;
    size_t next_sweep; /* the bucket that tracking_table_sweep comes to next; 0: at its beginning */
    size_t next_relocate; /* where tracking_table_relocate goes on; 0: at its beginning */
    size_t next_evict;    /* where tracking_table_evict goes on; 0: at a bucket chosen at random */
};

/* The numbers of a key's clients, in ascending order. A caller uses one such array again and again,
 * so most calls allocate nothing. All zero at first; the caller frees `numbers`. */
struct tracking_numbers {
    uint32_t *numbers;
    size_t count;
    size_t capacity;
};

/* Adds a pair. Returns false when the table has it. O(bucket): some 256 bytes, or the key's own
 * list. */
bool tracking_table_add(struct tracking_table *table, struct slice key, uint32_t number);

/* Removes a key with all its pairs, whose numbers it returns in ascending order; none when there is
 * no such key. O(bucket). */
void tracking_table_take(struct tracking_table *table, struct slice key,
                         struct tracking_numbers *numbers);

/* Removes up to `most` pairs of a key chosen at random; the key, too, when these are all. Sets
 * *key to its name, which the caller frees, and returns true with the numbers. Returns false when
 * it has found only empty buckets so far: the next call goes on from there. The table is not empty.
 * O(bucket). */
bool tracking_table_evict(struct tracking_table *table, struct random *random, size_t most,
                          struct slice *key, struct tracking_numbers *numbers);

/* Removes the pairs of one bucket for which `is_gone` returns true; it is called once for each
 * pair. Returns how many pairs it looked at. A sweep has seen all pairs that were there at its
 * beginning when next_sweep is 0 again. O(bucket). */
size_t tracking_table_sweep(struct tracking_table *table,
                            bool (*is_gone)(uint32_t number, void *arg), void *arg,
                            struct tracking_numbers *scratch);

/* Frees the last bucket with its pairs, and does not tell which these were: for a table that is no
 * longer used, or a copy of it. Returns whether there are more. O(1). */
bool tracking_table_free_some(struct tracking_table *table);

/* Gives up a bucket if the table has many more than its records need. Returns whether there are
 * more to give up. Removing a key does the same, except during a sweep. O(bucket). */
bool tracking_table_shrink(struct tracking_table *table);

/* Moves the memory of some buckets, and at its beginning that of their array, to better places
 * (base/memory/relocate.h), until a step is due. The next call goes on there. Returns true when it
 * has come to the end. */
bool tracking_table_relocate(struct tracking_table *table, struct relocator *relocator);

/* Checks the invariants. O(table). */
bool tracking_table_check(const struct tracking_table *table);

#endif
