/* Reading a table: iterating, scanning, choosing at random, describing; and captures. */
#include "base/checked.h"
#include "base/memory/alloc.h"
#include "ds/records/recordtable.h"
#include "ds/records/recordtable_block.h"

#include <assert.h>

/* --- Iterating --- */

void recordtable_iter_start(struct recordtable_iter *iter, const struct recordtable *table) {
    *iter = (struct recordtable_iter){.directory = table->buckets.directory,
                                      .buckets = table->buckets.count,
                                      .columns = table->columns};
}

bool recordtable_iter_next(struct recordtable_iter *iter, struct record *record) {
    while (!iter->block || iter->index == iter->block->count) {
        if (iter->next_bucket == iter->buckets) return false;
        iter->block = recordtable__block(iter->directory, iter->next_bucket++);
        iter->index = 0;
        iter->offset = 0;
        if (iter->next_bucket < iter->buckets)
            recordtable__prefetch_block(recordtable__block(iter->directory, iter->next_bucket));
    }
    iter->offset +=
        recordtable__read(iter->block, iter->columns, iter->index++, iter->offset, record);
    return true;
}

/* A position is [bucket 48 bits, index 16]. */
enum { INDEX_BITS = 16 };

uint64_t recordtable_iter_position(const struct recordtable_iter *iter) {
    CHECKED_ASSERT(iter->block && iter->index > 0);
    return (uint64_t)(iter->next_bucket - 1) << INDEX_BITS | (iter->index - 1);
}

static void read_index(const struct recordtable *table, const struct recordtable_block *block,
                       unsigned index, struct record *record) {
    recordtable__read(block, table->columns, index,
                      recordtable__offset(block, table->columns, index), record);
}

void recordtable_read_at(const struct recordtable *table, uint64_t position,
                         struct record *record) {
    CHECKED_ASSERT(position >> INDEX_BITS < table->buckets.count);
    read_index(table, recordtable__block_at(table, (size_t)(position >> INDEX_BITS)),
               position & ((1u << INDEX_BITS) - 1), record);
}

/* --- Scanning --- */

uint64_t recordtable_scan(const struct recordtable *table, uint64_t cursor,
                          void (*visit)(const struct record *record, void *arg), void *arg) {
    if (table->count == 0) return 0;
    size_t bucket = linear_bucket(&table->linear, cursor);
    const struct recordtable_block *block = recordtable__block_at(table, bucket);
    size_t offset = 0;
    for (unsigned i = 0; block && i < block->count; i++) {
        struct record record;
        offset += recordtable__read(block, table->columns, i, offset, &record);
        visit(&record, arg);
    }
    CHECKED_ASSERT(recordtable__block_at(table, bucket) == block); /* no change by visit() */
    return linear_scan_next(&table->linear, bucket);
}

/* --- At random --- */

/* The survey's next bucket. At the end, what it has counted is the most that there is. */
static void survey_bucket(struct recordtable *table) {
    if (table->surveyed < table->buckets.count) {
        const struct recordtable_block *block = recordtable__block_at(table, table->surveyed++);
        if (block && block->count > table->survey_most) table->survey_most = block->count;
        return;
    }
    table->most = table->survey_most;
    table->survey_most = 0;
    table->surveyed = 0;
}

/* A place is drawn among as many in each bucket as the fullest one has records, until there is a
 * record in it: so each record is as likely as any other. When many places are empty, each further
 * one moves the survey on. */
void recordtable_random(struct recordtable *table, struct random *random, struct record *record) {
    enum { PLACES = 8 }; /* few draws need more while blocks are about equally full */
    assert(table->count > 0);
    for (unsigned empty = 0;; empty++) {
        size_t bucket = random_below(random, table->buckets.count);
        unsigned index = (unsigned)random_below(random, table->most);
        const struct recordtable_block *block = recordtable__block_at(table, bucket);
        if (!block || index >= block->count) {
            if (empty >= PLACES) survey_bucket(table);
            continue;
        }
        read_index(table, block, index, record);
        return;
    }
}

/* --- Describing --- */

sds recordtable_describe(const struct recordtable *table, sds out) {
    size_t buckets = table->buckets.count;
    out = sds_append_format(out,
                            " records: %zu\n blocks: %zu\n bits in use: %u, split %zu\n"
                            " block bytes: %zu\n allocations: %zu\n",
                            table->count, buckets, (unsigned)table->linear.level,
                            (size_t)table->linear.split, table->block_bytes,
                            recordtable_allocations(table));
    out = sds_append_format(out, " expiring: %zu\n allocated bytes: %zu\n", table->expiring,
                            recordtable_allocated(table));
    if (table->count == 0) return out;
    return sds_append_format(out, " records per block, mean: %.2f, at most %zu\n",
                             (double)table->count / (double)buckets, table->most);
}

/* --- Captures --- */

struct recordtable_capture {
    struct capture capture;
    struct recordtable table;               /* which has the directory below */
    struct recordtable_segment directory[]; /* a copy */
};

static void free_structure(void *table) {
    recordtable_free(table);
}

static const struct capture_functions capture_functions = {.free_structure = free_structure};

static void renew(struct recordtable *table) {
    recordtable__pieces(table, pieces_renew(&table->pieces));
    for (size_t i = 0; i < segmented_segments(&table->buckets); i++)
        recordtable__segments(table)[i].epoch = 0;
}

