/* incremental_keep: owns flushed keyspaces whose values the snapshot thread may still read, until
 * all captures are released.
 *
 * The loop's thread may free a captured value itself: it goes over to its captures. Other threads
 * must not, and it is they who free keyspaces. Eviction must know how much memory will become free:
 * deleting captured values frees nothing yet, so eviction would otherwise delete too many keys. */
#include "base/memory/alloc.h"
#include "engine/lazyfree.h"
#include "snapshot/incremental.h"
#include "snapshot/incremental_internal.h"
#include "types/value.h"

size_t incremental_leaving_bytes(struct engine *engine) {
    const struct incremental *s = engine->incremental;
    size_t filling = s->filling ? snapshot_chunk_size(s->filling) : 0;
    return snapshot_thread_leaving(s->thread) + filling + s->kept_bytes + s->left_bytes;
}

/* --- Keyspaces --- */

/* Returns the keyspace's share of the memory used for keys. */
static size_t estimated_bytes(struct engine *engine, const struct keyspace *keyspace) {
    size_t used = mem_used(), other = engine->startup_memory + incremental_leaving_bytes(engine),
           keys = 0;
    for (int64_t i = 0; i < engine->config.databases; i++)
        keys += keyspace_count(engine->keyspaces[i]);
    if (keys == 0 || used < other) return 0;
    return (size_t)((double)(used - other) * (double)keyspace_count(keyspace) / (double)keys);
}

static void free_now(struct engine *engine, struct incremental_keyspace kept) {
    engine->incremental->kept_bytes -= kept.bytes;
    lazyfree_keyspace(engine->lazyfree, kept.keyspace, kept.number);
}

void incremental_free_keyspace(struct engine *engine, struct incremental_keyspace kept) {
    struct incremental *s = engine->incremental;
    if (s->shared == 0) {
        free_now(engine, kept);
        return;
    }
    MEM_RESERVE(s->keyspaces, s->keyspace_capacity, s->keyspace_count + 1);
    s->keyspaces[s->keyspace_count++] = kept;
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
    struct incremental *s = engine->incremental;
    struct incremental_iterator *iterator = iterator_needing(engine, keyspace);
    if (keyspace_count(keyspace) == 0 || (!in_pool && !iterator && s->shared == 0)) {
        keyspace_clear(keyspace);
        return false;
    }
    bool waits_for_disk = iterator || s->shared > 0;
    struct incremental_keyspace kept = {.keyspace = keyspace_new(value_free, value_length),
                                        .bytes = estimated_bytes(engine, keyspace),
                                        .number = waits_for_disk ? 0 : number};
    keyspace_swap(keyspace, kept.keyspace);
    s->kept_bytes += kept.bytes;
    if (iterator) { /* freed when the iterator has finished, see incremental_run.c */
        iterator->iterator.adopted = true;
        iterator->adopted_bytes = kept.bytes;
    } else {
        incremental_free_keyspace(engine, kept);
    }
    return kept.number != 0;
}

/* --- Releasing captures --- */

size_t incremental_release(struct engine *engine, struct snapshot_chunk *chunk) {
    struct incremental *s = engine->incremental;
    size_t left = snapshot_chunk_release(chunk);
    s->stats.left_bytes += left;
    s->shared -= chunk->capture_count;
    if (s->shared > 0) return left;
    for (size_t i = 0; i < s->keyspace_count; i++) free_now(engine, s->keyspaces[i]);
    s->keyspace_count = 0;
    return left;
}
