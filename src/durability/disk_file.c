#define _GNU_SOURCE /* sync_file_range */
#include "durability/disk_file.h"

#include "base/sds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { SEND_EVERY = 4 * 1024 * 1024 };

bool disk_file_create(struct disk_file *file, const char *path, bool incremental) {
    *file = (struct disk_file){.incremental = incremental};
    file->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    return file->fd >= 0;
}

/* The disk begins with the new stretch; the one before it should be done by now, and is waited for,
 * so that no more than two are on their way. A file system that cannot do it writes at the end. */
static void send_on(struct disk_file *file) {
    uint64_t len = file->written - file->sent;
    sync_file_range(file->fd, (off_t)file->sent, (off_t)len, SYNC_FILE_RANGE_WRITE);
    if (file->sent >= SEND_EVERY)
        sync_file_range(file->fd, (off_t)(file->sent - SEND_EVERY), SEND_EVERY,
                        SYNC_FILE_RANGE_WAIT_BEFORE);
    file->sent = file->written;
}

bool disk_file_write(void *arg, const void *bytes, size_t len) {
    struct disk_file *file = arg;
    const char *at = bytes;
    while (len > 0) {
        ssize_t n = write(file->fd, at, len);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        at += n;
        len -= (size_t)n;
        file->written += (uint64_t)n;
    }
    if (file->incremental && file->written - file->sent >= SEND_EVERY) send_on(file);
    return true;
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

bool disk_file_sync_folder(const char *path) {
    const char *slash = strrchr(path, '/');
    sds folder =
        slash ? sds_new(slice_make(path, (size_t)(slash - path) + 1)) : sds_new(SLICE("."));
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    sds_free(folder);
    if (fd < 0) return false;
    bool done = fsync(fd) == 0 || errno == EINVAL; /* not every file system can */
    int error = errno;
    close(fd);
    errno = error;
    return done;
}

bool disk_file_rename(const char *path, const char *other) {
    return rename(path, other) == 0 && disk_file_sync_folder(other);
}
