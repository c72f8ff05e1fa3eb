/* Finding and changing. A split gathers the items of a bucket, in memory on the stack, partitions
 * them by a bit of their tags, and fills two buckets anew; a merge gathers those of two buckets
 * and fills one. */
#include "ds/hashtable_internal.h"

#include "base/checked.h"
#include "base/hash/hash.h"
#include "base/memory/alloc.h"
#include "base/prefetch.h"

#include <assert.h>

#define likely(condition)   __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)

/* --- The table --- */

struct hashtable *hashtable_new(const struct hashtable_type *type) {
    struct hashtable *table = mem_alloc_zeroed(sizeof(*table));
    table->type = type;
    segmented_init(&table->buckets, sizeof(struct hashtable_bucket),
                   sizeof(struct hashtable_bucket *));
    linear_start(&table->linear, HASHTABLE_WINDOW_BITS);
    return table;
}

void hashtable_free(struct hashtable *table) {
    for (size_t b = 0; table->overflow_bytes > 0 && b < table->buckets.count; b++) {
        struct hashtable_bucket *bucket = hashtable__bucket(table, b);
        if (hashtable__has_overflow(bucket)) mem_free(hashtable__overflow(bucket));
    }
    segmented_free(&table->buckets);
    mem_free(table);
}

size_t hashtable_count(const struct hashtable *table) {
    return table->count;
}

size_t hashtable_allocated(const struct hashtable *table) {
    return mem_good_size(sizeof(*table)) + table->overflow_bytes +
           segmented_allocated(&table->buckets);
}

uint64_t hashtable_hash(struct slice key) {
    return hash_bytes(key);
}

/* --- Finding --- */

struct hashtable_lookup hashtable_prefetch(const struct hashtable *table, uint64_t hash) {
    if (table->count == 0) return (struct hashtable_lookup){.hash = hash};
    struct hashtable__place place = hashtable__locate(table, hash);
    const struct hashtable_bucket *bucket = hashtable__bucket(table, place.index);
    prefetch(bucket);
    return (struct hashtable_lookup){hash, bucket, place.tag};
}

const void *hashtable_prefetch_item(const struct hashtable_lookup *lookup) {
    const struct hashtable_bucket *bucket = lookup->bucket;
    if (!bucket) return NULL;
    const void *first = NULL;
    /* An empty slot may match too: prefetching NULL does no harm. */
    unsigned match = hashtable__match(bucket, lookup->tag);
    if (hashtable__has_overflow(bucket)) {
        prefetch(hashtable__overflow(bucket));
        match &= ~(1u << HASHTABLE_LAST_SLOT);
    }
    for (; match != 0; match &= match - 1) {
        const void *item = hashtable_item(bucket->slot[__builtin_ctz(match)]);
        prefetch(item);
        if (!first) first = item;
    }
    return first;
}

const void *hashtable_prefetch_overflow_item(const struct hashtable_lookup *lookup) {
    const struct hashtable_bucket *bucket = lookup->bucket;
    if (!bucket || !hashtable__has_overflow(bucket)) return NULL;
    const hashtable_slot *slots = hashtable__overflow(bucket);
    size_t count = hashtable__overflow_count(bucket);
    for (size_t i = 0; i < count; i++) {
        if ((slots[i] ^ lookup->tag) > HASHTABLE_POINTER_MASK) continue;
        prefetch(hashtable_item(slots[i]));
        return hashtable_item(slots[i]);
    }
    return NULL;
}

static inline bool item_has_key(const struct hashtable *table, hashtable_slot slot,
                                struct slice key) {
    return hashtable_key_equal(table->type->key(hashtable_item(slot)), key);
}

static __attribute__((noinline)) hashtable_slot *
find_in_overflow(const struct hashtable *table, const struct hashtable_bucket *bucket,
                 struct slice key, uint64_t tag) {
    hashtable_slot *slots = hashtable__overflow(bucket);
    size_t count = hashtable__overflow_count(bucket);
    for (size_t i = 0; i < count; i++) {
        if ((slots[i] ^ tag) > HASHTABLE_POINTER_MASK) continue;
        if (item_has_key(table, slots[i], key)) return &slots[i];
    }
    return NULL;
}

hashtable_slot *hashtable_find(const struct hashtable *table, struct slice key, uint64_t hash) {
    if (unlikely(table->count == 0)) return NULL;
    struct hashtable__place place = hashtable__locate(table, hash);
    struct hashtable_bucket *bucket = hashtable__bucket(table, place.index);
    for (unsigned match = hashtable__match(bucket, place.tag); match != 0; match &= match - 1) {
        hashtable_slot *slot = &bucket->slot[__builtin_ctz(match)];
        if (unlikely(*slot == 0 || (*slot & 1))) continue; /* empty, or the overflow word */
        if (likely(item_has_key(table, *slot, key))) return slot;
    }
    if (hashtable__has_overflow(bucket)) return find_in_overflow(table, bucket, key, place.tag);
    return NULL;
}

