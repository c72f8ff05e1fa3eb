/* power: a library that is loaded before a server (LD_PRELOAD) and notes what has reached the disk
 * for certain, so that a test can do to its files what a power cut may do.
 *
 * PACKLIST_POWER names a folder. After each fsync or fdatasync that succeeded, and before the
 * server hears of that, a line is appended to the file "notes" there:
 *
 *      F inode size ms        a file: all bytes that it had when the call began; how long it took
 *      D inode path\tname inode\tname inode …      a folder, and what was in it
 *
 * What such a line speaks of is kept as a hard link named for its inode, so that it is still there
 * when the server has deleted or replaced it. Strict, as POSIX is: a file that was synchronized in a
 * folder that was not may be gone. Names hold neither tabs nor newlines. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct note {
    char text[65536];
    size_t len;
};

__attribute__((format(printf, 2, 3))) static void add(struct note *note, const char *format, ...) {
    va_list values;
    size_t room = sizeof(note->text) - note->len;
    va_start(values, format);
    int len = vsnprintf(note->text + note->len, room, format, values);
    va_end(values);
    if (len < 0 || (size_t)len >= room) abort();
    note->len += (size_t)len;
}

static void keep(const char *path, unsigned long long inode) {
    char kept[PATH_MAX];
    snprintf(kept, sizeof(kept), "%s/%llu", getenv("PACKLIST_POWER"), inode);
    linkat(AT_FDCWD, path, AT_FDCWD, kept, AT_SYMLINK_FOLLOW);
}

static void note_folder(struct note *note, const char *path) {
    char target[PATH_MAX], item_path[PATH_MAX];
    ssize_t len = readlink(path, target, sizeof(target) - 1);
    target[len > 0 ? len : 0] = 0;
    add(note, "%s", target);
    /* The thread sanitizer does not see what opendir opens, but what closedir closes. */
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *item; folder && (item = readdir(folder));) {
        if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0) continue;
        add(note, "\t%s %llu", item->d_name, (unsigned long long)item->d_ino);
        int size = snprintf(item_path, sizeof(item_path), "%s/%s", target, item->d_name);
        if (size < (int)sizeof(item_path)) keep(item_path, (unsigned long long)item->d_ino);
    }
    if (folder) closedir(folder);
}

/* Notes what will be certain if the call that follows succeeds; returns false if that is nothing. */
static bool look(struct note *note, int fd) {
    struct stat facts;
    char path[64];
    note->len = 0;
    if (!getenv("PACKLIST_POWER") || fstat(fd, &facts) != 0) return false;
    unsigned long long inode = facts.st_ino;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (S_ISREG(facts.st_mode)) {
        add(note, "F %llu %lld ", inode, (long long)facts.st_size);
        keep(path, inode);
    } else if (S_ISDIR(facts.st_mode)) {
        add(note, "D %llu ", inode);
        note_folder(note, path);
    }
    return note->len > 0;
}

static void append(const struct note *note) {
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/notes", getenv("PACKLIST_POWER"));
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, note->text, note->len) != (ssize_t)note->len) abort();
    close(fd);
}

static long long now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int synchronize(long number, int fd) {
    struct note note;
    int before = errno;
    bool is_noted = look(&note, fd);
    errno = before;
    long long begun_ms = now_ms();
    if (syscall(number, fd) != 0) return -1;
    if (is_noted) {
        if (note.text[0] == 'F') add(&note, "%lld", now_ms() - begun_ms);
        add(&note, "\n");
        append(&note);
    }
    errno = before;
    return 0;
}

int fsync(int fd) {
    return synchronize(SYS_fsync, fd);
}

int fdatasync(int fd) {
    return synchronize(SYS_fdatasync, fd);
}
