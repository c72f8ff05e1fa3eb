#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { READ_SIZE = 64 * 1024 };

sds file_read_all(int fd) {
    sds text = sds_new(SLICE(""));
    for (;;) {
        text = sds_reserve(text, READ_SIZE);
        ssize_t n = read(fd, text + sds_len(text), READ_SIZE);
        if (n > 0) {
            sds_set_len(text, sds_len(text) + (size_t)n);
        } else if (n == 0) {
            return text;
        } else if (errno != EINTR) {
            int saved_errno = errno;
            sds_free(text);
            errno = saved_errno;
            return NULL;
        }
    }
}

sds file_read(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return NULL;
    sds text = file_read_all(fd);
    int saved_errno = errno;
    close(fd);
    errno = saved_errno;
    return text;
}
