/* recordtable: a set of records found by their field, each with or without a value, that another
 * thread can read as it was while it changes. What large sets (fields alone) and large hashes
 * (fields with values) are.
 *
 * A record may expire. A table without such records does not pay for it. With them, the next one
 * that expires is found at once. The table deletes nothing by itself, and compares no times.
 *
 * Fields and values that are passed in are copied, and must not lie in the table. */
#ifndef PACKLIST_DS_RECORDS_RECORDTABLE_H
#define PACKLIST_DS_RECORDS_RECORDTABLE_H

#include "base/hash/random.h"
#include "base/text/sds.h"
#include "ds/records/record.h"

#include <stddef.h>

struct relocator; /* base/memory/relocate.h */
struct relocate_cursor;

struct capture;
struct recordtable;

/* An empty table, for records with values or without. */
struct recordtable *recordtable_new(bool values);

/* Frees the table with its records. While it is captured it goes over to its captures: O(1). */
void recordtable_free(struct recordtable *table);

/* A table with the same records; it is not captured. `table` may be a captured one: then in any
 * thread. O(bytes). */
struct recordtable *recordtable_copy(const struct recordtable *table);

/* Records; those that expire; allocated bytes; about how many allocations these are. O(1). */
size_t recordtable_count(const struct recordtable *table);
size_t recordtable_expiring(const struct recordtable *table);
size_t recordtable_allocated(const struct recordtable *table);
size_t recordtable_allocations(const struct recordtable *table);

/* The hash of a field, for the functions below. */
uint64_t recordtable_hash(struct slice field);

/* Starts loading what finding the field with this hash reads, and what adding it moves if `adds`,
 * in steps 0, 1, 2: each needs what the one before has loaded. For many lookups at once. Returns
 * whether there is a next step. O(1). */
enum { RECORDTABLE_PREFETCH_STEPS = 3 };
bool recordtable_prefetch(const struct recordtable *table, uint64_t hash, bool adds, unsigned step);

/* Returns whether there is a record with this field; *record, which may be NULL, gets it. O(1). */
bool recordtable_find(const struct recordtable *table, struct slice field, uint64_t hash,
                      struct record *record);

/* Adds the record, or gives the one with this field the value and expiry. Returns whether it was
 * added. O(texts). */
bool recordtable_set(struct recordtable *table, const struct record *record, uint64_t hash);

/* Deletes the record with this field; false when there is none. O(1), and freeing its texts. */
bool recordtable_delete(struct recordtable *table, struct slice field, uint64_t hash);

/* Gives the record with this field another expiry (RECORD_NEVER: none); false when there is no such
 * record. O(1). */
bool recordtable_set_expiry(struct recordtable *table, struct slice field, uint64_t hash,
                            int64_t expiry_ms);

/* The least expiry of all records, or RECORD_NEVER. O(1); after the record that had it was deleted
 * or changed, O(blocks / 512) once. */
int64_t recordtable_first_expiry(struct recordtable *table);

/* Returns the number of records that expire before `now_ms`. It reads only the blocks that have
 * such records: O(1) when there are none, otherwise O(blocks) small steps and O(records of those
 * blocks). When a record was deleted or changed before, add the cost of
 * recordtable_first_expiry. */
size_t recordtable_expired(struct recordtable *table, int64_t now_ms);

/* Deletes up to `max` records that expire before `now_ms`, and returns how many. visit(), which may
 * be NULL, gets each one before it is deleted, and must not change the table. O(records deleted),
 * and O(blocks / 512) for each block that they are in. */
size_t recordtable_expire(struct recordtable *table, int64_t now_ms, size_t max,
                          void (*visit)(const struct record *record, void *arg), void *arg);

/* Sets *record to a record chosen at random, each with the same probability; the table must not be
 * empty. Expected O(fullest block / mean block), which is O(1) for records of about the same size.
 * When the fullest blocks have lost their records, the draws go on at the old cost until they have
 * met O(blocks) empty places together; then they know the new fullest block. */
void recordtable_random(struct recordtable *table, struct random *random, struct record *record);

/* Visits the records of one block and returns the next cursor; start with 0, done when it returns
 * 0. Every record that is in the table from the first call to the last is visited at least once,
 * however the table grows or shrinks between the calls; some may be visited twice. visit() must not
 * change the table. O(block). */
uint64_t recordtable_scan(const struct recordtable *table, uint64_t cursor,
                          void (*visit)(const struct record *record, void *arg), void *arg);

/* Visits all records in no order. The table must not change during the visit. Lives on the caller's
 * stack; needs no end. */
struct recordtable_iter {
    const struct recordtable_segment *directory;
    size_t buckets;
    size_t next_bucket;
    const struct recordtable_block *block;
    unsigned columns;
    unsigned index;
    size_t offset;
};
void recordtable_iter_start(struct recordtable_iter *iter, const struct recordtable *table);
bool recordtable_iter_next(struct recordtable_iter *iter, struct record *record);

/* Where the record stands that the iterator returned last, and the record there, until the table
 * changes. O(1). */
uint64_t recordtable_iter_position(const struct recordtable_iter *iter);
void recordtable_read_at(const struct recordtable *table, uint64_t position, struct record *record);

/* Appends a readable description: records, blocks, bytes. */
sds recordtable_describe(const struct recordtable *table, sds out);

/* --- Captures: the table as it is at one moment, read while the table changes (ds/capture.h). They
 * share blocks; the table copies a block before it changes it. --- */

/* Captures the table. NULL: no other capture can begin before all have ended (pieces_are_used_up).
 * O(blocks / 512). */
struct capture *recordtable_capture_begin(struct recordtable *table, size_t *left);

/* Returns whether there is a capture that was not released. */
bool recordtable_is_captured(const struct recordtable *table);

/* The table as it was captured: its count, its first expiry and its records can be read, and it can
 * be copied, in any thread, until the release. */
struct recordtable *recordtable_captured(const struct capture *capture);

/* Moves memory of the table to better places (base/memory/relocate.h), from *cursor on, until the
 * step is due; sets *cursor. Returns where the table is now. It must not be captured, and no
 * iterator of it may be in use. At least one bucket is visited. */
struct recordtable *recordtable_relocate(struct recordtable *table, struct relocator *relocator,
                                         struct relocate_cursor *cursor);

/* The executable invariant. O(bytes). */
bool recordtable_check(const struct recordtable *table);

#endif
