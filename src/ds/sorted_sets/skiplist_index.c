#include "ds/sorted_sets/skiplist_index.h"

#include "base/checked.h"
#include "base/memory/alloc.h"
#include "base/memory/relocate.h"
#include "base/prefetch.h"

#include <assert.h>
#include <string.h>

enum {
    SLOTS_MAX = 0xFFFF, /* the count has 16 bits; keyed hashes never come near */
    GATHERED_MAX = 128  /* slots that are gathered on the stack */
};

#define NUMBER_MASK (((uint32_t)1 << SKIPLIST_NUMBER_BITS) - 1)

static uint64_t mask_of(unsigned bits) {
    return ((uint64_t)1 << bits) - 1;
}

void skiplist_index_init(struct skiplist_index *index) {
    *index = (struct skiplist_index){0};
    segmented_init(&index->buckets, sizeof(uint64_t), sizeof(uint64_t *));
    linear_start(&index->linear, SKIPLIST_WINDOW_BITS);
}

/* --- Buckets --- */

static size_t slots_size(unsigned count) {
    return mem_good_size(((size_t)count * sizeof(uint32_t) + 15) & ~(size_t)15);
}

static uint32_t *slots_of(uint64_t word) {
    return (uint32_t *)(uintptr_t)skiplist_index__slots(word);
}

static uint64_t word_of(const uint32_t *slots, unsigned count) {
    assert(count <= SLOTS_MAX);
    return (uint64_t)(uintptr_t)slots | (uint64_t)count << 48;
}

static void bucket_add(struct skiplist_index *index, uint64_t *word, uint32_t slot) {
    unsigned count = skiplist_index__slot_count(*word);
    uint32_t *slots = slots_of(*word);
    size_t old_size = count ? slots_size(count) : 0;
    if ((count + 1) * sizeof(uint32_t) > old_size) {
        size_t size = slots_size(count + 1);
        slots = mem_resize(slots, old_size, size);
        index->slots_bytes += size - old_size;
    }
    slots[count] = slot;
    *word = word_of(slots, count + 1);
}

static void bucket_free(struct skiplist_index *index, uint64_t *word) {
    unsigned count = skiplist_index__slot_count(*word);
    if (count == 0) return;
    index->slots_bytes -= slots_size(count);
    mem_free_sized(slots_of(*word), slots_size(count));
    *word = 0;
}

/* Takes one slot of this value out of the bucket, which has one. */
static void bucket_remove(struct skiplist_index *index, uint64_t *word, uint32_t slot) {
    unsigned count = skiplist_index__slot_count(*word), at = 0;
    uint32_t *slots = slots_of(*word);
    while (at < count && slots[at] != slot) at++;
    assert(at < count);
    if (count == 1) {
        bucket_free(index, word);
        return;
    }
    slots[at] = slots[count - 1];
    size_t old_size = slots_size(count), size = slots_size(count - 1);
    if (size != old_size) {
        slots = mem_resize(slots, old_size, size);
        index->slots_bytes -= old_size - size;
    }
    *word = word_of(slots, count - 1);
}

/* Gives the bucket, which has none, these slots. */
static void bucket_fill(struct skiplist_index *index, uint64_t *word, const uint32_t *slots,
                        unsigned count) {
    *word = 0;
    if (count == 0) return;
    size_t size = slots_size(count);
    uint32_t *copy = mem_alloc(size);
    memcpy(copy, slots, count * sizeof(*slots));
    index->slots_bytes += size;
    *word = word_of(copy, count);
}

void skiplist_index_free(struct skiplist_index *index) {
    for (size_t i = 0; i < index->buckets.count; i++)
        bucket_free(index, segmented_word(&index->buckets, i));
    segmented_free(&index->buckets);
}

void skiplist_index_copy(struct skiplist_index *copy, const struct skiplist_index *index) {
    *copy = *index;
    copy->slots_bytes = 0;
    segmented_init(&copy->buckets, sizeof(uint64_t), sizeof(uint64_t *));
    for (size_t i = 0; i < index->buckets.count; i++) {
        uint64_t word = *segmented_word(&index->buckets, i), own;
        bucket_fill(copy, &own, slots_of(word), skiplist_index__slot_count(word));
        *(uint64_t *)segmented_push(&copy->buckets) = own;
    }
}

size_t skiplist_index_relocate(struct skiplist_index *index, size_t bucket,
                               struct relocator *relocator) {
    while (bucket < index->buckets.count) {
        uint64_t *word = segmented_word(&index->buckets, bucket++);
        unsigned count = skiplist_index__slot_count(*word);
        if (count > 0)
            *word = word_of(relocate(relocator, slots_of(*word), slots_size(count)), count);
        if (relocator_is_due(relocator)) break;
    }
    return bucket < index->buckets.count ? bucket : 0;
}

/* --- Splitting and merging --- */

/* Slots of one bucket or two. */
struct gathered {
    uint32_t *slots;
    unsigned count;
    uint32_t on_stack[GATHERED_MAX];
};

