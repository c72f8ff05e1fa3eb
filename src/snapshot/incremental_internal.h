/* What the slices*.c files share. */
#ifndef PACKLIST_SNAPSHOT_INCREMENTAL_INTERNAL_H
#define PACKLIST_SNAPSHOT_INCREMENTAL_INTERNAL_H

#include "engine/engine.h"
#include "snapshot/incremental.h"

struct incremental_iterator {
    struct snapshot_iterator iterator; /* first: the visitor gets its address */
    struct engine *engine;
    bool is_begun; /* its database has been announced in the file */
    size_t keys;   /* when it started */
    size_t expiring_keys;
    size_t adopted_bytes; /* of its keyspace, if it was flushed meanwhile: see kept_bytes */
};

/* --- incremental_copy.c: entries into chunks --- */

/* The sink of the loop's writer. */
struct rdb_sink incremental_sink(struct engine *engine);

/* A struct snapshot_iterator's visitor. */
void incremental_visit(struct snapshot_iterator *iterator, struct entry *entry);

/* rdb-key-save-delay: the walk keeps to a pace, without making the loop wait. Has it done more keys
 * than it should have by now? */
bool incremental_is_ahead(struct engine *engine);

/* Gives the thread what was copied, be it less than a chunk. */
void incremental_put_filling(struct engine *engine);

/* --- incremental_keep.c: what must not be freed yet --- */

/* Releases the captures of a chunk, and frees what waited for that. Returns the bytes of
 * memory that only they still hold, see snapshot_chunk_release. */
size_t incremental_release(struct engine *engine, struct snapshot_chunk *chunk);

/* Frees a keyspace, whose bytes are among the kept ones, when no value is captured any
 * more. No walk is under way in it. */
void incremental_free_keyspace(struct engine *engine, struct incremental_keyspace kept);

#endif