struct capture *recordtable_capture_begin(struct recordtable *table, size_t *left) {
    size_t segments = segmented_segments(&table->buckets);
    if (pieces_are_used_up(&table->pieces)) {
        if (recordtable_is_captured(table)) return NULL;
        renew(table);
    }
    recordtable_first_expiry(table); /* so that the captured one knows it */
    struct recordtable_capture *capture =
        capture_begin(&capture_functions, sizeof(*capture) + segments * sizeof(*capture->directory),
                      &table->pieces.captures, left);
    capture->table = *table;
    capture->table.pieces = pieces_begin_copy(&table->pieces);
    capture->table.buckets.directory = capture->directory;
    for (size_t i = 0; i < segments; i++) {
        capture->directory[i] = recordtable__segments(table)[i];
        capture->directory[i].expiries = NULL;
    }
    return &capture->capture;
}

bool recordtable_is_captured(const struct recordtable *table) {
    return pieces_are_captured(&table->pieces);
}

struct recordtable *recordtable_captured(const struct capture *capture) {
    CHECKED_ASSERT(capture->functions == &capture_functions);
    return &((struct recordtable_capture *)(uintptr_t)capture)->table;
}

/* --- Checking --- */

struct totals {
    size_t count, expiring, block_bytes, most;
    struct pieces pieces;
};

static bool check_record(const struct recordtable *table, size_t bucket,
                         const struct recordtable_block *block, unsigned i, size_t offset,
                         struct totals *totals) {
    const uint8_t *at = recordtable__records(block, table->columns) + offset;
    bool out_of_line = false, expires = block->bytes[i] & RECORD_TAG_EXPIRES;
    for (unsigned column = 1; column < table->columns; column++) {
        uint8_t length = block->bytes[column * block->count + i];
        if (length == RECORD_OUT_OF_LINE) {
            out_of_line = true;
            if (recordtable__text(at)->len <= RECORD_INLINE_MAX) return false;
        }
        at += recordtable__stored(length);
    }
    if ((out_of_line || expires) && !block->mixed) return false;
    struct record record;
    struct record_place place;
    recordtable__read(block, table->columns, i, offset, &record);
    uint64_t hash = recordtable_hash(record.field);
    if (hash != recordtable__record_hash(block, table->columns, i, offset)) return false;
    totals->expiring += expires;
    return linear_bucket(&table->linear, hash) == bucket &&
           recordtable__find_in_block(block, table->columns, record.field, hash, &place) &&
           place.index == i && place.offset == offset;
}

static bool check_block(const struct recordtable *table, size_t bucket, struct totals *totals) {
    const struct recordtable_segment *segment = recordtable__segment(table, bucket);
    const struct recordtable_block *block = recordtable__block_at(table, bucket);
    size_t offset = 0;
    for (unsigned i = 0; block && i < block->count; i++) {
        if (!check_record(table, bucket, block, i, offset, totals)) return false;
        offset += recordtable__record_size(block, table->columns, i);
    }
    if (block) {
        size_t size = recordtable__block_size(table->columns, block->count, block->used);
        totals->block_bytes += recordtable__allocated(size);
        totals->count += block->count;
        if (block->count > totals->most) totals->most = block->count;
        if (block->count == 0 || offset != block->used) return false;
        if (bucket < table->surveyed && block->count > table->survey_most) return false;
    }
    int64_t noted =
        segment->expiries ? segment->expiries[bucket & (SEGMENTED_ITEMS - 1)] : RECORD_NO_EXPIRY;
    return noted == recordtable__first_in_block(block, table->columns);
}

static bool check_expiries(const struct recordtable *table) {
    int64_t first = RECORD_NO_EXPIRY;
    for (size_t s = 0; s < segmented_segments(&table->buckets); s++) {
        const struct recordtable_segment *segment = &recordtable__segments(table)[s];
        size_t capacity = segmented_room(&table->buckets, s);
        int64_t least = RECORD_NO_EXPIRY;
        for (size_t i = 0; segment->expiries && i < capacity; i++)
            if (segment->expiries[i] < least) least = segment->expiries[i];
        if (least != segment->first_expiry) return false;
        if (least < first) first = least;
    }
    return table->first_expiry_is_stale ? table->first_expiry <= first
                                        : table->first_expiry == first;
}

bool recordtable_check(const struct recordtable *table) {
    size_t buckets = table->buckets.count;
    struct totals totals = {0};
    struct piece_counter counter = pieces_counter(&totals.pieces);
    for (size_t s = 0; s < segmented_segments(&table->buckets); s++)
        if (recordtable__segments(table)[s].epoch > pieces_epoch(&table->pieces)) return false;
    for (size_t b = 0; b < buckets; b++)
        if (!check_block(table, b, &totals)) return false;
    recordtable__pieces(table, &counter.visitor);
    return check_expiries(table) && totals.count == table->count &&
           totals.expiring == table->expiring && totals.block_bytes == table->block_bytes &&
           pieces_are_counted(&table->pieces, &totals.pieces) && totals.most <= table->most &&
           segmented_check(&table->buckets) &&
           linear_check(&table->linear, buckets, LINEAR_NO_TAGS);
}
