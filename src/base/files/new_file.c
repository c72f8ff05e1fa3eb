#include "base/files/new_file.h"

#include "base/files/file.h"
#include "base/hash/random.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

sds new_file_name(const char *prefix, const char *suffix) {
    char secret[NEW_FILE_SECRET_DIGITS];
    random_hex(secret, sizeof(secret));
    return sds_format("%s%d-%.*s%s", prefix, (int)getpid(), (int)sizeof(secret), secret, suffix);
}

static sds folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? sds_new(slice_make(path, (size_t)(slash - path) + 1)) : sds_new(SLICE("."));
}

/* With a default access list, the system ignores the umask and gives the rights of the list, as far
 * as the mode allows them. */
static mode_t mode_in_folder_of(const char *path) {
    sds folder = folder_of(path);
    bool has_list = getxattr(folder, "system.posix_acl_default", NULL, 0) > 0;
    sds_free(folder);
    return has_list ? 0666 : 0600;
}

int new_file_open(const char *path, int flags) {
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | flags,
                mode_in_folder_of(path));
}

bool new_file_sync_folder_of(const char *path) {
    sds folder = folder_of(path);
    int fd = open(folder, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_DIRECTORY);
    sds_free(folder);
    if (fd < 0) return false;
    bool done = fsync(fd) == 0 || errno == EINVAL; /* not every file system can do this */
    file_close(fd);
    return done;
}

/* --- Replacing --- */

/* Takes the rights from the new file that the old one did not give. */
static bool restrict_as(int fd, const struct stat *old) {
    struct stat new;
    if (fstat(fd, &new) != 0) return false;
    mode_t mode = new.st_mode & old->st_mode & 0777;
    return mode == (new.st_mode & 0777) || fchmod(fd, mode) == 0;
}

/* `old` is NULL where there is no old file. */
static bool write_new(const char *path, struct slice text, const struct stat *old) {
    size_t written;
    int fd = new_file_open(path, 0);
    if (fd < 0) return false;
    bool done = (!old || restrict_as(fd, old)) && file_write(fd, text.ptr, text.len, &written) &&
                fsync(fd) == 0;
    if (done) return close(fd) == 0;
    file_close(fd);
    return false;
}

bool new_file_replace(const char *path, struct slice text) {
    char resolved[PATH_MAX];
    struct stat old;
    if (realpath(path, resolved)) path = resolved;
    bool exists = stat(path, &old) == 0;
    if (exists && !S_ISREG(old.st_mode)) {
        errno = S_ISDIR(old.st_mode) ? EISDIR : EINVAL;
        return false;
    }
    sds prefix = sds_format("%s-", path);
    sds temporary = new_file_name(prefix, "");
    bool renamed = write_new(temporary, text, exists ? &old : NULL) && rename(temporary, path) == 0;
    int saved_errno = errno;
    if (!renamed) unlink(temporary);
    errno = saved_errno;
    sds_free(prefix);
    sds_free(temporary);
    return renamed && new_file_sync_folder_of(path);
}
