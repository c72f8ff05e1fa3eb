/* read_ahead: a file read from its begin to its end. A large one that is not in the page cache is
 * read past it (O_DIRECT) by a thread, some pieces ahead: it would seldom be wanted there again,
 * push out what others want, and each of its pages would cost more than to copy it. */
#ifndef PACKLIST_BASE_READ_AHEAD_H
#define PACKLIST_BASE_READ_AHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct read_ahead;

/* Begins to read the file `fd`, which stands at its begin, stays the caller's, and must not be used
 * before read_ahead_free; where it stands then is not said. */
struct read_ahead *read_ahead_new(int fd);

/* The next bytes, `room` (> 0) at most, as read(2): 0 at the end, -1 with errno set for an error,
 * and both again when asked again. Waits for the disk. O(bytes). */
ssize_t read_ahead_read(struct read_ahead *ahead, void *bytes, size_t room);

/* Is there a thread? */
bool read_ahead_has_thread(const struct read_ahead *ahead);

/* Ends the reading, wherever it is: waits for a piece under way. */
void read_ahead_free(struct read_ahead *ahead);

#endif