static void gather_start(struct gathered *all, unsigned count) {
    all->slots = count <= GATHERED_MAX ? all->on_stack : mem_alloc(count * sizeof(uint32_t));
    all->count = 0;
}

static void gather_end(struct gathered *all) {
    if (all->slots != all->on_stack) mem_free(all->slots);
}

static void gather(struct gathered *all, uint64_t word) {
    unsigned count = skiplist_index__slot_count(word);
    if (count) memcpy(all->slots + all->count, slots_of(word), count * sizeof(uint32_t));
    all->count += count;
}

/* Replaces the tags of slots [from, count) of bucket `bucket`, which uses `bits` bits, by those of
 * another window. Equal slots are told apart by their order. */
static void retag(struct gathered *all, unsigned from, size_t bucket, unsigned bits,
                  unsigned window, const struct skiplist_rehash *rehash) {
    unsigned old_window = linear_window_of(bits, SKIPLIST_WINDOW_BITS);
    uint64_t tag_mask = mask_of(SKIPLIST_TAG_BITS) << old_window;
    struct gathered tags;
    gather_start(&tags, all->count);
    for (unsigned i = from; i < all->count; i++)
        rehash->prefetch(rehash->owner, all->slots[i] & NUMBER_MASK);
    for (unsigned i = from; i < all->count; i++) {
        uint32_t slot = all->slots[i];
        unsigned skip = 0;
        for (unsigned j = from; j < i; j++) skip += all->slots[j] == slot;
        uint64_t tag_bits = (uint64_t)(slot >> SKIPLIST_NUMBER_BITS) << old_window;
        struct skiplist_hash_pattern pattern = {(bucket & mask_of(bits)) | tag_bits,
                                                mask_of(bits) | tag_mask};
        uint64_t hash = rehash->hash(rehash->owner, slot & NUMBER_MASK, pattern, skip);
        tags.slots[i] = skiplist_index__tag(hash, window);
    }
    for (unsigned i = from; i < all->count; i++)
        all->slots[i] = tags.slots[i] | (all->slots[i] & NUMBER_MASK);
    gather_end(&tags);
}

/* Moves the slots whose tags have no one at `bit` to the front; returns how many there are. */
static unsigned partition(struct gathered *all, unsigned bit) {
    uint32_t mask = (uint32_t)1 << (SKIPLIST_NUMBER_BITS + bit);
    unsigned front = 0;
    for (unsigned i = 0; i < all->count; i++) {
        uint32_t slot = all->slots[i];
        all->slots[i] = all->slots[front];
        all->slots[front] = slot;
        front += !(slot & mask);
    }
    return front;
}

/* Retags the slots of two buckets, which use `bits` bits: those before `front` are of bucket `low`,
 * the others of `high`, which may be the same. */
static void retag_halves(struct gathered *all, unsigned front, size_t low, size_t high,
                         unsigned bits, unsigned window, const struct skiplist_rehash *rehash) {
    /* The old tags are those of the old window, the one for `bits` bits. */
    unsigned count = all->count;
    retag(all, front, high, bits, window, rehash);
    all->count = front;
    retag(all, 0, low, bits, window, rehash);
    all->count = count;
}

static void split(struct skiplist_index *index, const struct skiplist_rehash *rehash) {
    const struct linear *linear = &index->linear;
    size_t low_index = linear->split, high_index = index->buckets.count;
    *(uint64_t *)segmented_push(&index->buckets) = 0;
    uint64_t *low = segmented_word(&index->buckets, low_index);
    uint64_t *high = segmented_word(&index->buckets, high_index);
    struct gathered all;
    gather_start(&all, skiplist_index__slot_count(*low));
    gather(&all, *low);
    unsigned front = partition(&all, linear->level - linear->windows[0]);
    if (linear->windows[0] != linear->windows[1])
        retag_halves(&all, front, low_index, low_index, linear->level, linear->windows[1], rehash);
    bucket_free(index, low);
    bucket_fill(index, low, all.slots, front);
    bucket_fill(index, high, all.slots + front, all.count - front);
    gather_end(&all);
    linear_grow(&index->linear, SKIPLIST_WINDOW_BITS);
}

static void merge(struct skiplist_index *index, const struct skiplist_rehash *rehash) {
    const struct linear *linear = &index->linear;
    linear_shrink(&index->linear, SKIPLIST_WINDOW_BITS);
    size_t low_index = linear->split, high_index = index->buckets.count - 1;
    uint64_t *low = segmented_word(&index->buckets, low_index);
    uint64_t *high = segmented_word(&index->buckets, high_index);
    struct gathered all;
    unsigned front = skiplist_index__slot_count(*low);
    gather_start(&all, front + skiplist_index__slot_count(*high));
    gather(&all, *low);
    gather(&all, *high);
    if (linear->windows[0] != linear->windows[1])
        retag_halves(&all, front, low_index, high_index, linear->level + 1u, linear->windows[0],
                     rehash);
    bucket_free(index, low);
    bucket_free(index, high);
    bucket_fill(index, low, all.slots, all.count);
    gather_end(&all);
    segmented_pop(&index->buckets);
}

