#include "snapshot/data_lock.h"

#include "base/clock.h"
#include "base/files/dir_lock.h"
#include "engine/engine.h"
#include "snapshot/incremental.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void unlock(int *fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

static sds describe_owner(const char *dir, pid_t owner) {
    char pid[32] = "";
    if (owner) snprintf(pid, sizeof(pid), " (process %d)", (int)owner);
    return sds_format("The directory %s is in use by another server%s. Two servers would "
                      "overwrite each other's data: stop that one, or give this one a dir "
                      "of its own",
                      dir, pid);
}

static void note_unlockable(struct data_lock *locks, const char *dir) {
    if (locks->is_unlockable) return;
    locks->is_unlockable = true;
    if (errno == EACCES || errno == EROFS || errno == EPERM)
        log_notice("The directory %s is not locked, as nothing can be written to it: %s", dir,
                   strerror(errno));
    else
        log_warning("The directory %s cannot be locked: %s. Nothing stops a second server from "
                    "writing to the same files.",
                    dir, strerror(errno));
}

/* Returns whether `fd` is the lock file of `dir`. */
static bool is_locked_by(int fd, const char *dir) {
    struct stat locked, there;
    sds path = sds_format("%s/" DIR_LOCK_NAME, dir);
    bool is_same = fd >= 0 && fstat(fd, &locked) == 0 && stat(path, &there) == 0 &&
                   locked.st_dev == there.st_dev && locked.st_ino == there.st_ino;
    sds_free(path);
    return is_same;
}

/* Returns the server's own lock on `dir`, or -1. The system would refuse the server a second
 * one. */
static int find_own(const struct data_lock *locks, const char *dir) {
    const int fds[] = {locks->dir_fd, locks->aof_fd, locks->save_fd, locks->nodes_fd};
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
        if (is_locked_by(fds[i], dir)) return fds[i];
    return -1;
}

static int duplicate(int fd) {
    return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

/* Locks `dir` and sets *fd; *fd is -1 if the directory cannot be locked. Returns false with *error
 * set when another process holds the lock or there is no such directory. */
static bool lock(struct data_lock *locks, const char *dir, int *fd, sds *error) {
    pid_t owner;
    int own = find_own(locks, dir);
    *fd = own >= 0 ? duplicate(own) : dir_lock_take(dir, &owner);
    if (*fd >= 0) return true;
    if (errno == EWOULDBLOCK) {
        *error = describe_owner(dir, owner);
        return false;
    }
    if (errno == ENOENT || errno == ENOTDIR) {
        *error = sds_new(slice_of_cstr(strerror(errno)));
        return false;
    }
    note_unlockable(locks, dir);
    return true;
}

bool data_lock_take(struct engine *engine, sds *error) {
    struct data_lock *locks = engine->data_lock;
    return locks->dir_fd >= 0 || lock(locks, engine->config.dir, &locks->dir_fd, error);
}

bool data_lock_take_or_log(struct engine *engine) {
    sds error = NULL;
    if (data_lock_take(engine, &error)) return true;
    log_warning("%s.", error);
    sds_free(error);
    errno = EBUSY;
    return false;
}

/* Returns whether the configuration makes the server write files on its own. */
static bool is_wanted(struct engine *engine) {
    return sds_len(engine->config.save) > 0 || engine->config.appendonly;
}

/* Returns the directory of nodes.conf, which the caller frees. */
static sds nodes_dir(const struct config *config) {
    const char *path = config->cluster_config_file, *name = strrchr(path, '/');
    struct slice folder = slice_make(path, name ? (size_t)(name - path) : 0);
    if (name == path) folder.len = 1;
    if (path[0] == '/') return sds_new(folder);
    sds dir = sds_new(sds_slice(config->dir));
    return name ? sds_append(sds_append_cstr(dir, "/"), folder) : dir;
}

static bool take_for_nodes(struct engine *engine, sds *error) {
    struct data_lock *locks = engine->data_lock;
    if (!engine->config.cluster_enabled || locks->nodes_fd >= 0) return true;
    sds dir = nodes_dir(&engine->config);
    bool done = lock(locks, dir, &locks->nodes_fd, error);
    sds_free(dir);
    return done;
}

static bool take_at_start(struct engine *engine, sds *error) {
    if (is_wanted(engine) && !data_lock_take(engine, error)) return false;
    return take_for_nodes(engine, error);
}

bool data_lock_at_start(struct engine *engine, sds *error) {
    enum { WAIT_MS = 500, TRY_EVERY_MS = 10 };
    int64_t end_us = clock_monotonic_us() + WAIT_MS * 1000;
    while (!take_at_start(engine, error)) {
        if (clock_monotonic_us() >= end_us) return false;
        sds_free(*error);
        *error = NULL;
        nanosleep(&(struct timespec){.tv_nsec = TRY_EVERY_MS * 1000000}, NULL);
    }
    return true;
}

bool data_lock_move(struct engine *engine, const char *dir, sds *error) {
    struct data_lock *locks = engine->data_lock;
    int fd;
    if (locks->dir_fd >= 0 && is_locked_by(locks->dir_fd, dir)) return true;
    locks->is_unlockable = false;
    if (locks->dir_fd < 0 && !is_wanted(engine)) return true;
    if (!lock(locks, dir, &fd, error)) return false;
    enum background_purpose purpose = incremental_purpose(engine);
    if ((purpose == BACKGROUND_RDB || purpose == BACKGROUND_SYNC) && locks->save_fd < 0)
        locks->save_fd = locks->dir_fd;
    else
        unlock(&locks->dir_fd);
    locks->dir_fd = fd;
    return true;
}

void data_lock_note_save_ended(struct engine *engine) {
    unlock(&engine->data_lock->save_fd);
}

void data_lock_hold_for_aof(struct engine *engine) {
    struct data_lock *locks = engine->data_lock;
    unlock(&locks->aof_fd);
    if (locks->dir_fd >= 0) locks->aof_fd = duplicate(locks->dir_fd);
}

void data_lock_release_for_aof(struct engine *engine) {
    unlock(&engine->data_lock->aof_fd);
}
