/* disk_file: a file that is written from its beginning to its end and then takes the place of
 * another, so that a crash at any time leaves one of the two, whole. */
#ifndef PACKLIST_DURABILITY_DISK_FILE_H
#define PACKLIST_DURABILITY_DISK_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lives on the caller's stack. */
struct disk_file {
    int fd;
    bool incremental; /* sent to the disk every few megabytes */
    uint64_t written;
    uint64_t sent; /* bytes that the disk was told to write */
};

/* Creates the file, or empties the one that is there. `incremental`: what is written goes to the
 * disk bit by bit, so that the end need not wait for all of it and others get their turn. False
 * with errno set. */
bool disk_file_create(struct disk_file *file, const char *path, bool incremental);

/* Writes all of it; false with errno set. The `write` of a struct rdb_sink whose `arg` is the
 * file. */
bool disk_file_write(void *file, const void *bytes, size_t len);

/* Closes the file; before that waits until all of it has reached the disk, if `ok`. Returns `ok`,
 * or false with errno set when that cannot be had. */
bool disk_file_close(struct disk_file *file, bool ok);

/* Gives the file at `path` the name of another one, which it replaces, for good. False with errno
 * set. */
bool disk_file_rename(const char *path, const char *other);

/* The half of that which waits for the disk: the name of the file at `path` is there for good.
 * False with errno set. */
bool disk_file_sync_folder(const char *path);

#endif
