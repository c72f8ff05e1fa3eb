/* faults: a library that is loaded before a server (LD_PRELOAD) and makes its calls on files fail.
 *
 * PACKLIST_FAULTS names a file with rules, which is read at every call, so that faults come and go
 * while the server runs; without the file there are none. A rule is a line
 *
 *     call action[,modifier…] glob           write ENOSPC,after=4096 temp-*.rdb
 *
 *     call      write   write, writev, pwrite, fwrite, fflush
 *               sync    fsync, fdatasync
 *               range   sync_file_range
 *               open    open, openat, creat, fopen: for writing
 *               rename, truncate, unlink, mkdir, close
 *               dup     fcntl with F_DUPFD_CLOEXEC
 *               any     all of these
 *               read    read, pread
 *               thread    pthread_create; its glob is *
 *               clock   the wall clock is ahead by as many seconds as the action says, which may be
 *                       negative; its glob is *. Such a rule leaves no hits.
 *     action    an error: ENOSPC EIO EROFS EACCES EMFILE ENOMEM EAGAIN EINTR EINVAL: the call fails
 *               short     the write or read takes half of its bytes, at least one
 *               sleep=MS  it takes so many milliseconds longer
 *               hold      it waits until the rule is no longer among the rules
 *               crash     the server and the process that calls are killed (SIGKILL) before it
 *     modifier  hold, sleep=MS  behind an error: so, and then it fails
 *               nth=K     only the K-th call that matches, since the rules changed or the server began
 *               from=K    that one and all after it
 *               after=N   writes: the file takes N bytes; only what goes beyond fails
 *     glob      of the path, relative to the working directory; "." is that itself. * and ? match
 *               slashes, too. What lies outside of it, and sockets and pipes, never matches.
 *
 * What a rule did is appended to PACKLIST_FAULTS.hits, a line "call action path" each. The first
 * rule that matches counts. Needs no initialization but the shared counters, allocates nothing, and
 * changes errno only as the call does. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* The function of the C library, or of a library that is loaded behind this one: the thread
 * sanitizer must see descriptors come and go, or it takes two files with one number for the same. */
#define NEXT(name) ((typeof(&(name)))dlsym(RTLD_NEXT, #name))

enum { RULES_MAX = 16, RULES_BYTES = 4096, WORD_MAX = 64 };

struct rule {
    char call[WORD_MAX], action[WORD_MAX], glob[WORD_MAX];
    unsigned number;
    uint32_t generation; /* of the file with rules */
};

/* A call that may match. */
struct call {
    const char *name;
    char path[PATH_MAX]; /* relative to the working directory */
    uint64_t file_size;
    size_t *len; /* of a write or read, or NULL */
};

/* For each rule its file's generation (high half) and the calls counted. */
static _Atomic uint64_t *counters;
static pid_t server_pid;

__attribute__((constructor)) static void start(void) {
    void *map = mmap(NULL, RULES_MAX * sizeof(*counters), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (map != MAP_FAILED) counters = map;
    server_pid = getpid();
}

/* --- Rules --- */

static bool glob_matches(const char *glob, const char *text) {
    for (; *glob; glob++, text++) {
        if (*glob == '*') {
            for (;; text++) {
                if (glob_matches(glob + 1, text)) return true;
                if (!*text) return false;
            }
        }
        if (!*text || (*glob != '?' && *glob != *text)) return false;
    }
    return !*text;
}

/* The number after "name=" in an action, or `otherwise`. */
static uint64_t number_in(const char *action, const char *name, uint64_t otherwise) {
    const char *at = strstr(action, name);
    return at ? strtoull(at + strlen(name), NULL, 10) : otherwise;
}

static int error_of(const char *action) {
    static const struct {
        const char *name;
        int error;
    } errors[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO},       {"EROFS", EROFS},
                  {"EACCES", EACCES}, {"EMFILE", EMFILE}, {"ENOMEM", ENOMEM},
                  {"EAGAIN", EAGAIN}, {"EINTR", EINTR},   {"EINVAL", EINVAL}};
    size_t len = strcspn(action, ",");
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        if (strlen(errors[i].name) == len && memcmp(errors[i].name, action, len) == 0)
            return errors[i].error;
    return 0;
}

static bool is_call(const struct rule *rule, const char *name) {
    static const char *const apart[] = {"read", "thread", "clock"};
    if (strcmp(rule->call, "any") != 0) return strcmp(rule->call, name) == 0;
    for (size_t i = 0; i < sizeof(apart) / sizeof(apart[0]); i++)
        if (strcmp(apart[i], name) == 0) return false;
    return true;
}

