/* background: tells whether a snapshot is being written in the background: by the loop
 * (incremental.h), by a child (child.h), or soon, once the disk has finished an fsync that it waits
 * for. At most one exists at a time. */
#ifndef PACKLIST_SNAPSHOT_BACKGROUND_H
#define PACKLIST_SNAPSHOT_BACKGROUND_H

#include "snapshot/child.h"

#include <stdbool.h>

struct engine;

/* Returns what the current background snapshot is for; BACKGROUND_NONE if there is none. O(1). */
enum background_purpose background_purpose(struct engine *engine);

static inline bool background_is_busy(struct engine *engine) {
    return background_purpose(engine) != BACKGROUND_NONE;
}

#endif
