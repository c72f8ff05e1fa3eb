/* keyspace: the keys of one database: a hashtable of entries, or one for each slot of a cluster,
 * with a memo of the key last looked up, and a histogram of the sizes of their values.
 *
 * The keyspace owns its entries. A struct keyref names one entry together with its place in the
 * table, so that a type can resize or re-encode it without a second lookup. A keyref stays valid
 * until another key is added to or deleted from the same keyspace.
 *
 * A keyspace by slot can also count, list and take out the keys of one slot (store/key_slot.h). All
 * other functions are the same for both kinds, at the same cost; those that are O(1) take 14 more
 * steps there to add and delete a key, or to choose one at random. */
#ifndef PACKLIST_STORE_KEYSPACE_H
#define PACKLIST_STORE_KEYSPACE_H

#include "base/hash/random.h"
#include "ds/table_group.h"
#include "store/entry.h"
#include "store/size_histogram.h"

struct relocator; /* base/memory/relocate.h */

struct keyspace;

struct keyref {
    struct keyspace *keyspace;
    hashtable_slot *slot; /* NULL when the key does not exist */
    struct entry *entry;  /* NULL when the key does not exist */
    uint64_t hash;        /* keyspace_hash */
};

/* `free_entry` frees an entry with its value; `length` returns the size of its value as
 * store/size_histogram.h counts it. These are value_free and value_length of types/value.h. */
struct keyspace *keyspace_new(void (*free_entry)(struct entry *entry),
                              uint64_t (*length)(const struct entry *entry));

/* The same by slot. It takes 256 KB more as soon as it has keys, the same again for keys that
 * expire and for fields that expire, and 80 bytes for each slot that has such keys. */
struct keyspace *keyspace_new_by_slot(void (*free_entry)(struct entry *entry),
                                      uint64_t (*length)(const struct entry *entry));

/* An empty one of the same kind, with the same functions. */
struct keyspace *keyspace_new_like(const struct keyspace *other);

void keyspace_free(struct keyspace *keyspace);

/* The next thread that uses the keyspace is the one that may, from then on. */
void keyspace_hand_over(struct keyspace *keyspace);

size_t keyspace_count(const struct keyspace *keyspace);

/* Bytes of the table and the histogram; entries not included. O(1). */
size_t keyspace_table_allocated(const struct keyspace *keyspace);

/* Bytes of the tables of what expires. O(1). */
size_t keyspace_expiring_allocated(const struct keyspace *keyspace);

/* The hash of a key: in a keyspace by slot it contains the slot, so hashes are for keyspaces of one
 * kind only. */
uint64_t keyspace_hash(const struct keyspace *keyspace, struct slice key);

/* Looks the key up: returns its entry, which *ref then names, or NULL. If NULL, ref->entry is NULL,
 * too, and ref->hash is set, for keyspace_add. O(1); the key that was found last is found again
 * without hashing. */
struct entry *keyspace_look_up(struct keyspace *keyspace, struct slice key, struct keyref *ref);

/* As keyspace_look_up, and returns what the key names. */
static inline struct keyref keyspace_find(struct keyspace *keyspace, struct slice key) {
    struct keyref ref;
    keyspace_look_up(keyspace, key, &ref);
    return ref;
}

/* The entry that was found last, if it is still known; NULL else. */
const struct entry *keyspace_found_last(const struct keyspace *keyspace);

/* For a pipeline of commands: stages before the lookups, so that their cache misses overlap.
 * First start loading each key's bucket, which costs the hash. Then, before a key is added or
 * deleted, start loading the entry itself with what the first stage returned
 * (hashtable_prefetch_item); the result is an entry that nearly always is the key's, or NULL. For
 * those with NULL do the same in the bucket's overflow array (hashtable_prefetch_overflow_item).
 * Then look up without hashing again. */
struct hashtable_lookup keyspace_prefetch(const struct keyspace *keyspace, struct slice key);
struct keyref keyspace_find_hashed(struct keyspace *keyspace, struct slice key, uint64_t hash);

/* Does the first two stages for `count` keys: keys[0], keys[stride], keys[2 * stride] … Sets
 * entries[i] to an entry, nearly always that of the i-th of them, or to NULL. At most
 * KEYSPACE_KEYS_AT_ONCE, so that their cache lines fit into the first-level cache. */
enum { KEYSPACE_KEYS_AT_ONCE = 16 };
void keyspace_prefetch_entries(const struct keyspace *keyspace, const struct slice *keys,
                               size_t stride, size_t count,
                               const struct entry *entries[KEYSPACE_KEYS_AT_ONCE]);

/* Returns whether the keyspace is so small that it is assumed to be in the caches: then prefetching
 * gains nothing. */
