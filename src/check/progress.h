/* progress: a bar on standard error for files that take a while, where that is a terminal:
 *
 *      [##########                              ]  25 %  1.0 of 4.0 GB                          */
#ifndef PACKLIST_CHECK_PROGRESS_H
#define PACKLIST_CHECK_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    uint64_t total; /* bytes to read … */
    uint64_t done;
    int64_t shown_us; /* when the bar was drawn last; 0: never */
    bool on;
};

/* Starts the bar for a file of `total` bytes. */
void progress_start(struct progress *progress, uint64_t total);

/* Counts `bytes` more as read. Cheap: the bar is drawn some times a second. */
void progress_add(struct progress *progress, uint64_t bytes);

/* Removes the bar; also called before anything else is printed. */
void progress_clear(struct progress *progress);

#endif
