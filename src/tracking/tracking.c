/* tracking: see the drawing in tracking.h.
 *
 *      prefix        first → subscription → …       in tracking->prefixes, by its bytes
 *      subscription  prefix · tracker               in tracker->prefixes, by the same bytes
 *      change        key · who changed it           in tracking->changed, by the key
 *
 * Invariants: each tracker is in the chain of all; those without owner are in the queue of ended
 * ones, too. `pairs` of all trackers are those of the table. Without any tracker there is no
 * bucket, neither in the table nor in those that are left. A prefix is in the tree exactly while it
 * has a subscription. */
#include "tracking/tracking.h"

#include "base/chain.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/memory/alloc.h"

enum {
    NO_NUMBER = UINT32_MAX,
#ifdef TINY_LIMITS
    WORK_US = 250,
    PAIRS_AT_ONCE = 2, /* invalidated in one go when the table is too large */
    FEW_STEPS = 1,
    MANY_STEPS = 3
#else
    WORK_US = 250,
    PAIRS_AT_ONCE = 16,
    FEW_STEPS = 4,  /* a tick, ten times a second: one per cent of a processor */
    MANY_STEPS = 40 /* … and ten */
#endif
};

struct tracking_prefix {
    struct tracking_subscription *first;
    struct tracking_subscription *last;
    struct tracking_change **changes; /* while tracking_tell_changes runs */
    size_t change_count;
    size_t change_capacity;
    struct tracking_prefix *next_told;
    size_t length;
    char bytes[];
};

struct tracking_subscription {
    struct tracker *tracker;
    struct tracking_prefix *prefix;
    struct tracking_subscription *prev; /* of the prefix */
    struct tracking_subscription *next;
};

static struct slice key_of_change(const void *item) {
    return ((const struct tracking_change *)item)->key;
}

static const struct hashtable_type change_type = {.key = key_of_change};

void tracking_init(struct tracking *tracking, struct tracking_callbacks callbacks, uint64_t seed) {
    *tracking = (struct tracking){.callbacks = callbacks, .changed = hashtable_new(&change_type)};
    random_seed(&tracking->random, seed);
}

/* --- Trackers --- */

static uint32_t take_number(struct tracking *tracking, struct tracker *tracker) {
    if (tracking->free_count > 0) {
        uint32_t number = tracking->free_numbers[--tracking->free_count];
        tracking->numbered[number] = tracker;
        return number;
    }
    MEM_RESERVE(tracking->numbered, tracking->number_capacity, tracking->number_count + 1);
    tracking->numbered[tracking->number_count] = tracker;
    return (uint32_t)tracking->number_count++;
}

static void free_number(struct tracking *tracking, uint32_t number) {
    tracking->numbered[number] = NULL;
    MEM_RESERVE(tracking->free_numbers, tracking->free_capacity, tracking->free_count + 1);
    tracking->free_numbers[tracking->free_count++] = number;
}

struct tracker *tracker_begin(struct tracking *tracking, void *owner, uint32_t flags) {
    struct tracker *tracker = mem_alloc_zeroed(sizeof(*tracker));
    tracker->owner = owner;
    tracker->flags = flags;
    tracker->number = flags & TRACKER_BCAST ? NO_NUMBER : take_number(tracking, tracker);
    CHAIN_APPEND(tracking->first, tracking->last, tracker, prev, next);
    tracking->tracker_count++;
    return tracker;
}

void tracker_end(struct tracking *tracking, struct tracker *tracker) {
    CHECKED_ASSERT(tracker->owner);
    tracker->owner = NULL;
    tracking->tracker_count--;
    *(tracking->last_ended ? &tracking->last_ended->next_ended : &tracking->first_ended) = tracker;
    tracking->last_ended = tracker;
}

size_t tracker_allocated(const struct tracker *tracker) {
    return sizeof(*tracker) + tracker->prefixes.allocated +
           tracker->prefixes.count * sizeof(struct tracking_subscription);
}

/* --- Prefixes --- */

static struct slice bytes_of(const struct tracking_prefix *prefix) {
    return slice_make(prefix->bytes, prefix->length);
}

static struct tracking_prefix *find_or_add_prefix(struct tracking *tracking, struct slice bytes) {
    struct tracking_prefix *prefix = prefix_tree_find(&tracking->prefixes, bytes);
    if (prefix) return prefix;
    prefix = mem_alloc(sizeof(*prefix) + bytes.len);
    *prefix = (struct tracking_prefix){.length = bytes.len};
    slice_copy(prefix->bytes, bytes);
    prefix_tree_put(&tracking->prefixes, bytes, prefix);
    return prefix;
}

