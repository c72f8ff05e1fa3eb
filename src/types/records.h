/* records: what sets and hashes share: a value that consists of records (ds/records/record.h),
 * which are members of a set or fields of a hash. For types/, and what types/hash.h names for its
 * users.
 *
 *      encoding                where the records are
 *      RECORDS_PACKED          a body inside the entry (types/packed.h, ds/records/recordlist.h)
 *      RECORDS_EXPIRING        the same with expiries; the records are in their order, those that
 *                              do not expire at the end
 *      RECORDS_TABLE           one pointer to a table (ds/records/recordtable.h)
 *
 * A packed value becomes a table when a limit is exceeded, and stays one. Functions that may move
 * the entry take its address: they know no keyspace. Views of records live until the value
 * changes. */
#ifndef PACKLIST_TYPES_RECORDS_H
#define PACKLIST_TYPES_RECORDS_H

#include "base/checked.h"
#include "base/text/text_batch.h"
#include "ds/records/recordlist.h"
#include "ds/records/recordtable.h"
#include "store/entry.h"
#include "types/value.h"
#include "types/value_limits.h"

enum records_encoding { RECORDS_PACKED, RECORDS_EXPIRING, RECORDS_TABLE = ENTRY_OUT_OF_LINE };

/* A new entry without records: packed, or as a table. */
struct entry *records_new(struct slice key, enum value_type type, bool as_table);

static inline bool records_is_table(const struct entry *entry) {
    CHECKED_ASSERT(entry_type(entry) == VALUE_SET || entry_type(entry) == VALUE_HASH);
    return entry_encoding(entry) == RECORDS_TABLE;
}

static inline struct recordtable *records_table(const struct entry *entry) {
    CHECKED_ASSERT(records_is_table(entry));
    return entry_pointer(entry);
}

/* O(1). */
uint64_t records_length(const struct entry *entry);

/* Returns whether there is a record with this field; *record, which may be NULL, gets it. O(1);
 * O(body) while packed. */
bool records_find(const struct entry *entry, struct slice field, struct record *record);

/* Adds a record, or gives the one with this field the value and expiry. Returns whether it was
 * added. Costs as records_find. */
bool records_set(struct entry **entry, const struct record *record,
                 const struct listpack_limits *limits);

/* Adds a record, unless there is one with this field: then false, and nothing has changed. As
 * records_find. */
bool records_add(struct entry **entry, const struct record *record,
                 const struct listpack_limits *limits);

/* The same for a record whose field is known not to be there, of a packed value that stays so. */
void records_append(struct entry **entry, const struct record *record);

/* Deletes the record with this field; false when there is none. */
bool records_delete(struct entry **entry, struct slice field);

/* Makes it a table, if it is none. O(records). */
void records_make_table(struct entry **entry);

/* Gives the record with this field, which must be there, another expiry. */
void records_set_expiry(struct entry **entry, struct slice field, int64_t expiry_ms);

/* Records that have an expiry: are there any? The least expiry, or RECORD_NEVER. See
 * recordtable_first_expiry. */
bool records_have_expiries(const struct entry *entry);
int64_t records_first_expiry(const struct entry *entry);

/* See recordtable_expire. */
size_t records_expire(struct entry **entry, int64_t now_ms, size_t max,
                      void (*visit)(const struct record *record, void *arg), void *arg);

/* Records that had not expired by `now_ms`. O(1) where none has expired; else O(expired records)
 * while packed, and as recordtable_expired in a table. */
uint64_t records_living(const struct entry *entry, int64_t now_ms);

/* Visits up to `max` expired records of a packed value, which are its first ones; visit() may be
 * NULL. Returns their end; *expired gets their number. O(expired records). */
const uint8_t *records_expired_packed(const struct entry *entry, int64_t now_ms, size_t max,
                                      size_t *expired,
                                      void (*visit)(const struct record *record, void *arg),
                                      void *arg);

/* The layout (enum recordlist_layout) of a packed value. */
unsigned records_layout(const struct entry *entry);

/* One step of a scan: see recordtable_scan. A packed value is visited in one step. visit() gets
 * records that have expired, too. */
uint64_t records_scan(const struct entry *entry, uint64_t cursor,
                      void (*visit)(const struct record *record, void *arg), void *arg);

/* All records; the value must not change during the iteration. Lives on the caller's stack; needs
 * no end. */
struct records_iter {
    struct recordtable_iter table;
    const uint8_t *at; /* NULL: it is a table */
    const uint8_t *end;
    unsigned layout;
};
void records_iter_start(struct records_iter *iter, const struct entry *entry);
void records_iter_start_capture(struct records_iter *iter, const struct capture *capture);
bool records_iter_next(struct records_iter *iter, struct record *record);

/* Fills the batch with these parts (enum record_parts) of the next records that had not expired by
 * `now_ms`: a field and its value stand together. False at the end. Cheaper than one by one.
 * O(batch), and the expired records that it passes. */
bool records_iter_next_batch(struct records_iter *iter, unsigned parts, int64_t now_ms,
                             struct text_batch *batch);

/* --- The functions of types/type_operations.h, for tables --- */

size_t records_free_effort(const struct entry *entry);
bool records_prefetch(struct value_lookup *lookup, unsigned step);
bool records_check(const struct entry *entry);
struct capture *records_capture(struct entry *entry, size_t *left);
bool records_is_captured(const struct entry *entry);
void *records_captured(const struct capture *capture);
void *records_copy_captured(struct capture *capture);

#endif
