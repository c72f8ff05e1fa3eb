/* Invariants: every item of the table of all keys is an entry that the keyspace owns; the memo's
 * slot is NULL or a valid slot of this table, and its hash the one of that slot's key; each other
 * table points to exactly those entries that expire in its way (is_expiring). Adding and deleting
 * may move slots, so both renew the memo; an entry that moves is written to its slot by
 * keyref_moved(), where the memo reads it. All entries have the keyspace's epoch, except those that
 * a snapshot iterator has yet to visit. `sizes` counts the value of each entry once, under its
 * present type and length. */
#include "store/keyspace.h"

#include "base/checked.h"
#include "base/memory/alloc.h"
#include "base/threads/owner.h"

#include <assert.h>

struct keyspace {
    struct owner owner; /* but of what frees it */
    struct hashtable *tables[KEYSPACE_TABLES];
    hashtable_slot *memo_slot; /* of the key found last */
    uint64_t memo_hash;
    void (*free_entry)(struct entry *entry);
    uint64_t (*length)(const struct entry *entry);
    struct size_histogram sizes;
    struct snapshot_iterator *iterator; /* the one under way, or NULL */
    uint8_t epoch;                      /* of visited entries; of all entries without an iterator */
};

static struct slice item_key(const void *item) {
    return entry_key(item);
}

static const struct hashtable_type entry_table = {item_key};

struct keyspace *keyspace_new(void (*free_entry)(struct entry *entry),
                              uint64_t (*length)(const struct entry *entry)) {
    struct keyspace *keyspace = mem_alloc(sizeof(*keyspace));
    *keyspace = (struct keyspace){.free_entry = free_entry, .length = length};
    for (int i = 0; i < KEYSPACE_TABLES; i++) keyspace->tables[i] = hashtable_new(&entry_table);
    return keyspace;
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
    for (int i = 0; i < KEYSPACE_TABLES; i++) hashtable_free(keyspace->tables[i]);
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
    struct keyspace *old = keyspace_new(keyspace->free_entry, keyspace->length);
    keyspace_swap(keyspace, old);
    keyspace_free(old);
}

size_t keyspace_count(const struct keyspace *keyspace) {
    return hashtable_count(keyspace->tables[ALL_KEYS]);
}

size_t keyspace_table_allocated(const struct keyspace *keyspace) {
    return hashtable_allocated(keyspace->tables[ALL_KEYS]) +
           size_histogram_allocated(&keyspace->sizes);
}

size_t keyspace_expiring_allocated(const struct keyspace *keyspace) {
    return hashtable_allocated(keyspace->tables[EXPIRING_KEYS]) +
           hashtable_allocated(keyspace->tables[EXPIRING_FIELDS]);
}

const struct hashtable *keyspace_table(const struct keyspace *keyspace, enum keyspace_keys which) {
    return keyspace->tables[which];
}

/* --- Looking up --- */

static inline struct entry *refer_to_memo(struct keyspace *keyspace, struct keyref *ref) {
    ref->keyspace = keyspace;
    ref->slot = keyspace->memo_slot;
    ref->hash = keyspace->memo_hash;
    return ref->entry = hashtable_item(*keyspace->memo_slot);
}

static inline struct entry *find_in_table(struct keyspace *keyspace, struct slice key,
                                          uint64_t hash, struct keyref *ref) {
    hashtable_slot *slot = hashtable_find(keyspace->tables[ALL_KEYS], key, hash);
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
    return find_in_table(keyspace, key, hashtable_hash(key), ref);
}

const struct entry *keyspace_found_last(const struct keyspace *keyspace) {
    return keyspace->memo_slot ? hashtable_item(*keyspace->memo_slot) : NULL;
}

struct hashtable_lookup keyspace_prefetch(const struct keyspace *keyspace, struct slice key) {
    return hashtable_prefetch(keyspace->tables[ALL_KEYS], hashtable_hash(key));
}

void keyspace_prefetch_entries(const struct keyspace *keyspace, const struct slice *keys,
                               size_t stride, size_t count,
                               const struct entry *entries[KEYSPACE_KEYS_AT_ONCE]) {
    struct hashtable_lookup lookups[KEYSPACE_KEYS_AT_ONCE];
    unsigned missed = 0; /* bit i: entry i is not found yet */
    for (size_t i = 0; i < count; i++) lookups[i] = keyspace_prefetch(keyspace, keys[i * stride]);
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
    CHECKED_ASSERT(hash == hashtable_hash(key));
    struct keyref ref;
    find_in_table(keyspace, key, hash, &ref);
    return ref;
}

struct keyref keyspace_find_entry(struct keyspace *keyspace, const struct entry *entry,
                                  uint64_t hash) {
    hashtable_slot *slot = hashtable_find_item(keyspace->tables[ALL_KEYS], entry, hash);
    struct keyref ref = {.keyspace = keyspace, .hash = hash};
    /* Another entry may have got the address since, in the same bucket and with the same tag. */
    if (slot == NULL || hashtable_hash(entry_key(hashtable_item(*slot))) != hash) return ref;
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
    hashtable_insert(ref->keyspace->tables[which], ref->entry, ref->hash);
}

