/* Operations on a whole table: scanning, iterating, random choice, describing, checking. */
#include "ds/hashtable_internal.h"

#include "base/checked.h"
#include "base/memory/alloc.h"
#include "base/memory/relocate.h"
#include "base/prefetch.h"

/* --- Scanning --- */

/* Small items have about 48 bytes, and half of such items lie on two cache lines. */
static void prefetch_item(hashtable_slot slot) {
    const char *item = hashtable_item(slot);
    prefetch(item);
    prefetch(item + 40);
}

static void bucket_prefetch_items(struct hashtable_bucket *bucket) {
    size_t own = hashtable__own_count(bucket);
    for (size_t i = 0; i < own; i++) prefetch_item(bucket->slot[i]);
}

/* Prefetches the items of the next bucket, and the bucket after it. */
static void scan_prefetch(const struct hashtable *table, uint64_t cursor) {
    size_t index = hashtable__locate(table, cursor).index;
    bucket_prefetch_items(hashtable__bucket(table, index));
    hashtable_prefetch(table, linear_scan_next(&table->linear, index));
}

uint64_t hashtable_scan(const struct hashtable *table, uint64_t cursor,
                        void (*visit)(void *item, void *arg), void *arg) {
    if (table->count == 0) return 0;
    size_t index = hashtable__locate(table, cursor).index;
    struct hashtable_bucket *bucket = hashtable__bucket(table, index);
    bucket_prefetch_items(bucket);
    uint64_t next = linear_scan_next(&table->linear, index);
    if (next) scan_prefetch(table, next);
    size_t count = hashtable__bucket_count(bucket);
    for (size_t i = 0; i < count; i++) {
        visit(hashtable_item(*hashtable__bucket_slot(bucket, i)), arg);
    }
    CHECKED_ASSERT(hashtable__bucket(table, index) == bucket &&
                   hashtable__bucket_count(bucket) == count); /* no change by visit() */
    return next;
}

/* --- Walking --- */

#ifdef TINY_LIMITS
enum { BUCKETS_AHEAD = 2 };
#else
enum { BUCKETS_AHEAD = 16 };
#endif

/* The next buckets of a walk, and the cursors with which they are visited. */
struct buckets_ahead {
    size_t count;
    struct hashtable_bucket *buckets[BUCKETS_AHEAD];
    uint64_t cursors[BUCKETS_AHEAD + 1];
    bool is_begun; /* a walk has visited some items of the first one */
};

/* Finds and prefetches them all at once: they lie anywhere in memory. A bucket whose number is not
 * the cursor begins before that: the table has shrunk since, and has merged the bucket with one
 * that was visited. */
static void find_ahead(const struct hashtable *table, uint64_t cursor,
                       struct buckets_ahead *ahead) {
    ahead->count = 0;
    ahead->is_begun = hashtable__locate(table, cursor).index != cursor;
    do {
        size_t index = hashtable__locate(table, cursor).index;
        ahead->buckets[ahead->count] = hashtable__bucket(table, index);
        prefetch(ahead->buckets[ahead->count]);
        ahead->cursors[ahead->count++] = cursor;
        cursor = linear_scan_next(&table->linear, index);
    } while (cursor != 0 && ahead->count < BUCKETS_AHEAD);
    ahead->cursors[ahead->count] = cursor;
}

static void prefetch_ahead(const struct buckets_ahead *ahead, size_t i) {
    enum { ITEMS = 1, OVERFLOW = 2 };
    if (i + OVERFLOW < ahead->count) {
        struct hashtable_bucket *later = ahead->buckets[i + OVERFLOW];
        if (hashtable__has_overflow(later)) prefetch(hashtable__overflow(later));
    }
    if (i + ITEMS >= ahead->count) return;
    struct hashtable_bucket *soon = ahead->buckets[i + ITEMS];
    size_t count = hashtable__bucket_count(soon);
    for (size_t item = 0; item < count; item++) prefetch_item(*hashtable__bucket_slot(soon, item));
}

bool hashtable_walk_passes(uint64_t hash, uint64_t from, uint64_t to) {
    uint64_t place = linear_bits_reversed(hash);
    return place >= linear_bits_reversed(from) && (to == 0 || place < linear_bits_reversed(to));
}

/* Visits the items of the bucket that were not visited. Returns whether the walk is to go on. */
static inline bool visit_ahead(const struct hashtable *table, const struct buckets_ahead *ahead,
                               size_t i, bool (*visit)(void *item, void *arg), void *arg) {
    struct hashtable_bucket *bucket = ahead->buckets[i];
    size_t count = hashtable__bucket_count(bucket);
    bool is_begun = i == 0 && ahead->is_begun, goes_on = true;
    for (size_t item_at = 0; item_at < count; item_at++) {
        void *item = hashtable_item(*hashtable__bucket_slot(bucket, item_at));
        if (is_begun && !hashtable_walk_passes(hashtable_hash(table->type->key(item)),
                                               ahead->cursors[0], ahead->cursors[1]))
            continue;
        goes_on &= visit(item, arg);
    }
    return goes_on;
}

