/* set: what a set value can do; the only place that knows its encodings.
 *
 *      layout                                                      OBJECT ENCODING
 *      an intset inside the entry (ds/records/intset.h)                    intset
 *      packed inside the entry (types/records.h)                   listpack
 *      a pointer to a table (types/records.h)                      hashtable
 *
 * Which encoding OBJECT ENCODING shows follows Redis 8: a set of integers is an intset up to
 * set-max-intset-entries; another one, or one that gets a member that is not an integer, is a
 * listpack up to set-max-listpack-entries members of up to set-max-listpack-value bytes; any other
 * is a hashtable. A set never returns to an encoding for smaller ones. types/value.h says what
 * holds for all types. */
#ifndef PACKLIST_TYPES_SET_H
#define PACKLIST_TYPES_SET_H

#include "base/text/number.h"
#include "base/text/sds.h"
#include "store/keyspace.h"
#include "types/records_random.h"
#include "types/value_limits.h"

/* --- Changing --- */

/* Adds a new set with the one member `first` under `key`, which `ref` looked up and did not find.
 * `expected`, at least 1, is how many members are about to be added: it decides on the encoding.
 * O(member). */
void set_create(struct keyref *ref, struct slice key, struct slice first, size_t expected,
                const struct set_limits *limits);

/* So many members are about to be added by one command: makes the set a table when even these
 * alone exceed the limits. O(members), at most the limits. */
void set_expect(struct keyref *ref, size_t expected, const struct set_limits *limits);

/* Adds the member; false when it is there. O(1); O(set) while it is not a table. */
bool set_add(struct keyref *ref, struct slice member, const struct set_limits *limits);

/* Removes the member; false when there is none. The set may be empty after it. As set_add. */
bool set_remove(struct keyref *ref, struct slice member);

/* Removes a member chosen at random from a set that is not empty, and returns it; the caller frees
 * it. O(1) in a table, else O(set). */
sds set_take_one(struct keyref *ref, struct random *random);

/* The same for `count` members, fewer than all, every choice with the same probability; hands each
 * to take(), which must not use the set. O(count) in a table, else O(set). */
void set_take(struct keyref *ref, struct random *random, uint64_t count,
              void (*take)(sds member, void *arg), void *arg);

/* --- Reading --- */

/* O(1). */
uint64_t set_length(const struct entry *entry);

/* O(1); O(log n) or O(set) while it is not a table. */
bool set_contains(const struct entry *entry, struct slice member);

/* Draws members of a set that is not empty, each with the same probability each time; a member may
 * come more than once. The set must not change between the draws. On the caller's stack. */
struct set_draws {
    struct records_draws records;
    const uint8_t *intset; /* NULL: it is none */
    char digits[INT64_TEXT_MAX];
};
void set_draws_begin(struct set_draws *draws, const struct entry *entry);

/* A view of the set, or of the draws until the next one. See records_draws_next; O(1) in an
 * intset. */
struct slice set_draws_next(struct set_draws *draws, struct random *random);
void set_draws_end(struct set_draws *draws);

/* Visits up to `count` different members chosen at random, every choice with the same probability:
 * all when there are no more. visit() must not change the set, and ends the visit when it returns
 * false. Expected O(count); O(set) while it is not a table, or for more than a third of its
 * members. */
void set_sample(const struct entry *entry, struct random *random, uint64_t count,
                bool (*visit)(struct slice member, void *arg), void *arg);

/* A text that is looked for in several sets. */
struct set_probe {
    struct slice member;
    uint64_t hash; /* set_hash(member) */
};
uint64_t set_hash(struct slice member);

/* Moves the probes that are members of the set to the front of the array, in their order, and
 * returns how many they are. There are at most TEXT_BATCH probes, each of another text. The lookups
 * overlap their cache misses. O(1) a probe in a table, O(log n) in an intset, O(members + probes)
 * in a listpack. */
size_t set_keep_members(const struct entry *entry, struct set_probe *probes, size_t count);

/* The table that the set is stored in; NULL in another encoding. O(1). */
const struct recordtable *set_table(const struct entry *entry);

/* All members; the set must not change during the iteration. On the caller's stack; needs no
 * end. */
struct set_iter {
    struct records_iter records;
    const uint8_t *intset; /* NULL: it is none */
    size_t index;
    char digits[INT64_TEXT_MAX];
};
void set_iter_start(struct set_iter *iter, const struct entry *entry);

/* The same for a captured set, in any thread, until the release. */
void set_iter_start_capture(struct set_iter *iter, const struct capture *capture);

/* The next member, a view until the next call; false at the end. Amortised O(1). */
bool set_iter_next(struct set_iter *iter, struct slice *member);

/* Fills the batch with the next members; false at the end. Cheaper than one by one. O(batch). */
bool set_iter_next_batch(struct set_iter *iter, struct text_batch *batch);

/* One step of a scan: see recordtable_scan. A set that is not a table is visited in one step. */
uint64_t set_scan(const struct entry *entry, uint64_t cursor,
                  void (*visit)(struct slice member, void *arg), void *arg);

/* --- For files --- */

/* The intset of a set that is one, with its size; NULL when it is none. */
const uint8_t *set_intset(const struct entry *entry, size_t *size);

/* A new entry with a set of an intset's bytes, which are valid. */
struct entry *set_from_intset(struct slice key, const uint8_t *intset,
                              const struct set_limits *limits);

/* A new entry with a set without members, which set_load_add fills, knowing of so many. */
struct entry *set_load_new(struct slice key, uint64_t expected, const struct set_limits *limits);

/* As set_add, of a set outside of a keyspace. May move the entry. */
bool set_load_add(struct entry **entry, struct slice member, const struct set_limits *limits);

#endif
