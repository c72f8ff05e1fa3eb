/* The table of blocks: its directory, growing and shrinking, and changes of records. */
#include "ds/records/recordtable.h"

#include "base/checked.h"
#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "base/memory/relocate.h"
#include "base/prefetch.h"
#include "ds/records/recordtable_block.h"

#include <assert.h>

/* --- The table --- */

struct recordtable *recordtable_new(bool values) {
    struct recordtable *table = mem_alloc_zeroed(sizeof(*table));
    table->columns = values ? 3 : 2;
    table->first_expiry = RECORD_NO_EXPIRY;
    table->pieces = pieces_begin();
    segmented_init(&table->buckets, sizeof(struct recordtable_block *),
                   sizeof(struct recordtable_segment));
    linear_start(&table->linear, LINEAR_NO_TAGS);
    return table;
}

void recordtable_free(struct recordtable *table) {
    if (captures_adopt(&table->pieces.captures, table, recordtable_allocated(table))) return;
    struct piece_dropper dropper = pieces_dropper(&table->pieces);
    recordtable__pieces(table, &dropper.visitor);
    segmented_free(&table->buckets);
    mem_free_sized(table, sizeof(*table));
}

size_t recordtable_count(const struct recordtable *table) {
    return table->count;
}

size_t recordtable_expiring(const struct recordtable *table) {
    return table->expiring;
}

/* Gives a segment of the copy, which has the pointers to the blocks, its expiries. A captured table
 * has no columns of them. */
static void copy_expiries(struct recordtable *copy, size_t s,
                          const struct recordtable_segment *from) {
    struct recordtable_segment *to = &recordtable__segments(copy)[s];
    to->first_expiry = from->first_expiry;
    if (from->first_expiry == RECORD_NO_EXPIRY) return;
    recordtable__resize_expiries(copy, to, 0, segmented_room(&copy->buckets, s));
    for (size_t i = 0; i < segmented_used(&copy->buckets, s); i++)
        to->expiries[i] = from->expiries
                              ? from->expiries[i]
                              : recordtable__first_in_block(to->blocks[i], copy->columns);
}

struct recordtable *recordtable_copy(const struct recordtable *table) {
    struct recordtable *copy = mem_alloc(sizeof(*copy));
    *copy = *table;
    copy->pieces = pieces_begin_copy(&table->pieces);
    struct piece_copier copier = pieces_copier(&copy->pieces);
    segmented_init(&copy->buckets, sizeof(struct recordtable_block *),
                   sizeof(struct recordtable_segment));
    for (size_t b = 0; b < table->buckets.count; b++) {
        struct recordtable_block **pointer = segmented_push(&copy->buckets);
        *pointer = recordtable__block_at(table, b);
    }
    for (size_t s = 0; s < segmented_segments(&table->buckets); s++) {
        recordtable__segments(copy)[s].epoch = pieces_epoch(&table->pieces);
        copy_expiries(copy, s, &recordtable__segments(table)[s]);
    }
    for (size_t b = 0; b < copy->buckets.count; b++)
        recordtable__bucket_pieces(copy, b, &copier.visitor);
    return copy;
}

size_t recordtable_allocated(const struct recordtable *table) {
    return mem_good_size(sizeof(*table)) + table->pieces.bytes +
           segmented_allocated(&table->buckets);
}

size_t recordtable_allocations(const struct recordtable *table) {
    return table->pieces.allocations + 1;
}

uint64_t recordtable_hash(struct slice field) {
    return hash_bytes(field);
}

bool recordtable_prefetch(const struct recordtable *table, uint64_t hash, bool adds,
                          unsigned step) {
    if (table->count == 0) return false;
    size_t bucket = linear_bucket(&table->linear, hash);
    if (step == 0) {
        prefetch(&recordtable__segment(table, bucket)->blocks[bucket & (SEGMENTED_ITEMS - 1)]);
        return true;
    }
    const struct recordtable_block *block = recordtable__block_at(table, bucket);
    if (step == 1) prefetch(block);
    if (step == 2 && block) recordtable__prefetch_record(block, table->columns, hash, adds);
    return step + 1 < RECORDTABLE_PREFETCH_STEPS;
}

static bool find(const struct recordtable *table, struct slice field, uint64_t hash,
                 struct record_place *place) {
    CHECKED_ASSERT(hash == recordtable_hash(field));
    if (table->count == 0) return false;
    place->bucket = linear_bucket(&table->linear, hash);
    return recordtable__find_in_block(recordtable__block_at(table, place->bucket), table->columns,
                                      field, hash, place);
}