uint64_t hashtable_walk(const struct hashtable *table, uint64_t cursor,
                        bool (*visit)(void *item, void *arg), void *arg) {
    struct buckets_ahead ahead;
    size_t i = 0;
    if (table->count == 0) return 0;
    find_ahead(table, cursor, &ahead);
    bucket_prefetch_items(ahead.buckets[0]);
    do prefetch_ahead(&ahead, i);
    while (visit_ahead(table, &ahead, i++, visit, arg) && i < ahead.count);
    return ahead.cursors[i];
}

/* --- Relocating --- */

/* Segments are full but for the last, and as large as 32 KB: only overflow arrays can gain. */
static void relocate_overflow(struct hashtable_bucket *bucket, struct relocator *relocator) {
    if (!hashtable__has_overflow(bucket)) return;
    size_t count = hashtable__overflow_count(bucket);
    hashtable_slot *slots =
        relocate(relocator, hashtable__overflow(bucket), hashtable__overflow_size(count));
    hashtable__set_overflow(bucket, slots, count);
}

static void look_ahead(struct hashtable_bucket *bucket, size_t count, struct relocator *relocator) {
    void *items[RELOCATE_AT_ONCE];
    if (count > RELOCATE_AT_ONCE) count = RELOCATE_AT_ONCE;
    for (size_t i = 0; i < count; i++)
        items[i] = hashtable_item(*hashtable__bucket_slot(bucket, i));
    relocator_look_ahead(relocator, items, count);
}

uint64_t hashtable_relocate(struct hashtable *table, uint64_t cursor, struct relocator *relocator,
                            void *(*move)(void *item, void *arg), void *arg) {
    if (table->count == 0) return 0;
    size_t index = hashtable__locate(table, cursor).index;
    struct hashtable_bucket *bucket = hashtable__bucket(table, index);
    uint64_t next = linear_scan_next(&table->linear, index);
    relocate_overflow(bucket, relocator);
    if (!move) return next;
    bucket_prefetch_items(bucket);
    if (next) scan_prefetch(table, next);
    size_t count = hashtable__bucket_count(bucket);
    look_ahead(bucket, count, relocator);
    for (size_t i = 0; i < count; i++) {
        hashtable_slot *slot = hashtable__bucket_slot(bucket, i);
        hashtable_replace(slot, move(hashtable_item(*slot), arg));
    }
    return next;
}

/* --- Iterating --- */

void hashtable_iter_start(struct hashtable_iter *iter, const struct hashtable *table) {
    *iter = (struct hashtable_iter){.table = table};
}

/* Items lie anywhere in memory, and each needs little work. So the items of the buckets from
 * `index` on are prefetched before they are reached, and their overflow arrays before that. */
static void iter_prefetch(const struct hashtable *table, size_t index, size_t buckets) {
    enum { ITEMS_AHEAD = 1, OVERFLOW_AHEAD = 4 };
    if (index + OVERFLOW_AHEAD < buckets) {
        struct hashtable_bucket *later = hashtable__bucket(table, index + OVERFLOW_AHEAD);
        if (hashtable__has_overflow(later)) prefetch(hashtable__overflow(later));
    }
    if (index + ITEMS_AHEAD >= buckets) return;
    struct hashtable_bucket *soon = hashtable__bucket(table, index + ITEMS_AHEAD);
    size_t count = hashtable__bucket_count(soon);
    for (size_t i = 0; i < count; i++) prefetch_item(*hashtable__bucket_slot(soon, i));
}

/* Moves to the next array of slots; false at the end. */
static bool iter_advance(struct hashtable_iter *iter) {
    if (iter->overflow_count > 0) {
        iter->words = iter->overflow;
        iter->remaining = iter->overflow_count;
        iter->overflow_count = 0;
        return true;
    }
    size_t buckets = iter->table->buckets.count;
    if (iter->next_bucket == buckets) return false;
    const struct hashtable_bucket *bucket = hashtable__bucket(iter->table, iter->next_bucket++);
    iter->words = bucket->slot;
    iter->remaining = hashtable__own_count(bucket);
    if (hashtable__has_overflow(bucket)) {
        iter->overflow = hashtable__overflow(bucket);
        iter->overflow_count = hashtable__overflow_count(bucket);
    }
    iter_prefetch(iter->table, iter->next_bucket, buckets);
    return true;
}

void *hashtable_iter_next(struct hashtable_iter *iter) {
    while (iter->remaining == 0) {
        if (!iter_advance(iter)) return NULL;
    }
    iter->remaining--;
    return hashtable_item(*iter->words++);
}

/* --- At random --- */

