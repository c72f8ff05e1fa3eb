/* aof_files: the files of the append-only file: the manifest that is in force, and its folder.
 *
 *      <dir>/<appenddirname>/<appendfilename>.manifest
 *                            <appendfilename>.2.base.rdb
 *                            <appendfilename>.2.incr.aof
 *
 * A manifest replaces the one before it at once and whole (a temporary file, fsync, rename, fsync
 * of the folder), so that whenever the process ends the files on disk that the manifest names are
 * a complete append-only file. */
#ifndef PACKLIST_DURABILITY_AOF_FILES_H
#define PACKLIST_DURABILITY_AOF_FILES_H

#include "base/sds.h"
#include "persist/aof_manifest.h"

#include <stdbool.h>

/* Makes the folder if need be and reads the manifest; without one it is empty, and files that may
 * be there keep their names for themselves. False when that cannot be; the log says why. */
bool aof_files_open(void);

/* An append-only file of before there were manifests (<dir>/<appendfilename>) becomes the base.
 * Only for who then loads it: the next rewrite deletes it. False when that cannot be; the log says
 * why. */
bool aof_files_adopt_old(void);

/* Writes `next` and puts it in force; takes it over in either case. False with errno set when it
 * cannot be written: then the one before stays in force, and the log says why. */
bool aof_files_adopt(struct aof_manifest *next);

/* Forgets the history, and deletes its files in another thread. */
void aof_files_drop_history(void);

/* The path of a file in the folder; the caller's. */
sds aof_files_path(const char *name);

#endif