hashtable_slot *hashtable_find_item(const struct hashtable *table, const void *item,
                                    uint64_t hash) {
    if (table->count == 0) return NULL;
    struct hashtable__place place = hashtable__locate(table, hash);
    struct hashtable_bucket *bucket = hashtable__bucket(table, place.index);
    hashtable_slot wanted = place.tag | (uint64_t)(uintptr_t)item;
    for (unsigned i = 0; i < HASHTABLE_BUCKET_SLOTS; i++)
        if (bucket->slot[i] == wanted) return &bucket->slot[i];
    if (!hashtable__has_overflow(bucket)) return NULL;
    hashtable_slot *slots = hashtable__overflow(bucket);
    for (size_t i = 0; i < hashtable__overflow_count(bucket); i++)
        if (slots[i] == wanted) return &slots[i];
    return NULL;
}

/* --- One bucket --- */

static hashtable_slot *overflow_new(struct hashtable *table, size_t count) {
    table->overflow_bytes += mem_good_size(hashtable__overflow_size(count));
    return mem_alloc(hashtable__overflow_size(count));
}

static void overflow_free(struct hashtable *table, hashtable_slot *slots, size_t count) {
    table->overflow_bytes -= mem_good_size(hashtable__overflow_size(count));
    mem_free_sized(slots, hashtable__overflow_size(count));
}

/* Sets the count of the bucket's overflow array, and its length if need be. */
static hashtable_slot *overflow_resize(struct hashtable *table, struct hashtable_bucket *bucket,
                                       size_t new_count) {
    hashtable_slot *slots = hashtable__overflow(bucket);
    size_t old_size = hashtable__overflow_size(hashtable__overflow_count(bucket));
    size_t new_size = hashtable__overflow_size(new_count);
    if (new_size != old_size) {
        slots = mem_realloc(slots, new_size);
        table->overflow_bytes += mem_good_size(new_size) - mem_good_size(old_size);
    }
    hashtable__set_overflow(bucket, slots, new_count);
    return slots;
}

static hashtable_slot *bucket_push(struct hashtable *table, struct hashtable_bucket *bucket,
                                   hashtable_slot item) {
    hashtable_slot *slot;
    if (unlikely(hashtable__has_overflow(bucket))) {
        size_t count = hashtable__overflow_count(bucket);
        slot = &overflow_resize(table, bucket, count + 1)[count];
    } else if (unlikely(bucket->slot[HASHTABLE_LAST_SLOT] != 0)) {
        hashtable_slot *slots = overflow_new(table, 2);
        slots[0] = bucket->slot[HASHTABLE_LAST_SLOT];
        hashtable__set_overflow(bucket, slots, 2);
        slot = &slots[1];
    } else {
        slot = &bucket->slot[hashtable__own_count(bucket)];
    }
    *slot = item;
    return slot;
}

/* Removes an item; the last item takes its place. */
static void bucket_remove(struct hashtable *table, struct hashtable_bucket *bucket,
                          hashtable_slot *slot) {
    if (likely(!hashtable__has_overflow(bucket))) {
        size_t last = hashtable__own_count(bucket) - 1;
        *slot = bucket->slot[last];
        bucket->slot[last] = 0;
        return;
    }
    hashtable_slot *slots = hashtable__overflow(bucket);
    size_t count = hashtable__overflow_count(bucket);
    *slot = slots[count - 1];
    if (count > 2) {
        overflow_resize(table, bucket, count - 1);
    } else {
        bucket->slot[HASHTABLE_LAST_SLOT] = slots[0];
        overflow_free(table, slots, count);
    }
}

/* Overwrites a whole bucket. */
static void bucket_fill(struct hashtable *table, struct hashtable_bucket *bucket,
                        const hashtable_slot *items, size_t count) {
    size_t own = count <= HASHTABLE_BUCKET_SLOTS ? count : HASHTABLE_LAST_SLOT;
    *bucket = (struct hashtable_bucket){{0}};
    for (size_t i = 0; i < own; i++) bucket->slot[i] = items[i];
    if (own == count) return;
    hashtable_slot *slots = overflow_new(table, count - own);
    memcpy(slots, items + own, (count - own) * sizeof(*slots));
    hashtable__set_overflow(bucket, slots, count - own);
}

/* --- Splitting and merging --- */

/* Items taken out of the buckets that are split or merged. */
struct gathered {
    hashtable_slot *items; /* `few`, or memory of its own */
    size_t count;
    hashtable_slot few[64];
};

static void gather_start(struct gathered *gathered, size_t count) {
    gathered->count = 0;
    gathered->items = gathered->few;
    if (unlikely(count > sizeof(gathered->few) / sizeof(gathered->few[0]))) {
        gathered->items = mem_alloc(count * sizeof(hashtable_slot));
    }
}