static void delete_expiring(const struct keyref *ref, int which) {
    struct hashtable *table = ref->keyspace->tables[which];
    hashtable_delete(table, hashtable_find_item(table, ref->entry, ref->hash), ref->hash);
}

/* The entry was at the address `old`, which is not read. */
static void move_expiring(const struct keyref *ref, int which, const struct entry *old) {
    hashtable_replace(hashtable_find_item(ref->keyspace->tables[which], old, ref->hash),
                      ref->entry);
}

/* --- Changing --- */

void keyref_update_tables(struct keyref *ref, struct entry *entry) {
    CHECKED_ASSERT(entry_check(entry) && ref->hash == hashtable_hash(entry_key(entry)));
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
    CHECKED_ASSERT(entry_check(entry) && ref->hash == hashtable_hash(entry_key(entry)));
    CHECKED_ASSERT(!ref->entry &&
                   !hashtable_find(keyspace->tables[ALL_KEYS], entry_key(entry), ref->hash));
    ref->entry = entry;
    entry_set_epoch(entry, keyspace->epoch);
    ref->slot = hashtable_insert(keyspace->tables[ALL_KEYS], entry, ref->hash);
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
    hashtable_delete(keyspace->tables[ALL_KEYS], ref->slot, ref->hash);
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
    return hashtable_count(keyspace->tables[which]);
}

struct entry *keyspace_random(struct keyspace *keyspace, enum keyspace_keys which,
                              struct random *random) {
    return hashtable_random(keyspace->tables[which], random);
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
    return hashtable_scan(keyspace->tables[which], cursor, visit_item, &scan);
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
    return hashtable_walk(keyspace->tables[ALL_KEYS], cursor, walk_item, &walk);
}

bool keyspace_walk_passes(struct slice key, uint64_t from, uint64_t to) {
    return hashtable_walk_passes(hashtable_hash(key), from, to);
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
    if (is_in_table) ref.hash = hashtable_hash(entry_key(ref.entry));
    for (int i = EXPIRING_KEYS; i < KEYSPACE_TABLES; i++)
        if (is_expiring(ref.entry, i)) move_expiring(&ref, i, item);
    return ref.entry;
}

uint64_t keyspace_relocate(struct keyspace *keyspace, enum keyspace_keys which, uint64_t cursor,
                           struct relocator *relocator,
                           struct entry *(*move)(struct entry *entry, void *arg), void *arg) {
    struct relocation relocation = {keyspace, move, arg};
    keyspace->memo_slot = NULL;
    return hashtable_relocate(keyspace->tables[which], cursor, relocator,
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
    hashtable_iter_start(&iter->table, keyspace->tables[ALL_KEYS]);
}

struct entry *keyspace_iter_next(struct keyspace_iter *iter) {
    return hashtable_iter_next(&iter->table);
}

static bool check_memo(const struct keyspace *keyspace) {
    if (keyspace->memo_slot == NULL) return true;
    struct slice key = entry_key(hashtable_item(*keyspace->memo_slot));
    uint64_t hash = hashtable_hash(key);
    return hash == keyspace->memo_hash &&
           hashtable_find(keyspace->tables[ALL_KEYS], key, hash) == keyspace->memo_slot;
}

/* What was counted of all entries. */
struct counted {
    struct size_histogram sizes;
    size_t entries;
    size_t expiring[KEYSPACE_TABLES];
};

static bool check_entry(const struct keyspace *keyspace, const struct entry *entry,
                        struct counted *counted) {
    if (!entry_check(entry)) return false;
    if (!keyspace->iterator && entry_epoch(entry) != keyspace->epoch) return false;
    counted->entries++;
    size_histogram_add(&counted->sizes, entry_type(entry), keyspace->length(entry));
    for (int i = EXPIRING_KEYS; i < KEYSPACE_TABLES; i++) {
        if (!is_expiring(entry, i)) continue;
        uint64_t hash = hashtable_hash(entry_key(entry));
        if (!hashtable_find_item(keyspace->tables[i], entry, hash)) return false;
        counted->expiring[i]++;
    }
    return true;
}

bool keyspace_check(const struct keyspace *keyspace) {
    const struct snapshot_iterator *iterator = keyspace->iterator;
    struct counted counted = {0};
    struct keyspace_iter iter;
    const struct entry *entry;
    bool good = hashtable_check(keyspace->tables[ALL_KEYS]) && check_memo(keyspace) &&
                (!iterator || (!iterator->over && iterator->keyspace == keyspace));
    keyspace_iter_start(&iter, keyspace);
    while (good && (entry = keyspace_iter_next(&iter)) != NULL)
        good = check_entry(keyspace, entry, &counted);
    good = good && counted.entries == keyspace_count(keyspace) &&
           size_histogram_equal(&keyspace->sizes, &counted.sizes);
    for (int i = EXPIRING_KEYS; i < KEYSPACE_TABLES; i++)
        good = good && hashtable_check(keyspace->tables[i]) &&
               counted.expiring[i] == hashtable_count(keyspace->tables[i]);
    size_histogram_free(&counted.sizes);
    return good;
}
