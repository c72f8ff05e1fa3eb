/* The table of blocks: its directory, growing and shrinking, and changes of records. The layout and
 * the invariants are drawn in ds/recordtable_internal.h. */
#include "base/alloc.h"
#include "base/checked.h"
#include "base/hash.h"
#include "base/prefetch.h"
#include "ds/linear_hashing.h"
#include "ds/recordtable_internal.h"

#include <assert.h>

/* --- The table --- */

struct recordtable *recordtable_new(bool values) {
    struct recordtable *table = mem_alloc_zeroed(sizeof(*table));
    table->columns = values ? 3 : 2;
    table->first_expiry = RECORD_NO_EXPIRY;
    table->epoch = 1;
    return table;
}

void recordtable__drop(struct recordtable *table, void *memory, size_t size, bool captured) {
    if (captured && table->capture)
        quicklist_left_memory(&table->capture->left, memory, size);
    else
        mem_free_sized(memory, size);
}

void recordtable_free(struct recordtable *table) {
    if (table->capture) {
        struct recordtable_capture *capture = table->capture;
        quicklist_left_count(&capture->left, recordtable_allocated(table));
        table->capture = NULL;
        capture->orphan = table;
        capture->table = NULL;
        return;
    }
    size_t buckets = recordtable__buckets(table);
    for (size_t b = 0; b < buckets; b++) {
        struct recordtable_block *block = recordtable__block(table->directory, b);
        if (block) recordtable__block_free(block, table->columns);
    }
    for (size_t s = 0; s < recordtable__segments(buckets); s++) {
        mem_free(table->directory[s].blocks);
        mem_free(table->directory[s].expiries);
    }
    mem_free(table->directory);
    mem_free_sized(table, sizeof(*table));
}

size_t recordtable_count(const struct recordtable *table) {
    return table->count;
}

size_t recordtable_expiring(const struct recordtable *table) {
    return table->expiring;
}

static size_t segment_bytes(size_t capacity) {
    return mem_good_size(capacity * sizeof(uintptr_t));
}

static uintptr_t *copy_blocks(const struct recordtable *table, const uintptr_t *blocks,
                              size_t capacity) {
    uintptr_t *copy = mem_alloc(segment_bytes(capacity));
    memset(copy, 0, segment_bytes(capacity));
    for (size_t i = 0; i < capacity; i++)
        if (blocks[i])
            copy[i] =
                (uintptr_t)recordtable__block_copy(recordtable__pointer(blocks[i]), table->columns);
    return copy;
}

struct recordtable *recordtable_copy(const struct recordtable *table) {
    struct recordtable *copy = mem_alloc(sizeof(*copy));
    *copy = *table;
    copy->capture = NULL;
    if (table->first_capacity == 0) return copy;
    copy->directory = mem_alloc(table->directory_capacity * sizeof(*copy->directory));
    size_t segments = recordtable__segments(recordtable__buckets(table));
    for (size_t s = 0; s < segments; s++) {
        size_t capacity = recordtable__segment_capacity(table, s);
        const int64_t *expiries = table->directory[s].expiries;
        copy->directory[s] = table->directory[s];
        copy->directory[s].blocks = copy_blocks(table, table->directory[s].blocks, capacity);
        if (!expiries) continue;
        copy->directory[s].expiries = mem_alloc(mem_good_size(capacity * sizeof(*expiries)));
        memcpy(copy->directory[s].expiries, expiries, capacity * sizeof(*expiries));
    }
    return copy;
}

size_t recordtable_allocated(const struct recordtable *table) {
    size_t segments = recordtable__segments(recordtable__buckets(table));
    size_t bytes = mem_good_size(sizeof(*table)) + table->block_bytes + table->text_bytes +
                   table->expiry_bytes;
    if (segments == 0) return bytes;
    return bytes + segment_bytes(table->first_capacity) +
           (segments - 1) * segment_bytes(RECORDTABLE_SEGMENT) +
           mem_good_size(table->directory_capacity * sizeof(*table->directory));
}

size_t recordtable_allocations(const struct recordtable *table) {
    return recordtable__buckets(table) + table->texts + 1;
}

uint64_t recordtable_hash(struct slice field) {
    return hash_bytes(field);
}

static size_t bucket_of(const struct recordtable *table, uint64_t hash) {
    return linear_bucket(hash, table->level_mask, table->split);
}

