/* aof_files: the files of the append-only file: the manifest in force, and its folder.
 *
 *      <dir>/<appenddirname>/<appendfilename>.manifest
 *                            <appendfilename>.2.base.rdb
 *                            <appendfilename>.2.incr.aof
 *
 * The files that the manifest names are a complete append-only file at any time
 * (docs/durability.md, sections 3 and 6). */
#ifndef PACKLIST_AOF_AOF_FILES_H
#define PACKLIST_AOF_AOF_FILES_H

#include "base/sds.h"
#include "persist/aof_manifest.h"

#include <stdbool.h>

struct engine;

/* The directive dir, an absolute path, is where the files are from now on: not where it leads to
 * when it is changed later, as what is in force there may be another server's. */
void aof_files_set_dir(struct engine *engine);

/* Calls aof_files_set_dir, makes the folder if need be and reads the manifest; without one it is
 * empty, and files that may be there keep their names for themselves. False when that cannot be;
 * the log says why. Not while a rewrite runs. */
bool aof_files_open(struct engine *engine);

/* An append-only file of before there were manifests (<dir>/<appendfilename>) becomes the base.
 * Only for who then loads it: the next rewrite deletes it. False when that cannot be; the log says
 * why. */
bool aof_files_adopt_old(struct engine *engine);

enum aof_adoption {
    AOF_NOT_ADOPTED, /* it cannot be written: the one before stays in force */
    AOF_IN_DOUBT,    /* it is in force, but a power failure may bring back the one before: the files
                     of both must stay, and what only the new one names is not certain */
    AOF_ADOPTED
};

/* Writes `next` and puts it in force; takes it over in any case. The log says what went wrong. */
enum aof_adoption aof_files_adopt(struct engine *engine, struct aof_manifest *next);

/* Brings the files that the manifest in force names to the disk, and their names
 * (docs/durability.md, section 7). Waits for the disk. False with errno set. */
bool aof_files_sync(struct engine *engine);

/* Deletes the files of the history in another thread, and then removes their names from the
 * manifest; not while the manifest is in doubt (docs/durability.md, section 6, steps 7 and 8). */
void aof_files_drop_history(struct engine *engine);

/* The path of a file in the folder; the caller's. Of one that is not complete yet: "manifest", or
 * "incr", whose writer locks it (flock). Of one beside the folder that is to become a base. */
sds aof_files_path(struct engine *engine, const char *name);
sds aof_files_temporary(struct engine *engine, const char *kind);
sds aof_files_path_beside(struct engine *engine, const char *name);

/* Removes such files whose server was killed. */
void aof_files_remove_leftovers(struct engine *engine);

#endif
