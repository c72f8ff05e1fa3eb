/* watch: who wants to know whether a key has changed (WATCH).
 *
 *      watcher ── set ──┬─ watch ── watched key "a" (database 0): first watch … last watch
 *                       └─ watch ── watched key "b" (database 0): …
 *
 * Each database has a table of its watched keys. A write to a database where nobody watches
 * costs one counter test. Once a key of his was touched a watcher has his answer: he keeps the mark
 * alone. His set is freed, at once when it is small, else step by step (watch_step): until then its
 * watches stand in the lists of their keys, but nobody looks at them.
 *
 * A key whose time had come when it was watched, but that was not deleted yet, is as good as
 * missing: that it is deleted later is no change. Knows no session, so that it can be tested
 * alone. */
#ifndef PACKLIST_ENGINE_WATCH_H
#define PACKLIST_ENGINE_WATCH_H

#include "base/slice.h"
#include "engine/keytable.h"
#include "store/keyspace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct watch_set;

struct watches {
    struct keytable keys;   /* the watched ones */
    size_t watcher_count;   /* watchers that watch at least one key */
    struct watch_set *left; /* sets that are nobody's any more, to be freed */
};

/* All zero at first. */
struct watcher {
    struct watch_set *set; /* his watches; NULL = none */
    size_t count;
    size_t allocated; /* bytes they take, names of keys included */
    bool is_touched;  /* a key changed since he watched it */
    struct watcher *next_touched;
};

void watches_init(struct watches *watches, int databases);

/* Nobody may be watching any more. */
void watches_free(struct watches *watches);

/* Watches a key; nothing happens when he does already, or when he is touched. `is_expired`: the key
 * is there, but its time has come. O(1), and O(fewer of: his watches, the key's watchers). */
void watch_add(struct watches *watches, struct watcher *watcher, int database, struct slice key,
               bool is_expired);

/* Takes away all of his watches, and the mark; what many watches take is freed later. O(1). */
void watch_clear(struct watches *watches, struct watcher *watcher);

/* Frees some of what was left; true when there is more. O(1). */
bool watch_free_left(struct watches *watches);
static inline bool watch_step(struct watches *watches) {
    return watches->left && watch_free_left(watches);
}

/* Has the time of a key come since he watched it, though it was not deleted yet? O(his watches). */
bool watch_has_expired(const struct watcher *watcher, struct keyspace *const *keyspaces,
                       int64_t now_ms);

/* A key was changed or deleted (in `keyspace`, that of `database`, which is asked whether it is
 * still there): its watchers are touched. */
void watch_touch_key(struct watches *watches, int database, struct keyspace *keyspace,
                     struct slice key);
static inline void watch_touch(struct watches *watches, int database, struct keyspace *keyspace,
                               struct slice key) {
    if (watches->keys.count) watch_touch_key(watches, database, keyspace, key);
}

/* All keys of `keyspace`, that of `database`, will be gone in a moment, and those of `replacement`
 * (NULL: none) be in their place: FLUSHDB, SWAPDB. Touches whoever watches a key that is in either.
 * O(watched keys of the database, or keys of both, whichever are fewer); it ends when all watchers
 * are touched. */
void watch_touch_database(struct watches *watches, int database, struct keyspace *keyspace,
                          struct keyspace *replacement, int64_t now_ms);

/* The executable invariant: tables, lists and counters. O(watches). */
bool watch_check(const struct watches *watches);

#endif
