/* prefetch: loads what several requests of a pipeline need at once. Without it each command waits
 * until its key's bucket, and then its entry and its value, have come from memory. */
#ifndef PACKLIST_EXECUTE_PREFETCH_H
#define PACKLIST_EXECUTE_PREFETCH_H

#include "stats/stats.h"
#include "store/keyspace.h"

/* Prefetches what this request, which has arguments, and the next ones, which are in the `len`
 * bytes after its own, name: the entries of their keys and the beginning of the values, or the
 * members (types/value.h). Returns how many of the next requests to run before calling again, for
 * the one after them. Only a hint: it changes nothing but the time. Loads nothing where keyspace
 * and values are small enough to be in the caches; what it loads is counted in `totals`. */
size_t prefetch_requests(const struct keyspace *keyspace, const struct slice *argv, size_t argc,
                         const char *bytes, size_t len, struct prefetch_totals *totals);

/* Call before each request of a pipeline runs: calls prefetch_requests when the requests have run
 * that the last call of it was for. *ahead counts them; it begins with 0. */
static inline void prefetch_next(size_t *ahead, const struct keyspace *keyspace,
                                 const struct slice *argv, size_t argc, const char *bytes,
                                 size_t len, struct prefetch_totals *totals) {
    if (*ahead > 0)
        (*ahead)--;
    else if (len > 0 && argc > 1)
        *ahead = prefetch_requests(keyspace, argv, argc, bytes, len, totals);
}

#endif