bool recordtable_find(const struct recordtable *table, struct slice field, uint64_t hash,
                      struct record *record) {
    struct record_place place;
    if (!find(table, field, hash, &place)) return false;
    if (record)
        recordtable__read(recordtable__block_at(table, place.bucket), table->columns, place.index,
                          place.offset, record);
    return true;
}

/* --- Buckets --- */

/* The first segment had room for `old` blocks: its column of expiries becomes as long as it is. */
static void fit_first_expiries(struct recordtable *table, size_t old) {
    struct recordtable_segment *first = recordtable__segments(table);
    size_t room = table->buckets.first_capacity;
    if (first->expiries && room != old) recordtable__resize_expiries(table, first, old, room);
}

/* Adds an empty bucket after the last. */
static void add_bucket(struct recordtable *table) {
    size_t index = table->buckets.count, first_room = table->buckets.first_capacity;
    if (index > 0 && index < SEGMENTED_ITEMS)
        recordtable__open_pointer(table, 0); /* this segment may move, so no capture may read it */
    struct recordtable_block **pointer = segmented_push(&table->buckets);
    *pointer = NULL;
    if ((index & (SEGMENTED_ITEMS - 1)) == 0) {
        struct recordtable_segment *segment = recordtable__segment(table, index);
        segment->first_expiry = RECORD_NO_EXPIRY;
        segment->epoch = pieces_epoch(&table->pieces);
    }
    fit_first_expiries(table, first_room);
}

/* Removes the last bucket, which is empty and not the only one. No capture reads its segment. */
static void remove_bucket(struct recordtable *table) {
    size_t index = table->buckets.count - 1, first_room = table->buckets.first_capacity;
    struct recordtable_segment *segment = recordtable__segment(table, index);
    CHECKED_ASSERT(index > 0 && !recordtable__block_at(table, index));
    if ((index & (SEGMENTED_ITEMS - 1)) == 0 && segment->expiries)
        recordtable__resize_expiries(table, segment, SEGMENTED_ITEMS, 0);
    segmented_pop(&table->buckets);
    fit_first_expiries(table, first_room);
}

/* --- Growing and shrinking --- */

static void split(struct recordtable *table) {
    size_t high = table->buckets.count, low = table->linear.split;
    add_bucket(table);
    recordtable__block_split(table, low, high, table->linear.level_mask + 1);
    linear_grow(&table->linear, LINEAR_NO_TAGS);
    recordtable__update_expiry(table, low);
    recordtable__update_expiry(table, high);
    /* The next split is some records away. */
    recordtable__prefetch_block(recordtable__block_at(table, table->linear.split));
}

static void merge(struct recordtable *table) {
    linear_shrink(&table->linear, LINEAR_NO_TAGS);
    size_t high = table->buckets.count - 1, low = table->linear.split;
    recordtable__block_merge(table, low, high);
    recordtable__update_expiry(table, low);
    recordtable__update_expiry(table, high);
    remove_bucket(table);
}

static void balance(struct recordtable *table) {
    size_t buckets = table->buckets.count;
    if (table->block_bytes > buckets * RECORDTABLE_BLOCK_TARGET)
        split(table);
    else if (buckets > 1 && table->block_bytes < (buckets - 1) * (RECORDTABLE_BLOCK_TARGET / 8 * 5))
        merge(table);
}

/* --- Records --- */

/* Overwrites the value, when the record stays as long as it is; changes nothing when it is as it
 * should be. */
static bool overwrite(struct recordtable *table, const struct record_place *place,
                      const struct record *record) {
    struct record old;
    recordtable__read(recordtable__block_at(table, place->bucket), table->columns, place->index,
                      place->offset, &old);
    size_t len = record->value.len;
    CHECKED_ASSERT(old.field.len == 0 || old.field.ptr != record->field.ptr);
    if (old.expiry_ms == record->expiry_ms && slice_equal(old.value, record->value)) return true;
    if (old.value.len != len || len > RECORD_INLINE_MAX ||
        (old.expiry_ms == RECORD_NEVER) != (record->expiry_ms == RECORD_NEVER))
        return false;
    struct recordtable_block *block = recordtable__open_block(table, place->bucket, 0);
    uint8_t *at = recordtable__records(block, table->columns) + place->offset +
                  recordtable__stored(recordtable__length(old.field.len));
    slice_copy((char *)at, record->value);
    if (old.expiry_ms != RECORD_NEVER) memcpy(at + len, &record->expiry_ms, RECORD_EXPIRY_SIZE);
    recordtable__update_expiry(table, place->bucket);
    return true;
}

