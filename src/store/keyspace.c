/* Invariants: every item of the tables of all keys is an entry that the keyspace owns; the memo's
 * slot is NULL or a valid slot of these, and its hash the one of that slot's key; each other group
 * of tables points to exactly those entries that expire in its way (is_expiring). Adding and
 * deleting may move slots, so both renew the memo; an entry that moves is written to its slot by
 * keyref_moved(), where the memo reads it. All entries have the keyspace's epoch, except those that
 * a snapshot iterator has yet to visit. `sizes` counts the value of each entry once, under its
 * present type and length.
 *
 * Whether there is a table for each slot matters only for the hash of a key, of which its slot is a
 * part then, and to the groups of tables, which see from the hash in which table an entry is. */
#include "store/keyspace.h"

#include "base/checked.h"
#include "base/memory/alloc.h"
#include "base/threads/owner.h"
#include "store/key_slot.h"

#include <assert.h>

_Static_assert((int)KEY_SLOTS == (int)TABLE_GROUP_TABLES, "a table for each slot");

struct keyspace {
    struct owner owner;        /* but of what frees it */
    hashtable_slot *memo_slot; /* of the key found last */
    uint64_t memo_hash;
    struct snapshot_iterator *iterator; /* the one under way, or NULL */
    uint8_t epoch;                      /* of visited entries; of all entries without an iterator */
    bool is_by_slot;
    struct table_group tables[KEYSPACE_TABLES];
    void (*free_entry)(struct entry *entry);
    uint64_t (*length)(const struct entry *entry);
    struct size_histogram sizes;
};

static struct slice item_key(const void *item) {
    return entry_key(item);
}

static const struct hashtable_type entry_table = {item_key};

static struct keyspace *new_without_tables(void (*free_entry)(struct entry *entry),
                                           uint64_t (*length)(const struct entry *entry)) {
    struct keyspace *keyspace = mem_alloc(sizeof(*keyspace));
    *keyspace = (struct keyspace){.free_entry = free_entry, .length = length};
    return keyspace;
}

struct keyspace *keyspace_new(void (*free_entry)(struct entry *entry),
                              uint64_t (*length)(const struct entry *entry)) {
    struct keyspace *keyspace = new_without_tables(free_entry, length);
    for (int i = 0; i < KEYSPACE_TABLES; i++)
        keyspace->tables[i] = table_group_of(hashtable_new(&entry_table));
    return keyspace;
}

struct keyspace *keyspace_new_by_slot(void (*free_entry)(struct entry *entry),
                                      uint64_t (*length)(const struct entry *entry)) {
    struct keyspace *keyspace = new_without_tables(free_entry, length);
    keyspace->is_by_slot = true;
    for (int i = 0; i < KEYSPACE_TABLES; i++)
        keyspace->tables[i] = table_group_by_number(&entry_table);
    return keyspace;
}

struct keyspace *keyspace_new_like(const struct keyspace *other) {
    return other->is_by_slot ? keyspace_new_by_slot(other->free_entry, other->length)
                             : keyspace_new(other->free_entry, other->length);
}

void keyspace_hand_over(struct keyspace *keyspace) {
    keyspace->owner = (struct owner){0};
}

/* Lets the snapshot iterator visit all remaining entries, before they are freed. */
static void finish_snapshot_iterator(struct keyspace *keyspace) {
    while (keyspace->iterator) snapshot_iterator_step(keyspace->iterator);
}

void keyspace_end_start(struct keyspace_ending *ending, struct keyspace *keyspace) {
    finish_snapshot_iterator(keyspace);
    ending->keyspace = keyspace;
    keyspace_iter_start(&ending->iter, keyspace);
}

struct entry *keyspace_end_step(struct keyspace_ending *ending) {
    struct keyspace *keyspace = ending->keyspace;
    struct entry *entry = keyspace_iter_next(&ending->iter);
    if (entry) return entry;
    for (int i = 0; i < KEYSPACE_TABLES; i++) table_group_free(&keyspace->tables[i]);
    size_histogram_free(&keyspace->sizes);
    mem_free(keyspace);
    return NULL;
}