bool keyspace_is_cached(const struct keyspace *keyspace);

/* Finds the entry at this address, whose key has this `hash`; the result's entry is NULL when it is
 * no longer there. Does not read the entry until it is found. O(1). */
struct keyref keyspace_find_entry(struct keyspace *keyspace, const struct entry *entry,
                                  uint64_t hash);

/* Adds an entry and takes ownership of it. Its key `ref` was looked up and not found, and has not
 * been added since; `ref` then names the entry. O(1). */
void keyspace_add(struct keyref *ref, struct entry *entry);

/* Deletes and frees the entry that `ref` names; `ref` then names nothing. */
void keyspace_delete(struct keyref *ref);

/* Takes the entry out without freeing it: the caller owns it. */
struct entry *keyspace_take(struct keyref *ref);

/* To be called by a type that may have moved the entry (entry_resize), which is now at `entry`: if
 * so, updates the table, and the tables of what expires if it is in these. The epoch moves with it.
 * O(1). */
void keyref_update_tables(struct keyref *ref, struct entry *entry); /* for keyref_moved alone */
static inline void keyref_moved(struct keyref *ref, struct entry *entry) {
    if (entry != ref->entry) keyref_update_tables(ref, entry);
}

/* --- Sizes of values: keyspace_add and keyspace_take count an entry by themselves; when the size
 * of its value changes in place, types/ reports that --- */

/* How many values there are of each size. Valid as long as the keyspace is. */
const struct size_histogram *keyspace_sizes(const struct keyspace *keyspace);

/* To be called when the value of the entry that `ref` names has changed from type `old_type` and
 * `old_length`: counts it as what it is now. O(1). */
void keyspace_recount(const struct keyref *ref, enum value_type old_type, uint64_t old_length);

/* The same for a value whose type has not changed, and which is now `length` long. Costs a few
 * instructions when both lengths fall into the same bucket. */
static inline void keyspace_resized(const struct keyref *ref, uint64_t old_length,
                                    uint64_t length) {
    if (!size_bucket_same(old_length, length))
        keyspace_recount(ref, entry_type(ref->entry), old_length);
}

/* --- Expiry: keys with an expiry, and keys whose value has fields with expiries, are also in
 * tables of their own, so that they are found without examining the others --- */

enum keyspace_keys { ALL_KEYS, EXPIRING_KEYS, EXPIRING_FIELDS, KEYSPACE_TABLES };

/* Sets the expiry to `expiry_ms` (-1: none). May move the entry. `value_size` is the present size
 * of the value. The keyspace never deletes expired keys: callers check entry_expiry. O(1). */
void keyspace_set_expiry(struct keyref *ref, int64_t expiry_ms, size_t value_size);

/* Sets whether the value of the entry that `ref` names has fields with expiries
 * (entry_fields_expire). For types/. O(1). */
void keyspace_set_fields_expire(struct keyref *ref, bool expire);

/* How many such keys there are. O(1). */
size_t keyspace_count_of(const struct keyspace *keyspace, enum keyspace_keys which);

/* A random one of them, or NULL. O(1). */
struct entry *keyspace_random(struct keyspace *keyspace, enum keyspace_keys which,
                              struct random *random);

/* One step of a scan over them: see hashtable_scan. By slot, it goes from slot to slot. */
uint64_t keyspace_scan(struct keyspace *keyspace, enum keyspace_keys which, uint64_t cursor,
                       void (*visit)(struct entry *entry, void *arg), void *arg);

/* A cursor for keyspace_scan to visit the keys of one bucket, chosen so that each key is about
 * equally likely to be visited. O(1). */
uint64_t keyspace_random_cursor(const struct keyspace *keyspace, enum keyspace_keys which,
                                struct random *random);

/* One step of a walk over all keys, which visits those that are there from the first step to the
 * last, and no key twice: see hashtable_walk. The keyspace may also be swapped with another of its
 * kind between two steps, or be emptied and filled again. */
uint64_t keyspace_walk(struct keyspace *keyspace, uint64_t cursor,
                       bool (*visit)(struct entry *entry, void *arg), void *arg);

/* Returns whether a walk's steps from cursor `from` up to the one that returned `to` visit such a
 * key. O(1). */
bool keyspace_walk_passes(const struct keyspace *keyspace, struct slice key, uint64_t from,
                          uint64_t to);

/* Deletes every key. O(n). */
void keyspace_clear(struct keyspace *keyspace);

/* Exchanges the keys of two keyspaces. Keyrefs into them become invalid. O(1). */
void keyspace_swap(struct keyspace *a, struct keyspace *b);

