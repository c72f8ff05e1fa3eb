/* watch: see the drawing in watch.h.
 *
 * Invariants: a watched key is in its database's table exactly while it has a watch; each watch is
 * in its key's list and in its watcher's; a watcher watches a key at most once, and nothing while
 * he is touched. */
#include "server/watch.h"

#include "base/alloc.h"
#include "base/chain.h"

struct watched_key {
    struct keytable_key key;
    struct watch *first;
    struct watch *last;
};

struct watch {
    struct watcher *watcher;
    struct watched_key *key;
    struct watch *prev; /* in the key's list */
    struct watch *next;
    struct watch *next_own; /* in the watcher's list */
    bool was_expired;       /* when it was watched, and not touched since */
};

void watches_init(struct watches *watches, int databases) {
    *watches = (struct watches){0};
    keytable_init(&watches->keys, databases);
}

void watches_free(struct watches *watches) {
    keytable_free(&watches->keys);
}

/* --- Watching --- */

/* Walks the shorter one of the two lists that would have it. */
static bool is_watching(const struct watcher *watcher, const struct watched_key *key) {
    const struct watch *of_key = key->first, *own = watcher->first;
    for (; of_key && own; of_key = of_key->next, own = own->next_own)
        if (of_key->watcher == watcher || own->key == key) return true;
    return false;
}

static size_t bytes_of(const struct watched_key *key) {
    return sizeof(struct watch) + sizeof(*key) + key->key.name.len;
}

void watch_add(struct watches *watches, struct watcher *watcher, int database, struct slice name,
               bool is_expired) {
    if (watcher->is_touched) return;
    struct watched_key *key = keytable_find_or_add(&watches->keys, database, name, sizeof(*key));
    if (is_watching(watcher, key)) return;
    struct watch *watch = mem_alloc(sizeof(*watch));
    *watch = (struct watch){
        .watcher = watcher, .key = key, .next_own = watcher->first, .was_expired = is_expired};
    CHAIN_APPEND(key->first, key->last, watch, prev, next);
    watcher->first = watch;
    watcher->allocated += bytes_of(key);
    if (watcher->count++ == 0) watches->watcher_count++;
}

static void free_watch(struct watches *watches, struct watch *watch) {
    struct watched_key *key = watch->key;
    CHAIN_REMOVE(key->first, key->last, watch, prev, next);
    if (!key->first) keytable_delete(&watches->keys, key);
    mem_free(watch);
}

void watch_clear(struct watches *watches, struct watcher *watcher) {
    struct watch *next;
    if (watcher->first) watches->watcher_count--;
    for (struct watch *watch = watcher->first; watch; watch = next) {
        next = watch->next_own;
        free_watch(watches, watch);
    }
    *watcher = (struct watcher){0};
}

/* --- Touching --- */

static struct entry *entry_in(struct keyspace *keyspace, const struct watched_key *key) {
    return keyspace ? keyspace_find(keyspace, key->key.name).entry : NULL;
}

static bool is_expired(const struct entry *entry, int64_t now_ms) {
    int64_t expiry_ms = entry ? entry_expiry(entry) : -1;
    return expiry_ms >= 0 && now_ms > expiry_ms;
}

bool watch_has_expired(const struct watcher *watcher, struct keyspace *const *keyspaces,
                       int64_t now_ms) {
    for (const struct watch *watch = watcher->first; watch; watch = watch->next_own)
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
    struct watch
        *next; /* another watcher's, so it outlives this one's; the key goes with the last */
    for (struct watch *watch = key->first; watch; watch = next) {
        next = watch->next;
        if (watch->was_expired && is_gone)
            watch->was_expired = false;
        else
            touch_watcher(watches, watch->watcher);
    }
}

/* What happens to a key when its database is replaced by another. */
struct fate {
    bool was_there;
    bool will_be_there;
    bool will_be_expired; /* there, but its time has come */
};

/* Does the watch see a change? Going from expired to gone, or from missing to expired, is none. */
static bool sees_change(struct watch *watch, const struct fate *fate) {
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

void watch_touch_database(struct watches *watches, int database, struct keyspace *keyspace,
                          struct keyspace *replacement, int64_t now_ms) {
    struct hashtable *table = watches->keys.spaces[database];
    if (hashtable_count(table) == 0) return;
    struct watcher *touched = NULL; /* cleared at the end: the table must not change before */
    struct hashtable_iter iter;
    hashtable_iter_start(&iter, table);
    for (struct watched_key *key; (key = hashtable_iter_next(&iter));) {
        struct entry *after = entry_in(replacement, key);
        struct fate fate = {.was_there = entry_in(keyspace, key) != NULL,
                            .will_be_there = after != NULL,
                            .will_be_expired = is_expired(after, now_ms)};
        if (!fate.was_there && !fate.will_be_there) continue;
        for (struct watch *watch = key->first; watch; watch = watch->next) {
            struct watcher *watcher = watch->watcher;
            if (watcher->is_touched || !sees_change(watch, &fate)) continue;
            watcher->is_touched = true;
            watcher->next_touched = touched;
            touched = watcher;
        }
    }
    for (struct watcher *next; touched; touched = next) {
        next = touched->next_touched;
        touch_watcher(watches, touched);
    }
}

/* --- Check --- */

/* The watches in the key's list; 0 when something is wrong with it. */
static size_t check_key(const struct watched_key *key, int database) {
    size_t count = 0;
    const struct watch *prev = NULL;
    if (key->key.space != database) return 0;
    for (const struct watch *watch = key->first; watch; prev = watch, watch = watch->next) {
        bool is_own = false;
        for (const struct watch *own = watch->watcher->first; own; own = own->next_own)
            is_own |= own == watch;
        if (watch->key != key || watch->prev != prev || watch->watcher->is_touched || !is_own)
            return 0;
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
