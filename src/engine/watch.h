/* watch: the registry of watched keys (WATCH).
 *
 *      watcher ── set ──┬─ watch ── watched key "a" (database 0): first watch … last watch
 *                       └─ watch ── watched key "b" (database 0): …
 *
 * Each database has a table of its watched keys. A write to a database without watched keys costs
 * one test of a counter. Once one of its keys was touched, a watcher needs only that mark, so its
 * set is freed: at once when it is small, otherwise step by step (watch_step). Until then its
 * watches stay in the lists of their keys but have no effect.
 *
 * A key that had expired when it was watched, but was not deleted yet, counts as missing: deleting
 * it later is not a change. This module knows no session, so that it can be tested alone. */
#ifndef PACKLIST_ENGINE_WATCH_H
#define PACKLIST_ENGINE_WATCH_H

#include "base/slice.h"
#include "engine/keytable.h"
#include "store/keyspace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct watches {
    struct keytable keys;   /* struct watched_key */
    size_t observers;       /* watched keys, and others who must hear of each change: changes.h */
    size_t watcher_count;   /* watchers that watch at least one key */
    struct watch_set *left; /* sets without a watcher, to be freed step by step */
};

/* All zero at first. */
struct watcher {
    struct watch_set *set; /* its watches; NULL = none */
    size_t count;
    size_t allocated; /* bytes that its watches take, names of keys included */
    bool is_touched;  /* a key has changed since it was watched */
    struct watcher *next_touched;
};

/* Makes an empty registry for `databases` databases; freed with watch_free. */
void watch_init(struct watches *watches, int databases);

/* Frees the tables; no key may be watched any more. */
void watch_free(struct watches *watches);

/* Watches a key. Does nothing when the watcher watches it already or is touched. `is_expired`: the
 * key exists but has expired. O(1), and O(fewer of: the watcher's watches, the key's watchers). */
void watch_add(struct watches *watches, struct watcher *watcher, int database, struct slice key,
               bool is_expired);

/* Removes all watches and the mark. What many watches take is freed later. O(1). */
void watch_clear(struct watches *watches, struct watcher *watcher);

/* Frees some of the sets without a watcher. Returns true when there are more. O(1). */
bool watch_free_left(struct watches *watches);
static inline bool watch_step(struct watches *watches) {
    return watches->left && watch_free_left(watches);
}

/* Returns whether one of the watched keys has expired since it was watched, though it was not
 * deleted yet. O(watches of the watcher). */
bool watch_has_expired(const struct watcher *watcher, struct keyspace *const *keyspaces,
                       int64_t now_ms);

/* Touches the watchers of a key that was changed or deleted. `keyspace` is that of `database`; it
 * is searched to learn whether the key still exists. O(watchers of the key). */
void watch_touch_key(struct watches *watches, int database, struct keyspace *keyspace,
                     struct slice key);
static inline void watch_touch(struct watches *watches, int database, struct keyspace *keyspace,
                               struct slice key) {
    if (watches->keys.count) watch_touch_key(watches, database, keyspace, key);
}

/* All keys of `keyspace`, that of `database`, are about to be replaced by those of `replacement`
 * (NULL: none): FLUSHDB, SWAPDB. Touches the watchers of every key that is in either. O(watched
 * keys of the database, or keys of both, whichever are fewer); it ends when all watchers are
 * touched. */
void watch_touch_database(struct watches *watches, int database, struct keyspace *keyspace,
                          struct keyspace *replacement, int64_t now_ms);

/* Checks the invariants of tables, lists and counters. O(watches). */
bool watch_check(const struct watches *watches);

#endif