/* Counts the call; is it one of those that the rule means? */
static bool is_turn(const struct rule *rule) {
    uint64_t nth = number_in(rule->action, "nth=", 0), from = number_in(rule->action, "from=", 0);
    if (!nth && !from) return true;
    if (!counters) return false;
    _Atomic uint64_t *counter = &counters[rule->number];
    uint64_t old = atomic_load(counter), count;
    do count = old >> 32 == rule->generation ? (old & UINT32_MAX) + 1 : 1;
    while (!atomic_compare_exchange_weak(counter, &old, (uint64_t)rule->generation << 32 | count));
    return nth ? count == nth : count >= from;
}

/* Would the write go beyond what the file takes? If only in part, it gets shorter. */
static bool is_beyond(const struct rule *rule, const struct call *call) {
    uint64_t after = number_in(rule->action, "after=", UINT64_MAX);
    if (after == UINT64_MAX) return true;
    if (!call->len || call->file_size + *call->len <= after) return false;
    if (call->file_size >= after) return true;
    *call->len = (size_t)(after - call->file_size);
    return false;
}

/* Fills `bytes` with the rules; their generation, or 0 when there are none. */
static uint32_t read_rules(char bytes[RULES_BYTES]) {
    const char *path = getenv("PACKLIST_FAULTS");
    int fd = path ? NEXT(open)(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) return 0;
    struct stat facts = {0};
    fstat(fd, &facts);
    ssize_t n = syscall(SYS_read, fd, bytes, RULES_BYTES - 1);
    NEXT(close)(fd);
    bytes[n > 0 ? n : 0] = 0;
    return ((uint32_t)facts.st_ino * 31 + (uint32_t)facts.st_mtim.tv_nsec) | 1;
}

/* Parses the rule at `line`, which it ends with a NUL, and returns where the next one begins. A line
 * that is no rule gives an empty one. */
static char *parse_rule(struct rule *rule, char *line) {
    size_t len = strcspn(line, "\n");
    char *next = line + len + (line[len] != 0);
    line[len] = 0;
    *rule = (struct rule){0};
    if (sscanf(line, "%63s %63s %63s", rule->call, rule->action, rule->glob) != 3)
        *rule = (struct rule){0};
    return next;
}

static bool find_rule(struct rule *rule, const struct call *call) {
    char bytes[RULES_BYTES];
    uint32_t generation = read_rules(bytes);
    if (!generation) return false;
    unsigned number = 0;
    for (char *line = bytes; *line && number < RULES_MAX; number++) {
        line = parse_rule(rule, line);
        rule->number = number;
        rule->generation = generation;
        if (is_call(rule, call->name) && glob_matches(rule->glob, call->path) &&
            is_beyond(rule, call) && is_turn(rule))
            return true;
    }
    return false;
}

/* Is this rule still among the rules? */
static bool is_in_force(const struct rule *rule) {
    char bytes[RULES_BYTES];
    uint32_t generation = read_rules(bytes);
    if (!generation || generation == rule->generation) return generation;
    struct rule other;
    for (char *line = bytes; *line;) {
        line = parse_rule(&other, line);
        if (strcmp(other.call, rule->call) == 0 && strcmp(other.action, rule->action) == 0 &&
            strcmp(other.glob, rule->glob) == 0)
            return true;
    }
    return false;
}

/* --- What they do --- */

