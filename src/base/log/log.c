#include "base/log/log.h"

#include "base/clock.h"
#include "base/log/log_syslog.h"
#include "base/slice.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECENT_MAX = 8192 };

/* The process has one log; it must be reachable from anywhere, also when memory has run out. */
static struct {
    enum log_level level;
    struct log_style style;
    char path[PATH_MAX]; /* empty: standard output */
    char role;
    bool has_syslog;
    char recent[RECENT_MAX]; /* the last bytes that were written, in a ring */
    size_t written;          /* bytes in all; the next one goes to this place, modulo RECENT_MAX */
} logger = {.level = LOG_NOTICE, .role = 'M'};

void log_set_level(enum log_level level) {
    logger.level = level;
}

void log_set_format(enum log_format format, enum log_timestamp timestamp) {
    logger.style = (struct log_style){format, timestamp};
}

void log_set_role(char role) {
    logger.role = role;
}

static int open_log(const char *path) {
    return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
}

bool log_set_file(const char *path) {
    if (strlen(path) >= sizeof(logger.path)) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (path[0] != '\0') {
        int fd = open_log(path);
        if (fd < 0) return false;
        close(fd);
    }
    memmove(logger.path, path, strlen(path) + 1);
    return true;
}

void log_set_syslog(const char *ident, int facility) {
    log_syslog_open(ident, facility);
    logger.has_syslog = true;
}

bool log_is_shown_on(int fd, enum log_level level) {
    struct stat shown, wanted;
    return logger.path[0] == '\0' && level >= logger.level && fstat(STDOUT_FILENO, &shown) == 0 &&
           fstat(fd, &wanted) == 0 && shown.st_dev == wanted.st_dev &&
           shown.st_ino == wanted.st_ino;
}

static int open_current(void) {
    return logger.path[0] == '\0' ? STDOUT_FILENO : open_log(logger.path);
}

int log_open(void) {
    int fd = open_current();
    return fd < 0 ? STDERR_FILENO : fd;
}

void log_close(int fd) {
    if (fd != STDOUT_FILENO && fd != STDERR_FILENO) close(fd);
}

static void write_bytes(int fd, const char *bytes, size_t len) {
    while (write(fd, bytes, len) < 0 && errno == EINTR) {
    }
}

/* Adds a line, which is shorter than the ring, to it. */
static void remember_line(const char *line, size_t len) {
    size_t at = logger.written % RECENT_MAX;
    size_t first = len < RECENT_MAX - at ? len : RECENT_MAX - at;
    memcpy(logger.recent + at, line, first);
    memcpy(logger.recent, line + first, len - first);
    logger.written += len;
}

/* The part after the end of its first line. */
static struct slice skip_line(struct slice part) {
    const char *end = memchr(part.ptr, '\n', part.len);
    size_t skipped = end ? (size_t)(end + 1 - part.ptr) : part.len;
    return slice_make(part.ptr + skipped, part.len - skipped);
}

void log_write_recent(int fd) {
    size_t at = logger.written % RECENT_MAX;
    struct slice old = slice_make(logger.recent + at, RECENT_MAX - at);
    struct slice new = slice_make(logger.recent, at);
    if (logger.written <= RECENT_MAX) {
        old.len = 0;
    } else { /* the oldest line has lost its beginning */
        bool ends_in_new = !memchr(old.ptr, '\n', old.len);
        old = skip_line(old);
        if (ends_in_new) new = skip_line(new);
    }
    write_bytes(fd, old.ptr, old.len);
    write_bytes(fd, new.ptr, new.len);
}

/* Replaces control characters, so that text from files or clients neither begins lines nor controls
 * a terminal. */
static void mask_controls(char *text, size_t len) {
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7F) text[i] = '?';
}

static void write_line(enum log_level level, const char *format, va_list args) {
    char text[LOG_TEXT_MAX + 1];
    char line[LOG_LINE_MAX];
    if (level < logger.level || level >= LOG_NOTHING) return;
    int saved_errno = errno;
    int wanted = vsnprintf(text, sizeof(text), format, args);
    size_t text_len = wanted < 0 ? 0 : wanted < LOG_TEXT_MAX ? (size_t)wanted : LOG_TEXT_MAX;
    mask_controls(text, text_len);
    if (logger.has_syslog) log_syslog_write((int)level, text);
    size_t len = log_format_line(line, logger.style,
                                 &(struct log_line){.level = level,
                                                    .role = logger.role,
                                                    .wall_ms = clock_wall_ms(),
                                                    .text = slice_make(text, text_len)});
    remember_line(line, len);
    int fd = open_current();
    if (fd >= 0) {
        write_bytes(fd, line, len);
        log_close(fd);
    }
    errno = saved_errno;
}

void log_write(enum log_level level, const char *format, ...) {
    va_list args;
    va_start(args, format);
    write_line(level, format, args);
    va_end(args);
}

void log_notice_limited(struct log_limit *limit, const char *format, ...) {
    enum { MINUTE_MS = 60 * 1000 };
    int64_t now_ms = clock_monotonic_ms();
    if (now_ms >= limit->until_ms) {
        if (limit->count > LOG_LIMIT_LINES)
            log_notice("%u more lines like the next one have the level verbose",
                       limit->count - LOG_LIMIT_LINES);
        *limit = (struct log_limit){.until_ms = now_ms + MINUTE_MS};
    }
    va_list args;
    va_start(args, format);
    write_line(limit->count < LOG_LIMIT_LINES ? LOG_NOTICE : LOG_VERBOSE, format, args);
    va_end(args);
    limit->count++;
}
