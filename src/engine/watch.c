/* watch: see the drawing in watch.h.
 *
 * Invariants: a watched key is in its database's table exactly while it has a watch; each watch is
 * in its key's list and in that of its set; a set watches a key at most once. A watcher has a set
 * exactly while it watches a key, and none once it is touched. A set without a watcher is in the
 * chain of sets that are still to be freed. */
#include "engine/watch.h"

#include "base/chain.h"
#include "base/memory/alloc.h"

struct watched_key {
    struct keytable_key key;
    struct watch *first;
    struct watch *last;
};

struct watch {
    struct watch_set *set;
    struct watched_key *key;
    struct watch *prev; /* in the key's list */
    struct watch *next;
    struct watch *next_own; /* in the set's list */
    bool was_expired;       /* when it was watched, and the key was not touched since */
};

/* All watches of one watcher. */
struct watch_set {
    struct watcher *watcher; /* NULL: the watcher is gone and the watches have no effect */
    struct watch *first;
    struct watch_set *next_left; /* in the chain of sets that are still to be freed */
};

/* Watches that are freed at once, and per step. */
#ifdef TINY_LIMITS
enum { CLEAR_AT_ONCE = 2, CLEAR_PER_STEP = 3 };
#else
enum { CLEAR_AT_ONCE = 256, CLEAR_PER_STEP = 1024 };
#endif

void watch_init(struct watches *watches, int databases) {
    *watches = (struct watches){0};
    keytable_init(&watches->keys, databases);
}

void watch_free(struct watches *watches) {
    while (watch_step(watches)) {
    }
    keytable_free(&watches->keys);
}

/* --- Watching --- */

/* Searches both lists in parallel, so the shorter one bounds the cost. */
static bool is_watching(const struct watch_set *set, const struct watched_key *key) {
    const struct watch *of_key = key->first, *own = set->first;
    for (; of_key && own; of_key = of_key->next, own = own->next_own)
        if (of_key->set == set || own->key == key) return true;
    return false;
}

static struct watch_set *set_of(struct watches *watches, struct watcher *watcher) {
    if (watcher->set) return watcher->set;
    struct watch_set *set = mem_alloc_zeroed(sizeof(*set));
    set->watcher = watcher;
    watcher->set = set;
    watcher->allocated += sizeof(*set);
    watches->watcher_count++;
    return set;
}

static size_t bytes_of(const struct watched_key *key) {
    return sizeof(struct watch) + sizeof(*key) + key->key.name.len;
}

void watch_add(struct watches *watches, struct watcher *watcher, int database, struct slice name,
               bool is_expired) {
    if (watcher->is_touched) return;
    struct watched_key *key = keytable_find_or_add(&watches->keys, database, name, sizeof(*key));
    watches->observers += !key->first;
    struct watch_set *set = set_of(watches, watcher);
    if (is_watching(set, key)) return;
    struct watch *watch = mem_alloc(sizeof(*watch));
    *watch =
        (struct watch){.set = set, .key = key, .next_own = set->first, .was_expired = is_expired};
    CHAIN_APPEND(key->first, key->last, watch, prev, next);
    set->first = watch;
    watcher->allocated += bytes_of(key);
    watcher->count++;
}

static void free_watch(struct watches *watches, struct watch *watch) {
    struct watched_key *key = watch->key;
    CHAIN_REMOVE(key->first, key->last, watch, prev, next);
    if (!key->first) {
        keytable_delete(&watches->keys, key);
        watches->observers--;
    }
    mem_free(watch);
}

/* Frees up to `limit` watches of the set. Returns true when it has freed the last one and the
 * set. */
static bool free_some(struct watches *watches, struct watch_set *set, size_t limit) {
    for (struct watch *watch; (watch = set->first) && limit > 0; limit--) {
        set->first = watch->next_own;
        free_watch(watches, watch);
    }
    if (set->first) return false;
    mem_free(set);
    return true;
}

void watch_clear(struct watches *watches, struct watcher *watcher) {
    struct watch_set *set = watcher->set;
    *watcher = (struct watcher){0};
    if (!set) return;
    watches->watcher_count--;
    set->watcher = NULL;
    if (free_some(watches, set, CLEAR_AT_ONCE)) return;
    set->next_left = watches->left;
    watches->left = set;
}

bool watch_free_left(struct watches *watches) {
    struct watch_set *set = watches->left;
    struct watch_set *next = set->next_left;
    if (free_some(watches, set, CLEAR_PER_STEP)) watches->left = next;
    return watches->left;
}

/* --- Touching --- */

static struct entry *entry_in(struct keyspace *keyspace, const struct watched_key *key) {
    return keyspace ? keyspace_find(keyspace, key->key.name).entry : NULL;
}

static bool is_expired(const struct entry *entry, int64_t now_ms) {
    return entry && entry_has_expired(entry, now_ms);
}

bool watch_has_expired(const struct watcher *watcher, struct keyspace *const *keyspaces,
                       int64_t now_ms) {
    const struct watch *watch = watcher->set ? watcher->set->first : NULL;
    for (; watch; watch = watch->next_own)
        if (!watch->was_expired &&
            is_expired(entry_in(keyspaces[watch->key->key.space], watch->key), now_ms))
            return true;
    return false;
}

static void touch_watcher(struct watches *watches, struct watcher *watcher) {
    watch_clear(watches, watcher);
    watcher->is_touched = true;
}

