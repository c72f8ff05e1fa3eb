/* tracking: clients that cache what they have read, and who must hear of a change (CLIENT
 * TRACKING).
 *
 *      a command read key "a"  ── tracking_record ──→  table: "a" ── trackers 3, 7
 *      key "a" has changed     ── tracking_invalidate ─→ tell(tracker 3, key), tell(tracker 7, key)
 *                                                   └──→ changed keys of this loop iteration
 *      the iteration ends      ── tracking_tell_changes ─→ tell_keys(each tracker of each prefix)
 *      data is replaced        ── tracking_invalidate_all ─→ tell(each tracker, NULL)
 *
 * A tracker is a client that tracks. It either gets a message for each key that it has read, once
 * (the table), or for all keys that begin with its prefixes (TRACKER_BCAST). A tracker that ends
 * stays, without an owner, until what refers to it is removed step by step (tracking_step). So a
 * tracker may end, or all of them, in the middle of telling.
 *
 * Databases do not count: a key of the same name in another one is the same key to a cache. */
#ifndef PACKLIST_TRACKING_TRACKING_H
#define PACKLIST_TRACKING_TRACKING_H

#include "base/slice.h"
#include "ds/hashtable.h"
#include "ds/prefix_tree.h"
#include "tracking/tracking_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tracker_flag {
    TRACKER_BCAST = 1 << 0,   /* gets all changes of keys with its prefixes */
    TRACKER_OPTIN = 1 << 1,   /* records only what CLIENT CACHING YES precedes */
    TRACKER_OPTOUT = 1 << 2,  /* records all but what CLIENT CACHING NO precedes */
    TRACKER_NOLOOP = 1 << 3,  /* does not hear of changes that its owner has made */
    TRACKER_CACHING = 1 << 4, /* CLIENT CACHING was sent: the next command is the exception */
    TRACKER_BROKEN = 1 << 5   /* the client that gets its messages is gone */
};

struct tracker {
    void *owner;                 /* the client; NULL: it has ended */
    uint32_t flags;              /* enum tracker_flag */
    uint32_t number;             /* in the table */
    uint64_t redirect;           /* the client that gets its messages; 0: the owner */
    size_t pairs;                /* of the table */
    struct prefix_tree prefixes; /* its own ones: struct tracking_subscription */
    struct tracker *prev;        /* in the chain of all */
    struct tracker *next;
    struct tracker *next_ended;
};

/* A key that has changed in this loop iteration. */
struct tracking_change {
    struct slice key;
    const void *source; /* the client that has changed it; NULL: several, or none */
    int database;       /* in which it has; -1: in several */
    struct tracking_change *next;
};

/* What is told, and how. A tracker has an owner then; all may call tracker_end. */
struct tracking_callbacks {
    void (*tell)(struct tracker *tracker, const struct slice *key); /* NULL: all keys */
    void (*tell_keys)(struct tracker *tracker, struct tracking_change *const *changes,
                      size_t count);
};

struct tracking {
    struct tracking_callbacks callbacks;
    size_t tracker_count; /* those with an owner */
    size_t max_keys;      /* of the table; 0: no limit */
    struct tracking_table table;
    struct tracking_table *left; /* replaced by tracking_invalidate_all, to be freed in steps */
    size_t left_count;
    size_t left_capacity;
    struct tracker *first; /* all trackers */
    struct tracker *last;
    struct tracker *first_ended; /* without owner, the oldest one first */
    struct tracker *last_ended;
    struct tracker **numbered; /* by number; NULL: the number is free */
    size_t number_count;
    size_t number_capacity;
    uint32_t *free_numbers;
    size_t free_count;
    size_t free_capacity;
    struct prefix_tree prefixes; /* of all trackers: struct tracking_prefix */
    struct hashtable *changed;   /* struct tracking_change, by key */
    struct tracking_change *first_changed;
    struct tracking_change *last_changed;
    struct tracking_numbers numbers; /* scratch, as the next one */
    struct tracking_numbers swept;
    struct random random;
    size_t sweep_steps; /* which tracking_step may still do before the next tick */
    bool is_shrinking;  /* a sweep has ended: the table may have more buckets than it needs */
};