void tracker_add_prefix(struct tracking *tracking, struct tracker *tracker, struct slice bytes) {
    CHECKED_ASSERT(tracker->flags & TRACKER_BCAST);
    if (prefix_tree_find(&tracker->prefixes, bytes)) return;
    struct tracking_subscription *subscription = mem_alloc(sizeof(*subscription));
    struct tracking_prefix *prefix = find_or_add_prefix(tracking, bytes);
    *subscription = (struct tracking_subscription){.tracker = tracker, .prefix = prefix};
    CHAIN_APPEND(prefix->first, prefix->last, subscription, prev, next);
    prefix_tree_put(&tracker->prefixes, bytes, subscription);
}

/* Ends the tracker's first subscription; there is one. */
static void drop_subscription(struct tracking *tracking, struct tracker *tracker) {
    struct tracking_subscription *subscription = prefix_tree_remove_first(&tracker->prefixes);
    struct tracking_prefix *prefix = subscription->prefix;
    CHAIN_REMOVE(prefix->first, prefix->last, subscription, prev, next);
    mem_free(subscription);
    if (prefix->first) return;
    prefix_tree_remove(&tracking->prefixes, bytes_of(prefix));
    mem_free(prefix);
}

/* Returns the item of a string that overlaps with this one, the first one in the order of bytes. */
static const void *overlapping(const struct prefix_tree *tree, struct slice bytes) {
    struct prefix_walk walk = prefix_walk_begin(tree, bytes);
    const void *item = prefix_walk_next(&walk);
    return item ? item : prefix_tree_first_below(tree, bytes);
}

/* Returns whether a later one of the prefixes overlaps with that at `index`; *with: the first. */
static bool overlaps_with_later(const struct slice *prefixes, size_t count, size_t index,
                                struct slice *with) {
    for (size_t i = index + 1; i < count; i++) {
        if (!slice_begins(prefixes[i], prefixes[index]) &&
            !slice_begins(prefixes[index], prefixes[i]))
            continue;
        *with = prefixes[i];
        return true;
    }
    return false;
}

/* Returns how many of the prefixes, from the first one on, overlap with no later one: `count` if
 * none overlaps. From the last one to the first, each is looked up among those behind it. */
static size_t first_overlapping(const struct slice *prefixes, size_t count) {
    struct prefix_tree later = {0};
    size_t first = count;
    for (size_t i = count; i-- > 0;) {
        if (overlapping(&later, prefixes[i])) first = i;
        prefix_tree_put(&later, prefixes[i], (void *)(uintptr_t)&prefixes[i]);
    }
    while (prefix_tree_remove_first(&later)) {
    }
    return first;
}

bool tracker_find_overlap(const struct tracker *tracker, const struct slice *prefixes, size_t count,
                          size_t *index, struct slice *with, bool *is_own) {
    size_t among_them = first_overlapping(prefixes, count);
    *is_own = true;
    for (size_t i = 0; tracker && i < count && i <= among_them; i++) {
        const struct tracking_subscription *own = overlapping(&tracker->prefixes, prefixes[i]);
        if (!own) continue;
        *index = i;
        *with = bytes_of(own->prefix);
        return true;
    }
    *is_own = false;
    *index = among_them;
    return among_them < count && overlaps_with_later(prefixes, count, among_them, with);
}

struct slice tracker_prefix(const void *item) {
    return bytes_of(((const struct tracking_subscription *)item)->prefix);
}

/* --- The table --- */

/* Tells the trackers with these numbers, except those without an owner, and with NOLOOP the source.
 * Telling one may end others. */
static void tell_numbered(struct tracking *tracking, const struct tracking_numbers *numbers,
                          struct slice key, const void *source) {
    for (size_t i = 0; i < numbers->count; i++) tracking->numbered[numbers->numbers[i]]->pairs--;
    for (size_t i = 0; i < numbers->count; i++) {
        struct tracker *tracker = tracking->numbered[numbers->numbers[i]];
        if (!tracker->owner) continue;
        if (tracker->flags & TRACKER_NOLOOP && tracker->owner == source) continue;
        tracking->callbacks.tell(tracker, &key);
    }
}

/* Invalidates some pairs of a key chosen at random, or continues the search for one. */
static void evict_some(struct tracking *tracking) {
    struct tracking_numbers *numbers = &tracking->numbers;
    struct slice key;
    if (!tracking_table_evict(&tracking->table, &tracking->random, PAIRS_AT_ONCE, &key, numbers))
        return;
    tell_numbered(tracking, numbers, key, NULL);
    mem_free((void *)(uintptr_t)key.ptr);
}

static bool is_over_limit(const struct tracking *tracking) {
    return tracking->max_keys && tracking->table.keys > tracking->max_keys;
}

