/* recordtable_block: the layout of a recordtable, and its blocks of records: reading and changing
 * them. Internal to the recordtable.
 *
 *      bucket       [pointer to a block, or NULL]          in an array by ds/segmented.h
 *      block        [count, mixed 2][used 2][epoch 4] │ tags │ lengths, of values too │ records
 *
 *      tag          [1 bit: expires][bits 56 … 62 of the hash]
 *      length       1 byte; 255: out-of-line
 *      record       [field][value][expiry 8, if the tag says so]
 *      out-of-line  in place of the text the address of a struct record_text, 8 bytes
 *
 * A table without values has no lengths of values. A block is *mixed* when a record in it expires
 * or is out-of-line: then the sizes of records are not just the sums of lengths. A bucket is added
 * as soon as the blocks have more than BLOCK_TARGET bytes on average, and removed when they have
 * less than 5/8 of that.
 *
 * Pieces (ds/pieces.h) are the blocks, the texts out-of-line and the columns of expiries. Blocks
 * and texts have epochs. A capture copies the directory, whose entries have the epochs of their
 * arrays of pointers; columns of expiries are not for captures.
 *
 * Expiries: a segment in which a record expires has a column with the least expiry of each of its
 * blocks, and the least of the column. INT64_MAX stands for none. */
#ifndef PACKLIST_DS_RECORDS_RECORDTABLE_BLOCK_H
#define PACKLIST_DS_RECORDS_RECORDTABLE_BLOCK_H

#include "base/memory/alloc.h"
#include "ds/linear_hashing.h"
#include "ds/pieces.h"
#include "ds/records/record.h"
#include "ds/segmented.h"

#ifdef TINY_LIMITS
enum { RECORDTABLE_BLOCK_TARGET = 64, RECORD_INLINE_MAX = 16 };
#else
enum { RECORDTABLE_BLOCK_TARGET = 512, RECORD_INLINE_MAX = 254 };
#endif

enum {
    RECORD_OUT_OF_LINE = 255, /* as a length */
    RECORD_POINTER_SIZE = 8,
    RECORD_EXPIRY_SIZE = 8,
    RECORD_TAG_EXPIRES = 0x80,
    RECORD_TAG_SHIFT = 56
};

#define RECORD_NO_EXPIRY INT64_MAX

struct recordtable_block {
    uint16_t count : 15;
    uint16_t mixed : 1;
    uint16_t used;  /* bytes of all records */
    uint32_t epoch; /* in which it was made */
    uint8_t bytes[];
};

/* A text out-of-line. */
struct record_text {
    uint64_t hash; /* of a field */
    size_t len;
    uint32_t epoch; /* in which it was made */
    char bytes[];
};

/* An entry of the directory. */
struct recordtable_segment {
    struct recordtable_block **blocks; /* of the buckets; NULL: the bucket is empty */
    int64_t *expiries;                 /* NULL: no record expires */
    int64_t first_expiry;
    uint32_t epoch; /* in which `blocks` was allocated */
};

struct recordtable {
    struct segmented buckets; /* whose entries are as above */
    struct linear linear;
    size_t count;
    unsigned columns; /* bytes of a record that stand at the block's start: 2, with values 3 */
    bool first_expiry_is_stale; /* then `first_expiry` may be less than the least */
    struct pieces pieces;
    size_t block_bytes;   /* of all blocks, by size class: the load */
    size_t expiring;      /* records */
    int64_t first_expiry; /* of all records */

    /* No block has more than `most` records: what choosing at random relies on. A survey looks at
     * one bucket after another, so that `most` falls when the fullest blocks have gone. No bucket
     * below `surveyed` and no block that was written since the survey began has more than
     * `survey_most` records. */
    size_t most;
    size_t survey_most;
    size_t surveyed;
};

/* A record's place. */
struct record_place {
    size_t bucket;
    unsigned index;
    size_t offset; /* among the block's records */
};

/* --- Blocks: reading --- */

static inline size_t recordtable__block_size(unsigned columns, size_t count, size_t used) {
    return sizeof(struct recordtable_block) + count * columns + used;
}

/* What a block has at least. Tags and lengths are read eight at a time, and what is read may not be
 * all theirs, but is the block's: with 3 columns, 8 + 2 * count + 8 bytes are in this size up to 8
 * records, and with more, the records have 8 bytes at least, because their fields differ. */
enum { RECORDTABLE_BLOCK_LEAST = 32 };

/* The memory of a block of `size` bytes: all of its size class. */
static inline size_t recordtable__allocated(size_t size) {
    return mem_good_size(size < RECORDTABLE_BLOCK_LEAST ? RECORDTABLE_BLOCK_LEAST : size);
}

static inline uint8_t *recordtable__records(const struct recordtable_block *block,
                                            unsigned columns) {
    return (uint8_t *)(uintptr_t)block->bytes + block->count * columns;
}

/* Bytes that a text of this length takes in its record. */
static inline size_t recordtable__stored(uint8_t length) {
    return length == RECORD_OUT_OF_LINE ? RECORD_POINTER_SIZE : length;
}

static inline uint8_t recordtable__length(size_t len) {
    return len <= RECORD_INLINE_MAX ? (uint8_t)len : RECORD_OUT_OF_LINE;
}

