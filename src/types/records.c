#include "types/records.h"

#include "base/checked.h"
#include "base/prefetch.h"
#include "types/packed.h"
#include "types/type_operations.h"

#include <assert.h>

static bool has_values(const struct entry *entry) {
    return entry_type(entry) == VALUE_HASH;
}

unsigned records_layout(const struct entry *entry) {
    CHECKED_ASSERT(!records_is_table(entry));
    return (has_values(entry) ? RECORDLIST_VALUES : 0u) |
           (entry_encoding(entry) == RECORDS_EXPIRING ? RECORDLIST_EXPIRIES : 0u);
}

struct entry *records_new(struct slice key, enum value_type type, bool as_table) {
    uint8_t *first;
    if (!as_table) return packed_new(key, type, RECORDS_PACKED, 0, 0, &first);
    return entry_new_pointer(key, type, RECORDS_TABLE, recordtable_new(type == VALUE_HASH));
}

uint64_t records_length(const struct entry *entry) {
    return records_is_table(entry) ? recordtable_count(records_table(entry))
                                   : packed_view(entry).count;
}

/* --- Finding --- */

static const uint8_t *find_packed(const struct entry *entry, struct slice field,
                                  struct record *record) {
    struct packed body = packed_view(entry);
    return recordlist_find(body.first, body.end, records_layout(entry), field, record);
}

bool records_find(const struct entry *entry, struct slice field, struct record *record) {
    struct record ignored;
    if (!record) record = &ignored;
    if (!records_is_table(entry)) return find_packed(entry, field, record);
    return recordtable_find(records_table(entry), field, recordtable_hash(field), record);
}

/* --- Changing --- */

static void insert_at(struct entry **entry, size_t to, const struct record *record) {
    unsigned layout = records_layout(*entry);
    size_t count = packed_view(*entry).count + 1;
    recordlist_write(packed_splice(entry, to, 0, recordlist_size(record, layout), count), record,
                     layout);
}

static void remove_at(struct entry **entry, const uint8_t *at) {
    struct packed body = packed_view(*entry);
    struct record record;
    size_t size = (size_t)(recordlist_read(at, records_layout(*entry), &record) - at);
    packed_splice(entry, (size_t)(at - body.first), size, 0, body.count - 1);
}

/* Where a record with this expiry belongs: after those that expire no later. */
static size_t place_for(const struct entry *entry, int64_t expiry_ms) {
    struct packed body = packed_view(entry);
    const uint8_t *at = body.first;
    if (expiry_ms == RECORD_NEVER) return packed_size(body);
    while (at < body.end) {
        struct record record;
        const uint8_t *next = recordlist_read(at, records_layout(entry), &record);
        if (record.expiry_ms == RECORD_NEVER || record.expiry_ms > expiry_ms) break;
        at = next;
    }
    return (size_t)(at - body.first);
}

void records_append(struct entry **entry, const struct record *record) {
    CHECKED_ASSERT(record->expiry_ms == RECORD_NEVER ||
                   records_layout(*entry) & RECORDLIST_EXPIRIES);
    insert_at(entry, place_for(*entry, record->expiry_ms), record);
}

/* Adds places for expiries to a packed value without them. */
static void make_expiring(struct entry **entry) {
    unsigned old_layout = records_layout(*entry);
    struct packed body = packed_view(*entry);
    size_t old_size = packed_size(body), count = body.count;
    /* The old records stand at the end while the new ones are written from the start on. */
    uint8_t *to = packed_splice(entry, 0, 0, count * sizeof(int64_t), count);
    entry_set_type(*entry, entry_type(*entry), RECORDS_EXPIRING);
    const uint8_t *from = packed_view(*entry).end - old_size;
    for (size_t i = 0; i < count; i++) {
        struct record record;
        const uint8_t *next = recordlist_read(from, old_layout, &record);
        memmove(to, from, (size_t)(next - from));
        to += next - from;
        memcpy(to, &record.expiry_ms, sizeof(record.expiry_ms));
        to += sizeof(record.expiry_ms);
        from = next;
    }
}

void records_make_table(struct entry **entry) {
    if (records_is_table(*entry)) return;
    struct recordtable *table = recordtable_new(has_values(*entry));
    struct records_iter iter;
    struct record record;
    records_iter_start(&iter, *entry);
    while (records_iter_next(&iter, &record))
        recordtable_set(table, &record, recordtable_hash(record.field));
    packed_move_out(entry, RECORDS_TABLE, table);
}

/* Returns whether a packed value would exceed the limits with this record, as one more if
 * `more`. */
static bool exceeds(const struct entry *entry, const struct record *record, bool more,
                    const struct listpack_limits *limits) {
    struct packed body = packed_view(entry);
    size_t size = record->field.len + record->value.len;
    return record->field.len > limits->listpack_value ||
           record->value.len > limits->listpack_value ||
           body.count + more > limits->listpack_entries ||
           packed_size(body) + size > PACKED_SIZE_MAX;
}

