/* snapshot: writes every library of functions and every key of every database: to an RDB file, or
 * as commands that create them. */
#ifndef PACKLIST_SNAPSHOT_SNAPSHOT_H
#define PACKLIST_SNAPSHOT_SNAPSHOT_H

#include "persist/rdb_file.h"

#include <stdbool.h>

struct engine;

enum snapshot_form {
    SNAPSHOT_RDB,
    SNAPSHOT_AOF_BASE, /* the same, as the beginning of an append-only file */
    SNAPSHOT_COMMANDS  /* such a beginning as commands (aof-use-rdb-preamble no) */
};

/* Returns the key's idle time or access frequency, whichever the eviction policy uses. */
struct rdb_usage snapshot_usage_of(struct engine *engine, const struct entry *entry);

/* For tests (rdb-key-save-delay, key-load-delay): call before each key that is saved or loaded at
 * once. Sleeps `delay` microseconds; if `delay` is negative, one microsecond before every -delay'th
 * key. */
void snapshot_delay(int64_t delay, uint64_t key_number);

/* Begins a snapshot: the facts about it (as commands: the time, with aof-timestamp-enabled), then
 * all libraries of functions. O(their code). */
void snapshot_write_header(struct engine *engine, struct rdb_writer *writer,
                           enum snapshot_form form);

/* Writes the file at `path` in the working directory and waits until it is on the disk.
 * `sync_in_stretches`: see disk_file_create. Returns false with errno set when that fails, and
 * removes the file. O(data). */
bool snapshot_write_file(struct engine *engine, const char *path, bool sync_in_stretches,
                         enum snapshot_form form);

#endif
