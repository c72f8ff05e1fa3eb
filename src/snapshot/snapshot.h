/* snapshot: every key of every database, as an RDB file. */
#ifndef PACKLIST_SNAPSHOT_SNAPSHOT_H
#define PACKLIST_SNAPSHOT_SNAPSHOT_H

#include "persist/rdb_file.h"

#include <stdbool.h>

struct engine;

/* How the key was used, where the policy in force looks at it. */
struct rdb_usage snapshot_usage_of(struct engine *engine, const struct entry *entry);

/* Writes the file at `path` in the working directory and waits until it has reached the disk. False
 * when that cannot be: errno says why, and what is left of the file is removed. `aof_base`: it
 * begins an append-only file. Called in the server or in a child, where it reports. O(data). */
bool snapshot_write_file(struct engine *engine, const char *path, bool incremental, bool aof_base);

#endif
