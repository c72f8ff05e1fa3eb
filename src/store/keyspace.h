/* keyspace: the keys of one database: a hashtable of entries, with a memo of the key last looked
 * up, and a histogram of the sizes of their values.
 *
 * The keyspace owns its entries. A struct keyref names one entry together with its place in the
 * table, so that a type can resize or re-encode it without a second lookup. A keyref stays valid
 * until another key is added to or deleted from the same keyspace. */
#ifndef PACKLIST_STORE_KEYSPACE_H
#define PACKLIST_STORE_KEYSPACE_H

#include "base/random.h"
#include "ds/hashtable.h"
#include "store/entry.h"
#include "store/size_histogram.h"

struct keyspace;

struct keyref {
    struct keyspace *keyspace;
    hashtable_slot *slot; /* NULL when the key does not exist */
    struct entry *entry;  /* NULL when the key does not exist */
    uint64_t hash;
};

/* `free_entry` frees an entry with its value, `length` returns the size of its value, as
 * store/size_histogram.h counts it: value_free and value_length of types/value.h. */
struct keyspace *keyspace_new(void (*free_entry)(struct entry *entry),
                              uint64_t (*length)(const struct entry *entry));
void keyspace_free(struct keyspace *keyspace);

size_t keyspace_count(const struct keyspace *keyspace);

/* Bytes of the table and the histogram; entries not included. O(1). */
size_t keyspace_table_allocated(const struct keyspace *keyspace);

/* The same of the table of those that expire. O(1). */
size_t keyspace_expiring_allocated(const struct keyspace *keyspace);

/* Looks the key up. The result's entry is NULL when it is not there; the hash is set in any case,
 * for keyspace_add. O(1); the key that was found last is found again without hashing. */
struct keyref keyspace_find(struct keyspace *keyspace, struct slice key);

/* For a pipeline of commands, two stages before the keys are looked up for good, so that their
 * cache misses overlap. First start loading each key's bucket, which costs the hash; then, with the
 * hash that this returned, the entry itself. Then look up without hashing again. */
uint64_t keyspace_prefetch(const struct keyspace *keyspace, struct slice key);
void keyspace_prefetch_entry(const struct keyspace *keyspace, uint64_t hash);
struct keyref keyspace_find_hashed(struct keyspace *keyspace, struct slice key, uint64_t hash);

/* Finds the entry at this address, of whose key `hash` is; the result's entry is NULL when it is
 * not there any more. Does not read the entry until it is found. O(1). */
struct keyref keyspace_find_entry(struct keyspace *keyspace, const struct entry *entry,
                                  uint64_t hash);

/* Adds an entry whose key `ref` was looked up and not found (and not added since); takes ownership;
 * `ref` then names it. */
void keyspace_add(struct keyref *ref, struct entry *entry);

/* Deletes and frees the entry that `ref` names; `ref` then names nothing. */
void keyspace_delete(struct keyref *ref);

/* Takes the entry out without freeing it: the caller owns it. */
struct entry *keyspace_take(struct keyref *ref);

/* The entry was moved by its type (entry_resize): updates the table, and the table of keys that
 * expire when it is one of them. A walk that has still to see it will. */
void keyref_moved(struct keyref *ref, struct entry *entry);

/* --- Sizes of values: keyspace_add and keyspace_take count an entry by themselves; when the size
 * of its value changes in place, types/ reports that --- */

/* How many values there are of each size. Valid as long as the keyspace is. */
const struct size_histogram *keyspace_sizes(const struct keyspace *keyspace);

/* The value of the entry that `ref` names has changed: it was of type `old_type` and `old_length`
 * long. Counts it as what it is now. O(1). */
void keyspace_recount(const struct keyref *ref, enum value_type old_type, uint64_t old_length);

/* The same for a value whose type has not changed, and which is now `length` long. Costs a few
 * instructions when both lengths fall into the same bucket. */
static inline void keyspace_resized(const struct keyref *ref, uint64_t old_length,
                                    uint64_t length) {
    if (!size_bucket_same(old_length, length))
        keyspace_recount(ref, entry_type(ref->entry), old_length);
}

/* --- Expiry: keys with an expiry stand in a second table, so that they are found without
 * looking at the others --- */

/* Lets the key expire at `expiry_ms` (-1: never). May move the entry. `value_size` as now in use.
 * The keyspace deletes nothing by itself: who looks a key up asks entry_expiry. O(1). */
