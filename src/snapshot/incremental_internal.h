/* What the incremental*.c files share. */
#ifndef PACKLIST_SNAPSHOT_INCREMENTAL_INTERNAL_H
#define PACKLIST_SNAPSHOT_INCREMENTAL_INTERNAL_H

#include "engine/engine.h"
#include "snapshot/incremental.h"

struct incremental_iterator {
    struct snapshot_iterator iterator; /* first, as the visitor receives its address */
    struct engine *engine;
    bool is_begun; /* the file has selected its database */
    size_t keys;   /* when the snapshot began */
    size_t expiring_keys;
    size_t adopted_bytes; /* of the flushed keyspace that it owns; see kept_bytes */
};

/* --- incremental_copy.c: entries into chunks --- */

/* Returns the sink of the loop's writer: it fills chunks. */
struct rdb_sink incremental_sink(struct engine *engine);

/* The visitor of a struct snapshot_iterator: copies the entry. O(bytes that are not captured). */
void incremental_visit(struct snapshot_iterator *iterator, struct entry *entry);

/* Returns whether rdb-key-save-delay requires a pause: more keys are copied than the elapsed time
 * allows. It slows the snapshot without blocking the loop. */
bool incremental_must_pause(struct engine *engine);

/* Passes the current chunk to the thread, even if it is not full. */
void incremental_put_filling(struct engine *engine);

#endif
