/* own_expiry: the keys of a writable replica that expire because a client of the replica said so.
 *
 * The primary does not know these expiries, so it never deletes such a key, and the replica must.
 * All other keys of a replica are deleted when the primary says so. That is why the replica
 * remembers the names of its own ones: a name with the databases in which it is such a key.
 *
 * A name that is remembered may be out of date: the key may be gone, or never expire any more. The
 * search for expired keys (reclaim/expire.c) then forgets it. A key to which the primary gave an
 * expiry since is not remembered.
 *
 * A server that is not a replica, or whose clients may not write, remembers nothing. */
#ifndef PACKLIST_ENGINE_OWN_EXPIRY_H
#define PACKLIST_ENGINE_OWN_EXPIRY_H

#include "base/slice.h"

#include <stdbool.h>
#include <stddef.h>

struct engine;

/* Call it on a replica when a key has got an expiry. `is_own` says whether a client gave it:
 * remembers the key, else forgets it. Copies the name. O(name). */
void own_expiry_note(struct engine *engine, int database, struct slice key, bool is_own);

/* The keys of two databases are exchanged. O(1). */
void own_expiry_swap(struct engine *engine, int a, int b);

/* Forgets all keys: the data is replaced, or the server is not a replica any more. O(1): a thread
 * frees many names. */
void own_expiry_forget_all(struct engine *engine);

/* What one step has examined: names, and those of them with a key that has expired, is gone or
 * never expires any more. */
struct own_expiry_step {
    size_t examined;
    size_t gone;
};

/* Takes the next few names, round and round, and deletes their keys that have expired: calls
 * `expire` (call_expire_own), which returns whether the key will expire later. O(databases). */
struct own_expiry_step own_expiry_step(struct engine *engine,
                                       bool (*expire)(struct engine *engine, int database,
                                                      struct slice key));

/* Returns the number of names that are remembered. O(1). */
size_t own_expiry_count(const struct engine *engine);

/* Returns the bytes that they take. O(1). */
size_t own_expiry_allocated(const struct engine *engine);

#endif