/* One step of moving memory to better places (base/memory/relocate.h), with a cursor as that of
 * keyspace_scan, which stays valid when the keyspace changes: passes each entry of a few keys to
 * move(), which returns where the entry is now; it may have moved it (entry_relocate) and what it
 * points to. Of a table of what expires only its own memory moves, and move() is not used. Keyrefs
 * become invalid. Nothing that can be seen of a key changes, so a snapshot iterator may run. */
uint64_t keyspace_relocate(struct keyspace *keyspace, enum keyspace_keys which, uint64_t cursor,
                           struct relocator *relocator,
                           struct entry *(*move)(struct entry *entry, void *arg), void *arg);

/* Iterates over all entries; the keyspace must not change during the iteration. */
struct keyspace_iter {
    struct table_group_iter tables;
};
void keyspace_iter_start(struct keyspace_iter *iter, const struct keyspace *keyspace);
struct entry *keyspace_iter_next(struct keyspace_iter *iter);

/* --- Slots: of a keyspace by slot only --- */

/* How many keys the slot has. O(1). */
size_t keyspace_slot_count(const struct keyspace *keyspace, unsigned slot);

/* One step of a scan over the keys of one slot: see hashtable_scan. */
uint64_t keyspace_scan_slot(struct keyspace *keyspace, unsigned slot, uint64_t cursor,
                            void (*visit)(struct entry *entry, void *arg), void *arg);

/* Takes all keys of the slot out: returns a keyspace with them, which is not by slot and which the
 * caller owns. A snapshot iterator visits them before. Moves the tables of the slot as they are,
 * and reads each entry once, to count its size in the other keyspace: O(keys of the slot), but
 * without freeing, allocating or hashing anything for a key. */
struct keyspace *keyspace_take_slot(struct keyspace *keyspace, unsigned slot);

/* --- Snapshot iterator: visits all entries as they are at its start, while they change. Each is
 * visited once: by a step, or earlier, before its first change or deletion. Entries added later
 * are not visited. A keyspace has at most one iterator, which the caller owns. It follows its
 * entries when keyspaces are swapped, and visits the rest at once, O(n), before they are all freed
 * (keyspace_clear, keyspace_free, keyspace_end_start). It must be stepped to the end, unless it is
 * abandoned with its keyspace: a caller that needs no more entries replaces visit() by a function
 * that does nothing, and goes on stepping. --- */

struct snapshot_iterator {
    /* Must not change the keyspace. */
    void (*visit)(struct snapshot_iterator *iterator, struct entry *entry); /* may be exchanged */
    struct keyspace *keyspace; /* where its entries are; may be freed once `over` */
    uint64_t cursor;
    int number;   /* for the caller */
    bool adopted; /* for the caller */
    bool paused;  /* visit() may set it: the step ends before the rest of the bucket */
    bool over;    /* all entries were visited */
};

/* Marks every entry as not visited. The keyspace must have no other snapshot iterator. O(1). */
void snapshot_iterator_start(struct snapshot_iterator *iterator, struct keyspace *keyspace);

/* Visits the rest of one bucket, or of a few. False when all entries have been visited. */
bool snapshot_iterator_step(struct snapshot_iterator *iterator);

/* Ends the iterator before it has visited all entries. Its keyspace is abandoned, too: it may only
 * be swapped and freed from now on. O(1). */
void snapshot_iterator_abandon(struct snapshot_iterator *iterator);

/* The iterator under way, or NULL. */
struct snapshot_iterator *keyspace_snapshot_iterator(const struct keyspace *keyspace);

/* To be called before the entry that `ref` names changes in place: the iterator visits it first.
 * Not needed before functions of this module that take it out or set its expiry. */
void keyspace_before_change(struct keyref *ref);

/* Returns whether no iterator has yet to visit the entry. For assertions. */
bool keyref_was_visited(const struct keyref *ref);

/* Frees a keyspace in steps; after keyspace_end_start nothing else may be done with it. Each step
 * returns an entry, whose ownership passes to the caller; or NULL, when there are no more, and the
 * keyspace itself is freed. Any thread may take the steps. */
struct keyspace_ending {
    struct keyspace *keyspace;
    struct keyspace_iter iter;
};
void keyspace_end_start(struct keyspace_ending *ending, struct keyspace *keyspace);
struct entry *keyspace_end_step(struct keyspace_ending *ending);

/* The tables themselves, for DEBUG HTSTATS. */
const struct table_group *keyspace_tables(const struct keyspace *keyspace,
                                          enum keyspace_keys which);

/* Checks the invariant: tables, entries, counts, histogram. O(n). */
bool keyspace_check(const struct keyspace *keyspace);

#endif
