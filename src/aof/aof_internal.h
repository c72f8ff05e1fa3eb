/* What the aof*.c files share. */
#ifndef PACKLIST_AOF_AOF_INTERNAL_H
#define PACKLIST_AOF_AOF_INTERNAL_H

#include "aof/aof.h"
#include "engine/engine.h"

/* --- aof_append.c: the current file --- */

/* Reads the command log and writes everything to the file, without waiting for an fdatasync.
 * Returns false when some bytes could not be written. */
bool aof_drain(struct engine *engine);

/* Calls aof_drain and then fdatasync, whatever appendfsync says: a new file is about to follow this
 * one (docs/durability.md, section 6, step 1). Notes an error of fdatasync. Returns false when some
 * bytes could not be written. */
bool aof_make_durable(struct engine *engine);

/* Does the same without waiting: aof->sync_ended is called when all that is written so far is
 * synced. Returns false, having begun nothing, when there is nothing to sync or only
 * aof_make_durable will do. */
bool aof_make_durable_begin(struct engine *engine);

/* Makes another file of `size` bytes the current one, and appends to its end. Takes ownership of
 * `fd`. Closes the former file: all its changes must be written. */
void aof_attach(struct engine *engine, int fd, uint64_t size);

/* Closes the current file. */
void aof_detach(struct engine *engine);

/* Call when a new base is in force: an fsync error of an older file no longer matters. Returns
 * false if fsync of the current file has failed: another rewrite is needed. */
bool aof_forget_sync_error(struct engine *engine);

/* Notes the errno of a failed fsync of the current file, or of its name: refuses changes until a
 * rewrite succeeds. 0: does nothing. */
void aof_note_sync(struct engine *engine, int error);

/* --- aof_rewrite.c --- */

void aof_rewrite_tick(struct engine *engine);

/* For aof->sync_ended. */
void aof_rewrite_note_sync(struct engine *engine);

/* Creates an increment and a manifest that names it. Returns its descriptor; -1 on failure, which
 * the log explains. If the manifest is in doubt (aof_files.h), an empty increment stays: it is
 * loaded after the current one. */
int aof_create_increment(struct engine *engine);

/* Stops the rewrite and removes its files, also the pending increment: changes that go to it are
 * lost until the next rewrite begins. */
void aof_rewrite_cancel(struct engine *engine);

/* Writes all data as a base, creates an empty increment and the first manifest. Returns the
 * descriptor of the increment; -1 on failure, which the log explains. O(data). */
int aof_write_first_files(struct engine *engine);

#endif
