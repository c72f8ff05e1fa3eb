/* hashtable: a set of items found by a byte-string key that lies inside each item. It grows and
 * shrinks by one bucket at a time: no operation rehashes it or doubles its memory.
 *
 * The item's owner keeps the item; the table only points. Items must be at least 8-byte aligned
 * and their keys must not change while they are in the table. */
#ifndef PACKLIST_DS_HASHTABLE_H
#define PACKLIST_DS_HASHTABLE_H

#include "base/checked.h"
#include "base/hash/random.h"
#include "base/slice.h"
#include "base/text/sds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct relocator; /* base/memory/relocate.h */

struct hashtable;

/* How to find the key in an item. A key must give the same hash (hashtable_hash) as long as the
 * item is in the table. */
struct hashtable_type {
    struct slice (*key)(const void *item);
};

/* One slot: opaque. A slot pointer stays valid until the next insert or delete in its table. */
typedef uint64_t hashtable_slot;

/* An empty table; owns no bucket until the first insert. `type` must outlive it. */
struct hashtable *hashtable_new(const struct hashtable_type *type);

/* Frees the table, not the items. */
void hashtable_free(struct hashtable *table);

/* Items in the table, and bytes that the table itself takes, as allocated. O(1). */
size_t hashtable_count(const struct hashtable *table);
size_t hashtable_allocated(const struct hashtable *table);

/* The hash to pass below (hash_bytes of the key). */
uint64_t hashtable_hash(struct slice key);

/* Where a key would be; valid until the table changes. */
struct hashtable_lookup {
    uint64_t hash;
    const struct hashtable_bucket *bucket; /* NULL: the table is empty */
    uint64_t tag;
};

/* Starts loading the key's bucket into the cache; for pipelines of lookups. */
struct hashtable_lookup hashtable_prefetch(const struct hashtable *table, uint64_t hash);

/* The second stage, when the bucket is in the cache: starts loading the items whose tags match
 * (nearly always only the right one, if any), and the bucket's overflow array, if it has one.
 * Returns the first of these items, or NULL. */
const void *hashtable_prefetch_item(const struct hashtable_lookup *lookup);

/* The third stage, when that returned NULL and the overflow array is in the cache: the same for the
 * items there. */
const void *hashtable_prefetch_overflow_item(const struct hashtable_lookup *lookup);

/* Equality of keys, without a call for keys of up to 16 bytes, and for those whose last 8 bytes
 * differ: keys of one length often have the same beginning. */
static inline bool hashtable_key_equal(struct slice a, struct slice b) {
    if (a.len != b.len) return false;
    /* Two loads that overlap cover any length. */
    uint64_t a_head = 0, b_head = 0, a_tail = 0, b_tail = 0;
    if (a.len >= 8) {
        memcpy(&a_tail, a.ptr + a.len - 8, 8), memcpy(&b_tail, b.ptr + b.len - 8, 8);
        if (a.len > 16) return a_tail == b_tail && memcmp(a.ptr, b.ptr, a.len - 8) == 0;
        memcpy(&a_head, a.ptr, 8), memcpy(&b_head, b.ptr, 8);
    } else if (a.len >= 4) {
        memcpy(&a_head, a.ptr, 4), memcpy(&a_tail, a.ptr + a.len - 4, 4);
        memcpy(&b_head, b.ptr, 4), memcpy(&b_tail, b.ptr + b.len - 4, 4);
    } else {
        for (size_t i = 0; i < a.len; i++) {
            if (a.ptr[i] != b.ptr[i]) return false;
        }
    }
    return ((a_head ^ b_head) | (a_tail ^ b_tail)) == 0;
}

/* The slot of the item with this key, or NULL. O(1): one cache line and the item, nearly always. */
hashtable_slot *hashtable_find(const struct hashtable *table, struct slice key, uint64_t hash);

/* The slot that points at `item` itself, or NULL. Does not read the item, which may be freed: for
 * owners whose item has moved. `hash` is its key's. */
hashtable_slot *hashtable_find_item(const struct hashtable *table, const void *item, uint64_t hash);

/* The item in a slot. */
static inline void *hashtable_item(hashtable_slot slot) {
    return (void *)(uintptr_t)(slot & 0x0000FFFFFFFFFFFFull);
}

/* Adds an item whose key is not in the table; returns its slot. O(1) even at worst, except for an
 * occasional allocation: at most one bucket is split. */
hashtable_slot *hashtable_insert(struct hashtable *table, void *item, uint64_t hash);

/* Points a slot at another item with the same key (the old one was moved or replaced). O(1). */
static inline void hashtable_replace(hashtable_slot *slot, void *item) {
    CHECKED_ASSERT(item && hashtable_item((uint64_t)(uintptr_t)item & ~7ull) == item);
    *slot = (*slot & 0xFFFF000000000000ull) | (uint64_t)(uintptr_t)item;
}

/* Removes an item from the table and does not touch the item. At most one bucket is merged.
 * O(1). */
void hashtable_delete(struct hashtable *table, hashtable_slot *slot, uint64_t hash);

/* Visits the items of one or a few buckets and returns the next cursor; start with 0, done when it
 * returns 0. Every item that is in the table from the first call to the last is visited at least
 * once, however the table grows or shrinks between calls; some may be visited twice. visit() must
 * not change the table. O(bucket) a call. */
uint64_t hashtable_scan(const struct hashtable *table, uint64_t cursor,
                        void (*visit)(void *item, void *arg), void *arg);

/* As hashtable_scan, for several buckets, and visits no item twice. Ends after the bucket in which
 * visit() has returned false, or after a fixed number of buckets: 16, or 2 with TINY_LIMITS. */
uint64_t hashtable_walk(const struct hashtable *table, uint64_t cursor,
                        bool (*visit)(void *item, void *arg), void *arg);

/* Returns whether the calls of hashtable_walk from cursor `from` up to the one that returns `to`
 * visit the items of this hash. O(1). */
bool hashtable_walk_passes(uint64_t hash, uint64_t from, uint64_t to);

/* One step of moving memory to better places (base/memory/relocate.h), with a cursor as that of
 * hashtable_scan: moves the table's own memory of one or a few buckets, and puts what move()
 * returns for each of their items, which may have moved, in its place. move() must not use the
 * table; NULL leaves the items. Slot pointers become invalid. O(bucket) a call. */
uint64_t hashtable_relocate(struct hashtable *table, uint64_t cursor, struct relocator *relocator,
                            void *(*move)(void *item, void *arg), void *arg);

/* An item chosen at random, nearly uniformly, or NULL when empty. Expected O(1). */
void *hashtable_random(const struct hashtable *table, struct random *random);

/* Iterates over all items in no order, and loads the next bucket's items into the cache in advance.
 * The table must not change; the items' owner may free each one that was returned. */
struct hashtable_iter {
    const struct hashtable *table;
    size_t next_bucket;
    const hashtable_slot *words; /* the current bucket's own items, then its overflow */
    size_t remaining;
    const hashtable_slot *overflow;
    size_t overflow_count;
};
void hashtable_iter_start(struct hashtable_iter *iter, const struct hashtable *table);
void *hashtable_iter_next(struct hashtable_iter *iter);

/* Appends a readable description: items, buckets, overflow bytes, load, bytes per item; with `full`
 * a histogram of items per bucket (O(table)). What DEBUG HTSTATS shows. */
sds hashtable_describe(const struct hashtable *table, sds out, bool full);

/* Checks the invariant. O(table). */
bool hashtable_check(const struct hashtable *table);

#endif