/* Replaces the packed record at `at`, which is `old`. */
static void replace(struct entry **entry, const uint8_t *at, const struct record *old,
                    const struct record *record) {
    if (old->expiry_ms != record->expiry_ms) {
        remove_at(entry, at);
        records_append(entry, record);
        return;
    }
    unsigned layout = records_layout(*entry);
    struct packed body = packed_view(*entry);
    recordlist_write(packed_splice(entry, (size_t)(at - body.first), recordlist_size(old, layout),
                                   recordlist_size(record, layout), body.count),
                     record, layout);
}

bool records_set(struct entry **entry, const struct record *record,
                 const struct listpack_limits *limits) {
    if (!records_is_table(*entry)) {
        struct record old;
        const uint8_t *at = find_packed(*entry, record->field, &old);
        if (!exceeds(*entry, record, !at, limits)) {
            if (record->expiry_ms != RECORD_NEVER && entry_encoding(*entry) == RECORDS_PACKED) {
                make_expiring(entry);
                at = find_packed(*entry, record->field, &old);
            }
            if (at)
                replace(entry, at, &old, record);
            else
                records_append(entry, record);
            return !at;
        }
        records_make_table(entry);
    }
    return recordtable_set(records_table(*entry), record, recordtable_hash(record->field));
}

bool records_add(struct entry **entry, const struct record *record,
                 const struct listpack_limits *limits) {
    struct record old;
    if (!records_is_table(*entry)) {
        if (find_packed(*entry, record->field, &old)) return false;
        if (!exceeds(*entry, record, true, limits)) {
            records_append(entry, record);
            return true;
        }
        records_make_table(entry);
    }
    return recordtable_set(records_table(*entry), record, recordtable_hash(record->field));
}

bool records_delete(struct entry **entry, struct slice field) {
    struct record record;
    if (records_is_table(*entry))
        return recordtable_delete(records_table(*entry), field, recordtable_hash(field));
    const uint8_t *at = find_packed(*entry, field, &record);
    if (at) remove_at(entry, at);
    return at;
}

/* --- Expiries --- */

void records_set_expiry(struct entry **entry, struct slice field, int64_t expiry_ms) {
    struct record record;
    if (records_is_table(*entry)) {
        bool found = recordtable_set_expiry(records_table(*entry), field, recordtable_hash(field),
                                            expiry_ms);
        CHECKED_ASSERT(found);
        (void)found;
        return;
    }
    if (entry_encoding(*entry) == RECORDS_PACKED) {
        if (expiry_ms == RECORD_NEVER) return;
        make_expiring(entry);
    }
    const uint8_t *at = find_packed(*entry, field, &record);
    CHECKED_ASSERT(at);
    struct packed body = packed_view(*entry);
    size_t size = recordlist_size(&record, records_layout(*entry));
    /* The record moves within the body: it goes to its new place, and is then removed. */
    size_t from = (size_t)(at - body.first), to = place_for(*entry, expiry_ms);
    uint8_t *gap = packed_splice(entry, to, 0, size, body.count + 1);
    if (to <= from) from += size;
    const uint8_t *source = packed_view(*entry).first + from;
    memcpy(gap, source, size - sizeof(expiry_ms));
    memcpy(gap + size - sizeof(expiry_ms), &expiry_ms, sizeof(expiry_ms));
    packed_splice(entry, from, size, 0, body.count);
}

bool records_have_expiries(const struct entry *entry) {
    return records_is_table(entry) ? recordtable_expiring(records_table(entry)) > 0
                                   : records_first_expiry(entry) != RECORD_NEVER;
}

int64_t records_first_expiry(const struct entry *entry) {
    struct record record;
    if (records_is_table(entry)) return recordtable_first_expiry(records_table(entry));
    if (entry_encoding(entry) == RECORDS_PACKED) return RECORD_NEVER;
    struct packed body = packed_view(entry);
    if (body.count == 0) return RECORD_NEVER;
    recordlist_read(body.first, records_layout(entry), &record);
    return record.expiry_ms;
}

const uint8_t *records_expired_packed(const struct entry *entry, int64_t now_ms, size_t max,
                                      size_t *expired,
                                      void (*visit)(const struct record *record, void *arg),
                                      void *arg) {
    CHECKED_ASSERT(!records_is_table(entry));
    struct packed body = packed_view(entry);
    const uint8_t *at = body.first;
    *expired = 0;
    if (entry_encoding(entry) == RECORDS_PACKED) return at;
    for (; *expired < max && at < body.end; ++*expired) {
        struct record record;
        const uint8_t *next = recordlist_read(at, records_layout(entry), &record);
        if (!record_has_expired(&record, now_ms)) break;
        if (visit) visit(&record, arg);
        at = next;
    }
    return at;
}

