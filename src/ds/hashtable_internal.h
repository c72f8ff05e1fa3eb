/* hashtable, inside: the layout, for hashtable.c, hashtable_iter.c and their test.
 *
 *      bucket, one cache line:      slot 0 │ slot 1 │ … │ slot 6 │ slot 7
 *
 *      an item      [tag 16][pointer 48]              the low three bits are 0
 *      empty        0
 *      overflow     [count 16][pointer 48, bit 0 set] in slot 7 only: array of `count` more items
 *
 *      tag          [bits 56…63 of the hash][8 bits of the hash from the *window* on]
 *
 * Items fill a bucket from slot 0 on without holes. A ninth item moves slot 7's into an overflow
 * array with its own: arrays are as long as they need (two slots, 16 bytes, at a time), not whole
 * cache lines, which is worth 1.5 bytes an item. Windows (ds/linear_hashing.h) are WINDOW_BITS
 * wide.
 *
 * A bucket is added as soon as all buckets and overflow arrays together fit BYTES_GROW bytes an
 * item, and one is removed when they exceed BYTES_SHRINK. A new bucket (ds/segmented.h) is
 * uninitialised: a split overwrites all of it, so nothing is ever cleared. */
#ifndef PACKLIST_DS_HASHTABLE_INTERNAL_H
#define PACKLIST_DS_HASHTABLE_INTERNAL_H

#include "base/processor.h"
#include "ds/hashtable.h"
#include "ds/linear_hashing.h"
#include "ds/segmented.h"

#ifdef PROCESSOR_X86_64
#include <emmintrin.h>
#endif

#ifdef TINY_LIMITS
enum { HASHTABLE_WINDOW_BITS = 2 };
#else
enum { HASHTABLE_WINDOW_BITS = 8 };
#endif

enum {
    HASHTABLE_BUCKET_SLOTS = 8,
    HASHTABLE_LAST_SLOT = HASHTABLE_BUCKET_SLOTS - 1,
    HASHTABLE_RANDOM_DRAWS = 16,
    HASHTABLE_OVERFLOW_MAX = 0xFFFF, /* the count has 16 bits; keyed hashes never come near */
    /* Bytes per item, in halves. Measured: see utils/bench/keyspace_bench.c. */
    HASHTABLE_HALF_BYTES_GROW = 2 * 11,
    HASHTABLE_HALF_BYTES_SHRINK = 2 * 12 + 1,
};
#define HASHTABLE_POINTER_MASK 0x0000FFFFFFFFFFFFull
#define HASHTABLE_TAG_SHIFT    48

_Static_assert(HASHTABLE_WINDOW_BITS <= 8, "the bit to split by must lie in the tag's low byte");
_Static_assert(sizeof(void *) == 8, "slots are 64-bit words with 48-bit pointers");

struct hashtable_bucket {
    hashtable_slot slot[HASHTABLE_BUCKET_SLOTS];
};
_Static_assert(sizeof(struct hashtable_bucket) == 64, "a bucket is a cache line");

struct hashtable {
    /* What a lookup reads. */
    struct segmented buckets;
    struct linear linear;
    size_t count;
    const struct hashtable_type *type;

    /* What growing and shrinking read. */
    size_t overflow_bytes; /* of all overflow arrays, by size class */
};

static inline struct hashtable_bucket *hashtable__bucket(const struct hashtable *table,
                                                         size_t index) {
    struct hashtable_bucket *const *directory = table->buckets.directory;
    CHECKED_ASSERT(index < table->buckets.count);
    return &directory[index >> SEGMENTED_BITS][index & (SEGMENTED_ITEMS - 1)];
}

/* The bucket of a hash, and its tag, already shifted to its place in a slot. */
struct hashtable__place {
    size_t index;
    uint64_t tag;
};

static inline uint64_t hashtable__tag(uint64_t hash, unsigned window) {
    return (hash >> 56 << 8 | (hash >> window & 0xFF)) << HASHTABLE_TAG_SHIFT;
}

