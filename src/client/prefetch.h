/* prefetch: in a pipeline over many keys each command waits for its key's bucket and then for its
 * entry to come from memory. Asked for ahead, they come while others are waited for too. */
#ifndef PACKLIST_CLIENT_PREFETCH_H
#define PACKLIST_CLIENT_PREFETCH_H

#include "store/keyspace.h"

/* Starts loading the entries of the key `first`, and of the keys of the next requests in the `len`
 * bytes behind the one it belongs to. Returns how many of those requests are to be run before it is
 * time to call again, with the key of the one after them. A hint without any effect but on time;
 * loads nothing where the keyspace is small enough to be in the caches. */
size_t prefetch_keys(const struct keyspace *keyspace, struct slice first, const char *bytes,
                     size_t len);

#endif
