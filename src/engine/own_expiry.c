/* own_expiry: see own_expiry.h.
 *
 * Each item of the table has a bit for each database's id. SWAPDB exchanges the ids of two
 * databases, so that no name needs to change. Each name has at least one bit. The list is made for
 * its first name, and freed with its last one. */
#include "engine/own_expiry.h"

#include "base/memory/alloc.h"
#include "engine/engine.h"
#include "engine/keytable.h"
#include "net/loop/pool.h"

enum {
    WORD_BITS = 64,
    EXAMINED_PER_STEP = 128, /* more than a bucket of the table ever holds */
    FREED_AT_ONCE = 64       /* more names are freed in another thread */
};

struct own_key {
    struct keytable_key key;
    uint64_t ids[]; /* of the databases in which the key is one of the replica's own */
};

struct own_expiries {
    struct keytable keys; /* of struct own_key, in one space */
    size_t bytes;         /* that the keys take */
    uint64_t cursor;      /* position of the steps in the table */
    size_t words;         /* of `ids` of each key */
    int *ids;             /* the id of each database */
    int *databases;       /* the database of each id */
};

/* --- The list --- */

static struct own_expiries *list_new(int databases) {
    struct own_expiries *list = mem_alloc(sizeof(*list));
    size_t size = (size_t)databases * sizeof(*list->ids);
    *list = (struct own_expiries){.words = ((size_t)databases + WORD_BITS - 1) / WORD_BITS,
                                  .ids = mem_alloc(size),
                                  .databases = mem_alloc(size)};
    keytable_init(&list->keys, 1);
    for (int i = 0; i < databases; i++) list->ids[i] = list->databases[i] = i;
    return list;
}

static void list_free(void *arg) {
    struct own_expiries *list = arg;
    struct hashtable_iter iter;
    hashtable_iter_start(&iter, list->keys.spaces[0]);
    for (struct own_key *key; (key = hashtable_iter_next(&iter));) mem_free(key);
    keytable_free(&list->keys);
    mem_free(list->ids);
    mem_free(list->databases);
    mem_free(list);
}

/* Without the name. */
static size_t key_size(const struct own_expiries *list) {
    return sizeof(struct own_key) + list->words * sizeof(uint64_t);
}

static bool has_databases(const struct own_expiries *list, const struct own_key *key) {
    for (size_t i = 0; i < list->words; i++)
        if (key->ids[i]) return true;
    return false;
}

/* Frees a key that has no database any more, and the list with its last key. */
static void drop(struct engine *engine, struct own_key *key) {
    struct own_expiries *list = engine->own_expiries;
    list->bytes -= mem_good_size(key_size(list) + key->key.name.len);
    keytable_delete(&list->keys, key);
    if (list->keys.count > 0) return;
    list_free(list);
    engine->own_expiries = NULL;
}

/* --- Remembering and forgetting --- */

void own_expiry_note(struct engine *engine, int database, struct slice name, bool is_own) {
    if (!engine->own_expiries && !is_own) return;
    if (!engine->own_expiries) engine->own_expiries = list_new(engine->databases);
    struct own_expiries *list = engine->own_expiries;
    struct own_key *key = keytable_find(&list->keys, 0, name);
    if (!key && !is_own) return;
    if (!key) {
        key = keytable_find_or_add(&list->keys, 0, name, key_size(list));
        list->bytes += mem_good_size(key_size(list) + name.len);
    }
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
    if (list->keys.count > FREED_AT_ONCE)
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
            if (expire(engine, list->databases[id], key->key.name)) continue;
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
    list->cursor = hashtable_scan(list->keys.spaces[0], list->cursor, collect, &batch);
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
    return engine->own_expiries ? engine->own_expiries->keys.count : 0;
}

size_t own_expiry_allocated(const struct engine *engine) {
    const struct own_expiries *list = engine->own_expiries;
    return list ? hashtable_allocated(list->keys.spaces[0]) + list->bytes : 0;
}
