/* zset: what a sorted set can do; the only place that knows its encodings.
 *
 *      layout       where the members are                            OBJECT ENCODING
 *      embedded     a listpack body inside the entry: member,        listpack
 *                   score, member, score, … in order
 *      out-of-line  one pointer to a skiplist (ds/sorted_sets/skiplist.h)        skiplist
 *
 * As in Redis, a sorted set becomes a skiplist when it exceeds zset-max-listpack-entries or
 * zset-max-listpack-value, and never a listpack again; but one that comes from elsewhere than from
 * single additions (zset_from_skiplist) is a listpack if it fits. types/value.h says what holds for
 * all types.
 *
 * Costs are those of a skiplist of n members; with a listpack, of few members, functions are O(n)
 * where nothing else is said.
 *
 * Scores are doubles but NaN, and -0 becomes 0 (zset_score). No result depends on the encoding: a
 * replica may have another one, and repeats the same commands. */
#ifndef PACKLIST_TYPES_ZSET_H
#define PACKLIST_TYPES_ZSET_H

#include "base/text/number.h"
#include "base/text/text_batch.h"
#include "ds/sorted_sets/skiplist.h"
#include "types/packed.h"
#include "types/value_limits.h"

/* Adds a new sorted set with one member under `key`, which `ref` looked up and did not find. The
 * caller is going to add up to `count` members, this one included, the longest of `longest` bytes:
 * they decide which encoding it starts with, as in Redis 8. */
void zset_create(struct keyref *ref, struct slice key, struct slice member, double score,
                 uint64_t count, size_t longest, const struct listpack_limits *limits);

/* A new entry under `key` with the members of `list`, which is not empty and of which it takes
 * ownership. It becomes a listpack if it fits the limits; `longest` is the length of the longest
 * member. O(1), O(n) for a listpack. */
struct entry *zset_from_skiplist(struct slice key, struct skiplist *list, size_t longest,
                                 const struct listpack_limits *limits);

/* The score that a member gets when it is given this one. */
static inline double zset_score(double score) {
    return score == 0 ? 0 : score;
}

/* O(1). */
uint64_t zset_length(const struct entry *entry);

/* --- Members --- */

/* What zset_find has found. Valid until the sorted set changes. */
struct zset_place {
    bool found;
    double score; /* if found */

    /* Private: where. */
    struct skiplist_place in_list;
    uint64_t index; /* the rank in a listpack */
};

/* Looks a member up. Expected O(1); O(n) in a listpack. */
struct zset_place zset_find(const struct entry *entry, struct slice member);

/* Starts loading what zset_find reads for the first ZSET_PREFETCHED_MAX of these members, for all
 * of them at once: one after the other would wait for memory several times each. Only a hint.
 * `entry` may be NULL. O(1). */
enum { ZSET_PREFETCHED_MAX = 16 };
void zset_prefetch_members(const struct entry *entry, const struct slice *members, size_t count);

/* Members before the one that was found. O(log n); O(1) in a listpack. */
uint64_t zset_rank(const struct entry *entry, const struct zset_place *place);

/* Gives the member that was looked up, and found or not, this score. O(log n). */
void zset_put(struct keyref *ref, const struct zset_place *place, struct slice member, double score,
              const struct listpack_limits *limits);

/* A command is about to add up to `count` members, counting those that it names twice or that are
 * there: a listpack becomes a skiplist if these alone exceed the limits, as in Redis 8. O(1), O(n)
 * for the conversion. */
void zset_expect(struct keyref *ref, uint64_t count, const struct listpack_limits *limits);

/* Removes the member that was found. O(log n). */
void zset_remove(struct keyref *ref, const struct zset_place *place);

/* Removes `count` members from rank `from` on, which it has. O(log n + count). */
void zset_remove_range(struct keyref *ref, uint64_t from, uint64_t count);

/* --- Bounds: ranges are differences of them. O(log n) --- */

/* Members whose score is less, or, when `inclusive`, less or equal. */
uint64_t zset_count_below(const struct entry *entry, double score, bool inclusive);

/* Members that are less, or, when `inclusive`, less or equal, as bytes, where all have the same
 * score. Else what a binary search by rank finds, as if the members were in the order of their
 * bytes: the right number where they are. O(log² n) then. O(n log n) for a listpack, always. */
uint64_t zset_count_below_member(const struct entry *entry, struct slice member, bool inclusive);

/* --- Reading --- */

/* A member with its score. The text is a view: of `digits`, or of the sorted set. */
struct zset_member {
    struct slice text;
    double score;
    char digits[INT64_TEXT_MAX];
};

/* Reading in order. Lives on the caller's stack, has no end function; the sorted set must not
 * change while it is in use. */
struct zset_iter {
    struct skiplist_cursor cursor;
    const uint8_t *at; /* listpack: the next pair; backward: just past it; NULL: a skiplist */
    uint64_t left;     /* members that are still to come */
    bool forward;
};

/* Begins with the member at this rank; at rank >= length there is none. O(log n). */
void zset_iter_start(struct zset_iter *iter, const struct entry *entry, uint64_t rank,
                     bool forward);

