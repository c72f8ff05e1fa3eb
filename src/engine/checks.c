#include "engine/checks.h"

#include "types/value.h"

#include <assert.h>
#include <stddef.h>

/* What each write pays for: about as many bytes as can be checked in some ten microseconds. */
enum { BYTES_PER_WRITE = 16 * 1024, BYTES_PER_KEY = 256 };

/* What writes have paid, less what was checked for it: bytes of values, and of keyspaces. */
static size_t value_credit, keyspace_credit;

/* Does the credit suffice for so many bytes? Takes them off it. */
static bool spend(size_t *credit, size_t bytes) {
    *credit += BYTES_PER_WRITE;
    if (*credit < bytes) return false;
    *credit -= bytes;
    return true;
}

void checks_value(const struct entry *entry) {
    if (spend(&value_credit, value_allocated(entry))) assert(value_check(entry));
}

void checks_keyspace(const struct keyspace *keyspace) {
    if (spend(&keyspace_credit, keyspace_count(keyspace) * BYTES_PER_KEY))
        assert(keyspace_check(keyspace));
}