bool recordtable_prefetch(const struct recordtable *table, uint64_t hash, bool adds,
                          unsigned step) {
    if (table->count == 0) return false;
    size_t bucket = bucket_of(table, hash);
    if (step == 0) {
        prefetch(&table->directory[bucket >> RECORDTABLE_SEGMENT_BITS]
                      .blocks[bucket & (RECORDTABLE_SEGMENT - 1)]);
        return true;
    }
    const struct recordtable_block *block = recordtable__block(table->directory, bucket);
    if (step == 1) prefetch(block);
    if (step == 2 && block) recordtable__prefetch_record(block, table->columns, hash, adds);
    return step + 1 < RECORDTABLE_PREFETCH_STEPS;
}

static bool find(const struct recordtable *table, struct slice field, uint64_t hash,
                 struct record_place *place) {
    CHECKED_ASSERT(hash == recordtable_hash(field));
    if (table->count == 0) return false;
    place->bucket = bucket_of(table, hash);
    return recordtable__find_in_block(recordtable__block(table->directory, place->bucket),
                                      table->columns, field, hash, place);
}

bool recordtable_find(const struct recordtable *table, struct slice field, uint64_t hash,
                      struct record *record) {
    struct record_place place;
    if (!find(table, field, hash, &place)) return false;
    if (record)
        recordtable__read(recordtable__block(table->directory, place.bucket), table->columns,
                          place.index, place.offset, record);
    return true;
}

/* --- The directory --- */

/* A segment that a capture still reads is replaced by a copy for up to `capacity` blocks. */
static void replace_segment(struct recordtable *table, size_t index, size_t capacity) {
    struct recordtable_segment *segment = &table->directory[index];
    size_t old_capacity = recordtable__segment_capacity(table, index);
    bool captured = table->capture && segment->epoch != table->epoch;
    size_t kept = old_capacity < capacity ? old_capacity : capacity;
    uintptr_t *blocks = mem_alloc(segment_bytes(capacity));
    for (size_t i = 0; i < kept; i++) {
        uintptr_t word = segment->blocks[i];
        blocks[i] = captured && word ? word | RECORDTABLE_SHARED : word;
    }
    memset(blocks + kept, 0, segment_bytes(capacity) - kept * sizeof(*blocks));
    recordtable__drop(table, segment->blocks, segment_bytes(old_capacity), captured);
    segment->blocks = blocks;
    segment->epoch = table->epoch;
}

uintptr_t *recordtable__open_word(struct recordtable *table, size_t bucket) {
    size_t index = bucket >> RECORDTABLE_SEGMENT_BITS;
    struct recordtable_segment *segment = &table->directory[index];
    if (__builtin_expect(table->capture && segment->epoch != table->epoch, 0))
        replace_segment(table, index, recordtable__segment_capacity(table, index));
    return &segment->blocks[bucket & (RECORDTABLE_SEGMENT - 1)];
}

static void resize_directory(struct recordtable *table, size_t capacity) {
    table->directory = mem_realloc(table->directory, capacity * sizeof(*table->directory));
    table->directory_capacity = capacity;
}

/* Adds an empty segment for up to `capacity` blocks. */
static void add_segment(struct recordtable *table, size_t index, size_t capacity) {
    if (index == table->directory_capacity) resize_directory(table, index ? 2 * index : 1);
    table->directory[index] =
        (struct recordtable_segment){.blocks = mem_alloc_zeroed(segment_bytes(capacity)),
                                     .first_expiry = RECORD_NO_EXPIRY,
                                     .epoch = table->epoch};
}

static void resize_first_segment(struct recordtable *table, size_t capacity) {
    size_t old_capacity = table->first_capacity;
    replace_segment(table, 0, capacity);
    table->first_capacity = capacity;
    if (table->directory[0].expiries)
        recordtable__resize_expiries(table, &table->directory[0], old_capacity, capacity);
}

/* Room for bucket `index`, the one after the last. */
static void add_bucket(struct recordtable *table, size_t index) {
    size_t segment = index >> RECORDTABLE_SEGMENT_BITS;
    if (index == 0) {
        add_segment(table, 0, table->first_capacity = 2);
    } else if (segment == 0 && index == table->first_capacity) {
        size_t capacity = segment_bytes(index + 1) / sizeof(uintptr_t);
        resize_first_segment(table,
                             capacity < RECORDTABLE_SEGMENT ? capacity : RECORDTABLE_SEGMENT);
    } else if (segment > 0 && (index & (RECORDTABLE_SEGMENT - 1)) == 0) {
        add_segment(table, segment, RECORDTABLE_SEGMENT);
    }
}