void keyspace_set_expiry(struct keyref *ref, int64_t expiry_ms, size_t value_size);

/* Keys that have an expiry. O(1). */
size_t keyspace_expiring_count(const struct keyspace *keyspace);

/* One of them at random, or NULL. */
struct entry *keyspace_random_expiring(struct keyspace *keyspace, struct random *random);

/* One step of a scan over them: see hashtable_scan. */
uint64_t keyspace_scan_expiring(struct keyspace *keyspace, uint64_t cursor,
                                void (*visit)(struct entry *entry, void *arg), void *arg);

/* Deletes every key. O(n). */
void keyspace_clear(struct keyspace *keyspace);

/* Each keyspace gets the keys of the other. Keyrefs into them die. O(1). */
void keyspace_swap(struct keyspace *a, struct keyspace *b);

/* A random entry or NULL. */
struct entry *keyspace_random(struct keyspace *keyspace, struct random *random);

/* One step of SCAN: see hashtable_scan. */
uint64_t keyspace_scan(struct keyspace *keyspace, uint64_t cursor,
                       void (*visit)(struct entry *entry, void *arg), void *arg);

/* Walks all entries; the keyspace must not change meanwhile. */
struct keyspace_iter {
    struct hashtable_iter table;
};
void keyspace_iter_start(struct keyspace_iter *iter, const struct keyspace *keyspace);
struct entry *keyspace_iter_next(struct keyspace_iter *iter);

/* --- A walk over all entries as they are at its start, while they change: each is seen once, by
 * the walk's steps, or earlier, before its first change or its end. Entries added later are not
 * seen. One walk at a time in a keyspace. Owned by who walks; it follows its entries when keyspaces
 * are swapped, and sees the rest of them at once, O(n), before they are all freed (keyspace_clear,
 * keyspace_free, keyspace_end_start). A walk must come to its end, unless its keyspace is given up:
 * a walker that loses interest exchanges visit() for one that does nothing, and goes on
 * stepping. --- */

struct snapshot_iterator {
    /* Must not change the keyspace. */
    void (*visit)(struct snapshot_iterator *iterator, struct entry *entry); /* may be exchanged */
    struct keyspace *keyspace; /* where its entries are; may be gone when the walk is over */
    uint64_t cursor;
    int number;   /* for the walker */
    bool adopted; /* for the walker */
    bool paused;  /* visit() may set it: the step ends without seeing what is left of the bucket */
    bool over;    /* all entries were seen */
};

/* Marks every entry as not seen yet. No walk may be under way in this keyspace. O(1). */
void snapshot_iterator_start(struct snapshot_iterator *iterator, struct keyspace *keyspace);

/* Sees what is left of one bucket, or of a few. False when all were seen: the walk is over. */
bool snapshot_iterator_step(struct snapshot_iterator *iterator);

/* Ends a walk before it has seen all entries. Its keyspace is given up, too: it may only be swapped
 * and freed from now on. O(1). */
void snapshot_iterator_abandon(struct snapshot_iterator *iterator);

/* The walk that runs, or NULL. */
struct snapshot_iterator *keyspace_snapshot_iterator(const struct keyspace *keyspace);

/* The entry that `ref` names is about to be changed in place: a walk sees it first. Not needed
 * before the functions here that take it out or set its expiry. */
void keyspace_before_change(struct keyref *ref);

/* Is it so that no walk still has to see the entry? For asserting. */
bool keyref_was_visited(const struct keyref *ref);

/* Frees a keyspace bit by bit: from the start on nothing else may be done with it. A step frees up
 * to `keys` entries and returns whether there is more to do; the last one frees the keyspace
 * itself. Any thread may take the steps. */
struct keyspace_ending {
    struct keyspace *keyspace;
    struct keyspace_iter iter;
};
void keyspace_end_start(struct keyspace_ending *ending, struct keyspace *keyspace);
bool keyspace_end_step(struct keyspace_ending *ending, size_t keys);

/* The tables themselves, of all keys and of those that expire, for DEBUG HTSTATS. */
const struct hashtable *keyspace_table(const struct keyspace *keyspace);
const struct hashtable *keyspace_expiring_table(const struct keyspace *keyspace);

/* The executable invariant: table, entries, count, histogram. O(n). */
bool keyspace_check(const struct keyspace *keyspace);

#endif
