/* skiplist: members ordered by score, and by their bytes where scores are equal; with the rank of
 * each, and an index that finds a member by its bytes.
 *
 * Scores are doubles but NaN; -0 becomes 0. Members are distinct, and a billion at most
 * (SKIPLIST_LARGE_FROM); the list copies them. No function depends on the number of members but
 * where it says so: nodes and index grow, shrink, split and merge one at a time. */
#ifndef PACKLIST_DS_SORTED_SETS_SKIPLIST_H
#define PACKLIST_DS_SORTED_SETS_SKIPLIST_H

#include "base/slice.h"

#include <stdbool.h>
#include <stdint.h>

struct relocator; /* base/memory/relocate.h */
struct relocate_cursor;
struct capture; /* ds/capture.h */

struct skiplist;
struct skiplist_node;

struct skiplist *skiplist_new(void);

/* Frees the list. O(nodes + members that are stored out of line). */
void skiplist_free(struct skiplist *list);

/* A list with the same members. O(bytes), at memory speed. */
struct skiplist *skiplist_copy(const struct skiplist *list);

/* O(1): members; allocations, those of the index included; bytes of all, as allocated. */
uint64_t skiplist_count(const struct skiplist *list);
size_t skiplist_allocations(const struct skiplist *list);
size_t skiplist_allocated(const struct skiplist *list);

/* --- Members --- */

/* Where a member is, or that there is none. Valid until the next change. */
struct skiplist_place {
    uint64_t hash;
    struct skiplist_node *node; /* NULL: the list has no such member */
    unsigned slot;
};

/* The hash of a member, for skiplist_prefetch_member. */
uint64_t skiplist_hash(struct slice member);

/* Starts loading what skiplist_find reads for the member with this hash, in steps 0 to 3: each
 * needs what the one before has loaded, and `*at`, which is its own. For many lookups at once.
 * Returns whether there is a next step. */
bool skiplist_prefetch_member(const struct skiplist *list, uint64_t hash, const void **at,
                              unsigned step);

/* The same for reading the first member, in steps 0 and 1. */
bool skiplist_prefetch_first(const struct skiplist *list, unsigned step);

/* The same for finding where a member with this score belongs: a step for each node on the way that
 * is probably in no cache. `*at` is NULL before the first step; it and `*level` are its own. */
bool skiplist_prefetch_path(const struct skiplist *list, double score, const void **at, int *level);

/* Looks a member up. Expected O(1). */
struct skiplist_place skiplist_find(const struct skiplist *list, struct slice member);

/* The score of a member that was found. O(1). */
double skiplist_score(const struct skiplist_place *place);

/* The members that are before the one that was found. O(log n). */
uint64_t skiplist_rank(const struct skiplist *list, const struct skiplist_place *place);

/* Adds a member that was looked up and not found. O(log n). */
void skiplist_insert(struct skiplist *list, const struct skiplist_place *place, struct slice member,
                     double score);

/* Gives the member that was found another score. `member` is its text, which must not lie in the
 * list. O(log n). */
void skiplist_update(struct skiplist *list, const struct skiplist_place *place, struct slice member,
                     double score);

/* Removes the member that was found. O(log n). */
void skiplist_delete(struct skiplist *list, const struct skiplist_place *place);

/* Removes `count` members from rank `from` on, which the list has. At either end only the nodes and
 * index slots of the removed members are touched. O(count + log n). */
void skiplist_delete_range(struct skiplist *list, uint64_t from, uint64_t count);

/* --- Bounds: how many members are before one. Ranges are differences of them. O(log n) --- */

/* Members whose score is less, or, when `inclusive`, less or equal. */
uint64_t skiplist_count_below(const struct skiplist *list, double score, bool inclusive);

/* Members that are less, or, when `inclusive`, less or equal, as bytes. All members of the list
 * must have one score; else the result is any number up to the count. */
uint64_t skiplist_count_below_member(const struct skiplist *list, struct slice member,
                                     bool inclusive);

/* --- Reading in order --- */

/* A position on a member. Valid until the next change. */
struct skiplist_cursor {
    const struct skiplist_node *node;
    unsigned slot;
};

/* Moves to the member with this rank (< count). O(log n), O(1) for the first and the last. */
void skiplist_seek(const struct skiplist *list, uint64_t rank, struct skiplist_cursor *cursor);

/* To the first member whose score is at least this one: false if there is none. O(log n). */
bool skiplist_seek_score(const struct skiplist *list, double score, struct skiplist_cursor *cursor);

/* The same for a cursor on a member whose score is less, within its node: false, and the cursor
 * stays, if the node has no such member. O(log members of the node). */
bool skiplist_skip_in_node(double score, struct skiplist_cursor *cursor);

/* To the next or the previous member: false at the end. O(1). */
bool skiplist_next(struct skiplist_cursor *cursor);
bool skiplist_previous(struct skiplist_cursor *cursor);

/* The two steps of skiplist_next: to the next member of the node, false if there is none; if so, to
 * the next node, false at the end. */
