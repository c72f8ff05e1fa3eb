/* dir_lock: which process may write the data files of a directory.
 *
 * The lock is flock(2) on the file DIR_LOCK_NAME in the directory, in which the owner writes its
 * process id. The system gives the lock up with the last descriptor of the owner, however the
 * process ends. The file itself stays: removing it would let two processes lock two files. */
#ifndef PACKLIST_BASE_FILES_DIR_LOCK_H
#define PACKLIST_BASE_FILES_DIR_LOCK_H

#include <sys/types.h>

#define DIR_LOCK_NAME ".packlist.lock"

/* Locks the directory `dir`, without waiting. Returns a descriptor, to be closed by the caller to
 * unlock. Returns -1 with errno set otherwise:
 * EWOULDBLOCK when another process (or another descriptor of this one) has the lock, and then
 * *owner is its process id, or 0 when that is unknown; EACCES or EROFS when nothing can be written
 * into the directory. */
int dir_lock_take(const char *dir, pid_t *owner);

/* Keeps other processes from taking the lock while no server has it: for a program that changes a
 * file which a server may be using. Returns and fails as dir_lock_take does, but creates no file:
 * ENOENT means that no server has ever locked the directory. */
int dir_lock_share(const char *dir, pid_t *owner);

#endif