/* The next member; false at the end. The text lives until the next call. O(1). */
bool zset_iter_next(struct zset_iter *iter, struct zset_member *member);

/* As zset_iter_next, but leaves the member's score as it is: one cache miss less. */
bool zset_iter_next_text(struct zset_iter *iter, struct zset_member *member);

/* Fills the batch with the texts of the next members, at most `max`: those of one node, or of a
 * part of the listpack. False at the end, or when `max` is 0. Cheaper than one by one. O(batch). */
bool zset_iter_next_batch(struct zset_iter *iter, struct text_batch *batch, uint64_t max);

/* Captures the `count` (> 0) members from this rank on, in this direction, to read them in the
 * loop's thread while the sorted set changes. NULL for a listpack, or if no capture can begin
 * (value_capture). O(log n). */
struct capture *zset_capture_range(struct entry *entry, uint64_t rank, uint64_t count, bool forward,
                                   size_t *left);

/* Reads up to `most` of the next of them, and unless `scores` is NULL their scores; returns how
 * many, 0 at the end. The texts live until the release. Cost: skiplist_range_capture_read. */
size_t zset_captured_read(struct capture *capture, struct slice *texts, double *scores,
                          size_t most);

/* Reading from a score on, and leaping over scores. Lives on the caller's stack; the sorted set
 * must not change while it is in use. */
struct zset_seeker {
    double score; /* of the member at which it is */

    /* Private: where. */
    const struct entry *entry; /* NULL: it reads a capture */
    struct skiplist_cursor cursor;
    const uint8_t *at; /* listpack: the pair */
    struct capture *capture;
    size_t place; /* of the node in the capture */
};

/* Goes to the first member whose score is at least this one. Returns false, at no member, when
 * there is none. O(log n). */
bool zset_seek(struct zset_seeker *seeker, const struct entry *entry, double score);

/* From a member to the first one with a score that is at least this one, which is greater than its
 * own; to the next one. O(1) where it is near, else O(log n). */
bool zset_seek_forward(struct zset_seeker *seeker, double score);
bool zset_seek_next(struct zset_seeker *seeker);

/* The text of the member: a view of the sorted set, or of `digits`. */
struct slice zset_seek_text(const struct zset_seeker *seeker, char digits[INT64_TEXT_MAX]);

/* Draws members of one that is not empty, each as likely as any other each time; a member may come
 * more than once. The sorted set must not change between the draws. On the caller's stack. */
struct zset_draws {
    const struct entry *entry;
    struct capture *capture; /* of a skiplist, which is read instead; or NULL */
    struct packed_index index;
    uint64_t length;
};
void zset_draws_begin(struct zset_draws *draws, const struct entry *entry);

/* The next member. O(log n); in a listpack all m draws together cost O(n + m). */
void zset_draws_next(struct zset_draws *draws, struct random *random, struct zset_member *member);

/* A member for each number below the length: that of this rank, unless it is read from a capture.
 * As zset_draws_next. */
void zset_draws_at(struct zset_draws *draws, uint64_t number, struct zset_member *member);
void zset_draws_end(struct zset_draws *draws);

/* One step of a scan: visits some members and returns the next cursor; begin with 0, done when it
 * returns 0. What is there from the first call to the last is visited, however the sorted set
 * changes. A listpack is visited at once. */
uint64_t zset_scan(const struct entry *entry, uint64_t cursor,
                   void (*visit)(struct slice member, double score, void *arg), void *arg);

/* --- Reading frozen sorted sets (types/value.h), in any thread: a copy, or by their scores --- */

struct frozen;

/* Returns an entry that has the value of a frozen sorted set, for reading. zset_find finds its
 * members only if `finds`, which takes longer. One thread at a time. O(n). */
struct entry *zset_thaw(const struct frozen *frozen, bool finds);

/* Frees that entry. In any thread, before value_unfreeze. O(n). */
void zset_thaw_end(const struct frozen *frozen, struct entry *entry);

/* As zset_draws_begin. The first draw costs O(n / 100). */
void zset_draws_begin_frozen(struct zset_draws *draws, const struct frozen *frozen);

/* A thread that needs members of few scores says so first, once: only those are found from then on
 * of which wants() returns true for some range of scores, from the first to the last, in which they
 * are. O(n / 100). */
void zset_frozen_select(const struct frozen *frozen,
                        bool (*wants)(double first, double last, const void *arg), const void *arg);

/* As zset_seek; the other functions of seekers follow as usual. The first time O(n), unless members
 * were selected. The texts live as long as the frozen sorted set. */
bool zset_seek_frozen(struct zset_seeker *seeker, const struct frozen *frozen, double score);

/* --- Encodings: for saving and DEBUG --- */

/* The skiplist, or NULL; the body of a listpack: true, and where. O(1). */
const struct skiplist *zset_skiplist(const struct entry *entry);
bool zset_listpack(const struct entry *entry, const uint8_t **first, const uint8_t **end);

/* The score of an element of a listpack: false when it is none, as in damaged files. */
bool zset_parse_score(const uint8_t *element, double *score);

#endif