void keyspace_free(struct keyspace *keyspace) {
    void (*free_entry)(struct entry * entry) = keyspace->free_entry;
    struct keyspace_ending ending;
    struct entry *entry;
    keyspace_end_start(&ending, keyspace);
    while ((entry = keyspace_end_step(&ending)) != NULL) free_entry(entry);
}

void keyspace_swap(struct keyspace *a, struct keyspace *b) {
    struct keyspace a_before = *a;
    *a = *b;
    *b = a_before;
    if (a->iterator) a->iterator->keyspace = a;
    if (b->iterator) b->iterator->keyspace = b;
}

void keyspace_clear(struct keyspace *keyspace) {
    struct keyspace *old = keyspace_new_like(keyspace);
    keyspace_swap(keyspace, old);
    keyspace_free(old);
}

size_t keyspace_count(const struct keyspace *keyspace) {
    return table_group_count(&keyspace->tables[ALL_KEYS]);
}

size_t keyspace_table_allocated(const struct keyspace *keyspace) {
    return table_group_allocated(&keyspace->tables[ALL_KEYS]) +
           size_histogram_allocated(&keyspace->sizes);
}

size_t keyspace_expiring_allocated(const struct keyspace *keyspace) {
    return table_group_allocated(&keyspace->tables[EXPIRING_KEYS]) +
           table_group_allocated(&keyspace->tables[EXPIRING_FIELDS]);
}

const struct table_group *keyspace_tables(const struct keyspace *keyspace,
                                          enum keyspace_keys which) {
    return &keyspace->tables[which];
}

/* --- Looking up --- */

/* Apart, so that a keyspace without slots pays for no more than the question. */
static __attribute__((noinline)) uint64_t hash_with_slot(uint64_t hash, struct slice key) {
    return table_group_hash(hash, key_slot(key));
}

static inline uint64_t hash_of(const struct keyspace *keyspace, struct slice key) {
    uint64_t hash = hashtable_hash(key);
    return keyspace->is_by_slot ? hash_with_slot(hash, key) : hash;
}

uint64_t keyspace_hash(const struct keyspace *keyspace, struct slice key) {
    return hash_of(keyspace, key);
}

/* The table of all keys of this hash, or another one of what expires. */
static inline const struct hashtable *table_of(const struct keyspace *keyspace, int which,
                                               uint64_t hash) {
    return table_group_table(&keyspace->tables[which], hash);
}

static inline struct entry *refer_to_memo(struct keyspace *keyspace, struct keyref *ref) {
    ref->keyspace = keyspace;
    ref->slot = keyspace->memo_slot;
    ref->hash = keyspace->memo_hash;
    return ref->entry = hashtable_item(*keyspace->memo_slot);
}

static inline struct entry *find_in_table(struct keyspace *keyspace, struct slice key,
                                          uint64_t hash, struct keyref *ref) {
    hashtable_slot *slot = hashtable_find(table_of(keyspace, ALL_KEYS, hash), key, hash);
    if (slot == NULL) {
        *ref = (struct keyref){.keyspace = keyspace, .hash = hash};
        return NULL;
    }
    keyspace->memo_slot = slot;
    keyspace->memo_hash = hash;
    return refer_to_memo(keyspace, ref);
}

/* Most requests come by here: all that it calls is inlined. Where the result is written is the
 * caller's choice, because a copy of what was just written, in larger pieces, waits for the
 * writes. */
__attribute__((flatten)) struct entry *keyspace_look_up(struct keyspace *keyspace, struct slice key,
                                                        struct keyref *ref) {
    if (keyspace->memo_slot != NULL) {
        const struct entry *entry = hashtable_item(*keyspace->memo_slot);
        if (hashtable_key_equal(entry_key(entry), key)) return refer_to_memo(keyspace, ref);
    }
    return find_in_table(keyspace, key, hash_of(keyspace, key), ref);
}