static inline struct hashtable__place hashtable__locate(const struct hashtable *table,
                                                        uint64_t hash) {
    return (struct hashtable__place){linear_bucket(&table->linear, hash),
                                     hashtable__tag(hash, linear_window(&table->linear, hash))};
}

static inline bool hashtable__has_overflow(const struct hashtable_bucket *bucket) {
    return bucket->slot[HASHTABLE_LAST_SLOT] & 1;
}

static inline hashtable_slot *hashtable__overflow(const struct hashtable_bucket *bucket) {
    uint64_t word = bucket->slot[HASHTABLE_LAST_SLOT];
    return (hashtable_slot *)(uintptr_t)(word & HASHTABLE_POINTER_MASK & ~1ull);
}

static inline size_t hashtable__overflow_count(const struct hashtable_bucket *bucket) {
    return bucket->slot[HASHTABLE_LAST_SLOT] >> HASHTABLE_TAG_SHIFT;
}

/* Bytes of an overflow array of so many items. */
static inline size_t hashtable__overflow_size(size_t count) {
    return (count + 1) / 2 * 2 * sizeof(hashtable_slot);
}

static inline void hashtable__set_overflow(struct hashtable_bucket *bucket, hashtable_slot *slots,
                                           size_t count) {
    assert(count <= HASHTABLE_OVERFLOW_MAX);
    bucket->slot[HASHTABLE_LAST_SLOT] =
        (uint64_t)count << HASHTABLE_TAG_SHIFT | (uint64_t)(uintptr_t)slots | 1;
}

/* Items in the bucket's own slots. */
static inline size_t hashtable__own_count(const struct hashtable_bucket *bucket) {
    if (hashtable__has_overflow(bucket)) return HASHTABLE_LAST_SLOT;
    size_t count = 0;
    while (count < HASHTABLE_BUCKET_SLOTS && bucket->slot[count] != 0) count++;
    return count;
}

/* Items of the bucket, overflow included. */
static inline size_t hashtable__bucket_count(const struct hashtable_bucket *bucket) {
    size_t count = hashtable__own_count(bucket);
    return hashtable__has_overflow(bucket) ? count + hashtable__overflow_count(bucket) : count;
}

/* The slot of the bucket's item number `i`. */
static inline hashtable_slot *hashtable__bucket_slot(struct hashtable_bucket *bucket, size_t i) {
    if (i < HASHTABLE_LAST_SLOT || !hashtable__has_overflow(bucket)) return &bucket->slot[i];
    return &hashtable__overflow(bucket)[i - HASHTABLE_LAST_SLOT];
}

/* A bit for each of the bucket's own slots whose top 16 bits equal the tag's: an empty slot matches
 * the tag 0, and the overflow word may match any. */
static inline unsigned hashtable__match(const struct hashtable_bucket *bucket, uint64_t tag) {
#ifdef PROCESSOR_X86_64
    const __m128 *words = (const __m128 *)(const void *)bucket->slot;
    /* The odd 32-bit lanes are the upper halves of the slots. */
    __m128i high_a = _mm_castps_si128(_mm_shuffle_ps(words[0], words[1], _MM_SHUFFLE(3, 1, 3, 1)));
    __m128i high_b = _mm_castps_si128(_mm_shuffle_ps(words[2], words[3], _MM_SHUFFLE(3, 1, 3, 1)));
    __m128i tags = _mm_packs_epi32(_mm_srai_epi32(high_a, 16), _mm_srai_epi32(high_b, 16));
    __m128i same = _mm_cmpeq_epi16(tags, _mm_set1_epi16((short)(tag >> HASHTABLE_TAG_SHIFT)));
    return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(same, _mm_setzero_si128()));
#else
    unsigned match = 0;
    for (unsigned i = 0; i < HASHTABLE_BUCKET_SLOTS; i++) {
        match |= (unsigned)((bucket->slot[i] ^ tag) <= HASHTABLE_POINTER_MASK) << i;
    }
    return match;
#endif
}

#endif
