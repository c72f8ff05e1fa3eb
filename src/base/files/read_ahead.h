/* read_ahead: reads a file from beginning to end. A thread reads a large file that is not in the
 * page cache a few pieces ahead, and past the cache (O_DIRECT), where it would displace other data
 * and cost more per page than copying. */
#ifndef PACKLIST_BASE_FILES_READ_AHEAD_H
#define PACKLIST_BASE_FILES_READ_AHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct read_ahead;

/* Begins to read the file `fd` from its beginning, where its position must be. The caller still
 * owns `fd`, and must not use it before read_ahead_free; its position is then undefined. */
struct read_ahead *read_ahead_new(int fd);

/* Reads at most `room` (> 0) of the next bytes, as read(2): 0 at the end, -1 with errno set for an
 * error, and the same again in later calls. Waits for the disk. O(bytes). */
ssize_t read_ahead_read(struct read_ahead *ahead, void *bytes, size_t room);

/* Returns whether a thread reads ahead. */
bool read_ahead_has_thread(const struct read_ahead *ahead);

/* Ends reading at any point: waits for a piece that is being read. */
void read_ahead_free(struct read_ahead *ahead);

#endif