const struct entry *keyspace_found_last(const struct keyspace *keyspace) {
    return keyspace->memo_slot ? hashtable_item(*keyspace->memo_slot) : NULL;
}

struct hashtable_lookup keyspace_prefetch(const struct keyspace *keyspace, struct slice key) {
    uint64_t hash = hash_of(keyspace, key);
    return hashtable_prefetch(table_of(keyspace, ALL_KEYS, hash), hash);
}

/* Few keys by slot have a table each, which takes three times as much memory as the key. */
bool keyspace_is_cached(const struct keyspace *keyspace) {
    enum { CACHED_KEYS = 8192, CACHED_KEYS_BY_SLOT = CACHED_KEYS / 4 };
    return keyspace_count(keyspace) < (keyspace->is_by_slot ? CACHED_KEYS_BY_SLOT : CACHED_KEYS);
}

/* By slot, there is a table to be loaded before the bucket: another stage. */
static __attribute__((noinline)) void prefetch_by_slot(const struct keyspace *keyspace,
                                                       const struct slice *keys, size_t stride,
                                                       size_t count,
                                                       struct hashtable_lookup *lookups) {
    const struct table_group *all = &keyspace->tables[ALL_KEYS];
    for (size_t i = 0; i < count; i++) {
        lookups[i].hash = hash_of(keyspace, keys[i * stride]);
        table_group_prefetch(all, lookups[i].hash);
    }
    for (size_t i = 0; i < count; i++)
        lookups[i] = hashtable_prefetch(table_group_table(all, lookups[i].hash), lookups[i].hash);
}

static inline void prefetch_buckets(const struct keyspace *keyspace, const struct slice *keys,
                                    size_t stride, size_t count, struct hashtable_lookup *lookups) {
    if (keyspace->is_by_slot) {
        prefetch_by_slot(keyspace, keys, stride, count, lookups);
        return;
    }
    const struct hashtable *table = keyspace->tables[ALL_KEYS].single;
    for (size_t i = 0; i < count; i++)
        lookups[i] = hashtable_prefetch(table, hashtable_hash(keys[i * stride]));
}

/* Requests of a pipeline come by here. */
__attribute__((flatten)) void
keyspace_prefetch_entries(const struct keyspace *keyspace, const struct slice *keys, size_t stride,
                          size_t count, const struct entry *entries[KEYSPACE_KEYS_AT_ONCE]) {
    struct hashtable_lookup lookups[KEYSPACE_KEYS_AT_ONCE];
    unsigned missed = 0; /* bit i: entry i is not found yet */
    prefetch_buckets(keyspace, keys, stride, count, lookups);
    for (size_t i = 0; i < count; i++) {
        entries[i] = hashtable_prefetch_item(&lookups[i]);
        missed |= (unsigned)!entries[i] << i;
    }
    for (; missed != 0; missed &= missed - 1) {
        size_t i = (size_t)__builtin_ctz(missed);
        entries[i] = hashtable_prefetch_overflow_item(&lookups[i]);
    }
}

struct keyref keyspace_find_hashed(struct keyspace *keyspace, struct slice key, uint64_t hash) {
    OWNER_ASSERT(keyspace->owner);
    CHECKED_ASSERT(hash == hash_of(keyspace, key));
    struct keyref ref;
    find_in_table(keyspace, key, hash, &ref);
    return ref;
}

struct keyref keyspace_find_entry(struct keyspace *keyspace, const struct entry *entry,
                                  uint64_t hash) {
    hashtable_slot *slot = hashtable_find_item(table_of(keyspace, ALL_KEYS, hash), entry, hash);
    struct keyref ref = {.keyspace = keyspace, .hash = hash};
    /* Another entry may have got the address since, in the same bucket and with the same tag. */
    if (slot == NULL || hash_of(keyspace, entry_key(hashtable_item(*slot))) != hash) return ref;
    ref.slot = slot;
    ref.entry = hashtable_item(*slot);
    return ref;
}

/* --- Sizes --- */

