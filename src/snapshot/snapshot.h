/* snapshot: writes every library of functions and every key of every database to an RDB file. */
#ifndef PACKLIST_SNAPSHOT_SNAPSHOT_H
#define PACKLIST_SNAPSHOT_SNAPSHOT_H

#include "persist/rdb_file.h"

#include <stdbool.h>

struct engine;

/* Returns the key's idle time or access frequency, whichever the eviction policy uses. */
struct rdb_usage snapshot_usage_of(struct engine *engine, const struct entry *entry);

/* Begins an RDB file: the facts about it, then all libraries of functions. O(their code). */
void snapshot_write_header(struct engine *engine, struct rdb_writer *writer, int64_t created_s,
                           bool aof_base);

/* Writes the file at `path` in the working directory and waits until it is on the disk.
 * `sync_in_stretches`: see disk_file_create. With `aof_base` the file begins an append-only file.
 * Returns false with errno set when that fails, and removes the file. Runs in the server or in a
 * child, where it sends reports. O(data). */
bool snapshot_write_file(struct engine *engine, const char *path, bool sync_in_stretches,
                         bool aof_base);

#endif
