#include "base/files/file.h"

#include "base/text/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_SIZE = 64 * 1024 };

ssize_t file_read_some(int fd, void *bytes, size_t room) {
    ssize_t count;
    do count = read(fd, bytes, room);
    while (count < 0 && errno == EINTR);
    return count;
}

ssize_t file_read_some_at(int fd, void *bytes, size_t room, off_t offset) {
    ssize_t count;
    do count = pread(fd, bytes, room, offset);
    while (count < 0 && errno == EINTR);
    return count;
}

bool file_write(int fd, const void *bytes, size_t len, size_t *written) {
    const char *at = bytes;
    for (*written = 0; *written < len;) {
        ssize_t count = write(fd, at + *written, len - *written);
        if (count > 0) {
            *written += (size_t)count;
        } else if (count == 0) {
            errno = ENOSPC;
            return false;
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

static sds read_up_to(int fd, size_t max) {
    sds text = sds_new(SLICE(""));
    for (;;) {
        text = secret_reserve(text, READ_SIZE);
        ssize_t n = file_read_some(fd, text + sds_len(text), READ_SIZE);
        if (n == 0) return text;
        if (n > 0) sds_set_len(text, sds_len(text) + (size_t)n);
        if (n > 0 && sds_len(text) <= max) continue;
        int saved_errno = n > 0 ? EFBIG : errno;
        secret_free(text);
        errno = saved_errno;
        return NULL;
    }
}

sds file_read_all(int fd) {
    return read_up_to(fd, SIZE_MAX);
}

int file_open_plain(const char *path, int flags) {
    struct stat facts;
    int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK, 0644);
    if (fd < 0) return -1;
    if (fstat(fd, &facts) == 0) {
        if (S_ISREG(facts.st_mode)) return fd;
        errno = S_ISDIR(facts.st_mode) ? EISDIR : EINVAL;
    }
    file_close(fd);
    return -1;
}

/* Takes `fd`; -1: it could not be opened. */
static sds read_and_close(int fd, size_t max) {
    if (fd < 0) return NULL;
    sds text = read_up_to(fd, max);
    file_close(fd);
    return text;
}

sds file_read(const char *path) {
    return read_and_close(open(path, O_RDONLY | O_CLOEXEC), SIZE_MAX);
}

sds file_read_plain(const char *path, size_t max) {
    return read_and_close(file_open_plain(path, O_RDONLY), max);
}

void file_close(int fd) {
    int saved_errno = errno;
    close(fd);
    errno = saved_errno;
}