bool recordtable_set(struct recordtable *table, const struct record *record, uint64_t hash) {
    struct record_place place;
    CHECKED_ASSERT(table->columns == 3 || record->value.len == 0);
    CHECKED_ASSERT(record->expiry_ms >= RECORD_NEVER);
    bool found = find(table, record->field, hash, &place);
    if (found && overwrite(table, &place, record)) return false;
    if (table->buckets.count == 0) add_bucket(table);
    if (found)
        recordtable__block_remove(table, &place);
    else
        table->count++;
    size_t bucket = linear_bucket(&table->linear, hash);
    recordtable__block_add(table, bucket, record, hash);
    CHECKED_ASSERT(find(table, record->field, hash, &place) &&
                   place.index + 1 == recordtable__block_at(table, bucket)->count);
    recordtable__update_expiry(table, bucket);
    balance(table);
    return !found;
}

bool recordtable_delete(struct recordtable *table, struct slice field, uint64_t hash) {
    struct record_place place;
    if (!find(table, field, hash, &place)) return false;
    recordtable__block_remove(table, &place);
    table->count--;
    recordtable__update_expiry(table, place.bucket);
    balance(table);
    return true;
}

bool recordtable_set_expiry(struct recordtable *table, struct slice field, uint64_t hash,
                            int64_t expiry_ms) {
    struct record_place place;
    if (!find(table, field, hash, &place)) return false;
    const struct recordtable_block *old = recordtable__block_at(table, place.bucket);
    size_t size = recordtable__record_size(old, table->columns, place.index);
    size_t had = old->bytes[place.index] & RECORD_TAG_EXPIRES ? RECORD_EXPIRY_SIZE : 0;
    size_t has = expiry_ms != RECORD_NEVER ? RECORD_EXPIRY_SIZE : 0;
    uint8_t *at =
        recordtable__block_splice(table, place.bucket, place.offset + size - had, had, has);
    struct recordtable_block *block = recordtable__block_at(table, place.bucket);
    if (has) {
        memcpy(at, &expiry_ms, RECORD_EXPIRY_SIZE);
        block->bytes[place.index] |= RECORD_TAG_EXPIRES;
        block->mixed = 1;
    } else {
        block->bytes[place.index] &= (uint8_t)~RECORD_TAG_EXPIRES;
    }
    table->expiring += (has > 0) - (size_t)(had > 0);
    recordtable__update_expiry(table, place.bucket);
    balance(table);
    return true;
}

/* --- Expiries --- */

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
            if (i + 1 < used) recordtable__prefetch_block(segment->blocks[i + 1]);
            expired += expired_in_block(segment->blocks[i], table->columns, now_ms);
        }
    }
    return expired;
}

/* Deletes up to `max` such records of the bucket, the last ones first. */
static size_t expire_bucket(struct recordtable *table, size_t bucket, int64_t now_ms, size_t max,
                            void (*visit)(const struct record *record, void *arg), void *arg) {
    size_t deleted = 0;
    for (unsigned i = recordtable__block_at(table, bucket)->count; i-- > 0;) {
        const struct recordtable_block *block = recordtable__block_at(table, bucket);
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
        for (size_t i = 0; i < now; i++) balance(table);
        deleted += now;
    }
    return deleted;
}

/* --- Relocating: the struct and the directory, then one bucket after another --- */

static struct recordtable *relocate_head(struct recordtable *table, struct relocator *relocator) {
    table = relocate(relocator, table, sizeof(*table));
    segmented_relocate(&table->buckets, relocator);
    if (table->buckets.count == 0) return table;
    struct recordtable_segment *first = recordtable__segments(table);
    if (first->expiries)
        first->expiries = relocate(relocator, first->expiries,
                                   recordtable__expiries_size(table->buckets.first_capacity));
    return table;
}

struct recordtable *recordtable_relocate(struct recordtable *table, struct relocator *relocator,
                                         struct relocate_cursor *cursor) {
    CHECKED_ASSERT(!pieces_are_captured(&table->pieces));
    struct piece_relocator pieces = pieces_relocator(relocator);
    if (cursor->at == 0) {
        table = relocate_head(table, relocator);
        cursor->at = 1;
    }
    while (cursor->at - 1 < table->buckets.count) {
        recordtable__bucket_pieces(table, cursor->at++ - 1, &pieces.visitor);
        if (relocator_is_due(relocator)) return table;
    }
    *cursor = (struct relocate_cursor){0};
    return table;
}
