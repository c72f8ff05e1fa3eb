/* new_file: files that the server creates for its data and secrets. Only its user may read them
 * (0600, and less if the umask says so), unless the folder has a default access list (setfacl -d),
 * which decides then. */
#ifndef PACKLIST_BASE_FILES_NEW_FILE_H
#define PACKLIST_BASE_FILES_NEW_FILE_H

#include "base/text/sds.h"

#include <stdbool.h>

/* The random digits at the end of a temporary name: 64 bits. */
enum { NEW_FILE_SECRET_DIGITS = 16 };

/* Returns a new name for a temporary file: "<prefix><process id>-<16 random hex digits><suffix>".
 * Another user who may write to the folder cannot guess it, so cannot be there first. The caller
 * frees it. */
sds new_file_name(const char *prefix, const char *suffix);

/* Creates the file for writing, with `flags` for open() in addition. Fails if anything has that
 * name already, even a symbolic link. Returns the descriptor; -1 with errno set. */
int new_file_open(const char *path, int flags);

/* Calls fsync for the folder that contains `path`, so that its names are on the disk. Returns false
 * with errno set. Blocks on the disk. */
bool new_file_sync_folder_of(const char *path);

/* Writes the text to a new file, which then takes the place of the one at `path` (a link is
 * followed): a crash at any time leaves one of the two, complete. No user gets a right that it
 * lacked for the old file. What is there but no plain file stays. Returns false with errno set; the
 * old file is there then, unless only the fsync of the folder failed. Blocks on the disk. */
bool new_file_replace(const char *path, struct slice text);

#endif
