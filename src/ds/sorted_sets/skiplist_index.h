/* skiplist_index: finds the node of a skiplist that holds a member, by the member's hash. It stores
 * 4 bytes a member, not the members themselves: the caller compares those in the nodes it names.
 *
 *      bucket, one word:  [slots 16][pointer 48] ──► slot │ slot │ …        in no order
 *      slot:              [tag 10][number of the node 22]
 *
 * A tag has ten bits of the hash; its windows (ds/linear_hashing.h) are WINDOW_BITS wide.
 *
 * Two members with the same node and tag in a bucket have equal slots. The index is a multiset:
 * removing or moving either slot is right for both. */
#ifndef PACKLIST_DS_SORTED_SETS_SKIPLIST_INDEX_H
#define PACKLIST_DS_SORTED_SETS_SKIPLIST_INDEX_H

#include "base/processor.h"
#include "ds/linear_hashing.h"
#include "ds/segmented.h"

#include <stdbool.h>

#ifdef PROCESSOR_X86_64
#include <emmintrin.h>
#endif

struct relocator; /* base/memory/relocate.h */

#ifdef TINY_LIMITS
enum { SKIPLIST_NUMBER_BITS = 22, SKIPLIST_WINDOW_BITS = 1, SKIPLIST_LOAD = 3 };
#else
enum {
    SKIPLIST_NUMBER_BITS = 22,
    SKIPLIST_WINDOW_BITS = 4,
    SKIPLIST_LOAD = 14 /* members per bucket, on average, above which a bucket is split */
};
#endif
enum { SKIPLIST_TAG_BITS = 32 - SKIPLIST_NUMBER_BITS };

/* Members whose hashes have `bits` where `mask` has ones. */
struct skiplist_hash_pattern {
    uint64_t bits;
    uint64_t mask;
};

/* Computes hashes again: the hash of member number `skip` among those of a node that match. */
struct skiplist_rehash {
    uint64_t (*hash)(const void *owner, uint32_t number, struct skiplist_hash_pattern pattern,
                     unsigned skip);
    void (*prefetch)(const void *owner, uint32_t number);
    const void *owner;
};

/* A field of its skiplist. Must not be copied. */
struct skiplist_index {
    struct segmented buckets;
    size_t count;       /* members */
    size_t slots_bytes; /* of all arrays of slots, as allocated */
    struct linear linear;
};

void skiplist_index_init(struct skiplist_index *index);
void skiplist_index_free(struct skiplist_index *index);

/* Makes `copy`, which is uninitialised, equal to `index`. O(members). */
void skiplist_index_copy(struct skiplist_index *copy, const struct skiplist_index *index);

/* Makes room for so many members in an index that has never had any: they can be inserted without
 * skiplist_index_grow. O(members). */
void skiplist_index_reserve(struct skiplist_index *index, uint64_t members);

/* Splits a bucket when one more member would fill the index. To be called before each insert, when
 * the index has exactly the members of the nodes. At most one bucket is split: expected O(1). */
void skiplist_index_grow(struct skiplist_index *index, const struct skiplist_rehash *rehash);

/* Merges two buckets when there are few members. To be called once for each member deleted, when
 * the index has exactly the members of the nodes again. Expected O(1). */
void skiplist_index_shrink(struct skiplist_index *index, const struct skiplist_rehash *rehash);

/* Adds or removes a member that is in the node `number`. Expected O(1). */
void skiplist_index_insert(struct skiplist_index *index, uint64_t hash, uint32_t number);
void skiplist_index_delete(struct skiplist_index *index, uint64_t hash, uint32_t number);

/* A member has moved from node `from` to node `to`. Expected O(1). */
void skiplist_index_move(struct skiplist_index *index, uint64_t hash, uint32_t from, uint32_t to);

/* Starts loading what a lookup of this hash reads: the bucket, and, once it has arrived, its
 * slots. */
void skiplist_index_prefetch(const struct skiplist_index *index, uint64_t hash);
void skiplist_index_prefetch_slots(const struct skiplist_index *index, uint64_t hash);

/* One step of a scan in the order of hashes, see hashtable_scan: visits the nodes that may hold
 * members of one bucket, each once, with the pattern that the hashes of the bucket's members have.
 * Returns the next cursor, 0 at the end. */
uint64_t skiplist_index_scan(const struct skiplist_index *index, uint64_t cursor,
                             void (*visit)(uint32_t number, struct skiplist_hash_pattern pattern,
                                           void *arg),
                             void *arg);

/* Moves the slots of the buckets from `bucket` on to better places (base/memory/relocate.h), until
 * the step is due. Returns the next bucket, 0 when there is none. */
size_t skiplist_index_relocate(struct skiplist_index *index, size_t bucket,
                               struct relocator *relocator);

/* Bytes that the index owns, as allocated. O(1). */
size_t skiplist_index_allocated(const struct skiplist_index *index);

/* The executable invariant of the index alone. O(members). */
bool skiplist_index_check(const struct skiplist_index *index);

/* --- Lookup: the nodes that may hold a member, one after another --- */

struct skiplist_probe {
    const uint32_t *slots;
    unsigned left; /* slots not looked at */
    uint32_t tag;
};

static inline uint32_t skiplist_index__tag(uint64_t hash, unsigned window) {
    return (uint32_t)(hash >> window << SKIPLIST_NUMBER_BITS);
}

static inline const uint32_t *skiplist_index__slots(uint64_t word) {
    return (const uint32_t *)(uintptr_t)(word & 0x0000FFFFFFFFFFFFull);
}

static inline unsigned skiplist_index__slot_count(uint64_t word) {
    return (unsigned)(word >> 48);
}

static inline struct skiplist_probe skiplist_index_probe(const struct skiplist_index *index,
                                                         uint64_t hash) {
    if (index->count == 0) return (struct skiplist_probe){0};
    uint64_t word = *segmented_word(&index->buckets, linear_bucket(&index->linear, hash));
    return (struct skiplist_probe){skiplist_index__slots(word), skiplist_index__slot_count(word),
                                   skiplist_index__tag(hash, linear_window(&index->linear, hash))};
}

/* The number of the next node that may hold the member; false when there is none left. */
static inline bool skiplist_probe_next(struct skiplist_probe *probe, uint32_t *number) {
    const uint32_t number_mask = ((uint32_t)1 << SKIPLIST_NUMBER_BITS) - 1;
#ifdef PROCESSOR_X86_64
    /* Arrays have a multiple of four slots; what is after the last one is not a match because
     * `left` ends first. */
    __m128i wanted = _mm_set1_epi32((int)(probe->tag >> SKIPLIST_NUMBER_BITS));
    while (probe->left >= 4) {
        __m128i four = _mm_loadu_si128((const __m128i *)(const void *)probe->slots);
        __m128i same = _mm_cmpeq_epi32(_mm_srli_epi32(four, SKIPLIST_NUMBER_BITS), wanted);
        unsigned match = (unsigned)_mm_movemask_ps(_mm_castsi128_ps(same));
        unsigned skip = match ? (unsigned)__builtin_ctz(match) : 4;
        probe->slots += skip;
        probe->left -= skip;
        if (match) break;
    }
#endif
    while (probe->left > 0) {
        uint32_t slot = *probe->slots++;
        probe->left--;
        if ((slot ^ probe->tag) <= number_mask) {
            *number = slot & number_mask;
            return true;
        }
    }
    return false;
}

#endif
