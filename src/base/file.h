/* file: whole small files as texts. */
#ifndef PACKLIST_BASE_FILE_H
#define PACKLIST_BASE_FILE_H

#include "base/sds.h"

/* Everything that can still be read from `fd`, the caller's; NULL with errno set. O(bytes). */
sds file_read_all(int fd);

/* The text of the file at `path`, the caller's; NULL with errno set. */
sds file_read(const char *path);

#endif