const struct size_histogram *keyspace_sizes(const struct keyspace *keyspace) {
    return &keyspace->sizes;
}

static void count_size(struct keyspace *keyspace, const struct entry *entry) {
    size_histogram_add(&keyspace->sizes, entry_type(entry), keyspace->length(entry));
}

void keyspace_recount(const struct keyref *ref, enum value_type old_type, uint64_t old_length) {
    CHECKED_ASSERT(hashtable_item(*ref->slot) == ref->entry);
    size_histogram_remove(&ref->keyspace->sizes, old_type, old_length);
    count_size(ref->keyspace, ref->entry);
}

/* --- The tables of what expires --- */

static inline bool is_expiring(const struct entry *entry, int which) {
    return which == EXPIRING_KEYS ? entry_expiry(entry) >= 0 : entry_fields_expire(entry);
}

static void add_expiring(const struct keyref *ref, int which) {
    table_group_insert(&ref->keyspace->tables[which], ref->entry, ref->hash);
}

static void delete_expiring(const struct keyref *ref, int which) {
    const struct hashtable *table = table_of(ref->keyspace, which, ref->hash);
    table_group_delete(&ref->keyspace->tables[which],
                       hashtable_find_item(table, ref->entry, ref->hash), ref->hash);
}

/* The entry was at the address `old`, which is not read. */
static void move_expiring(const struct keyref *ref, int which, const struct entry *old) {
    const struct hashtable *table = table_of(ref->keyspace, which, ref->hash);
    hashtable_replace(hashtable_find_item(table, old, ref->hash), ref->entry);
}

/* --- Changing --- */

void keyref_update_tables(struct keyref *ref, struct entry *entry) {
    CHECKED_ASSERT(entry_check(entry) && ref->hash == hash_of(ref->keyspace, entry_key(entry)));
    CHECKED_ASSERT(hashtable_item(*ref->slot) == ref->entry);
    const struct entry *old = ref->entry;
    ref->entry = entry;
    for (int i = EXPIRING_KEYS; i < KEYSPACE_TABLES; i++)
        if (is_expiring(entry, i)) move_expiring(ref, i, old);
    hashtable_replace(ref->slot, entry);
}

static void visit_entry(struct snapshot_iterator *iterator, struct entry *entry) {
    entry_set_epoch(entry, iterator->keyspace->epoch);
    iterator->visit(iterator, entry);
}

static inline bool is_unvisited(const struct keyref *ref) {
    return ref->keyspace->iterator && entry_epoch(ref->entry) != ref->keyspace->epoch;
}

void keyspace_before_change(struct keyref *ref) {
    OWNER_ASSERT(ref->keyspace->owner);
    CHECKED_ASSERT(hashtable_item(*ref->slot) == ref->entry);
    if (is_unvisited(ref)) visit_entry(ref->keyspace->iterator, ref->entry);
}

bool keyref_was_visited(const struct keyref *ref) {
    return !is_unvisited(ref);
}

void keyspace_set_expiry(struct keyref *ref, int64_t expiry_ms, size_t value_size) {
    keyspace_before_change(ref);
    const struct entry *old = ref->entry;
    bool had = entry_expiry(old) >= 0, has = expiry_ms >= 0;
    if (had && !has) delete_expiring(ref, EXPIRING_KEYS);
    ref->entry = entry_set_expiry(ref->entry, expiry_ms, value_size);
    if (had && has) return; /* it has not moved */
    hashtable_replace(ref->slot, ref->entry);
    if (has) add_expiring(ref, EXPIRING_KEYS);
    if (entry_fields_expire(ref->entry)) move_expiring(ref, EXPIRING_FIELDS, old);
}

void keyspace_set_fields_expire(struct keyref *ref, bool expire) {
    CHECKED_ASSERT(hashtable_item(*ref->slot) == ref->entry);
    if (entry_fields_expire(ref->entry) == expire) return;
    if (!expire) delete_expiring(ref, EXPIRING_FIELDS);
    entry_set_fields_expire(ref->entry, expire);
    if (expire) add_expiring(ref, EXPIRING_FIELDS);
}

