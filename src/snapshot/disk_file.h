/* disk_file: a file that is written from its beginning to its end and then replaces another one. A
 * crash at any time leaves one of the two, complete: docs/durability.md, section 3. */
#ifndef PACKLIST_SNAPSHOT_DISK_FILE_H
#define PACKLIST_SNAPSHOT_DISK_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lives on the caller's stack. */
struct disk_file {
    int fd;
    bool incremental; /* sent to the disk every few megabytes */
    uint64_t written;
    uint64_t sent;    /* bytes that sync_file_range has begun to write */
    uint64_t dropped; /* bytes of which the pages were given back */
};

/* Creates the file, or empties the one that is there, and locks it (flock) until it is closed, so
 * that no other server takes it for abandoned. `incremental`: the disk begins to write each
 * stretch of a few megabytes at once, so that the fsync at the end takes less time. False with
 * errno set. */
bool disk_file_create(struct disk_file *file, const char *path, bool incremental);

/* Writes all of it; false with errno set. The `write` of a struct rdb_sink whose `arg` is the
 * file. */
bool disk_file_write(void *file, const void *bytes, size_t len);

/* Closes the file; before that waits until all of it has reached the disk, if `ok`. Returns `ok`,
 * or false with errno set when that cannot be had. */
bool disk_file_close(struct disk_file *file, bool ok);

/* Brings a file to the disk that others have written. False with errno set. */
bool disk_file_sync(const char *path);

/* Brings the names in the folder to the disk in which `path` lies. False with errno set. */
bool disk_file_sync_folder_of(const char *path);

/* Gives the file at `path` the name of another one, which it replaces, for good. False with errno
 * set. */
bool disk_file_rename(const char *path, const char *other);

/* Removes a file whose writer did not come to its end: nobody holds its lock. True when it is
 * gone. */
bool disk_file_remove_abandoned(const char *path);

/* Does so with the files "<prefix><process id><suffix>" of the working directory, which writers
 * that were killed have left. */
void disk_file_remove_leftovers(const char *prefix, const char *suffix);

#endif
