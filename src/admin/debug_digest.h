/* debug_digest: DEBUG DIGEST and DIGEST-VALUE: short hashes of data (persist/digest.h). */
#ifndef PACKLIST_ADMIN_DEBUG_DIGEST_H
#define PACKLIST_ADMIN_DEBUG_DIGEST_H

#include "engine/call.h"

/* DEBUG DIGEST: of all databases, with expired keys that are not deleted yet. O(data). */
void debug_digest(struct call *call);

/* DEBUG DIGEST-VALUE [key …]: of each value, zeros where the key does not exist. O(values). */
void debug_digest_value(struct call *call);

#endif
