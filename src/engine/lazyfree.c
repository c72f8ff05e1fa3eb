/* lazyfree: see the drawing in lazyfree.h.
 *
 * Only the loop touches `filling`, `added…`, `keyspaces` and `in_flight`. The batch `running`, with
 * `captured`, belongs to the pool while it is in flight, and to the loop otherwise. The pool writes
 * the counters of freed objects and the loop reads them at any time; the loop writes `stopped` and
 * the pool reads it. These are atomic.
 *
 * The loop may release a capture while the pool looks at its value. So the pool frees only what it
 * finds without captures, and puts the rest into `captured`. When the loop gets these values, some
 * may be without captures, and much work: they go to the pool again, as any other value. */
#include "engine/lazyfree.h"

#include "base/memory/alloc.h"
#include "ds/capture.h"
#include "engine/engine.h"
#include "net/loop/pool.h"
#include "types/value.h"

/* A value with less effort (value_free_effort) is freed sooner than it is handed over. */
#ifdef TINY_LIMITS
enum { EFFORT_MIN = 4, CAPTURE_MIN = 200 };
#else
enum { EFFORT_MIN = 64, CAPTURE_MIN = 64 * 1024 }; /* bytes that only a capture still needs */
#endif

/* Entries of a keyspace that are freed between two tests of `stopped`. */
enum { KEYS_PER_STEP = 256 };

struct item {
    struct entry *entry;     /* NULL, and no capture: the item is the keyspace of `ending` */
    struct capture *capture; /* released */
    struct keyspace_ending ending;
    uint64_t objects;
    uint64_t bytes;  /* 0 for a keyspace */
    uint64_t number; /* of a keyspace, for keyspace_freed; 0: no call */
};

struct batch {
    struct item *items;
    size_t count;
    size_t capacity;
    size_t done; /* items that are freed */
};

struct lazyfree {
    struct engine *engine;
    struct batch filling;
    struct batch running;
    struct entry **captured; /* out of keyspaces of the batch `running` */
    size_t captured_count;
    size_t captured_capacity;
    bool in_flight;
    uint64_t added_objects;
    uint64_t added_bytes;
    uint64_t keyspaces;     /* in batches that are not done: then no capture counts the bytes yet */
    uint64_t freed_objects; /* atomic */
    uint64_t freed_bytes;
    uint64_t reset_objects; /* freed_objects when the statistics were reset */
    bool stopped;           /* atomic */
};

static bool is_keyspace(const struct item *item) {
    return !item->entry && !item->capture;
}

/* --- In the pool --- */

static bool is_stopped(const struct lazyfree *lazyfree) {
    return __atomic_load_n(&lazyfree->stopped, __ATOMIC_RELAXED);
}

static void count(uint64_t *counter, uint64_t more) {
    __atomic_add_fetch(counter, more, __ATOMIC_RELAXED);
}