/* Collects the items of a bucket, which must then be overwritten. */
static void gather_bucket(struct hashtable *table, struct gathered *gathered,
                          const struct hashtable_bucket *bucket) {
    size_t own = hashtable__own_count(bucket);
    memcpy(gathered->items + gathered->count, bucket->slot, own * sizeof(hashtable_slot));
    gathered->count += own;
    if (!hashtable__has_overflow(bucket)) return;
    hashtable_slot *slots = hashtable__overflow(bucket);
    size_t count = hashtable__overflow_count(bucket);
    memcpy(gathered->items + gathered->count, slots, count * sizeof(hashtable_slot));
    gathered->count += count;
    overflow_free(table, slots, count);
}

static void gather_end(struct gathered *gathered) {
    if (gathered->items != gathered->few) mem_free(gathered->items);
}

/* Moves items with the tag's bit clear to the front; returns their number. */
static size_t gather_partition(struct gathered *gathered, unsigned tag_bit) {
    size_t front = 0;
    for (size_t i = 0; i < gathered->count; i++) {
        hashtable_slot item = gathered->items[i];
        gathered->items[i] = gathered->items[front];
        gathered->items[front] = item;
        front += ~(item >> (HASHTABLE_TAG_SHIFT + tag_bit)) & 1;
    }
    return front;
}

/* New tags, for another window, from the keys: the only time that splitting touches the items. */
static __attribute__((noinline)) void gather_retag(const struct hashtable *table,
                                                   struct gathered *gathered, unsigned window) {
    for (size_t i = 0; i < gathered->count; i++) {
        prefetch(hashtable_item(gathered->items[i]));
    }
    for (size_t i = 0; i < gathered->count; i++) {
        void *item = hashtable_item(gathered->items[i]);
        uint64_t hash = hashtable_hash(table->type->key(item));
        gathered->items[i] = hashtable__tag(hash, window) | (uint64_t)(uintptr_t)item;
    }
}

/* Adds a bucket: the items of bucket `split` are distributed over it and the new one. */
static void table_split(struct hashtable *table) {
    struct hashtable_bucket *high = segmented_push(&table->buckets);
    struct linear *linear = &table->linear;
    struct hashtable_bucket *low = hashtable__bucket(table, linear->split);

    struct gathered all;
    gather_start(&all, hashtable__bucket_count(low));
    gather_bucket(table, &all, low);
    size_t front = gather_partition(&all, linear->level - linear->windows[0]);
    if (linear->windows[0] != linear->windows[1]) gather_retag(table, &all, linear->windows[1]);
    bucket_fill(table, low, all.items, front);
    bucket_fill(table, high, all.items + front, all.count - front);
    gather_end(&all);
    linear_grow(linear, HASHTABLE_WINDOW_BITS);
}

/* Undoes the last split: the items of the last bucket go back to where they came from. */
static void table_merge(struct hashtable *table) {
    struct linear *linear = &table->linear;
    linear_shrink(linear, HASHTABLE_WINDOW_BITS);
    struct hashtable_bucket *low = hashtable__bucket(table, linear->split);
    struct hashtable_bucket *high = hashtable__bucket(table, table->buckets.count - 1);

    struct gathered all;
    gather_start(&all, hashtable__bucket_count(low) + hashtable__bucket_count(high));
    gather_bucket(table, &all, low);
    gather_bucket(table, &all, high);
    if (linear->windows[0] != linear->windows[1]) gather_retag(table, &all, linear->windows[0]);
    bucket_fill(table, low, all.items, all.count);
    gather_end(&all);
    segmented_pop(&table->buckets);
}

/* --- Load control --- */

static bool should_split(const struct hashtable *table) {
    size_t after = (table->buckets.count + 1) * sizeof(struct hashtable_bucket);
    return 2 * (after + table->overflow_bytes) <= table->count * HASHTABLE_HALF_BYTES_GROW;
}

static bool should_merge(const struct hashtable *table) {
    size_t after = (table->buckets.count - 1) * sizeof(struct hashtable_bucket);
    return after > 0 &&
           2 * (after + table->overflow_bytes) > table->count * HASHTABLE_HALF_BYTES_SHRINK;
}

hashtable_slot *hashtable_insert(struct hashtable *table, void *item, uint64_t hash) {
    assert(((uintptr_t)item & ~(uintptr_t)(HASHTABLE_POINTER_MASK & ~7ull)) == 0);
    CHECKED_ASSERT(!hashtable_find_item(table, item, hash));
    if (unlikely(table->buckets.count == 0)) {
        struct hashtable_bucket *first = segmented_push(&table->buckets);
        *first = (struct hashtable_bucket){{0}};
    }
    table->count++;
    if (should_split(table)) table_split(table); /* before the item has a slot that would move */
    struct hashtable__place place = hashtable__locate(table, hash);
    return bucket_push(table, hashtable__bucket(table, place.index),
                       place.tag | (uint64_t)(uintptr_t)item);
}

void hashtable_delete(struct hashtable *table, hashtable_slot *slot, uint64_t hash) {
    size_t index = hashtable__locate(table, hash).index;
    CHECKED_ASSERT(hashtable_find_item(table, hashtable_item(*slot), hash) == slot);
    bucket_remove(table, hashtable__bucket(table, index), slot);
    table->count--;
    if (should_merge(table)) table_merge(table);
}