/* --- Changing --- */

/* The bucket of a hash; its slot for the node `number` in *slot. */
static uint64_t *locate(const struct skiplist_index *index, uint64_t hash, uint32_t number,
                        uint32_t *slot) {
    *slot = skiplist_index__tag(hash, linear_window(&index->linear, hash)) | number;
    return segmented_word(&index->buckets, linear_bucket(&index->linear, hash));
}

void skiplist_index_grow(struct skiplist_index *index, const struct skiplist_rehash *rehash) {
    if (index->buckets.count == 0)
        *(uint64_t *)segmented_push(&index->buckets) = 0;
    else if (index->count >= index->buckets.count * SKIPLIST_LOAD)
        split(index, rehash);
}

void skiplist_index_reserve(struct skiplist_index *index, uint64_t members) {
    CHECKED_ASSERT(index->buckets.count == 0);
    *(uint64_t *)segmented_push(&index->buckets) = 0;
    while (index->buckets.count * SKIPLIST_LOAD < members) {
        *(uint64_t *)segmented_push(&index->buckets) = 0;
        linear_grow(&index->linear, SKIPLIST_WINDOW_BITS);
    }
}

void skiplist_index_shrink(struct skiplist_index *index, const struct skiplist_rehash *rehash) {
    size_t after = index->buckets.count - 1;
    if (index->buckets.count > 1 && index->count * 4 < after * SKIPLIST_LOAD * 3)
        merge(index, rehash);
}

void skiplist_index_insert(struct skiplist_index *index, uint64_t hash, uint32_t number) {
    uint32_t slot;
    CHECKED_ASSERT(number <= NUMBER_MASK && index->buckets.count > 0);
    uint64_t *word = locate(index, hash, number, &slot);
    bucket_add(index, word, slot);
    index->count++;
}

void skiplist_index_delete(struct skiplist_index *index, uint64_t hash, uint32_t number) {
    uint32_t slot;
    uint64_t *word = locate(index, hash, number, &slot);
    bucket_remove(index, word, slot);
    index->count--;
}

void skiplist_index_move(struct skiplist_index *index, uint64_t hash, uint32_t from, uint32_t to) {
    uint32_t slot;
    uint64_t word = *locate(index, hash, from, &slot);
    uint32_t *slots = slots_of(word), *end = slots + skiplist_index__slot_count(word);
    while (slots < end && *slots != slot) slots++;
    assert(slots < end);
    CHECKED_ASSERT(to <= NUMBER_MASK);
    *slots = (slot & ~NUMBER_MASK) | to;
}

void skiplist_index_prefetch(const struct skiplist_index *index, uint64_t hash) {
    if (index->count == 0) return;
    prefetch(segmented_word(&index->buckets, linear_bucket(&index->linear, hash)));
}

void skiplist_index_prefetch_slots(const struct skiplist_index *index, uint64_t hash) {
    if (index->count == 0) return;
    uint64_t word = *segmented_word(&index->buckets, linear_bucket(&index->linear, hash));
    prefetch(skiplist_index__slots(word));
}

size_t skiplist_index_allocated(const struct skiplist_index *index) {
    return index->slots_bytes + segmented_allocated(&index->buckets);
}

/* --- Scanning and checking --- */

uint64_t skiplist_index_scan(const struct skiplist_index *index, uint64_t cursor,
                             void (*visit)(uint32_t number, struct skiplist_hash_pattern pattern,
                                           void *arg),
                             void *arg) {
    if (index->count == 0) return 0;
    size_t bucket = linear_bucket(&index->linear, cursor);
    uint64_t word = *segmented_word(&index->buckets, bucket);
    const uint32_t *slots = slots_of(word);
    struct skiplist_hash_pattern pattern = {bucket, mask_of(linear_bits(&index->linear, bucket))};
    for (unsigned i = 0; i < skiplist_index__slot_count(word); i++) {
        bool first = true;
        for (unsigned j = 0; j < i && first; j++) first = (slots[i] ^ slots[j]) & NUMBER_MASK;
        if (first) visit(slots[i] & NUMBER_MASK, pattern, arg);
    }
    return linear_scan_next(&index->linear, bucket);
}

bool skiplist_index_check(const struct skiplist_index *index) {
    size_t count = 0, bytes = 0, buckets = index->buckets.count;
    if (!segmented_check(&index->buckets) ||
        !linear_check(&index->linear, buckets, SKIPLIST_WINDOW_BITS))
        return false;
    for (size_t i = 0; i < buckets; i++) {
        unsigned slots = skiplist_index__slot_count(*segmented_word(&index->buckets, i));
        count += slots;
        if (slots) bytes += slots_size(slots);
    }
    return count == index->count && bytes == index->slots_bytes;
}
