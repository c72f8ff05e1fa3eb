/* prefetch: loads the entries of several requests of a pipeline at once. Without it each command
 * waits until its key's bucket, and then its entry, has come from memory. */
#ifndef PACKLIST_CLIENT_PREFETCH_H
#define PACKLIST_CLIENT_PREFETCH_H

#include "store/keyspace.h"

/* Starts loading the entry of the key `first`, with the beginning of its value, and those of the
 * keys of the next requests, which are in the `len` bytes after its own request. Returns the number
 * of those requests to run before the next call, which gets the key of the one after them. Only a
 * hint: it changes nothing but the time. Loads nothing where the keyspace is small enough to be in
 * the caches. */
size_t prefetch_keys(const struct keyspace *keyspace, struct slice first, const char *bytes,
                     size_t len);

#endif
