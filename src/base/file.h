/* file: reading and writing that goes on after a signal, and whole small files as texts. */
#ifndef PACKLIST_BASE_FILE_H
#define PACKLIST_BASE_FILE_H

#include "base/sds.h"

#include <sys/types.h>

/* read(2), begun again when a signal interrupts it. */
ssize_t file_read_some(int fd, void *bytes, size_t room);

/* The same for pread(2), which neither uses nor moves the position of `fd`. */
ssize_t file_read_some_at(int fd, void *bytes, size_t room, off_t offset);

/* Writes all bytes; *written gets how many were. False with errno set when that are not all: a
 * write that takes none counts as ENOSPC. O(len). */
bool file_write(int fd, const void *bytes, size_t len, size_t *written);

/* Everything that can still be read from `fd`, the caller's; NULL with errno set. O(bytes). */
sds file_read_all(int fd);

/* The text of the file at `path`, the caller's; NULL with errno set. */
sds file_read(const char *path);

/* Closes a descriptor after what is to be told by errno, which stays as it is. */
void file_close(int fd);

#endif
