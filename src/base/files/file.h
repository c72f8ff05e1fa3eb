/* file: reads and writes that continue after a signal, and whole small files as texts. */
#ifndef PACKLIST_BASE_FILES_FILE_H
#define PACKLIST_BASE_FILES_FILE_H

#include "base/text/sds.h"

#include <sys/types.h>

/* read(2), repeated when a signal interrupts it. */
ssize_t file_read_some(int fd, void *bytes, size_t room);

/* The same for pread(2), which neither uses nor moves the position of `fd`. */
ssize_t file_read_some_at(int fd, void *bytes, size_t room, off_t offset);

/* Writes all bytes; *written gets the number written. False with errno set when that is not all: a
 * write of no bytes counts as ENOSPC. O(len). */
bool file_write(int fd, const void *bytes, size_t len, size_t *written);

/* open(2) with these flags and O_CLOEXEC; a file that is created has mode 0644. What is not a plain
 * file is refused, with EISDIR for a folder and EINVAL or ENXIO for anything else; the other end of
 * a pipe is not waited for. Returns -1 with errno set. */
int file_open_plain(const char *path, int flags);

/* Reads from `fd` to its end. The caller owns the text; NULL with errno set. O(bytes). */
sds file_read_all(int fd);

/* The text of the file at `path`, which the caller owns; NULL with errno set. O(bytes). The second
 * reads only plain files, as file_open_plain, of at most `max` bytes: a longer one fails with
 * EFBIG. */
sds file_read(const char *path);
sds file_read_plain(const char *path, size_t max);

/* Closes a descriptor after an error and keeps errno. */
void file_close(int fd);

#endif
