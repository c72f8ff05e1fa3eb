/* data_lock: no two servers write the data files of one directory (base/dir_lock.h).
 *
 * A server locks its directory before it first writes there: when it starts with save points or an
 * append-only file, when these are turned on, and before each snapshot that a client asks for. A
 * server that only reads what is there needs no lock. Once taken, the lock is kept until CONFIG SET
 * dir leads elsewhere, and until a snapshot that was begun in the old directory has been written
 * there; the directory of the append-only file stays locked while that is on.
 *
 * Where the directory cannot be written to there is nothing to protect; where the file system has
 * no locks the log says so. Neither is an error. */
#ifndef PACKLIST_SNAPSHOT_DATA_LOCK_H
#define PACKLIST_SNAPSHOT_DATA_LOCK_H

#include "base/sds.h"

#include <stdbool.h>

struct engine;

/* Locks the directory (the directive dir), if the configuration asks for files to be written. Waits
 * up to half a second for an owner that is about to end. False with *error (the caller's) naming
 * the owner. */
bool data_lock_at_start(struct engine *engine, sds *error);

/* Locks the directory, without waiting. Does nothing when it is locked already. False with *error
 * (the caller's) when another process has it. */
bool data_lock_take(struct engine *engine, sds *error);

/* The same; the log gets the error, and errno is EBUSY. */
bool data_lock_take_or_log(struct engine *engine);

/* The directive dir is about to become `dir`: locks that instead, if the directory was locked; the
 * old directory stays locked, too, while a snapshot is being written (save_is_running). False with
 * *error (the caller's), and everything as it was, when another process has it or there is no such
 * directory. */
bool data_lock_move(struct engine *engine, const char *dir, sds *error);

/* No snapshot is being written any more: a directory that was locked only for it is released. */
void data_lock_note_save_ended(void);

/* The append-only file is in the directory, which is locked; it is no longer in use. */
void data_lock_hold_for_aof(void);
void data_lock_release_for_aof(void);

#endif
