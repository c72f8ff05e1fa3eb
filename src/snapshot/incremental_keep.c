/* incremental_keep: flushed keyspaces that a snapshot still needs, and what eviction must know of
 * memory that it holds: deleting captured values frees nothing yet, so eviction would otherwise
 * delete too many keys. */
#include "base/memory/alloc.h"
#include "engine/lazyfree.h"
#include "snapshot/incremental.h"
#include "snapshot/incremental_internal.h"

size_t incremental_leaving_bytes(struct engine *engine) {
    const struct incremental *s = engine->incremental;
    size_t filling = s->filling ? snapshot_chunk_size(s->filling) : 0;
    return snapshot_thread_leaving(s->thread) + filling + s->kept_bytes + s->left_bytes;
}

/* Returns the keyspace's share of the memory used for keys. */
static size_t estimated_bytes(struct engine *engine, const struct keyspace *keyspace) {
    size_t used = mem_used(), other = engine->startup_memory + incremental_leaving_bytes(engine),
           keys = 0;
    for (int i = 0; i < engine->databases; i++) keys += keyspace_count(engine->keyspaces[i]);
    if (keys == 0 || used < other) return 0;
    return (size_t)((double)(used - other) * (double)keyspace_count(keyspace) / (double)keys);
}

/* Returns the iterator of a snapshot that still needs the keyspace, or NULL. The iterator of a
 * stopped snapshot is abandoned. */
static struct incremental_iterator *iterator_needing(struct engine *engine,
                                                     struct keyspace *keyspace) {
    struct snapshot_iterator *iterator = keyspace_snapshot_iterator(keyspace);
    if (!iterator || engine->incremental->purpose != BACKGROUND_NONE)
        return (struct incremental_iterator *)iterator;
    snapshot_iterator_abandon(iterator);
    return NULL;
}

bool incremental_flush_keyspace(struct engine *engine, struct keyspace *keyspace, bool in_pool,
                                uint64_t number) {
    struct incremental_iterator *iterator = iterator_needing(engine, keyspace);
    if (keyspace_count(keyspace) == 0 || (!in_pool && !iterator)) {
        keyspace_clear(keyspace);
        return false;
    }
    if (iterator) { /* which owns it then, see incremental_run.c */
        iterator->iterator.adopted = true;
        iterator->adopted_bytes = estimated_bytes(engine, keyspace);
        engine->incremental->kept_bytes += iterator->adopted_bytes;
    }
    struct keyspace *flushed = keyspace_new_like(keyspace);
    keyspace_swap(keyspace, flushed);
    if (iterator) return false;
    lazyfree_keyspace(engine->lazyfree, flushed, number);
    return number != 0;
}
