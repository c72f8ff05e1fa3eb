/* checks: builds with CHECKED=1 check the data that commands have changed, with the invariants of
 * types/value.h and store/keyspace.h. A failure ends the server as any failed assertion does.
 *
 * A check reads all bytes of a value, or all keys of a database. Each write therefore pays for a
 * constant number of bytes only: what is larger is checked after so many writes that they have paid
 * for it together. In other builds nothing of this is called. */
#ifndef PACKLIST_ENGINE_CHECKS_H
#define PACKLIST_ENGINE_CHECKS_H

#include "store/keyspace.h"

#include <stdbool.h>

#ifdef PACKLIST_CHECKED
enum { CHECKS_ARE_ON = true };
#else
enum { CHECKS_ARE_ON = false };
#endif

/* A command has changed the value. Amortised O(1). */
void checks_value(const struct entry *entry);

/* A command that writes has ended, in this database. Amortised O(1). */
void checks_keyspace(const struct keyspace *keyspace);

#endif
