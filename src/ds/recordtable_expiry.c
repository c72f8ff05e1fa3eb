/* Which record expires first: the least expiry of each block, of each segment, of the table. */
#include "ds/recordtable_internal.h"

void recordtable__resize_expiries(struct recordtable *table, struct recordtable_segment *segment,
                                  size_t old_capacity, size_t capacity) {
    int64_t *old = segment->expiries;
    size_t old_size = recordtable__expiries_size(old_capacity);
    size_t size = recordtable__expiries_size(capacity), kept = old ? old_capacity : 0;
    if (capacity == 0) {
        if (old) pieces_drop(&table->pieces, NULL, old, old_size);
        segment->expiries = NULL;
        return;
    }
    segment->expiries = pieces_resize(&table->pieces, old, old ? old_size : 0, size);
    for (size_t i = kept; i < capacity; i++) segment->expiries[i] = RECORD_NO_EXPIRY;
}

static int64_t first_of_block(const struct recordtable_block *block, unsigned columns) {
    int64_t first = RECORD_NO_EXPIRY;
    if (!block || !block->mixed) return first;
    size_t offset = 0;
    for (unsigned i = 0; i < block->count; i++) {
        struct record record;
        offset += recordtable__read(block, columns, i, offset, &record);
        if (record.expiry_ms != RECORD_NEVER && record.expiry_ms < first) first = record.expiry_ms;
    }
    return first;
}

static int64_t least(const int64_t *values, size_t count) {
    int64_t value = RECORD_NO_EXPIRY;
    for (size_t i = 0; i < count; i++) value = values[i] < value ? values[i] : value;
    return value;
}

void recordtable__update_expiry(struct recordtable *table, size_t bucket) {
    struct recordtable_segment *segment = recordtable__segment(table, bucket);
    if (__builtin_expect(table->expiring == 0 && !segment->expiries, 1)) return;
    size_t number = bucket >> SEGMENTED_BITS;
    size_t capacity = segmented_room(&table->buckets, number);
    int64_t first =
        first_of_block(recordtable__block(table->buckets.directory, bucket), table->columns);
    if (!segment->expiries) {
        if (first == RECORD_NO_EXPIRY) return;
        recordtable__resize_expiries(table, segment, capacity, capacity);
    }
    int64_t *expiry = &segment->expiries[bucket & (SEGMENTED_ITEMS - 1)], old = *expiry;
    *expiry = first;
    if (first < segment->first_expiry) {
        segment->first_expiry = first;
    } else if (old == segment->first_expiry && first > old) {
        segment->first_expiry = least(segment->expiries, capacity);
        if (old == table->first_expiry) table->first_expiry_is_stale = true;
    }
    if (first < table->first_expiry) table->first_expiry = first;
}

int64_t recordtable_first_expiry(struct recordtable *table) {
    if (table->first_expiry_is_stale) {
        size_t segments = segmented_segments(&table->buckets);
        table->first_expiry = RECORD_NO_EXPIRY;
        for (size_t s = 0; s < segments; s++) {
            int64_t first = recordtable__segments(table)[s].first_expiry;
            if (first < table->first_expiry) table->first_expiry = first;
        }
        table->first_expiry_is_stale = false;
    }
    return table->expiring > 0 ? table->first_expiry : RECORD_NEVER;
}

/* A bucket with a record that expires at the least expiry of all. */
static size_t first_bucket(const struct recordtable *table) {
    size_t s = 0, i = 0;
    while (recordtable__segments(table)[s].first_expiry != table->first_expiry) s++;
    while (recordtable__segments(table)[s].expiries[i] != table->first_expiry) i++;
    return (s << SEGMENTED_BITS) + i;
}

static size_t expired_in_block(const struct recordtable_block *block, unsigned columns,
                               int64_t now_ms) {
    size_t expired = 0, offset = 0;
    for (unsigned i = 0; i < block->count; i++) {
        struct record record;
        offset += recordtable__read(block, columns, i, offset, &record);
        expired += record_has_expired(&record, now_ms);
    }
    return expired;
}

size_t recordtable_expired(struct recordtable *table, int64_t now_ms) {
    if (table->expiring == 0 || recordtable_first_expiry(table) >= now_ms) return 0;
    size_t expired = 0;
    for (size_t s = 0; s < segmented_segments(&table->buckets); s++) {
        const struct recordtable_segment *segment = &recordtable__segments(table)[s];
        size_t used = segmented_used(&table->buckets, s);
        if (segment->first_expiry >= now_ms) continue;
        for (size_t i = 0; i < used; i++) {
            if (segment->expiries[i] >= now_ms) continue;
            if (i + 1 < used)
                recordtable__prefetch_block(recordtable__pointer(segment->blocks[i + 1]));
            expired +=
                expired_in_block(recordtable__pointer(segment->blocks[i]), table->columns, now_ms);
        }
    }
    return expired;
}

/* Deletes up to `max` such records of the bucket, the last ones first. */
static size_t expire_bucket(struct recordtable *table, size_t bucket, int64_t now_ms, size_t max,
                            void (*visit)(const struct record *record, void *arg), void *arg) {
    size_t deleted = 0;
    for (unsigned i = recordtable__block(table->buckets.directory, bucket)->count; i-- > 0;) {
        const struct recordtable_block *block =
            recordtable__block(table->buckets.directory, bucket);
        struct record_place place = {bucket, i, recordtable__offset(block, table->columns, i)};
        struct record record;
        recordtable__read(block, table->columns, i, place.offset, &record);
        if (!record_has_expired(&record, now_ms)) continue;
        if (visit) visit(&record, arg);
        recordtable__block_remove(table, &place);
        table->count--;
        if (++deleted == max) break;
    }
    return deleted;
}

size_t recordtable_expire(struct recordtable *table, int64_t now_ms, size_t max,
                          void (*visit)(const struct record *record, void *arg), void *arg) {
    size_t deleted = 0;
    while (deleted < max && table->expiring > 0 && recordtable_first_expiry(table) < now_ms) {
        size_t bucket = first_bucket(table);
        size_t now = expire_bucket(table, bucket, now_ms, max - deleted, visit, arg);
        recordtable__update_expiry(table, bucket);
        for (size_t i = 0; i < now; i++) recordtable__balance(table);
        deleted += now;
    }
    return deleted;
}