void keyspace_add(struct keyref *ref, struct entry *entry) {
    struct keyspace *keyspace = ref->keyspace;
    OWNER_ASSERT(keyspace->owner);
    CHECKED_ASSERT(entry_check(entry) && ref->hash == hash_of(keyspace, entry_key(entry)));
    CHECKED_ASSERT(!ref->entry && !hashtable_find(table_of(keyspace, ALL_KEYS, ref->hash),
                                                  entry_key(entry), ref->hash));
    ref->entry = entry;
    entry_set_epoch(entry, keyspace->epoch);
    ref->slot = table_group_insert(&keyspace->tables[ALL_KEYS], entry, ref->hash);
    keyspace->memo_slot = ref->slot;
    keyspace->memo_hash = ref->hash;
    count_size(keyspace, entry);
    for (int i = EXPIRING_KEYS; i < KEYSPACE_TABLES; i++)
        if (is_expiring(entry, i)) add_expiring(ref, i);
}

struct entry *keyspace_take(struct keyref *ref) {
    struct keyspace *keyspace = ref->keyspace;
    struct entry *entry = ref->entry;
    keyspace_before_change(ref);
    keyspace->memo_slot = NULL;
    size_histogram_remove(&keyspace->sizes, entry_type(entry), keyspace->length(entry));
    for (int i = EXPIRING_KEYS; i < KEYSPACE_TABLES; i++)
        if (is_expiring(entry, i)) delete_expiring(ref, i);
    table_group_delete(&keyspace->tables[ALL_KEYS], ref->slot, ref->hash);
    ref->slot = NULL;
    ref->entry = NULL;
    return entry;
}

void keyspace_delete(struct keyref *ref) {
    struct keyspace *keyspace = ref->keyspace;
    keyspace->free_entry(keyspace_take(ref));
}

/* --- All of them --- */

size_t keyspace_count_of(const struct keyspace *keyspace, enum keyspace_keys which) {
    return table_group_count(&keyspace->tables[which]);
}

struct entry *keyspace_random(struct keyspace *keyspace, enum keyspace_keys which,
                              struct random *random) {
    return table_group_random(&keyspace->tables[which], random);
}

uint64_t keyspace_random_cursor(const struct keyspace *keyspace, enum keyspace_keys which,
                                struct random *random) {
    return table_group_random_cursor(&keyspace->tables[which], random);
}

/* What hashtable_scan's untyped callback needs to call the typed one. */
struct scan_visit {
    void (*visit)(struct entry *entry, void *arg);
    void *arg;
};

static void visit_item(void *item, void *arg) {
    const struct scan_visit *scan = arg;
    scan->visit(item, scan->arg);
}

uint64_t keyspace_scan(struct keyspace *keyspace, enum keyspace_keys which, uint64_t cursor,
                       void (*visit)(struct entry *entry, void *arg), void *arg) {
    struct scan_visit scan = {visit, arg};
    return table_group_scan(&keyspace->tables[which], cursor, visit_item, &scan);
}

/* Likewise for hashtable_walk. */
struct walk_visit {
    bool (*visit)(struct entry *entry, void *arg);
    void *arg;
};

static bool walk_item(void *item, void *arg) {
    const struct walk_visit *walk = arg;
    return walk->visit(item, walk->arg);
}

uint64_t keyspace_walk(struct keyspace *keyspace, uint64_t cursor,
                       bool (*visit)(struct entry *entry, void *arg), void *arg) {
    struct walk_visit walk = {visit, arg};
    return table_group_walk(&keyspace->tables[ALL_KEYS], cursor, walk_item, &walk);
}

bool keyspace_walk_passes(const struct keyspace *keyspace, struct slice key, uint64_t from,
                          uint64_t to) {
    return table_group_walk_passes(&keyspace->tables[ALL_KEYS], hash_of(keyspace, key), from, to);
}

/* --- Relocating --- */

struct relocation {
    struct keyspace *keyspace;
    struct entry *(*move)(struct entry *entry, void *arg);
    void *arg;
};