void tracking_record(struct tracking *tracking, struct tracker *tracker, struct slice key) {
    CHECKED_ASSERT(tracker->owner && !(tracker->flags & TRACKER_BCAST));
    enum { EVICTIONS = 2 }; /* so that it comes below the limit while more keys are read */
    if (key.len > TRACKING_NAME_MAX) {
        tracking->callbacks.tell(tracker, &key);
        return;
    }
    if (!tracking_table_add(&tracking->table, key, tracker->number)) return;
    tracker->pairs++;
    for (int i = 0; i < EVICTIONS && is_over_limit(tracking); i++) evict_some(tracking);
}

/* --- Changes --- */

/* Notes the key for tracking_tell_changes. */
static void note_change(struct tracking *tracking, struct slice key, int database,
                        const void *source) {
    uint64_t hash = hashtable_hash(key);
    const hashtable_slot *slot = hashtable_find(tracking->changed, key, hash);
    if (slot) {
        struct tracking_change *change = hashtable_item(*slot);
        if (change->source != source) change->source = NULL;
        if (change->database != database) change->database = -1;
        return;
    }
    struct tracking_change *change = mem_alloc(sizeof(*change) + key.len);
    char *bytes = (char *)(change + 1);
    slice_copy(bytes, key);
    *change = (struct tracking_change){
        .key = slice_make(bytes, key.len), .source = source, .database = database};
    hashtable_insert(tracking->changed, change, hash);
    *(tracking->last_changed ? &tracking->last_changed->next : &tracking->first_changed) = change;
    tracking->last_changed = change;
}

void tracking_invalidate(struct tracking *tracking, struct slice key, int database,
                         const void *source) {
    if (tracking->table.keys > 0) {
        tracking_table_take(&tracking->table, key, &tracking->numbers);
        tell_numbered(tracking, &tracking->numbers, key, source);
    }
    if (tracking->prefixes.count == 0) return;
    struct prefix_walk walk = prefix_walk_begin(&tracking->prefixes, key);
    if (prefix_walk_next(&walk)) note_change(tracking, key, database, source);
}

/* Keeps the table to be freed later, and begins an empty one. */
static void put_table_aside(struct tracking *tracking) {
    if (tracking->table.buckets.count == 0) return;
    MEM_RESERVE(tracking->left, tracking->left_capacity, tracking->left_count + 1);
    tracking->left[tracking->left_count++] = tracking->table;
    tracking->table = (struct tracking_table){0};
}

/* Frees a bucket of such tables; returns false when there is none. */
static bool free_left(struct tracking *tracking) {
    if (tracking->left_count == 0) return false;
    if (!tracking_table_free_some(&tracking->left[tracking->left_count - 1]))
        tracking->left_count--;
    return true;
}

void tracking_invalidate_all(struct tracking *tracking) {
    put_table_aside(tracking);
    for (struct tracker *tracker = tracking->first; tracker; tracker = tracker->next)
        tracker->pairs = 0;
    for (struct tracker *tracker = tracking->first; tracker; tracker = tracker->next)
        if (tracker->owner) tracking->callbacks.tell(tracker, NULL);
}

static void tell_prefix(const struct tracking *tracking, struct tracking_prefix *prefix) {
    for (const struct tracking_subscription *at = prefix->first; at; at = at->next)
        if (at->tracker->owner)
            tracking->callbacks.tell_keys(at->tracker, prefix->changes, prefix->change_count);
    mem_free(prefix->changes);
    prefix->changes = NULL;
    prefix->change_count = prefix->change_capacity = 0;
}

/* Adds the change to each prefix that its key begins with, and puts those that get their first one
 * before `told`. Returns the first one of these. */
static struct tracking_prefix *spread(const struct tracking *tracking,
                                      struct tracking_change *change,
                                      struct tracking_prefix *told) {
    struct prefix_walk walk = prefix_walk_begin(&tracking->prefixes, change->key);
    for (struct tracking_prefix *prefix; (prefix = prefix_walk_next(&walk));) {
        MEM_RESERVE(prefix->changes, prefix->change_capacity, prefix->change_count + 1);
        prefix->changes[prefix->change_count++] = change;
        if (prefix->change_count > 1) continue;
        prefix->next_told = told;
        told = prefix;
    }
    return told;
}

static void forget_changes(struct tracking *tracking) {
    for (struct tracking_change *change; (change = tracking->first_changed);) {
        tracking->first_changed = change->next;
        uint64_t hash = hashtable_hash(change->key);
        hashtable_delete(tracking->changed, hashtable_find_item(tracking->changed, change, hash),
                         hash);
        mem_free(change);
    }
    tracking->last_changed = NULL;
}

