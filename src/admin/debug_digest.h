/* debug_digest: DEBUG DIGEST and DIGEST-VALUE: what data is, in few digits (persist/digest.h). */
#ifndef PACKLIST_ADMIN_DEBUG_DIGEST_H
#define PACKLIST_ADMIN_DEBUG_DIGEST_H

#include "engine/call.h"

/* DEBUG DIGEST: of all databases, with the keys whose time has come but that nobody has deleted
 * yet. O(data). */
void debug_digest(struct call *call);

/* DEBUG DIGEST-VALUE [key …]: of each value, zeros where there is none. O(values). */
void debug_digest_value(struct call *call);

#endif