static void *relocate_item(void *item, void *arg) {
    const struct relocation *relocation = arg;
    struct keyref ref = {.keyspace = relocation->keyspace};
    ref.entry = relocation->move(item, relocation->arg);
    if (ref.entry == item) return item;
    bool is_in_table = entry_expiry(ref.entry) >= 0 || entry_fields_expire(ref.entry);
    if (is_in_table) ref.hash = hash_of(ref.keyspace, entry_key(ref.entry));
    for (int i = EXPIRING_KEYS; i < KEYSPACE_TABLES; i++)
        if (is_expiring(ref.entry, i)) move_expiring(&ref, i, item);
    return ref.entry;
}

uint64_t keyspace_relocate(struct keyspace *keyspace, enum keyspace_keys which, uint64_t cursor,
                           struct relocator *relocator,
                           struct entry *(*move)(struct entry *entry, void *arg), void *arg) {
    struct relocation relocation = {keyspace, move, arg};
    keyspace->memo_slot = NULL;
    return table_group_relocate(&keyspace->tables[which], cursor, relocator,
                                which == ALL_KEYS ? relocate_item : NULL, &relocation);
}

void snapshot_iterator_start(struct snapshot_iterator *iterator, struct keyspace *keyspace) {
    assert(!keyspace->iterator);
    iterator->keyspace = keyspace;
    iterator->cursor = 0;
    iterator->over = false;
    keyspace->iterator = iterator;
    keyspace->epoch ^= ENTRY_EPOCH;
}

static void visit_if_unvisited(struct entry *entry, void *arg) {
    struct snapshot_iterator *iterator = arg;
    if (!iterator->paused && entry_epoch(entry) != iterator->keyspace->epoch)
        visit_entry(iterator, entry);
}

bool snapshot_iterator_step(struct snapshot_iterator *iterator) {
    if (iterator->over) return false; /* its keyspace may be gone */
    CHECKED_ASSERT(iterator->keyspace->iterator == iterator);
    iterator->paused = false;
    uint64_t next =
        keyspace_scan(iterator->keyspace, ALL_KEYS, iterator->cursor, visit_if_unvisited, iterator);
    if (iterator->paused) return true;
    iterator->cursor = next;
    if (next) return true;
    iterator->over = true;
    iterator->keyspace->iterator = NULL;
    return false;
}

void snapshot_iterator_abandon(struct snapshot_iterator *iterator) {
    CHECKED_ASSERT(!iterator->over && iterator->keyspace->iterator == iterator);
    iterator->over = true;
    iterator->keyspace->iterator = NULL;
}

struct snapshot_iterator *keyspace_snapshot_iterator(const struct keyspace *keyspace) {
    return keyspace->iterator;
}

void keyspace_iter_start(struct keyspace_iter *iter, const struct keyspace *keyspace) {
    table_group_iter_start(&iter->tables, &keyspace->tables[ALL_KEYS]);
}

struct entry *keyspace_iter_next(struct keyspace_iter *iter) {
    return table_group_iter_next(&iter->tables);
}

/* --- Slots --- */

static const struct hashtable *table_of_slot(const struct keyspace *keyspace, unsigned slot) {
    CHECKED_ASSERT(keyspace->is_by_slot && slot < KEY_SLOTS);
    return table_group_table_of_number(&keyspace->tables[ALL_KEYS], slot);
}

size_t keyspace_slot_count(const struct keyspace *keyspace, unsigned slot) {
    return hashtable_count(table_of_slot(keyspace, slot));
}

uint64_t keyspace_scan_slot(struct keyspace *keyspace, unsigned slot, uint64_t cursor,
                            void (*visit)(struct entry *entry, void *arg), void *arg) {
    struct scan_visit scan = {visit, arg};
    return hashtable_scan(table_of_slot(keyspace, slot), cursor, visit_item, &scan);
}

