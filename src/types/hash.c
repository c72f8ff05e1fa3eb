/* Hashes: expiry of fields and encodings. The records are the work of types/records.c. */
#include "types/hash.h"

#include "base/checked.h"
#include "types/packed.h"
#include "types/type_operations.h"

#include <assert.h>

/* The entry of the keyref is now `entry`, and had `old_length` fields before. None of them got an
 * expiry, but some may have lost theirs. */
static void changed(struct keyref *ref, struct entry *entry, uint64_t old_length) {
    CHECKED_ASSERT(entry_type(entry) == VALUE_HASH);
    keyref_moved(ref, entry);
    keyspace_resized(ref, old_length, records_length(entry));
    if (entry_fields_expire(entry)) keyspace_set_fields_expire(ref, records_have_expiries(entry));
}

/* Gives a field, which is there, another expiry. */
static void set_expiry(struct keyref *ref, struct slice field, int64_t expiry_ms) {
    struct entry *entry = ref->entry;
    records_set_expiry(&entry, field, expiry_ms);
    keyref_moved(ref, entry);
    keyspace_set_fields_expire(ref, records_have_expiries(entry));
}

/* --- Changing --- */

struct entry *hash_load_new(struct slice key, uint64_t expected,
                            const struct listpack_limits *limits) {
    return records_new(key, VALUE_HASH, expected > limits->listpack_entries);
}

bool hash_load_add(struct entry **entry, const struct record *record,
                   const struct listpack_limits *limits) {
    struct record loaded = *record;
    if (loaded.expiry_ms > HASH_EXPIRY_MAX_MS) loaded.expiry_ms = HASH_EXPIRY_MAX_MS;
    bool added = records_set(entry, &loaded, limits);
    if (record->expiry_ms != RECORD_NEVER) entry_set_fields_expire(*entry, true);
    return added;
}

void hash_create(struct keyref *ref, struct slice key, struct slice field, struct slice value,
                 size_t expected, const struct listpack_limits *limits) {
    CHECKED_ASSERT(expected >= 1);
    struct entry *entry = hash_load_new(key, expected, limits);
    struct record record = {field, value, RECORD_NEVER};
    records_set(&entry, &record, limits);
    keyspace_add(ref, entry);
}

void hash_expect(struct keyref *ref, size_t expected, const struct listpack_limits *limits) {
    struct entry *entry = ref->entry;
    if (expected <= limits->listpack_entries) return;
    records_make_table(&entry);
    keyref_moved(ref, entry);
}

bool hash_set(struct keyref *ref, struct slice field, struct slice value,
              enum hash_expiry_mode mode, int64_t now_ms, const struct listpack_limits *limits) {
    CHECKED_ASSERT(!value_entry_overlaps(ref->entry, field) &&
                   !value_entry_overlaps(ref->entry, value));
    struct entry *entry = ref->entry;
    struct record record = {field, value, RECORD_NEVER}, old;
    uint64_t old_length = records_length(entry);
    bool had_expired = false;
    if (entry_fields_expire(entry) && records_find(entry, field, &old)) {
        had_expired = record_has_expired(&old, now_ms);
        if (mode == HASH_KEEP_EXPIRY && !had_expired) record.expiry_ms = old.expiry_ms;
    }
    bool added = records_set(&entry, &record, limits);
    changed(ref, entry, old_length);
    return added || had_expired;
}

bool hash_delete(struct keyref *ref, struct slice field) {
    CHECKED_ASSERT(!value_entry_overlaps(ref->entry, field));
    struct entry *entry = ref->entry;
    uint64_t old_length = records_length(entry);
    bool deleted = records_delete(&entry, field);
    changed(ref, entry, old_length);
    return deleted;
}

/* --- Reading --- */

uint64_t hash_length(const struct entry *entry) {
    CHECKED_ASSERT(entry_type(entry) == VALUE_HASH);
    return records_length(entry);
}

bool hash_find(const struct entry *entry, struct slice field, int64_t now_ms,
               struct record *record) {
    struct record found;
    CHECKED_ASSERT(entry_type(entry) == VALUE_HASH);
    if (!record) record = &found;
    return records_find(entry, field, record) && !record_has_expired(record, now_ms);
}

void hash_iter_start(struct hash_iter *iter, const struct entry *entry, int64_t now_ms) {
    CHECKED_ASSERT(entry_type(entry) == VALUE_HASH);
    records_iter_start(&iter->records, entry);
    iter->now_ms = now_ms;
}

