/* What the aof*.c files share. */
#ifndef PACKLIST_AOF_AOF_INTERNAL_H
#define PACKLIST_AOF_AOF_INTERNAL_H

#include "aof/aof.h"
#include "engine/engine.h"

/* A buffer of the file that is larger is freed when it is empty. */
enum { AOF_BUFFER_KEEP_MAX = 1024 * 1024 };

/* --- aof.c: the file that is written to --- */

/* Writes all that was told, at once. False when it cannot. */
bool aof_drain(struct engine *engine);

/* Does so, and calls fdatasync, whatever appendfsync says: before another file follows
 * (docs/durability.md, section 6, step 1). An error of fdatasync is noted. False when it cannot
 * write. */
bool aof_make_durable(struct engine *engine);

/* Begins to do so without waiting: aof_rewrite_note_sync follows when the disk is done with what
 * was written up to now, at the least. False when nothing is begun: there is nothing to be done, or
 * aof_make_durable must do it. */
bool aof_make_durable_begin(struct engine *engine);

/* Goes on at the end of another file of `size` bytes, whose descriptor is taken over. The one
 * before was settled; it is closed. */
void aof_attach(struct engine *engine, int fd, uint64_t size);

/* Closes it. */
void aof_detach(struct engine *engine);

/* What came before the file that is written to does not count any more. True when nothing is known
 * to have gone wrong with that file itself. */
bool aof_forget_sync_error(struct engine *engine);

/* A power failure may lose the whole file: changes are refused until a rewrite succeeds. */
void aof_note_doubt(struct engine *engine);

/* --- aof_rewrite.c --- */

void aof_rewrite_tick(struct engine *engine);

/* An fdatasync in the pool has ended. */
void aof_rewrite_note_sync(struct engine *engine);

/* Creates an increment, which the manifest knows from then on; -1 when it cannot be had, the log
 * says why. In doubt (aof_files.h) an empty one is left, which is read behind the one that is
 * written to. */
int aof_create_increment(struct engine *engine);

/* Ends the child and removes what it has written; also the file apart, if that is what changes go
 * to: they do so for nothing until the next rewrite begins. */
void aof_rewrite_cancel(struct engine *engine);

/* Writes all data as the base of a manifest that has none, and puts that in force; with an empty
 * increment, whose descriptor is returned. -1 when that fails; the log says why. O(data). */
int aof_write_first_files(struct engine *engine);

#endif