size_t records_expire(struct entry **entry, int64_t now_ms, size_t max,
                      void (*visit)(const struct record *record, void *arg), void *arg) {
    if (records_is_table(*entry))
        return recordtable_expire(records_table(*entry), now_ms, max, visit, arg);
    struct packed body = packed_view(*entry);
    size_t expired;
    const uint8_t *end = records_expired_packed(*entry, now_ms, max, &expired, visit, arg);
    if (expired) packed_splice(entry, 0, (size_t)(end - body.first), 0, body.count - expired);
    return expired;
}

/* --- Reading --- */

uint64_t records_living(const struct entry *entry, int64_t now_ms) {
    size_t expired;
    if (records_is_table(entry))
        expired = recordtable_expired(records_table(entry), now_ms);
    else
        records_expired_packed(entry, now_ms, SIZE_MAX, &expired, NULL, NULL);
    return records_length(entry) - expired;
}

uint64_t records_scan(const struct entry *entry, uint64_t cursor,
                      void (*visit)(const struct record *record, void *arg), void *arg) {
    struct records_iter iter;
    struct record record;
    if (records_is_table(entry)) return recordtable_scan(records_table(entry), cursor, visit, arg);
    records_iter_start(&iter, entry);
    while (records_iter_next(&iter, &record)) visit(&record, arg);
    return 0;
}

void records_iter_start(struct records_iter *iter, const struct entry *entry) {
    if (records_is_table(entry)) {
        iter->at = NULL;
        recordtable_iter_start(&iter->table, records_table(entry));
        return;
    }
    struct packed body = packed_view(entry);
    iter->at = body.first;
    iter->end = body.end;
    iter->layout = records_layout(entry);
}

void records_iter_start_capture(struct records_iter *iter, const struct capture *capture) {
    iter->at = NULL;
    recordtable_iter_start(&iter->table, recordtable_captured(capture));
}

bool records_iter_next(struct records_iter *iter, struct record *record) {
    if (!iter->at) return recordtable_iter_next(&iter->table, record);
    if (iter->at == iter->end) return false;
    iter->at = recordlist_read(iter->at, iter->layout, record);
    return true;
}

bool records_iter_next_batch(struct records_iter *iter, unsigned parts, int64_t now_ms,
                             struct text_batch *batch) {
    if (iter->at && !(iter->layout & RECORDLIST_EXPIRIES)) {
        iter->at = recordlist_read_texts(iter->at, iter->end, iter->layout, parts, batch);
        return batch->count > 0;
    }
    struct record record;
    batch->count = 0;
    while (batch->count < TEXT_BATCH && records_iter_next(iter, &record)) {
        if (record_has_expired(&record, now_ms)) continue;
        if (parts & RECORD_FIELD) batch->texts[batch->count++] = record.field;
        if (parts & RECORD_VALUE) batch->texts[batch->count++] = record.value;
    }
    return batch->count > 0;
}

/* --- What every type has --- */

size_t records_free_effort(const struct entry *entry) {
    const struct recordtable *table = records_table(entry);
    return type_free_effort(recordtable_allocations(table), recordtable_allocated(table));
}

bool records_prefetch(struct value_lookup *lookup, unsigned step) {
    const struct recordtable *table = records_table(lookup->entry);
    if (step == 0) {
        prefetch(table);
        return true;
    }
    if (recordtable_count(table) <= VALUE_CACHED_MEMBERS) return false;
    if (step == 1) lookup->hash = recordtable_hash(lookup->argv[0]);
    return recordtable_prefetch(table, lookup->hash, lookup->writes, step - 1);
}

/* Returns whether the records are in the order of their expiries. */
static bool check_order(const struct entry *entry) {
    struct records_iter iter;
    struct record record;
    int64_t last = INT64_MIN;
    records_iter_start(&iter, entry);
    while (records_iter_next(&iter, &record)) {
        int64_t expiry_ms = record.expiry_ms == RECORD_NEVER ? INT64_MAX : record.expiry_ms;
        if (expiry_ms < last) return false;
        last = expiry_ms;
    }
    return true;
}

bool records_check(const struct entry *entry) {
    if (!entry_check(entry)) return false;
    if (records_is_table(entry)) return recordtable_check(records_table(entry));
    struct packed body = packed_view(entry);
    return entry_encoding(entry) <= RECORDS_EXPIRING && packed_check(entry) &&
           recordlist_check(body.first, body.end, records_layout(entry), body.count) &&
           check_order(entry);
}

/* --- Captures: a table shares its blocks with what was captured, and copies those that it
 * changes --- */

struct capture *records_capture(struct entry *entry, size_t *left) {
    struct recordtable *table = records_table(entry);
    bool small = recordtable_allocated(table) < VALUE_CAPTURE_MIN || recordtable_count(table) == 0;
    return small ? NULL : recordtable_capture_begin(table, left);
}

void *records_captured(const struct capture *capture) {
    return recordtable_captured(capture);
}

void *records_copy_captured(struct capture *capture) {
    return recordtable_copy(recordtable_captured(capture));
}

bool records_is_captured(const struct entry *entry) {
    return recordtable_is_captured(records_table(entry));
}