static uint64_t counted(const uint64_t *counter) {
    return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* Returns whether it was freed: a captured one is left to the loop. */
static bool free_entry(struct lazyfree *lazyfree, struct entry *entry) {
    if (value_is_captured(entry)) {
        MEM_RESERVE(lazyfree->captured, lazyfree->captured_capacity, lazyfree->captured_count + 1);
        lazyfree->captured[lazyfree->captured_count++] = entry;
        return false;
    }
    value_free(entry);
    return true;
}

/* Frees some entries of a keyspace, and at last the keyspace. Returns whether there is more to
 * do. */
static bool free_some(struct lazyfree *lazyfree, struct keyspace_ending *ending) {
    bool more = true;
    uint64_t freed = 0;
    for (int i = 0; more && i < KEYS_PER_STEP; i++) {
        struct entry *entry = keyspace_end_step(ending);
        more = entry != NULL;
        if (more) freed += free_entry(lazyfree, entry);
    }
    count(&lazyfree->freed_objects, freed);
    return more;
}

/* Returns false when it was stopped before the keyspace was freed. */
static bool free_keyspace(struct lazyfree *lazyfree, struct keyspace_ending *ending) {
    while (!is_stopped(lazyfree))
        if (!free_some(lazyfree, ending)) return true;
    return false;
}

static void free_batch(struct lazyfree *lazyfree, struct batch *batch) {
    for (; batch->done < batch->count && !is_stopped(lazyfree); batch->done++) {
        struct item *item = &batch->items[batch->done];
        if (is_keyspace(item)) {
            if (!free_keyspace(lazyfree, &item->ending)) return;
            continue;
        }
        if (item->entry)
            value_free(item->entry);
        else
            capture_free(item->capture);
        count(&lazyfree->freed_objects, item->objects);
        count(&lazyfree->freed_bytes, item->bytes);
    }
}

static void free_running(void *arg) {
    struct lazyfree *lazyfree = arg;
    free_batch(lazyfree, &lazyfree->running);
}

/* --- In the loop --- */

static void hand_over(struct lazyfree *lazyfree);

static void free_captured(struct lazyfree *lazyfree) {
    lazyfree->added_objects -= lazyfree->captured_count;
    for (size_t i = 0; i < lazyfree->captured_count; i++)
        lazyfree_entry(lazyfree, lazyfree->captured[i], true);
    mem_free(lazyfree->captured);
    lazyfree->captured = NULL;
    lazyfree->captured_count = lazyfree->captured_capacity = 0;
}

static void report_freed(struct lazyfree *lazyfree) {
    const struct batch *batch = &lazyfree->running;
    struct engine *engine = lazyfree->engine;
    for (size_t i = 0; i < batch->count; i++) {
        lazyfree->keyspaces -= is_keyspace(&batch->items[i]);
        if (batch->items[i].number) engine->upward->keyspace_freed(engine, batch->items[i].number);
    }
}

/* Captured values and keyspace_freed may lead to further items: `in_flight` is still true then, so
 * they go to `filling`. */
static void on_done(void *arg) {
    struct lazyfree *lazyfree = arg;
    if (!is_stopped(lazyfree)) {
        free_captured(lazyfree);
        report_freed(lazyfree);
    }
    lazyfree->in_flight = false;
    if (is_stopped(lazyfree)) return;
    lazyfree->running.count = lazyfree->running.done = 0;
    if (lazyfree->filling.count > 0) {
        hand_over(lazyfree);
        return;
    }
    mem_free(lazyfree->running.items);
    mem_free(lazyfree->filling.items);
    lazyfree->running = lazyfree->filling = (struct batch){0};
}

static void hand_over(struct lazyfree *lazyfree) {
    struct batch emptied = lazyfree->running;
    lazyfree->running = lazyfree->filling;
    lazyfree->filling = emptied;
    lazyfree->in_flight = true;
    net_pool_run(lazyfree->engine->net, free_running, on_done, lazyfree);
}

static void add(struct lazyfree *lazyfree, struct item item) {
    struct batch *batch = &lazyfree->filling;
    MEM_RESERVE(batch->items, batch->capacity, batch->count + 1);
    batch->items[batch->count++] = item;
    lazyfree->added_objects += item.objects;
    lazyfree->added_bytes += item.bytes;
    lazyfree->keyspaces += is_keyspace(&item);
    if (!lazyfree->in_flight && !is_stopped(lazyfree)) hand_over(lazyfree);
}

bool lazyfree_is_much(const struct entry *entry) {
    return value_free_effort(entry) > EFFORT_MIN;
}

void lazyfree_entry(struct lazyfree *lazyfree, struct entry *entry, bool in_pool) {
    if (!in_pool || !lazyfree_is_much(entry)) {
        value_free(entry);
        return;
    }
    add(lazyfree, (struct item){.entry = entry, .objects = 1, .bytes = value_allocated(entry)});
}

void lazyfree_capture(struct lazyfree *lazyfree, struct capture *capture) {
    size_t bytes = capture_release(capture);
    if (bytes < CAPTURE_MIN)
        capture_free(capture);
    else
        add(lazyfree,
            (struct item){.capture = capture, .objects = capture->orphan != NULL, .bytes = bytes});
}

void lazyfree_keyspace(struct lazyfree *lazyfree, struct keyspace *keyspace, uint64_t number) {
    uint64_t keys = keyspace_count(keyspace);
    if (keys == 0) {
        keyspace_free(keyspace);
        return;
    }
    struct item item = {.objects = keys, .number = number};
    keyspace_end_start(&item.ending, keyspace);
    add(lazyfree, item);
}

bool lazyfree_is_little(const struct keyspace *keyspace) {
    if (keyspace_count(keyspace) > EFFORT_MIN) return false;
    size_t effort = 0;
    struct keyspace_iter iter;
    keyspace_iter_start(&iter, keyspace);
    for (const struct entry *entry; (entry = keyspace_iter_next(&iter));)
        effort += value_free_effort(entry);
    return effort <= EFFORT_MIN;
}

/* --- Stats --- */

uint64_t lazyfree_pending_objects(const struct lazyfree *lazyfree) {
    return lazyfree->added_objects - counted(&lazyfree->freed_objects);
}

uint64_t lazyfree_freed_objects(const struct lazyfree *lazyfree) {
    return counted(&lazyfree->freed_objects) - lazyfree->reset_objects;
}

void lazyfree_reset_freed(struct lazyfree *lazyfree) {
    lazyfree->reset_objects = counted(&lazyfree->freed_objects);
}

size_t lazyfree_pending_bytes(const struct lazyfree *lazyfree) {
    if (lazyfree->keyspaces > 0) return SIZE_MAX / 2;
    return (size_t)(lazyfree->added_bytes - counted(&lazyfree->freed_bytes));
}

/* --- Life --- */

/* Starts the threads now, which takes a millisecond, rather than while a client waits for its first
 * UNLINK. */
void lazyfree_start(struct engine *engine) {
    struct lazyfree *lazyfree = mem_alloc_zeroed(sizeof(*lazyfree));
    lazyfree->engine = engine;
    engine->lazyfree = lazyfree;
    net_pool_run(engine->net, NULL, NULL, NULL);
}

void lazyfree_stop(struct engine *engine) {
    __atomic_store_n(&engine->lazyfree->stopped, true, __ATOMIC_RELAXED);
}

void lazyfree_free(struct engine *engine) {
    struct lazyfree *lazyfree = engine->lazyfree;
    __atomic_store_n(&lazyfree->stopped, false, __ATOMIC_RELAXED);
    free_batch(lazyfree, &lazyfree->running);
    free_batch(lazyfree, &lazyfree->filling);
    for (size_t i = 0; i < lazyfree->captured_count; i++) value_free(lazyfree->captured[i]);
    mem_free(lazyfree->captured);
    mem_free(lazyfree->running.items);
    mem_free(lazyfree->filling.items);
    mem_free(lazyfree);
}