/* Buckets hold different numbers of items: a bucket is kept with a probability of its count /
 * DRAWS, so that each item is equally likely. Only items of buckets with more than DRAWS are chosen
 * a little too rarely. The load control keeps the average count at five or more, so it takes three
 * buckets on average. */
void *hashtable_random(const struct hashtable *table, struct random *random) {
    if (table->count == 0) return NULL;
    for (;;) {
        size_t index = random_below(random, table->buckets.count);
        struct hashtable_bucket *bucket = hashtable__bucket(table, index);
        size_t count = hashtable__bucket_count(bucket);
        bool large = count > HASHTABLE_RANDOM_DRAWS;
        size_t draw = random_below(random, large ? count : HASHTABLE_RANDOM_DRAWS);
        if (draw < count) return hashtable_item(*hashtable__bucket_slot(bucket, draw));
    }
}

/* --- Describing --- */

enum { HISTOGRAM_MAX = 32 };

static sds describe_histogram(const struct hashtable *table, sds out) {
    size_t buckets_with[HISTOGRAM_MAX + 1] = {0};
    size_t buckets = table->buckets.count;
    for (size_t b = 0; b < buckets; b++) {
        size_t count = hashtable__bucket_count(hashtable__bucket(table, b));
        buckets_with[count < HISTOGRAM_MAX ? count : HISTOGRAM_MAX]++;
    }
    out = sds_append_cstr(out, " items per bucket:\n");
    for (size_t i = 0; i <= HISTOGRAM_MAX; i++) {
        if (buckets_with[i] == 0) continue;
        out = sds_append_format(out, "   %s%zu: %zu (%.2f%%)\n", i == HISTOGRAM_MAX ? ">= " : "", i,
                                buckets_with[i], 100.0 * (double)buckets_with[i] / (double)buckets);
    }
    return out;
}

sds hashtable_describe(const struct hashtable *table, sds out, bool full) {
    size_t buckets = table->buckets.count;
    out = sds_append_format(
        out, " items: %zu\n buckets: %zu\n bits in use: %u, split %zu\n overflow bytes: %zu\n",
        table->count, buckets, (unsigned)table->linear.level, (size_t)table->linear.split,
        table->overflow_bytes);
    out = sds_append_format(out, " allocated bytes: %zu\n", hashtable_allocated(table));
    if (table->count == 0) return out;
    out = sds_append_format(out, " items per bucket, mean: %.2f\n bytes per item: %.2f\n",
                            (double)table->count / (double)buckets,
                            (double)hashtable_allocated(table) / (double)table->count);
    return full ? describe_histogram(table, out) : out;
}

/* --- Checking --- */

/* Every item belongs to this bucket, has the right tag, and is in it once. */
static bool check_items(const struct hashtable *table, size_t index,
                        struct hashtable_bucket *bucket) {
    size_t count = hashtable__bucket_count(bucket);
    for (size_t i = 0; i < count; i++) {
        hashtable_slot slot = *hashtable__bucket_slot(bucket, i);
        if (hashtable_item(slot) == NULL || (slot & 7) != 0) return false;
        struct slice key = table->type->key(hashtable_item(slot));
        struct hashtable__place place = hashtable__locate(table, hashtable_hash(key));
        if (place.index != index) return false;
        if ((slot & ~HASHTABLE_POINTER_MASK) != place.tag) return false;
        for (size_t j = 0; j < i; j++) {
            hashtable_slot other = *hashtable__bucket_slot(bucket, j);
            if ((other ^ slot) >> HASHTABLE_TAG_SHIFT != 0) continue;
            if (slice_equal(table->type->key(hashtable_item(other)), key)) return false;
        }
    }
    return true;
}

static bool check_bucket(const struct hashtable *table, size_t index, size_t *overflow_bytes) {
    struct hashtable_bucket *bucket = hashtable__bucket(table, index);
    if (hashtable__has_overflow(bucket)) {
        size_t count = hashtable__overflow_count(bucket);
        if (count < 2) return false;
        *overflow_bytes += mem_good_size(hashtable__overflow_size(count));
    }
    for (size_t i = hashtable__own_count(bucket); i < HASHTABLE_BUCKET_SLOTS; i++) {
        if (i == HASHTABLE_LAST_SLOT && hashtable__has_overflow(bucket)) break;
        if (bucket->slot[i] != 0) return false; /* a hole */
    }
    return check_items(table, index, bucket);
}

bool hashtable_check(const struct hashtable *table) {
    size_t buckets = table->buckets.count;
    if (!segmented_check(&table->buckets) ||
        !linear_check(&table->linear, buckets, HASHTABLE_WINDOW_BITS))
        return false;
    size_t count = 0, overflow_bytes = 0;
    for (size_t b = 0; b < buckets; b++) {
        if (!check_bucket(table, b, &overflow_bytes)) return false;
        count += hashtable__bucket_count(hashtable__bucket(table, b));
    }
    return count == table->count && overflow_bytes == table->overflow_bytes;
}