static void note_hit(const struct rule *rule, const struct call *call) {
    char path[PATH_MAX], line[PATH_MAX + 2 * WORD_MAX];
    snprintf(path, sizeof(path), "%s.hits", getenv("PACKLIST_FAULTS"));
    int len = snprintf(line, sizeof(line), "%s %s %s\n", call->name, rule->action, call->path);
    int fd = NEXT(open)(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (fd < 0) return;
    syscall(SYS_write, fd, line, (size_t)len);
    NEXT(close)(fd);
}

/* True when the call is to fail, with errno set. It may take its time, or not come back. */
static bool is_spoiled(const struct call *call) {
    struct rule rule;
    int before = errno, error = 0;
    if (find_rule(&rule, call)) {
        note_hit(&rule, call);
        error = error_of(rule.action);
        uint64_t ms = number_in(rule.action, "sleep=", 0);
        struct timespec left = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
        while (nanosleep(&left, &left) != 0 && errno == EINTR) continue; /* a child ended, say */
        while (strstr(rule.action, "hold") && is_in_force(&rule)) usleep(5000);
        if (strncmp(rule.action, "crash", 5) == 0) {
            kill(server_pid, SIGKILL);
            kill(getpid(), SIGKILL);
        }
        if (strncmp(rule.action, "short", 5) == 0 && call->len && *call->len > 1) *call->len /= 2;
    }
    errno = error ? error : before;
    return error;
}

/* --- Where they apply --- */

/* Makes an absolute path relative to the working directory; false when it lies elsewhere. */
static bool make_relative(char path[PATH_MAX]) {
    char folder[PATH_MAX];
    long size = syscall(SYS_getcwd, folder, sizeof(folder));
    if (size <= 1) return false;
    size_t len = (size_t)size - 1;
    if (strncmp(path, folder, len) != 0) return false;
    if (path[len] == 0) return memcpy(path, ".", 2);
    if (path[len] != '/') return false;
    return memmove(path, path + len + 1, strlen(path + len + 1) + 1);
}

/* The call's path from what a program passed. */
static bool take_name(struct call *call, const char *name) {
    if (strlen(name) >= sizeof(call->path)) return false;
    memcpy(call->path, name, strlen(name) + 1);
    if (name[0] == '/') return make_relative(call->path);
    while (strncmp(call->path, "./", 2) == 0)
        memmove(call->path, call->path + 2, strlen(call->path + 2) + 1);
    return true;
}

static bool spoils_name(const char *name, const char *path) {
    struct call call = {.name = name};
    int before = errno;
    bool known = getenv("PACKLIST_FAULTS") && take_name(&call, path);
    errno = before;
    return known && is_spoiled(&call);
}

/* `len`: of a write or read, which may get shorter; else NULL. */
static bool spoils_fd(const char *name, int fd, size_t *len) {
    struct call call = {.name = name, .len = len};
    struct stat facts;
    char link[64];
    int before = errno;
    bool known = false;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    if (getenv("PACKLIST_FAULTS") && fstat(fd, &facts) == 0 &&
        (S_ISREG(facts.st_mode) || S_ISDIR(facts.st_mode))) {
        ssize_t n = readlink(link, call.path, sizeof(call.path) - 1);
        call.file_size = (uint64_t)facts.st_size;
        known = n > 0 && make_relative(call.path);
    }
    errno = before;
    return known && is_spoiled(&call);
}

static bool spoils_open(const char *path, int flags) {
    return (flags & (O_WRONLY | O_RDWR | O_CREAT)) && spoils_name("open", path);
}

/* --- The calls: the clock --- */

int clock_gettime(clockid_t id, struct timespec *time) {
    int status = (int)syscall(SYS_clock_gettime, id, time);
    int before = errno;
    struct rule rule;
    if (status == 0 && id == CLOCK_REALTIME && find_rule(&rule, &(struct call){.name = "clock"}))
        time->tv_sec += strtol(rule.action, NULL, 10);
    errno = before;
    return status;
}

/* --- The calls: descriptors --- */

ssize_t write(int fd, const void *bytes, size_t len) {
    if (spoils_fd("write", fd, &len)) return -1;
    return syscall(SYS_write, fd, bytes, len);
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t offset) {
    if (spoils_fd("write", fd, &len)) return -1;
    return syscall(SYS_pwrite64, fd, bytes, len, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t offset) {
    return pwrite(fd, bytes, len, offset);
}

/* A vector that gets shorter goes out as its first piece that is not empty. */
ssize_t writev(int fd, const struct iovec *pieces, int count) {
    size_t len = 0;
    for (int i = 0; i < count; i++) len += pieces[i].iov_len;
    size_t taken = len;
    if (spoils_fd("write", fd, &taken)) return -1;
    if (taken == len) return syscall(SYS_writev, fd, pieces, count);
    while (pieces->iov_len == 0) pieces++;
    return syscall(SYS_write, fd, pieces->iov_base,
                   pieces->iov_len < taken ? pieces->iov_len : taken);
}

ssize_t read(int fd, void *bytes, size_t len) {
    if (spoils_fd("read", fd, &len)) return -1;
    return syscall(SYS_read, fd, bytes, len);
}

ssize_t pread(int fd, void *bytes, size_t len, off_t offset) {
    if (spoils_fd("read", fd, &len)) return -1;
    return syscall(SYS_pread64, fd, bytes, len, offset);
}

ssize_t pread64(int fd, void *bytes, size_t len, off64_t offset) {
    return pread(fd, bytes, len, offset);
}

int ftruncate(int fd, off_t len) {
    return spoils_fd("truncate", fd, NULL) ? -1 : (int)syscall(SYS_ftruncate, fd, len);
}

int ftruncate64(int fd, off64_t len) {
    return ftruncate(fd, len);
}

/* As on Linux, the descriptor is closed in any case. */
int close(int fd) {
    bool fails = spoils_fd("close", fd, NULL);
    int error = errno, status = NEXT(close)(fd);
    if (fails) errno = error;
    return fails ? -1 : status;
}

#define DEFINE_FCNTL(name)                                                                         \
    int name(int fd, int command, ...) {                                                           \
        va_list arguments;                                                                         \
        va_start(arguments, command);                                                              \
        long argument = va_arg(arguments, long);                                                   \
        va_end(arguments);                                                                         \
        if (command == F_DUPFD_CLOEXEC && spoils_fd("dup", fd, NULL)) return -1;                   \
        return (int)syscall(SYS_fcntl, fd, command, argument);                                     \
    }
DEFINE_FCNTL(fcntl)
DEFINE_FCNTL(fcntl64)

/* --- Names --- */

static int open_at(int folder, const char *path, int flags, mode_t mode) {
    if ((folder == AT_FDCWD || path[0] == '/') && spoils_open(path, flags)) return -1;
    if (folder == AT_FDCWD) return NEXT(open)(path, flags, mode);
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}

/* The mode, when the flags say that there is one. */
static mode_t take_mode(int flags, va_list arguments) {
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

#define DEFINE_OPEN(name)                                                                          \
    int name(const char *path, int flags, ...) {                                                   \
        va_list arguments;                                                                         \
        va_start(arguments, flags);                                                                \
        mode_t mode = take_mode(flags, arguments);                                                 \
        va_end(arguments);                                                                         \
        return open_at(AT_FDCWD, path, flags, mode);                                               \
    }
#define DEFINE_OPENAT(name)                                                                        \
    int name(int folder, const char *path, int flags, ...) {                                       \
        va_list arguments;                                                                         \
        va_start(arguments, flags);                                                                \
        mode_t mode = take_mode(flags, arguments);                                                 \
        va_end(arguments);                                                                         \
        return open_at(folder, path, flags, mode);                                                 \
    }
DEFINE_OPEN(open)
DEFINE_OPEN(open64)
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)

int creat(const char *path, mode_t mode) {
    return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

int creat64(const char *path, mode_t mode) {
    return creat(path, mode);
}

int rename(const char *from, const char *to) {
    if (spoils_name("rename", from) || spoils_name("rename", to)) return -1;
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int truncate(const char *path, off_t len) {
    return spoils_name("truncate", path) ? -1 : (int)syscall(SYS_truncate, path, len);
}

int truncate64(const char *path, off64_t len) {
    return truncate(path, len);
}

int unlink(const char *path) {
    if (spoils_name("unlink", path)) return -1;
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int mkdir(const char *path, mode_t mode) {
    if (spoils_name("mkdir", path)) return -1;
    return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

/* --- What the C library must do itself, or a library that is loaded behind this one --- */

int fsync(int fd) {
    return spoils_fd("sync", fd, NULL) ? -1 : NEXT(fsync)(fd);
}

int sync_file_range(int fd, off64_t at, off64_t len, unsigned how) {
    return spoils_fd("range", fd, NULL) ? -1 : NEXT(sync_file_range)(fd, at, len, how);
}

int fdatasync(int fd) {
    return spoils_fd("sync", fd, NULL) ? -1 : NEXT(fdatasync)(fd);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *arg),
                   void *arg) {
    if (spoils_name("thread", "thread")) return errno;
    return NEXT(pthread_create)(thread, attributes, run, arg);
}

FILE *fopen(const char *path, const char *mode) {
    if (strpbrk(mode, "wa+") && spoils_name("open", path)) return NULL;
    return NEXT(fopen)(path, mode);
}

FILE *fopen64(const char *path, const char *mode) {
    return fopen(path, mode);
}

size_t fwrite(const void *bytes, size_t size, size_t count, FILE *file) {
    size_t len = size * count;
    if (spoils_fd("write", fileno(file), &len) || len < size * count) return 0;
    return NEXT(fwrite)(bytes, size, count, file);
}

int fflush(FILE *file) {
    if (file && spoils_fd("write", fileno(file), NULL)) return EOF;
    return NEXT(fflush)(file);
}