void watch_touch_key(struct watches *watches, int database, struct keyspace *keyspace,
                     struct slice name) {
    struct watched_key *key = keytable_find(&watches->keys, database, name);
    if (!key) return;
    bool is_gone = entry_in(keyspace, key) == NULL;
    struct watch *next; /* of another watcher, so clearing this one leaves it in place */
    for (struct watch *watch = key->first; watch; watch = next) {
        next = watch->next;
        if (!watch->set->watcher) continue;
        if (watch->was_expired && is_gone)
            watch->was_expired = false;
        else
            touch_watcher(watches, watch->set->watcher);
    }
}

/* A database whose keys are replaced by those of another. */
struct replacing {
    struct watches *watches;
    int database;
    struct keyspace *before;
    struct keyspace *after; /* NULL: no keys */
    int64_t now_ms;
    struct watcher *touched; /* cleared at the end, because the tables must not change before */
    size_t untouched;        /* watchers that may still be touched */
};

/* What happens to a key when its database is replaced by another. */
struct fate {
    bool was_there;
    bool will_be_there;
    bool will_be_expired; /* it exists but has expired */
};

/* Returns whether the watcher must be touched. A change from expired to missing, or from missing to
 * expired, does not count. A key that is in both keyspaces may be examined twice. */
static bool counts_as_change(struct watch *watch, const struct fate *fate) {
    if (watch->was_expired && !fate->will_be_there) {
        watch->was_expired = false;
        return false;
    }
    if (watch->was_expired && fate->will_be_expired) return false;
    if (!fate->was_there && fate->will_be_expired) {
        watch->was_expired = true;
        return false;
    }
    return true;
}

static void replace_key(struct replacing *replacing, const struct watched_key *key) {
    struct entry *after = entry_in(replacing->after, key);
    struct fate fate = {.was_there = entry_in(replacing->before, key) != NULL,
                        .will_be_there = after != NULL,
                        .will_be_expired = is_expired(after, replacing->now_ms)};
    if (!fate.was_there && !fate.will_be_there) return;
    for (struct watch *watch = key->first; watch; watch = watch->next) {
        struct watcher *watcher = watch->set->watcher;
        if (!watcher || watcher->is_touched || !counts_as_change(watch, &fate)) continue;
        watcher->is_touched = true;
        watcher->next_touched = replacing->touched;
        replacing->touched = watcher;
        replacing->untouched--;
    }
}

static void replace_watched(struct replacing *replacing) {
    struct hashtable_iter iter;
    hashtable_iter_start(&iter, replacing->watches->keys.spaces[replacing->database]);
    const struct watched_key *key;
    while (replacing->untouched > 0 && (key = hashtable_iter_next(&iter)))
        replace_key(replacing, key);
}

static void replace_present(struct replacing *replacing, const struct keyspace *keyspace) {
    struct keyspace_iter iter;
    keyspace_iter_start(&iter, keyspace);
    const struct entry *entry;
    while (replacing->untouched > 0 && (entry = keyspace_iter_next(&iter))) {
        const struct watched_key *key =
            keytable_find(&replacing->watches->keys, replacing->database, entry_key(entry));
        if (key) replace_key(replacing, key);
    }
}

/* Iterates over the watched keys or over the existing keys, whichever are fewer: only a key that is
 * both can change. */
void watch_touch_database(struct watches *watches, int database, struct keyspace *keyspace,
                          struct keyspace *replacement, int64_t now_ms) {
    size_t watched = hashtable_count(watches->keys.spaces[database]);
    size_t present = keyspace_count(keyspace) + (replacement ? keyspace_count(replacement) : 0);
    struct replacing replacing = {.watches = watches,
                                  .database = database,
                                  .before = keyspace,
                                  .after = replacement,
                                  .now_ms = now_ms,
                                  .untouched = watches->watcher_count};
    if (watched <= present) {
        replace_watched(&replacing);
    } else {
        replace_present(&replacing, keyspace);
        if (replacement) replace_present(&replacing, replacement);
    }
    for (struct watcher *touched = replacing.touched, *next; touched; touched = next) {
        next = touched->next_touched;
        touch_watcher(watches, touched);
    }
}

/* --- Check --- */

/* Returns the number of watches in the key's list; 0 when the list is broken. */
static size_t check_key(const struct watched_key *key, int database) {
    size_t count = 0;
    const struct watch *prev = NULL;
    if (key->key.space != database) return 0;
    for (const struct watch *watch = key->first; watch; prev = watch, watch = watch->next) {
        bool is_own = false;
        const struct watcher *watcher = watch->set->watcher;
        for (const struct watch *own = watch->set->first; own; own = own->next_own)
            is_own |= own == watch;
        if (watch->key != key || watch->prev != prev || !is_own) return 0;
        if (watcher && (watcher->is_touched || watcher->set != watch->set)) return 0;
        count++;
    }
    return key->last == prev ? count : 0;
}

bool watch_check(const struct watches *watches) {
    size_t keys = 0;
    for (int i = 0; i < watches->keys.space_count; i++) {
        if (!hashtable_check(watches->keys.spaces[i])) return false;
        struct hashtable_iter iter;
        hashtable_iter_start(&iter, watches->keys.spaces[i]);
        for (struct watched_key *key; (key = hashtable_iter_next(&iter)); keys++)
            if (check_key(key, i) == 0) return false;
    }
    return keys == watches->keys.count;
}
