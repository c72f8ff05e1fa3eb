/* hash: what a hash value can do; the only place that knows its encodings.
 *
 *      layout (types/records.h)                                OBJECT ENCODING
 *      packed inside the entry                                 listpack
 *      packed inside the entry, with expiries                  listpackex
 *      a pointer to a table                                    hashtable
 *
 * Which encoding OBJECT ENCODING shows follows Redis 8: a hash is a listpack up to
 * hash-max-listpack-entries fields, with fields and values of up to hash-max-listpack-value bytes;
 * it becomes a listpackex when a field of it gets an expiry. Any other is a hashtable, and stays
 * one.
 *
 * A field that has expired is invisible at once, but stays in the hash until it is deleted
 * (hash_delete, hash_expire) or set again: hash_length counts it. A field expires when its expiry
 * is less than now. Functions that take `now_ms` (of the command, in ms since the epoch) skip such
 * fields; with HASH_ALL they skip none.
 *
 * A struct record (ds/records/record.h) is a view until the hash changes. The entry of a hash with
 * fields that have expiries is marked (entry_fields_expire), so that the keyspace finds it.
 * types/value.h says what holds for all types. */
#ifndef PACKLIST_TYPES_HASH_H
#define PACKLIST_TYPES_HASH_H

#include "store/keyspace.h"
#include "types/records_random.h"
#include "types/value_limits.h"

#define HASH_ALL INT64_MIN /* as `now_ms`: nothing has expired */

/* The latest expiry of a field, in the year 4199: Redis keeps expiries of fields in 46 bits. Data
 * of other servers may have later ones, up to INT64_MAX, which count as this one. */
#define HASH_EXPIRY_MAX_MS (((int64_t)1 << 46) - 1)

/* --- Changing --- */

/* Adds a new hash with one field under `key`, which `ref` looked up and did not find. `expected`,
 * at least 1, is how many fields are about to be set: it decides on the encoding. O(texts). */
void hash_create(struct keyref *ref, struct slice key, struct slice field, struct slice value,
                 size_t expected, const struct listpack_limits *limits);

/* So many fields are about to be set by one command: makes the hash a table when even these alone
 * exceed the limits. O(fields), at most the limits. */
void hash_expect(struct keyref *ref, size_t expected, const struct listpack_limits *limits);

/* Whether a field that is set keeps its expiry, as with HINCRBY, or loses it, as with HSET. */
enum hash_expiry_mode { HASH_DROP_EXPIRY, HASH_KEEP_EXPIRY };

/* Sets the field. Returns whether it was not there or had expired by `now_ms`; if so, it has no
 * expiry. O(1); O(hash) while packed. */
bool hash_set(struct keyref *ref, struct slice field, struct slice value,
              enum hash_expiry_mode mode, int64_t now_ms, const struct listpack_limits *limits);

/* Deletes the field, expired or not; false when there is none. The hash may be empty after it. As
 * hash_set. */
bool hash_delete(struct keyref *ref, struct slice field);

/* --- Reading --- */

/* Fields, those included that have expired, but were not deleted. O(1). */
uint64_t hash_length(const struct entry *entry);

/* Returns whether there is this field and it had not expired by `now_ms`; *record, which may be
 * NULL, gets it. O(1); O(hash) while packed. */
bool hash_find(const struct entry *entry, struct slice field, int64_t now_ms,
               struct record *record);

/* How many have not expired, and steps of scans: see records_living and records_scan; fields at
 * random: types/records_random.h. */

/* The table that the hash is stored in; NULL in another encoding. O(1). */
const struct recordtable *hash_table(const struct entry *entry);

/* All fields that had not expired by `now_ms`; the hash must not change during the iteration. On
 * the caller's stack; needs no end. Amortised O(1) a field. */
struct hash_iter {
    struct records_iter records;
    int64_t now_ms;
};
void hash_iter_start(struct hash_iter *iter, const struct entry *entry, int64_t now_ms);

/* Iterates over all fields of a captured hash, in any thread, until the release. */
void hash_iter_start_capture(struct hash_iter *iter, const struct capture *capture);
bool hash_iter_next(struct hash_iter *iter, struct record *record);

/* Fills the batch with these parts (enum record_parts) of the next fields: a field and its value
 * stand together. False at the end. Cheaper than one by one. */
bool hash_iter_next_batch(struct hash_iter *iter, unsigned parts, struct text_batch *batch);

/* --- Expiry of fields --- */

/* When an expiry is set. No expiry counts as a later one than any. */
enum hash_condition {
    HASH_ALWAYS,
    HASH_IF_NONE,    /* NX */
    HASH_IF_ANY,     /* XX */
    HASH_IF_GREATER, /* GT */
    HASH_IF_LESS     /* LT */
};

/* The numbers are those that HEXPIRE and HPERSIST reply. */
enum hash_expiry_result {
    HASH_NO_FIELD = -2,
    HASH_NO_EXPIRY = -1,
    HASH_CONDITION_NOT_MET = 0,
    HASH_EXPIRY_SET = 1,
    HASH_FIELD_DELETED = 2 /* the expiry is not later than now */
};

/* Lets the field expire at `expiry_ms` (0 to HASH_EXPIRY_MAX_MS). An expiry that is not later than
 * `now_ms` deletes the field; the hash may be empty after it. As hash_set. */
enum hash_expiry_result hash_set_expiry(struct keyref *ref, struct slice field, int64_t expiry_ms,
                                        enum hash_condition condition, int64_t now_ms);

/* Takes the field's expiry away: HASH_EXPIRY_SET, HASH_NO_EXPIRY or HASH_NO_FIELD. */
enum hash_expiry_result hash_persist(struct keyref *ref, struct slice field, int64_t now_ms);

/* Returns the least expiry of all fields, or RECORD_NEVER. O(1), and O(blocks / 512) after the
 * field that had it was deleted. */
int64_t hash_first_expiry(const struct entry *entry);

/* Deletes up to `max` fields that have expired by `now_ms`, those that expired first before others,
 * and returns how many. visit(), which may be NULL, gets each before it is deleted. The hash may be
 * empty after it. O(fields deleted), and for each block that they are in O(blocks / 512). */
size_t hash_expire(struct keyref *ref, int64_t now_ms, size_t max,
                   void (*visit)(const struct record *record, void *arg), void *arg);

/* --- For files: an expiry after HASH_EXPIRY_MAX_MS becomes that --- */

/* A new entry with a hash without fields, which hash_load_add fills, knowing of so many. */
struct entry *hash_load_new(struct slice key, uint64_t expected,
                            const struct listpack_limits *limits);

/* Adds a field with value and expiry; false, when there is this field: the hash is of no use then.
 * May move the entry. */
bool hash_load_add(struct entry **entry, const struct record *record,
                   const struct listpack_limits *limits);

#endif
