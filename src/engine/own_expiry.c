/* own_expiry: see own_expiry.h.
 *
 *      keys:  name ─→ | name ┐ | a bit for each database's id | the name's bytes |
 *                            └─────────────────────────────────↑
 *
 * SWAPDB exchanges the ids of two databases, so that no name needs to change. Each name has at
 * least one bit. The list is made for its first name, and freed with its last one. */
#include "engine/own_expiry.h"

#include "base/memory/alloc.h"
#include "ds/hashtable.h"
#include "engine/engine.h"
#include "net/loop/pool.h"

#include <string.h>

enum {
    WORD_BITS = 64,
    EXAMINED_PER_STEP = 128, /* more than a bucket of the table ever holds */
    FREED_AT_ONCE = 64       /* more names are freed in another thread */
};

struct own_key {
    struct slice name;
    uint64_t ids[]; /* of the databases in which the key is one of the replica's own */
};

struct own_expiries {
    struct hashtable *keys; /* of struct own_key */
    size_t bytes;           /* that the keys take */
    uint64_t cursor;        /* position of the steps in the table */
    size_t words;           /* of `ids` of each key */
    int *ids;               /* the id of each database */
    int *databases;         /* the database of each id */
};

static struct slice name_of_item(const void *item) {
    return ((const struct own_key *)item)->name;
}

static const struct hashtable_type type = {.key = name_of_item};

/* --- The list --- */

static struct own_expiries *list_new(int databases) {
    struct own_expiries *list = mem_alloc(sizeof(*list));
    size_t size = (size_t)databases * sizeof(*list->ids);
    *list = (struct own_expiries){.keys = hashtable_new(&type),
                                  .words = ((size_t)databases + WORD_BITS - 1) / WORD_BITS,
                                  .ids = mem_alloc(size),
                                  .databases = mem_alloc(size)};
    for (int i = 0; i < databases; i++) list->ids[i] = list->databases[i] = i;
    return list;
}

static void list_free(void *arg) {
    struct own_expiries *list = arg;
    struct hashtable_iter iter;
    hashtable_iter_start(&iter, list->keys);
    for (struct own_key *key; (key = hashtable_iter_next(&iter));) mem_free(key);
    hashtable_free(list->keys);
    mem_free(list->ids);
    mem_free(list->databases);
    mem_free(list);
}

static size_t key_size(const struct own_expiries *list, struct slice name) {
    return sizeof(struct own_key) + list->words * sizeof(uint64_t) + name.len;
}

static struct own_key *find(const struct own_expiries *list, struct slice name, uint64_t hash) {
    hashtable_slot *slot = hashtable_find(list->keys, name, hash);
    return slot ? hashtable_item(*slot) : NULL;
}

static struct own_key *add(struct own_expiries *list, struct slice name, uint64_t hash) {
    size_t size = key_size(list, name);
    struct own_key *key = mem_alloc_zeroed(size);
    char *text = (char *)&key->ids[list->words];
    if (name.len) memcpy(text, name.ptr, name.len);
    key->name = slice_make(text, name.len);
    hashtable_insert(list->keys, key, hash);
    list->bytes += mem_good_size(size);
    return key;
}

static bool has_databases(const struct own_expiries *list, const struct own_key *key) {
    for (size_t i = 0; i < list->words; i++)
        if (key->ids[i]) return true;
    return false;
}

/* Frees a key that has no database any more, and the list with its last key. */
static void drop(struct engine *engine, struct own_key *key) {
    struct own_expiries *list = engine->own_expiries;
    uint64_t hash = hashtable_hash(key->name);
    hashtable_delete(list->keys, hashtable_find_item(list->keys, key, hash), hash);
    list->bytes -= mem_good_size(key_size(list, key->name));
    mem_free(key);
    if (hashtable_count(list->keys) > 0) return;
    list_free(list);
    engine->own_expiries = NULL;
}

/* --- Remembering and forgetting --- */

void own_expiry_note(struct engine *engine, int database, struct slice name, bool is_own) {
    if (!engine->own_expiries && !is_own) return;
    if (!engine->own_expiries) engine->own_expiries = list_new((int)engine->config.databases);
    struct own_expiries *list = engine->own_expiries;
    uint64_t hash = hashtable_hash(name);
    struct own_key *key = find(list, name, hash);
    if (!key && !is_own) return;
    if (!key) key = add(list, name, hash);
    size_t id = (size_t)list->ids[database];
    uint64_t bit = (uint64_t)1 << id % WORD_BITS;
    if (is_own) {
        key->ids[id / WORD_BITS] |= bit;
        return;
    }
    key->ids[id / WORD_BITS] &= ~bit;
    if (!has_databases(list, key)) drop(engine, key);
}

void own_expiry_swap(struct engine *engine, int a, int b) {
    struct own_expiries *list = engine->own_expiries;
    if (!list) return;
    int id = list->ids[a];
    list->ids[a] = list->ids[b];
    list->ids[b] = id;
    list->databases[list->ids[a]] = a;
    list->databases[list->ids[b]] = b;
}

void own_expiry_forget_all(struct engine *engine) {
    struct own_expiries *list = engine->own_expiries;
    if (!list) return;
    engine->own_expiries = NULL;
    if (hashtable_count(list->keys) > FREED_AT_ONCE)
        net_pool_run(engine->net, list_free, NULL, list);
    else
        list_free(list);
}

/* --- Deleting what has expired --- */

struct batch {
    struct own_key *keys[EXAMINED_PER_STEP];
    size_t count;
};

static void collect(void *item, void *arg) {
    struct batch *batch = arg;
    if (batch->count < EXAMINED_PER_STEP) batch->keys[batch->count++] = item;
}

/* Deletes the key where it has expired. Forgets the databases in which it does not expire any more,
 * and returns whether there are any. */
static bool examine(struct engine *engine, struct own_key *key,
                    bool (*expire)(struct engine *engine, int database, struct slice key)) {
    const struct own_expiries *list = engine->own_expiries;
    bool gone = false;
    for (size_t i = 0; i < list->words; i++) {
        for (uint64_t left = key->ids[i]; left; left &= left - 1) {
            size_t id = i * WORD_BITS + (size_t)__builtin_ctzll(left);
            if (expire(engine, list->databases[id], key->name)) continue;
            key->ids[i] &= ~(left & -left);
            gone = true;
        }
    }
    return gone;
}

struct own_expiry_step own_expiry_step(struct engine *engine,
                                       bool (*expire)(struct engine *engine, int database,
                                                      struct slice key)) {
    struct own_expiries *list = engine->own_expiries;
    struct own_expiry_step step = {0};
    struct batch batch;
    if (!list) return step;
    batch.count = 0;
    list->cursor = hashtable_scan(list->keys, list->cursor, collect, &batch);
    step.examined = batch.count;
    for (size_t i = 0; i < batch.count; i++) {
        if (!examine(engine, batch.keys[i], expire)) continue;
        step.gone++;
        if (!has_databases(list, batch.keys[i])) drop(engine, batch.keys[i]); /* the list, too */
    }
    return step;
}

/* --- Reports --- */

size_t own_expiry_count(const struct engine *engine) {
    return engine->own_expiries ? hashtable_count(engine->own_expiries->keys) : 0;
}

size_t own_expiry_allocated(const struct engine *engine) {
    const struct own_expiries *list = engine->own_expiries;
    return list ? hashtable_allocated(list->keys) + list->bytes : 0;
}
