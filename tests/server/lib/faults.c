/* faults: preloaded into a server, lets system calls fail or wait as a file says that its test
 * writes: PACKLIST_FAULTS names it. A line of it:
 *
 *      fdatasync appendonlydir EIO       the call fails so where the path holds that word
 *      write     -             ENOSPC    … wherever it goes
 *      fsync     -             500       the call waits for so many milliseconds first
 *
 * Calls: fdatasync, fsync, write, ftruncate, rename (the new path), unlink, fork (without a path). A
 * write that is to fail as SHORT takes half of the bytes, and then fails as ENOSPC. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const struct {
    const char *name;
    int error;
} errors[] = {{"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EAGAIN", EAGAIN},
              {"ENOMEM", ENOMEM}, {"EXDEV", EXDEV},   {"EROFS", EROFS}};

enum { PASS = 0, SHORT = -1 };

static size_t read_rules(char *text, size_t room) {
    const char *path = getenv("PACKLIST_FAULTS");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) return 0;
    ssize_t len = syscall(SYS_read, fd, text, room - 1);
    close(fd);
    return len > 0 ? (size_t)len : 0;
}

static void path_of(int fd, char *path, size_t room) {
    char link[64];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, room - 1);
    path[len > 0 ? len : 0] = 0;
}

/* What is to happen: PASS, SHORT, or an errno. Waits if that is asked for. */
static int fault(const char *call, const char *path) {
    char text[1024], name[32], word[128], what[32], *at = text;
    text[read_rules(text, sizeof(text))] = 0;
    for (int used; sscanf(at, "%31s %127s %31s%n", name, word, what, &used) == 3; at += used) {
        if (strcmp(name, call) != 0 || (strcmp(word, "-") != 0 && !strstr(path, word))) continue;
        if (strcmp(what, "SHORT") == 0) return SHORT;
        for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
            if (strcmp(what, errors[i].name) == 0) return errors[i].error;
        long ms = strtol(what, NULL, 10);
        nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
    }
    return PASS;
}

static int fault_of(const char *call, int fd) {
    char path[4096];
    path_of(fd, path, sizeof(path));
    return fault(call, path);
}

static int fail(int error) {
    errno = error;
    return -1;
}

int fdatasync(int fd) {
    int error = fault_of("fdatasync", fd);
    return error ? fail(error) : (int)syscall(SYS_fdatasync, fd);
}

int fsync(int fd) {
    int error = fault_of("fsync", fd);
    return error ? fail(error) : (int)syscall(SYS_fsync, fd);
}

int ftruncate(int fd, off_t length) {
    int error = fault_of("ftruncate", fd);
    return error ? fail(error) : (int)syscall(SYS_ftruncate, fd, length);
}

ssize_t write(int fd, const void *bytes, size_t count) {
    static __thread int was_short;
    int error = fd > 2 ? fault_of("write", fd) : PASS;
    if (error == SHORT && (was_short = !was_short)) return syscall(SYS_write, fd, bytes, count / 2);
    if (error) return fail(error == SHORT ? ENOSPC : error);
    return syscall(SYS_write, fd, bytes, count);
}

int rename(const char *old, const char *new) {
    int error = fault("rename", new);
    return error ? fail(error) : (int)syscall(SYS_rename, old, new);
}

int unlink(const char *path) {
    int error = fault("unlink", path);
    return error ? fail(error) : (int)syscall(SYS_unlink, path);
}

pid_t fork(void) {
    int error = fault("fork", "");
    pid_t (*next)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
    return error ? fail(error) : next();
}