/* Lets the snapshot iterator visit the entries of the slot, before they are taken out. */
static void visit_slot(struct keyspace *keyspace, unsigned slot) {
    struct hashtable_iter iter;
    struct entry *entry;
    if (!keyspace->iterator) return;
    hashtable_iter_start(&iter, table_of_slot(keyspace, slot));
    while ((entry = hashtable_iter_next(&iter)) != NULL)
        if (entry_epoch(entry) != keyspace->epoch) visit_entry(keyspace->iterator, entry);
}

static void move_sizes(struct keyspace *from, struct keyspace *to) {
    struct keyspace_iter iter;
    const struct entry *entry;
    keyspace_iter_start(&iter, to);
    while ((entry = keyspace_iter_next(&iter)) != NULL) {
        size_histogram_remove(&from->sizes, entry_type(entry), from->length(entry));
        count_size(to, entry);
    }
}

struct keyspace *keyspace_take_slot(struct keyspace *keyspace, unsigned slot) {
    OWNER_ASSERT(keyspace->owner);
    struct keyspace *taken = new_without_tables(keyspace->free_entry, keyspace->length);
    visit_slot(keyspace, slot);
    taken->epoch = keyspace->epoch;
    keyspace->memo_slot = NULL;
    for (int i = 0; i < KEYSPACE_TABLES; i++)
        taken->tables[i] = table_group_of(table_group_take(&keyspace->tables[i], slot));
    move_sizes(keyspace, taken);
    return taken;
}

/* --- Checking --- */

static bool check_memo(const struct keyspace *keyspace) {
    if (keyspace->memo_slot == NULL) return true;
    struct slice key = entry_key(hashtable_item(*keyspace->memo_slot));
    uint64_t hash = hash_of(keyspace, key);
    return hash == keyspace->memo_hash &&
           hashtable_find(table_of(keyspace, ALL_KEYS, hash), key, hash) == keyspace->memo_slot;
}

/* What was counted of all entries. */
struct counted {
    struct size_histogram sizes;
    size_t entries[KEYSPACE_TABLES];
};

static bool is_in_table(const struct keyspace *keyspace, int which, const struct entry *entry) {
    uint64_t hash = hash_of(keyspace, entry_key(entry));
    return hashtable_find_item(table_of(keyspace, which, hash), entry, hash);
}

/* The check of a table has found its entries in their places, but not that the table is that of
 * their slot. */
static bool check_entry(const struct keyspace *keyspace, const struct entry *entry,
                        struct counted *counted) {
    if (!entry_check(entry)) return false;
    if (!keyspace->iterator && entry_epoch(entry) != keyspace->epoch) return false;
    size_histogram_add(&counted->sizes, entry_type(entry), keyspace->length(entry));
    counted->entries[ALL_KEYS]++;
    for (int i = EXPIRING_KEYS; i < KEYSPACE_TABLES; i++) {
        if (!is_expiring(entry, i)) continue;
        if (!is_in_table(keyspace, i, entry)) return false;
        counted->entries[i]++;
    }
    return !keyspace->is_by_slot || is_in_table(keyspace, ALL_KEYS, entry);
}

bool keyspace_check(const struct keyspace *keyspace) {
    const struct snapshot_iterator *iterator = keyspace->iterator;
    struct counted counted = {0};
    struct keyspace_iter iter;
    const struct entry *entry;
    bool good = table_group_check(&keyspace->tables[ALL_KEYS]) && check_memo(keyspace) &&
                (!iterator || (!iterator->over && iterator->keyspace == keyspace));
    keyspace_iter_start(&iter, keyspace);
    while (good && (entry = keyspace_iter_next(&iter)) != NULL)
        good = check_entry(keyspace, entry, &counted);
    good = good && size_histogram_equal(&keyspace->sizes, &counted.sizes);
    for (int i = 0; i < KEYSPACE_TABLES; i++)
        good = good && (i == ALL_KEYS || table_group_check(&keyspace->tables[i])) &&
               counted.entries[i] == table_group_count(&keyspace->tables[i]);
    size_histogram_free(&counted.sizes);
    return good;
}
