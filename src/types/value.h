/* value: what is common to the values of all types. Each function calls the type's own one from the
 * type's row (types/type_operations.h); an entry of a type without values ends the process.
 *
 * For the functions of each type: one that takes a keyref may move the entry, and reports changes
 * of the value's length to the keyspace. Texts that are passed in must not lie in the value that
 * they change. A collection in the keyspace is never empty: the caller that empties it deletes the
 * key. `limits` are those in force now. */
#ifndef PACKLIST_TYPES_VALUE_H
#define PACKLIST_TYPES_VALUE_H

#include "store/entry.h"

struct relocator; /* base/memory/relocate.h */
struct relocate_cursor;

/* The number of types that entry_type can return. */
enum { VALUE_TYPE_NUMBERS = 16 };

enum value_type_flag {
    VALUE_IS_COLLECTION = 1, /* values have members, and a key is deleted when it has none left */
    VALUE_WAKES_CLIENTS = 2, /* there are commands that wait until a key holds such a value */
    VALUE_FINDS_MEMBERS = 4  /* members are found by their bytes */
};

/* The flags of each type, of enum value_type_flag; private to this header. */
extern const uint8_t value_type_flags[VALUE_TYPE_NUMBERS];

/* Returns whether there are values of this type, which may be any number. */
bool value_type_exists(enum value_type type);

/* "string", "list", …: what TYPE replies. Types without values have names, too, for TYPE filters.
 * Static. */
const char *value_type_name(enum value_type type);

/* What OBJECT ENCODING replies: "listpack", "hashtable", … Static. */
const char *value_encoding_name(const struct entry *entry);

/* What a request that runs soon reads: the entry of its key, which is in the cache and has an
 * out-of-line value, and what the request names after the key. */
struct value_lookup {
    const struct entry *entry;
    bool writes;          /* it probably changes the value */
    bool gives_score;     /* the first of two arguments is a new score of the second, a member */
    size_t argc;          /* arguments after the key */
    struct slice argv[2]; /* the first of them, empty where there are fewer */
    /* The type's own, from step to step. */
    uint64_t hash;
    double score;
    const void *at;
    int level;
    bool has_member; /* the next steps look for something else */
};

/* Starts loading what the request probably needs of the value: the member that it names, of a
 * collection with more than VALUE_CACHED_MEMBERS, else the beginning. For several lookups, step 0
 * for all of them, then step 1 for those for which step 0 returned true, and so on, so that their
 * cache misses overlap. From step 1 on the members from `writes` to `argv` must be set if
 * value_has_members_to_prefetch. Only a hint. O(1), or O(log(members)). */
bool value_prefetch(struct value_lookup *lookup, unsigned step);

/* A collection that has no more members is assumed to be in the caches when it is used often. */
#ifdef TINY_LIMITS
enum { VALUE_CACHED_MEMBERS = 20 };
#else
enum { VALUE_CACHED_MEMBERS = 32768 };
#endif

/* Returns whether value_prefetch looks for members in the value. O(1); reads out-of-line memory. */
bool value_has_members_to_prefetch(const struct entry *entry);

/* The value's size as store/size_histogram.h counts it: the length of a string in bytes, the number
 * of items of a collection. O(1). */
uint64_t value_length(const struct entry *entry);

/* Returns whether it is a collection without members, whose key must be deleted. A string is never
 * empty in this sense. O(1). */
static inline bool value_is_empty(const struct entry *entry) {
    return (value_type_flags[entry_type(entry)] & VALUE_IS_COLLECTION) && value_length(entry) == 0;
}

/* Returns whether commands can wait for values of its type. If so, each change of the value is
 * reported to engine/blocking.h. O(1). */
static inline bool value_wakes_clients(const struct entry *entry) {
    return value_type_flags[entry_type(entry)] & VALUE_WAKES_CLIENTS;
}

/* Returns whether the text lies in the memory of the entry itself: arguments of a function that
 * changes the value must not. O(1). */
bool value_entry_overlaps(const struct entry *entry, struct slice text);

/* Bytes of the value inside the entry: the size that entry_resize and entry_free need. O(1). */
size_t value_size(const struct entry *entry);

/* Frees the out-of-line memory of the entry, which must then be freed or given another value.
 * O(nodes). */
void value_free_out_of_line(struct entry *entry);

/* Frees the entry with everything its value owns. O(nodes). */
void value_free(struct entry *entry);

/* A new entry under `key` with its own copy of the value, the same in every byte and encoding, and
 * the same expiry. Its access clock is 0, as in every new entry. O(bytes). */
struct entry *value_copy(const struct entry *entry, struct slice key);

/* The same entry under another key: its value, expiry and access clock move to the entry returned,
 * and the old one is freed. Out-of-line memory is not touched. O(1): one allocation. */
struct entry *value_rename(struct entry *entry, struct slice key);

/* The work of freeing the value: 1 for a small one; grows with the number of allocations that are
 * freed, and with their bytes. A captured value leaves them to its captures. O(1). */
size_t value_free_effort(const struct entry *entry);

/* Bytes the entry and everything its value owns take, as allocated. O(1). */
size_t value_allocated(const struct entry *entry);

/* Moves memory that the entry points to, if it does, to better places (base/memory/relocate.h),
 * from *cursor on, until the step is due, and sets *cursor. A value that is captured stays as it
 * is, and counts as done. Nothing that can be seen of the value changes. Between two calls the
 * entry may get another value of any type. In the loop's thread. */
void value_relocate(struct entry *entry, struct relocator *relocator,
                    struct relocate_cursor *cursor);

/* Captures the value as it is now (ds/capture.h). The capture belongs to the memory that the entry
 * points to, not to the entry: an entry may move, and a rename gives the memory to another entry.
 * Nothing visible of the value changes. Returns NULL and does nothing when the value should be
 * copied: it is small, or has had so many captures (CAPTURES_EPOCH_MAX) that another one must wait
 * for the end of all. Until the release, *left, unless `left` is NULL, includes the bytes of memory
 * that only captures still need. In the loop's thread. O(1) for strings and lists. Sets, hashes and
 * streams copy one pointer for 512 pieces, sorted sets one for each node, which has about 100
 * members: 1 MB for 10 million. */
struct capture *value_capture(struct entry *entry, size_t *left);

/* Returns whether the value has a capture that was not released. If so, only the loop's thread may
 * change or free the value. Another thread may ask if no key leads to the value. O(1). */
bool value_is_captured(const struct entry *entry);

/* A value as it was at one moment: an entry that can be read as any other, in any thread; that of a
 * sorted set can not before zset_thaw. */
struct frozen {
    struct entry *entry;     /* under an empty key */
    struct capture *capture; /* whose memory it reads; NULL: it is a copy */
};

/* Freezes the value of a collection, as value_capture captures it; in the same time,
 * or O(bytes) where that returns NULL. */
void value_freeze(struct entry *entry, size_t *left, struct frozen *frozen);

/* As value_copy, of a frozen value. In any thread. O(bytes); for a sorted set
 * O(members · log nodes) hashes, as its index is made anew. */
struct entry *value_copy_frozen(const struct frozen *frozen, struct slice key);

/* Frees the entry, and returns the capture, which the caller must end; NULL: there is none. May be
 * called twice. In the loop's thread. O(1), O(bytes) for a copy. */
struct capture *value_unfreeze(struct frozen *frozen);

/* Checks the invariants of entry and value. A collection without members passes: removing them may
 * leave it for a moment. O(bytes), O(1) for strings, O(n log n) for sorted sets. */
bool value_check(const struct entry *entry);

#endif
