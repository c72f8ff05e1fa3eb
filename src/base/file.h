/* file: reads and writes that continue after a signal, and whole small files as texts. */
#ifndef PACKLIST_BASE_FILE_H
#define PACKLIST_BASE_FILE_H

#include "base/sds.h"

#include <sys/types.h>

/* read(2), repeated when a signal interrupts it. */
ssize_t file_read_some(int fd, void *bytes, size_t room);

/* The same for pread(2), which neither uses nor moves the position of `fd`. */
ssize_t file_read_some_at(int fd, void *bytes, size_t room, off_t offset);

/* Writes all bytes; *written gets the number written. False with errno set when that is not all: a
 * write of no bytes counts as ENOSPC. O(len). */
bool file_write(int fd, const void *bytes, size_t len, size_t *written);

/* Reads from `fd` to its end. The caller owns the text; NULL with errno set. O(bytes). */
sds file_read_all(int fd);

/* The text of the file at `path`, which the caller owns; NULL with errno set. O(bytes). */
sds file_read(const char *path);

/* Closes a descriptor after an error and keeps errno. */
void file_close(int fd);

#endif
