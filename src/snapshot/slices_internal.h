/* What the slices*.c files share. */
#ifndef PACKLIST_SNAPSHOT_SLICES_INTERNAL_H
#define PACKLIST_SNAPSHOT_SLICES_INTERNAL_H

#include "engine/engine.h"
#include "snapshot/slices.h"

struct slices_walk {
    struct keyspace_walk walk; /* first: the visitor gets its address */
    struct engine *engine;
    bool is_begun; /* its database has been announced in the file */
    size_t keys;   /* when it started */
    size_t expiring_keys;
    size_t adopted_bytes; /* of its keyspace, if it was flushed meanwhile: see kept_bytes */
};

/* --- slices_copy.c: entries into chunks --- */

/* The sink of the loop's writer. */
struct rdb_sink slices_sink(struct engine *engine);

/* A struct keyspace_walk's visitor. */
void slices_visit(struct keyspace_walk *walk, struct entry *entry);

/* rdb-key-save-delay: the walk keeps to a pace, without making the loop wait. Has it done more keys
 * than it should have by now? */
bool slices_are_ahead(struct engine *engine);

/* Gives the thread what was copied, be it less than a chunk. */
void slices_put_filling(struct engine *engine);

/* --- slices_keep.c: what must not be freed yet --- */

/* Releases the captures of a chunk, and frees what waited for that. Returns the bytes of
 * memory that only they still hold, see snapshot_chunk_release. */
size_t slices_release(struct engine *engine, struct snapshot_chunk *chunk);

/* Frees a keyspace, whose bytes are among the kept ones, when no value is captured any
 * more. No walk is under way in it. */
void slices_free_keyspace(struct engine *engine, struct slices_keyspace kept);

#endif
