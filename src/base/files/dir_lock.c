#include "base/files/dir_lock.h"

#include "base/files/file.h"
#include "base/text/number.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static bool make_path(const char *dir, char path[PATH_MAX]) {
    int len = snprintf(path, PATH_MAX, "%s/" DIR_LOCK_NAME, dir);
    if (len >= 0 && len < PATH_MAX) return true;
    errno = ENAMETOOLONG;
    return false;
}

static int open_existing(const char *path) {
    return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

/* Several users may have started servers here: a user without the right to write the file can still
 * lock it. */
static int open_or_create(const char *path) {
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd >= 0 || errno != EACCES) return fd;
    fd = open_existing(path);
    if (fd < 0) errno = EACCES;
    return fd;
}

/* The owner's id in the file: always as many bytes, blanks at its end, so that one write replaces
 * it. */
enum { OWNER_SIZE = 12 };

/* The owner's id, or 0 if that process has ended: the present owner could not write its own. */
static pid_t read_owner(int fd) {
    char text[OWNER_SIZE];
    ssize_t len = file_read_some_at(fd, text, sizeof(text), 0);
    const char *end = len > 0 ? memchr(text, ' ', (size_t)len) : NULL;
    int64_t pid;
    if (!end || !number_parse_int64(slice_make(text, (size_t)(end - text)), &pid)) return 0;
    if (pid <= 0 || pid > INT32_MAX) return 0;
    return kill((pid_t)pid, 0) == 0 || errno == EPERM ? (pid_t)pid : 0;
}

/* Writes the owner's id. The lock also holds if that fails. */
static void write_owner(int fd) {
    char text[OWNER_SIZE + 1];
    snprintf(text, sizeof(text), "%-*d\n", OWNER_SIZE - 1, (int)getpid());
    ssize_t written = pwrite(fd, text, OWNER_SIZE, 0);
    (void)written;
}

/* Locks the file; closes it if that fails. */
static int lock(int fd, int operation, pid_t *owner) {
    *owner = 0;
    if (fd < 0 || flock(fd, operation | LOCK_NB) == 0) return fd;
    int error = errno;
    *owner = read_owner(fd);
    close(fd);
    errno = error;
    return -1;
}

int dir_lock_take(const char *dir, pid_t *owner) {
    char path[PATH_MAX];
    if (!make_path(dir, path)) return -1;
    int fd = lock(open_or_create(path), LOCK_EX, owner);
    if (fd >= 0) write_owner(fd);
    return fd;
}

int dir_lock_share(const char *dir, pid_t *owner) {
    char path[PATH_MAX];
    return make_path(dir, path) ? lock(open_existing(path), LOCK_SH, owner) : -1;
}
