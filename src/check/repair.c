#include "check/repair.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Only a y means yes. */
static bool ask(void) {
    char answer[16];
    fputs("Continue? [y/N]: ", stdout);
    fflush(stdout);
    return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static bool may_cut(const struct check_options *options, const char *path, uint64_t size,
                    uint64_t whole) {
    if (options->yes) return true;
    if (!isatty(STDIN_FILENO)) {
        printf("%s: not cut: there is no terminal to ask on; use --yes\n", path);
        return false;
    }
    printf("%s: this will cut it from %llu bytes by %llu bytes to %llu bytes\n", path,
           (unsigned long long)size, (unsigned long long)(size - whole), (unsigned long long)whole);
    if (ask()) return true;
    printf("%s: not cut\n", path);
    return false;
}

/* What was checked must be what is cut: nobody may have written to it meanwhile. */
static const char *cut(int fd, uint64_t size, uint64_t whole) {
    struct stat facts;
    if (fstat(fd, &facts) != 0) return strerror(errno);
    if ((uint64_t)facts.st_size != size) return "its size has changed";
    if (ftruncate(fd, (off_t)whole) != 0 || fsync(fd) != 0) return strerror(errno);
    return NULL;
}

bool repair_cut(const struct check_options *options, const char *path, uint64_t size,
                uint64_t whole) {
    if (!may_cut(options, path, size, whole)) return false;
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    const char *error = fd < 0 ? strerror(errno) : cut(fd, size, whole);
    if (fd >= 0) close(fd);
    if (error)
        printf("%s: not cut: %s\n", path, error);
    else
        printf("%s: fixed: cut to %llu bytes\n", path, (unsigned long long)whole);
    return error == NULL;
}
