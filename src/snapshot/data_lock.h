/* data_lock: keeps two servers from writing data files in the same directory
 * (base/files/dir_lock.h).
 *
 * A server locks its directory before it first writes there: at the start, if it has save points or
 * an append-only file; when these are turned on; and before each snapshot that a client requests. A
 * node of a cluster also locks the directory of cluster-config-file, as long as it runs. A server
 * that only reads takes no lock. The lock lasts until CONFIG SET dir names another
 * directory. The old directory stays locked until a snapshot that was begun there is written, and
 * while the append-only file is there.
 *
 * Two cases are not errors: a directory that cannot be written to needs no lock, and when the file
 * system has no locks the server logs a warning. */
#ifndef PACKLIST_SNAPSHOT_DATA_LOCK_H
#define PACKLIST_SNAPSHOT_DATA_LOCK_H

#include "base/text/sds.h"

#include <stdbool.h>

struct engine;

/* Locks on the directory dir, on the directory of the append-only file, on a former dir in which a
 * snapshot is still being written, and on the directory of a cluster's nodes.conf; -1: not locked.
 * Two locks on the same directory are duplicates of one descriptor, so the lock lasts until both
 * are closed. */
struct data_lock {
    int dir_fd;
    int aof_fd;
    int save_fd;
    int nodes_fd;
    bool is_unlockable; /* the directory cannot be locked, and the log says so already */
};
#define DATA_LOCK_NONE                                                                             \
    ((struct data_lock){.dir_fd = -1, .aof_fd = -1, .save_fd = -1, .nodes_fd = -1})

/* Locks the directory (the directive dir) if the configuration makes the server write files, and
 * that of nodes.conf. Waits
 * up to 500 ms for an owner that is about to end. Returns false with *error set to a text that
 * names the owner; the caller frees it. */
bool data_lock_at_start(struct engine *engine, sds *error);

/* Locks the directory without waiting. Does nothing if it is locked already. Returns false with
 * *error set (the caller frees it) when another process holds the lock. */
bool data_lock_take(struct engine *engine, sds *error);

/* Like data_lock_take, but logs the error and sets errno to EBUSY. */
bool data_lock_take_or_log(struct engine *engine);

/* Call before the directive dir becomes `dir`. Locks `dir` if the old directory was locked. The old
 * directory stays locked while a snapshot is being written there (save_is_running). Returns false
 * with *error set (the caller frees it), and changes nothing, when another process holds the lock
 * or there is no such directory. */
bool data_lock_move(struct engine *engine, const char *dir, sds *error);

/* Call when a snapshot has ended: releases a directory that was locked only for it. */
void data_lock_note_save_ended(struct engine *engine);

/* Keep the directory locked for the append-only file, and release that lock when the file is turned
 * off. */
void data_lock_hold_for_aof(struct engine *engine);
void data_lock_release_for_aof(struct engine *engine);

#endif
