#include "check/repair.h"

#include "base/dir_lock.h"
#include "base/sds.h"

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

/* Cuts the file. Its size must still be the checked one: otherwise a program has written to it. */
static const char *cut(int fd, uint64_t size, uint64_t whole) {
    struct stat facts;
    if (fstat(fd, &facts) != 0) return strerror(errno);
    if ((uint64_t)facts.st_size != size) return "its size has changed";
    if (ftruncate(fd, (off_t)whole) != 0 || fsync(fd) != 0) return strerror(errno);
    return NULL;
}

/* Returns whether a server uses the folder at `up` ("" or "/..") from the file's folder. If not, no
 * server can start to use it while *lock, if it is not -1, is open. */
static bool is_in_use(const char *path, const char *up, int *lock) {
    const char *slash = strrchr(path, '/');
    struct slice folder = slash ? slice_make(path, (size_t)(slash + 1 - path)) : SLICE(".");
    sds dir = sds_append_cstr(sds_new(folder), up);
    pid_t owner;
    *lock = dir_lock_share(dir, &owner);
    bool in_use = *lock < 0 && errno == EWOULDBLOCK;
    if (in_use) printf("%s: not cut: a server (process %d) uses it\n", path, (int)owner);
    sds_free(dir);
    return in_use;
}

static bool cut_file(const char *path, uint64_t size, uint64_t whole) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    const char *error = fd < 0 ? strerror(errno) : cut(fd, size, whole);
    if (fd >= 0) close(fd);
    if (error)
        printf("%s: not cut: %s\n", path, error);
    else
        printf("%s: fixed: cut to %llu bytes\n", path, (unsigned long long)whole);
    return error == NULL;
}

/* The append-only file has a folder of its own; a server locks the folder that contains it. */
bool repair_cut(const struct check_options *options, const char *path, uint64_t size,
                uint64_t whole) {
    if (!may_cut(options, path, size, whole)) return false;
    int own = -1, above = -1;
    bool done = !is_in_use(path, "", &own) && !is_in_use(path, "/..", &above) &&
                cut_file(path, size, whole);
    if (own >= 0) close(own);
    if (above >= 0) close(above);
    return done;
}