/* Makes an empty one, whose limit is 0; tracking_free frees it, when no tracker has an owner. */
void tracking_init(struct tracking *tracking, struct tracking_callbacks callbacks, uint64_t seed);
void tracking_free(struct tracking *tracking);

/* --- Trackers --- */

/* Makes a tracker with these flags. It belongs to `tracking`. */
struct tracker *tracker_begin(struct tracking *tracking, void *owner, uint32_t flags);

/* The owner tracks no more and hears nothing more. The tracker is not valid after the next
 * tracking_step. O(1). */
void tracker_end(struct tracking *tracking, struct tracker *tracker);

/* Adds a prefix to a tracker with TRACKER_BCAST, if it does not have it. O(length). */
void tracker_add_prefix(struct tracking *tracking, struct tracker *tracker, struct slice prefix);

/* Finds the first of the given prefixes that overlaps with a prefix of the tracker, or with a later
 * given one. Two prefixes overlap if one begins with the other. `tracker` NULL: the client does not
 * track yet. Returns false when none overlaps. *index is the place of the found one, *with the
 * prefix that it overlaps with, valid until one of the two lists changes, and *is_own tells whether
 * that is the tracker's. O(bytes of all prefixes). */
bool tracker_find_overlap(const struct tracker *tracker, const struct slice *prefixes, size_t count,
                          size_t *index, struct slice *with, bool *is_own);

/* Returns the prefix of an item of tracker->prefixes. O(1). */
struct slice tracker_prefix(const void *item);

/* Returns whether the keys of a command that only reads are to be recorded now. O(1). */
static inline bool tracker_records(const struct tracker *tracker) {
    uint32_t flags = tracker->flags;
    if (flags & TRACKER_BCAST) return false;
    if (flags & TRACKER_OPTIN) return flags & TRACKER_CACHING;
    return !(flags & TRACKER_OPTOUT && flags & TRACKER_CACHING);
}

/* Returns the bytes that the tracker and its prefixes take. O(1). */
size_t tracker_allocated(const struct tracker *tracker);

/* --- Keys --- */

/* The tracker's owner has read the key: it will hear of the next change. When there are too many
 * keys, others are invalidated. A key whose name is longer than TRACKING_NAME_MAX is told at once
 * instead: it would be moved whenever its neighbours in the table change. O(1), in the sense of
 * tracking_table_add. */
enum { TRACKING_NAME_MAX = 16 * 1024 };
void tracking_record(struct tracking *tracking, struct tracker *tracker, struct slice key);

/* The key has changed in this database. `source` is the client that has changed it, which may be
 * the owner of a tracker; NULL: the server has. O(key + trackers that have read it). */
void tracking_invalidate(struct tracking *tracking, struct slice key, int database,
                         const void *source);

/* All keys have changed, or might have. O(trackers). */
void tracking_invalidate_all(struct tracking *tracking);

/* Tells trackers with prefixes what has changed since the last time, in one message for each
 * prefix. O(changed keys × (key + trackers of their prefixes)). */
void tracking_tell_changes(struct tracking *tracking);

/* Returns whether there is something to tell. O(1). */
static inline bool tracking_has_changes(const struct tracking *tracking) {
    return tracking->first_changed;
}

/* --- Work in the background --- */

/* Allows tracking_step to sweep the table for the time until the next tick: more when much of it
 * belongs to trackers that have ended. Call it some times a second. O(1). */
void tracking_tick(struct tracking *tracking);

/* Does some of the work that is left, for a quarter of a millisecond or so: invalidates keys while
 * the table has more than max_keys, removes what ended trackers had. Returns whether it is to be
 * called again soon. The callbacks must not call it. */
bool tracking_work(struct tracking *tracking);
static inline bool tracking_step(struct tracking *tracking) {
    bool is_over = tracking->max_keys && tracking->table.keys > tracking->max_keys;
    bool has_work =
        tracking->first_ended || tracking->left_count || tracking->is_shrinking || is_over;
    return has_work && tracking_work(tracking);
}

/* Returns whether nobody tracks anything, and nothing is left of those who did: then there is
 * nothing to tell or to do. The last tracker that has ended stays until all memory is freed. O(1).
 */
static inline bool tracking_is_idle(const struct tracking *tracking) {
    return !tracking->first;
}

/* Checks the invariants. O(all). */
bool tracking_check(const struct tracking *tracking);

#endif
