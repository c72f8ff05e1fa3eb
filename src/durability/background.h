/* background: is a snapshot being written beside all else, by slices of the loop or by a child, or
 * about to be when the disk is done with other things? There is one of them at a time. */
#ifndef PACKLIST_DURABILITY_BACKGROUND_H
#define PACKLIST_DURABILITY_BACKGROUND_H

#include "durability/child.h"

#include <stdbool.h>

/* What it is for; CHILD_NONE: there is none. */
enum child_purpose background_purpose(void);

static inline bool background_is_busy(void) {
    return background_purpose() != CHILD_NONE;
}

#endif