void tracking_tell_changes(struct tracking *tracking) {
    struct tracking_prefix *told = NULL;
    for (struct tracking_change *change = tracking->first_changed; change; change = change->next)
        told = spread(tracking, change, told);
    for (; told; told = told->next_told) tell_prefix(tracking, told);
    forget_changes(tracking);
}

/* --- Work in the background --- */

void tracking_tick(struct tracking *tracking) {
    size_t gone = 0;
    const struct tracker *ended = tracking->first_ended;
    for (int i = 0; i < MANY_STEPS && ended; i++, ended = ended->next_ended) gone += ended->pairs;
    tracking->sweep_steps = ended || gone > tracking->table.pairs / 8 ? MANY_STEPS : FEW_STEPS;
}

static bool forget_if_ended(uint32_t number, void *arg) {
    const struct tracking *tracking = arg;
    struct tracker *tracker = tracking->numbered[number];
    if (tracker->owner) return false;
    tracker->pairs--;
    return true;
}

static void free_tracker(struct tracking *tracking, struct tracker *tracker) {
    tracking->first_ended = tracker->next_ended;
    if (!tracking->first_ended) {
        tracking->last_ended = NULL;
        tracking->table.next_sweep = 0; /* a sweep that goes on would find nothing */
        tracking->is_shrinking = tracking->table.buckets.count > 0;
    }
    CHAIN_REMOVE(tracking->first, tracking->last, tracker, prev, next);
    if (tracker->number != NO_NUMBER) free_number(tracking, tracker->number);
    mem_free(tracker);
}

/* Frees the oldest ended tracker, or a part of it; if it is the only one, the tables before, as
 * nobody has read a key then. Returns false when there is none, or when the table still refers to
 * it, which a sweep ends. */
static bool free_ended(struct tracking *tracking) {
    struct tracker *tracker = tracking->first_ended;
    if (!tracker) return false;
    if (tracker->prefixes.count > 0) {
        drop_subscription(tracking, tracker);
        return true;
    }
    if (tracker->pairs > 0) return false;
    bool is_only = tracking->first == tracking->last;
    if (is_only && (free_left(tracking) || tracking_table_free_some(&tracking->table))) return true;
    free_tracker(tracking, tracker);
    return true;
}

/* Does a piece of work; returns false when none may be done now. */
static bool work(struct tracking *tracking) {
    if (is_over_limit(tracking)) {
        evict_some(tracking);
        return true;
    }
    if (free_ended(tracking) || free_left(tracking)) return true;
    if (!tracking->first_ended) {
        tracking->is_shrinking = tracking_table_shrink(&tracking->table);
        return tracking->is_shrinking;
    }
    if (tracking->sweep_steps == 0) return false;
    tracking_table_sweep(&tracking->table, forget_if_ended, tracking, &tracking->swept);
    return true;
}

bool tracking_work(struct tracking *tracking) {
    uint64_t end = clock_ticks() + clock_us_to_ticks(WORK_US);
    while (work(tracking)) {
        if (clock_ticks() < end) continue;
        if (tracking->first_ended && tracking->sweep_steps > 0) tracking->sweep_steps--;
        return true;
    }
    return false;
}

void tracking_free(struct tracking *tracking) {
    CHECKED_ASSERT(tracking->tracker_count == 0);
    forget_changes(tracking);
    put_table_aside(tracking);
    while (free_left(tracking)) {
    }
    for (struct tracker *tracker = tracking->first; tracker; tracker = tracker->next)
        tracker->pairs = 0;
    while (free_ended(tracking)) {
    }
    hashtable_free(tracking->changed);
    mem_free(tracking->left);
    mem_free(tracking->numbered);
    mem_free(tracking->free_numbers);
    mem_free(tracking->numbers.numbers);
    mem_free(tracking->swept.numbers);
}

/* --- Checks --- */

bool tracking_check(const struct tracking *tracking) {
    size_t pairs = 0, owned = 0, ended = 0, count = 0;
    for (const struct tracker *at = tracking->first; at; at = at->next, count++) {
        pairs += at->pairs;
        owned += at->owner != NULL;
        if (!prefix_tree_check(&at->prefixes)) return false;
        if (at->number != NO_NUMBER && tracking->numbered[at->number] != at) return false;
    }
    for (const struct tracker *at = tracking->first_ended; at; at = at->next_ended) ended++;
    if (!tracking->first && (tracking->left_count || tracking->table.buckets.count)) return false;
    return pairs == tracking->table.pairs && owned == tracking->tracker_count &&
           owned + ended == count && tracking_table_check(&tracking->table) &&
           prefix_tree_check(&tracking->prefixes);
}
