/* checks: in builds with CHECKED=1 the server checks the data that commands have changed, with the
 * invariants of types/value.h and store/keyspace.h. A failed check ends the server, as any failed
 * assertion does.
 *
 * A check reads all bytes of a value, or all keys of a database. Each write pays for a constant
 * number of bytes, and a large value is checked when enough writes have paid for it. Other builds
 * call none of these functions. */
#ifndef PACKLIST_ENGINE_CHECKS_H
#define PACKLIST_ENGINE_CHECKS_H

#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>

struct call;
struct checks;
struct entry;
struct keyspace;

#ifdef PACKLIST_CHECKED
enum { CHECKS_ARE_ON = true };
#else
enum { CHECKS_ARE_ON = false };
#endif

/* Call it when a command looks for a key: that must be one of the keys that table/command_keys.h
 * finds in the call, unless data names it, as in SORT. O(argc) up to a bound, above which nothing
 * is checked. */
void checks_key(const struct call *call, struct slice key);

/* Call it after a command has changed the value. Amortised O(1). */
void checks_value(struct checks *checks, const struct entry *entry);

/* Call it after a command that writes has ended, for its database. Amortised O(1). */
void checks_keyspace(struct checks *checks, const struct keyspace *keyspace);

#endif