static inline struct record_text *recordtable__text(const uint8_t *at) {
    struct record_text *text;
    memcpy(&text, at, sizeof(text));
    return text;
}

/* Bytes of record `index`. */
size_t recordtable__record_size(const struct recordtable_block *block, unsigned columns,
                                unsigned index);

/* Where record `index` begins among the records. O(index / 8) in a block that is not mixed. */
size_t recordtable__offset(const struct recordtable_block *block, unsigned columns, unsigned index);

/* The record at `offset`; returns its size. */
size_t recordtable__read(const struct recordtable_block *block, unsigned columns, unsigned index,
                         size_t offset, struct record *record);

/* The hash of the field of the record at `offset`. */
uint64_t recordtable__record_hash(const struct recordtable_block *block, unsigned columns,
                                  unsigned index, size_t offset);

/* Starts loading as much of a block, which may be NULL, as it has on average. */
void recordtable__prefetch_block(const struct recordtable_block *block);

/* Starts loading the first record whose field may have this hash. If the block has none, and the
 * caller is going to add one (`adds`), starts loading the whole block: adding moves its records. */
void recordtable__prefetch_record(const struct recordtable_block *block, unsigned columns,
                                  uint64_t hash, bool adds);

/* The record with this field in the block, which may be NULL. */
bool recordtable__find_in_block(const struct recordtable_block *block, unsigned columns,
                                struct slice field, uint64_t hash, struct record_place *place);

/* --- Blocks: writing. The bucket's segment must be the table's own --- */

/* The pointer of a bucket, in a segment that may then be written to. */
struct recordtable_block **recordtable__open_pointer(struct recordtable *table, size_t bucket);

/* The block of a bucket, to be changed, in memory for `more` bytes more. */
struct recordtable_block *recordtable__open_block(struct recordtable *table, size_t bucket,
                                                  size_t more);

/* Adds a record whose field is not in the bucket. */
void recordtable__block_add(struct recordtable *table, size_t bucket, const struct record *record,
                            uint64_t hash);

/* Takes the record out and frees its texts. */
void recordtable__block_remove(struct recordtable *table, const struct record_place *place);

/* Replaces `remove` bytes at `at` among the records of the bucket's block by `add` bytes, which the
 * caller writes where the result points. */
uint8_t *recordtable__block_splice(struct recordtable *table, size_t bucket, size_t at,
                                   size_t remove, size_t add);

/* Distributes the records of bucket `low` over it and bucket `high`, which is new: those whose hash
 * has `bit` go there. Or puts all records of both into `low`. */
void recordtable__block_split(struct recordtable *table, size_t low, size_t high, uint64_t bit);
void recordtable__block_merge(struct recordtable *table, size_t low, size_t high);

/* Leads the visitor through the block of the bucket, if it has one, and its texts. Changes the
 * pointer and the texts' addresses only where the visitor does: the segment and the block must then
 * be the table's own. */
void recordtable__bucket_pieces(const struct recordtable *table, size_t bucket,
                                const struct piece_visitor *visitor);

/* Leads the visitor through all buckets, and through the columns of expiries. */
void recordtable__pieces(const struct recordtable *table, const struct piece_visitor *visitor);

/* --- Buckets --- */

static inline struct recordtable_segment *recordtable__segments(const struct recordtable *table) {
    return table->buckets.directory;
}

static inline struct recordtable_segment *recordtable__segment(const struct recordtable *table,
                                                               size_t bucket) {
    return &recordtable__segments(table)[bucket >> SEGMENTED_BITS];
}

/* The pointer of a bucket, to be read. */
static inline struct recordtable_block **recordtable__pointer(const struct recordtable *table,
                                                              size_t bucket) {
    return &recordtable__segment(table, bucket)->blocks[bucket & (SEGMENTED_ITEMS - 1)];
}

static inline struct recordtable_block *
recordtable__block(const struct recordtable_segment *directory, size_t bucket) {
    return directory[bucket >> SEGMENTED_BITS].blocks[bucket & (SEGMENTED_ITEMS - 1)];
}

static inline struct recordtable_block *recordtable__block_at(const struct recordtable *table,
                                                              size_t bucket) {
    return recordtable__block(recordtable__segments(table), bucket);
}

/* Counts the records of a block that is written, for `most`. */
static inline void recordtable__note_count(struct recordtable *table, size_t count) {
    if (count > table->most) table->most = count;
    if (count > table->survey_most) table->survey_most = count;
}

/* --- Expiries --- */

/* The least expiry in a block, which may be NULL. O(block). */
int64_t recordtable__first_in_block(const struct recordtable_block *block, unsigned columns);

/* A record of the bucket has changed: brings the least expiries up to date. Costs nothing where no
 * record expires. O(block), and O(512) at times. */
void recordtable__update_expiry(struct recordtable *table, size_t bucket);

/* The bytes of a column of this length. */
static inline size_t recordtable__expiries_size(size_t capacity) {
    return mem_good_size(capacity * sizeof(int64_t));
}

/* Gives a segment's column the length `capacity` (0: frees it). */
void recordtable__resize_expiries(struct recordtable *table, struct recordtable_segment *segment,
                                  size_t old_capacity, size_t capacity);

#endif
