/* aof_files: the manifest in force, and the files of the append-only file in their folder.
 *
 *      <dir>/<appenddirname>/<appendfilename>.manifest
 *                            <appendfilename>.2.base.rdb
 *                            <appendfilename>.2.incr.aof
 *
 * At any time, the files that the manifest names are a complete append-only file
 * (docs/durability.md, sections 3 and 6). */
#ifndef PACKLIST_AOF_AOF_FILES_H
#define PACKLIST_AOF_AOF_FILES_H

#include "base/text/sds.h"
#include "persist/aof_manifest.h"

#include <stdbool.h>

struct engine;

/* Stores the current directive dir as the location of the files; a later change does not move
 * them. */
void aof_files_set_dir(struct engine *engine);

/* Calls aof_files_set_dir, creates the folder if necessary and reads the manifest. Without a
 * manifest the list of files is empty, and new files avoid the names of existing ones. Returns
 * false on failure; the log says why. Must not be called while a rewrite runs. */
bool aof_files_open(struct engine *engine);

/* Makes an append-only file of Redis before 7 (<dir>/<appendfilename>) the base. The caller must
 * then load it, as the next rewrite deletes it. Returns false on failure; the log says why. */
bool aof_files_adopt_old(struct engine *engine);

enum aof_adoption {
    /* The new manifest could not be written: the old one stays in force. */
    AOF_NOT_ADOPTED,
    /* The new manifest is in force, but a power failure may bring back the old one. The files of
     * both must stay, and files that only the new one names may be lost. */
    AOF_IN_DOUBT,
    AOF_ADOPTED
};

/* Writes the manifest `next` and puts it in force. Takes ownership of `next` in any case. The log
 * explains a failure. Waits for the disk. */
enum aof_adoption aof_files_adopt(struct engine *engine, struct aof_manifest *next);

/* Syncs the files of the manifest and their names (docs/durability.md, section 7). Waits for the
 * disk. Returns false with errno set. */
bool aof_files_sync(struct engine *engine);

/* Deletes the files of the history in another thread, and then removes them from the manifest. Does
 * nothing while the manifest is in doubt (docs/durability.md, section 6, steps 7 and 8). */
void aof_files_drop_history(struct engine *engine);

/* Deletes the base that a rewrite has left when the server was killed before the manifest named it
 * (docs/durability.md, section 6, between steps 5 and 6). Call when the files of the manifest are
 * loaded and synced. Waits for the disk. */
void aof_files_remove_unnamed_base(struct engine *engine);

/* These return paths, which the caller frees: of a file in the folder; a new one of a temporary
 * file in the folder (`kind`: ".manifest", or ".incr", which its writer locks with flock); of a
 * file in the directory dir. */
sds aof_files_path(struct engine *engine, const char *name);
sds aof_files_temporary(struct engine *engine, const char *kind);
sds aof_files_path_beside(struct engine *engine, const char *name);

/* Removes temporary files of a killed server from the folder. */
void aof_files_remove_leftovers(struct engine *engine);

#endif
