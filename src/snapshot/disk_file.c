#define _GNU_SOURCE /* sync_file_range */
#include "snapshot/disk_file.h"

#include "base/files/file.h"
#include "base/files/new_file.h"
#include "base/log/log.h"
#include "base/text/sds.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

enum { SEND_EVERY = 2 * 1024 * 1024, MOST_UNDER_WAY = 4 * SEND_EVERY };

bool disk_file_create(struct disk_file *file, const char *path, bool sync_in_stretches) {
    *file = (struct disk_file){.sync_in_stretches = sync_in_stretches};
    file->fd = new_file_open(path, 0);
    if (file->fd >= 0) flock(file->fd, LOCK_EX | LOCK_NB); /* not every file system has locks */
    return file->fd >= 0;
}

/* Fails on any error but "not supported". The system reports an error of the disk only once: a
 * later fsync would not report it again. */
static bool sync_range(const struct disk_file *file, uint64_t begin, uint64_t end, unsigned how) {
    if (sync_file_range(file->fd, (off_t)begin, (off_t)(end - begin), how) == 0) return true;
    return errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP || errno == EPERM;
}

/* Begins the write-back of the new bytes. Then waits for the bytes that lie more than
 * MOST_UNDER_WAY back, which are probably written, and drops their pages, so that a large file does
 * not fill the page cache. It does not wait for the newest bytes, as that would block each time. A
 * file system without sync_file_range writes at the end. */
static bool send_on(struct disk_file *file) {
    if (!sync_range(file, file->sent, file->written, SYNC_FILE_RANGE_WRITE)) return false;
    file->sent = file->written;
    if (file->sent - file->dropped <= MOST_UNDER_WAY) return true;
    uint64_t done = file->sent - MOST_UNDER_WAY;
    if (!sync_range(file, file->dropped, done, SYNC_FILE_RANGE_WAIT_BEFORE)) return false;
    posix_fadvise(file->fd, (off_t)file->dropped, (off_t)(done - file->dropped),
                  POSIX_FADV_DONTNEED);
    file->dropped = done;
    return true;
}

bool disk_file_write(void *arg, const void *bytes, size_t len) {
    struct disk_file *file = arg;
    size_t written;
    bool done = file_write(file->fd, bytes, len, &written);
    file->written += written;
    if (!done) return false;
    return !file->sync_in_stretches || file->written - file->sent < SEND_EVERY || send_on(file);
}

bool disk_file_close(struct disk_file *file, bool ok) {
    int error = errno;
    if (ok && fsync(file->fd) != 0) {
        ok = false;
        error = errno;
    }
    if (close(file->fd) != 0 && ok) {
        ok = false;
        error = errno;
    }
    errno = error;
    return ok;
}

bool disk_file_sync(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return false;
    bool done = fsync(fd) == 0;
    file_close(fd);
    return done;
}

bool disk_file_rename(const char *path, const char *other) {
    return rename(path, other) == 0 && new_file_sync_folder_of(other);
}

bool disk_file_remove_abandoned(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return false;
    bool removed = flock(fd, LOCK_EX | LOCK_NB) == 0 && unlink(path) == 0;
    close(fd);
    return removed;
}

static bool is_leftover(const char *name, const char *prefix, const char *suffix) {
    size_t len = strlen(prefix);
    if (strncmp(name, prefix, len) != 0 || name[len] == '0') return false;
    size_t digits = strspn(name + len, "0123456789");
    const char *rest = name + len + digits;
    if (rest[0] == '-' && strspn(rest + 1, "0123456789abcdef") == NEW_FILE_SECRET_DIGITS)
        rest += 1 + NEW_FILE_SECRET_DIGITS;
    return digits > 0 && strcmp(rest, suffix) == 0;
}

void disk_file_remove_leftovers(const char *path, const char *prefix, const char *suffix) {
    DIR *folder = opendir(path);
    struct dirent *item;
    while (folder && (item = readdir(folder))) {
        if (!is_leftover(item->d_name, prefix, suffix)) continue;
        sds file = sds_format("%s/%s", path, item->d_name);
        if (disk_file_remove_abandoned(file))
            log_notice("Removed %s, which was not finished", item->d_name);
        sds_free(file);
    }
    if (folder) closedir(folder);
}