void hash_iter_start_capture(struct hash_iter *iter, const struct capture *capture) {
    records_iter_start_capture(&iter->records, capture);
    iter->now_ms = HASH_ALL;
}

bool hash_iter_next(struct hash_iter *iter, struct record *record) {
    while (records_iter_next(&iter->records, record))
        if (!record_has_expired(record, iter->now_ms)) return true;
    return false;
}

bool hash_iter_next_batch(struct hash_iter *iter, unsigned parts, struct text_batch *batch) {
    return records_iter_next_batch(&iter->records, parts, iter->now_ms, batch);
}

static const char *hash_encoding_name(const struct entry *entry) {
    static const char *const names[] = {
        [RECORDS_PACKED] = "listpack",
        [RECORDS_EXPIRING] = "listpackex",
        [RECORDS_TABLE] = "hashtable",
    };
    return names[entry_encoding(entry)];
}

/* --- Expiry of fields --- */

static bool expiry_condition_holds(enum hash_condition condition, int64_t old_ms, int64_t new_ms) {
    bool none = old_ms == RECORD_NEVER;
    switch (condition) {
    case HASH_IF_NONE: return none;
    case HASH_IF_ANY: return !none;
    case HASH_IF_GREATER: return !none && new_ms > old_ms;
    case HASH_IF_LESS: return none || new_ms < old_ms;
    case HASH_ALWAYS: break;
    }
    return true;
}

enum hash_expiry_result hash_set_expiry(struct keyref *ref, struct slice field, int64_t expiry_ms,
                                        enum hash_condition condition, int64_t now_ms) {
    struct record record;
    assert(expiry_ms >= 0 && expiry_ms <= HASH_EXPIRY_MAX_MS);
    if (!hash_find(ref->entry, field, now_ms, &record)) return HASH_NO_FIELD;
    if (!expiry_condition_holds(condition, record.expiry_ms, expiry_ms))
        return HASH_CONDITION_NOT_MET;
    if (expiry_ms <= now_ms) {
        hash_delete(ref, field);
        return HASH_FIELD_DELETED;
    }
    set_expiry(ref, field, expiry_ms);
    return HASH_EXPIRY_SET;
}

enum hash_expiry_result hash_persist(struct keyref *ref, struct slice field, int64_t now_ms) {
    struct record record;
    if (!hash_find(ref->entry, field, now_ms, &record)) return HASH_NO_FIELD;
    if (record.expiry_ms == RECORD_NEVER) return HASH_NO_EXPIRY;
    set_expiry(ref, field, RECORD_NEVER);
    return HASH_EXPIRY_SET;
}

int64_t hash_first_expiry(const struct entry *entry) {
    CHECKED_ASSERT(entry_type(entry) == VALUE_HASH);
    return records_first_expiry(entry);
}

size_t hash_expire(struct keyref *ref, int64_t now_ms, size_t max,
                   void (*visit)(const struct record *record, void *arg), void *arg) {
    struct entry *entry = ref->entry;
    uint64_t old_length = records_length(entry);
    size_t expired = records_expire(&entry, now_ms, max, visit, arg);
    changed(ref, entry, old_length);
    return expired;
}

const struct recordtable *hash_table(const struct entry *entry) {
    CHECKED_ASSERT(entry_type(entry) == VALUE_HASH);
    return records_is_table(entry) ? records_table(entry) : NULL;
}

/* --- What every type has --- */

static bool expiries_are_bounded(const struct entry *entry) {
    struct hash_iter iter;
    struct record record;
    hash_iter_start(&iter, entry, HASH_ALL);
    while (hash_iter_next(&iter, &record))
        if (record.expiry_ms > HASH_EXPIRY_MAX_MS) return false;
    return true;
}

static bool hash_check(const struct entry *entry) {
    return entry_type(entry) == VALUE_HASH && records_check(entry) &&
           entry_fields_expire(entry) == records_have_expiries(entry) &&
           (!entry_fields_expire(entry) || expiries_are_bounded(entry));
}

STRUCTURE_OPERATIONS(hash, recordtable)

const struct type_operations hash_operations = {
    hash_encoding_name, records_length,       packed_value_size, hash_check,
    hash_allocated,     records_free_effort,  records_prefetch,  hash_free_value,
    hash_own_value,     hash_relocate,        records_capture,   records_is_captured,
    records_captured,   records_copy_captured};
