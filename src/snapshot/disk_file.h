/* disk_file: writes a file from start to end, which then replaces another one. A crash at any time
 * leaves one of the two, complete: docs/durability.md, section 3. */
#ifndef PACKLIST_SNAPSHOT_DISK_FILE_H
#define PACKLIST_SNAPSHOT_DISK_FILE_H

#include "base/text/sds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lives on the caller's stack. */
struct disk_file {
    int fd;
    bool sync_in_stretches; /* sync_file_range is called every few megabytes */
    uint64_t written;
    uint64_t sent;    /* bytes for which sync_file_range has begun the write-back */
    uint64_t dropped; /* bytes whose pages were dropped from the page cache */
};

/* Creates the file as new_file_open does (base/files/new_file.h), and locks it (flock) until it is
 * closed, so that another server does not take it for abandoned. With `sync_in_stretches`,
 * write-back begins every few megabytes, which makes the final fsync shorter. Returns false with
 * errno set. */
bool disk_file_create(struct disk_file *file, const char *path, bool sync_in_stretches);

/* Writes all bytes. Returns false with errno set. Serves as `write` of a struct rdb_sink whose
 * `arg` is the file. */
bool disk_file_write(void *file, const void *bytes, size_t len);

/* Closes the file. If `ok`, calls fsync first. Returns `ok`, or false with errno set when fsync or
 * close fails. Blocks on the disk. */
bool disk_file_close(struct disk_file *file, bool ok);

/* Calls fsync for an existing file. Returns false with errno set. Blocks on the disk. */
bool disk_file_sync(const char *path);

/* Renames the file at `path` to `other`, replacing a file of that name, and calls fsync for the
 * folder. Returns false with errno set. */
bool disk_file_rename(const char *path, const char *other);

/* Removes the file at `path` if no process holds its lock: its writer was killed. Returns true when
 * it was removed. */
bool disk_file_remove_abandoned(const char *path);

/* Removes the abandoned files of the folder at `path` whose names are those of new_file_name,
 * or "<prefix><process id><suffix>", as Redis names them. O(names in the folder). */
void disk_file_remove_leftovers(const char *path, const char *prefix, const char *suffix);

#endif