/* Gives back what only bucket `index`, now empty and the one after the last, needed. */
static void remove_bucket(struct recordtable *table, size_t index) {
    size_t number = index >> RECORDTABLE_SEGMENT_BITS;
    struct recordtable_segment *segment = &table->directory[number];
    if (number == 0) {
        if (index * 2 <= table->first_capacity && index >= 4) resize_first_segment(table, index);
    } else if ((index & (RECORDTABLE_SEGMENT - 1)) == 0) {
        recordtable__drop(table, segment->blocks, segment_bytes(RECORDTABLE_SEGMENT),
                          segment->epoch != table->epoch);
        if (segment->expiries) recordtable__resize_expiries(table, segment, RECORDTABLE_SEGMENT, 0);
        if (number * 4 <= table->directory_capacity) resize_directory(table, number * 2);
    }
}

/* --- Growing and shrinking --- */

static void set_level(struct recordtable *table, unsigned level) {
    table->level = level;
    table->level_mask = ((uint64_t)1 << level) - 1;
}

static void split(struct recordtable *table) {
    size_t high = recordtable__buckets(table), low = table->split;
    add_bucket(table, high);
    recordtable__block_split(table, low, high, table->level_mask + 1);
    if (++table->split > table->level_mask) {
        set_level(table, table->level + 1);
        table->split = 0;
    }
    recordtable__update_expiry(table, low);
    recordtable__update_expiry(table, high);
    /* The next split is some records away. */
    recordtable__prefetch_block(recordtable__block(table->directory, (size_t)table->split));
}

static void merge(struct recordtable *table) {
    if (table->split == 0) {
        set_level(table, table->level - 1);
        table->split = table->level_mask + 1;
    }
    table->split--;
    size_t high = recordtable__buckets(table);
    recordtable__block_merge(table, (size_t)table->split, high);
    recordtable__update_expiry(table, (size_t)table->split);
    recordtable__update_expiry(table, high);
    remove_bucket(table, high);
}

void recordtable__balance(struct recordtable *table) {
    size_t buckets = recordtable__buckets(table);
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
    recordtable__read(recordtable__block(table->directory, place->bucket), table->columns,
                      place->index, place->offset, &old);
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
    if (table->first_capacity == 0) add_bucket(table, 0);
    if (found)
        recordtable__block_remove(table, &place);
    else
        table->count++;
    size_t bucket = bucket_of(table, hash);
    recordtable__block_add(table, bucket, record, hash);
    CHECKED_ASSERT(find(table, record->field, hash, &place) &&
                   place.index + 1 == recordtable__block(table->directory, bucket)->count);
    recordtable__update_expiry(table, bucket);
    recordtable__balance(table);
    return !found;
}

bool recordtable_delete(struct recordtable *table, struct slice field, uint64_t hash) {
    struct record_place place;
    if (!find(table, field, hash, &place)) return false;
    recordtable__block_remove(table, &place);
    table->count--;
    recordtable__update_expiry(table, place.bucket);
    recordtable__balance(table);
    return true;
}

bool recordtable_set_expiry(struct recordtable *table, struct slice field, uint64_t hash,
                            int64_t expiry_ms) {
    struct record_place place;
    if (!find(table, field, hash, &place)) return false;
    const struct recordtable_block *old = recordtable__block(table->directory, place.bucket);
    size_t size = recordtable__record_size(old, table->columns, place.index);
    size_t had = old->bytes[place.index] & RECORD_TAG_EXPIRES ? RECORD_EXPIRY_SIZE : 0;
    size_t has = expiry_ms != RECORD_NEVER ? RECORD_EXPIRY_SIZE : 0;
    uint8_t *at =
        recordtable__block_splice(table, place.bucket, place.offset + size - had, had, has);
    struct recordtable_block *block = recordtable__block(table->directory, place.bucket);
    if (has) {
        memcpy(at, &expiry_ms, RECORD_EXPIRY_SIZE);
        block->bytes[place.index] |= RECORD_TAG_EXPIRES;
        block->mixed = 1;
    } else {
        block->bytes[place.index] &= (uint8_t)~RECORD_TAG_EXPIRES;
    }
    table->expiring += (has > 0) - (size_t)(had > 0);
    recordtable__update_expiry(table, place.bucket);
    recordtable__balance(table);
    return true;
}
