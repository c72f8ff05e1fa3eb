/* background: is a snapshot being written beside all else, by slices of the loop or by a child, or
 * about to be when the disk is done with other things? There is one of them at a time. */
#ifndef PACKLIST_SNAPSHOT_BACKGROUND_H
#define PACKLIST_SNAPSHOT_BACKGROUND_H

#include "snapshot/child.h"

#include <stdbool.h>

struct engine;

/* What it is for; CHILD_NONE: there is none. */
enum child_purpose background_purpose(struct engine *engine);

static inline bool background_is_busy(struct engine *engine) {
    return background_purpose(engine) != CHILD_NONE;
}

#endif