bool skiplist_next_in_node(struct skiplist_cursor *cursor);
bool skiplist_next_node(struct skiplist_cursor *cursor);

/* What is at the cursor. The member is a view until the next change. */
struct slice skiplist_cursor_member(const struct skiplist_cursor *cursor);
double skiplist_cursor_score(const struct skiplist_cursor *cursor);

/* Reads up to `count` (> 0) members from the cursor on, as many as its node has in this direction,
 * and moves the cursor past them. Returns how many; at the end of the list cursor->node is then
 * NULL. O(count). */
size_t skiplist_cursor_read(struct skiplist_cursor *cursor, bool forward, struct slice *members,
                            size_t count);

/* Visits some members in the order of their hashes and returns the next cursor; begin with 0, done
 * when it returns 0. A member that is in the list from the first call to the last is visited at
 * least once, whatever is changed between calls. visit() must not change the list. Expected
 * O(1). */
uint64_t skiplist_scan(const struct skiplist *list, uint64_t cursor,
                       void (*visit)(struct slice member, double score, void *arg), void *arg);

/* --- Captures: the list as it was at one moment, read while the list changes (ds/capture.h). There
 * are two kinds. One is for all members, and for other threads: it copies the table of nodes, which
 * has no order, and the thread that reads sorts the nodes. The other is for a range in order: it is
 * read in the loop's thread, and nothing is copied or sorted at once (skiplist_range.c). --- */

/* Captures a list that is not empty. NULL: no other capture can begin before all have ended
 * (pieces_are_used_up). O(nodes), at memory speed. */
struct capture *skiplist_capture_begin(struct skiplist *list, size_t *left);

/* Returns whether there is a capture that was not released. O(1). */
bool skiplist_is_captured(const struct skiplist *list);

/* The members that were captured. O(1). */
uint64_t skiplist_capture_count(const struct capture *capture);

/* Visits all members from the last to the first. From begin to release, in any thread, in one
 * thread at a time. O(n + nodes log nodes). */
void skiplist_capture_visit(struct capture *capture,
                            void (*visit)(struct slice member, double score, void *arg), void *arg);

/* Moves the cursor to a member for each number below their count, for choosing some at random: the
 * order has no meaning. After it members can only be read like this. In the same threads. O(log
 * nodes), but the first time O(nodes). */
void skiplist_capture_seek(struct capture *capture, uint64_t number,
                           struct skiplist_cursor *cursor);

/* Leaves out of the capture all nodes but those of which wants() returns true, which gets the
 * scores of their first and their last member: to be called once, before anything is read, where
 * little of the list is needed. In the same threads. O(nodes + those that are left, sorted). */
void skiplist_capture_select(struct capture *capture,
                             bool (*wants)(double first, double last, const void *arg),
                             const void *arg);

/* Moves the cursor to the first member whose score is at least this one; false if there is none.
 * *place gets the place of its node, for skiplist_capture_next_node. Only skiplist_next_in_node and
 * skiplist_skip_in_node may move the cursor besides. In the same threads. O(log n), but the first
 * time O(nodes log nodes), unless they were selected. */
bool skiplist_capture_seek_score(struct capture *capture, double score, size_t *place,
                                 struct skiplist_cursor *cursor);

/* To the first member of the next node: false at the end. O(1). */
bool skiplist_capture_next_node(struct capture *capture, size_t *place,
                                struct skiplist_cursor *cursor);

/* Returns a list of its own of the members that were captured; owned by the caller. Without
 * `with_index`, which takes most of the time, skiplist_find finds nothing in it, and it must not be
 * changed. In the same threads as above. O(n + nodes log nodes). */
struct skiplist *skiplist_capture_copy(struct capture *capture, bool with_index);

/* Captures the `count` (> 0) members from this rank on, or, unless `forward`, those before it that
 * end with it; the list has all of them. NULL as above. While there is such a capture, each node
 * that the list drops costs O(log nodes) if the capture has yet to read it. O(log n). */
struct capture *skiplist_range_capture_begin(struct skiplist *list, uint64_t rank, uint64_t count,
                                             bool forward, size_t *left);

/* Reads up to `most` (> 0) of the next members in that direction, as many as the next node has, and
 * unless `scores` is NULL their scores. Returns how many, 0 at the end. The members are views until
 * the release. In the loop's thread. O(most); from one node to the next O(log nodes), and O(1)
 * amortised for the nodes that the list has made since and that are skipped. One step skips many of
 * them if that many members were inserted between two of the range. */
size_t skiplist_range_capture_read(struct capture *capture, struct slice *members, double *scores,
                                   size_t most);

/* --- The whole list --- */

/* Moves memory of the list to better places (base/memory/relocate.h), from *cursor on, until the
 * step is due; sets *cursor. Returns where the list is now. It must not be captured, and no
 * iterator of it may be in use. At least one node is visited. */
struct skiplist *skiplist_relocate(struct skiplist *list, struct relocator *relocator,
                                   struct relocate_cursor *cursor);

/* The executable invariant. O(n log n). */
bool skiplist_check(const struct skiplist *list);

#endif
